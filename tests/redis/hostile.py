#!/usr/bin/env python3
"""What comes from enemies: changed payloads, chunks and files, absurd sizes, and memory that ends.

The server stays alive, refuses with an error or has a value that every command can work with, and
never keeps half of what it refused. SEED=n repeats a run."""
import itertools
import os
import random
import struct
import subprocess
import sys

import murmur
import payload
import redis
from redis import IS_LONG, IS_SANITIZED, Error, Server, check

sys.path.insert(0, str(redis.pathlib.Path(__file__).resolve().parents[2] / "tools"))
sys.dont_write_bytecode = True
from read_image import xxh3  # noqa: E402

MODULE = redis.module_or_skip()
SEED = int(os.environ.get("SEED", "0x686f7374696c65"), 0)
PAYLOADS = 10000 if IS_LONG else 3000
CHUNKS = 4000 if IS_LONG else 400
SIZES = 1000 if IS_LONG else 5 if IS_SANITIZED else 30  # large blocks are slow there
FILES = 200 if IS_LONG else 4

EXTREMES = [0, 1, 2, 63, 64, 255, 256, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53,
            2**62, 2**63 - 1, 2**63, 2**64 - 1]
DOUBLES = [0.0, -0.0, 1.0, -1.0, 1e-300, 5e-324, 1e300, float("inf"), float("-inf"), float("nan"),
           0.25, 0.999999]

# ---- Values of every type ------------------------------------------------------------------------

FILL = """
    BF.RESERVE BF:grown 0.01 4
    BF.MADD BF:grown ITEMS
    BF.RESERVE BF:fixed 0.1 40 NONSCALING
    BF.MADD BF:fixed ITEMS
    CF.RESERVE CF:grown 8 EXPANSION 2
    CF.INSERT CF:grown ITEMS ITEMS
    CF.DEL CF:grown 3
    CF.RESERVE CF:wide 32 BUCKETSIZE 4 MAXITERATIONS 7 EXPANSION 0
    CF.INSERT CF:wide ITEMS ITEMS
    CMS.INITBYDIM CMS:one 6 3
    CMS.INCRBY CMS:one a 4294967295 b 3 c 9
    CMS.INITBYDIM CMS:two 6 3
    TOPK.RESERVE TOPK:one 4 5 3 0.9
    TOPK.ADD TOPK:one ITEMS
    TOPK.RESERVE TOPK:two 3 8 7 1
    TAMIS.RESERVE TAMIS:bloom bloom CAPACITY 40
    TAMIS.MADD TAMIS:bloom ITEMS
    TAMIS.RESERVE TAMIS:cqf cqf GROW
    TAMIS.MADD TAMIS:cqf ITEMS
    TAMIS.RESERVE TAMIS:cuckoo cuckoo CAPACITY 40
    TAMIS.MADD TAMIS:cuckoo ITEMS
    TAMIS.RESERVE TAMIS:window window CAPACITY 70 WINDOW 3600000
    TAMIS.MADD TAMIS:window ITEMS
    TAMIS.RESERVE TAMIS:aqf aqf CAPACITY 40
    TAMIS.MADD TAMIS:aqf ITEMS
    TAMIS.RESERVE TAMIS:aleph aleph
    TAMIS.MADD TAMIS:aleph ITEMS
    TAMIS.RESERVE TAMIS:bitmap bitmap CAPACITY 90
    TAMIS.MADD TAMIS:bitmap ITEMS
    SADD set ITEMS
    TAMIS.BUILD TAMIS:fuse fuse FROM SET set
    TAMIS.BUILD TAMIS:ribbon ribbon FROM SET set
    TAMIS.RESERVE TAMIS:map hashmap CAPACITY 40 VALUEBITS 7
    TAMIS.PUT TAMIS:map a 1 b 2 c 3
    DEL set
""".strip().splitlines()

