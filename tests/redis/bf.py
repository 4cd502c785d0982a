#!/usr/bin/env python3
"""BF commands: every reply and error, what becomes of filters elsewhere, and a second reader."""
import struct
import subprocess

import murmur
import payload
import redis
from redis import ARITY, WRONG_TYPE, Error, Server, check, check_rows, items

MODULE = redis.module_or_skip()
FULL = Error("ERR non scaling filter is full")
RATE = Error("ERR error rate must be in the range (0.000000, 1.000000)")
CAPACITY = Error("ERR capacity must be in the range [1, 1073741824]")
EXPANSION = Error("ERR expansion must be in the range [0, 32768]")
NOT_FOUND = Error("ERR not found")
OTHER = Error(WRONG_TYPE)

RESERVE = [
    ("BF.RESERVE", "BF.RESERVE k 0.01", "BF.RESERVE k 0.01 1 EXPANSION 1 NONSCALING x", ARITY),
    ("BF.RESERVE k x 100", Error("ERR bad error rate")),
    ("BF.RESERVE k 0 100", "BF.RESERVE k 1 100", "BF.RESERVE k -0.1 100", RATE),
    ("BF.RESERVE k nan 100", Error("ERR bad error rate")),
    ("BF.RESERVE k 0.01 x", "BF.RESERVE k 0.01 1.5", Error("ERR bad capacity")),
    ("BF.RESERVE k 0.01 0", "BF.RESERVE k 0.01 -1", "BF.RESERVE k 0.01 1073741825", CAPACITY),
    ("BF.RESERVE k 0.01 99999999999999999999", Error("ERR bad capacity")),
    ("BF.RESERVE k 0.01 10 EXPANSION", Error("ERR no expansion")),
    ("BF.RESERVE k 0.01 10 EXPANSION x", Error("ERR bad expansion")),
    ("BF.RESERVE k 0.01 10 EXPANSION -1", "BF.RESERVE k 0.01 10 EXPANSION 32769", EXPANSION),
    ("BF.RESERVE k 0.01 10 NONSCALING EXPANSION 2", "BF.RESERVE k 0.01 10 EXPANSION 2 nonscaling",
     Error("Nonscaling filters cannot expand")),
    ("BF.RESERVE k 0.01 10 BANANA", Error("Unknown argument received")),
    ("BF.RESERVE text 0.01 10", OTHER),
    ("EXISTS k", 0),
    ("BF.RESERVE k 0.01 10", "OK"),
    ("BF.RESERVE k 0.01 10", Error("ERR item exists")),
    ("BF.RESERVE fixed 0.01 4 NONSCALING", "BF.RESERVE zero 0.01 4 expansion 0",
     "BF.RESERVE both 0.01 4 EXPANSION 0 NONSCALING", "BF.RESERVE four 0.01 10 EXPANSION 4",
     "BF.RESERVE high 0.9 1000", "BF.RESERVE quarter 0.25 1000", "OK"),
    # What no machine has: an error, and the server lives.
    ("BF.RESERVE huge 1e-300 1073741824", Error("ERR Insufficient memory to create filter")),
    ("EXISTS huge", 0),
]

