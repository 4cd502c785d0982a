#!/usr/bin/env python3
"""TAMIS.BUILD, MERGE and INTERSECT: replies, what is read of a collection, threads, replicas."""
import json
import pathlib
import re
import select
import socket
import subprocess
import time

import redis
from redis import ARITY, WRONG_TYPE, Error, Server, check, check_rows

MODULE = redis.module_or_skip()
COMMAND = MODULE.parent / "tamis"
OTHER, MISSING = Error(WRONG_TYPE), Error("ERR not found")
CANNOT = Error("ERR this kind cannot do that")
FROM = Error("ERR say what it is built of: FROM SET|HASH|ZSET|LIST|STREAM key")
KEYS = Error("ERR bad number of keys")
DIFFER = Error("ERR the filters differ in kind, size or hash")
INTEGERS = Error("ERR this filter takes integers only")
BUSY = Error("TRYAGAIN the filter is being read; it can be changed when that is done")
SECRET = 32 * "a"

ROWS = [
    ("TAMIS.BUILD f fuse FROM SET", ARITY),
    ("TAMIS.BUILD f fuse OF SET s", "TAMIS.BUILD f fuse FROM BAG s", FROM),
    ("TAMIS.BUILD f fuse FROM SET nothing", MISSING),
    ("TAMIS.BUILD f fuse FROM SET l", "TAMIS.BUILD text fuse FROM SET s", OTHER),
    ("TAMIS.BUILD f fuse FROM SET s FIELD a", Error("ERR FIELD is for streams")),
    ("TAMIS.BUILD f fuse FROM SET s COLOUR red", Error("ERR unknown option 'COLOUR'")),
    ("TAMIS.BUILD f map FROM SET s",
     Error("ERR this kind holds values: it is built from a HASH of integers")),
    ("TAMIS.BUILD f bitmap FROM SET s CAPACITY 10", INTEGERS),
    ("EXISTS f", 0),
    ("TAMIS.BUILD f fuse FROM SET s ERROR 1e-6", "OK"),
    ("TAMIS.MEXISTS f a b c x", [1, 1, 1, 0]),
    ("TAMIS.ADD f x", CANNOT),
    ("TAMIS.BUILD f fuse FROM HASH h ERROR 1e-6", "OK"),
    ("TAMIS.MEXISTS f a one two 1 2", [0, 1, 1, 0, 0]),
    ("TAMIS.BUILD f ribbon FROM ZSET z ERROR 1e-6", "OK"),
    ("TAMIS.MEXISTS f a low high", [0, 1, 1]),
    ("TAMIS.BUILD f cqf FROM LIST l ERROR 1e-6", "OK"),
    ("TAMIS.COUNT f a left right twice", [0, 1, 1, 2]),
    ("TAMIS.BUILD f xor FROM STREAM x ERROR 1e-6", "OK"),
    ("TAMIS.MEXISTS f name ann bob 7", [0, 1, 1, 1]),
    ("TAMIS.BUILD f xor FROM STREAM x FIELD name ERROR 1e-6", "OK"),
    ("TAMIS.MEXISTS f name ann bob 7", [0, 1, 1, 0]),
    ("TAMIS.BUILD m map FROM HASH h", "OK"),
    ("TAMIS.GET m one two", [1, 2]),
    ("TAMIS.BUILD m map FROM HASH words", "TAMIS.BUILD m map FROM HASH signs",
     Error("ERR a value is no integer from 0 on")),
    ("TAMIS.BUILD large hashmap FROM HASH large", OTHER),
    ("TAMIS.BUILD most hashmap FROM HASH large", "OK"),
    ("TAMIS.GET most a b", [2**63 - 1, b"18446744073709551615"]),
    ("TAMIS.GET m one", [1]),
    # Of many filters.
    ("TAMIS.MERGE d 1", ARITY),
    ("TAMIS.MERGE d 0 p", "TAMIS.MERGE d 2 p", "TAMIS.MERGE d x p", KEYS),
    ("TAMIS.MERGE d 1 nothing", MISSING),
    ("TAMIS.MERGE d 1 text", "TAMIS.MERGE text 1 p", OTHER),
    ("TAMIS.RESERVE p bloom CAPACITY 100 ERROR 1e-6", "TAMIS.RESERVE q LIKE p",
     "TAMIS.RESERVE other bloom CAPACITY 100 ERROR 1e-6", "OK"),
    ("TAMIS.MADD p a b", "TAMIS.MADD q b c", [1, 1]),
    ("TAMIS.MERGE d 2 p other", DIFFER),
    ("EXISTS d", 0),
    ("TAMIS.MERGE d 2 p q", "OK"),
    ("TAMIS.MEXISTS d a b c x", [1, 1, 1, 0]),
    ("TAMIS.INTERSECT d 3 p q d", "OK"),
    ("TAMIS.MEXISTS d a b c", [0, 1, 0]),
    ("TAMIS.MERGE p 2 p q", "OK"),
    ("TAMIS.MEXISTS p a b c", [1, 1, 1]),
    ("TAMIS.MERGE d 2 f f", CANNOT),
    (f"TAMIS.RESERVE c1 cqf CAPACITY 100 ERROR 1e-6 SECRET {SECRET}", "OK"),
    (f"TAMIS.RESERVE c2 cqf CAPACITY 100 ERROR 1e-6 SECRET {SECRET}", "OK"),
    ("TAMIS.MADD c1 a a b", [1, 0, 1]),
    ("TAMIS.MADD c2 a c", [1, 1]),
    ("TAMIS.MERGE d 2 c1 c2", "OK"),
    ("TAMIS.COUNT d a b c", [3, 1, 1]),
    ("TAMIS.INTERSECT d 2 c1 c2", "OK"),
    ("TAMIS.COUNT d a b c", [1, 0, 0]),
]


