#!/usr/bin/env python3
"""TAMIS commands: every reply and error, filters of every kind wherever they go, images, windows."""
import json
import pathlib
import re
import subprocess
import tempfile
import time

import payload
import redis
from redis import ARITY, WRONG_TYPE, Error, Server, check, check_rows

MODULE = redis.module_or_skip()
COMMAND = MODULE.parent / "tamis"
OTHER, MISSING = Error(WRONG_TYPE), Error("ERR not found")
CANNOT, FULL = Error("ERR this kind cannot do that"), Error("ERR the filter is full")
RANGE = Error("ERR a number is outside what this kind can do")
INTEGERS = Error("ERR this filter takes integers only")
NUMBERS = Error("ERR bad offset, total, data or window")
NO_LOAD = "ERR no load is at this offset; it goes on at "
ASKS = Error("ERR ask-keys needs a store of all keys, which no command can query; without it the "
             "filter holds them itself")
ELSEWHERE = Error("ERR the keys of this filter are elsewhere: it can be queried here, not added to")


def bad(word):
    return Error(f"ERR bad value for '{word}'")


def unknown(word):
    return Error(f"ERR unknown option '{word}'")


ROWS = [
    ("TAMIS.RESERVE k", ARITY),
    ("TAMIS.RESERVE text bloom CAPACITY 10", OTHER),
    ("TAMIS.RESERVE k bloom", Error("ERR say how many keys it will hold: CAPACITY n")),
    ("TAMIS.RESERVE k bloom CAPACITY", Error(
        "ERR unknown option, or one without its value: 'CAPACITY'")),
    ("TAMIS.RESERVE k bloom CAPACITY 0", "TAMIS.RESERVE k bloom CAPACITY x",
     "TAMIS.RESERVE k bloom CAPACITY -1", bad("CAPACITY")),
    ("TAMIS.RESERVE k bloom CAPACITY 10 ERROR 0", "TAMIS.RESERVE k bloom CAPACITY 10 ERROR 1",
     "TAMIS.RESERVE k bloom CAPACITY 10 ERROR nan", bad("ERROR")),
    ("TAMIS.RESERVE k bloom CAPACITY 10 COLOUR red", unknown("COLOUR")),
    (("TAMIS.RESERVE", "k", "bloom", "A\r\nB", "1"), unknown("A  B")),
    ("TAMIS.RESERVE k bloom CAPACITY 10 HASH md5", bad("HASH")),
    ("TAMIS.RESERVE k bloom CAPACITY 10 CAN fly", bad("CAN")),
    ("TAMIS.RESERVE k bloom CAPACITY 10 SECRET 12", bad("SECRET")),
    ("TAMIS.RESERVE k bloom CAPACITY 10 SECRET " + 32 * "0", bad("SECRET")),
    ("TAMIS.RESERVE k bloom CAPACITY 10 SECRET " + 32 * "g", bad("SECRET")),
    ("TAMIS.RESERVE k bloom CAPACITY 10 HASHES 65", bad("HASHES")),
    ("TAMIS.RESERVE k bloom CAPACITY 10 HASH fast SECRET " + 32 * "a",
     Error("ERR only keyed hashing has a SECRET")),
    ("TAMIS.RESERVE k bloom CAPACITY 10 WINDOW 1000",
     Error("ERR this kind cannot forget by time: WINDOW is for kinds that rotate")),
    ("TAMIS.RESERVE k window CAPACITY 10 SINCE 1000",
     Error("ERR SINCE is for filters with a WINDOW")),
    ("TAMIS.RESERVE k window CAPACITY 10 WINDOW 0", bad("WINDOW")),
    ("TAMIS.RESERVE k bloom CAPACITY 10 GROW", "TAMIS.RESERVE k bloom CAPACITY 10 TAGBITS 8",
     CANNOT),
    ("TAMIS.RESERVE k aqf CAPACITY 10 CAN ask-keys",
     "TAMIS.RESERVE k bloom CAPACITY 10 CAN ASK-KEYS",
     "TAMIS.BUILD k aqf FROM SET text CAN ask-keys", ASKS),
    ("TAMIS.RESERVE k bloom CAPACITY 9223372036854775807 ERROR 1e-9", RANGE),
    ("TAMIS.RESERVE k bloom CAPACITY 100000000000", Error("ERR out of memory")),
    ("TAMIS.RESERVE k fuse CAPACITY 10",
     Error("ERR this kind is made from all its keys at once: use TAMIS.BUILD")),
    ("TAMIS.RESERVE k bitmap CAPACITY 10 HASH keyed", RANGE),
    ("EXISTS k", 0),
    ("TAMIS.RESERVE k bloom CAPACITY 1000 ERROR 1e-9", "OK"),
    ("TAMIS.RESERVE k bloom CAPACITY 1000", Error("ERR item exists")),
    ("TAMIS.ADD k", "TAMIS.ADD k a b", ARITY),
    ("TAMIS.ADD nothing a", MISSING),
    ("TAMIS.ADD text a", OTHER),
    ("TAMIS.ADD k a", 1),
    ("TAMIS.ADD k a", 0),
    ("TAMIS.MADD k", ARITY),
    ("TAMIS.MADD k a b c b", [0, 1, 1, 0]),
    ("TAMIS.MADD text a", OTHER),
    ("TAMIS.EXISTS k", ARITY),
    ("TAMIS.EXISTS k a", 1),
    ("TAMIS.EXISTS k z", "TAMIS.EXISTS nothing a", 0),
    ("TAMIS.EXISTS text a", OTHER),
    ("TAMIS.MEXISTS k", ARITY),
    ("TAMIS.MEXISTS k a z b", [1, 0, 1]),
    ("TAMIS.MEXISTS nothing a z", [0, 0]),
    ("TAMIS.MEXISTS text a", OTHER),
    ("TAMIS.CARD k", 3),
    ("TAMIS.CARD nothing", 0),
    ("TAMIS.CARD text", OTHER),
    ("TAMIS.CARD k k", ARITY),
    ("TAMIS.REMOVE k a", "TAMIS.COUNT k a", "TAMIS.ADAPT k a", "TAMIS.TURN k", CANNOT),
    ("TAMIS.INFO nothing", MISSING),
    ("TAMIS.INFO text", OTHER),
    ("TAMIS.INFO k k", ARITY),
    # Counts, and forgets.
    ("TAMIS.RESERVE c cqf GROW", "OK"),
    ("TAMIS.MADD c a b a a", [1, 1, 0, 0]),
    ("TAMIS.COUNT c a b z", [3, 1, 0]),
    ("TAMIS.COUNT nothing a", [0]),
    ("TAMIS.COUNT c", "TAMIS.REMOVE c", ARITY),
    ("TAMIS.REMOVE c a b b z", [1, 1, 0, 0]),
    ("TAMIS.REMOVE nothing a", MISSING),
    ("TAMIS.COUNT c a b", [2, 0]),
    # With values.
    ("TAMIS.RESERVE v hashmap", "OK"),
    ("TAMIS.PUT v a", "TAMIS.PUT v a 1 b", ARITY),
    ("TAMIS.PUT v a 1 b x", Error("ERR a value is no integer from 0 on")),
    ("TAMIS.PUT v a 1 b 2 a 3", 3),
    ("TAMIS.PUT k a 1", CANNOT),
    ("TAMIS.PUT nothing a 1", MISSING),
    ("TAMIS.GET v a b c", [3, 2, None]),
    ("TAMIS.GET nothing a", [None]),
    ("TAMIS.GET k a", CANNOT),
    ("TAMIS.GET text a", OTHER),
    ("TAMIS.PUT v big 9223372036854775807 bigger 9223372036854775808 most 18446744073709551615", 3),
    ("TAMIS.GET v big bigger most", [2**63 - 1, b"9223372036854775808", b"18446744073709551615"]),
    ("TAMIS.PUT v a 18446744073709551616", "TAMIS.PUT v a +1",
     Error("ERR a value is no integer from 0 on")),
    ("TAMIS.ADD v a", CANNOT),
    ("TAMIS.REMOVE v a z", [1, 0]),
    # Of integers.
    ("TAMIS.RESERVE i bitmap CAPACITY 10", "OK"),
    ("TAMIS.MADD i 3 x", INTEGERS),
    ("TAMIS.EXISTS i 3", 0),
    ("TAMIS.MADD i 3 9 3", [1, 1, 0]),
    ("TAMIS.MADD i 4 10 5", [1, RANGE]),
    ("TAMIS.MEXISTS i 3 4 5 9 10", [1, 1, 0, 1, 0]),
    ("TAMIS.MEXISTS i x", INTEGERS),
    # Integers are digits, and nothing else.
    *[(("TAMIS.ADD", "i", word), INTEGERS) for word in (
        b"5\0junk", b"+6", b" 7", b"7 ", b"-1", b"-0", b"", b"-18446744073709551607",
        b"18446744073709551616", b"99999999999999999999", b"184467440737095516150")],
    ("TAMIS.ADD i 18446744073709551615", RANGE),
    ("TAMIS.MEXISTS i 5 6 7 08", [0, 0, 0, 0]),
    ("TAMIS.RESERVE n bloom CAPACITY -18446744073709551000", "TAMIS.RESERVE n bloom CAPACITY +10",
     bad("CAPACITY")),
    # One more like it, with its secret: the same image.
    ("TAMIS.RESERVE l LIKE nothing", MISSING),
    ("TAMIS.RESERVE l LIKE text", OTHER),
    ("TAMIS.RESERVE l LIKE k more", ARITY),
    ("TAMIS.RESERVE l LIKE k", "OK"),
    ("TAMIS.CARD l", 0),
    ("TAMIS.MADD l a b c a a a", [1, 1, 1, 0, 0, 0]),
    # Takes back what it found in vain.
    ("TAMIS.RESERVE a aqf CAPACITY 100 ERROR 0.1", "OK"),
    ("TAMIS.ADD a yes", 1),
    ("TAMIS.ADAPT a", ARITY),
    ("TAMIS.ADAPT a yes", [-1]),
    ("TAMIS.ADAPT nothing yes", MISSING),
    # Chunks.
    ("TAMIS.DUMP k", ARITY),
    ("TAMIS.DUMP k x", "TAMIS.DUMP k -1", Error("ERR bad offset")),
    ("TAMIS.DUMP k 1000000", Error("ERR the offset is behind the end of the image")),
    ("TAMIS.DUMP nothing 0", MISSING),
    ("TAMIS.DUMP text 0", OTHER),
    ("TAMIS.LOAD n 0 10", ARITY),
    ("TAMIS.LOAD n x 10 abc", "TAMIS.LOAD n 0 x abc", "TAMIS.LOAD n 0 2 abc",
     "TAMIS.LOAD n 8 10 abc", ("TAMIS.LOAD", "n", "0", "10", ""), "TAMIS.LOAD n 0 10 abc WINDOW 5",
     NUMBERS),
    ("TAMIS.LOAD text 0 10 abc", OTHER),
    ("TAMIS.LOAD n 3 10 abc", Error(NO_LOAD + "0")),
    ("TAMIS.LOAD n 0 9 abc", 3),
    ("TAMIS.LOAD n 5 9 abc", "TAMIS.LOAD n 3 8 abc", Error(NO_LOAD + "3")),
    ("TAMIS.LOAD n 3 9 abc", 6),
    ("TAMIS.LOAD n 6 9 abc", Error("ERR the filter is damaged")),
    ("TAMIS.LOAD n 0 3 abc", ("TAMIS.LOAD", "n", "0", "600", 600 * b"x"),
     Error("ERR not a tamis filter")),
    ("EXISTS n", 0),
]