# no, yes: 0 and 1, or False and True.
def item_rows(no, yes):
    return [
        ("BF.ADD", "BF.ADD k", "BF.ADD k a b", ARITY),
        ("BF.ADD text a", OTHER),
        ("BF.ADD k a", yes),
        ("BF.ADD k a", no),
        ("BF.ADD new a", yes),
        ("BF.MADD k", ARITY),
        ("BF.MADD text a", OTHER),
        ("BF.MADD k a b b c", [no, yes, no, yes]),
        ("BF.MADD fixed 1 2 3 4 5 6", [yes, yes, yes, yes, FULL]),
        ("BF.MADD fixed 1 2", [no, no]),
        ("BF.ADD fixed 5", FULL),
        ("BF.ADD fixed 1", no),
        ("BF.MADD zero 1 2 3 4 5", [yes, yes, yes, yes, FULL]),
        ("BF.MADD newer a a", [yes, no]),
        (("BF.ADD", "k", b"\x00\xff\r\n"), ("BF.EXISTS", "k", b"\x00\xff\r\n"), yes),
        (("BF.EXISTS", "k", b"\x00\xff\r"), no),
        (("BF.ADD", "k", b""), ("BF.EXISTS", "k", b""), yes),
        ("BF.EXISTS", "BF.EXISTS k a b", ARITY),
        ("BF.EXISTS k a", yes),
        ("BF.EXISTS k z", "BF.EXISTS text a", "BF.EXISTS nothing a", no),
        ("BF.MEXISTS k", ARITY),
        ("BF.MEXISTS k a z c", [yes, no, yes]),
        ("BF.MEXISTS text a b", "BF.MEXISTS nothing a b", [no, no]),
        ("BF.INSERT k ITEMS", "BF.INSERT k CAPACITY 10", ARITY),
        ("BF.INSERT k a b c", Error("Unknown argument received")),
        ("BF.INSERT k CAPACITY x ITEMS a", "BF.INSERT k CAPACITY 0 ITEMS a",
         "BF.INSERT k CAPACITY 1073741825 ITEMS a", Error("Bad capacity")),
        ("BF.INSERT k ERROR x ITEMS a", "BF.INSERT k ERROR 1 ITEMS a", Error("Bad error rate")),
        ("BF.INSERT k EXPANSION x ITEMS a", "BF.INSERT k EXPANSION -1 ITEMS a",
         Error("Bad expansion")),
        ("BF.INSERT k CAPACITY 5 EXPANSION", ARITY),
        ("BF.INSERT text ITEMS a", OTHER),
        ("BF.INSERT nothing NOCREATE ITEMS a", NOT_FOUND),
        ("EXISTS nothing", 0),
        ("BF.INSERT k nocreate items a ITEMS", [no, yes]),
        ("BF.INSERT made capacity 1000 error 0.001 expansion 4 items a b", [yes, yes]),
        ("BF.INSERT made CAPACITY 5 ITEMS a", [no]),
        ("BF.INSERT stiff NONSCALING CAPACITY 2 ITEMS a b c d", [yes, yes, FULL]),
        ("BF.CARD", "BF.CARD k a", ARITY),
        ("BF.CARD k", 6),
        ("BF.CARD nothing", 0),
        ("BF.CARD text", OTHER),
    ]


INFO = [
    ("BF.INFO", "BF.INFO k SIZE x", ARITY),
    ("BF.INFO nothing", "BF.DEBUG nothing", NOT_FOUND),
    ("BF.INFO text", "BF.DEBUG text", OTHER),
    ("BF.INFO new BANANA", Error("Invalid information value")),
    ("BF.DEBUG", ARITY),
    ("BF.DEBUG new", [b"size:1", b"bytes:144 bits:1152 hashes:8 hashwidth:64 capacity:100 size:1 "
                                 b"ratio:0.005"]),
]

DUMPS = [
    ("BF.SCANDUMP k", ARITY),
    ("BF.SCANDUMP nothing 0", "BF.LOADCHUNK nothing 2 data", NOT_FOUND),
    ("BF.SCANDUMP text 0", "BF.LOADCHUNK text 1 data", OTHER),
    ("BF.SCANDUMP k x", Error("Second argument must be numeric")),
    ("BF.SCANDUMP new 145", "BF.SCANDUMP new 1000000", "BF.SCANDUMP new -1", [0, b""]),
    ("BF.LOADCHUNK k 1", ARITY),
    ("BF.LOADCHUNK k x data", Error("ERR Second argument must be numeric")),
    ("BF.LOADCHUNK nothing 1 data", Error("ERR received bad data")),
    ("BF.LOADCHUNK new 10000 data", "BF.LOADCHUNK new 2 data", "BF.LOADCHUNK new -5 data",
     Error("ERR invalid offset - no link found")),
    ("BF.LOADCHUNK new 147 data", Error("ERR invalid chunk - Too big for current filter")),
]


