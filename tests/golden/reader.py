#!/usr/bin/env python3
"""The reader in tools/read_image.py and the program share no code, and give the same answers: two
writings of one specification.

    reader.py TAMIS
"""
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests")]
sys.dont_write_bytecode = True
from expect import expect, verdict  # noqa: E402
from read_image import Image, ImageError, lines_of, query  # noqa: E402

READER = ROOT / "tools" / "read_image.py"


def lines_in(path):
    with open(path, "rb") as file:
        return lines_of(file)


def run(command, lines=()):
    done = subprocess.run(command, input=b"".join(line + b"\n" for line in lines),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def compare(tamis, path, lines):
    """Same lines found, same exit code."""
    theirs = run([tamis, "query", path], lines)
    found = io.BytesIO()
    code = query(Image(pathlib.Path(path).read_bytes()), lines, found)
    expect(theirs[:2] == (code, found.getvalue()), f"{path}: query prints {len(theirs[1])} bytes, "
           f"exit {theirs[0]} {theirs[2]}; the reader {len(found.getvalue())}, exit {code}")
    return found.getvalue().split(b"\n")[:-1]


def check_good(tamis, path):
    keys = lines_in(path.with_suffix(".keys"))
    absent = [line.split(b" ", 1) for line in lines_in(path.with_suffix(".absent"))]
    wanted = keys + [key for answer, key in absent if answer == b"yes"]
    found = compare(tamis, path, keys + [key for _, key in absent])
    expect(found == wanted, f"{path}: {len(found)} lines found, not the {len(wanted)} wanted")
    expect(status_of(path) == "OK", f"{path}: the reader finds fault: {status_of(path)}")


def check_command(path):
    """The reader as a program."""
    keys = lines_in(path.with_suffix(".keys"))
    code, text, errors = run([sys.executable, READER, path, "--query"], keys)
    expect((code, text) == (0, b"".join(key + b"\n" for key in keys)),
           f"{path}: the reader prints {len(text)} bytes, exit {code}: {errors}")
    code, _, errors = run([sys.executable, READER, path, "--verify"])
    expect(code == 0, f"{path}: the reader finds fault: {errors}")
    code, text, _ = run([sys.executable, READER, path])
    expect(code == 0 and b"kind" in text and b"section   1 " in text, f"{path}: header not printed")


def status_of(path):
    try:
        Image(path.read_bytes()).verify()
    except ImageError as error:
        return error.status
    return "OK"


def check_bad(path, wanted):
    found = status_of(path)
    expect(found == wanted, f"{path}: the reader says {found}, not {wanted}")


def check_large(tamis, folder, kind):
    """A payload of more than one checksum block, fresh from the command line."""
    path = os.path.join(folder, kind["kind"] + ".tamis")
    indexed = "indexed" in kind["abilities"]
    number = 20_000_000 if indexed else 250_000 if "exact" in kind["abilities"] else 2_000_000
    lines = [b"%d" % (i * 17) for i in range(3000)]
    options = ["--hash", "raw"] if indexed else ["--seed", "99"]
    taken = lines[:1500]
    if "get" in kind["abilities"]:
        taken = [line + b"\t%d" % (i * 7 % 1000) for i, line in enumerate(taken)]
        options += ["--values-field", "2"]
    if "exclude" in kind["abilities"]:
        others = pathlib.Path(folder, "others")
        others.write_bytes(b"".join(line + b"\n" for line in lines[2000:]))
        options += ["--universe", others]
    code, _, errors = run([tamis, "build", "-k", kind["kind"], "-n", str(number), "-p", "0.01",
                           "-o", path, *options], taken)
    expect(code == 0, f"{path}: build: {errors}")
    expect(os.path.getsize(path) > 2**20 + 4096, f"{path}: too small to have two blocks")
    found = compare(tamis, path, lines)
    expect(found[:1500] == lines[:1500], f"{path}: keys are lost")
    if "get" in kind["abilities"]:
        check_values(tamis, path, lines)


def check_values(tamis, path, lines):
    """The reader finds the values that the program prints."""
    image = Image(pathlib.Path(path).read_bytes())
    _, text, _ = run([tamis, "get", path], lines)
    values = dict(line.split(b"\t") for line in text.splitlines())
    for line in lines:
        expected = values.get(line)
        found = image.get(line)
        expect(found == (None if expected is None else int(expected)),
               f"{path}: {line} has the value {expected}, the reader says {found}")


def check_document(tamis, folder):
    """The bytes in docs/format.md are those that its command makes."""
    text = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
    command, dump = text.split("## A worked example")[1].split("```")[1:4:2]
    done = subprocess.run(command, shell=True, cwd=folder, stderr=subprocess.PIPE,
                          env=dict(os.environ, PATH=f"{os.path.dirname(tamis)}:{os.environ['PATH']}"))
    expect(done.returncode == 0, f"docs/format.md: its command fails: {done.stderr}")
    image = pathlib.Path(folder, "tiny.tamis").read_bytes()
    shown = bytearray()
    for line in dump.strip().splitlines():
        at, rest = line.split(None, 1)
        field = bytes(112) if "..." in rest else bytes.fromhex(rest.split("   ")[0])
        expect(int(at) == len(shown), f"docs/format.md: nothing shown before offset {at}")
        shown += field
    expect(shown == image, "docs/format.md shows other bytes than its command makes")


def specified_kinds():
    """Kinds with a section in docs/format.md. One that is being written has none yet."""
    text = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
    headings = re.findall(r"^### (\d+ [\w-]+(?:, \d+ [\w-]+)*)$", text, re.MULTILINE)
    return {kind.split()[1] for heading in headings for kind in heading.split(", ")}


def kind_in(tamis, path):
    return json.loads(run([tamis, "info", "--json", path])[1])[0]["kind"]


def main():
    tamis = os.path.abspath(sys.argv[1])
    specified = specified_kinds()
    for folder in ("good", "future"):
        for path in sorted((GOLDEN / folder).glob("*.tamis")):
            if kind_in(tamis, path) in specified:
                check_good(tamis, path)
    check_command(GOLDEN / "good" / "bloom-loaded.tamis")
    for line in (GOLDEN / "bad" / "expected.txt").read_text().splitlines():
        name, status = line.split()
        check_bad(GOLDEN / "bad" / name, status)
    kinds = json.loads(run([tamis, "kinds", "--json"])[1])
    with tempfile.TemporaryDirectory(prefix="tamis-reader-") as folder:
        for kind in kinds if os.environ.get("TAMIS_LONG") else kinds[::4]:
            if kind["kind"] in specified:
                check_large(tamis, folder, kind)
            else:
                print(f"{kind['kind']}: not in docs/format.md, so no second reader knows it")
        check_document(tamis, folder)
    return verdict("golden/reader")


if __name__ == "__main__":
    sys.exit(main())
