"""Axes, labels and files: what gnuplot is told, and what it is not trusted with.

Places are worked out here, in pixels from the upper left corner, because gnuplot does not keep
labels apart: every axis has a fixed frame, so that a number has a known place. Names reach gnuplot
only through quoted(), never as part of a command.
"""
import math
import re
import subprocess
from xml.sax.saxutils import escape

from measured import Unreadable

WIDTH = 800
FONT = 14
LETTER = 0.6 * FONT  # the widest usual sans-serif font
LINE = FONT + 3
GREY, INK, PALE = "#808080", "#222222", "#e4e4e4"


def quoted(text):
    """A string that gnuplot takes literally: nothing but the quote is special between quotes."""
    return "'" + text.replace("'", "''") + "'"


def number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


# ---- Axes and pictures --------------------------------------------------------------------------


def steps(first, last, multiples):
    """Numbers 10^i times each multiple, within the range."""
    low, high = sorted((first, last))
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [m * 10.0 ** e for e in exponents for m in multiples
            if low * 0.999 <= m * 10.0 ** e <= high * 1.001]


class Axis:
    """Numbers from the left to the right, or from the bottom to the top; they may fall."""

    def __init__(self, name, low, high, start, end, log=True, text=number, marks=()):
        self.name, self.low, self.high, self.log, self.text = name, low, high, log, text
        self.start, self.end = start, end
        self.marks = marks

    def pixel(self, value):
        at, low, high = (value, self.low, self.high)
        if self.log:
            at, low, high = math.log(at), math.log(low), math.log(high)
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def ticks(self):
        """The given marks, or else as many round numbers as have room."""
        if self.marks:
            return self.marks
        if not self.log:
            step = next(s for s in steps(1e-3, 1e9, (1, 2, 5)) if (self.high - self.low) / s <= 8)
            first = math.ceil(self.low / step)
            return [step * i for i in range(first, math.floor(self.high / step) + 1)]
        choices = [steps(self.low, self.high, multiples)
                   for multiples in ((1, 2, 3, 4, 5, 6, 8), (1, 2, 5), (1, 3), (1,))]
        return next((found for found in choices if self.fits(found)), choices[-1])

    def fits(self, ticks):
        at = sorted(self.pixel(tick) for tick in ticks)
        room = LETTER * max([len(self.text(tick)) for tick in ticks], default=0) + LETTER
        return all(b - a >= room for a, b in zip(at, at[1:]))

    def commands(self, letter):
        if not self.text:
            return [f"unset log {letter}", f"set {letter}range [{self.low:.9g}:{self.high:.9g}]",
                    f"unset {letter}tics", f"unset {letter}label"]
        # The texts of ticks are formats.
        texts = [(self.text(tick).replace("%", "%%"), tick) for tick in self.ticks()]
        marks = ", ".join(f"{quoted(text)} {tick:.9g}" for text, tick in texts)
        nearer = "offset 0,0.5" if letter == "x" else "offset 0.8,0"
        return [f"set log {letter}" if self.log else f"unset log {letter}",
                f"set {letter}range [{self.low:.9g}:{self.high:.9g}]",
                f"set {letter}tics out nomirror scale 0.5 ({marks})",
                f"set {letter}label {quoted(self.name)} {nearer} tc rgb '{INK}'"]


def padded(values, share=0.08):
    """The range of a logarithmic axis that leaves some room around the values."""
    low, high = min(values), max(values)
    room = max((high / low) ** share, 1.15)
    return low / room, high * room


