#!/usr/bin/env python3
"""What the server knows of the module's commands: documentation, keys, rights, events and INFO."""
import pathlib
import re

import redis
from redis import Error, Server, check

MODULE = redis.module_or_skip()
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "redis.md"
FAMILIES = ("bf", "cf", "cms", "topk", "tamis")
DENIED = "NOPERM this user has no permissions to access one of the keys used as arguments"


def check_documentation(client):
    """Every command is on the page and in COMMAND DOCS, and has its arity and its first key."""
    known = {name.decode() for name in client.ask("COMMAND", "LIST", "FILTERBY", "MODULE", "tamis")}
    told = set(re.findall(rf"\b((?:{'|'.join(FAMILIES)})\.[a-z]+)", PAGE.read_text().lower()))
    check("commands without a word on the page", sorted(known - told), [])
    check("families", sorted({name.partition(".")[0] for name in known}), sorted(FAMILIES))
    for name in sorted(known):
        docs = client.ask("COMMAND", "DOCS", name)[name.encode()]
        check(f"{name}: a text", len(docs[b"summary"]) > 10 and docs[b"complexity"][:2], b"O(")
        check(f"{name}: its first argument", docs[b"arguments"][0][b"type"], b"key")
        (info,) = client.ask("COMMAND", "INFO", name)
        check(f"{name}: arity", client.ask(name), redis.arity(name))
        check(f"{name}: reads or writes", len({"readonly", "write"} & set(info[2])), 1)
        spec = info[8][0]
        check(f"{name}: its key", spec[b"begin_search"],
              {b"type": b"index", b"spec": {b"index": 1}})
        flags = set(spec[b"flags"])
        check(f"{name}: what becomes of the key", "RO" in flags, "readonly" in info[2])


def check_rights(server, client):
    """Sources are keys, too: who may not read one cannot copy it out."""
    for row in ("CMS.INITBYDIM mine 9 2", "CMS.INITBYDIM secret:cms 9 2", "SADD secret:set a b",
                "TAMIS.RESERVE secret:filter bloom CAPACITY 10",
                "ACL SETUSER guest on nopass ~mine* +@all"):
        client.ask(*row.split())
    with server.client() as guest:
        guest.ask("AUTH", "guest", "any")
        check("their own", guest.ask("CMS.INFO", "mine")[:2], ["width", 9])
        for row in ("CMS.MERGE mine 1 secret:cms", "TAMIS.BUILD mine:f fuse FROM SET secret:set",
                    "TAMIS.RESERVE mine:f LIKE secret:filter", "BF.ADD theirs a",
                    "TAMIS.MERGE mine:f 1 secret:filter", "TAMIS.INTERSECT mine:f 1 secret:filter"):
            check(row, guest.ask(*row.split()), Error(DENIED))
    client.ask("ACL", "SETUSER", "reader", "on", "nopass", "~*", "+bf.exists")
    with server.client() as reader:
        reader.ask("AUTH", "reader", "any")
        check("a lookup", reader.ask("BF.EXISTS", "f", "a"), 0)
        check("no add", reader.ask("BF.ADD", "f", "a")[:6], "NOPERM")


EVENTS = [
    ("BF.RESERVE b 0.01 10", "bf.reserve"),
    ("BF.ADD b a", "bf.add"),
    ("BF.ADD b a", None),
    ("BF.MADD b a c", "bf.add"),
    ("BF.INSERT b2 ITEMS a", "bf.add"),
    ("BF.EXISTS b a", None),
    ("CF.RESERVE c 10", "cf.reserve"),
    ("CF.ADD c a", "cf.add"),
    ("CF.ADDNX c a", None),
    ("CF.INSERT c ITEMS a", "cf.add"),
    ("CF.DEL c a", "cf.del"),
    ("CF.DEL c stranger", None),
    ("CF.COMPACT c", "cf.compact"),
    ("CMS.INITBYDIM m 9 2", "cms.init"),
    ("CMS.INCRBY m a 1", "cms.incrby"),
    ("CMS.MERGE m 1 m", "cms.merge"),
    ("TOPK.RESERVE t 3", "topk.reserve"),
    ("TOPK.ADD t a", "topk.add"),
    ("TOPK.INCRBY t a 5", "topk.incrby"),
    ("TAMIS.RESERVE w window CAPACITY 10", "tamis.reserve"),
    ("TAMIS.MADD w a b", "tamis.add"),
    ("TAMIS.TURN w", "tamis.turn"),
    ("TAMIS.RESERVE q aqf CAPACITY 10", "tamis.reserve"),
    ("TAMIS.ADD q a", "tamis.add"),
    ("TAMIS.ADAPT q z", "tamis.adapt"),
    ("TAMIS.REMOVE q a", "tamis.remove"),
    ("TAMIS.MERGE r 1 q", "tamis.merge"),
    ("TAMIS.INTERSECT r 1 q", "tamis.intersect"),
    ("TAMIS.RESERVE v hashmap GROW", "tamis.reserve"),
    ("TAMIS.PUT v a 1", "tamis.put"),
    ("TAMIS.BUILD f fuse FROM SET set", "tamis.build"),
]


def check_events(server, client):
    client.ask("FLUSHALL")
    client.ask("SADD", "set", "a", "b")
    client.ask("CONFIG", "SET", "notify-keyspace-events", "Ed")
    with server.client() as listener:
        listener.ask("PSUBSCRIBE", "*")
        for command, event in EVENTS:
            words = command.split()
            check(command, isinstance(client.ask(*words), Error), False)
            if event:
                check(command, listener.receive()[2:],
                      [f"__keyevent@0__:{event}".encode(), words[1].encode()])
        client.ask("PUBLISH", "end", "x")
        check("no other event", listener.receive()[2], b"end")


def check_info(client):
    lines = client.ask("INFO", "tamis").decode().split()
    check("fields", [line.partition(":")[0] for line in lines if ":" in line],
          ["tamis_version", "tamis_values", "tamis_used_bytes", "tamis_max_bytes",
           "tamis_max_object_bytes", "tamis_refused_allocations", "tamis_loads",
           "tamis_loading_bytes", "tamis_jobs"])
    check("values", f"tamis_values:{len({c.split()[1] for c, _ in EVENTS})}" in lines, True)


with Server(MODULE) as only_server:
    with only_server.client(3) as third:
        check_documentation(third)
    with only_server.client() as second:
        check_rights(only_server, second)
        check_events(only_server, second)
        check_info(second)
redis.finish()