# What is asked of a value that was let in; ITEMS are some items. Whatever the replies are, the
# server has to be there afterwards.
USE = {
    "BF": "BF.MEXISTS k ITEMS|BF.INFO k|BF.DEBUG k|BF.CARD k|BF.SCANDUMP k 0|BF.SCANDUMP k 1|"
          "BF.SCANDUMP k 99|BF.LOADCHUNK k 9 12345678|BF.MADD k ITEMS|BF.ADD k z|BF.MEXISTS k z",
    "CF": "CF.MEXISTS k ITEMS|CF.COUNT k 3|CF.INFO k|CF.DEBUG k|CF.SCANDUMP k 0|CF.SCANDUMP k 1|"
          "CF.LOADCHUNK k 9 12345678|CF.INSERT k ITEMS ITEMS|CF.DEL k 5|CF.DEL k 6|CF.COMPACT k|"
          "CF.INSERTNX k ITEMS ITEMS|CF.ADD k z|CF.EXISTS k z",
    "CMS": "CMS.INFO k|CMS.QUERY k ITEMS|CMS.INCRBY k a 1 b 4294967295|CMS.MERGE k 1 k|"
           "CMS.MERGE k 2 k k WEIGHTS 1 -1|CMS.MERGE k 2 k CMS:one WEIGHTS 9 -9",
    "TOPK": "TOPK.LIST k WITHCOUNT|TOPK.LIST k|TOPK.INFO k|TOPK.COUNT k ITEMS|TOPK.QUERY k ITEMS|"
            "TOPK.ADD k ITEMS|TOPK.INCRBY k a 100000 b 3|TOPK.LIST k WITHCOUNT",
    "TAMIS": "TAMIS.INFO k|TAMIS.CARD k|TAMIS.MEXISTS k ITEMS|TAMIS.COUNT k ITEMS|TAMIS.DUMP k 0|"
             "TAMIS.DUMP k 9|TAMIS.MADD k ITEMS|TAMIS.REMOVE k 3 4 zz|TAMIS.ADAPT k 3 77 78|"
             "TAMIS.TURN k|TAMIS.PUT k 5 6 7 9|TAMIS.GET k 5 7 8|TAMIS.RESERVE l LIKE k|TAMIS.MERGE l 2 k k|TAMIS.MADD k 1 2 3|DEL l",
}
# Of a value of any type, before and after it was used.
LOOK = "DEBUG DIGEST-VALUE k|MEMORY USAGE k|DUMP k|COPY k copied|DEBUG DIGEST-VALUE copied|DEL copied"


def fill(client):
    """The items of FILL stand at its end, where an option has the name ITEMS too."""
    for row in FILL:
        head, _, _ = row.strip().rpartition(" ITEMS")
        reply = client.ask(*(head.split() + list(range(40)) if head else row.split()))
        check(row, isinstance(reply, Error) and "full" not in reply, False)


def commands_of(family, key):
    for row in f"{LOOK}|{USE[family]}|{LOOK}|DEL k".split("|"):
        head, last, _ = row.rpartition(" ITEMS")
        row_words = head.split() + list(range(30, 90)) if last else row.split()
        yield [key if word == "k" else word for word in row_words]


# ---- Changes -------------------------------------------------------------------------------------

