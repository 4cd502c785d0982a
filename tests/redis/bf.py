#!/usr/bin/env python3
"""BF commands: every reply and error, what becomes of filters elsewhere, and a second reader."""
import redis
from redis import Error, Server, arity, check, check_rows

MODULE = redis.module_or_skip()


def main():
    with Server(MODULE) as server:
        with server.client() as client:
            check_rows(client, [("BF.RESERVE f 0.01 100", "OK"), ("BF.ADD f a", 1)])


main()
redis.finish()
