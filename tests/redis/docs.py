#!/usr/bin/env python3
"""Every redis-cli of docs/redis.md prints what the page says, on a server of its own."""
import pathlib
import re
import shlex
import subprocess

import redis
from redis import Server, check

MODULE = redis.module_or_skip()
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "redis.md"


def commands():
    """Pairs of the words after redis-cli and what they print."""
    for block in re.findall(r"^```console\n(.*?)^```", PAGE.read_text(), re.M | re.S):
        for piece in re.split(r"^\$ redis-cli ", block, flags=re.M)[1:]:
            command, _, output = piece.partition("\n")
            yield command, output


def main():
    with Server(MODULE) as server:
        for command, wanted in commands():
            words = ["redis-cli", "-s", str(server.path), *shlex.split(command)]
            said = subprocess.run(words, capture_output=True, text=True, check=True)
            check(command, said.stdout, wanted)


main()
redis.finish()