def change_bytes(rng, data, keep):
    """Flips, cuts, repeats and extremes, behind the first bytes."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        at = rng.randrange(keep, max(len(data), keep + 1))
        sort = rng.randrange(6)
        if sort == 0:
            data = data[:at]
        elif sort == 1:
            data[at:at] = data[at:at + rng.randrange(1, 30)]
        elif sort == 2:
            del data[at:at + rng.randrange(1, 30)]
        elif sort == 3:
            data[at:at + 8] = struct.pack("<Q", rng.choice(EXTREMES))
        elif at < len(data):
            data[at] = rng.choice([data[at] ^ 1 << rng.randrange(8), rng.randrange(256), 255, 0])
    return bytes(data)


def change_image(rng, image):
    """Of a filter of the library: the checksum of its header is right again, most often."""
    changed = bytearray(change_bytes(rng, image[:256], 8).ljust(256, b"\0")[:256])
    if rng.random() < 0.8:
        changed[248:] = struct.pack("<Q", xxh3(bytes(changed[:248])))
    return bytes(changed) + image[256:]


def change_value(rng, value):
    if isinstance(value, float):
        return rng.choice(DOUBLES)
    if isinstance(value, bytes):
        if value[:4] == b"\x89TMS":
            return change_image(rng, value)
        return rng.choice([b"", value[:-1], value + b"x", change_bytes(rng, value, 0)])
    return rng.choice(EXTREMES + [value + 1 & 2**64 - 1, value - 1 & 2**64 - 1, 2 * value & 2**64 - 1])


def change_payload(rng, dump, record):
    """One value becomes another, or any byte but the first, which is for Redis itself."""
    name, encoding, values = record
    sort = rng.randrange(8)
    if sort < 2:
        return payload.seal(change_bytes(rng, dump[:-10], 1))
    if sort == 2:
        encoding = rng.choice([0, 1, 2, 3, 4, 5, 1023])
    elif sort == 3:
        values = values[:rng.randrange(len(values))] + rng.choice([[], [0], [b"x"], [0.5]])
    else:
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            at = rng.randrange(len(values))
            values = values[:at] + [change_value(rng, values[at])] + values[at + 1:]
    return payload.write(name, encoding, values)


def chosen(rng, keys):
    """Keys, of each family as many."""
    families = sorted({key.partition(b":")[0] for key in keys})
    while True:
        for family in families:
            yield rng.choice([key for key in keys if key.startswith(family + b":")])


def ask_or_tell(server, client, commands, payloads):
    """The replies; if the server is gone, of what."""
    try:
        return list(client.ask_many(commands))
    except OSError as error:
        print(f"SEED={SEED:#x}: {error}; one of these:", *payloads, sep="\n    ", file=sys.stderr)
        server.process.wait(10)
        raise SystemExit(server.log())


def check_looks(family, replies):
    """What was let in has a size that the limit allows, and a copy that is equal."""
    n = LOOK.count("|") + 1
    for look in (replies[:n], replies[-n - 1:-1]):
        digest, usage, dump, copied, copy, _ = look
        check(f"{family}: usage", isinstance(usage, int) and 0 < usage < 2**21, True)
        check(f"{family}: a dump", isinstance(dump, bytes), True)
        if copied == 1:
            check(f"{family}: a copy", copy, digest)


def check_payloads(rng):
    """RESTORE of changed payloads, with the right checksum."""
    with Server(MODULE, "max-object-bytes", "1mb", "max-bytes", "64mb") as server, \
            server.client() as client:
        fill(client)
        keys = sorted(client.ask("KEYS", "*"))
        dumps = {key: client.ask("DUMP", key) for key in keys}
        records = {key: payload.read(dump) for key, dump in dumps.items()}
        whole, let_in, before = chosen(rng, keys), 0, server.digest()
        for _ in range(0, PAYLOADS, 50):
            made = [(f"m{i}", key.partition(b":")[0].decode(),
                     change_payload(rng, dumps[key], records[key]))
                    for i, key in zip(range(50), whole)]
            restored = ask_or_tell(server, client, [("RESTORE", k, 0, p) for k, _, p in made],
                                   [p for _, _, p in made])
            for (k, family, p), reply in zip(made, restored):
                if reply == "OK":
                    let_in += 1
                    replies = ask_or_tell(server, client, list(commands_of(family, k)), [p])
                    check_looks(family, replies)
                else:
                    check(f"{family}: refused", isinstance(reply, Error), True)
        check("some were let in", PAYLOADS / 50 < let_in < PAYLOADS / 2, True)
        check("nothing else has changed", server.digest(), before)
        client.ask("FLUSHALL")
        redis.wait_until(lambda: b"tamis_used_bytes:0\r\n" in client.ask("INFO", "tamis"),
                         "no memory in use")


# ---- Chunks ----------------------------------------------------------------------------------------

def pieces(dump, cuts):
    """A dump as chunks that end at these offsets; the number of each is one more than that."""
    header, data = dump[0][1], b"".join(chunk for _, chunk in dump[1:])
    ends = sorted({*cuts, len(data)})
    return [(1, header)] + [(end + 1, data[at:end]) for at, end in zip([0] + ends, ends) if end]


def check_orders(client, family, key):
    """The header first, then the rest in any order, and some of it twice: the same filter."""
    dump = murmur.dump(client, family, key)
    ends = list(itertools.accumulate(len(chunk) for _, chunk in dump[1:]))
    chunks = pieces(dump, [*ends, ends[-1] // 2, 3])
    wanted = client.ask("DEBUG", "DIGEST-VALUE", key)
    orders = list(itertools.permutations(chunks[1:]))
    for order in orders if IS_LONG else orders[::7]:
        early = client.ask(f"{family}.LOADCHUNK", "other", *order[0])
        check(f"{family}: no header", isinstance(early, Error), True)
        for at, chunk in [chunks[0], *order, order[0]]:
            check(f"{family}: a chunk", client.ask(f"{family}.LOADCHUNK", "other", at, chunk), "OK")
        again = client.ask(f"{family}.LOADCHUNK", "other", *chunks[0])
        check(f"{family}: a header again", isinstance(again, Error), True)
        check(f"{family}: any order", client.ask("DEBUG", "DIGEST-VALUE", "other"), wanted)
        client.ask("DEL", "other")
    return chunks


def check_wrong_keys(client, family, chunks):
    """Chunks to keys of all other types change nothing."""
    before = client.ask("DEBUG", "DIGEST")
    for key in sorted(client.ask("KEYS", "*")):
        if not key.startswith(family.encode() + b":"):
            for at, chunk in chunks:
                check(f"{family}.LOADCHUNK {key}", client.ask(f"{family}.LOADCHUNK", key, at, chunk),
                      Error(redis.WRONG_TYPE))
    check(f"{family}: nothing has changed", client.ask("DEBUG", "DIGEST"), before)


def check_lies(rng, server, client, family, chunks):
    """Changed headers, and after them the chunks as they were, cut anywhere, or at any place."""
    for _ in range(CHUNKS):
        header = change_bytes(rng, chunks[0][1], 0)
        commands = [(f"{family}.LOADCHUNK", "k", 1, header)]
        for at, chunk in chunks[1:]:
            start, end = sorted((rng.randrange(len(chunk) + 1), rng.randrange(len(chunk) + 1)))
            place = rng.choice([at, at, at - len(chunk) + end, *EXTREMES[:-2], -1, -2**63])
            commands.append((f"{family}.LOADCHUNK", "k", place, chunk[start:end]))
        replies = ask_or_tell(server, client, commands, [header])
        check(f"{family}: a key or nothing", client.ask("EXISTS", "k"), int(replies[0] == "OK"))
        if replies[0] == "OK":
            check_looks(family, ask_or_tell(server, client, list(commands_of(family, "k")), [header]))


def check_images(rng, client, key):
    """Chunks of TAMIS.LOAD in any order but one, or with lies in the header: the key stays."""
    at, total, image = client.ask("TAMIS.DUMP", key, 0)
    check("one chunk", (at, total), (0, len(image)))
    cuts = [0, 100, 256, 300, total]
    parts = [(a, total, image[a:b]) for a, b in zip(cuts, cuts[1:])]
    before = client.ask("DEBUG", "DIGEST-VALUE", key)
    for order in itertools.permutations(parts):
        replies = [client.ask("TAMIS.LOAD", key, *part) for part in order]
        check("in order only", replies[-1] == "OK", list(order) == parts)
    for _ in range(CHUNKS):
        changed = change_image(rng, image)
        reply = client.ask("TAMIS.LOAD", "k", 0, len(changed), changed)
        if reply == "OK":
            list(client.ask_many(list(commands_of("TAMIS", "k"))))
        else:
            check("a lie is refused", isinstance(reply, Error), True)
    check("the key is as it was", client.ask("DEBUG", "DIGEST-VALUE", key), before)


def check_chunks(rng):
    with Server(MODULE, "max-object-bytes", "1mb") as server, server.client() as client:
        fill(client)
        client.ask("SET", "text", "a")
        for family in ("BF", "CF"):
            chunks = check_orders(client, family, f"{family}:grown")
            check_wrong_keys(client, family, chunks)
            check_lies(rng, server, client, family, chunks)
        for key in ("TAMIS:bloom", "TAMIS:cqf", "TAMIS:fuse"):
            check_images(rng, client, key)
        redis.check_alive(server)


# ---- Sizes -----------------------------------------------------------------------------------------

NUMBERS = ["-1", "0", "1", "7", "65535", "2147483648", "4294967295", "4611686018427387904",
           "9223372036854775807", "9223372036854775808", "18446744073709551615", "x", "", "1e9", "1.5"]
SHARES = ["0", "1", "-1", "0.01", "1e-9", "1e-300", "1e-400", "nan", "inf", "0.9999999999", "x", ""]
ABSURD = """
    BF.RESERVE k SHARE NUMBER
    BF.RESERVE k SHARE NUMBER EXPANSION NUMBER
    BF.INSERT k CAPACITY NUMBER ERROR SHARE EXPANSION NUMBER ITEMS a b c
    CF.RESERVE k NUMBER
    CF.RESERVE k NUMBER BUCKETSIZE NUMBER MAXITERATIONS NUMBER EXPANSION NUMBER
    CF.INSERT k CAPACITY NUMBER ITEMS a b c
    CMS.INITBYDIM k NUMBER NUMBER
    CMS.INITBYPROB k SHARE SHARE
    TOPK.RESERVE k NUMBER
    TOPK.RESERVE k NUMBER NUMBER NUMBER SHARE
    TAMIS.RESERVE k KIND CAPACITY NUMBER
    TAMIS.RESERVE k KIND CAPACITY NUMBER ERROR SHARE
    TAMIS.RESERVE k KIND CAPACITY NUMBER LOAD SHARE VALUEBITS NUMBER COUNTERBITS NUMBER
    TAMIS.RESERVE k KIND UNIVERSE NUMBER
    TAMIS.RESERVE k KIND BITS NUMBER HASHES NUMBER
    TAMIS.RESERVE k KIND MAXBYTES NUMBER ERROR SHARE
    TAMIS.RESERVE k KIND QUOTIENTBITS NUMBER TAGBITS NUMBER
    TAMIS.RESERVE k KIND COUNTERROR SHARE
    TAMIS.RESERVE k window CAPACITY NUMBER WINDOW NUMBER SINCE NUMBER
    TAMIS.RESERVE k KIND CAPACITY 10 SEED NUMBER HASH fast
