#!/usr/bin/env python3
"""bench/commands gives no figure that the repetitions do not bear out, and cleans up when stopped."""
import importlib.machinery
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
COMMANDS = os.path.join(HERE, "..", "..", "bench", "commands")
sys.path[:0] = [os.path.dirname(COMMANDS), os.path.join(HERE, "..")]
from expect import expect, verdict  # noqa: E402


def load():
    loader = importlib.machinery.SourceFileLoader("commands", COMMANDS)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("commands", loader))
    loader.exec_module(module)
    return module


commands = load()


# ---- Figures ------------------------------------------------------------------------------------


class Scripted(commands.Contestant):
    """Takes the times that it is given, over and over, after one for the warm-up."""

    def __init__(self, tool, *times, task="sift"):
        super().__init__(task, tool, "true", [self], "nothing", None)
        self.times, self.played = times, 0

    def run(self):
        self.played += 1
        return (99.0 if self.played == 1 else self.times[(self.played - 2) % len(self.times)]), 7.0

    def verify(self):
        pass


def rows_after(*contestants, runs=5):
    commands.compete(contestants, runs)
    place = dict.fromkeys(commands.PLACE, "x")
    return list(commands.rows_of(contestants, 1000, place))


def figures(row):
    return [row.get(name, "") for name in ("status", "seconds", "low", "high", "ratio", "runs")]


def test_warm_up():
    tamis, other = Scripted("tamis sift", 1.0), Scripted("sieve", 2.0)
    rows = rows_after(tamis, other)
    expect((tamis.played, other.played) == (6, 6), f"{tamis.played} runs, one of them not timed")
    expect(figures(rows[0]) == ["ok", "1.0000", "1.0000", "1.0000", "1.00", 5], f"tamis: {rows[0]}")
    expect(figures(rows[1]) == ["ok", "2.0000", "2.0000", "2.0000", "2.00", 5], f"other: {rows[1]}")


def test_ratio():
    """Twice as long in most turns; the ratio of the medians would be 1.67."""
    tamis = Scripted("tamis sift", 1.0, 1.1, 1.2, 1.3, 1.4)
    other = Scripted("sieve", 2.0, 2.2, 1.8, 2.6, 1.7)
    rows = rows_after(tamis, other)
    expect(rows[1]["ratio"] == "2.00" and rows[1]["seconds"] == "2.0000", f"ratio: {rows[1]}")
    rows = rows_after(Scripted("tamis sift", 1.0), Scripted("sieve", 2.0), Scripted("drum", 3.0))
    expect([row["ratio"] for row in rows] == ["1.00", "2.00", "3.00"], "each to tamis")


def test_noise():
    wild = (1.0, 1.0, 2.0, 3.0, 3.0)
    tamis, other, calm = Scripted("tamis sift", 1.0), Scripted("sieve", *wild), Scripted("c", 1.0)
    far = Scripted("tamis far", 1.0, task="far")
    rows = rows_after(tamis, other, calm, far)
    expect(figures(rows[1]) == ["noisy", "", "", "", "", 15], f"noisy: {rows[1]}")
    expect(rows[1].get("peak_mib", "") == "", "noisy: no figure at all")
    expect((tamis.played, calm.played, far.played) == (16, 6, 6), "only tamis goes with the noisy")
    expect(rows[0]["status"] == rows[2]["status"] == "ok", "others are not withheld")
    rows = rows_after(Scripted("tamis sift", *wild), Scripted("sieve", 2.0))
    expect(figures(rows[1])[:5] == ["ok", "2.0000", "2.0000", "2.0000", ""], f"no base: {rows[1]}")
    for times in ((1.0, 9.0, 1.0, 1.0, 0.1), (1.0, 0.74, 1.24, 0.1, 9.0)):
        rows = rows_after(Scripted("tamis sift", *times))
        expect((rows[0]["status"], rows[0]["runs"]) == ("ok", 5), f"ends are forgiven: {rows[0]}")
    rows = rows_after(Scripted("tamis sift", 1.0, 1.0, 1.0, 1.6, 1.6, *10 * (1.6,)))
    expect((rows[0]["status"], rows[0]["runs"]) == ("ok", 10), f"calm at last: {rows[0]}")


# ---- The program --------------------------------------------------------------------------------


def script(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\n{text}\n")
    os.chmod(path, 0o755)
    return path


def wait_for(path):
    for _ in range(600):
        if os.path.exists(path) and os.path.getsize(path):
            with open(path, encoding="ascii") as file:
                return int(file.read())
        time.sleep(0.1)
    return None


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_stop(folder, number):
    """The command that runs at that moment must not stay behind, nor must the files."""
    room, mark = os.path.join(folder, f"room-{number}"), os.path.join(folder, f"mark-{number}")
    os.mkdir(room)
    slow = script(os.path.join(folder, "slow"),
                  f"[ $1 = build ] || exit 0\necho $$ >{mark}\nexec sleep 100")
    process = subprocess.Popen([sys.executable, COMMANDS, slow, "--lines", "1000"],
                               env=dict(os.environ, TMPDIR=room), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    child = wait_for(mark)
    if not expect(child, "the command was started"):
        process.kill()
        return
    process.send_signal(number)
    out, said = process.communicate(timeout=60)
    expect(process.returncode == 128 + number, f"{number}: status {process.returncode}")
    expect(said == "bench/commands: stopped\n" and not out, f"{number}: one line, not {said!r}")
    expect(os.listdir(room) == [], f"{number}: left behind: {os.listdir(room)}")
    expect(not is_alive(child), f"{number}: the command was stopped too")


def test_options(folder):
    tool = script(os.path.join(folder, "tool"), "exit 3")
    done = subprocess.run([sys.executable, COMMANDS, tool, "--runs", "4"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    expect(done.returncode == 2 and "below 5" in done.stderr, f"four runs: {done.stderr}")
    sys.argv = [COMMANDS, "--quick", tool]
    given = commands.options()
    expect((given.runs, given.lines) == (5, 100_000), f"--quick: {given}")
    done = subprocess.run([sys.executable, COMMANDS, tool, "--lines", "1000"], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    expect(done.returncode == 1 and done.stderr.count("\n") == 1 and "exit code 3" in done.stderr,
           f"a command that fails: {done.stderr}")


def main():
    test_warm_up()
    test_ratio()
    test_noise()
    with tempfile.TemporaryDirectory() as folder:
        for number in (signal.SIGINT, signal.SIGTERM):
            test_stop(folder, number)
        test_options(folder)
    return verdict("bench/commands")


if __name__ == "__main__":
    sys.exit(main())
