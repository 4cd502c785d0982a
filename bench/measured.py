"""The rows that the benchmark wrote, read with suspicion: a wrong cell is an error with its line.

Kinds, peers, sizes and rates are whatever the rows hold. Workloads and limits that are unknown here
are shown under their own names.
"""
import csv
import math

LIMITS = {
    "read_dependent": "dependent reads",
    "read_independent": "independent reads",
    "read_prefetched": "prefetched reads",
    "write_independent": "independent writes",
    "write_prefetched": "prefetched writes",
}
LIMIT_COLUMNS = [f"{limit}_{pages}" for limit in LIMITS for pages in ("4k", "huge")]
TIMES = ["ns", "low", "high", "cpu_ns", "wall_ns"]
RATIOS = ["limit_ns", "ratio", "ratio_low", "ratio_high"]
SIZES = ["bits_per_key", "planned_fpr", "measured_fpr", "overhead", "bytes", "runs"]
PLACE = ["machine", "cores", "caches", "compiler", "commit", "date"]
SPEED_WORDS = ["subject", "library", "source", "workload", "status", "limit"] + PLACE
SPEED_OPTIONAL_WORDS = ["without"]
SPEED_OPTIONAL = ["integers"]
SPEED_NUMBERS = ["keys", "fpr"] + TIMES + RATIOS + SIZES + LIMIT_COLUMNS
COMMAND_WORDS = ["task", "tool", "tool_version", "status",
                 "machine", "cores", "compiler", "commit", "date"]
COMMAND_NUMBERS = ["lines", "seconds", "low", "high", "peak_mib", "ratio", "runs"]
STATUSES = ("ok", "cannot", "noisy")
COMMAND_STATUSES = STATUSES + ("absent",)


class Unreadable(Exception):
    """Says in one line what is wrong with which file."""


