#!/usr/bin/env python3
"""packets.py: captures, read and rewritten without tamis and without libpcap.

    packets.py count CAPTURE [--bytes] [--both-ways] [--window NS] [--block FILE]
    packets.py as FORMAT CAPTURE     the packets in another format, on standard output
    packets.py odd CAPTURE           the first ones cut at every byte, and others with wrong bytes

`count` prints what 'tamis flows --csv --by flow,source,destination,port' prints if all lines of all
lists are asked for. FORMAT is a link (sll, sll2, raw, null, loop), or big, nano, pcapng for other
files of the same packets.
"""
import collections
import datetime
import ipaddress
import random
import struct
import sys

SECOND = 10**9
PORTS = (6, 17, 33, 132, 136)
NAMES = {1: "icmp", 2: "igmp", 4: "ipip", 6: "tcp", 17: "udp", 33: "dccp", 41: "ipv6", 47: "gre",
         50: "esp", 51: "ah", 58: "icmp6", 89: "ospf", 132: "sctp", 136: "udplite"}
EXTENSIONS = (0, 43, 44, 51, 60, 135, 139, 140)
TAGS = (0x8100, 0x88A8, 0x9100, 0x9200)
MAGICS = {b"\xd4\xc3\xb2\xa1": ("<", 1000), b"\xa1\xb2\xc3\xd4": (">", 1000),
          b"\x4d\x3c\xb2\xa1": ("<", 1), b"\xa1\xb2\x3c\x4d": (">", 1)}

Flow = collections.namedtuple("Flow", "source target source_port target_port protocol version")


def records(path):
    """Time in nanoseconds, bytes on the wire, link, bytes captured."""
    data = open(path, "rb").read()
    order, unit = MAGICS[data[:4]]
    link, = struct.unpack_from(order + "I", data, 20)
    at = 24
    while at < len(data):
        s, fraction, captured, wire = struct.unpack_from(order + "IIII", data, at)
        at += 16
        yield s * SECOND + fraction * unit, wire, link, data[at:at + captured]
        at += captured


class Short(Exception):
    """Headers end before what is needed."""


def need(data, size):
    if len(data) < size:
        raise Short
    return data


class Packet:
    def __init__(self, time, wire, link, data):
        self.time = time
        self.bytes = len(data) if wire < len(data) or wire > 1 << 20 else wire
        self.source = self.target = b""
        self.version = self.protocol = 0
        self.ports = None
        self.fragment = self.stray = self.truncated = False
        self.id = 0
        try:
            self.parse_link(link, data)
        except Short:
            self.truncated = True

    def parse_link(self, link, data):
        if link == 1:
            self.parse_typed(need(data, 14)[12:])
        elif link == 113:
            self.parse_typed(need(data, 16)[14:])
        elif link == 276:
            self.parse_typed(need(data, 20)[:2] + data[20:])
        elif link in (0, 108):
            family = sum(need(data, 4)[:4])
            if family == 2:
                self.parse_ip(4, data[4:])
            elif family in (10, 24, 28, 30):
                self.parse_ip(6, data[4:])
        else:
            self.parse_ip(6 if data[:1] and data[0] >> 4 == 6 else 4, data)

    def parse_typed(self, data):
        while (kind := int.from_bytes(data[:2], "big")) in TAGS:
            need(data, 6)
            data = data[4:]
        if kind in (0x0800, 0x86DD):
            self.parse_ip(4 if kind == 0x0800 else 6, data[2:])

    def parse_ip(self, version, data):
        need(data, 20 if version == 4 else 40)
        if data[0] >> 4 != version or (version == 4 and data[0] & 15 < 5):
            raise Short
        self.version = version
        self.parse_ipv4(data) if version == 4 else self.parse_ipv6(data)

    def parse_ipv4(self, data):
        total, self.id, fragment = struct.unpack_from(">HHH", data, 2)
        self.protocol, self.source, self.target = data[9], data[12:16], data[16:20]
        self.fragment, self.stray = bool(fragment & 0x3FFF), bool(fragment & 0x1FFF)
        self.known_by = (self.source, self.target, self.id, self.protocol)
        data = data[:total] if total else data
        size = (data[0] & 15) * 4
        self.parse_ports(need(data, size)[size:])

    def parse_ipv6(self, data):
        payload, self.protocol = struct.unpack_from(">HB", data, 4)
        self.source, self.target = data[8:24], data[24:40]
        data = data[40:40 + payload] if payload else data[40:]
        while self.protocol in EXTENSIONS and not self.stray:
            need(data, 8)
            size = {44: 8, 51: (data[1] + 2) * 4}.get(self.protocol, (data[1] + 1) * 8)
            need(data, size)
            if self.protocol == 44:
                offset, self.id = struct.unpack_from(">HI", data, 2)
                self.fragment, self.stray = True, offset >= 8
                self.known_by = (self.source, self.target, self.id)
            self.protocol, data = data[0], data[size:]
        self.parse_ports(data)

    def parse_ports(self, data):
        if not self.stray and self.protocol in PORTS:
            self.ports = struct.unpack(">HH", need(data, 4)[:4])

    def follow(self, firsts):
        if self.fragment and not self.stray and not self.truncated:
            firsts[self.known_by] = self
        elif self.stray and self.known_by in firsts:
            first = firsts[self.known_by]
            if 0 <= self.time - first.time <= 60 * SECOND:
                self.ports, self.protocol, self.stray = first.ports, first.protocol, False

    def flow(self):
        ports = self.ports or (0, 0)
        return Flow(self.source.ljust(16, b"\0"), self.target.ljust(16, b"\0"), *ports,
                    self.protocol, self.version)