def fill_collections(client):
    client.ask("SET", "text", "a")
    client.ask("SADD", "s", "a", "b", "c")
    client.ask("HSET", "h", "one", 1, "two", 2)
    client.ask("HSET", "words", "one", "eins")
    client.ask("HSET", "signs", "one", "-18446744073709551615")
    client.ask("HSET", "large", "a", 2**63 - 1, "b", 2**64 - 1)
    client.ask("ZADD", "z", 1, "low", 9, "high")
    client.ask("RPUSH", "l", "left", "right", "twice", "twice")
    client.ask("XADD", "x", "*", "name", "ann", "age", "7")
    client.ask("XADD", "x", "*", "name", "bob", "age", "7")


def check_replies():
    with Server(MODULE) as server, server.client() as client:
        fill_collections(client)
        check_rows(client, ROWS)
        check("keys", client.ask("COMMAND", "GETKEYS", "TAMIS.MERGE", "d", 2, "a", "b"),
              [b"d", b"a", b"b"])
        check("keys", client.ask("COMMAND", "GETKEYS", "TAMIS.BUILD", "d", "k", "FROM", "SET", "s"),
              [b"d", b"s"])
        check("keys", client.ask("COMMAND", "GETKEYS", "TAMIS.RESERVE", "d", "LIKE", "s"),
              [b"d", b"s"])
        redis.check_alive(server)


# ---- Large ones --------------------------------------------------------------------------------------

N = 1_000_000 if redis.IS_LONG else 20_000


def fill_large(client):
    """Collections that are read in more than one slice."""
    for at in range(0, N, 5000):
        some = range(at, at + 5000)
        client.ask("SADD", "set", *(f"i{i}" for i in some))
        client.ask("RPUSH", "list", *(f"i{i}" for i in some for _ in range(5)))
        client.ask("HSET", "hash", *(word for i in some for word in (f"i{i}", i)))
        client.ask("ZADD", "zset", *(word for i in some for word in (i, f"i{i}")))
        for i in range(at, at + 5000, 1000):
            client.ask("XADD", "stream", "*", *(w for j in range(i, i + 1000) for w in ("f", f"i{j}")))


def in_step(primary, replica):
    return (b"master_link_status:up" in replica.ask("INFO", "replication") and
            primary.digest() == replica.digest())


def all_found(client, key, n=N):
    return all(sum(client.ask("TAMIS.MEXISTS", key, *(f"i{i}" for i in range(at, at + 5000)))) == 5000
               for at in range(0, n, 5000))


def static_kinds():
    out = subprocess.run([COMMAND, "kinds", "--json"], capture_output=True, check=True).stdout
    return [kind["kind"] for kind in json.loads(out)
            if "build" in kind["abilities"] and "add" not in kind["abilities"]]


