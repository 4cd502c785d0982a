#!/usr/bin/env python3
"""CF commands: every reply and error, what becomes of filters elsewhere, and a second reader."""
import struct

import murmur
import payload
import redis
from redis import ARITY, WRONG_TYPE, Error, Server, check, check_rows, items

MODULE = redis.module_or_skip()
NOT_FOUND = Error("ERR not found")
OTHER = Error(WRONG_TYPE)
CAPACITY = Error("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")
INSERT_CAPACITY = Error("Capacity must be in the range [cf-bucket-size * 2, 1073741824]")
BUCKETS = Error("BUCKETSIZE: value must be in the range [1, 255]")
ITERATIONS = Error("MAXITERATIONS: value must be in the range [1, 65535]")
EXPANSION = Error("EXPANSION: value must be in the range [0, 32768]")

RESERVE = [
    ("CF.RESERVE", "CF.RESERVE k", "CF.RESERVE k 100 BUCKETSIZE", ARITY),
    ("CF.RESERVE k x", Error("Bad capacity")),
    ("CF.RESERVE k 0", "CF.RESERVE k -1", "CF.RESERVE k 3", "CF.RESERVE k 1073741825",
     "CF.RESERVE k 100 BUCKETSIZE 51", CAPACITY),
    ("CF.RESERVE k 100 BUCKETSIZE x", Error("Couldn't parse BUCKETSIZE")),
    ("CF.RESERVE k 100 BUCKETSIZE 0", "CF.RESERVE k 100 BUCKETSIZE 256", BUCKETS),
    ("CF.RESERVE k 100 MAXITERATIONS x", Error("Couldn't parse MAXITERATIONS")),
    ("CF.RESERVE k 100 MAXITERATIONS 0", "CF.RESERVE k 100 MAXITERATIONS 65536", ITERATIONS),
    ("CF.RESERVE k 100 EXPANSION x", Error("Couldn't parse EXPANSION")),
    ("CF.RESERVE k 100 EXPANSION -1", "CF.RESERVE k 100 EXPANSION 32769", EXPANSION),
    ("CF.RESERVE k 100 BANANA 1", Error("Unknown argument received")),
    ("CF.RESERVE text 100", OTHER),
    ("EXISTS k", 0),
    ("CF.RESERVE k 1000", "OK"),
    ("CF.RESERVE k 1000", Error("ERR item exists")),
    ("CF.RESERVE fixed 4 bucketsize 1 EXPANSION 0",
     "CF.RESERVE three 100 EXPANSION 3 BUCKETSIZE 4 MAXITERATIONS 7", "CF.RESERVE four 4", "OK"),
]


