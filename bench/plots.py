"""The pictures of one run. Colours alone tell nothing apart: markers, dashes and names do too."""
import math
import os
import re

from canvas import (FONT, GREY, INK, LETTER, LINE, PALE, WIDTH, Axis, Picture, number, padded,
                    place_tags, render, spread_out)
from measured import keys_text, median

# Okabe and Ito's colours without yellow, which is too pale on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = (7, 5, 9, 11, 13, 15)
HOLLOW = {7: 6, 5: 4, 9: 8, 11: 10, 13: 12, 15: 14}
DASHES = ("1", "2", "4", "5", "3")
DIAMOND = 12
OURS, PEERS, LIMIT = "#0072B2", "#D55E00", "#000000"
LONGEST_NAME = 28


def short(name):
    return name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME - 1] + "…"


def count_text(keys):
    return f"{keys / 1e6:g} million" if keys >= 1e6 else f"{keys:,.0f}"


def per_cent(rate):
    return f"{100 * rate:.2g} %"


# ---- Styles -------------------------------------------------------------------------------------


class Style:
    """Ours have a colour, a marker and a dash each; peers are grey, and told by their labels."""

    def __init__(self, run, subject):
        self.ours = subject in run.ours
        rank = (run.ours if self.ours else run.subjects).index(subject)
        self.colour = COLOURS[rank % len(COLOURS)] if self.ours else GREY
        self.dash = DASHES[rank // len(COLOURS) % len(DASHES)] if self.ours else "1"
        marker = MARKERS[rank % len(MARKERS)]
        self.marker = marker if self.ours else HOLLOW[marker]
        self.width = 2 if self.ours else 1

    def point(self):
        return f"pt {self.marker} ps 0.6 lc rgb '{self.colour}'"

    def series(self, block):
        return (f"{block} with linespoints dt {self.dash} lw {self.width} {self.point()} notitle")


def limit_line(block):
    return f"{block} with lines lc rgb '{LIMIT}' lw 2 dt (6,4) notitle"


def dot_style(run, subject):
    colour, marker = (OURS, 7) if subject in run.ours else (PEERS, 5)
    if subject in run.integers:
        return colour, DIAMOND
    return colour, HOLLOW[marker] if subject in run.exact else marker


# ---- Lines with their names at the right end ----------------------------------------------------


class Lines:
    """Series over a common x axis, each named in the right margin."""

    def __init__(self, run, title, better):
        self.run, self.title, self.better = run, title, better
        self.series = {}
        self.limit = []
        self.limit_name = ""
        self.marks = []

    def add(self, subject, points):
        if points:
            self.series[subject] = points

    def drop_far(self):
        """One that takes thrice what it must would press the others together."""
        def is_far(points):
            return all(bits > 3 * -math.log2(rate) for rate, bits in points if rate < 1)
        far = [name for name, points in self.series.items() if is_far(points)]
        if len(far) < len(self.series):
            self.series = {name: p for name, p in self.series.items() if name not in far}
            self.better += f" Too big to show: {', '.join(map(short, far))}." if far else ""

    def all_points(self):
        return [point for points in self.series.values() for point in points] + self.limit

    def size(self):
        labels = len(self.series) + bool(self.limit)
        names = [short(name) for name in self.series] + [self.limit_name]
        right = WIDTH - 46 - LETTER * max(len(name) for name in names)
        return int(right), max(500, 130 + LINE * labels)

    def draw(self, x_axis, y_axis):
        """Both make an axis from the values on it and its first and last pixel."""
        points = self.all_points()
        right, height = self.size()
        picture = Picture(self.title, self.better, height)
        x = x_axis([x for x, _ in points], 70, right)
        y = y_axis([y for _, y in points], height - 62, 62)
        plots = [Style(self.run, name).series(picture.block(series))
                 for name, series in sorted(self.series.items(), key=self.ours_last)]
        if self.limit:
            plots.append(limit_line(picture.block(self.limit)))
        self.draw_marks(picture, x, y)
        self.draw_names(picture, x, y)
        picture.frame(x, y, plots)
        return picture

    def ours_last(self, item):
        return item[0] in self.run.ours, -self.run.subjects.index(item[0])

    def draw_names(self, picture, x, y):
        ends = [(short(name), points[-1], Style(self.run, name))
                for name, points in self.series.items()]
        if self.limit:
            ends.append((self.limit_name, self.limit[-1], None))
        wanted = [y.pixel(end[1]) for _, end, _ in ends]
        places = spread_out(wanted, LINE, y.end + 4, y.start - 4)
        for (name, end, style), at, there in zip(ends, wanted, places):
            colour = style.colour if style else LIMIT
            picture.segment(x.pixel(end[0]) + 5, at, x.end + 8, at, PALE, 1, "3")
            picture.segment(x.end + 8, at, x.end + (24 if style else 34), there, colour, 0.8)
            bold = style is None or style.ours
            picture.text(name, x.end + 38, there, INK if bold else "#555555")
            if style:
                picture.marker(x.end + 29, there, style.point())

    def draw_marks(self, picture, x, y):
        for value, text in self.marks:
            if x.low < value < x.high:
                at = x.pixel(value)
                picture.segment(at, y.start, at, y.end, "#999999", 1, "(2,4)")
                picture.text(text, at + 4, y.end + 8, "#666666", FONT - 2)


def log_axis(name, text=number, marks=()):
    def make(values, start, end):
        return Axis(name, *padded(values, 0.06), start, end, True, text, marks)
    return make


# ---- The pictures -------------------------------------------------------------------------------


def draw_space(run):
    """Bits per key against the measured rate."""
    keys = run.main_size(lambda name, keys: name not in run.exact and
                         any(run.made(name, keys, fpr) for fpr in run.rates))
    lines = Lines(run, "Space of each filter",
                  f"Lower is better. Bits per key at the rate measured, {keys_text(keys)} keys.")
    for name in run.subjects:
        made = [run.made(name, keys, fpr) for fpr in run.rates if name not in run.exact]
        lines.add(name, [(row["measured_fpr"], row["bits_per_key"])
                         for row in made if row and row["measured_fpr"]])
    measured = set(lines.series)
    lines.drop_far()
    if not lines.series:
        return None
    rates = [x for x, _ in lines.all_points()]
    lines.limit = [(rate, -math.log2(rate)) for rate in (max(rates), min(rates)) if rate < 1]
    lines.limit_name = "information limit"

    def x_axis(values, start, end):
        low, high = padded(values, 0.04)
        return Axis("false positive rate, measured", high, low, start, end, True, per_cent)

    def y_axis(values, start, end):
        return Axis("bits per key", min(values) * 0.9, max(values) * 1.04, start, end, False)

    return lines.draw(x_axis, y_axis).without(set(run.subjects) - run.exact, measured)


# What a reader chooses among, and what others offer; after the colon, what its kind is for.
SUMMARY = {"blocked": "blocked: add", "bloom": "bloom: add", "fuse": "fuse: static",
           "ribbon": "ribbon: static", "cuckoo": "cuckoo: add, remove", "cqf": "cqf: count, resize",
           "morton": "morton: add, remove", "aleph": "aleph: grow",
           "rocksdb-bloom": "RocksDB Bloom", "rocksdb-ribbon": "RocksDB Ribbon",
           "libbloom-bloom": "libbloom", "roaring-bitmap": "CRoaring: integers, exact"}


def draw_summary(run):
    """Time against space for the kinds that are used most, one lookup after the other."""
    fpr = run.rate_nearest(2 ** -8)
    keys = run.main_size(lambda name, keys: run.timed(name, "has-one", keys, fpr))
    found = {name: run.timed(name, "has-one", keys, fpr) for name in SUMMARY}
    rows = {name: row for name, row in found.items() if row and row["bits_per_key"]}
    if len(rows) < 2:
        return None
    least = -math.log2(fpr)
    picture = Picture(f"One lookup among {count_text(keys)} keys",
                      "Lower left is better. Absent keys, one per call, "
                      f"false positive rate {per_cent(fpr)}.", 460)
    sizes = [least, *(row["bits_per_key"] for row in rows.values())]
    room = 0.1 * (max(sizes) - min(sizes)) + 0.3
    x = Axis("bits per key", min(sizes) - room, max(sizes) + 2 * room, 70, WIDTH - 20, False)
    y = log_axis("ns per lookup")([row["ns"] for row in rows.values()] + limits_of(rows), 398, 84)
    draw_legend(picture, run, rows)
    draw_points(picture, run, rows, x, y, least, SUMMARY.get)
    return picture.without(SUMMARY, rows)


def draw_lookups(run):
    """Time against space, one point per subject; what is far too big goes to a panel of its own."""
    fpr = run.rate_nearest(2 ** -8)
    keys = run.main_size(lambda name, keys: run.timed(name, "has-0", keys, fpr))
    found = {name: run.timed(name, "has-0", keys, fpr) for name in run.subjects}
    rows = {name: row for name, row in found.items() if row and row["bits_per_key"]}
    if not rows:
        return None
    least = -math.log2(fpr)
    near = {name: row for name, row in rows.items() if row["bits_per_key"] <= 2.5 * least}
    far = {name: row for name, row in rows.items() if name not in near}
    times = [row["ns"] for row in rows.values()] + limits_of(rows)
    picture = Picture(f"Time and space of a lookup among {keys_text(keys)} keys",
                      "Lower left is better. Absent keys, given in one call, "
                      f"false positive rate {per_cent(fpr)} ({least:.3g} bits).", 580)
    bottom, upper = 580 - 62, 84
    split = WIDTH - 250 if far and near else WIDTH - 20
    y = log_axis("ns per lookup")(times, bottom, upper)
    draw_legend(picture, run, rows)
    if near:
        highest = max([least, *(row["bits_per_key"] for row in near.values())])
        lowest = min([least, *(row["bits_per_key"] for row in near.values())])
        room = 0.1 * (highest - lowest) + 0.3
        x = Axis("bits per key", max(0, lowest - room), highest + 2 * room, 70, split, False)
        draw_points(picture, run, near, x, y, least)
    if far:
        start = split + 20 if near else 70
        beyond = [row["bits_per_key"] for row in far.values()]
        low, high = padded([2.5 * least, *beyond] if near else beyond, 0.15)
        x = Axis("bits per key, far more", low, high, start, WIDTH - 20, True)
        if near:
            y.marks, y.name, y.text = y.ticks(), "", lambda _: " "
        draw_points(picture, run, far, x, y, None)
    return picture.without(run.subjects, rows)


def limits_of(rows):
    return [row["limit_ns"] for row in rows.values() if row["limit_ns"]]


def draw_legend(picture, run, rows):
    x = 20
    shown = {dot_style(run, name) for name in rows}
    for text, colour, marker in (("tamis", OURS, 7), ("tamis, exact", OURS, HOLLOW[7]),
                                 ("others", PEERS, 5), ("others, exact", PEERS, HOLLOW[5]),
                                 ("integers below 8 n only", INK, DIAMOND)):
        if (colour, marker) in shown or (marker == DIAMOND and run.integers.intersection(rows)):
            picture.marker(x, 66, f"pt {marker} ps 0.8 lc rgb '{colour}'")
            picture.text(text, x + 11, 66)
            x += LETTER * len(text) + 34
    picture.segment(x, 66, x + 26, 66, LIMIT, 2, "(6,4)")
    picture.text("limits", x + 32, 66)


def within(axis):
    """Both ends, a hair inside: a line between two points that rounding put outside is not drawn."""
    return axis.low * 1.001, axis.high * 0.999


def draw_points(picture, run, rows, x, y, least, label_of=short):
    """The limit is a line in each panel: bigger tables have a higher one."""
    plots, walls = [], []
    limits = limits_of(rows)
    if limits:
        at = y.pixel(median(limits))
        plots.append(limit_line(picture.block([(v, median(limits)) for v in within(x)])))
        walls.append((x.start, at - 2, x.end, at + 2))
        picture.text("memory limit", x.end - 2, at + 11, size=FONT - 2, align="right")
        walls.append((x.end - 90, at + 3, x.end, at + 19))
    if least:
        at = x.pixel(least)
        plots.append(limit_line(picture.block([(least, v) for v in within(y)])))
        walls.append((at - 2, y.end, at + 2, y.start))
        picture.text(f"information limit, {least:.3g} bits", at + 6, y.end + 6, size=FONT - 2)
        walls.append((at, y.end - 6, at + 185, y.end + 14))
    for name, row in rows.items():
        colour, marker = dot_style(run, name)
        block = picture.block([(row["bits_per_key"], row["ns"])])
        plots.append(f"{block} with points pt {marker} ps 0.9 lc rgb '{colour}' notitle")
    draw_tags(picture, run, rows, x, y, walls, label_of)
    picture.frame(x, y, plots)


def draw_tags(picture, run, rows, x, y, walls, label_of):
    points = [(x.pixel(row["bits_per_key"]), y.pixel(row["ns"])) for row in rows.values()]
    frame = (x.start + 3, y.end + 3, x.end, y.start - 3)
    tags = place_tags(points, [label_of(name) for name in rows], walls, frame)
    for name, point, tag in zip(rows, points, tags):
        if tag.distance > 14:
            picture.segment(*point, *tag.end, GREY, 0.7)
        picture.text(label_of(name), (tag.box[0] + tag.box[2]) / 2, (tag.box[1] + tag.box[3]) / 2,
                     dot_style(run, name)[0], align="center")


# ---- One subject per line -----------------------------------------------------------------------


class Chart:
    """Subjects below one another, values to the right."""

    def __init__(self, run, title, better, names):
        self.run = run
        self.names = names
        self.left = 24 + LETTER * max(len(short(name)) for name in names)
        self.bottom = 76 + 20 * len(names)
        self.picture = Picture(title, better, int(self.bottom) + 62)
        self.y = Axis("", len(names) - 0.4, -0.6, self.bottom, 62, False, None)

    def draw(self, axis_name, values, plots_of, text_of):
        """text_of() gives a text and the value beside which it stands, or None: at the right."""
        texts = [text_of(name) for name in self.names]
        right = WIDTH - 20 - LETTER * max(len(text) for text, _ in texts)
        x = Axis(axis_name, *padded(values, 0.04), self.left, right)
        for i, (name, (text, at)) in enumerate(zip(self.names, texts)):
            middle = self.y.pixel(i)
            ours = name in self.run.ours
            self.picture.text(short(name), self.left - 10, middle, OURS if ours else PEERS,
                              align="right")
            beside = x.pixel(at) if at else right
            self.picture.text(text, beside + 10, middle, "#444444", FONT - 1)
        self.picture.frame(x, self.y, plots_of(x), grid=False)
        return self.picture

    def dots(self, subject, i, value, filled=True):
        colour, marker = (OURS, 7) if subject in self.run.ours else (PEERS, 5)
        marker = marker if filled else HOLLOW[marker]
        block = self.picture.block([(value, i)])
        return f"{block} with points pt {marker} ps 0.9 lc rgb '{colour}' notitle"

    def bars(self, spans, colour=GREY, width=2):
        """Horizontal lines from one value to another."""
        block = self.picture.block([(low, i, high - low, 0) for i, low, high in spans])
        return f"{block} with vectors nohead lw {width} lc rgb '{colour}' notitle"

    def strokes(self, values):
        """A short upright line at each value: the limit in a table of that subject's size."""
        block = self.picture.block([(value, i - 0.38, 0, 0.76) for i, value in values])
        return f"{block} with vectors nohead lw 2.5 lc rgb '{LIMIT}' notitle"


def draw_build(run):
    """Time to build, at once where that can be done."""
    fpr = run.rate_nearest(2 ** -8)

    def built(name, keys):
        return run.timed(name, "build", keys, fpr) or run.timed(name, "add-many", keys, fpr)

    keys = run.main_size(built)
    rows = {name: built(name, keys) for name in run.subjects if built(name, keys)}
    if not rows:
        return None
    names = sorted(rows, key=lambda name: (rows[name]["ns"], name))
    chart = Chart(run, f"Building a set of {keys_text(keys)} keys",
                  f"Left is better. Rate {per_cent(fpr)}. The black stroke is the limit: "
                  "one line of memory written per key.", names)

    def plots_of(x):
        stems = [(i, x.low, rows[name]["ns"]) for i, name in enumerate(names)]
        spans = [(i, max(rows[name]["low"] or x.low, x.low), rows[name]["high"])
                 for i, name in enumerate(names)]
        strokes = [(i, rows[name]["limit_ns"]) for i, name in enumerate(names)
                   if rows[name]["limit_ns"]]
        plots = [chart.bars(stems, PALE, 5), chart.bars(spans)]
        plots += [chart.strokes(strokes)] if strokes else []
        return plots + [chart.dots(name, i, rows[name]["ns"]) for i, name in enumerate(names)]

    def text_of(name):
        way = "" if rows[name]["workload"] == "build" else ", added in turn"
        return number(rows[name]["ns"]) + way, max(rows[name]["high"], rows[name]["limit_ns"] or 0)

    values = [value for row in rows.values() for value in (row["ns"], row["high"])]
    return chart.draw("ns per key, to build", values + limits_of(rows), plots_of,
                      text_of).without(run.subjects, rows)


def thread_counts(run):
    found = [re.fullmatch(r"threads-([1-9][0-9]{0,4})", name) for name in run.workloads]
    return sorted(int(match[1]) for match in found if match)


def draw_threads(run):
    """Lookups per second with few and with many threads."""
    counts = thread_counts(run)
    if not counts:
        return None
    fpr = run.rate_nearest(2 ** -8)
    few, many = counts[0], counts[-1]

    def rows_of(name, keys):
        rows = [run.timed(name, f"threads-{count}", keys, fpr) for count in (few, many)]
        return rows if all(rows) else None

    keys = run.main_size(rows_of)
    rows = {name: rows_of(name, keys) for name in run.subjects if rows_of(name, keys)}
    if not rows:
        return None
    speed = {name: [1000 / row["ns"] for row in pair] for name, pair in rows.items()}
    limit = {name: 1000 / pair[1]["limit_ns"] for name, pair in rows.items() if pair[1]["limit_ns"]}
    names = sorted(rows, key=lambda name: (-speed[name][1], name))
    chart = Chart(run, f"Lookups per second with {few} and {many} threads, {keys_text(keys)} keys",
                  f"Right is better. Hollow: {few}, filled: {many}, × the gain. "
                  f"The black stroke is the limit with {many}.", names)

    def plots_of(_):
        spans = [(i, *sorted(speed[name])) for i, name in enumerate(names)]
        strokes = [(i, limit[name]) for i, name in enumerate(names) if name in limit]
        plots = [chart.bars(spans)] + ([chart.strokes(strokes)] if strokes else [])
        for i, name in enumerate(names):
            plots.append(chart.dots(name, i, speed[name][0], filled=False))
            plots.append(chart.dots(name, i, speed[name][1]))
        return plots

    def text_of(name):
        gain = speed[name][1] / speed[name][0]
        return f"× {gain:.2f}", None

    values = [value for pair in speed.values() for value in pair] + list(limit.values())
    return chart.draw("million lookups per second", values, plots_of,
                      text_of).without(run.subjects, rows)


# ---- Growth -------------------------------------------------------------------------------------


def bytes_of(text):
    """32K, 1M or 1.5 MiB, as a number."""
    match = re.fullmatch(r"([0-9.]+)\s*([KMG]?)(i?B)?", text.strip(), re.IGNORECASE)
    try:
        return float(match[1]) * 1024 ** " KMG".index(match[2].upper() or " ") if match else None
    except ValueError:
        return None


def caches_of(text):
    """Name and size of each cache that the machine told of."""
    for part in text.split(","):
        name, _, size = part.strip().partition(" ")
        if name and bytes_of(size):
            yield f"{name} {size.strip()}", bytes_of(size)


def draw_scaling(run):
    """Lookups of many keys in a call as the number of keys grows."""
    return draw_multiples(run, "has-0", "Lookups in one call as the set grows")


def draw_lone(run):
    """The same, one key a call: calls that do not wait for each other."""
    return draw_multiples(run, "has-one", "Lookups one at a time as the set grows")


def draw_multiples(run, workload, title):
    """In multiples of P: what is flat is bound by memory as much in a large filter as in a small."""
    fpr = run.rate_nearest(2 ** -8)
    lines = Lines(run, title,
                  f"Lower is better. Absent keys, rate {per_cent(fpr)}. P is reading a random line. "
                  "Upright: filters as big as a cache.")
    bits = []
    for name in run.subjects:
        rows = [row for row in (run.timed(name, workload, keys, fpr) for keys in run.sizes)
                if row and row["read_prefetched_huge"]]
        lines.add(name, [(row["keys"], row["ns"] / row["read_prefetched_huge"]) for row in rows])
        bits += [row["bits_per_key"] for row in rows if name not in run.exact]
    if not lines.series:
        return None
    lines.limit = [(keys, 1) for keys in (run.sizes[0], run.sizes[-1])]
    lines.limit_name = "P"
    bits = [b for b in bits if b]
    if bits:
        lines.marks = [(8 * size / median(bits), name)
                       for name, size in caches_of(run.place["caches"])]
    picture = lines.draw(log_axis("keys", keys_text, run.sizes), log_axis("times P"))
    return picture.without(run.subjects, lines.series)


def draw_batch(run):
    """Time of a lookup as more keys are given in one call; our own kinds."""
    found = [re.fullmatch(r"has-batch-([1-9][0-9]{0,8})", name) for name in run.workloads]
    batches = sorted(int(match[1]) for match in found if match)
    if not batches:
        return None
    fpr = run.rate_nearest(2 ** -8)

    def rows_of(name, keys):
        rows = {n: run.timed(name, f"has-batch-{n}", keys, fpr) for n in batches}
        return {n: row for n, row in rows.items() if row} if name in run.ours else {}

    keys = run.main_size(rows_of)
    lines = Lines(run, f"Time of a lookup by keys per call, {keys_text(keys)} keys",
                  f"Lower is better. Absent keys, rate {per_cent(fpr)}, kinds of tamis.")
    limits = []
    for name in run.ours:
        rows = rows_of(name, keys)
        lines.add(name, [(n, row["ns"]) for n, row in rows.items()])
        limits += [] if name in run.exact else limits_of(rows)
    if not lines.series:
        return None
    if limits:
        lines.limit = [(n, median(limits)) for n in (batches[0], batches[-1])]
        lines.limit_name = "memory, of a filter"
    picture = lines.draw(log_axis("keys per call", "{:.0f}".format, batches),
                         log_axis("ns per lookup"))
    return picture.without(run.ours, lines.series)


PICTURES = {
    "summary": draw_summary,
    "lookups": draw_lookups,
    "space": draw_space,
    "scaling": draw_scaling,
    "lone": draw_lone,
    "batch": draw_batch,
    "build": draw_build,
    "threads": draw_threads,
}


def draw_all(run, folder):
    """Writes folder/NAME.svg for each picture that the rows allow; gives the pictures by name."""
    drawn = {}
    for name, draw in PICTURES.items():
        picture = draw(run)
        if picture:
            render(picture, os.path.join(folder, name))
            drawn[name] = picture
    return drawn
