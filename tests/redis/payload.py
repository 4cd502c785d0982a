"""Values of modules as DUMP and RESTORE, and RDB files, hold them: read, changed and written here.

    name, encoding, values = read(payload)      values are ints, floats and bytes
    payload = write(name, encoding, values)     with the right checksum, whatever they are
    payload = seal(bytes)                       the checksum put right again

Written from the description of the format: a type byte, the name and encoding of the data type in 64
bits, numbers and strings with a code before each, the version, and a CRC.
"""
import struct

MODULE_TYPE, VERSION = 7, 10
END, UNSIGNED, DOUBLE, STRING = 0, 2, 4, 5
LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def crc_table():
    for x in range(256):
        for _ in range(8):
            x = x >> 1 ^ (0x95AC9329AC4BC9B5 if x & 1 else 0)
        yield x


TABLE = list(crc_table())


def crc64(data):
    """CRC-64 of Jones, from the lowest bit on."""
    crc = 0
    for byte in data:
        crc = TABLE[crc & 255 ^ byte] ^ crc >> 8
    return crc


def seal(body):
    """A payload from all of it but the last 10 bytes."""
    body += struct.pack("<H", VERSION)
    return body + struct.pack("<Q", crc64(body))


# ---- Writing ---------------------------------------------------------------------------------------

def length(n):
    if n < 64:
        return bytes([n])
    if n < 2**14:
        return struct.pack(">H", n | 0x4000)
    return b"\x80" + struct.pack(">I", n) if n < 2**32 else b"\x81" + struct.pack(">Q", n)


def type_id(name, encoding):
    number = 0
    for letter in name:
        number = number << 6 | LETTERS.index(letter)
    return number << 10 | encoding


def coded(value):
    if isinstance(value, bytes):
        return length(STRING) + length(len(value)) + value
    if isinstance(value, float):
        return length(DOUBLE) + struct.pack("<d", value)
    return length(UNSIGNED) + length(value)


def write(name, encoding, values):
    head = bytes([MODULE_TYPE]) + length(type_id(name, encoding))
    return seal(head + b"".join(map(coded, values)) + length(END))


# ---- Reading ---------------------------------------------------------------------------------------

class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def length(self):
        """A number, or None and how a string is packed."""
        first = self.take(1)[0]
        if first >> 6 == 0:
            return first
        if first >> 6 == 1:
            return (first & 63) << 8 | self.take(1)[0]
        if first >> 6 == 2:
            size = 8 if first == 0x81 else 4
            return int.from_bytes(self.take(size), "big")
        self.at -= 1
        return None

    def string(self):
        size = self.length()
        if size is not None:
            return self.take(size)
        packing = self.take(1)[0] & 63
        if packing < 3:
            return b"%d" % int.from_bytes(self.take(1 << packing), "little", signed=True)
        packed, size = self.length(), self.length()
        return unpack(self.take(packed), size)

    def values(self):
        while (code := self.length()) != END:
            yield {UNSIGNED: self.length, STRING: self.string,
                   DOUBLE: lambda: struct.unpack("<d", self.take(8))[0]}[code]()


def unpack(data, size):
    """LZF."""
    out, at = bytearray(), 0
    while at < len(data):
        control = data[at]
        at += 1
        if control < 32:
            out += data[at:at + control + 1]
            at += control + 1
            continue
        n = control >> 5
        if n == 7:
            n += data[at]
            at += 1
        start = len(out) - ((control & 31) << 8 | data[at]) - 1
        at += 1
        for i in range(n + 2):
            out.append(out[start + i])
    assert len(out) == size
    return bytes(out)


def read(payload):
    assert payload == seal(payload[:-10]), "the checksum is wrong"
    reader = Reader(payload)
    assert reader.take(1)[0] == MODULE_TYPE
    number = reader.length()
    letters = [LETTERS[number >> 10 + 6 * i & 63] for i in range(8, -1, -1)]
    return bytes(letters), number & 1023, list(reader.values())