def item_rows(no, yes, no_space):
    return [
        ("CF.ADD", "CF.ADD k a b", ARITY),
        ("CF.ADD text a", OTHER),
        ("CF.ADD k a", "CF.ADD k a", "CF.ADD new a", yes),
        ("CF.ADDNX k", ARITY),
        ("CF.ADDNX text a", OTHER),
        ("CF.ADDNX k a", no),
        ("CF.ADDNX k b", "CF.ADDNX newer b", yes),
        ("CF.COUNT k a", 2),
        ("CF.COUNT k b", 1),
        ("CF.COUNT k z", 0),
        ("CF.COUNT k", ARITY),
        ("CF.COUNT nothing a", "CF.COUNT text a", 0),
        # Four slots: of one item two copies at most, and one if both of its buckets are the same.
        ("CF.INSERT fixed ITEMS c c c c c", [yes, yes, no_space, no_space, no_space]),
        ("CF.ADD fixed c", Error("Filter is full")),
        ("CF.ADDNX fixed c", no),
        ("CF.INSERTNX fixed ITEMS c", [0]),
        ("CF.INSERT k ITEMS", "CF.INSERT k CAPACITY 10", ARITY),
        ("CF.INSERT k ITEMS a CAPACITY", [yes, yes]),
        ("CF.INSERT k a b c", Error("Unknown argument received")),
        ("CF.INSERT k CAPACITY x ITEMS a", Error("Bad capacity")),
        ("CF.INSERT k CAPACITY 3 ITEMS a", "CF.INSERT k CAPACITY 1073741825 ITEMS a",
         INSERT_CAPACITY),
        ("CF.INSERT text ITEMS a", OTHER),
        ("CF.INSERT nothing NOCREATE ITEMS a", "CF.INSERTNX nothing nocreate items a", NOT_FOUND),
        ("CF.INSERTNX k ITEMS a c", [0, 1]),
        ("CF.INSERTNX k", ARITY),
        ("CF.INSERTNX text ITEMS a", OTHER),
        ("CF.INSERT made CAPACITY 10000 ITEMS a b", [yes, yes]),
        ("EXISTS nothing", 0),
        (("CF.ADD", "k", b"\x00\xff\r\n"), ("CF.EXISTS", "k", b"\x00\xff\r\n"), yes),
        (("CF.EXISTS", "k", b"\x00\xff\r"), no),
        ("CF.EXISTS k", ARITY),
        ("CF.EXISTS k a", yes),
        ("CF.EXISTS k z", "CF.EXISTS text a", "CF.EXISTS nothing a", no),
        ("CF.MEXISTS k", ARITY),
        ("CF.MEXISTS k a z b", [yes, no, yes]),
        ("CF.MEXISTS text a b", "CF.MEXISTS nothing a b", [no, no]),
        ("CF.DEL k", ARITY),
        ("CF.DEL nothing a", "CF.DEL text a", Error("Not found")),
        ("CF.DEL k z", no),
        ("CF.DEL k b", yes),
        ("CF.DEL k b", "CF.EXISTS k b", no),
        ("CF.COMPACT", ARITY),
        ("CF.COMPACT nothing", "CF.COMPACT text", Error("Cuckoo filter was not found")),
        ("CF.COMPACT new", "OK"),
    ]


INFO = [
    ("CF.INFO", "CF.INFO k x", ARITY),
    ("CF.INFO nothing", "CF.DEBUG nothing", NOT_FOUND),
    ("CF.INFO text", "CF.DEBUG text", OTHER),
    ("CF.DEBUG", ARITY),
    ("CF.DEBUG new",
     b"bktsize:2 buckets:512 items:1 deletes:0 filters:1 max_iterations:20 expansion:1"),
    ("CF.DEBUG three",
     b"bktsize:4 buckets:32 items:0 deletes:0 filters:1 max_iterations:7 expansion:4"),
]

DUMPS = [
    ("CF.SCANDUMP k", ARITY),
    ("CF.SCANDUMP k x", "CF.SCANDUMP k -1", Error("Invalid position")),
    ("CF.SCANDUMP nothing 0", "CF.LOADCHUNK nothing 5 data", NOT_FOUND),
    ("CF.SCANDUMP text 0", "CF.LOADCHUNK text 1 data", OTHER),
    ("CF.SCANDUMP four 0", "CF.SCANDUMP new 1025", "CF.SCANDUMP new 9223372036854775807",
     [0, None]),
    ("CF.LOADCHUNK k 1", ARITY),
    ("CF.LOADCHUNK k x data", "CF.LOADCHUNK k 0 data", Error("Invalid position")),
    ("CF.LOADCHUNK k 1 data", Error("ERR item exists")),
    ("CF.LOADCHUNK nothing 1 data", Error("Invalid header")),
    ("CF.LOADCHUNK new 2 data", "CF.LOADCHUNK new 1026 data", "CF.LOADCHUNK new 100000 data",
     Error("Couldn't load chunk!")),
]


def check_rows_of_notes():
    with Server(MODULE) as server:
        for protocol, answers in ((2, (0, 1, -1)), (3, (False, True, False))):
            with server.client(protocol) as client:
                client.ask("FLUSHALL")
                client.ask("SET", "text", "x")
                check_rows(client, RESERVE + item_rows(*answers) + INFO + DUMPS)
        flat = ["Size", 40 + 16 + 1024, "Number of buckets", 512, "Number of filters", 1,
                "Number of items inserted", 1, "Number of items deleted", 0, "Bucket size", 2,
                "Expansion rate", 1, "Max iterations", 20]
        check("CF.INFO", server.ask("CF.INFO", "new"), flat)
        check("CF.INFO 3", server.ask("CF.INFO", "new", protocol=3),
              dict(zip(flat[::2], flat[1::2])))
        (compact,) = server.ask("COMMAND", "INFO", "cf.compact")
        check("CF.COMPACT writes", "write" in compact[2], True)
        redis.check_alive(server)