def check_sources(client):
    for source in ("set", "list", "hash", "zset", "stream"):
        check(f"BUILD FROM {source}", client.ask(
            "TAMIS.BUILD", f"of-{source}", "fuse", "FROM", source, source, "HASH", "fast"), "OK")
        check(f"all of the {source}", all_found(client, f"of-{source}"), True)
    digests = client.ask("DEBUG", "DIGEST-VALUE", "of-set", "of-list", "of-hash", "of-zset",
                         "of-stream")
    check("all are the same filter", len(set(digests)), 1)
    for kind in static_kinds():
        check(f"BUILD {kind}", client.ask("TAMIS.BUILD", kind, kind, "FROM", "SET", "s"), "OK")
        check(f"{kind} has all", client.ask("TAMIS.MEXISTS", kind, "a", "b", "c"), [1, 1, 1])


def meanwhile(server, build, command, undo):
    """The reply to a build whose source changes: tried until that came before all was read."""
    for _ in range(1000):
        with server.client() as client, server.client() as other:
            client.send(*build)
            other.ask(*command)
            reply = client.receive()
            if reply != "OK":
                return reply
            other.ask(*undo)
    return "no build took long enough"


def check_others_meanwhile(server):
    """Others are answered, and what they do to keys of a build is seen."""
    check("a list that moves", meanwhile(
        server, ("TAMIS.BUILD", "no", "fuse", "FROM", "LIST", "list"), ("LPOP", "list"),
        ("LPUSH", "list", "i0")),
        Error("ERR the list changed while it was read"))
    with server.client() as client:
        client.ask("COPY", "list", "other", "DB", 1)
        client.ask("SELECT", 1)
        client.ask("RENAME", "other", "list")
    check("a list of another database", meanwhile(
        server, ("TAMIS.BUILD", "no", "fuse", "FROM", "LIST", "list"), ("SWAPDB", 1, 0),
        ("SWAPDB", 0, 1)),
        Error("ERR the list changed while it was read"))
    server.ask("SWAPDB", 0, 1)
    check("a set that goes", meanwhile(
        server, ("TAMIS.BUILD", "no", "fuse", "FROM", "SET", "set"), ("RENAME", "set", "away"),
        ("RENAME", "away", "set")),
        MISSING)
    with server.client() as client:
        client.ask("RENAME", "away", "set")
        client.ask("DEL", "later")
        with server.client() as leaver:
            leaver.send("TAMIS.BUILD", "later", "fuse", "FROM", "SET", "set")
            leaver.socket.shutdown(socket.SHUT_WR)
        redis.wait_until(lambda: client.ask("EXISTS", "later"), "what nobody waits for")
        check("in MULTI", client.ask("MULTI"), "OK")
        client.ask("TAMIS.BUILD", "later", "fuse4", "FROM", "SET", "set")
        client.ask("TAMIS.EXISTS", "later", "i7")
        check("at once", client.ask("EXEC"), ["OK", 1])


def check_one_at_a_time(server):
    words = ("TAMIS.BUILD", "later", "fuse", "FROM", "SET", "set")
    replies = set()
    with server.client() as client, server.client() as other:
        for _ in range(1000):
            client.send(*words)
            replies = {other.ask(*words), client.receive()}
            if len(replies) == 2:
                break
    check("one at a time", sorted(replies), ["OK", Error(
        "TRYAGAIN this key is being made already, or too many others are")])


def check_held(server):
    """Sources of a large merge cannot change while it runs, and may be deleted."""
    with server.client() as client, server.client() as other:
        client.ask("TAMIS.RESERVE", "one", "blocked", "CAPACITY", 20_000_000)
        client.ask("TAMIS.RESERVE", "two", "LIKE", "one")
        client.ask("TAMIS.ADD", "one", "a")
        client.ask("TAMIS.ADD", "two", "b")
        client.send("TAMIS.MERGE", "both", 2, "one", "two")
        other.ask("MULTI")
        other.ask("INFO", "tamis")
        other.ask("TAMIS.ADD", "one", "c")
        other.ask("DEL", "one")
        info, reply, deleted = other.ask("EXEC")
        if b"tamis_jobs:1" in info:
            check("held", reply, BUSY)
        check("a source may go", deleted, 1)
        check("MERGE", client.receive(), "OK")
        check("both", client.ask("TAMIS.MEXISTS", "both", "a", "b", "z"), [1, 1, 0])
        check("free again", client.ask("TAMIS.ADD", "two", "c"), 1)
        client.ask("DEL", "two", "both")