class Picture:
    """One SVG file: a title, frames with series in them, labels anywhere. `missing` names those
    that belong in it and have no figure."""

    def __init__(self, title, better, height):
        self.title, self.better, self.height = title, better, height
        self.lines = []
        self.data = []
        self.missing = []
        self.text(title, 12, 22, size=FONT + 4)
        self.text(better, 12, 43, colour="#555555")

    def without(self, wanted, shown):
        self.missing = sorted(name for name in wanted if name not in shown)
        return self

    def place(self, x, y):
        return f"screen {x / WIDTH:.5f},{1 - y / self.height:.5f}"

    def text(self, text, x, y, colour=INK, size=FONT, align="left"):
        self.lines.append(f"set label {quoted(text)} at {self.place(x, y)} {align} front "
                          f"font 'sans-serif,{size}' tc rgb '{colour}'")

    def marker(self, x, y, style):
        self.lines.append(f"set label '' at {self.place(x, y)} front point {style}")

    def segment(self, x0, y0, x1, y1, colour=GREY, width=1.0, dash="1"):
        self.lines.append(f"set arrow from {self.place(x0, y0)} to {self.place(x1, y1)} nohead "
                          f"front lc rgb '{colour}' lw {width} dt {dash}")

    def block(self, points):
        name = f"$d{len(self.data)}"
        rows = [" ".join(f"{value:.6g}" for value in point) for point in points]
        self.data += ["\n".join([f"{name} << EOD", *rows, "EOD"])]
        return name

    def frame(self, x, y, plots, grid=True):
        """Draws all that was placed since the last frame, and the series."""
        sides = {"l": min(x.start, x.end), "r": max(x.start, x.end)}
        ends = {"t": min(y.start, y.end), "b": max(y.start, y.end)}
        self.lines += [f"set {side}margin at screen {at / WIDTH:.5f}" for side, at in sides.items()]
        self.lines += [f"set {side}margin at screen {1 - at / self.height:.5f}"
                       for side, at in ends.items()]
        self.lines += x.commands("x") + y.commands("y")
        self.lines.append(f"set grid {'xtics ytics' if grid else 'xtics noytics'} "
                          f"lt 1 lc rgb '{PALE}' lw 1")
        self.lines.append("plot " + ", \\\n  ".join(plots))
        self.lines += ["unset label", "unset arrow"]

    def script(self, path):
        terminal = (f"set terminal svg noenhanced size {WIDTH},{self.height} fixed "
                    f"font 'sans-serif,{FONT}' background '#ffffff'")
        return "\n".join(["set encoding utf8", terminal, f"set output {quoted(path)}", *self.data,
                          f"set border 3 lc rgb '{GREY}'", "set key off", "set multiplot",
                          *self.lines, "unset multiplot", ""])


# ---- Labels that do not overlap -----------------------------------------------------------------


def spread_out(wanted, gap, low, high):
    """Places at least a gap apart, in the order of the wanted ones and close to them."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    groups = []  # [sum of where the group's first member would like to be, members]
    for i in order:
        groups.append([wanted[i], [i]])
        while len(groups) > 1 and top(groups[-2], gap, low, high) + gap * len(groups[-2][1]) > \
                top(groups[-1], gap, low, high):
            total, members = groups.pop()
            total -= len(members) * len(groups[-1][1]) * gap
            groups[-1] = [groups[-1][0] + total, groups[-1][1] + members]
    places = [0.0] * len(wanted)
    for group in groups:
        for k, i in enumerate(group[1]):
            places[i] = top(group, gap, low, high) + k * gap
    return places


def top(group, gap, low, high):
    total, members = group
    return max(low, min(total / len(members), high - gap * (len(members) - 1)))


def overlap(a, b):
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    return wide * high if wide > 0 and high > 0 else 0.0


class Tag:
    """A label's candidate place: its box, and the end of the line that leads to its point."""

    def __init__(self, point, text, angle, distance):
        x, y = point
        wide, high = LETTER * len(text) + 2, LINE - 2
        dx, dy = math.cos(angle), math.sin(angle)
        cx = x + dx * (distance + wide / 2)
        cy = y + dy * (distance + high / 2)
        self.box = (cx - wide / 2, cy - high / 2, cx + wide / 2, cy + high / 2)
        self.end = (min(max(x, self.box[0]), self.box[2]), min(max(y, self.box[1]), self.box[3]))
        self.distance = math.dist(point, self.end)
        self.leader = [self.dot(point, share) for share in (0.25, 0.5, 0.75)]
        # Beside a point reads best, then above.
        self.price = self.distance + (0 if abs(dy) < 0.1 else 3) + (2 if dx < -0.1 else 0)

    def dot(self, point, share):
        x, y = (p + share * (e - p) for p, e in zip(point, self.end))
        return x - 1, y - 1, x + 1, y + 1

    def cost(self, others, walls, frame):
        """Labels on labels are worst, then labels beyond the frame, on points and on lines."""
        inside = overlap(self.box, frame)
        area = (self.box[2] - self.box[0]) * (self.box[3] - self.box[1])
        cost = self.price + 50 * (area - inside)
        cost += sum(5 * overlap(self.box, wall) for wall in walls)
        for other in others:
            cost += 100 * overlap(self.box, other.box)
            cost += sum(40 * overlap(self.box, dot) for dot in other.leader)
            cost += sum(40 * overlap(dot, other.box) for dot in self.leader)
        return cost


