#!/usr/bin/env python3
"""CMS commands: every reply and error, what becomes of sketches elsewhere, and a second sketch."""
import random
import struct

import murmur
import payload
import redis
from redis import ARITY, WRONG_TYPE, Error, Server, check, check_rows

MODULE = redis.module_or_skip()
MISSING = Error("CMS: key does not exist")
EXISTS = Error("CMS: key already exists")
OTHER = Error(WRONG_TYPE)
WIDTH, DEPTH = Error("CMS: invalid width"), Error("CMS: invalid depth")
SHARE, CHANCE = Error("CMS: invalid overestimation value"), Error("CMS: invalid prob value")
NUMBER, NEGATIVE = Error("CMS: Cannot parse number"), Error("CMS: Number cannot be negative")
KEYS, WEIGHTS = Error("CMS: wrong number of keys"), Error("CMS: wrong number of keys/weights")
OVERFLOW = Error("CMS: MERGE overflow")

ROWS = [
    ("CMS.INITBYDIM k 10", "CMS.INITBYDIM k 10 5 1", ARITY),
    ("CMS.INITBYDIM k 0 5", "CMS.INITBYDIM k -1 5", "CMS.INITBYDIM k x 5", WIDTH),
    ("CMS.INITBYDIM k 10 0", "CMS.INITBYDIM k 10 x", DEPTH),
    ("CMS.INITBYDIM k 9223372036854775807 9", "CMS.INITBYDIM k 4611686018427387904 1",
     Error("CMS: invalid init arguments")),
    ("CMS.INITBYDIM k 1125899906842624 1", Error("CMS: Insufficient memory to create the key")),
    ("EXISTS k", 0),
    ("CMS.INITBYDIM k 10 5", "OK"),
    ("CMS.INITBYDIM k 10 5", "CMS.INITBYDIM text 10 5", EXISTS),
    ("CMS.INITBYPROB p 0.001", ARITY),
    ("CMS.INITBYPROB p 0 0.01", "CMS.INITBYPROB p 1 0.01", "CMS.INITBYPROB p x 0.01", SHARE),
    ("CMS.INITBYPROB p 0.001 0", "CMS.INITBYPROB p 0.001 1", "CMS.INITBYPROB p 0.001 x", CHANCE),
    ("CMS.INITBYPROB p 1e-300 0.5", Error("CMS: invalid init arguments")),
    ("CMS.INITBYPROB text 0.001 0.01", EXISTS),
    ("CMS.INITBYPROB p 0.001 0.01", "CMS.INITBYPROB half 0.9 0.99", "OK"),
    ("CMS.INCRBY k a", "CMS.INCRBY k a 1 b", ARITY),
    ("CMS.INCRBY nothing a 1", MISSING),
    ("CMS.INCRBY text a 1", OTHER),
    ("CMS.INCRBY k a x", "CMS.INCRBY k a 1 b x", NUMBER),
    ("CMS.INCRBY k a 1 b -1", NEGATIVE),
    ("CMS.QUERY k a b", [0, 0]),
    ("CMS.INCRBY k a 5 b 3 a 2", [5, 3, 7]),
    ("CMS.INCRBY k a 0", [7]),
    ("CMS.QUERY k", ARITY),
    ("CMS.QUERY nothing a", MISSING),
    ("CMS.QUERY text a", OTHER),
    ("CMS.QUERY k a b z", [7, 3, 0]),
    ("CMS.INITBYDIM full 10 5", "OK"),
    ("CMS.INCRBY full a 4294967294", [4294967294]),
    ("CMS.INCRBY full a 1 b 1", [Error("CMS: INCRBY overflow"), 1]),
    ("CMS.INCRBY full c 9223372036854775807 c 9223372036854775807",
     [Error("CMS: INCRBY overflow")] * 2),
    ("CMS.QUERY full a c", [4294967295, 4294967295]),
    ("CMS.INFO", ARITY),
    ("CMS.INFO nothing", MISSING),
    ("CMS.INFO text", OTHER),
    ("CMS.MERGE k 1", ARITY),
    ("CMS.MERGE k x k", Error("CMS: invalid numkeys")),
    ("CMS.MERGE k 0 k", "CMS.MERGE k -1 k", Error("CMS: Number of keys must be positive")),
    ("CMS.MERGE k 2 k", "CMS.MERGE k 1 k k", "CMS.MERGE k 9223372036854775807 k", KEYS),
    ("CMS.MERGE k 1 k WEIGHTS", "CMS.MERGE k 1 k WEIGHTS 1 2", WEIGHTS),
    ("CMS.MERGE k 1 k WEIGHTS x", Error("CMS: invalid weight value")),
    ("CMS.MERGE nothing 1 k", "CMS.MERGE k 1 nothing", MISSING),
    ("CMS.MERGE text 1 k", "CMS.MERGE k 1 text", OTHER),
    ("CMS.MERGE k 1 p", Error("CMS: width/depth is not equal")),
    ("CMS.INITBYDIM m 10 5", "OK"),
    ("CMS.INCRBY m a 1", [1]),
    ("CMS.MERGE m 1 k", "OK"),
    ("CMS.QUERY m a b", [7, 3]),
    ("CMS.MERGE m 2 m k weights 1 10", "OK"),
    ("CMS.QUERY m a b", [77, 33]),
    ("CMS.MERGE m 2 m k WEIGHTS 1 -11", "OK"),
    ("CMS.QUERY m a b", [0, 0]),
    ("CMS.MERGE m 2 m k WEIGHTS 1 -1", "CMS.MERGE m 1 k WEIGHTS 4294967295",
     "CMS.MERGE m 1 k WEIGHTS 9223372036854775807", OVERFLOW),
    ("CMS.MERGE m 3 full full full WEIGHTS 9223372036854775807 9223372036854775807 "
     "9223372036854775807", OVERFLOW),
    ("CMS.QUERY m a b", [0, 0]),
]


