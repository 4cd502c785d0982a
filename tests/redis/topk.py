#!/usr/bin/env python3
"""TOPK commands: every reply and error, a stream of which the truth is known, and lists elsewhere."""
import random

import payload
import redis
from redis import ARITY, WRONG_TYPE, Error, Server, check, check_rows

MODULE = redis.module_or_skip()
MISSING = Error("TopK: key does not exist")
OTHER = Error(WRONG_TYPE)
DECAY = Error("TopK: invalid decay value. must be '<= 1' & '> 0'")
INCREMENT = Error("TopK: increment must be an integer greater or equal to 0 and smaller or equal to "
                  "100,000")


def rows(no, yes):
    return [
        ("TOPK.RESERVE k", "TOPK.RESERVE k 3 8", "TOPK.RESERVE k 3 8 7",
         "TOPK.RESERVE k 3 8 7 0.9 1", ARITY),
        ("TOPK.RESERVE k 0", "TOPK.RESERVE k x", Error("TopK: invalid k")),
        ("TOPK.RESERVE k 3 0 7 0.9", Error("TopK: invalid width")),
        ("TOPK.RESERVE k 3 8 x 0.9", Error("TopK: invalid depth")),
        ("TOPK.RESERVE k 3 8 7 0", "TOPK.RESERVE k 3 8 7 1.1", "TOPK.RESERVE k 3 8 7 x", DECAY),
        ("TOPK.RESERVE k 3 4000000000 4000000000 0.9", Error("TopK: insufficient memory")),
        ("EXISTS k", 0),
        ("TOPK.RESERVE k 3", "OK"),
        ("TOPK.RESERVE k 3", "TOPK.RESERVE text 3", Error("TopK: key already exists")),
        ("TOPK.RESERVE one 1 64 4 1", "OK"),
        ("TOPK.ADD k", ARITY),
        ("TOPK.ADD nothing a", MISSING),
        ("TOPK.ADD text a", OTHER),
        ("TOPK.ADD k a b a", [None, None, None]),
        ("TOPK.ADD one a", [None]),
        ("TOPK.INCRBY one b 5", [b"a"]),
        # At a tie the newer one stays, as in RedisBloom.
        ("TOPK.RESERVE tie 1 64 4 1", "OK"),
        ("TOPK.ADD tie a b b a", [None, b"a", None, b"b"]),
        ("TOPK.INCRBY tie c 1 c 0 c 1 b 1", [None, None, b"a", b"c"]),
        ("TOPK.LIST tie WITHCOUNT", [b"b", 3]),
        ("TOPK.INCRBY k a", "TOPK.INCRBY k a 1 b", ARITY),
        ("TOPK.INCRBY nothing a 1", MISSING),
        ("TOPK.INCRBY text a 1", OTHER),
        ("TOPK.INCRBY k a -1", "TOPK.INCRBY k a 100001", "TOPK.INCRBY k a x", INCREMENT),
        ("TOPK.INCRBY k c 0", [None]),
        ("TOPK.LIST k WITHCOUNT", [b"a", 2, b"b", 1]),
        ("TOPK.INCRBY k a 10 c 1", [None, None]),
        ("TOPK.QUERY k", ARITY),
        ("TOPK.QUERY nothing a", MISSING),
        ("TOPK.QUERY text a", OTHER),
        ("TOPK.QUERY k a b z", [yes, yes, no]),
        ("TOPK.COUNT k", ARITY),
        ("TOPK.COUNT nothing a", MISSING),
        ("TOPK.COUNT k a b z", [12, 1, 0]),
        ("TOPK.LIST", ARITY),
        ("TOPK.LIST nothing", MISSING),
        ("TOPK.LIST text", OTHER),
        ("TOPK.LIST k COUNT", Error("WITHCOUNT keyword expected")),
        ("TOPK.LIST k", [b"a", b"b", b"c"]),
        ("TOPK.LIST k withcount", [b"a", 12, b"b", 1, b"c", 1]),
        (("TOPK.ADD", "one", b"\x00\xff"), [None]),
        (("TOPK.ADD", "k", b""), [b"b"]),
        ("TOPK.INFO", ARITY),
        ("TOPK.INFO nothing", MISSING),
        ("TOPK.INFO text", OTHER),
    ]