# ---- Growing and removing --------------------------------------------------------------------------

def check_model():
    """Whatever is added and not removed is found, through growth and compaction; and the same as a
    second reader finds in the dump."""
    with Server(MODULE) as server, server.client() as client:
        client.ask("CF.RESERVE", "f", 64, "EXPANSION", 2)
        client.ask("CF.INSERT", "f", "ITEMS", *items("in", 5000))
        tables = dict(pairs(client.ask("CF.INFO", "f")))["Number of filters"]
        check("tables", tables > 4, True)
        filter_ = murmur.Cuckoo(murmur.dump(client, "CF", "f"))
        asked = items("in", 500) + items("out", 1500)
        check("the second reader", [filter_.count(item) for item in asked],
              list(client.ask_many([("CF.COUNT", "f", item) for item in asked])))
        gone = items("in", 4500)
        check("removed", sum(client.ask_many([("CF.DEL", "f", item) for item in gone])), 4500)
        check("still there", client.ask("CF.MEXISTS", "f", *items("in", 5000)[4500:]), [1] * 500)
        client.ask("CF.COMPACT", "f")
        check("there after a compaction", client.ask("CF.MEXISTS", "f", *items("in", 5000)[4500:]),
              [1] * 500)
        info = dict(pairs(client.ask("CF.INFO", "f")))
        check("fewer tables", info["Number of filters"] < tables, True)
        check("items", (info["Number of items inserted"], info["Number of items deleted"]), (500, 0))


def pairs(flat):
    return zip(flat[::2], flat[1::2])


def check_round_trip():
    with Server(MODULE) as server, server.client() as client:
        client.ask("CF.RESERVE", "f", 1000, "EXPANSION", 2)
        client.ask("CF.INSERT", "f", "ITEMS", *items("in", 5000))
        chunks = murmur.dump(client, "CF", "f")
        for at, data in chunks:
            check("CF.LOADCHUNK", client.ask("CF.LOADCHUNK", "g", at, data), "OK")
        check("a filter from its dump", *client.ask("DEBUG", "DIGEST-VALUE", "f", "g"))
        check_bad_headers(client, list(struct.unpack("<QQQQHHH", chunks[0][1])))
        redis.check_alive(server)


def check_bad_headers(client, good):
    """Each number of a header, wrong: no filter comes of it."""
    wrong = [(0, 2**60), (1, 0), (1, 3), (1, 2**63), (3, 0), (3, 2**64 - 1), (3, 65537), (3, 64),
             (4, 0), (4, 256), (5, 0), (6, 3), (6, 0)]
    for at, value in wrong:
        header = struct.pack("<QQQQHHH", *good[:at], value, *good[at + 1:])
        check(f"field {at} = {value}", client.ask("CF.LOADCHUNK", "bad", 1, header),
              Error("Invalid header"))
    header = struct.pack("<QQQQHHH", 1, 2**40, 0, 1, 2, 20, 1)
    check("huge", client.ask("CF.LOADCHUNK", "bad", 1, header), Error("Couldn't create filter!"))
    check("nothing came of it", client.ask("EXISTS", "bad"), 0)


def check_records():
    """RDB records are those of RedisBloom."""
    with Server(MODULE) as server, server.client() as client:
        client.ask("CF.RESERVE", "f", 64, "EXPANSION", 2, "MAXITERATIONS", 9)
        client.ask("CF.INSERT", "f", "ITEMS", *items("in", 100))
        client.ask("CF.DEL", "f", items("in", 1)[0])
        filter_ = murmur.Cuckoo(murmur.dump(client, "CF", "f"))
        name, encoding, values = payload.read(client.ask("DUMP", "f"))
        check("the type", (name, encoding), (b"MBbloomCF", 4))
        check("the numbers", values[:7], [len(filter_.tables), 32, 99, 1, 2, 9, 2])
        check("the tables", values[7:], [x for i, t in enumerate(filter_.tables)
                                         for x in (32 << i, t)])
        bad = [[0] + values[1:], [3] + values[1:], values[:1] + [64] + values[2:], values[:-1],
               values[:8] + [values[8][:-1]] + values[9:], values[:7] + [31] + values[8:],
               values[:2] + [2**62] + values[3:], values[:4] + [0] + values[5:]]
        for values in bad:
            check("a bad record", client.ask("RESTORE", "bad", 0,
                                             payload.write(b"MBbloomCF", 4, values)),
                  Error("ERR Bad data format"))
        redis.check_alive(server)