def check_large():
    with Server(MODULE, port=redis.free_port()) as primary, \
            Server(MODULE, replicaof=f"127.0.0.1 {primary.port}") as replica, \
            primary.client() as client:
        redis.wait_until(lambda: in_step(primary, replica), "the replica", replica)
        fill_collections(client)
        fill_large(client)
        check_sources(client)
        check_others_meanwhile(primary)
        check_one_at_a_time(primary)
        check_held(primary)
        redis.wait_until(lambda: in_step(primary, replica), "the replica to follow", replica)
        client.ask("CONFIG", "SET", "tamis.max-object-bytes", 100000)
        check("8 bytes for each key", client.ask("TAMIS.BUILD", "no", "fuse", "FROM", "SET", "set"),
              Error("ERR out of memory"))
        check("no replica builds", replica.ask("TAMIS.BUILD", "no", "fuse", "FROM", "SET", "set")[:8],
              "READONLY")
        check_demoted(primary, replica)


def check_demoted(primary, replica):
    """A primary that becomes a replica gives up what it had begun; Redis itself tells the client."""
    with primary.client() as client, primary.client() as other:
        client.ask("CONFIG", "SET", "tamis.max-object-bytes", 0)
        client.send("TAMIS.BUILD", "demoted", "fuse", "FROM", "SET", "set")
        other.ask("MULTI")
        other.ask("INFO", "tamis")
        other.ask("REPLICAOF", "127.0.0.1", 1)
        if b"tamis_jobs:0" in other.ask("EXEC")[0]:
            return  # it was done before
        check("given up", client.receive()[:9], "UNBLOCKED")
        redis.wait_until(lambda: b"tamis_jobs:0" in other.ask("INFO", "tamis"), "the end")
        check("nothing was made", other.ask("EXISTS", "demoted"), 0)
    redis.check_alive(replica)


def switches(server):
    """How often the thread that serves clients has gone to sleep."""
    pid = server.process.pid
    status = pathlib.Path(f"/proc/{pid}/task/{pid}/status").read_text()
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)$", status, re.M)[1])


def was_seen_asleep():
    """A server that has become a replica is told to change a filter that its thread still reads: it
    waits for the thread, asleep, and then does as it is told. False: it was awake whenever we looked,
    which also happens if its thread ended before we could."""
    with Server(MODULE, port=redis.free_port()) as first, \
            Server(MODULE, port=redis.free_port(), replicaof=f"127.0.0.1 {first.port}") as second, \
            first.client() as client, first.client() as other:
        redis.wait_until(lambda: in_step(first, second), "the replica", second)
        client.ask("TAMIS.RESERVE", "one", "blocked", "CAPACITY", 40_000_000)
        redis.wait_until(lambda: in_step(first, second), "the replica", second)
        client.send("TAMIS.MERGE", "sum", 100, *(100 * ["one"]))
        check("FAILOVER", other.ask("FAILOVER"), "OK")
        redis.wait_until(lambda: second.ask("ROLE")[0] == b"master", "the failover")
        check("given up", client.receive()[:9], "UNBLOCKED")
        check("a change", second.ask("TAMIS.ADD", "one", "a"), 1)
        redis.wait_until(lambda: second.ask("INFO", "replication").count(b"state=online"), "the other")
        asleep = []
        other.send("PING")

        def answers():
            before = switches(first)
            time.sleep(0.01)
            asleep.append(switches(first) == before)
            return select.select([other.socket], [], [], 0)[0]
        redis.wait_until(answers, "the thread to end", first)
        redis.wait_until(lambda: in_step(second, first), "the change", first)
        check("it is there", first.ask("TAMIS.EXISTS", "one", "a"), 1)
        check("nothing was made", first.ask("EXISTS", "sum"), 0)
        return any(asleep)


check_replies()
check_large()
check("it waits asleep", any(was_seen_asleep() for _ in range(40)), True)
redis.finish()