def place_tags(points, texts, walls, frame):
    """Takes for each label in turn the best of its places, until no label wants to move."""
    walls = walls + [(x - 6, y - 6, x + 6, y + 6) for x, y in points]
    choices = [[Tag(point, text, math.pi / 8 * turn, distance)
                for distance in (8, 16, 28, 44, 64, 90) for turn in range(16)]
               for point, text in zip(points, texts)]
    chosen = [places[0] for places in choices]
    for _ in range(12):
        before = list(chosen)
        for i, places in enumerate(choices):
            others = chosen[:i] + chosen[i + 1:]
            chosen[i] = min(places, key=lambda tag: tag.cost(others, walls, frame))
        if chosen == before:
            break
    return chosen


# ---- Files --------------------------------------------------------------------------------------


def render(picture, path):
    with open(path + ".gnuplot", "w", encoding="utf-8") as file:
        file.write(picture.script(path + ".svg"))
    done = subprocess.run(["gnuplot", "-d", path + ".gnuplot"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode or done.stdout.strip():
        said = done.stdout.decode("utf-8", "replace").split("\n")
        raise Unreadable(f"gnuplot failed: {' '.join(' '.join(said).split())[:300]}")
    with open(path + ".svg", encoding="utf-8") as file:
        svg = tidy(file.read(), picture.title)
    with open(path + ".svg", "w", encoding="utf-8") as file:
        file.write(svg)


def tidy(svg, title):
    """Names the picture for those who hear pages; drops gnuplot's version and what does nothing."""
    # gnuplot leaves > alone, and ]]> must not stand in XML.
    svg = re.sub(r"(?<=<text>).*?(?=</text>)", lambda text: text[0].replace(">", "&gt;"), svg)
    svg = re.sub(r"<title>Gnuplot</title>\s*<desc>.*?</desc>",
                 lambda _: f"<title>{escape(title)}</title>", svg, flags=re.DOTALL)
    for useless in (r"<title>gnuplot_plot_[0-9]+</title>\n?", r"<filter id=.*?</filter>\n?",
                    ' stroke-linecap="butt" stroke-linejoin="miter"', r' font-family="sans-serif"',
                    r"<g transform=[^>]*>\s*<text></text>\s*</g>\n?",
                    r"<g fill=[^>]*>\s*</g>\n?", r"[ \t]+(?=\n)", r"(?<=\n)\s+"):
        svg = re.sub(useless, "", svg, flags=re.DOTALL)
    # A tenth of a pixel is enough; between tags are the words.
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(?<=\d\.\d)\d\b", "", tag[0]), svg)
    return svg.replace('<g id="gnuplot_canvas">', '<g font-family="sans-serif">', 1)
