#!/usr/bin/env python3
"""relay.py: a bad line between two sides of a command.

    relay.py [--fault FAULT]... [--keep PATH]... --ask COMMAND --serve COMMAND

COMMANDs are cut at blanks. The one that asks has {} in the place of HOST:PORT, as in `tamis
intersect --connect {} here`; the other one serves on its standard input and output. Both are run
once without a fault, which has to succeed, and then once for each fault. After a fault, a side has
either ended as it did without one and printed the same, or with code 3 or 4 and one line that says
why; and each PATH to be kept, a file or a folder, is as it was before all runs or as it is after a
good one. Neither side is ended by a signal or waits for longer than --wait seconds.

    cut:up:0-83        the line is closed after 0, 1, ... 83 bytes from the side that asks
    cut:down:83-:1000  after every 1,000th byte to it, from 83 to the last
    flip:up:0-50:7     a bit of that byte is changed
    stall:down:100     nothing more is brought after that, and nothing is closed
    junk:down:0        a banner is put in at that place
"""

import argparse
import collections
import concurrent.futures
import contextlib
import hashlib
import os
import pathlib
import selectors
import shutil
import socket
import subprocess
import sys
import time

PIECE = 1 << 16
JUNK = b"Welcome to host!\nLast login: today\n" * 4

Fault = collections.namedtuple("Fault", "kind way at")
Ends = collections.namedtuple("Ends", "codes outs errs carried")


def parse(text, carried):
    """The faults that one --fault stands for."""
    kind, way, places, *step = text.split(":")
    first, _, last = places.partition("-")
    if "-" not in places:
        last = first
    stop = int(last) if last else carried[way] - 1
    for at in range(int(first), min(stop, carried[way]) + 1, int(step[-1]) if step else 1):
        yield Fault(kind, way, at)


class Way:
    """Bytes of one direction, and what happens to them."""

    def __init__(self, name, fault, into, out):
        self.name, self.into, self.out = name, into, out
        self.fault = fault if fault and fault.way == name else None
        self.carried = 0
        self.stalls = False

    def carry(self, read, write):
        """False: the line is over."""
        try:
            piece = read(PIECE)
        except OSError:
            piece = b""
        if not piece:
            return False
        at = self.fault.at - self.carried if self.fault else -1
        self.carried += len(piece)
        if self.stalls or not 0 <= at < len(piece):
            return self.stalls or write(piece)
        if self.fault.kind == "flip":
            piece = piece[:at] + bytes([piece[at] ^ 1 << self.fault.at % 8]) + piece[at + 1:]
        elif self.fault.kind == "junk":
            piece = piece[:at] + JUNK + piece[at:]
        else:
            write(piece[:at])
            self.stalls = True
            return self.fault.kind == "stall"
        return write(piece)


def writer(send):
    def write(piece):
        try:
            while piece:
                piece = piece[send(piece):]
        except OSError:
            return False
        return True
    return write


def relay(ways, selector, deadline):
    open_ways = len(ways)
    while open_ways and time.monotonic() < deadline:
        for key, _ in selector.select(0.05):
            way, read, write, close = key.data
            if way.carry(read, write):
                continue
            if way.fault and way.fault.kind == "cut" and way.stalls:
                return
            with contextlib.suppress(OSError):  # that side is gone
                close()
            selector.unregister(key.fileobj)
            open_ways -= 1


