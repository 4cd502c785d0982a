#!/usr/bin/env python3
"""Whatever goes wrong while a collection is changed, it holds what it held, or what it should.

    edit.py TAMIS

Under strace, the system calls of `tamis collection` are made to fail in turn, and then to kill the
program, as in save.py. What is left behind must be whole, and must not be in the way of the next
try. In a long run this goes for all calls, else for those that change the file.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from save import CALL, CALLS, ERRORS, environment, expect, run, verdict

TARGET = "all.tms"
NEVER_FAIL = ("mmap", "munmap", "close")
IS_LONG, IS_QUICK = "TAMIS_LONG" in os.environ, "TAMIS_SANITIZED" in os.environ


class Edit:
    """A command that changes TARGET, which holds `old` and `spare`."""

    def __init__(self, tamis, base, words):
        self.tamis, self.folder, self.words = tamis, os.path.join(base, words[0]), words
        self.log = os.path.join(base, "trace")
        os.mkdir(self.folder)
        for name in ("old", "new"):
            numbers = os.path.join(self.folder, name)
            with open(numbers, "w", encoding="ascii") as file:
                file.writelines(f"{i}\n" for i in range(100 if name == "old" else 200))
            self.must("build", "-k", "blocked", "-n", "300", "-o", name + ".tamis", name)
        self.must("collection", "add", "--name", "spare", TARGET, "old.tamis")
        self.must("collection", "add", "--name", "gone", TARGET, "old.tamis")
        self.must("collection", "remove", TARGET, "gone")
        self.must("collection", "add", TARGET, "old.tamis")
        shutil.copy(self.path(TARGET), self.path("kept"))
        self.before = self.state()
        self.must(*words)
        self.after = self.state()
        self.usual = set(os.listdir(self.folder))
        self.reset()

    def path(self, name):
        return os.path.join(self.folder, name)

    def must(self, *words):
        code, errors = run([self.tamis, *words], self.folder)
        if code != 0:
            sys.exit(f"FAILED: {' '.join(words)}: exit {code}: {errors}")

    def said(self, *words):
        done = subprocess.run([self.tamis, *words], cwd=self.folder, env=environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return done.returncode, done.stdout.decode()

    def state(self):
        """Whether it is whole, then each name and how many numbers it holds."""
        names = self.said("collection", "list", TARGET)[1].split()
        return (self.said("verify", TARGET)[0],
                *((name, self.said("query", "-c", f"{TARGET}:{name}", "new")[1]) for name in names))

    def reset(self):
        for name in set(os.listdir(self.folder)) - self.usual | {TARGET}:
            os.unlink(self.path(name))
        shutil.copy(self.path("kept"), self.path(TARGET))

    def strace(self, *options):
        return run(["strace", "-f", "-y", "-o", self.log, *options, "--", self.tamis, *self.words],
                   self.folder)

    def places(self):
        code, errors = self.strace("-e", "trace=" + ",".join("?" + name for name in CALLS))
        if code != 0:
            sys.exit(f"FAILED: {self.words} under strace: exit {code}: {errors}")
        counts, places = {}, []
        with open(self.log, encoding="utf-8", errors="replace") as file:
            for match in filter(None, map(CALL.match, file)):
                counts[match[1]] = counts.get(match[1], 0) + 1
                places.append((match[1], counts[match[1]]))
        self.reset()
        return places

    def strike(self, place, effect):
        return self.strace("-e", f"trace={place[0]}", "-e",
                           f"inject={place[0]}:{effect}:when={place[1]}")

    def check_kill(self, place):
        self.strike(place, "signal=KILL")
        where = f"{self.words[1]}: killed at {place[0]} #{place[1]}"
        state = self.state()
        expect(state in (self.before, self.after), f"{where}: it holds {state}")
        code, errors = run([self.tamis, *self.words], self.folder)
        again = self.words[1] == "remove" and state == self.after
        expect(code == (1 if again else 0), f"{where}: the next try says {code}, {errors}")
        expect(self.state() == self.after, f"{where}: the next try gives something else")
        self.reset()
        return state == self.after

    def check_error(self, place, error):
        code, errors = self.strike(place, f"error={error}")
        where = f"{self.words[1]}: {error} at {place[0]} #{place[1]}"
        state = self.state()
        expect(state in (self.before, self.after), f"{where}: it holds {state}")
        expect(0 <= code < 128, f"{where}: ended by signal ({code})")
        expect(state == self.after if code == 0 else errors.strip(), f"{where}: exit {code}")
        left = set(os.listdir(self.folder)) - self.usual
        expect(not left or "unlink" in place[0], f"{where}: left behind: {left}")
        self.reset()


def main():
    tamis = os.path.abspath(sys.argv[1])
    if not shutil.which("strace"):
        sys.exit("FAILED: strace is not installed; tools/bootstrap installs it")
    with tempfile.TemporaryDirectory(prefix="tamis-edit-") as base:
        base = os.path.realpath(base)
        for words, last in ((["collection", "add", TARGET, "old.tamis", "new.tamis"], 14),
                            (["collection", "remove", TARGET, "old"], 3),
                            (["collection", "compact", TARGET], 9)):
            folder = os.path.join(base, words[1])
            os.mkdir(folder)
            job = Edit(tamis, folder, words)
            places = job.places()
            struck = places if IS_LONG else places[-(last // 2 if IS_QUICK else last):]
            fresh = sum(job.check_kill(place) for place in struck)
            if words[1] == "add" and not IS_QUICK:
                expect(0 < fresh < len(struck), f"add: {fresh} of {len(struck)} kills came too late")
            for place in struck:
                for error in ERRORS if IS_LONG else ["EIO"]:
                    if place[0] not in NEVER_FAIL:
                        job.check_error(place, error)
    return verdict("fault/edit")


if __name__ == "__main__":
    sys.exit(main())
