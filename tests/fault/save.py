#!/usr/bin/env python3
"""Whatever goes wrong while a filter is saved, its file is the old one or the new one, whole.

    save.py TAMIS

Under strace, every system call of `tamis build` and `tamis add` is made to fail in turn, with each
of four errors, and then to kill the program. strace counts calls by name, so that a place in the
program is a pair: a name, and how many calls of that name came before.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expect import expect, verdict  # noqa: E402

CALLS = ("open openat creat read pread64 write pwrite64 writev pwritev fsync fdatasync close rename "
         "renameat renameat2 link linkat fstat newfstatat statx stat lstat fchmod fchown chmod "
         "ftruncate fallocate lseek flock fcntl readlink readlinkat getrandom mmap munmap "
         "mkdir unlink unlinkat msync sync_file_range copy_file_range").split()
ERRORS = ("ENOSPC EDQUOT EIO EINTR" if "TAMIS_LONG" in os.environ else "ENOSPC EINTR").split()
CALL = re.compile(r"^(?:\d+\s+)?(\w+)\((.*)$")
TARGET = "words.tamis"
# A kind of each way to make a file: copied from memory, solved in parts, written in order. The
# others go the same ways: in a long run the last of their calls are struck, those that save.
THOROUGH = ("blocked", "fuse", "cqf")
# What architecture.md calls a file that waits to be renamed.
WAITING = re.compile(re.escape(f".{TARGET}.tmp.") + "[0-9a-f]{16}")
# Their failure means too little memory, and kills the loader before our program begins.
NO_ERRORS = ("mmap", "munmap")


# ---- Running ----------------------------------------------------------------------------------


def environment():
    """LeakSanitizer stops programs by ptrace, as strace does: only one of them can."""
    inner = dict(os.environ, LC_ALL="C")
    inner["ASAN_OPTIONS"] = inner.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    return inner


def run(command, folder):
    done = subprocess.run(command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    return done.returncode, done.stderr.decode("utf-8", "replace")


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Job:
    """A command that saves TARGET, in a folder of its own beside its inputs and the trace."""

    def __init__(self, tamis, base, kind, verb):
        self.tamis = tamis
        self.name = f"{kind} {verb}"
        self.inputs = os.path.join(base, "inputs")
        self.folder = os.path.join(base, f"{kind}-{verb}")
        self.log = os.path.join(base, "trace")
        os.makedirs(self.folder)
        self.target = os.path.join(self.folder, TARGET)
        build = [tamis, "build", "-k", kind, "-j", "1", "-o", TARGET, *hash_options(kind)]
        self.command = {
            "build": [*build, "-n", "2000", os.path.join(self.inputs, "new")],
            "add": [tamis, "add", "-j", "1", TARGET, os.path.join(self.inputs, "new")],
        }[verb]
        self.must([*build, "-n", "2000", os.path.join(self.inputs, "old")])
        self.old = read(self.target)
        self.must(self.command)
        self.new = read(self.target)
        self.must(self.command)
        self.again = read(self.target)
        self.usual = set(os.listdir(self.folder))
        self.reset()

    def must(self, command):
        code, errors = run(command, self.folder)
        if code != 0:
            sys.exit(f"FAILED: {' '.join(command)}: exit {code}: {errors}")

    def reset(self):
        """The old file and nothing else. A new inode, in case somebody still maps the other."""
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        with open(self.target, "wb") as file:
            file.write(self.old)

    def strace(self, options):
        return run(["strace", "-f", "-y", "-o", self.log, *options, "--", *self.command],
                   self.folder)

    def trace(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()

    def places(self):
        """The pairs (name, index from 1) of an undisturbed run, and its trace."""
        code, errors = self.strace(["-e", "trace=" + ",".join("?" + name for name in CALLS)])
        if code != 0:
            sys.exit(f"FAILED: {self.name} under strace: exit {code}: {errors}")
        counts, places, lines = {}, [], self.trace()
        for line in lines:
            match = CALL.match(line)
            if match:
                counts[match[1]] = counts.get(match[1], 0) + 1
                places.append((match[1], counts[match[1]]))
        self.is_unnamed = any("O_TMPFILE" in line and " = -1 " not in line for line in lines)
        self.reset()
        return places, lines

    def strike(self, place, effect):
        """Runs with `effect` (error=EIO, signal=KILL) there. Returns the exit code, what was said,
        and the line of the trace that was struck."""
        name, index = place
        code, errors = self.strace(["-e", f"trace={name}", "-e",
                                    f"inject={name}:{effect}:when={index}"])
        struck = [line for line in self.trace() if "(INJECTED)" in line]
        return code, errors, struck[0] if struck else ""


def hash_options(kind):
    return ["--hash", "raw"] if kind in INDEXED else []


# ---- Errors -----------------------------------------------------------------------------------


def must_fail(job, place, error, struck):
    """Whether this error loses what was written, so that success would be a lie."""
    if error == "EINTR" or job.folder not in struck:
        return False
    return place[0] in ("write", "pwrite64", "writev", "fsync", "fdatasync", "rename", "renameat",
                        "renameat2", "ftruncate") or is_close_of_new(job, place, struck)


def is_close_of_new(job, place, struck):
    """Closing the file that was written: its error may be the only news of lost data."""
    return place[0] == "close" and ".tmp" in struck and job.folder in struck


def check_error(job, place, error):
    code, errors, struck = job.strike(place, f"error={error}")
    where = f"{job.name}: {error} at {place[0]} #{place[1]} ({struck.strip()[:120]})"
    now = read(job.target) if os.path.exists(job.target) else None
    expect(now in (job.old, job.new), f"{where}: the file is neither old nor new")
    expect(0 <= code < 128, f"{where}: ended by signal ({code})")
    if code == 0:
        expect(now == job.new, f"{where}: success, but the file is the old one")
        expect(not must_fail(job, place, error, struck), f"{where}: success")
    else:
        expect(errors.strip() != "", f"{where}: exit {code} without a word")
        written = place[0] in ("write", "pwrite64") and job.folder in struck
        expect(not (error == "EINTR" and written), f"{where}: exit {code}, not tried again")
    extra = set(os.listdir(job.folder)) - job.usual
    expect(not extra or "unlink" in place[0], f"{where}: left behind: {extra}")
    job.reset()


# ---- Kills ------------------------------------------------------------------------------------


def check_kill(job, place):
    job.strike(place, "signal=KILL")
    where = f"{job.name}: killed at {place[0]} #{place[1]}"
    now = read(job.target) if os.path.exists(job.target) else None
    if expect(now in (job.old, job.new), f"{where}: the file is neither old nor new"):
        code, errors = run([job.tamis, "verify", TARGET], job.folder)
        expect(code == 0, f"{where}: verify says {errors}")
    left = set(os.listdir(job.folder)) - job.usual
    expect(len(left) <= 1 and all(map(WAITING.fullmatch, left)), f"{where}: left behind: {left}")
    for name in left if job.is_unnamed else ():
        expect(read(os.path.join(job.folder, name)) == job.new, f"{where}: {name} is not whole")
    code, errors = run(job.command, job.folder)
    expect(code == 0, f"{where}: what was left behind is in the way: {errors}")
    expect(read(job.target) == (job.again if now == job.new else job.new),
           f"{where}: the next save gives another file")
    job.reset()
    return now == job.new, bool(left)


# ---- Power cuts -------------------------------------------------------------------------------


def check_order(job, lines):
    """A power cut keeps what was synced, and loses or reorders the rest. So: the new file is
    synced after its last byte and before it gets its name; then the folder is synced."""
    steps = [CALL.match(line).groups() for line in lines if CALL.match(line)]
    writes = [i for i, (name, rest) in enumerate(steps)
              if name in ("write", "pwrite64", "writev") and job.folder + "/" in rest]
    renames = [i for i, (name, _) in enumerate(steps) if name.startswith("rename")]
    syncs = [(i, rest) for i, (name, rest) in enumerate(steps) if name in ("fsync", "fdatasync")]
    file_syncs = [i for i, rest in syncs if job.folder + "/" in rest]
    folder_syncs = [i for i, rest in syncs if f"<{job.folder}>" in rest]
    where = f"{job.name}: trace"
    if expect(writes and len(renames) == 1 and file_syncs and folder_syncs,
              f"{where}: not written, synced, renamed and synced"):
        expect(max(writes) < max(file_syncs) < renames[0], f"{where}: renamed before it was synced")
        expect(max(folder_syncs) > renames[0], f"{where}: the folder is synced too early")
    expect(not any(name == "openat" and TARGET in rest and ".tmp" not in rest
                   and re.search(r"O_(WRONLY|RDWR).*O_TRUNC|O_TRUNC", rest)
                   for name, rest in steps), f"{where}: the old file is cut short")


# ---- All of it --------------------------------------------------------------------------------


def kinds_of(tamis):
    """Names, and which commands save a filter of that kind; then those of the kinds whose keys are
    integers below their capacity."""
    listed = json.loads(subprocess.run([tamis, "kinds", "--json"], check=True,
                                       stdout=subprocess.PIPE).stdout)
    return ({kind["kind"]: [verb for verb in ("build", "add") if verb in kind["abilities"]]
             for kind in listed},
            {kind["kind"] for kind in listed if "indexed" in kind["abilities"]})


def write_inputs(base):
    os.makedirs(os.path.join(base, "inputs"))
    for name, numbers in (("old", range(0, 200)), ("new", range(200, 500))):
        with open(os.path.join(base, "inputs", name), "w", encoding="ascii") as file:
            file.writelines(f"{number}\n" for number in numbers)


def main():
    global INDEXED
    tamis = os.path.abspath(sys.argv[1])
    if not shutil.which("strace"):
        sys.exit("FAILED: strace is not installed; tools/bootstrap installs it")
    kinds, INDEXED = kinds_of(tamis)
    quick, is_long = "TAMIS_SANITIZED" in os.environ, "TAMIS_LONG" in os.environ
    with tempfile.TemporaryDirectory(prefix="tamis-save-") as base:
        base = os.path.realpath(base)
        write_inputs(base)
        for kind in kinds if is_long else THOROUGH:
            for verb in kinds[kind]:
                job = Job(tamis, base, kind, verb)
                places, lines = job.places()
                check_order(job, lines)
                thorough = not quick and (kind == THOROUGH[0] or is_long and kind in THOROUGH)
                saving = places if thorough else places[-12:] if quick or is_long else places[-30:]
                fresh, waiting = map(sum, zip(*(check_kill(job, place) for place in saving)))
                expect(not thorough or 0 < fresh < len(saving), f"{job.name}: no kill before or no "
                       f"kill after the rename: {fresh} of {len(saving)} left the new file")
                expect(not thorough or waiting == 2 or not job.is_unnamed, f"{job.name}: {waiting} "
                       "kills left a file behind, not those at close and rename")
                errors = ERRORS if kind == THOROUGH[0] and not quick else ["EIO"]
                for place in (p for p in saving if p[0] not in NO_ERRORS):
                    for error in errors:
                        check_error(job, place, error)
    return verdict("fault/save")


if __name__ == "__main__":
    sys.exit(main())
