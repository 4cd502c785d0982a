#!/usr/bin/env python3
"""bench/compare calls changed what changed, and nothing else."""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expect import expect, verdict  # noqa: E402
from synthetic import RATES, hostile_files, row, withheld, write  # noqa: E402

COMPARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "compare")


def run(*arguments, **settings):
    return subprocess.run([sys.executable, COMPARE, *arguments], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60, **settings)


def compare(folder, old, new, *options):
    paths = [write(os.path.join(folder, name), rows)
             for name, rows in (("old.csv", old), ("new.csv", new))]
    return run(*paths, *options)


def counts(done):
    """The summary, as {verdict: number}."""
    summary = done.stdout.rstrip("\n").split("\n")[-2]
    return {verdict: int(n) for n, verdict in re.findall(r"(\d+) ([a-z ]+)", summary)}


def expect_one(folder, what, old, new, verdict, status=0):
    """Two runs of one row each."""
    done = compare(folder, [old], [new], "--all")
    found = {name: n for name, n in counts(done).items() if n}
    expect(found == {verdict: 1}, f"{what}: {verdict}, not {found}")
    expect(done.returncode == status, f"{what}: status {done.returncode}, not {status}")
    expect(f"{verdict}:\n  sieve has-0, 1e7 keys at" in done.stdout, f"{what}: the row is listed")
    return done


def test_times(folder):
    base = row("sieve")
    for what, new, verdict, status in (
            ("the same", row("sieve"), "unchanged", 0),
            ("a fifth more", row("sieve", ratio=1.2), "slower", 1),
            ("a fifth less", row("sieve", ratio=0.8), "faster", 0),
            ("4.9 % more, ranges apart", row("sieve", ratio=1.049, spread=0.001), "unchanged", 0),
            ("5.1 % more, ranges touch", row("sieve", ratio=1.051, spread=0.04), "unchanged", 0),
            ("5.1 % more, ranges apart", row("sieve", ratio=1.051, spread=0.001), "slower", 1),
            ("5.1 % less, ranges apart", row("sieve", ratio=0.949, spread=0.001), "faster", 0),
            ("twice as much, but wild", row("sieve", ratio=2, spread=0.6), "unchanged", 0),
            ("half as much, but wild", row("sieve", ratio=0.5, spread=1), "unchanged", 0),
            ("the machine is faster, the row is not",
             row("sieve", ratio=2, ns=4, low=3.9, high=4.1, limit_ns=2), "slower", 1),
            ("the machine is slower", row("sieve", ns=12, low=11, high=13, limit_ns=12),
             "unchanged", 0),
            ("another limit", row("sieve", ratio=3, limit="read_independent_huge"),
             "not comparable", 0),
            ("no limit", {**row("sieve"), "ratio": "", "ratio_low": "", "ratio_high": ""},
             "not comparable", 0)):
        expect_one(folder, what, base, new, verdict, status)


def test_statuses(folder):
    base = row("sieve")
    for status in ("noisy", "cannot"):
        none = withheld(status, "sieve")
        expect_one(folder, f"ok, then {status}", base, none, "status changed")
        expect_one(folder, f"{status}, then ok", none, base, "status changed")
        expect_one(folder, f"{status} twice", none, none, "unchanged")


def test_space(folder):
    old = [row("sieve", workload) for workload in ("has-0", "has-100", "build")]
    new = [dict(cells, bits_per_key=cells["bits_per_key"] * 1.01) for cells in old]
    done = compare(folder, old, new)
    expect(counts(done)["space changed"] == 1, "space changed: said once per structure")
    expect("10.4 -> 10.5 bits per key (+1.0 %)" in done.stdout, "space changed: says by how much")
    expect(done.returncode == 0, "bigger is not slower")
    rounded = [dict(cells, bits_per_key=f"{cells['bits_per_key']:.4g}") for cells in old]
    expect(counts(compare(folder, old, rounded))["space changed"] == 0, "rounding is no change")