def folded(flow):
    ends = sorted([(flow.source, flow.source_port), (flow.target, flow.target_port)])
    return Flow(ends[0][0], ends[1][0], ends[0][1], ends[1][1], flow.protocol, flow.version)


def flow_bytes(flow):
    return flow.source + flow.target + struct.pack(">HHBB", *flow[2:])


def address(raw, version):
    return str(ipaddress.ip_address(raw[:4] if version == 4 else raw))


def end_text(raw, port, flow):
    name = address(raw, flow.version)
    if flow.protocol not in PORTS:
        return name
    return f"[{name}]:{port}" if flow.version == 6 else f"{name}:{port}"


def name_of(flow):
    return NAMES.get(flow.protocol, str(flow.protocol))


def flow_text(flow, arrow):
    return " ".join([end_text(flow.source, flow.source_port, flow), arrow,
                     end_text(flow.target, flow.target_port, flow), name_of(flow)])


def time_text(time):
    text = datetime.datetime.fromtimestamp(time // SECOND, datetime.timezone.utc)
    rest = time % SECOND
    return text.strftime("%Y-%m-%dT%H:%M:%S") + (f".{rest:09}" if rest else "") + "Z"


class Blocked:
    def __init__(self, path):
        self.prefixes, self.rows, self.total = {}, {}, [0, 0]
        for line in open(path):
            text = line.split("#")[0].split(";")[0].strip()
            if text:
                net = ipaddress.ip_network(text, strict=False)
                self.prefixes[net.version, net.prefixlen, int(net.network_address)] = net
        self.lengths = sorted({key[:2] for key in self.prefixes}, reverse=True)

    def find(self, raw, version):
        size = 32 if version == 4 else 128
        number = int.from_bytes(raw[:size // 8], "big")
        for of, bits in self.lengths:
            if of == version:
                net = self.prefixes.get((of, bits, number >> size - bits << size - bits))
                if net:
                    return net
        return None

    def take(self, packet, flow):
        found = {self.find(flow.source, flow.version), self.find(flow.target, flow.version)} - {None}
        for net in found:
            row = self.rows.setdefault(net, [0, 0])
            row[0] += 1
            row[1] += packet.bytes
        if found:
            self.total[0] += 1
            self.total[1] += packet.bytes

    def print(self):
        print(f"blocked,,{self.total[0]},{self.total[1]},,,,,")
        order = lambda net: (-self.rows[net][0], net.version, net.prefixlen, net.network_address)
        for net in sorted(self.rows, key=order):
            text = str(net.network_address) if net.prefixlen == net.max_prefixlen else str(net)
            print(f"blocked,{text},{self.rows[net][0]},{self.rows[net][1]},,,,,")


class Windows:
    def __init__(self, size):
        self.size, self.index, self.ever, self.late = size, None, set(), 0
        self.start()

    def start(self):
        self.packets = self.bytes = self.new = 0
        self.flows = set()

    def take(self, packet, flow):
        index = packet.time // self.size
        if self.index is None or index > self.index:
            self.print()
            self.start()
            self.index = index
        self.late += index < self.index
        self.packets += 1
        self.bytes += packet.bytes
        if flow:
            self.new += flow not in self.ever
            self.ever.add(flow)
            self.flows.add(flow)

    def print(self):
        if self.packets:
            start = time_text(self.index * self.size)
            print(f"window,{start},{self.packets},{self.bytes},{len(self.flows)},{self.new},,,")


def list_of(name, rows, by_bytes):
    """Rows: key in bytes -> [text, first time, packets, bytes]."""
    for _, (text, first, *counts) in sorted(rows.items(), key=lambda row: (-row[1][2 + by_bytes], row[0])):
        n = counts[by_bytes]
        shown = f",{n}" if by_bytes else f"{n},"
        print(f"{name},{text},{shown},,,{n},{n},{time_text(first)}")


def count(path, by_bytes=False, both_ways=False, window=0, block=None):
    counts, firsts = collections.Counter(), {}
    lists = {name: {} for name in ("flow", "source", "destination", "port")}
    blocked = Blocked(block) if block else None
    windows = Windows(window or 1 << 90)
    print("part,name,packets,bytes,flows,new,least,most,first")
    start = 1 << 90
    for record in records(path):
        packet = Packet(*record)
        if packet.fragment:
            packet.follow(firsts)
        counts.update(packets=1, bytes=packet.bytes, ipv4=packet.version == 4, ipv6=packet.version == 6,
                      other=packet.version == 0, truncated=packet.truncated, fragments=packet.fragment,
                      strays=packet.stray)
        start = min(start, packet.time)
        one = flow = packet.flow() if packet.version else None
        if flow and both_ways:
            one = folded(flow)
        windows.take(packet, one)
        if not flow:
            continue
        if blocked:
            blocked.take(packet, flow)
        keys = [("flow", flow_bytes(one), flow_text(one, "<>" if both_ways else ">")),
                ("source", flow.source + bytes([flow.version]), address(flow.source, flow.version)),
                ("destination", flow.target + bytes([flow.version]), address(flow.target, flow.version))]
        if packet.ports:
            keys.append(("port", struct.pack(">HB", flow.target_port, flow.protocol),
                         f"{flow.target_port}/{name_of(flow)}"))
        for name, key, text in keys:
            row = lists[name].setdefault(key, [text, packet.time, 0, 0])
            row[2] += 1
            row[3] += packet.bytes
    if window:
        windows.print()
    # The bound is four above the estimate if hardly any mistake is to be expected.
    n = len(windows.ever)
    most = min(n + 4, counts["ipv4"] + counts["ipv6"])
    print(f"total,,{counts['packets']},{counts['bytes']},{n},,{n},{most},{time_text(start)}")
    counts["late"] = windows.late
    for name in ("ipv4", "ipv6", "other", "truncated", "fragments", "strays", "late"):
        print(f"{name},,{counts[name]},,,,,,")
    for name, rows in lists.items():
        list_of(name, rows, by_bytes)
    if blocked:
        blocked.print()


LINKS = {"sll": 113, "sll2": 276, "raw": 101, "null": 0, "loop": 108}


def with_link(name, data):
    """A packet of Ethernet, without tags, under another link; None if there is no room for it."""
    kind = int.from_bytes(data[12:14], "big")
    if len(data) < 14 or kind not in (0x0800, 0x86DD):
        return None
    rest = data[14:]
    if name == "sll":
        return bytes(14) + data[12:14] + rest
    if name == "sll2":
        return data[12:14] + bytes(18) + rest
    if name == "raw":
        return rest
    family = 2 if kind == 0x0800 else 30
    return family.to_bytes(4, "little" if name == "null" else "big") + rest


def block_of(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def rewrite(name, path):
    out = sys.stdout.buffer
    order, magic, unit = (">" if name == "big" else "<"), 0xA1B2C3D4, 1000
    if name == "nano":
        magic, unit = 0xA1B23C4D, 1
    link = LINKS.get(name, 1)
    if name == "pcapng":
        out.write(block_of(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        out.write(block_of(1, struct.pack("<HHI", 1, 0, 65535)))
    else:
        out.write(struct.pack(order + "IHHIIII", magic, 2, 4, 0, 0, 65535, link))
    for time, wire, _, data in records(path):
        if name in LINKS:
            size = len(data)
            data = with_link(name, data)
            if data is None:
                continue
            wire += len(data) - size
        if name == "pcapng":
            us = time // 1000
            out.write(block_of(6, struct.pack("<IIIII", 0, us >> 32, us & 0xFFFFFFFF, len(data), wire) + data))
        else:
            out.write(struct.pack(order + "IIII", time // SECOND, time % SECOND // unit, len(data), wire) + data)


def odd(path):
    """Headers cut and changed, lengths that lie, and times that go back."""
    draw = random.Random(1)
    whole = [data for *_, data in records(path)]
    shapes = {(data[12:15], data[20:22], data[23]): data for data in whole if len(data) > 60}
    cut = [data[:n] for data in list(shapes.values())[:30] for n in range(len(data))]
    changed = []
    for data in whole:
        copy = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            copy[draw.randrange(12, 60) % len(copy)] = draw.choice((0, 1, 4, 6, 17, 44, 51, 60, 69, 255))
        changed.append(bytes(copy))
    out = sys.stdout.buffer
    out.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for i, data in enumerate(cut + changed):
        wire = draw.choice((len(data), len(data), 1500, 0, 1 << 20, (1 << 20) + 1, 0xFFFFFFFF))
        time = 1000 + i // 100 - draw.choice((0, 0, 0, 0, 90))
        out.write(struct.pack("<IIII", time, i % 1000, len(data), wire) + data)


def main(verb, *words):
    if verb in ("as", "odd"):
        {"as": rewrite, "odd": odd}[verb](*words)
        return
    options, words = {}, list(words)
    path = words.pop(0)
    while words:
        name = words.pop(0)
        if name in ("--bytes", "--both-ways"):
            options[{"--bytes": "by_bytes"}.get(name, "both_ways")] = True
        else:
            options[name[2:]] = int(words.pop(0)) if name == "--window" else words.pop(0)
    count(path, **options)


main(*sys.argv[1:])
