#!/usr/bin/env python3
"""The kinds in docs/adding-a-kind.md, and the C of other pages that is a whole file, compile.

    tests/docs/toys.py /path/to/tamis
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import applications

BLOCK = re.compile(r"^```c\n(.*?)^```", re.M | re.S)
# A file of the library starts with its name, a program with what it includes.
WHOLE = re.compile(r"/\* \w+\.c - |#include <")
OPTIONS = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion",
           "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror", "-fsyntax-only", "-x", "c",
           "-D_GNU_SOURCE", f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", "-"]


def main():
    compiled = failed = 0
    for page in applications.pages():
        for block in BLOCK.findall(page.read_text()):
            if not WHOLE.match(block):
                continue
            done = subprocess.run([os.environ.get("CC", "cc"), *OPTIONS], input=block, text=True,
                                  check=False, stderr=subprocess.PIPE)
            compiled += 1
            if done.returncode:
                failed += 1
                print(f"{page.relative_to(ROOT)}: {block.splitlines()[0]}\n{done.stderr}")
    print(f"{compiled} files, {failed} do not compile")
    return 1 if failed or compiled < 4 else 0


if __name__ == "__main__":
    sys.exit(main())