def check_info(server):
    """Sizes as RedisBloom tells them: 32, 64 for each link, and the bits."""
    flat = ["Capacity", 100, "Size", 240, "Number of filters", 1, "Number of items inserted", 1,
            "Expansion rate", 2]
    fields = dict(zip(flat[::2], flat[1::2]))
    words = ["CAPACITY", "SIZE", "FILTERS", "ITEMS", "EXPANSION"]
    with server.client() as client:
        check("BF.INFO", client.ask("BF.INFO", "new"), flat)
        check("BF.INFO of a fixed one", client.ask("BF.INFO", "fixed")[-1], None)
        for word, value in zip(words, flat[1::2]):
            check(f"BF.INFO {word}", client.ask("BF.INFO", "new", word.lower()), [value])
        check("BF.INFO EXPANSION", client.ask("BF.INFO", "fixed", "EXPANSION"), [None])
    with server.client(3) as client:
        check("BF.INFO 3", client.ask("BF.INFO", "new"), fields)
        for word, (name, value) in zip(words, fields.items()):
            check(f"BF.INFO {word}", client.ask("BF.INFO", "new", word), {name: value})


def check_rows_of_notes():
    # A machine with enough memory for the largest filter must not fill it for a test.
    with Server(MODULE, "max-object-bytes", "64gb") as server:
        for protocol, answers in ((2, (0, 1)), (3, (False, True))):
            with server.client(protocol) as client:
                client.ask("FLUSHALL")
                client.ask("SET", "text", "x")
                check_rows(client, RESERVE + item_rows(*answers))
                check_rows(client, INFO + DUMPS)
                high, quarter = client.ask("DEBUG", "DIGEST-VALUE", "high", "quarter")
                check("rates above a quarter are taken for it", high, quarter)
        check_info(server)
        check_metadata(server)
        redis.check_alive(server)


def check_metadata(server):
    """COMMAND DOCS and INFO, key specs, events, and watchers."""
    with server.client(3) as client:
        docs = client.ask("COMMAND", "DOCS", "bf.insert")[b"bf.insert"]
        check("module", (docs[b"group"], docs[b"module"]), (b"module", b"tamis"))
        check("arguments", [a[b"name"] for a in docs[b"arguments"]],
              [b"key", b"capacity", b"error", b"expansion", b"nocreate", b"nonscaling", b"items"])
        check("tokens", [a.get(b"token") for a in docs[b"arguments"]],
              [None, b"CAPACITY", b"ERROR", b"EXPANSION", b"NOCREATE", b"NONSCALING", b"ITEMS"])
        check("keys", client.ask("COMMAND", "GETKEYS", "BF.MADD", "f", "a"), [b"f"])
        (info,) = client.ask("COMMAND", "INFO", "bf.exists")
        check("arity and flags", (info[1], sorted(info[2])), (3, ["fast", "module", "readonly"]))
    with server.client() as watcher, server.client() as other:
        watcher.ask("CONFIG", "SET", "notify-keyspace-events", "KEA")
        other.ask("SUBSCRIBE", "__keyevent@0__:bf.add")
        watcher.ask("BF.ADD", "watched", "a")
        check("event", other.receive(), [b"message", b"__keyevent@0__:bf.add", b"watched"])
        for item, changed in (("a", False), ("b", True)):
            watcher.ask("WATCH", "watched")
            server.ask("BF.ADD", "watched", item)
            watcher.ask("MULTI")
            watcher.ask("PING")
            check(f"watched {item}", watcher.ask("EXEC"), None if changed else ["PONG"])


# ---- Dumps -----------------------------------------------------------------------------------------