def run(options, fault):
    """Both sides with one fault between them."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = "127.0.0.1:%d" % listener.getsockname()[1]
        ask = subprocess.Popen([word.replace("{}", place) for word in options.ask.split()],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        listener.settimeout(options.wait)
        end, _ = listener.accept()
    serve = subprocess.Popen(options.serve.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    up = Way("up", fault, end, serve.stdin)
    down = Way("down", fault, serve.stdout, end)
    selector = selectors.DefaultSelector()
    selector.register(end, selectors.EVENT_READ,
                      (up, end.recv, writer(lambda b: os.write(serve.stdin.fileno(), b)),
                       serve.stdin.close))
    selector.register(serve.stdout, selectors.EVENT_READ,
                      (down, lambda n: os.read(serve.stdout.fileno(), n), writer(end.send),
                       lambda: end.shutdown(socket.SHUT_WR)))
    relay((up, down), selector, time.monotonic() + options.wait)
    selector.close()
    end.close()
    serve.stdin.close()
    out, said = ask.communicate(timeout=options.wait)
    serve_said = serve.stderr.read()
    serve.stdout.close()
    serve.wait(options.wait)
    return Ends((ask.returncode, serve.returncode), out, (said, serve_said),
                {"up": up.carried, "down": down.carried})


def digest(path):
    """What is at a path, and its names if it is a folder."""
    path = pathlib.Path(path)
    if not path.exists():
        return None
    found = hashlib.sha256()
    for p in [path] if path.is_file() else sorted(path.rglob("*")):
        found.update(str(p).encode() + (p.read_bytes() if p.is_file() else b""))
    return found.hexdigest()


class Kept:
    """Paths that are changed as a whole or not at all."""

    def __init__(self, paths):
        self.paths = [pathlib.Path(p) for p in paths]
        self.good = [{digest(p)} for p in self.paths]
        for p in self.paths:
            if p.exists():
                shutil.copytree(p, f"{p}.kept") if p.is_dir() else shutil.copy2(p, f"{p}.kept")

    def learn(self):
        for p, good in zip(self.paths, self.good):
            good.add(digest(p))
        self.restore()

    def restore(self):
        for p in self.paths:
            shutil.rmtree(p) if p.is_dir() else p.unlink(missing_ok=True)
            kept = pathlib.Path(f"{p}.kept")
            if kept.exists():
                shutil.copytree(kept, p) if kept.is_dir() else shutil.copy2(kept, p)

    def broken(self):
        return [str(p) for p, good in zip(self.paths, self.good) if digest(p) not in good]


def faults_of(side, ends, good):
    """What one side did wrong."""
    code, said = ends.codes[side], ends.errs[side].decode(errors="replace")
    if code == good.codes[side]:
        if side == 0 and ends.outs != good.outs:
            yield "ended well and printed something else"
    elif code not in (3, 4):
        yield f"ended with code {code}"
    elif said.count("\n") != 1 or not said.startswith("tamis: "):
        yield f"said {said!r}"


def complaints(options, kept, fault, good):
    try:
        ends = run(options, fault)
    except (subprocess.TimeoutExpired, TimeoutError):
        return [f"{fault}: waits for ever"]
    if options.verbose:
        print(fault, ends.codes, ends.errs)
    wrong = [f"{fault}: {('ask', 'serve')[side]} {what}"
             for side in (0, 1) for what in faults_of(side, ends, good)]
    wrong += [f"{fault}: {path} is neither old nor new" for path in kept.broken()]
    kept.restore()
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ask", required=True)
    parser.add_argument("--serve", required=True)
    parser.add_argument("--fault", action="append", default=[])
    parser.add_argument("--keep", action="append", default=[])
    parser.add_argument("--wait", type=float, default=20)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    kept = Kept(options.keep)
    good = run(options, None)
    if good.codes[0] not in (0, 1) or good.codes[1] != 0:
        sys.exit(f"without a fault: codes {good.codes}, {good.errs}")
    kept.learn()
    faults = [f for text in options.fault for f in parse(text, good.carried)]
    with concurrent.futures.ThreadPoolExecutor(1 if kept.paths else 4) as pool:
        found = pool.map(lambda fault: complaints(options, kept, fault, good), faults)
        wrong = [what for all_of_one in found for what in all_of_one]
    print("\n".join(wrong[:20]) or f"{len(faults)} faults, {good.carried} bytes carried")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
