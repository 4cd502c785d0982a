#!/usr/bin/env python3
"""tools/applications.py: the commands of applications that were deleted, one per line.

An application is a folder of apps/ and a line of docs/applications.md, and tools/pages sees that the two
fit. A command that man/tamis.1 names, and that neither the line nor the folder of an application has, is
absent. Checks pass over what shows an absent command, and say how much that is. Of an application that
is there nothing is passed over.
"""
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST, MANUAL = ROOT / "docs" / "applications.md", ROOT / "man" / "tamis.1"
LINE = re.compile(r"^\| \[(.+)\]\(\.\./apps/(\w+)/\2\.md\) \|", re.M)
COMMAND = re.compile(r"\btamis ([a-z]+)")
NAMED = re.compile(r"^\\fBtamis\\? ([a-z]+)", re.M)


def commands_in(folder):
    return {path.stem.removeprefix("cmd_") for path in folder.glob("cmd_*.c")}


def there():
    """Of each application its commands, by what is in its folder."""
    return {folder.name: commands_in(folder) for folder in (ROOT / "apps").iterdir() if folder.is_dir()}


def listed():
    """The same by its line."""
    return {name: set(COMMAND.findall(commands)) for commands, name in LINE.findall(LIST.read_text())}


def named():
    """All commands, by the manual page of the program."""
    return set(NAMED.findall(MANUAL.read_text()))


@functools.lru_cache(maxsize=None)
def absent():
    return named().difference(commands_in(ROOT / "cli" / "commands"), *there().values(), *listed().values())


def absent_in(text):
    """The absent commands that it runs."""
    return absent().intersection(COMMAND.findall(text))


def say_passed_over(n, what):
    if n:
        print(f"{n} {what} passed over: no {', '.join(f'`{name}`' for name in sorted(absent()))}")


def pages():
    """Those that users read."""
    return [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("apps/*/*.md"))]


if __name__ == "__main__":
    print("".join(f"{name}\n" for name in sorted(absent())), end="")