def check_rows_of_notes():
    with Server(MODULE) as server:
        for protocol in (2, 3):
            with server.client(protocol) as client:
                client.ask("FLUSHALL")
                client.ask("SET", "text", "x")
                check_rows(client, ROWS)
        check("2000 x 7", server.ask("CMS.INFO", "p"), ["width", 2000, "depth", 7, "count", 0])
        check("3 x 1", server.ask("CMS.INFO", "half"), ["width", 3, "depth", 1, "count", 0])
        check("the count", server.ask("CMS.INFO", "k", protocol=3),
              {"width": 10, "depth": 5, "count": 10})
        keys = ["CMS.MERGE", "to", 2, "a", "b", "WEIGHTS", 1, 2]
        check("keys", server.ask("COMMAND", "GETKEYS", *keys), [b"to", b"a", b"b"])
        redis.check_alive(server)


# ---- A second sketch -------------------------------------------------------------------------------

class Sketch:
    def __init__(self, width, depth):
        self.width, self.rows = width, [[0] * width for _ in range(depth)]

    def cells(self, item):
        return [(row, murmur.murmur32(item, i) % self.width) for i, row in enumerate(self.rows)]

    def add(self, item, n):
        for row, at in self.cells(item):
            row[at] += n
        return self.ask(item)

    def ask(self, item):
        return min(row[at] for row, at in self.cells(item))


def check_model():
    draw = random.Random(20261116)
    with Server(MODULE) as server, server.client() as client:
        sketch = Sketch(97, 6)
        client.ask("CMS.INITBYDIM", "s", 97, 6)
        for _ in range(50):
            pairs = [(b"item:%d" % draw.randrange(300), draw.randrange(1000)) for _ in range(40)]
            wanted = [sketch.add(*pair) for pair in pairs]
            got = client.ask("CMS.INCRBY", "s", *(word for pair in pairs for word in pair))
            check("INCRBY", got, wanted)
        items = [b"item:%d" % i for i in range(400)]
        check("QUERY", client.ask("CMS.QUERY", "s", *items), [sketch.ask(item) for item in items])
        name, encoding, values = payload.read(client.ask("DUMP", "s"))
        check("the type", (name, encoding), (b"CMSk-TYPE", 0))
        cells = [cell for row in sketch.rows for cell in row]
        check("the cells", values, [97, 6, sum(sketch.rows[0]),
                                    struct.pack(f"<{len(cells)}I", *cells)])
        check_bad_records(client, values)
        redis.check_alive(server)


def check_bad_records(client, values):
    width, depth, count, cells = values
    bad = [[0, depth, count, cells], [width, 0, count, cells], [width + 1, depth, count, cells],
           [width, depth, count, cells[:-1]], [width, depth, 2**63, cells], [width, depth, count],
           [2**63, 2, count, b""], [2**62, 1, count, cells], [width, depth, count, cells, 1]]
    for record in bad:
        check("a bad record", client.ask("RESTORE", "bad", 0,
                                         payload.write(b"CMSk-TYPE", 0, record)),
              Error("ERR Bad data format"))


# ---- Elsewhere -------------------------------------------------------------------------------------

def fill(client):
    client.ask("CMS.INITBYDIM", "a", 100, 5)
    client.ask("CMS.INITBYDIM", "b", 100, 5)
    client.ask("CMS.INITBYPROB", "c", 0.01, 0.02)
    client.ask("CMS.INITBYDIM", "empty", 1, 1)
    for key in "abc":
        client.ask("CMS.INCRBY", key, *(word for i in range(200) for word in (f"{key}{i % 70}", i)))
    client.ask("CMS.INCRBY", "c", "c0", 2**32)
    client.ask("CMS.MERGE", "b", 2, "a", "b", "WEIGHTS", 3, 2)


def ask(client):
    return [client.ask("CMS.QUERY", key, *(f"{key}{i}" for i in range(100))) for key in "abc"]


check_rows_of_notes()
check_model()
redis.check_lives(MODULE, fill, ask)
redis.finish()
