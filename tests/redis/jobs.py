#!/usr/bin/env python3
"""Trouble around jobs: while a merge or a build works, keys of its own are renamed, copied, deleted,
replaced and expire, databases are swapped, and other clients ask for the same. Whatever is replied,
the replica is equal, so is what comes back from the file of commands, and no memory is left.
SEED=n repeats a run."""
import os
import random

import redis
from redis import IS_LONG, IS_SANITIZED, Error, Server, check, wait_until

MODULE = redis.module_or_skip()
SEED = int(os.environ.get("SEED", "0x6a6f6273"), 0)
ROUNDS = 3000 if IS_LONG else 30 if IS_SANITIZED else 80
KEYS = 3
NEW = ("blocked", "CAPACITY", 6_000_000, "SECRET", 32 * "a")  # large enough for a thread

JOBS = """
    TAMIS.MERGE made 3 B B B
    TAMIS.MERGE B 2 B B
    TAMIS.INTERSECT made 2 B B
    TAMIS.BUILD made fuse FROM SET set
    TAMIS.BUILD other ribbon FROM LIST list
    TAMIS.BUILD made window FROM SET set WINDOW 40
""".strip().splitlines()

# B is one of a few filters that can be merged, W one of a few that forget by time. DEBUG RELOAD is not
# here: Redis drops expired keys then, and does not tell replicas.
TROUBLE = """
    RENAME B B
    COPY B B REPLACE
    COPY made B REPLACE
    UNLINK B
    UNLINK made
    PEXPIRE B 20
    PEXPIRE made 3
    PEXPIRE set 5
    SET made text
    SWAPDB 0 1
    BGREWRITEAOF
    FLUSHALL ASYNC
    SPOP set 50
    SADD set x y z
    LPOP list 3
    RPUSH list q
    TAMIS.ADD B 1
    TAMIS.ADD B 7
    TAMIS.MADD B 1 2 3
    TAMIS.RESERVE B LIKE B
    TAMIS.DUMP B 0
    TAMIS.DUMP B 100
    TAMIS.MADD W 1 2 3
    TAMIS.EXISTS W 1
    TAMIS.TURN W
    EVAL redis.call('TAMIS.ADD',KEYS[1],'z');return(redis.call('TAMIS.MERGE',KEYS[2],2,KEYS[1],KEYS[1])) 2 B made
""".strip().splitlines()


def words(rng, row):
    return [rng.choice([f"B{i}" for i in range(KEYS)]) if word == "B" else
            rng.choice([f"W{i}" for i in range(KEYS)]) if word == "W" else word
            for word in row.split()]


def make(client):
    """What trouble has taken away."""
    for i in range(KEYS):
        client.ask("TAMIS.RESERVE", f"B{i}", *NEW)
        client.ask("TAMIS.RESERVE", f"W{i}", "window", "CAPACITY", 1000, "WINDOW", 30 + i)
    client.ask("SADD", "set", *range(20000))
    if client.ask("LLEN", "list") == 0:
        client.ask("RPUSH", "list", *range(20000))


def trouble(rng, client):
    if rng.random() < 0.1:
        client.ask("MULTI")
        client.ask(*words(rng, rng.choice(JOBS)))
        client.ask("TAMIS.EXISTS", "made", 5)
        client.ask("EXEC")
        return
    row = rng.choice(TROUBLE)
    if row.split()[0] in ("BGREWRITEAOF", "FLUSHALL") and rng.random() < 0.9:
        return
    reply = client.ask(*words(rng, row))
    if row.startswith("RENAME") and not isinstance(reply, Error):
        make(client)


def in_step(primary, replica):
    return (b"master_link_status:up" in replica.ask("INFO", "replication") and
            primary.digest() == replica.digest())


def rounds(rng, server):
    """How often each sort of job ended well."""
    well = {row.split()[0]: 0 for row in JOBS}
    with server.client() as client, server.client() as other:
        for at in range(ROUNDS):
            if at % 5 == 0:
                make(other)
            job = words(rng, rng.choice(JOBS))
            client.send(*job)
            for _ in range(rng.randrange(5)):
                trouble(rng, other)
            well[job[0]] += client.receive() == "OK"
    return well


def persist(server):
    """No key expires from now on."""
    with server.client() as client:
        for database in (0, 1):
            client.ask("SELECT", database)
            for key in client.ask("KEYS", "*"):
                client.ask("PERSIST", key)
        wait_until(lambda: b"expires=" not in client.ask("INFO", "keyspace").replace(b"expires=0", b""),
                   "keys to expire", server)


def no_memory(server):
    wait_until(lambda: b"tamis_used_bytes:0\r\n" in server.ask("INFO", "tamis"),
               f"no memory in use, SEED={SEED:#x}", server)


def main():
    rng = random.Random(SEED)
    with Server(MODULE, port=redis.free_port(), appendonly="yes") as primary, \
            Server(MODULE, replicaof=f"127.0.0.1 {primary.port}") as replica:
        wait_until(lambda: in_step(primary, replica), "the replica", replica)
        well = rounds(rng, primary)
        print(f"{ROUNDS} jobs, of which ended well: {well}")
        check("each sort of job did", all(well.values()), True)
        persist(primary)
        wait_until(lambda: in_step(primary, replica), f"replicas of SEED={SEED:#x}", replica)
        wanted = primary.digest()
        check("after the file of commands", primary.restart().digest(), wanted)
        primary.ask("FLUSHALL")
        no_memory(primary)
        no_memory(replica)


main()
redis.finish()
