#!/usr/bin/env python3
"""Every console block of every page says what really happens.

    tests/docs/consoles.py /path/to/tamis [PAGE...]

The blocks of a page are one session, in a folder of its own, with tamis first in PATH. After "$ "
comes a command, and after it all that it prints, errors last. A comment before a block can tell that
it is different:

    <!-- varies: why -->    is run, and not compared
    <!-- not run: why -->   needs what is not here: a compiler, the web, minutes
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?:^<!-- (varies|not run): [^\n]*-->\n+)?^```console\n(.*?)^```", re.M | re.S)
MARK = "\x1e"

# After each command: its errors, and its status for the next one.
PROLOGUE = f"""exec 2>>errors
mark() {{ local status=$?; cat errors; : >errors; printf '{MARK}'; return $status; }}
"""


def commands_of(page):
    """Pairs of a command and what it prints, or None."""
    for how, block in BLOCK.findall(page.read_text()):
        if how == "not run":
            continue
        for piece in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = piece.partition("\n")
            yield command, None if how == "varies" else output


def outputs_of(commands, folder, tamis):
    script = PROLOGUE + "mark\n" + "".join(f"{command}\nmark\n" for command, _ in commands)
    path = f"{tamis.parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-s"], input=script, cwd=folder, text=True, check=False,
                          stdout=subprocess.PIPE, env=dict(os.environ, PATH=path, LC_ALL="C.UTF-8"))
    return done.stdout.split(MARK)[1:-1]


def differences(page, tamis):
    commands = list(commands_of(page))
    if not commands:
        return 0, []
    with tempfile.TemporaryDirectory(prefix="tamis-docs-") as folder:
        os.symlink(ROOT / "demo", pathlib.Path(folder) / "demo")
        outputs = outputs_of(commands, folder, tamis)
    outputs += [""] * (len(commands) - len(outputs))
    wrong = [(command, said, real) for (command, said), real in zip(commands, outputs)
             if said is not None and said != real]
    return len(commands), wrong


def main():
    # Pages have runs of twenty million keys, which tests/cli has smaller.
    if os.environ.get("TAMIS_SANITIZED"):
        print("the sanitizers are too slow for it")
        return 77
    tamis = pathlib.Path(sys.argv[1]).resolve()
    pages = [pathlib.Path(name).resolve() for name in sys.argv[2:]]
    pages = pages or [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    ran = failed = 0
    for page in pages:
        n, wrong = differences(page, tamis)
        ran += n
        failed += len(wrong)
        for command, said, real in wrong:
            print(f"{page.relative_to(ROOT)}: $ {command}\n--- the page says\n{said}--- it prints\n{real}")
    print(f"{ran} commands, {failed} print something else")
    return 1 if failed or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
