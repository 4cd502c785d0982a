#!/usr/bin/env python3
"""bench/report shows every subject it is given, known or not, and trusts no cell.

Skipped (77) without gnuplot.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expect import expect, verdict  # noqa: E402
from synthetic import (COLUMNS, RATES, WORKLOADS, hostile_files, peer, row,  # noqa: E402
                       withheld, write)

REPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "report")
PICTURES = {"summary", "space", "lookups", "build", "scaling", "lone", "threads", "batch"}
SVG = "{http://www.w3.org/2000/svg}"
LARGEST = 60_000
HOSTILE = ("<b>&amp;\"it's\"</b>", "x'; system('touch harm') #", "`touch harm`", "$(touch harm)",
           "a|b", "%s%n%%", "{/Bold x}_y^z@w", "\\n\\", "a,b\"\"c", "![x](y)", "*篩* é", "]]>",
           "'first", "''", "last'")


# ---- Running and reading ------------------------------------------------------------------------


def run(folder, *arguments, **settings):
    return subprocess.run([sys.executable, os.path.abspath(REPORT), *arguments], cwd=folder,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                          **settings)


def report(folder, rows, *more, target="out", columns=COLUMNS):
    """Runs it on these rows; gives the page and the pictures by name."""
    path = write(os.path.join(folder, "speed.csv"), rows, columns)
    done = run(folder, path, *more, "-o", target)
    expect(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
    return read_output(os.path.join(folder, target))


def read_output(target):
    pictures = {}
    folder = os.path.join(target, "performance")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            pictures[os.path.splitext(name)[0]] = file.read()
    with open(os.path.join(target, "performance.md"), encoding="utf-8") as file:
        return file.read(), pictures


def texts(svg):
    """Text, font size, left edge, foot and width of each label; well-formed, or it throws."""
    for group in tree.fromstring(svg).iter(f"{SVG}g"):
        text = group.find(f"{SVG}text")
        if text is not None:
            x, y = re.match(r"translate\(([-0-9.]+),([-0-9.]+)\)", group.get("transform")).groups()
            size = float(group.get("font-size"))
            turned = "rotate" in group.get("transform")
            wide = 0 if turned else 0.5 * size * len(text.text)
            anchor = {"start": 0, "middle": wide / 2, "end": wide}[group.get("text-anchor")]
            yield text.text, size, float(x) - anchor, float(y), wide


def expect_inside(name, svg):
    wide = float(tree.fromstring(svg).get("width"))
    out = [text for text, _, x, _, w in texts(svg) if x < 0 or x + w > wide]
    expect(not out, f"{name}.svg: words beyond the edge: {out}")


def words(svg):
    return [text for text, *_ in texts(svg)]


def table_rows(page):
    return [line for line in page.split("\n") if line.startswith("|")]


def cells_of(page, heading, subject, part=0):
    """The cells of a subject in one of the tables below a heading."""
    section = page.split(f"### {heading}")[1].split("\n#")[0]
    found = [line for line in table_rows(section) if line.startswith(f"| {subject} |")]
    return found[part].strip("| ").split(" | ")


# ---- What is made -------------------------------------------------------------------------------


def mixture():
    """Kinds, peers, exact ones; one nobody has heard of; what cannot, is noisy or was not run."""
    rows = []
    for keys in (10**4, 10**5, 10**7):
        for fpr in RATES:
            for i, name in enumerate(("bloom", "quux-9", "ribbon")):
                rows += [row(name, workload, keys, fpr, 1 + i) for workload in WORKLOADS]
            rows.append(row("elsewhere-bloom", "has-0", keys, fpr, 5, **peer()))
            rows.append(withheld("cannot", "elsewhere-bloom", "remove", keys, fpr, **peer()))
    rows += [row("sorted-array", workload, 10**7, RATES[1], 90, **peer(64))
             for workload in WORKLOADS]
    for changed in rows:
        if (changed["subject"], changed["workload"]) == ("quux-9", "has-50"):
            changed.update(withheld("noisy", "quux-9", "has-50", changed["keys"],
                                    float(changed["fpr"])))
    return rows


def test_page(folder):
    page, _ = report(folder, mixture())
    ours = cells_of(page, "10 000 000 keys at 0.391 % (8 bits)", "quux-9")
    time = "8.00 ±2 % (2.00 P ±2 %)"
    chain = "80.0 ±2 % (2.00 D ±2 %)"
    expect(ours == ["quux-9", "10.4", "+30.0 %", "0.391 %", time, "noisy", *3 * [time], chain],
           f"cells of a kind: {ours}")
    other = cells_of(page, "10 000 keys at 1 % (6.64 bits)", "elsewhere-bloom")
    expect(other[4:] == ["20.0 ±2 % (5.00 P ±2 %)", *5 * ["–"]], f"cells not measured: {other}")
    other = cells_of(page, "10 000 keys at 1 % (6.64 bits)", "elsewhere-bloom", 1)
    expect("cannot" in other, f"what it cannot do: {other}")
    for rate in ("1 % (6.64", "0.391 % (8", "0.00153 % (16"):
        exact = cells_of(page, f"10 000 000 keys at {rate} bits)", "sorted-array")
        expect(exact[1:5] == ["64.0", "exact", "0", "360 ±2 % (90.0 P ±2 %)"],
               f"exact, measured at one rate, shown at {rate}: {exact}")
    for said in ("Made Up 1", "cc 1.0 -O3", "0123abc", "2001-02-03", "L2 1M", "`make bench`",
                 "median of 7", "prefetched reads, huge", "| P |", "| W |"):
        expect(said in page, f"the page says {said}")
    for line in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", each)) for each in line.strip().split("\n")}
        expect(len(widths) == 1, f"a table has as many cells in each row: {line[:80]}")


def test_without(folder):
    """What lacks something stands beside what does not, and nowhere else."""
    rows = [row("sieve"), row("drum"), row("sieve", keys=10**6), row("sieve", "build")]
    lacks = [row("sieve", ratio=3, without="far"), row("drum", ratio=1.05, without="far"),
             row("drum", ratio=2, without="avx2,far")]
    page, _ = report(folder, rows + lacks)
    expect(page.count("## Hints: near and far") == 1, "a table of hints")
    shown = [line for line in table_rows(page) if line.startswith("| sieve |") and "→" in line]
    expect(shown == ["| sieve | 12.0 → 4.00 (1.00 P) |"], f"both beside each other: {shown}")
    section = page.split("## Hints")[1].split("\n## ")[0]
    expect("drum" not in section, "what makes no difference is not shown")
    expect("## Without avx2,far" in page, "another list has its own table")
    cell = cells_of(page, "10 000 000 keys at 0.391 % (8 bits)", "sieve")[4]
    expect(cell == "4.00 ±2 % (1.00 P ±2 %)", f"other tables are about all it can do: {cell}")


def test_once(folder):
    """One run has no spread."""
    page, _ = report(folder, [row("sieve", spread=0, runs=1)])
    cell = cells_of(page, "10 000 000 keys at 0.391 % (8 bits)", "sieve")[4]
    expect(cell == "4.00 (1.00 P)", f"measured once: {cell}")


def test_pictures(folder):
    page, pictures = report(folder, mixture())
    expect(set(pictures) == PICTURES, f"all pictures: {sorted(pictures)}")
    names = {"bloom", "quux-9", "ribbon", "elsewhere-bloom", "sorted-array"}
    for name, absent in (("lookups", set()), ("scaling", set()),
                         ("lone", {"elsewhere-bloom"}),
                         ("space", {"sorted-array"}),
                         ("batch", {"elsewhere-bloom", "sorted-array"}),
                         ("build", {"elsewhere-bloom"}), ("threads", {"elsewhere-bloom"})):
        shown = names.intersection(words(pictures[name]))
        expect(shown == names - absent, f"{name}.svg names {sorted(shown)}")
        expect(f"](performance/{name}.svg)" in page, f"the page shows {name}.svg")
        expect("is better" in " ".join(words(pictures[name])), f"{name}.svg says what is better")
    expect(page.count("No figure for this picture: elsewhere-bloom.") == 3, "says who is not shown")
    expect("information limit" in words(pictures["space"]), "the limit of space is drawn")
    for said in ("memory limit", "information limit, 8 bits", "bits per key", "ns per lookup"):
        expect(said in words(pictures["lookups"]), f"lookups.svg says {said}")
    summary = words(pictures["summary"])
    expect({"bloom: add", "ribbon: static"} <= set(summary), f"summary.svg names kinds: {summary}")
    expect(not any("quux" in text for text in summary), "summary.svg is not of every subject")
    for cache in ("L1d 32K", "L2 1M"):
        expect(cache in words(pictures["scaling"]), f"scaling.svg marks {cache}")


def test_cases(folder):
    """An exact structure is shown beside filters at each of their rates, and nowhere else."""
    exact = [row("sorted-array", "has-0", keys, RATES[1], **peer(64)) for keys in (10**4, 10**5)]
    page, _ = report(folder, exact + [row("bloom", "has-0", 10**4, RATES[1]),
                                      row("bloom", "has-0", 10**5, RATES[0]),
                                      withheld("cannot", "bloom", "has-0", 10**5, RATES[2])])
    shown = re.findall(r"^### ([0-9 ]+) keys at ([0-9.]+) %", page, re.MULTILINE)
    expect(shown == [("10 000", "0.391"), ("100 000", "1"), ("100 000", "0.00153")],
           f"cases of filters only: {shown}")
    page, _ = report(folder, exact)
    expect(page.count("### ") == 2, "without filters: the cases that there are")


def diamonds(svg):
    return svg.split(b"</defs>")[1].count(b"#gpPt11'")


def test_integers(folder):
    """What takes only small integers has its space for nothing: it must not look like a filter."""
    told = "Structures for small integers, tiny and other-tiny, get integers below 8 n for n keys"
    legend = "integers below 8 n only"
    rows = mixture()
    for name, cells in (("tiny", {}), ("other-tiny", {"source": "peer"})):
        rows += [row(name, workload, integers=1, **{**peer(8), "source": "tamis", **cells})
                 for workload in WORKLOADS]
    page, pictures = report(folder, rows)
    expect(told in " ".join(page.split()), "the page tells whom")
    expect(legend in words(pictures["lookups"]), "lookups.svg has them in its legend")
    expect(diamonds(pictures["lookups"]) == 3, "lookups.svg: two diamonds, and the legend's")
    expect_inside("lookups", pictures["lookups"])
    old = [name for name in COLUMNS if name != "integers"]
    page, pictures = report(folder, rows, target="old", columns=old)
    expect("small integers" not in page and legend not in words(pictures["lookups"]),
           "an older table knows of none")
    expect(diamonds(pictures["lookups"]) == 0, "and has no diamond")
    for said in ("tamis mixes them itself, libbloom and RocksDB hash the eight bytes",
                 "Memory from malloc() gets huge pages too"):
        expect(said in " ".join(page.split()), f"the page says {said}")


def test_small_figures(folder):
    for ns, said in ((0.02214, "0.0221"), (0.5, "0.500"), (0.9996, "1.00"), (2, "2.00"),
                     (12.34, "12.3"), (123.4, "123"), (0, "0.00")):
        page, _ = report(folder, [row("sieve", ns=ns, low=ns, high=ns)], target="small")
        cell = cells_of(page, "10 000 000 keys at 0.391 % (8 bits)", "sieve")[4]
        expect(cell.split()[0] == said, f"{ns} ns is shown as {said}, not {cell}")


def test_locale(folder):
    path = write(os.path.join(folder, "speed.csv"), mixture())
    for name in ("C", "C.UTF-8", "nowhere"):
        done = run(folder, path, "-o", name, env=dict(os.environ, LC_ALL=name))
        expect(done.returncode == 0, f"LC_ALL={name}: {done.stderr}")
    expect(read_output(os.path.join(folder, "C")) == read_output(os.path.join(folder, "C.UTF-8")),
           "the same in each locale")


def test_same(folder):
    first, again = report(folder, mixture()), report(folder, mixture(), target="other")
    expect(first == again, "the same rows give the same bytes")


def test_few(folder):
    _, pictures = report(folder, [row("lone", workload) for workload in WORKLOADS], target="lone")
    expect(set(pictures) == PICTURES - {"summary"}, "one subject is enough, but for the summary")
    expect("lone" in words(pictures["lookups"]), "and is named")
    # The pictures of the run before must not stay beside a page that knows nothing of them.
    page, pictures = report(folder, [row("lone", "build")], target="lone")
    expect(set(pictures) == {"space", "build"}, f"old pictures are gone: {sorted(pictures)}")
    expect("lookups.svg" not in page, "and not shown")
    page, pictures = report(folder, [withheld("cannot", "lone")], target="none")
    expect("cannot" in page and "has-0" not in page, "nothing but what cannot be done")
    _, pictures = report(folder, [row("wordy" * 30, w) for w in WORKLOADS], target="wordy")
    for name, svg in pictures.items():
        expect_inside(name, svg)


def crowd():
    rows = []
    for i in range(30):
        cells = {} if i % 2 else peer(64 + i) if i % 6 == 0 else peer()
        bits = cells.get("bits_per_key", 9 + i % 7 * 0.4)
        for keys in (10**4, 10**6, 10**7):
            for fpr in RATES:
                rows += [row(f"subject-{i}", workload, keys, fpr, 1 + 0.05 * (i % 11),
                             **{**cells, "bits_per_key": bits}) for workload in WORKLOADS]
    return rows


def overlaps(svg, only):
    """Pairs of names that share more than a sliver."""
    boxes = [(text, x, y - 0.35 * size, x + wide, y + 0.35 * size)
             for text, size, x, y, wide in texts(svg) if only.match(text)]
    return [(a[0], b[0]) for i, a in enumerate(boxes) for b in boxes[:i]
            if min(a[3], b[3]) - max(a[1], b[1]) > 2 and min(a[4], b[4]) - max(a[2], b[2]) > 2]


def test_many(folder):
    _, pictures = report(folder, crowd(), target="crowd")
    for name, svg in pictures.items():
        expect(len(svg) < LARGEST, f"{name}.svg takes {len(svg)} bytes")
        expect(not overlaps(svg, re.compile("subject-")), f"{name}.svg: no name over another: "
               f"{overlaps(svg, re.compile('subject-'))[:3]}")
        expect_inside(name, svg)
    for name in ("lookups", "scaling", "build", "threads"):
        shown = {text for text in words(pictures[name]) if text.startswith("subject-")}
        expect(len(shown) == 30, f"{name}.svg names all 30, not {len(shown)}")


# ---- What is wrong ------------------------------------------------------------------------------


def test_names(folder):
    rows = [row(name, workload, machine="<i>|`x`", caches="L1d much, L2 1.2.3M, , L3 4M")
            for name in HOSTILE for workload in WORKLOADS]
    page, pictures = report(folder, rows, target="names")
    for name, svg in pictures.items():
        shown = words(svg)
        for hostile in HOSTILE:
            expect(hostile in shown, f"{name}.svg shows {hostile} as it is")
    expect(not re.search(r"<[bi]>", page), "the page has no markup of strangers")
    for shown in ("\\`touch harm\\`", "a\\|b", "\\!\\[x\\](y)", "\\*篩\\* é"):
        expect(f"| {shown} |" in page, f"the page has {shown}")
    expect(not any("harm" == name for name in os.listdir(folder)), "nothing was executed")


def test_commands(folder):
    columns = ("task tool tool_version lines status seconds low high peak_mib ratio runs machine "
               "cores compiler commit date").split()
    good = dict.fromkeys(columns, "x")
    good.update(task="find <lines>", tool="grep -Fxf | cat", lines=1e6, status="ok", seconds=4,
                low=3.9, high=4.2, peak_mib=900, ratio=4.5, runs=5)
    cannot = dict(good, tool="sieve", status="cannot",
                  **dict.fromkeys(("seconds", "low", "high", "peak_mib", "ratio"), ""))
    path = write(os.path.join(folder, "commands.csv"), [good, cannot], columns)
    page, _ = report(folder, mixture(), path, target="commands")
    expect("find &lt;lines&gt;, 1 000 000 lines" in page, "the task")
    expect("| grep -Fxf \\| cat | x | 4.00 ±5 % | 4.50 | 900 |" in page, "a tool")
    expect("| sieve | x | cannot | – | – |" in page, "a tool that cannot")
    write(path, [dict(good, seconds="long")], columns)
    expect_refusal(run(folder, "speed.csv", path, "-o", "bad"), folder, "a bad table of commands")


def test_by_hand(folder):
    """Long runs that stand beside the table are the end of the page, without links."""
    with open(os.path.join(folder, "billion.md"), "w", encoding="utf-8") as file:
        file.write("# A billion keys\n\nOn the machine of [one.csv](one.csv).\n")
    page, _ = report(folder, mixture())
    expect(page.endswith("\n\n## A billion keys\n\nOn the machine of `one.csv`.\n"), "long runs end it")
    os.remove(os.path.join(folder, "billion.md"))
    page, _ = report(folder, mixture())
    expect("billion" not in page, "and without them there is no such section")


def expect_refusal(done, folder, what):
    expect(done.returncode != 0, f"{what}: refused")
    expect(done.stderr.startswith("report: ") and done.stderr.count("\n") == 1,
           f"{what}: one line, not {done.stderr!r}")
    expect(not os.path.exists(os.path.join(folder, "bad")), f"{what}: nothing is written")


def test_refusals(folder):
    good = write(os.path.join(folder, "good.csv"), [row("sieve"), row("drum")])
    with open(good, "rb") as file:
        wrong = hostile_files(file.read())
    for what, content in list(wrong.items())[::1 if os.environ.get("TAMIS_LONG") else 4]:
        with open(os.path.join(folder, "wrong.csv"), "wb") as file:
            file.write(content)
        expect_refusal(run(folder, "wrong.csv", "-o", "bad"), folder, what)
    expect_refusal(run(folder, "nothing.csv", "-o", "bad"), folder, "no file")
    expect_refusal(run(folder, "good.csv", "-o", "good.csv"), folder, "a file where the folder is")
    expect(run(folder, "good.csv").returncode == 2, "no folder given: usage")


def test_gnuplot(folder):
    tools = os.path.join(folder, "tools")
    os.mkdir(tools)
    bare = dict(os.environ, PATH=tools)
    write(os.path.join(folder, "good.csv"), [row("sieve")])
    done = run(folder, "good.csv", "-o", "bad", env=bare)
    expect_refusal(done, folder, "no gnuplot")
    expect("gnuplot is missing" in done.stderr, f"says what is missing: {done.stderr}")
    fake = os.path.join(tools, "gnuplot")
    draw = f"{shutil.which('gnuplot')} \"$@\""
    warn = f"[ $LC_ALL = C.UTF-8 ] && {draw}; echo warning; echo warning >&2"
    half = 'echo "<svg>" >"${2%.gnuplot}.svg"'
    for what, script, good in (("fails", f"{draw}; exit 1", False), ("draws nothing", ":", False),
                               ("draws half", half, False), ("warns", warn, True)):
        with open(fake, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\nPATH={os.environ['PATH']}\n{script}\n")
        os.chmod(fake, 0o755)
        done = run(folder, "good.csv", "-o", "warned" if good else "bad", env=bare)
        if good:
            expect(done.returncode == 0, f"gnuplot {what}: {done.stderr}")
        else:
            expect_refusal(done, folder, f"gnuplot {what}")
            expect("gnuplot failed" in done.stderr, f"gnuplot {what}: says so: {done.stderr}")


def test_committed(folder):
    """docs/performance.md is what the results in the repository give, and its limits are drawn."""
    root = os.path.join(os.path.dirname(os.path.abspath(REPORT)), "..")
    results = [os.path.join(root, "bench", "results", name)
               for name in ("intel-xeon.csv", "intel-xeon-commands.csv")]
    done = run(folder, *results, "-o", "committed")
    expect(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
    page, pictures = read_output(os.path.join(folder, "committed"))
    with open(os.path.join(root, "docs", "performance.md"), encoding="utf-8") as file:
        expect(page == file.read(), "docs/performance.md is not what bench/report makes")
    # The two limits of the first panel, that of the second, and the one of the legend.
    expect(pictures["lookups"].count(b"stroke-dasharray") == 4, "a limit is not drawn")


def main():
    if not shutil.which("gnuplot"):
        print("no gnuplot")
        return 77
    tests = [test_page, test_without, test_once, test_names, test_by_hand, test_refusals, test_committed]
    if os.environ.get("TAMIS_LONG"):
        tests += [test_pictures, test_cases, test_integers, test_small_figures, test_locale, test_same,
                  test_few, test_many, test_commands, test_gnuplot]
    with tempfile.TemporaryDirectory() as folder:
        for test in tests:
            test(folder)
    return verdict("bench/report")


if __name__ == "__main__":
    sys.exit(main())