def check_rows_of_notes():
    with Server(MODULE) as server:
        for protocol, answers in ((2, (0, 1)), (3, (False, True))):
            with server.client(protocol) as client:
                client.ask("FLUSHALL")
                client.ask("SET", "text", "x")
                check_rows(client, rows(*answers))
        check("TOPK.INFO", server.ask("TOPK.INFO", "k"),
              ["k", 3, "width", 8, "depth", 7, "decay", b"0.90000000000000002"])
        check("TOPK.INFO 3", server.ask("TOPK.INFO", "k", protocol=3),
              {"k": 3, "width": 8, "depth": 7, "decay": 0.9})
        redis.check_alive(server)


def check_stream():
    """In a sketch with room for all, counts are exact; in a small one, the largest are found and no
    count is too large."""
    draw = random.Random(20261116)
    stream = [int(1000 * draw.random() ** 4) for _ in range(20000)]
    truth = {item: stream.count(item) for item in set(stream)}
    largest = sorted(truth, key=lambda item: (-truth[item], str(item)))[:20]
    with Server(MODULE) as server, server.client() as client:
        client.ask("TOPK.RESERVE", "roomy", 1000, 65536, 4, 0.9)
        client.ask("TOPK.RESERVE", "small", 20, 500, 5, 0.9)
        for at in range(0, len(stream), 500):
            for key in ("roomy", "small"):
                client.ask("TOPK.ADD", key, *stream[at:at + 500])
        check("all items", dict(pairs(client.ask("TOPK.LIST", "roomy", "WITHCOUNT"))),
              {str(i).encode(): truth[i] for i in sorted(truth, key=lambda i: (-truth[i], str(i)))})
        found = dict(pairs(client.ask("TOPK.LIST", "small", "WITHCOUNT")))
        check("the ten largest", [str(i).encode() in found for i in largest[:10]], [True] * 10)
        check("no count is too large", [i for i, n in found.items() if n > truth[int(i)]], [])


def pairs(flat):
    return zip(flat[::2], flat[1::2])


def check_records():
    with Server(MODULE) as server, server.client() as client:
        client.ask("TOPK.RESERVE", "t", 3, 4, 2, 0.9)
        client.ask("TOPK.INCRBY", "t", "a", 3, "b", 2, "c", 1)
        name, encoding, values = payload.read(client.ask("DUMP", "t"))
        check("the type", (name, encoding), (b"tamisTopK", 0))
        check("the numbers", values[:4] + values[6:],
              [3, 4, 2, 0.9, 3, 1, b"c", 3, b"a", 2, b"b"])
        head, heap = values[:6], values[7:]
        bad = [values[:-1], [0] + values[1:], [2] + values[1:], [3, 5] + values[2:],
               values[:3] + [1.5] + values[4:], values[:3] + [float("nan")] + values[4:],
               values[:5] + [values[5][:-1]] + values[6:], head + [4] + heap + [9, b"z"],
               head + [3, 9] + heap[1:], head + [3, 0] + heap[1:], head + [2, 1, b"c", 2, b"c"],
               head + [2**60] + heap, [2**31] + values[1:], head + [1, 2**40, b"a"]]
        for record in bad:
            check("a bad record", client.ask("RESTORE", "bad", 0,
                                             payload.write(b"tamisTopK", 0, record)),
                  Error("ERR Bad data format"))
        redis.check_alive(server)


def fill(client):
    draw = random.Random(7)
    client.ask("TOPK.RESERVE", "t", 10, 20, 3, 0.9)
    client.ask("TOPK.RESERVE", "slow", 5, 8, 2, 0.999)
    client.ask("TOPK.RESERVE", "empty", 5)
    for _ in range(20):
        words = [str(int(200 * draw.random() ** 3)) for _ in range(100)]
        client.ask("TOPK.ADD", "t", *words)
        client.ask("TOPK.INCRBY", "slow", *(w for word in words for w in (word, 1000)))


def ask(client):
    return [client.ask("TOPK.LIST", key, "WITHCOUNT") for key in ("t", "slow", "empty")]


check_rows_of_notes()
check_stream()
check_records()
redis.check_lives(MODULE, fill, ask)
redis.finish()
