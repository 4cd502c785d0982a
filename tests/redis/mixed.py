#!/usr/bin/env python3
"""Random commands of all families, right and wrong ones, on a primary with a replica whose settings are
others: both are equal at the end, and so is what comes back from each sort of file."""
import os
import random

import redis
from redis import IS_LONG, Server, check

MODULE = redis.module_or_skip()
SEED = int(os.environ.get("SEED", "0x7461316d6973"), 0)
N = 100000 if IS_LONG else 5000
KEYS = 5

# One command each: N is a number, F a rate, D a small number, I an item, Is some of them, Ps some
# pairs of an item and a number; the key is one of a few of the family, K another one of those, S
# one of a few sets, and B a filter that is made of one. KIND is any kind of the library.
COMMANDS = """
    BF.RESERVE key F N
    BF.RESERVE key F N NONSCALING
    BF.RESERVE key F N EXPANSION D
    BF.ADD key I
    BF.MADD key Is
    BF.INSERT key CAPACITY N ERROR F ITEMS Is
    BF.INSERT key NOCREATE ITEMS Is
    CF.RESERVE key N
    CF.RESERVE key N BUCKETSIZE D MAXITERATIONS D EXPANSION D
    CF.ADD key I
    CF.ADDNX key I
    CF.INSERT key ITEMS Is
    CF.INSERTNX key CAPACITY N ITEMS Is
    CF.DEL key I
    CF.DEL key I
    CF.DEL key I
    CF.COMPACT key
    CMS.INITBYDIM key N D
    CMS.INITBYDIM key 16 3
    CMS.INCRBY key Ps
    CMS.INCRBY key Ps
    CMS.MERGE key 2 K K WEIGHTS D D
    TOPK.RESERVE key D N D 0.9
    TOPK.ADD key Is
    TOPK.ADD key Is
    TOPK.INCRBY key Ps
    SADD S Is
    TAMIS.RESERVE key KIND CAPACITY 300 ERROR 0.01
    TAMIS.RESERVE key KIND GROW
    TAMIS.RESERVE key aqf CAPACITY 300 ERROR 0.1
    TAMIS.RESERVE key window CAPACITY 200 WINDOW 50
    TAMIS.RESERVE key hashmap GROW
    TAMIS.RESERVE key LIKE K
    TAMIS.ADD key I
    TAMIS.ADD key I
    TAMIS.MADD key Is
    TAMIS.MADD key Is
    TAMIS.MADD key Is
    TAMIS.MEXISTS key Is
    TAMIS.MEXISTS key Is
    TAMIS.REMOVE key Is
    TAMIS.ADAPT key Is
    TAMIS.PUT key Ps
    TAMIS.TURN key
    TAMIS.MERGE key 2 K K
    TAMIS.INTERSECT key 2 K K
    TAMIS.BUILD B KIND FROM SET S
    TAMIS.BUILD B fuse FROM SET S ERROR 0.01
    TAMIS.MEXISTS B Is
""".strip().splitlines()

# Of keys of any family, and limits that come and go; TAMIS.BUILD needs the larger ones.
GENERAL = """
    DEL key
    DEL key
    DEL key
    DEL key
    DEL key
    DEL key
    DEL key
    DEL key
    COPY key K
    COPY key K REPLACE
    RENAME key K
    SET key text
    PERSIST key
    CONFIG SET tamis.max-object-bytes 64kb tamis.max-bytes 512kb
    CONFIG SET tamis.max-object-bytes 8mb tamis.max-bytes 64mb
""".strip().splitlines()


KINDS = []


def number(rng):
    return rng.choice([0, 1, 4, 8, 16, 100, 300, rng.randrange(2000), "x"])


def item(rng):
    return rng.randrange(500)


def word(rng, family, text):
    """What stands for a word of a row."""
    return {"key": lambda: [f"{family}:{rng.randrange(KEYS)}"],
            "K": lambda: [f"{family}:{rng.randrange(KEYS)}"],
            "N": lambda: [number(rng)], "F": lambda: [rng.choice(["0.5", "0.01", "0.001", "2"])],
            "S": lambda: [f"set:{rng.randrange(KEYS)}"], "B": lambda: [f"built:{rng.randrange(KEYS)}"],
            "KIND": lambda: [rng.choice(KINDS)],
            "D": lambda: [rng.randrange(6)], "I": lambda: [item(rng)],
            "Is": lambda: [item(rng) for _ in range(rng.randrange(1, 120))],
            "Ps": lambda: [x for _ in range(rng.randrange(1, 20))
                           for x in (item(rng), rng.randrange(100))],
            }.get(text, lambda: [text])()


def command(rng):
    if rng.random() < 0.15:
        row, family = rng.choice(GENERAL), rng.choice(["BF", "CF", "CMS", "TOPK", "TAMIS"])
    else:
        row = rng.choice(COMMANDS)
        family = row.split()[0].partition(".")[0]
    return [w for text in row.split() for w in word(rng, family, text)]


def check_equal(primary, replica):
    redis.wait_until(lambda: b"master_link_status:up" in replica.ask("INFO", "replication") and
                     replica.digest() == primary.digest(), f"replicas of SEED={SEED:#x}", replica)


def main():
    global KINDS
    rng = random.Random(SEED)
    others = {"tamis.bf-initial-size": 7, "tamis.bf-error-rate": 0.2, "tamis.cf-bucket-size": 3,
              "tamis.cf-max-expansions": 1, "tamis.max-object-bytes": 1000, "tamis.max-bytes": 5000}
    limits = {"tamis.cf-max-expansions": 5, "tamis.max-object-bytes": "64kb",
              "tamis.max-bytes": "512kb"}
    with Server(MODULE, port=redis.free_port(), appendonly="yes", save="3600 1", **limits) as primary, \
            Server(MODULE, replicaof=f"127.0.0.1 {primary.port}", **others) as replica:
        with primary.client() as client:
            KINDS += client.ask("TAMIS.RESERVE", "k", "none").partition("there are ")[2].split()
            commands = [command(rng) for _ in range(N)]
            replies = list(client.ask_many(commands))
        wrong = sum(isinstance(reply, redis.Error) for reply in replies)
        print(f"{N} commands, {wrong} of them wrong")
        check("some were right, some wrong", (wrong > N / 50, wrong < N / 2), (True, True))
        check_equal(primary, replica)
        wanted = primary.digest()
        check("after the file of commands", primary.restart().digest(), wanted)
        redis.rewrite(primary)
        check("after a rewrite", primary.restart().digest(), wanted)
        check("after an RDB file", primary.restart(appendonly="no").digest(), wanted)
        check_equal(primary, replica)


main()
redis.finish()