def check_second_reader():
    """Python finds in a dump what the server finds, hits and false positives alike."""
    with Server(MODULE) as server, server.client() as client:
        client.ask("BF.RESERVE", "f", 0.05, 100, "EXPANSION", 2)
        added = client.ask("BF.MADD", "f", *items("in", 3000))
        check("items that were new", client.ask("BF.CARD", "f"), sum(added))
        filter_ = murmur.Bloom(murmur.dump(client, "BF", "f"))
        check("items in the dump", filter_.size, sum(added))
        asked = items("in", 3000)[::3] + items("out", 2000)
        check("the second reader", [int(filter_.has(item)) for item in asked],
              client.ask("BF.MEXISTS", "f", *asked))
        sizes = [(len(bits), k, capacity) for bits, _, k, capacity, _ in filter_.links]
        check("sizes of links", sizes, list(murmur.bloom_sizes(100, 0.05, 2, len(sizes))))
        check("one by one", [client.ask("BF.ADD", "g", item) for item in items("in", 300)],
              client.ask("BF.MADD", "h", *items("in", 300)))
        check("the same bits", *client.ask("DEBUG", "DIGEST-VALUE", "g", "h"))


def check_round_trip():
    with Server(MODULE) as server, server.client() as client:
        client.ask("BF.RESERVE", "f", 0.001, 1000)
        client.ask("BF.MADD", "f", *items("in", 5000))
        chunks = murmur.dump(client, "BF", "f")
        for at, data in chunks:
            check("BF.LOADCHUNK", client.ask("BF.LOADCHUNK", "g", at, data), "OK")
        check("a filter from its dump", *client.ask("DEBUG", "DIGEST-VALUE", "f", "g"))
        check_bad_headers(client, chunks[0][1])
        redis.check_alive(server)


def check_chunks():
    """Chunks have 16 MiB at most, and end with their link."""
    with Server(MODULE) as server, server.client() as client:
        client.ask("BF.RESERVE", "f", 0.5, 40000000, "EXPANSION", 1)
        client.ask("BF.MADD", "f", *items("in", 100))
        chunks = murmur.dump(client, "BF", "f")
        check("chunks", [(at, len(data)) for at, data in chunks],
              [(1, 73), (1 + 2**24, 2**24), (1 + 21640432, 21640432 - 2**24)])
        for at, data in chunks:
            client.ask("BF.LOADCHUNK", "g", at, data)
        check("a filter from its dump", *client.ask("DEBUG", "DIGEST-VALUE", "f", "g"))


def check_bad_headers(client, header):
    """Each number of a header, wrong: no filter comes of it."""
    first = 20
    wrong = {
        "a byte less": header[:-1],
        "a byte more": header + b"\0",
        "no links": header[:8] + struct.pack("<I", 0) + header[12:20],
        "too many links": header[:8] + struct.pack("<I", 1000) + header[12:],
    }
    fields = {"size": (0, "<Q", 1), "options": (12, "<I", 16), "growth": (16, "<I", 0),
              "bytes": (first, "<Q", 0), "huge bytes": (first, "<Q", 2**63),
              "bits": (first + 8, "<Q", 64), "link size": (first + 16, "<Q", 2**64 - 1),
              "error 0": (first + 24, "<d", 0.0), "error 1": (first + 24, "<d", 1.0),
              "error nan": (first + 24, "<d", float("nan")),
              "bpe": (first + 32, "<d", 1e9), "bpe nan": (first + 32, "<d", float("nan")),
              "hashes": (first + 40, "<I", 2**32 - 1), "power": (first + 52, "<B", 64),
              "power beyond": (first + 52, "<B", 30)}
    for name, (at, form, value) in fields.items():
        bytes_ = struct.pack(form, value)
        wrong[name] = header[:at] + bytes_ + header[at + len(bytes_):]
    for name, bad in wrong.items():
        check(name, client.ask("BF.LOADCHUNK", "bad", 1, bad), Error("ERR received bad data"))
    check("nothing came of it", client.ask("EXISTS", "bad"), 0)