def read_table(path, words, numbers, optional_words=(), optional=()):
    """Rows as dictionaries: words as str, numbers as float, or None where the cell is empty. A
    column that is optional may be missing, as in tables of earlier versions."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return parse_table(path, csv.reader(file, strict=True), words, numbers,
                               optional_words, optional)
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{path}: not UTF-8") from None
    except csv.Error as error:
        raise Unreadable(f"{path}: not CSV: {error}") from None


def parse_table(path, lines, words, numbers, optional_words, optional):
    header = next(lines, None)
    if not header:
        raise Unreadable(f"{path}: empty")
    missing = [name for name in words + numbers if name not in header]
    if missing:
        raise Unreadable(f"{path}: no column {', '.join(missing)}")
    rows = []
    for cells in lines:
        if not cells:
            continue
        where = f"{path}:{lines.line_num}"
        if len(cells) != len(header):
            raise Unreadable(f"{where}: {len(cells)} cells under {len(header)} columns")
        row = dict(zip(header, cells))
        rows.append({"where": where,
                     **{name: word_of(where, name, row.get(name, ""))
                        for name in [*words, *optional_words]},
                     **{name: number_of(where, name, row.get(name, ""))
                        for name in [*numbers, *optional]}})
    if not rows:
        raise Unreadable(f"{path}: no rows")
    return rows


def word_of(where, name, text):
    if not text.isprintable():
        raise Unreadable(f"{where}: {name} has a character that cannot be printed: {text!a:.60}")
    return text.strip()


def number_of(where, name, text):
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        raise Unreadable(f"{where}: {name} is not a number: {text!a:.60}") from None
    if value < 0 and name != "overhead":
        raise Unreadable(f"{where}: {name} is negative")
    if value and not 1e-18 <= abs(value) <= 1e18:
        raise Unreadable(f"{where}: {name} is out of all measure: {value:g}")
    return value


def require(row, holds, what):
    if not holds:
        raise Unreadable(f"{row['where']}: {what}")


def check_spread(row, middle, low, high):
    given = [row[name] is not None for name in (middle, low, high)]
    require(row, all(given) or not any(given), f"{middle} without its spread")
    require(row, not all(given) or row[low] <= row[middle] <= row[high],
            f"{middle} is not between {low} and {high}")


def read_speed(path):
    rows = read_table(path, SPEED_WORDS, SPEED_NUMBERS, SPEED_OPTIONAL_WORDS, SPEED_OPTIONAL)
    seen = set()
    for row in rows:
        require(row, row["subject"] and row["workload"], "no subject or no workload")
        require(row, row["source"] in ("tamis", "peer"), "source is neither tamis nor peer")
        require(row, row["status"] in STATUSES, "status is none of " + ", ".join(STATUSES))
        require(row, row["keys"] is not None and row["keys"] >= 1, "keys is not above 0")
        require(row, row["fpr"] is not None and 0 < row["fpr"] < 1, "fpr is not between 0 and 1")
        require(row, row["status"] != "ok" or row["ns"] is not None, "ok, but no ns")
        require(row, row["integers"] in (None, 0, 1), "integers is neither 0 nor 1")
        check_spread(row, "ns", "low", "high")
        check_spread(row, "ratio", "ratio_low", "ratio_high")
        require(row, identity(row) not in seen, f"a second row of {name_of(row)}")
        seen.add(identity(row))
    return rows


def read_commands(path):
    rows = read_table(path, COMMAND_WORDS, COMMAND_NUMBERS)
    for row in rows:
        require(row, row["task"] and row["tool"], "no task or no tool")
        require(row, row["status"] in COMMAND_STATUSES,
                "status is none of " + ", ".join(COMMAND_STATUSES))
        require(row, row["status"] != "ok" or row["seconds"] is not None, "ok, but no seconds")
        check_spread(row, "seconds", "low", "high")
    return rows


def identity(row):
    return row["subject"], row["workload"], row["keys"], row["fpr"], row["without"]


def name_of(row):
    without = f" without {row['without']}" if row["without"] else ""
    return (f"{row['subject']} {row['workload']}{without}, "
            f"{keys_text(row['keys'])} keys at {row['fpr']:.3g}")


def keys_text(keys):
    exponent = math.floor(math.log10(keys))
    return f"1e{exponent}" if keys == 10 ** exponent else f"{keys:.12g}"


def unique(values):
    """Each value once, in the order of the first."""
    return list(dict.fromkeys(values))


def median(values):
    ranked = sorted(values)
    half = len(ranked) // 2
    return ranked[half] if len(ranked) % 2 else (ranked[half - 1] + ranked[half]) / 2


def is_exact(row):
    """Exact structures have no rate to pay for: the benchmark leaves their overhead empty."""
    return row["overhead"] is None and not row["measured_fpr"]


class Measured:
    """The rows of one run, and the questions that tables and plots ask of them. What was measured
    without some of the machine's abilities stands apart."""

    def __init__(self, all_rows):
        self.by_identity = {identity(row): row for row in all_rows}
        self.lacks = unique(row["without"] for row in all_rows if row["without"])
        self.rows = rows = [row for row in all_rows if not row["without"]] or all_rows
        self.place = {name: rows[0][name] for name in PLACE}
        ours = unique(row["subject"] for row in rows if row["source"] == "tamis")
        peers = unique(row["subject"] for row in rows if row["source"] == "peer")
        self.ours = ours
        self.subjects = ours + [name for name in peers if name not in ours]
        self.sizes = sorted({row["keys"] for row in rows})
        self.rates = sorted({row["fpr"] for row in rows}, reverse=True)
        self.workloads = unique(row["workload"] for row in rows)
        self.libraries = {row["subject"]: row["library"] for row in rows}
        self.exact = {name for name in self.subjects if self.never_errs(name)}
        self.integers = {row["subject"] for row in rows if row["integers"]}
        self.at_any_rate = {identity(row)[:3]: row for row in rows if row["subject"] in self.exact}

    def never_errs(self, subject):
        """A structure that could never be made says nothing: it is not called exact for that."""
        made = [row for row in self.rows
                if row["subject"] == subject and row["bits_per_key"] is not None]
        return bool(made) and all(is_exact(row) for row in made)

    def cases(self):
        """Sizes and rates that a filter was made for; exact ones alone would say nothing new."""
        telling = set(self.subjects) - self.exact or set(self.subjects)
        there = {(row["keys"], row["fpr"]) for row in self.rows if row["subject"] in telling}
        return [(keys, fpr) for keys in self.sizes for fpr in self.rates if (keys, fpr) in there]

    def row(self, subject, workload, keys, fpr):
        """An exact structure need not be measured at every rate: none of them changes it."""
        case = (subject, workload, keys)
        return self.by_identity.get((*case, fpr, "")) or self.at_any_rate.get(case)

    def timed(self, subject, workload, keys, fpr, without=""):
        """The row, if it holds a time that a logarithmic axis can show."""
        row = (self.by_identity.get((subject, workload, keys, fpr, without)) if without
               else self.row(subject, workload, keys, fpr))
        return row if row and row["status"] == "ok" and row["ns"] > 0 else None

    def made(self, subject, keys, fpr):
        """Any row that knows the size of this structure."""
        for workload in self.workloads:
            row = self.row(subject, workload, keys, fpr)
            if row and row["bits_per_key"]:
                return row
        return None

    def rate_nearest(self, fpr):
        return min(self.rates, key=lambda rate: abs(math.log(rate / fpr)))

    def main_size(self, has):
        """Ten million keys, or else the most, where nearly all that can be compared are there.

        Nearly: a single noisy row must not move a picture to another size."""
        there = {keys: sum(1 for name in self.subjects if has(name, keys)) for keys in self.sizes}
        enough = 0.8 * max(there.values())
        return max((keys for keys in self.sizes if there[keys] >= enough),
                   key=lambda keys: (keys == 1e7, keys))