""".strip().splitlines()


def check_sizes(rng):
    """Absurd sizes: an error or a filter, and no other key. Filters of the TAMIS commands are
    filled with zeros when they are made, so that these have a limit beside the machine's."""
    with Server(MODULE) as server, server.client() as client:
        kinds = client.ask("TAMIS.RESERVE", "k", "none").partition("there are ")[2].split()
        choices = {"NUMBER": NUMBERS, "SHARE": SHARES, "KIND": kinds}
        asked = [SIZES * [row.split()] for row in ABSURD]
        for row in itertools.chain(*asked):
            command = [rng.choice(choices.get(word, [word])) for word in row]
            limit = "64mb" if row[0] == "TAMIS.RESERVE" else 0
            client.ask("CONFIG", "SET", "tamis.max-object-bytes", limit)
            reply, size = ask_or_tell(server, client, [command, ("MEMORY", "USAGE", "k")], [command])
            check(command, isinstance(reply, Error), size is None)
            client.ask("DEL", "k")
        check("nothing is left", client.ask("DBSIZE"), 0)
        client.ask("CONFIG", "SET", "tamis.max-object-bytes", 0)
        for command in ("BF.RESERVE k 1e-300 1073741824", "CMS.INITBYDIM k 1048576 1048576",
                        "TOPK.RESERVE k 9 1048576 1048576 0.5", "CF.RESERVE k 9223372036854775807",
                        "TAMIS.RESERVE k bloom CAPACITY 99999999999999"):
            check(command, isinstance(client.ask(*command.split()), Error), True)