# ---- Elsewhere -------------------------------------------------------------------------------------

KEYS = ("f", "default", "fixed", "made", "empty", "loaded", "removed")


def fill(client):
    client.ask("CF.RESERVE", "f", 100, "EXPANSION", 2)
    client.ask("CF.INSERT", "f", "ITEMS", *items("f", 2000))
    client.ask("CF.ADD", "default", "a")
    client.ask("CF.RESERVE", "fixed", 4, "BUCKETSIZE", 1, "EXPANSION", 0)
    client.ask("CF.INSERT", "fixed", "ITEMS", *items("x", 20))
    client.ask("CF.INSERTNX", "made", "CAPACITY", 50, "ITEMS", *items("m", 100))
    client.ask("CF.RESERVE", "empty", 100)
    for at, data in murmur.dump(client, "CF", "f"):
        client.ask("CF.LOADCHUNK", "loaded", at, data)
    client.ask("CF.INSERT", "removed", "CAPACITY", 4, "ITEMS", *items("f", 40))
    for item in items("f", 30):
        client.ask("CF.DEL", "removed", item)
    client.ask("CF.COMPACT", "removed")


def ask(client):
    return [client.ask("CF.MEXISTS", key, *items("f", 50), *items("m", 50)) for key in KEYS]


def check_limits():
    """The limits of a filter, which replicas do not have: they follow all the same."""
    with Server(MODULE, "cf-max-expansions", 3, port=redis.free_port()) as server:
        with Server(MODULE, "CF_MAX_EXPANSIONS", 1, "max-object-bytes", 1, "cf-bucket-size", 5,
                    replicaof=f"127.0.0.1 {server.port}") as replica, server.client() as client:
            wait(server, replica)
            client.ask("CF.RESERVE", "f", 8, "BUCKETSIZE", 2)
            replies = client.ask("CF.INSERT", "f", "ITEMS", *["c"] * 100)
            check("its tables are full", replies, [1] * 12 + [Error("Maximum expansions reached")])
            check("one more", client.ask("CF.ADD", "f", "c"), Error("Maximum expansions reached"))
            client.ask("CF.ADD", "new", "a")
            check("options of a filter that is there",
                  client.ask("CF.INSERT", "new", "CAPACITY", 4, "ITEMS", "b"), [1])
            wait(server, replica)
            client.ask("CONFIG", "SET", "tamis.max-object-bytes", 3000)
            check("too large", client.ask("CF.RESERVE", "large", 10000),
                  Error("ERR Insufficient memory to create filter"))
            replies = client.ask("CF.INSERT", "new", "ITEMS", *items("in", 5000))
            check("no memory", replies[-1], Error("ERR Insufficient memory"))
            check("what was told is there",
                  set(client.ask("CF.MEXISTS", "new", *items("in", len(replies) - 1))), {1})
            wait(server, replica)
            check("a bucket", client.ask("CONFIG", "SET", "tamis.cf-bucket-size", 1000),
                  Error("ERR CONFIG SET failed (possibly related to argument "
                        "'tamis.cf-bucket-size') - Value for `cf-bucket-size` must be in the range "
                        "[1, 255]"))


def wait(server, replica):
    redis.wait_until(lambda: b"master_link_status:up" in replica.ask("INFO", "replication") and
                     replica.digest() == server.digest(), "the replica", replica)


check_rows_of_notes()
check_model()
check_round_trip()
check_records()
check_limits()
redis.check_lives(MODULE, fill, ask)
redis.finish()