def check_records():
    """RDB records are those of RedisBloom: written as such, and read from all of its versions."""
    with Server(MODULE) as server, server.client() as client:
        client.ask("BF.RESERVE", "f", 0.01, 10)
        client.ask("BF.MADD", "f", *items("in", 40))
        size, links, options, growth = client.ask("BF.CARD", "f"), 3, 5, 2
        name, encoding, values = payload.read(client.ask("DUMP", "f"))
        check("the type", (name, encoding), (b"MBbloom--", 4))
        check("the first numbers", values[:4], [size, links, options, growth])
        filter_ = murmur.Bloom(murmur.dump(client, "BF", "f"))
        for i, (bits, used, k, capacity, error) in enumerate(filter_.links):
            link = values[4 + 8 * i:12 + 8 * i]
            check("a link", link[:3] + link[4:7], [capacity, error, k, used, 0, bits])
        old = payload.write(b"MBbloom--", 3, values[:3] + values[4:])
        check("encoding 3", client.ask("RESTORE", "old", 0, old), "OK")
        check("the same filter", *client.ask("DEBUG", "DIGEST-VALUE", "f", "old"))
        check_first_encoding(client)
        bad = [values[:1] + [0] + values[2:4], values[:1] + [2**63] + values[2:], values[:-1],
               values[:10] + [values[10][:-8]] + values[11:], values[:4] + [0.5] + values[5:]]
        for values in bad:
            check("a bad record", client.ask("RESTORE", "bad", 0,
                                             payload.write(b"MBbloom--", 4, values)),
                  Error("ERR Bad data format"))
        check("an encoding to come", client.ask("RESTORE", "bad", 0,
                                                payload.write(b"MBbloom--", 5, values)),
              Error("ERR Bad data format"))
        redis.check_alive(server)


def check_first_encoding(client):
    """32-bit hashes and no options: the filter of the first versions, made here by hand."""
    bits, k = bytearray(128), 7
    for item in items("in", 50):
        a = murmur.murmur32(item, 0x9747B28C)
        b = murmur.murmur32(item, a)
        for i in range(k):
            x = (a + i * b) % 1024
            bits[x >> 3] |= 1 << (x & 7)
    values = [50, 1, 100, 0.01, k, 9.585058, bytes(bits), 50]
    check("encoding 0", client.ask("RESTORE", "first", 0, payload.write(b"MBbloom--", 0, values)),
          "OK")
    check("its items", client.ask("BF.MEXISTS", "first", *items("in", 50)), [1] * 50)
    check("its width", b"hashwidth:32" in client.ask("BF.DEBUG", "first")[1], True)
    check("it grows", client.ask("BF.MADD", "first", *items("more", 100))[-1] in (0, 1), True)


# ---- Elsewhere -------------------------------------------------------------------------------------

def fill(client):
    client.ask("BF.RESERVE", "f", 0.01, 100)
    client.ask("BF.MADD", "f", *items("f", 2000))
    client.ask("BF.ADD", "default", "a")
    client.ask("BF.RESERVE", "fixed", 0.01, 10, "NONSCALING")
    client.ask("BF.MADD", "fixed", *items("x", 20))
    client.ask("BF.INSERT", "made", "CAPACITY", 50, "ERROR", 0.2, "ITEMS", *items("m", 100))
    client.ask("BF.RESERVE", "empty", 0.01, 100)
    for at, data in murmur.dump(client, "BF", "f"):
        client.ask("BF.LOADCHUNK", "loaded", at, data)


def ask(client):
    return [client.ask("BF.MEXISTS", key, *items("f", 50), *items("m", 50))
            for key in ("f", "default", "fixed", "made", "empty", "loaded")]