# ---- Memory that ends --------------------------------------------------------------------------------

def in_step(primary, replica):
    redis.wait_until(lambda: b"master_link_status:up" in replica.ask("INFO", "replication") and
                     replica.digest() == primary.digest(), f"replicas of SEED={SEED:#x}", replica)


LONG_ITEMS = [f"{'long' * 20}-{i}" for i in range(300)]
KEY_BYTES = 200  # at most, of what Redis keeps for a key beside its value
# How a key begins, what makes it grow, and what tells whether an item is in.
GROWING = [
    (None, "BF.MADD k", "BF.MEXISTS k"),
    (None, "BF.INSERT k CAPACITY 9 ERROR 0.001 ITEMS", "BF.MEXISTS k"),
    (None, "CF.INSERT k CAPACITY 8 ITEMS", "CF.MEXISTS k"),
    ("CF.RESERVE k 8 EXPANSION 2", "CF.INSERTNX k ITEMS", "CF.MEXISTS k"),
    ("TOPK.RESERVE k 200 4 2 0.9", "TOPK.ADD k", None),
    ("TAMIS.RESERVE k aleph CAPACITY 8", "TAMIS.MADD k", "TAMIS.MEXISTS k"),
    ("TAMIS.RESERVE k cqf GROW CAPACITY 8", "TAMIS.MADD k", "TAMIS.MEXISTS k"),
    ("TAMIS.RESERVE k hash CAPACITY 8", "TAMIS.MADD k", "TAMIS.MEXISTS k"),
]