def check_replies():
    with Server(MODULE) as server, server.client() as client:
        client.ask("SET", "text", "a")
        check_rows(client, ROWS)
        digests = client.ask("DEBUG", "DIGEST-VALUE", "k", "l")
        check("LIKE is alike", digests[0] == digests[1], True)
        kinds = client.ask("TAMIS.RESERVE", "x", "blom", "CAPACITY", 10)
        check("kinds are listed", kinds[:39], "ERR unknown kind; there are bitmap hash")
        with server.client(protocol=3) as third:
            check_rows(third, [
                ("TAMIS.EXISTS k a", True),
                ("TAMIS.MADD k a new", [False, True]),
                ("TAMIS.REMOVE c a", [True]),
                ("TAMIS.COUNT c a", [1]),
            ])
            info = third.ask("TAMIS.INFO", "c")
            check("kind", info["kind"], b"cqf")
            check("grows", (info["capacity"], info["grows"], info["hash"]), (1024, 1, b"keyed"))
            check("abilities", b"remove" in info["abilities"], True)
        check("RESP2", client.ask("TAMIS.INFO", "c")[:2], ["kind", b"cqf"])
        check("a word about loads", b"tamis_loads:0" in client.ask("INFO", "tamis"), True)
        redis.check_alive(server)


# ---- Every kind ------------------------------------------------------------------------------------

