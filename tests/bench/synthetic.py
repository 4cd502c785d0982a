"""Rows such as the benchmark writes, made up."""
import csv
import math

COLUMNS = ("subject library source integers workload without keys fpr status ns low high cpu_ns "
           "wall_ns limit limit_ns ratio ratio_low ratio_high bits_per_key planned_fpr measured_fpr "
           "overhead bytes runs read_dependent_4k read_dependent_huge read_independent_4k "
           "read_independent_huge read_prefetched_4k read_prefetched_huge write_independent_4k "
           "write_independent_huge write_prefetched_4k write_prefetched_huge machine cores caches "
           "compiler commit date").split()
MEMORY = {"read_dependent": 40.0, "read_independent": 8.0, "read_prefetched": 4.0,
          "write_independent": 12.0, "write_prefetched": 6.0}
RATES = (0.01, 0.00390625, 0.0000152587890625)
WORKLOADS = ("has-0 has-50 has-100 has-one has-one-100 has-chain build build-threads-2 add-one add-many "
             "remove remove-one count map-cold threads-1 threads-2 has-batch-1 has-batch-16 "
             "has-batch-1024").split()
PLACE = {"machine": "Made Up 1", "cores": "2", "caches": "L1d 32K, L2 1M, L3 32M",
         "compiler": "cc 1.0 -O3", "commit": "0123abc", "date": "2001-02-03"}


def limit_of(workload):
    if workload.startswith("threads"):
        return "read_threads_1", 4.0
    if workload == "has-chain":
        return "read_dependent_huge", 40.0
    if workload in ("build", "build-threads-2", "add-many", "remove"):
        return "write_prefetched_huge", 6.0
    if workload == "map-cold":
        return "cold_page_read", 9000.0
    return "read_prefetched_huge", 4.0


def row(subject, workload="has-0", keys=10**7, fpr=RATES[1], ratio=1.0, spread=0.02, **changes):
    """A good row; `changes` are cells."""
    limit, limit_ns = limit_of(workload)
    bits = 1.3 * -math.log2(fpr)
    cells = {"subject": subject, "library": "tamis 0.0.0", "source": "tamis", "integers": 0,
             "workload": workload, "without": "", "keys": keys, "fpr": repr(fpr), "status": "ok", "limit": limit,
             "limit_ns": limit_ns, "bits_per_key": bits, "planned_fpr": fpr, "measured_fpr": fpr,
             "overhead": bits / -math.log2(fpr) - 1, "bytes": int(float(keys) * bits / 8),
             "runs": 7, **PLACE}
    for name, low, high, middle in (("ns", "low", "high", ratio * limit_ns),
                                    ("ratio", "ratio_low", "ratio_high", ratio)):
        cells.update({name: middle, low: middle * (1 - spread), high: middle * (1 + spread)})
    cells.update(cpu_ns=cells["ns"], wall_ns=cells["ns"])
    for name, ns in MEMORY.items():
        cells.update({f"{name}_4k": 1.5 * ns, f"{name}_huge": ns})
    cells.update(changes)
    return cells


def withheld(status, *args, **changes):
    """A row without figures."""
    empty = dict.fromkeys(("ns", "low", "high", "cpu_ns", "wall_ns", "limit_ns", "ratio",
                           "ratio_low", "ratio_high"), "")
    return {**row(*args, **changes), **empty, "status": status}


def peer(bits=None):
    cells = {"source": "peer", "library": "Elsewhere 9"}
    if bits is not None:
        cells.update(bits_per_key=bits, measured_fpr=0, overhead="")
    return cells


def write(path, rows, columns=COLUMNS):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def hostile_files(good):
    """Name -> bytes of files that are not such tables, each wrong in one way."""
    text = good.decode()
    header, first, rest = text.split("\r\n", 2)
    cells = dict(zip(header.split(","), next(csv.reader([first]))))

    def changed(**changes):
        values = [str({**cells, **changes}[name]) for name in header.split(",")]
        quoted = ('"' + value.replace('"', '""') + '"' for value in values)
        return "\r\n".join([header, ",".join(quoted), rest]).encode()

    return {
        "empty": b"",
        "header only": header.encode() + b"\r\n",
        "not a table": b"\x7fELF\x02\x01\x01\x00\xff\xfe",
        "not UTF-8": good.replace(b"Made Up", b"Made \xff"),
        "no column ratio": text.replace(",ratio,", ",proportion,", 1).encode(),
        "no column subject": text.replace("subject,", "object,", 1).encode(),
        "short row": f"{header}\r\nbloom,tamis\r\n".encode(),
        "open quote": f"{header}\r\n\"bloom,tamis\r\n".encode(),
        "words in a number": changed(ns="fast"),
        "markup in a number": changed(bits_per_key="<b>8</b>"),
        "NaN": changed(ns="nan"),
        "infinite": changed(ratio_high="inf"),
        "huge": changed(ns="1e200"),
        "negative": changed(low="-1"),
        "spread turned round": changed(low="9", high="1"),
        "time below its spread": changed(ns="1"),
        "time above its spread": changed(ns="9"),
        "ratio outside its spread": changed(ratio="9"),
        "ratio without spread": changed(ratio_low=""),
        "ok without figure": changed(ns="", low="", high=""),
        "no subject": changed(subject=""),
        "newline in a name": changed(subject="blo\nom"),
        "NUL in a name": changed(subject="blo\0om"),
        "escape in a name": changed(subject="blo\x1b[31mom"),
        "unknown status": changed(status="fine"),
        "unknown source": changed(source="magic"),
        "half of integers": changed(integers="0.5"),
        "rate 0": changed(fpr="0"),
        "rate 2": changed(fpr="2"),
        "no keys": changed(keys=""),
        "the same row twice": "\r\n".join([header, first, first, rest]).encode(),
    }