def check_growth(client, setting, limit, row):
    """What was replied to is in; what was refused as a whole has left no trace."""
    begin, add, has = row
    client.ask("CONFIG", "SET", setting, 0)
    if begin:
        client.ask(*begin.split())
    client.ask("CONFIG", "SET", setting, limit)
    before, most = client.ask("DEBUG", "DIGEST"), client.ask("MEMORY", "USAGE", "k") or 0
    replies = client.ask(*add.split(), *LONG_ITEMS)
    if isinstance(replies, Error):
        check(f"{add} within {limit}", client.ask("DEBUG", "DIGEST"), before)
        return True
    done = len(replies) - isinstance(replies[-1], Error)
    check(f"{add} within {limit}: errors end it",
          [isinstance(r, Error) for r in replies[:done]], [False] * done)
    if has and done:
        check(f"{add} within {limit}: what is in",
              set(client.ask(*has.split(), *LONG_ITEMS[:done])), {1})
    check(f"{add} within {limit}: the limit holds",
          client.ask("MEMORY", "USAGE", "k") <= max(limit + KEY_BYTES, most), True)
    return done < len(LONG_ITEMS)


def check_limits():
    """Each limit in the middle of commands; the replica has none, and follows."""
    with Server(MODULE, port=redis.free_port()) as primary, \
            Server(MODULE, replicaof=f"127.0.0.1 {primary.port}") as replica, \
            primary.client() as client:
        in_step(primary, replica)
        for setting in ("tamis.max-object-bytes", "tamis.max-bytes"):
            for row in GROWING:
                ended = 0
                for limit in range(200, 9000, 300 if IS_LONG else 2200):
                    ended += check_growth(client, setting, limit, row)
                    in_step(primary, replica)
                    client.ask("FLUSHALL")
                check(f"{row[1]}: a limit was met", ended > 0, True)
            client.ask("CONFIG", "SET", setting, 0)
        redis.wait_until(lambda: b"tamis_used_bytes:0\r\n" in client.ask("INFO", "tamis"),
                         "no memory in use")