def kinds():
    out = subprocess.run([COMMAND, "kinds", "--json"], capture_output=True, check=True).stdout
    return [(kind["kind"], kind["abilities"]) for kind in json.loads(out)]


def check_kinds():
    adding = [(kind, can) for kind, can in kinds() if "add" in can]
    numbers = list(range(60))

    def fill(client):
        for kind, can in adding:
            words = ["GROW"] if "grow" in can else ["CAPACITY", 100]
            words += ["WINDOW", 3600000] if "rotate" in can else []
            check(kind, client.ask("TAMIS.RESERVE", kind, kind, *words), "OK")
            client.ask("TAMIS.MADD", kind, *numbers)
            if "remove" in can:
                client.ask("TAMIS.REMOVE", kind, *numbers[:20])
            if "adapt" in can:
                client.ask("TAMIS.ADAPT", kind, *range(100, 400))
            if "rotate" in can:
                client.ask("TAMIS.TURN", kind)
        client.ask("TAMIS.RESERVE", "values", "hashmap")
        client.ask("TAMIS.PUT", "values", *range(50))

    def ask(client):
        return [client.ask("TAMIS.MEXISTS", kind, *range(100)) for kind, _ in adding] + \
            [client.ask("TAMIS.GET", "values", *range(100))]

    with Server(MODULE) as server, server.client() as client:
        fill(client)
        for (kind, _), found in zip(adding, ask(client)):
            check(f"{kind} has what was added", found[20:60], 40 * [1])
    redis.check_lives(MODULE, fill, ask)


