#!/usr/bin/env python3
"""A server of a cluster: it sees every key of every command, so that keys of two slots are refused and
those of other servers are looked for there."""
import redis
from redis import Error, Server, check, wait_until

MODULE = redis.module_or_skip()
CROSS = Error("CROSSSLOT Keys in request don't hash to the same slot")

# Commands with more than one key, and their keys.
ROWS = [
    ("CMS.MERGE {a}1 2 {a}2 {b}3", "{a}1 {a}2 {b}3"),
    ("CMS.MERGE {a}1 2 {a}2 {b}3 WEIGHTS 5 7", "{a}1 {a}2 {b}3"),
    ("TAMIS.MERGE {a}1 2 {a}2 {b}3", "{a}1 {a}2 {b}3"),
    ("TAMIS.INTERSECT {a}1 2 {a}2 {b}3", "{a}1 {a}2 {b}3"),
    ("TAMIS.RESERVE {a}1 LIKE {b}2", "{a}1 {b}2"),
    ("TAMIS.BUILD {a}1 fuse FROM SET {b}2", "{a}1 {b}2"),
    ("TAMIS.BUILD {a}1 fuse FROM STREAM {b}2 FIELD name ERROR 0.1", "{a}1 {b}2"),
]
# Of these, only the first is where a key can be; what else is wrong with them, the command says.
WRONG = [
    ("CMS.MERGE {a}1 3 {a}2 {b}3", Error("CMS: wrong number of keys")),
    ("CMS.MERGE {a}1 x {b}2", Error("CMS: invalid numkeys")),
    ("CMS.MERGE {a}1 -1 {b}2", Error("CMS: Number of keys must be positive")),
    ("TAMIS.MERGE {a}1 9223372036854775807 {b}2", Error("ERR bad number of keys")),
    ("TAMIS.RESERVE {a}1 bloom LIKE", Error(
        "ERR unknown option, or one without its value: 'LIKE'")),
]


def cluster_server():
    return Server(MODULE, port=redis.free_port(), cluster_enabled="yes",
                  cluster_port=redis.free_port(), cluster_require_full_coverage="no")


def slot_of(client, key):
    return client.ask("CLUSTER", "KEYSLOT", key)


def check_keys(client):
    """COMMAND tells of all keys, and where they are in two slots the command is not run."""
    listed = {row.partition(" ")[0].lower() for row, _ in ROWS}
    names = client.ask("COMMAND", "LIST", "FILTERBY", "MODULE", "tamis")
    for name, info in zip(names, client.ask("COMMAND", "INFO", *names)):
        check(f"{name}: keys that move about", "movablekeys" in info[2], name.decode() in listed)
        check(f"{name}: specs of keys", len(info[8]) > 1, name.decode() in listed)
    for row, keys in ROWS:
        check(f"keys of {row}", client.ask("COMMAND", "GETKEYS", *row.split()),
              [key.encode() for key in keys.split()])
        check(row, client.ask(*row.split()), CROSS)
        script = client.ask("EVAL", "return redis.call(unpack(ARGV))", 0, *row.split())
        check(f"{row}, in a script", "non local key" in script, True)
    for row, why in WRONG:
        check(row, client.ask(*row.split()), why)


def check_one_slot(client):
    """In one slot, all is as without a cluster."""
    for row in ("CMS.INITBYDIM {a}1 9 2", "CMS.INITBYDIM {a}2 9 2", "CMS.MERGE {a}1 2 {a}1 {a}2",
                "TAMIS.RESERVE {a}3 bloom CAPACITY 10", "TAMIS.RESERVE {a}4 LIKE {a}3",
                "TAMIS.MERGE {a}5 2 {a}3 {a}4", "TAMIS.INTERSECT {a}5 2 {a}3 {a}4"):
        check(row, client.ask(*row.split()), "OK")
    client.ask("SADD", "{a}set", "x")
    check("BUILD", client.ask(*"TAMIS.BUILD {a}6 fuse FROM SET {a}set".split()), "OK")


def check_moved(client, other):
    """Who asks the wrong server is told of the right one, also where the key is a source."""
    slot = slot_of(client, "{a}1")
    moved = Error(f"MOVED {slot} 127.0.0.1:{other.port}")
    client.ask("FLUSHALL")
    check("slots", client.ask("CLUSTER", "MEET", "127.0.0.1", other.port, other.settings["cluster-port"]),
          "OK")
    wait_until(lambda: all(nodes.count(b" connected") == 2 and b"handshake" not in nodes for nodes in
                           (client.ask("CLUSTER", "NODES"), other.ask("CLUSTER", "NODES"))),
               "the servers to meet")
    for asked in (other.ask, client.ask):
        check("SETSLOT", asked("CLUSTER", "SETSLOT", slot, "NODE", other.ask("CLUSTER", "MYID")), "OK")
    for row, _ in ROWS:
        check(row, client.ask(*row.replace("{b}", "{a}").split()), moved)


def check_jobs(client, other):
    """A job whose slot moves while it works makes nothing where no client would find it."""
    for at in range(0, 50000, 5000):
        other.ask("SADD", "{a}set", *range(at, at + 5000))
    other.ask("TAMIS.RESERVE", "{a}one", "blocked", "CAPACITY", 10_000_000)
    slot = slot_of(client, "{a}one")
    for words in (["TAMIS.MERGE", "{a}sum", 100, *(100 * ["{a}one"])],
                  ["TAMIS.BUILD", "{a}built", "fuse", "FROM", "SET", "{a}set"]):
        with other.client() as waiting:
            waiting.send(*words)
            move_slot(other, client, slot)
            check(words[0], waiting.receive(), Error(
                "TRYAGAIN the slot of this key has moved to another server"))
            check("keys that nobody finds", other.ask("CLUSTER", "COUNTKEYSINSLOT", slot), 0)
            check("where they are", client.ask("EXISTS", "{a}one", "{a}set"), 2)
            check(f"{words[0]} again", client.ask(*words), "OK")
            move_slot(client, other, slot)
    check("at last", other.ask("EXISTS", "{a}sum", "{a}built"), 2)


def move_slot(source, target, slot):
    source_id, target_id = source.ask("CLUSTER", "MYID"), target.ask("CLUSTER", "MYID")
    port = target.ask("CONFIG", "GET", "port")[1]
    check("IMPORTING", target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", source_id), "OK")
    check("MIGRATING", source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", target_id), "OK")
    keys = source.ask("CLUSTER", "GETKEYSINSLOT", slot, 99)
    check("MIGRATE", source.ask("MIGRATE", "127.0.0.1", port, "", 0, 10000, "REPLACE", "KEYS", *keys),
          "OK")
    for server in (target, source):
        check("NODE", server.ask("CLUSTER", "SETSLOT", slot, "NODE", target_id), "OK")


with cluster_server() as server, cluster_server() as another, server.client() as asking:
    check("most slots", asking.ask("CLUSTER", "ADDSLOTSRANGE", 100, 16383), "OK")
    check("the others", another.ask("CLUSTER", "ADDSLOTSRANGE", 0, 99), "OK")
    for one in (asking, another):
        wait_until(lambda: b"cluster_state:ok" in one.ask("CLUSTER", "INFO"), "the cluster")
    check_keys(asking)
    check_one_slot(asking)
    check_moved(asking, another)
    check_jobs(asking, another)
redis.finish()