def check_out_of_memory():
    """Redis' own limit: what may take memory is refused, the rest goes on."""
    with Server(MODULE) as server, server.client() as client:
        fill(client)
        dump = client.ask("DUMP", "BF:grown")
        before = server.digest()
        client.ask("CONFIG", "SET", "maxmemory", 1)
        commands = {entry[0]: entry[2] for entry in client.ask("COMMAND")
                    if entry[0].partition(b".")[0] in (b"bf", b"cf", b"cms", b"topk", b"tamis")}
        refused = [name for name, flags in commands.items() if "denyoom" in flags]
        allowed = sorted(name for name, flags in commands.items()
                         if "write" in flags and "denyoom" not in flags)
        check("what only shrinks", allowed,
              [b"cf.compact", b"cf.del", b"tamis.remove", b"tamis.turn"])
        for name in refused:
            reply = client.ask(name, "BF:grown", *range(1, 7))
            check(name, isinstance(reply, Error) and reply[:4] in ("OOM ", "ERR "), True)
        check("a payload", client.ask("RESTORE", "k", 0, dump)[:3], "OOM")
        check("no digest has changed", server.digest(), before)
        check("it answers", client.ask("BF.EXISTS", "BF:grown", 1), 1)
        check("a script", client.ask("EVAL", "return redis.call('BF.ADD', 'new', 'a')", 1, "new")[:3],
              "OOM")
        client.ask("CONFIG", "SET", "maxmemory", 0)
        check("and goes on", client.ask("BF.ADD", "new", "a"), 1)


# ---- Files -----------------------------------------------------------------------------------------

def check_files(rng):
    """Start-up from a changed RDB file whose checksum nobody looks at: it starts or says no."""
    with Server(MODULE, "max-object-bytes", "1mb") as server:
        with server.client() as client:
            fill(client)
            client.ask("SAVE")
        server.kill()
        path = server.folder / "dump.rdb"
        good = path.read_bytes()[:-8]
        first = good.index(b"TAMIS:") if b"TAMIS:" in good else 200
        for _ in range(FILES):
            keep = rng.randrange(min(first, 100), len(good) - 8)
            path.write_bytes(change_bytes(rng, good, keep) + bytes(8))
            starts(server)


def starts(server):
    """Or says no: it never ends by a signal. Of a key that is there twice, Redis itself does; and what
    it reads of the file once more, after it has said no, may have no end, and is not waited for."""
    with open(server.folder / "log", "wb") as log:
        process = subprocess.Popen(["redis-server", server.folder / "redis.conf"],
                                   preexec_fn=redis.die_with_parent,
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    server.process = process

    def told():
        if process.poll() is not None or b"Internal error in RDB" in (server.folder / "log").read_bytes():
            return True
        try:
            with server.client() as client:
                client.socket.settimeout(1)
                return client.ask("PING") == "PONG"
        except OSError:
            return False
    redis.wait_until(told, "the server to start or end", server)
    if b"duplicated key" not in (server.folder / "log").read_bytes():
        check(f"ended by itself, SEED={SEED:#x}\n{server.log() if process.returncode else ''}",
              process.returncode in (None, 0, 1), True)
    server.kill()


def main():
    rng = random.Random(SEED)
    check_payloads(rng)
    check_chunks(rng)
    check_sizes(rng)
    check_limits()
    check_out_of_memory()
    check_files(rng)


main()
redis.finish()