def test_joins(folder):
    old = [row("sieve"), row("sieve", "has-100"), row("sieve", keys=10**5),
           row("sieve", fpr=RATES[0]), row("colander")]
    new = [row("sieve", "has-100"), row("sieve", keys="1e7", ratio=2), row("sieve", keys="1e5"),
           row("drum", library="Élan 1"), dict(row("sieve", fpr=RATES[0]), fpr="1e-2")]
    done = compare(folder, old, new)
    wanted = {"slower": 1, "gone": 1, "appeared": 1, "unchanged": 3}
    expect({name: n for name, n in counts(done).items() if n} == wanted,
           f"rows are joined by name and case: {counts(done)}")
    for said in ("slower:\n  sieve has-0, 1e7 keys at 0.00391: 1 [0.98, 1.02] -> 2 [1.96, 2.04] ",
                 "gone:\n  colander has-0", "appeared:\n  drum has-0"):
        expect(said in done.stdout, f"says {said!r}")
    expect("unchanged:" not in done.stdout, "what did not change is not listed without --all")
    expect(done.returncode == 1, "one of many slower: status 1")
    expect(done.stderr == "", "same machine: no warning")


def test_chance(folder):
    """2 of the C(10, 5) = 252 ways to deal ten values keep both fives apart."""
    five, seven = ([row("sieve", workload, runs=runs) for workload in ("has-0", "build", "count")]
                   for runs in (5, 7))
    none = [withheld("noisy", "drum"), row("gone"), {**row("drum", "build"), "limit": "x"}]
    for what, old, new, said in (
            ("5 and 5", five, five, "0.0238 of the 3 compared"),
            ("5 and 7", five, seven, "0.00758 of the 3 compared"),
            ("rows that were not compared", five + none, five + [none[0], row("drum", "build")],
             "0.0238 of the 3 compared"),
            ("a changed row counts too", [row("sieve", runs=5)], [row("sieve", ratio=2, runs=5)],
             "0.00794 of the 1 compared"),
            ("runs unknown", [row("sieve", runs="")], [row("sieve", runs="")],
             "1 of the 1 compared"),
            ("runs beyond measure", [row("sieve", runs=1e18)], [row("sieve", runs=1e18)],
             "0 of the 1 compared"),
            ("nothing in common", [row("sieve")], [row("drum")], "0 of the 0 compared")):
        last = compare(folder, old, new).stdout.rstrip("\n").split("\n")[-1]
        expect(last == f"ranges apart by chance alone: about {said}", f"{what}: {last}")


def test_machines(folder):
    new = row("sieve", ns=40, low=39, high=41, limit_ns=40, machine="Another 2")
    done = compare(folder, [row("sieve")], [new])
    expect("another machine" in done.stderr and done.stderr.count("\n") == 1, "warns of machines")
    expect(done.returncode == 0 and counts(done)["unchanged"] == 1, "ratios are compared anyway")


def expect_refusal(done, what):
    expect(done.returncode == 2, f"{what}: status {done.returncode}, not 2")
    expect(done.stdout == "", f"{what}: prints no verdict")
    expect("Traceback" not in done.stderr, f"{what}: no traceback")


def test_refusals(folder):
    good = write(os.path.join(folder, "good.csv"), [row("sieve"), row("drum")])
    with open(good, "rb") as file:
        wrong = hostile_files(file.read())
    bad = os.path.join(folder, "bad.csv")
    for what, content in list(wrong.items())[::1 if os.environ.get("TAMIS_LONG") else 4]:
        with open(bad, "wb") as file:
            file.write(content)
        for paths in ((good, bad), (bad, good)):
            done = run(*paths)
            expect_refusal(done, what)
            expect(done.stderr.startswith(f"compare: {bad}") and done.stderr.count("\n") == 1,
                   f"{what}: one line that names the file, not {done.stderr!r}")
    for what, arguments in (("no file", (good, os.path.join(folder, "none.csv"))),
                            ("a folder", (folder, good)), ("one argument", (good,)),
                            ("three", (good, good, good)), ("unknown option", (good, good, "--x"))):
        expect_refusal(run(*arguments), what)


def test_surroundings(folder):
    good = write(os.path.join(folder, "good.csv"), [row("Sieb-é-篩")])
    done = run(good, good, "--all", env=dict(os.environ, LC_ALL="C", PYTHONIOENCODING="ascii"))
    expect(done.returncode == 0 and "Traceback" not in done.stderr, "names beyond ASCII, in ASCII")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for test in (test_times, test_statuses, test_space, test_joins, test_chance,
                     test_machines, test_refusals, test_surroundings):
            test(folder)
    return verdict("bench/compare")


if __name__ == "__main__":
    sys.exit(main())
