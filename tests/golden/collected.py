#!/usr/bin/env python3
"""Collections keep their bytes, and a second reader finds in them what was put in.

    collected.py TAMIS

tests/golden/collections holds one that was written in one go, and the same after filters were
replaced, removed and added. They are made again here, byte for byte.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests")]
sys.dont_write_bytecode = True
from expect import expect, verdict  # noqa: E402
from read_collection import Collection  # noqa: E402
from read_image import Image  # noqa: E402

GOOD, GOLDEN = ROOT / "tests/golden/good", ROOT / "tests/golden/collections"
FIRST = ("bloom-small", "fuse-small", "cqf-small")
# What the second holds: replaced, kept, added.
SECOND = {"bloom-small": "blocked-small", "cqf-small": "cqf-small", "a:b c": "xor-small"}


def make(tamis, folder):
    """Both, by the program."""
    first, second = folder / "first.tms", folder / "second.tms"

    def collection(verb, *words):
        subprocess.run([tamis, "collection", verb, *words], check=True)

    collection("add", first, *(GOOD / f"{name}.tamis" for name in FIRST))
    shutil.copy(first, second)
    collection("add", "--name", "bloom-small", second, GOOD / "blocked-small.tamis")
    collection("remove", second, "fuse-small")
    collection("add", "--name", "a:b c", second, GOOD / "xor-small.tamis")
    return first, second


def check_holds(path, wanted):
    collection = Collection(path.read_bytes())
    expect(set(collection.places) == set(wanted), f"{path.name}: {sorted(collection.places)}")
    for name, file in wanted.items():
        image = collection.image(name)
        expect(image == (GOOD / f"{file}.tamis").read_bytes(), f"{path.name}:{name}: other bytes")
        Image(image)
    return collection


def main():
    with tempfile.TemporaryDirectory() as folder:
        made = make(sys.argv[1], pathlib.Path(folder))
        for path in made:
            expect(path.read_bytes() == (GOLDEN / path.name).read_bytes(),
                   f"{path.name}: is written with other bytes")
    expect(check_holds(GOLDEN / "first.tms", dict(zip(FIRST, FIRST))).slot.generation == 1,
           "first.tms: generation")
    expect(check_holds(GOLDEN / "second.tms", SECOND).slot.generation == 4, "second.tms: generation")
    return verdict("golden/collected")


if __name__ == "__main__":
    sys.exit(main())
