#!/usr/bin/env python3
"""A disk that loses what a command wrote, and says so once: every command that writes a file hears it.

    losses.py TAMIS

Each command runs again and again under losing.h as a library that is loaded first, each time with
another of its calls failing and the data lost. Then either it ended with an error and the file is the
old one, or without and the file is the new one.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from save import environment, expect, hash_options, kinds_of, read, run, verdict
import save

HERE = os.path.dirname(os.path.abspath(__file__))
IS_LONG = "TAMIS_LONG" in os.environ


def losing_library(base):
    library = os.path.join(base, "losing.so")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-D_GNU_SOURCE",
                    "-DLOSING_PRELOADED", "-x", "c", os.path.join(HERE, "losing.h"), "-o", library,
                    "-ldl"], check=True)
    return library


class Command:
    """A command that writes `target` in the folder "made", beside which its inputs are."""

    def __init__(self, tamis, base, words, target, prepared=None):
        self.command, self.words = [tamis, *words], " ".join(words)
        self.base, self.folder = base, os.path.join(base, "made")
        self.target, self.log = os.path.join(base, target), os.path.join(base, "calls")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        if prepared:
            shutil.copy(os.path.join(base, prepared), self.target)
        self.kept = os.path.join(base, "kept")
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.folder, self.kept)
        self.old = self.now()
        code, errors = run(self.command, base)
        if code != 0:
            sys.exit(f"FAILED: {self.words}: exit {code}: {errors}")
        self.new, self.usual = self.now(), set(os.listdir(self.folder))

    def now(self):
        """The bytes; of a collection, which is changed in place, the names if it is whole."""
        if "collection" not in self.words:
            return read(self.target) if os.path.exists(self.target) else None
        said = [subprocess.run([self.command[0], *words, self.target], env=environment(),
                               capture_output=True, check=False)
                for words in (["verify"], ["collection", "list"])]
        return [(done.returncode, done.stdout) for done in said]

    def reset(self):
        shutil.rmtree(self.folder)
        shutil.copytree(self.kept, self.folder)

    def strike(self, library, at):
        inner = dict(environment(), LD_PRELOAD=library, LOSING_FOLDER=self.folder,
                     LOSING_AT=str(at))
        inner["ASAN_OPTIONS"] += ":verify_asan_link_order=0"
        if at < 0:
            inner["LOSING_LOG"] = self.log
        done = subprocess.run(self.command, cwd=self.base, env=inner, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)
        return done.returncode, done.stderr.decode("utf-8", "replace")

    def calls(self, library):
        """Names of the calls of an undisturbed run."""
        if os.path.exists(self.log):
            os.unlink(self.log)
        self.reset()
        code, errors = self.strike(library, -1)
        expect(code == 0 and self.now() == self.new, f"{self.words}: undisturbed: {code}: {errors}")
        return read(self.log).decode().split()

    def check(self, library):
        calls = self.calls(library)
        expect({"write", "pwrite"} & set(calls), f"{self.words}: no write is counted: {calls}")
        for at, call in enumerate(calls):
            self.reset()
            code, errors = self.strike(library, at)
            now, where = self.now(), f"{self.words}: {call} #{at} of {len(calls)} fails"
            expect(0 <= code < 64, f"{where}: ended with {code}: {errors}")
            expect(code == 0 or errors.strip(), f"{where}: exit {code} without a word")
            expect(now == self.new or (code != 0 and now == self.old),
                   f"{where}: exit {code}, and the file is "
                   f"{'the old one' if now == self.old else 'neither the old one nor the new one'}")
            left = set(os.listdir(self.folder)) - self.usual
            expect(not left, f"{where}: left behind: {left}")


def deleted():
    """Commands of applications that were deleted."""
    tool = os.path.join(HERE, "..", "..", "tools", "applications.py")
    return subprocess.run([tool], check=True, capture_output=True, text=True).stdout.split()


def write_inputs(base):
    for name, numbers in (("old", range(0, 200)), ("new", range(200, 500))):
        with open(os.path.join(base, name), "w", encoding="ascii") as file:
            file.writelines(f"{number}\n" for number in numbers)
    os.mkdir(os.path.join(base, "from"))
    shutil.copy(os.path.join(base, "new"), os.path.join(base, "from", "it"))


def commands(tamis, base, kinds):
    """The words of each, what it writes, and what was there before."""
    for kind in kinds if IS_LONG else save.THOROUGH:
        old = f"{kind}.tamis"
        build = ["build", "-k", kind, "-j", "1", *hash_options(kind), "-n", "2000", "-o"]
        run([tamis, *build, old, "old"], base)
        yield [*build, "made/it", "new"], "made/it", old
        if "add" in kinds[kind]:
            yield ["add", "-j", "1", "made/it", "new"], "made/it", old
    run([tamis, "build", "-k", "cqf", "-n", "2000", "-o", "other.tamis", "new"], base)
    for words in (["remove", "made/it", "old"], ["resize", "-n", "9000", "made/it"],
                  ["merge", "-o", "made/it", "cqf.tamis", "other.tamis"]):
        yield words, "made/it", "cqf.tamis"
    run([tamis, "collection", "add", "all.tms", "cqf.tamis"], base)
    yield ["collection", "add", "made/it", "other.tamis"], "made/it", "all.tms"
    if "sync" not in deleted():
        yield from commands_of_sync(tamis, base)
    if "digest" not in deleted():
        yield ["digest", "write", "-o", "made/it", "new"], "made/it", "old"


def commands_of_sync(tamis, base):
    yield ["delta", "signature", "new", "made/it"], "made/it", "old"
    for words in (["delta", "signature", "old", "old.sig"],
                  ["delta", "delta", "old.sig", "new", "new.delta"]):
        run([tamis, *words], base)
    yield ["delta", "delta", "old.sig", "new", "made/it"], "made/it", "old"
    yield ["delta", "patch", "old", "new.delta", "made/it"], "made/it", "old"
    yield ["sync", "new", "made/it"], "made/it", "old"
    yield ["sync", "-r", "from", "made"], "made/it", "old"


def main():
    tamis = os.path.abspath(sys.argv[1])
    kinds, save.INDEXED = kinds_of(tamis)
    with tempfile.TemporaryDirectory(prefix="tamis-losses-") as base:
        base = os.path.realpath(base)
        write_inputs(base)
        library = losing_library(base)
        for words, target, before in commands(tamis, base, kinds):
            Command(tamis, base, words, target, before).check(library)
    return verdict("fault/losses")


if __name__ == "__main__":
    sys.exit(main())
