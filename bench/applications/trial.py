"""What the scripts of this folder share: commands that are timed, and the table that they write."""
import argparse
import csv
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TAMIS = os.environ.get("TAMIS", str(ROOT / "build/tamis"))
ENVIRONMENT = {**os.environ, "LC_ALL": "C", "PATH": f"{pathlib.Path(TAMIS).parent}:{os.environ['PATH']}"}


def seconds_of(command, times=3):
    """The least processor time of a shell command in so many runs: other programs take their time
    on the same machine."""
    best = float("inf")
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        shell(command)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def shell(command):
    """What it prints. It may end with 1, as grep does."""
    done = subprocess.run(["bash", "-c", command], env=ENVIRONMENT, stdout=subprocess.PIPE, check=False)
    if done.returncode > 1:
        sys.exit(f"{command}: exit code {done.returncode}")
    return done.stdout


def run(name, about, measure):
    """Calls measure(quick) in a folder of its own, and writes the rows that it gives."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help="100 times smaller; writes no file")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix=f"tamis-{name}-") as folder:
        os.chdir(folder)
        rows = list(measure(quick))
        os.chdir("/")
    table = ROOT / f"bench/results/applications/{name}.csv"
    if not quick:
        table.parent.mkdir(exist_ok=True)
    with open(os.devnull if quick else table, "w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["measure", "contender", "value"])
        for measure_name, contender, value in rows:
            lines.writerow([measure_name, contender, f"{value:.4g}"])
            print(f"{measure_name:40} {contender:28} {value:.4g}")