def check_settings():
    """Given with the path, in redis.conf, and at run time. Replicas have others, and follow."""
    with Server(MODULE, "ERROR_RATE", 0.02, "bf-initial-size", 1000, port=redis.free_port()) as server:
        with server.client() as client:
            for name, value in (("error-rate", b"0.02"), ("expansion-factor", b"2"),
                                ("initial-size", b"1000")):
                check(name, client.ask("CONFIG", "GET", f"tamis.bf-{name}")[1], value)
            check("a rate", client.ask("CONFIG", "SET", "tamis.bf-error-rate", "x"),
                  Error("ERR CONFIG SET failed (possibly related to argument "
                        "'tamis.bf-error-rate') - Invalid value for `bf-error-rate`"))
            check("a range", client.ask("CONFIG", "SET", "tamis.bf-initial-size", "0"),
                  Error("ERR CONFIG SET failed (possibly related to argument "
                        "'tamis.bf-initial-size') - Value for `bf-initial-size` must be in the "
                        "range [1, 1073741824]"))
            client.ask("BF.ADD", "f", "a")
            check("its capacity", client.ask("BF.INFO", "f", "CAPACITY"), [1000])
            check_limits(server, client)
        with Server(MODULE, replicaof=f"127.0.0.1 {server.port}", **{
                "tamis.bf-initial-size": 7, "tamis.max-object-bytes": 1}) as replica:
            wait(server, replica)
            server.ask("BF.MADD", "late", *items("late", 5000))
            server.ask("BF.RESERVE", "later", 0.01, 10)
            wait(server, replica)


def wait(server, replica):
    redis.wait_until(lambda: b"master_link_status:up" in replica.ask("INFO", "replication") and
                     replica.digest() == server.digest(), "the replica", replica)


def check_bad_words():
    """Words after the path that make no sense: the module does not load, and the server ends."""
    for words in (["bf-error-rate"], ["banana", 1], ["ERROR_RATE", 2], ["bf-initial-size", "1x"],
                  ["max-bytes", "1tb"], ["cf-bucket-size", 600]):
        said = subprocess.run(["redis-server", "--port", "0", "--loadmodule", str(MODULE),
                               *map(str, words)], capture_output=True, timeout=30)
        check(words, said.returncode, 1)


def check_limits(server, client):
    """A limit that is hit within a command: what was added is in, and told to replicas."""
    client.ask("CONFIG", "SET", "tamis.max-object-bytes", "4kb")
    check("too large", client.ask("BF.RESERVE", "large", 0.01, 100000),
          Error("ERR Insufficient memory to create filter"))
    replies = client.ask("BF.MADD", "limited", *items("limited", 10000))
    check("the end of a batch", replies[-1], Error("ERR problem inserting into filter"))
    check("what is in", client.ask("BF.CARD", "limited"), sum(replies[:-1]))
    client.ask("CONFIG", "SET", "tamis.max-object-bytes", 0, "tamis.max-bytes", "10kb")
    check("too large for all", client.ask("BF.RESERVE", "large", 0.01, 100000),
          Error("ERR Insufficient memory to create filter"))
    client.ask("CONFIG", "SET", "tamis.max-bytes", 0)
    check("refusals", b"tamis_refused_allocations:3\r\n" in client.ask("INFO", "tamis"), True)
    client.ask("FLUSHALL")
    redis.wait_until(lambda: b"tamis_used_bytes:0\r\n" in client.ask("INFO", "tamis"), "no memory in use")


def check_eviction():
    """What the first lines of docs/redis.md say of filters that are evicted."""
    with Server(MODULE) as server, server.client() as client:
        for policy, evicts in (("volatile-lru", False), ("allkeys-lru", True)):
            client.ask("BF.RESERVE", "seen", 0.01, 1000000)
            client.ask("TAMIS.RESERVE", "also", "blocked", "CAPACITY", 1000000)
            client.ask("BF.ADD", "seen", "alice")
            client.ask("CONFIG", "SET", "maxmemory-policy", policy, "maxmemory", "1500kb")
            client.ask("SET", "text", "a")
            check(policy, client.ask("EXISTS", "seen", "also"), 0 if evicts else 2)
            client.ask("CONFIG", "SET", "maxmemory", 0)
        check_rows(client, [
            ("BF.INSERT seen NOCREATE ITEMS bob", "TAMIS.ADD also bob", Error("ERR not found")),
            ("BF.EXISTS seen alice", 0),
            ("BF.ADD seen bob", 1),
            ("BF.INFO seen CAPACITY", [100]),
        ])


check_rows_of_notes()
check_eviction()
check_second_reader()
check_round_trip()
check_chunks()
check_records()
check_settings()
check_bad_words()
redis.check_lives(MODULE, fill, ask)
redis.finish()