# ---- Images ------------------------------------------------------------------------------------------

def dump(client, key):
    at, parts = 0, []
    while True:
        at, total, data = client.ask("TAMIS.DUMP", key, at)
        parts.append(data)
        if at == 0:
            check("all of it", len(b"".join(parts)), total)
            return b"".join(parts)


def load(client, key, image, step, *more):
    for at in range(0, len(image), step):
        reply = client.ask("TAMIS.LOAD", key, at, len(image), image[at:at + step], *more)
    return reply


CHUNK = 16 << 20
CHANGED = Error("ERR the filter has changed since offset 0 was dumped: begin again")


def touched(server):
    """Bytes of memory that the server used since it was asked the last time: pages have a mark."""
    process = pathlib.Path(f"/proc/{server.process.pid}")
    sizes = re.findall(r"^Referenced: +(\d+) kB$", (process / "smaps").read_text(), re.M)
    (process / "clear_refs").write_text("1")
    return 1024 * sum(map(int, sizes))


def check_large_dumps():
    """Chunks of one image: each reads itself, and not all that is before and behind it."""
    with Server(MODULE) as server, server.client() as client:
        client.ask("TAMIS.RESERVE", "k", "bloom", "CAPACITY", 150_000_000, "ERROR", 0.01)
        client.ask("TAMIS.MADD", "k", *range(1000))
        at, total, _ = client.ask("TAMIS.DUMP", "k", 0)
        check("a chunk", (at, total // CHUNK), (CHUNK, 10))
        reads = []
        while at:
            touched(server)
            at = client.ask("TAMIS.DUMP", "k", at)[0]
            reads.append(touched(server))
        check("no chunk reads half of it", [n for n in reads if n > total / 2], [])
        client.ask("DEL", "k")


def check_changes():
    """A filter that changes between two chunks: an error, and the next dump is whole."""
    with Server(MODULE) as server, server.client() as client:
        client.ask("TAMIS.RESERVE", "k", "blocked", "CAPACITY", 40_000_000)
        client.ask("TAMIS.RESERVE", "w", "window", "CAPACITY", 20_000_000)
        for key in (b"k", b"w"):
            client.ask("TAMIS.MADD", key, *range(1000))
            check("the first chunk", client.ask("TAMIS.DUMP", key, 0)[0], CHUNK)
            check("a lookup", client.ask("TAMIS.EXISTS", key, 7), 1)
            check("it goes on", client.ask("TAMIS.DUMP", key, CHUNK)[0], 2 * CHUNK)
            client.ask("TAMIS.ADD", key, "new") if key == b"k" else client.ask("TAMIS.TURN", key)
            for at in (CHUNK, 2 * CHUNK, 1):
                reply = client.ask("TAMIS.DUMP", key, at)
                check("changed", reply if isinstance(reply, Error) else reply[:2], CHANGED)
            image = dump(client, key)
            check("LOAD", load(client, "l", image, CHUNK), "OK")
            check("equal", len(set(client.ask("DEBUG", "DIGEST-VALUE", key, "l"))), 1)
            check("the last chunk again", client.ask("TAMIS.DUMP", key, len(image) - 9)[2], image[-9:])
            client.ask("TAMIS.DUMP", key, 0)
            client.ask("DEBUG", "RELOAD")
            check("after a restart", client.ask("TAMIS.DUMP", key, CHUNK)[2] ==
                  image[CHUNK:2 * CHUNK], True)


def tamis(*words, text=""):
    done = subprocess.run([COMMAND, *words], input=text, capture_output=True, text=True)
    return done.stdout


def check_images():
    """From the command line to Redis and back."""
    with Server(MODULE) as server, server.client() as client, \
            tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        lines = "".join(f"word{i}\n" for i in range(1000))
        for kind, can in kinds():
            if "build" not in can or "indexed" in can:
                continue
            path = folder / f"{kind}.tamis"
            tamis("build", "-k", kind, "-o", str(path), text=lines)
            image = path.read_bytes()
            check(f"LOAD {kind}", load(client, kind, image, 700), "OK")
            found = client.ask("TAMIS.MEXISTS", kind, *(f"word{i}" for i in range(1000)))
            check(f"{kind} from a file", sum(found), 1000)
            check(f"DUMP {kind}", dump(client, kind) == image, True)
        client.ask("TAMIS.RESERVE", "mine", "blocked", "CAPACITY", 1000)
        client.ask("TAMIS.MADD", "mine", "a", "b")
        (folder / "mine.tamis").write_bytes(dump(client, "mine"))
        check("tamis query", tamis("query", str(folder / "mine.tamis"), text="a\nb\nz\n"), "a\nb\n")


def check_damage():
    """An image with any byte changed, cut or missing leaves the key as it was."""
    with Server(MODULE) as server, server.client() as client:
        client.ask("TAMIS.RESERVE", "k", "bloom", "CAPACITY", 100)
        client.ask("TAMIS.ADD", "k", "a")
        image = dump(client, "k")
        before = server.digest()
        for at in range(0, len(image), max(1, len(image) // 300)):
            broken = image[:at] + bytes([image[at] ^ 1]) + image[at + 1:]
            reply = load(client, "k", broken, 300)
            check(f"damage at {at}", isinstance(reply, Error), True)
            check(f"cut at {at}", isinstance(client.ask(
                "TAMIS.LOAD", "k", 0, max(at, 1), image[:max(at, 1)]), Error), True)
        check("the key is as it was", server.digest(), before)
        for i in range(70):
            client.ask("TAMIS.LOAD", f"abandoned{i}", 0, 1000, b"x" * 100)
        check("loads are bounded", client.ask("TAMIS.LOAD", "one", 0, 1000, b"x"),
              Error("ERR out of memory, or too many loads at a time"))
        check("loads are told", b"tamis_loads:64" in client.ask("INFO", "tamis"), True)
        check_payloads(client)
        redis.check_alive(server)


def check_asking():
    """A filter that asks for keys, which only programs make: it is queried, and added to by none.
    What older servers wrote into a file of commands is done."""
    commands = (b"TAMIS.RESERVE a aqf CAPACITY 300 ERROR 0.1 CAN ask-keys HASH fast",
                b"TAMIS.MADD a " + b" ".join(b"%d" % i for i in range(300)))
    with Server(MODULE, appendonly="yes") as server:
        server.ask("SET", "text", "a")
        server.stop()
        with open(server.folder / "appendonlydir" / "appendonly.aof.1.incr.aof", "ab") as file:
            for words in map(bytes.split, commands):
                file.write(b"*%d\r\n" % len(words))
                file.writelines(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
        server.start()
        with server.client() as client:
            image = dump(client, "a")
            check("LOAD", load(client, "b", image, 100), "OK")
            check("equal", len(set(client.ask("DEBUG", "DIGEST-VALUE", "a", "b"))), 1)
            n = client.ask("TAMIS.CARD", "b")
            check("some were added", 0 < n < 300, True)
            check("EXISTS", sum(client.ask("TAMIS.MEXISTS", "b", *range(n))), n)
            check_rows(client, [
                ("TAMIS.ADD b x", "TAMIS.MADD b x y", "TAMIS.ADAPT b x", ELSEWHERE),
                ("TAMIS.RESERVE c LIKE b", ASKS),
                ("TAMIS.COUNT b 0", "TAMIS.REMOVE b 0", [1]),
                ("TAMIS.COUNT b 0", [0]),
                ("EXISTS c", 0),
            ])
            check("the rest", sum(client.ask("TAMIS.MEXISTS", "b", *range(1, n))), n - 1)


def check_payloads(client):
    """RESTORE of what DUMP wrote, with every value changed."""
    name, version, values = payload.read(client.ask("DUMP", "k"))
    check("type", name, b"tamis-flt")
    for i, value in enumerate(values):
        for other in ([b"", value[:-1], value + b"x"] if isinstance(value, bytes) else [1, 2**63]):
            changed = values[:i] + [other] + values[i + 1:]
            check(f"RESTORE with value {i} changed", client.ask(
                "RESTORE", "r", 0, payload.write(name, version, changed)),
                Error("ERR Bad data format"))
    check("a cut value", client.ask("RESTORE", "r", 0, payload.write(name, version, values[:-1])),
          Error("ERR Bad data format"))


# ---- Limits ------------------------------------------------------------------------------------------

def in_step(primary, replica):
    return (b"master_link_status:up" in replica.ask("INFO", "replication") and
            primary.digest() == replica.digest())


def check_limits():
    """A filter that is full, or may not grow, tells what it took; a replica does just that."""
    with Server(MODULE, "max-object-bytes", 100000, port=redis.free_port()) as primary, \
            Server(MODULE, replicaof=f"127.0.0.1 {primary.port}") as replica, \
            primary.client() as client:
        redis.wait_until(lambda: in_step(primary, replica), "the replica", replica)
        client.ask("TAMIS.RESERVE", "small", "cuckoo", "CAPACITY", 100)
        client.ask("TAMIS.RESERVE", "buckets", "cuckoo-buckets", "CAPACITY", 100)
        client.ask("TAMIS.RESERVE", "grows", "aleph")
        memory = Error("ERR out of memory")
        for key, why in (("small", memory), ("buckets", FULL), ("grows", memory)):
            replies = client.ask("TAMIS.MADD", key, *range(100000))
            check(f"{key} ends", replies[-1], why)
            taken = len(replies) - 1
            check(f"{key} took some", 100 <= taken < 100000, True)
            check(f"{key} has them", sum(client.ask("TAMIS.MEXISTS", key, *range(taken))), taken)
            check(f"{key} goes on", client.ask("PING"), "PONG")
        redis.wait_until(lambda: in_step(primary, replica), "the replica to follow", replica)
        check("too large", client.ask("TAMIS.RESERVE", "x", "bloom", "CAPACITY", 10**6),
              Error("ERR out of memory"))


# ---- Windows -----------------------------------------------------------------------------------------

def check_windows():
    """By count and by time; replicas forget when they are told."""
    with Server(MODULE, port=redis.free_port()) as primary, \
            Server(MODULE, replicaof=f"127.0.0.1 {primary.port}") as replica, \
            primary.client() as client:
        redis.wait_until(lambda: in_step(primary, replica), "the replica", replica)
        client.ask("TAMIS.RESERVE", "count", "window", "CAPACITY", 700, "ERROR", "1e-6",
                   "HASH", "fast")  # no drawn secret: the strangers below are the same each time
        client.ask("TAMIS.MADD", "count", *range(700))
        client.ask("TAMIS.MADD", "count", *range(700, 1600))
        check("the latest", sum(client.ask("TAMIS.MEXISTS", "count", *range(901, 1600))), 699)
        check("older ones", sum(client.ask("TAMIS.MEXISTS", "count", *range(700))), 0)
        client.ask("TAMIS.RESERVE", "time", "window", "CAPACITY", 700, "ERROR", "1e-6", "WINDOW", 140)
        began = time.monotonic()
        client.ask("TAMIS.ADD", "time", "early")
        found = client.ask("TAMIS.EXISTS", "time", "early")
        if time.monotonic() - began < 0.14:
            check("within the window", found, 1)
        redis.wait_until(lambda: not client.ask("TAMIS.EXISTS", "time", "early"), "it to forget")
        redis.wait_until(lambda: in_step(primary, replica), "the replica to follow", replica)
        check("by hand", client.ask("TAMIS.TURN", "count"), "OK")
        check("bad turns", client.ask("TAMIS.TURN", "count", "x", 1),
              Error("ERR bad number or time of turns"))
        check("arity", client.ask("TAMIS.TURN", "count", 1),
              redis.arity("tamis.turn"))


check_replies()
check_kinds()
check_images()
check_large_dumps()
check_changes()
check_damage()
check_asking()
check_limits()
check_windows()
redis.finish()
