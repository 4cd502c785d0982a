#!/usr/bin/env python3
"""Reads tamis images as docs/format.md describes them, with nothing but the standard library.

    read_image.py FILE            print the header
    read_image.py FILE --query    read keys as lines on standard input, print those present
    read_image.py FILE --verify   check every byte of the image

It is meant to be read as much as run: whoever writes a reader in another language can follow it
from top to bottom. Exit codes: 0 fine, 1 no key was present, 2 usage, 3 the file cannot be read,
4 not a whole image.
"""
import argparse
import math
import struct
import sys

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


class ImageError(Exception):
    """Why an image is refused: a status of the library, and the fault."""

    def __init__(self, status, fault):
        super().__init__(f"{status}: {fault}")
        self.status = status
        self.fault = fault


def require(condition, fault, status="CORRUPT"):
    if not condition:
        raise ImageError(status, fault)


# ---- XXH3-64: keys of `fast` filters, and every checksum --------------------------------------

XXH3_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
STRIPE, STRIPES_PER_BLOCK = 64, 16


def u16(data, at):
    return int.from_bytes(data[at:at + 2], "little")


def u32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def rotl64(x, n):
    return (x << n | x >> (64 - n)) & MASK


def swap(x, size):
    return int.from_bytes(x.to_bytes(size, "little"), "big")


def fold(a, b):
    """The two halves of a 128-bit product, combined."""
    product = a * b
    return (product ^ product >> 64) & MASK


def xxh64_avalanche(h):
    h = (h ^ h >> 33) * P64_2 & MASK
    h = (h ^ h >> 29) * P64_3 & MASK
    return h ^ h >> 32


def xxh3_avalanche(h):
    h = (h ^ h >> 37) * 0x165667919E3779F9 & MASK
    return h ^ h >> 32


def secret_pair(at):
    return u64(XXH3_SECRET, at) ^ u64(XXH3_SECRET, at + 8)


def xxh3_to_16(data, seed):
    size = len(data)
    if size == 0:
        return xxh64_avalanche(seed ^ secret_pair(56))
    if size <= 3:
        word = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        flip = (u32(XXH3_SECRET, 0) ^ u32(XXH3_SECRET, 4)) + seed
        return xxh64_avalanche((word ^ flip) & MASK)
    if size <= 8:
        seed ^= swap(seed & 0xFFFFFFFF, 4) << 32
        word = u32(data, size - 4) + (u32(data, 0) << 32)
        h = word ^ (secret_pair(8) - seed & MASK)
        h ^= rotl64(h, 49) ^ rotl64(h, 24)
        h = h * 0x9FB21C651E98DF25 & MASK
        h = (h ^ (h >> 35) + size) * 0x9FB21C651E98DF25 & MASK
        return h ^ h >> 28
    low = u64(data, 0) ^ (secret_pair(24) + seed & MASK)
    high = u64(data, size - 8) ^ (secret_pair(40) - seed & MASK)
    return xxh3_avalanche(size + swap(low, 8) + high + fold(low, high) & MASK)


def mix16(data, at, secret_at, seed):
    low = u64(data, at) ^ (u64(XXH3_SECRET, secret_at) + seed & MASK)
    high = u64(data, at + 8) ^ (u64(XXH3_SECRET, secret_at + 8) - seed & MASK)
    return fold(low, high)


def xxh3_to_128(data, seed):
    size = len(data)
    acc = size * P64_1
    for i in range((size - 1) // 32 + 1):
        acc += mix16(data, 16 * i, 32 * i, seed)
        acc += mix16(data, size - 16 * (i + 1), 32 * i + 16, seed)
    return xxh3_avalanche(acc & MASK)


def xxh3_to_240(data, seed):
    size = len(data)
    acc = size * P64_1
    for i in range(8):
        acc += mix16(data, 16 * i, 16 * i, seed)
    acc = xxh3_avalanche(acc & MASK)
    for i in range(8, size // 16):
        acc += mix16(data, 16 * i, 16 * (i - 8) + 3, seed)
    acc += mix16(data, size - 16, 119, seed)
    return xxh3_avalanche(acc & MASK)


def accumulate(acc, words, keys):
    for i in range(8):
        word = words[i]
        mixed = word ^ keys[i]
        acc[i ^ 1] += word
        acc[i] += (mixed & 0xFFFFFFFF) * (mixed >> 32)
    for i in range(8):
        acc[i] &= MASK


def xxh3_long(data, seed):
    pairs = struct.unpack("<24Q", XXH3_SECRET)
    seeded = [w + seed & MASK if i % 2 == 0 else w - seed & MASK for i, w in enumerate(pairs)]
    secret = struct.pack("<24Q", *seeded)
    keys = [struct.unpack_from("<8Q", secret, 8 * i) for i in range(STRIPES_PER_BLOCK)]
    scramble = struct.unpack_from("<8Q", secret, len(secret) - STRIPE)
    acc = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]
    size = len(data)
    for stripe in range((size - 1) // STRIPE):
        step = stripe % STRIPES_PER_BLOCK
        accumulate(acc, struct.unpack_from("<8Q", data, STRIPE * stripe), keys[step])
        if step == STRIPES_PER_BLOCK - 1:
            acc = [(a ^ a >> 47 ^ s) * P32_1 & MASK for a, s in zip(acc, scramble)]
    accumulate(acc, struct.unpack_from("<8Q", data, size - STRIPE),
               struct.unpack_from("<8Q", secret, len(secret) - STRIPE - 7))
    merge = struct.unpack_from("<8Q", secret, 11)
    h = size * P64_1 + sum(fold(acc[i] ^ merge[i], acc[i + 1] ^ merge[i + 1]) for i in (0, 2, 4, 6))
    return xxh3_avalanche(h & MASK)


def xxh3(data, seed=0):
    if len(data) <= 16:
        return xxh3_to_16(data, seed)
    if len(data) <= 128:
        return xxh3_to_128(data, seed)
    if len(data) <= 240:
        return xxh3_to_240(data, seed)
    return xxh3_long(data, seed)


# ---- SipHash-2-4: keys of `keyed` filters -----------------------------------------------------


def sip_rounds(v, n):
    a, b, c, d = v
    for _ in range(n):
        a = a + b & MASK
        b = rotl64(b, 13) ^ a
        a = rotl64(a, 32)
        c = c + d & MASK
        d = rotl64(d, 16) ^ c
        a = a + d & MASK
        d = rotl64(d, 21) ^ a
        c = c + b & MASK
        b = rotl64(b, 17) ^ c
        c = rotl64(c, 32)
    return a, b, c, d


def siphash(data, secret):
    k0, k1 = struct.unpack("<2Q", secret)
    v = (k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D,
         k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573)
    tail = len(data) % 8
    padded = data + bytes(7 - tail) + bytes([len(data) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", padded):
        a, b, c, d = sip_rounds((v[0], v[1], v[2], v[3] ^ word), 2)
        v = (a ^ word, b, c, d)
    a, b, c, d = sip_rounds((v[0], v[1], v[2] ^ 0xFF, v[3]), 4)
    return a ^ b ^ c ^ d


# ---- Placement --------------------------------------------------------------------------------


def mix64(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & MASK
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


def scale64(x, n):
    return x * n >> 64


def ones(data):
    return bin(int.from_bytes(data, "little")).count("1")


def words_of(bits):
    """Bytes of a payload of that many bits: whole 64-bit words."""
    return (bits + 63) // 64 * 8


# ---- Kinds: how long the payload must be, and whether it holds a key --------------------------
#
# A kind may have a FLAG, the bit of the header's flags that it knows, and HAS_LOAD.

GROWS, EXACT_DELETE, SUMS, INVERTED, ASKS_KEYS = 1, 2, 4, 8, 16


class Bitmap:
    name = "bitmap"

    @staticmethod
    def bytes(h):
        right = h.hash == RAW and h.slots >= max(1, h.capacity) and h.width == h.hashes == 0
        return words_of(h.slots) if right else 0

    @staticmethod
    def has(image, key):
        return key < image.header.capacity and image.bit(key)

    @staticmethod
    def verify(image):
        require(not any(image.bit(i) for i in range(image.header.capacity, 8 * len(image.payload))),
                "bits past the capacity are set")
        require(ones(image.payload) == image.header.count, "the number of keys is wrong")


class Hashset:
    name = "hashset"
    STATE = 64

    @classmethod
    def bytes(cls, h):
        right = h.slots >= max(1, h.capacity) and h.width == 64 and h.hashes == 1
        return cls.STATE + 8 * h.slots if right else 0

    @classmethod
    def slot(cls, image, i):
        return u64(image.payload, cls.STATE + 8 * i)

    @classmethod
    def find(cls, image, value):
        """The slot of a value that is not 0, or None."""
        slots = image.header.slots
        home = scale64(value, slots)
        for step in range(slots):
            i = (home + step) % slots
            if cls.slot(image, i) in (0, value):
                return i if cls.slot(image, i) else None
        return None

    @classmethod
    def has(cls, image, key):
        value = image.hash_key(key)
        if value == 0:
            return u64(image.payload, 0) != 0
        return cls.find(image, value) is not None

    @classmethod
    def verify(cls, image):
        cls.verify_keys(image, 8)

    @classmethod
    def verify_keys(cls, image, used):
        """Where so many bytes of the state have a use."""
        h, zero = image.header, u64(image.payload, 0)
        require(zero <= 1 and not any(image.payload[used:cls.STATE]), "unused state is set")
        values = [cls.slot(image, i) for i in range(h.slots)]
        keys = zero + sum(value != 0 for value in values)
        require(keys == h.count <= h.capacity, "the number of keys is wrong")
        steps = [(i - scale64(v, h.slots)) % h.slots if v else 0 for i, v in enumerate(values)]
        require(0 in steps, "no key is at home")
        for i, value in enumerate(values):
            before = values[i - 1]
            require(steps[i] == 0 or before and (steps[i], before) < (steps[i - 1] + 1, value),
                    f"the key in slot {i} is out of order")


class Hashmap(Hashset):
    """The table of a hashset, then as many values; that of the key that has no slot is in the state."""
    name = "hashmap"

    @classmethod
    def bytes(cls, h):
        right = h.slots >= max(1, h.capacity) and h.width == 128 and h.hashes == 1
        return cls.STATE + 16 * h.slots if right else 0

    @classmethod
    def get(cls, image, key):
        """None if the key is not there."""
        hashed = image.hash_key(key)
        if not cls.has(image, key):
            return None
        if hashed == 0:
            return u64(image.payload, 8)
        return cls.slot(image, image.header.slots + cls.find(image, hashed))

    @classmethod
    def verify(cls, image):
        slots, zero = image.header.slots, u64(image.payload, 0)
        require(zero == 1 or u64(image.payload, 8) == 0, "a value without a key")
        cls.verify_keys(image, 16)
        for i in range(slots):
            require(cls.slot(image, i) or not cls.slot(image, slots + i), "a value without a key")


def require_zeros_from(image, bits):
    require(not any(image.bit(i) for i in range(bits, 8 * len(image.payload))),
            "bits past the end are set")


def probes(h, k, range_of_probe):
    """The positions of the k probes, each below range_of_probe."""
    for _ in range(k):
        yield scale64(h, range_of_probe)
        h = (h ^ h >> 32) * 0xD6E8FEB86659FD93 & MASK


class Bloom:
    name = "bloom"

    @staticmethod
    def bytes(h):
        right = h.slots >= 1 and 1 <= h.hashes <= 64 and h.width == 0
        return words_of(h.slots) if right else 0

    @staticmethod
    def has(image, key):
        h = image.header
        return all(image.bit(at) for at in probes(image.hash_key(key), h.hashes, h.slots))

    @staticmethod
    def verify(image):
        require_zeros_from(image, image.header.slots)


class Partitioned:
    name = "partitioned"

    @staticmethod
    def bytes(h):
        right = h.slots >= 1 and 1 <= h.hashes <= 64 and h.width == 0
        return words_of(h.slots * h.hashes) if right else 0

    @staticmethod
    def has(image, key):
        h = image.header
        places = probes(image.hash_key(key), h.hashes, h.slots)
        return all(image.bit(row * h.slots + at) for row, at in enumerate(places))

    @staticmethod
    def verify(image):
        require_zeros_from(image, image.header.slots * image.header.hashes)


class Blocked:
    name = "blocked"
    SALT = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D,
            0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)

    @staticmethod
    def bytes(h):
        return 32 * h.slots if h.slots >= 1 and h.width == 32 and h.hashes == 8 else 0

    @classmethod
    def has(cls, image, key):
        h = image.hash_key(key)
        block = 32 * scale64(h, image.header.slots)
        for i, salt in enumerate(cls.SALT):
            bit = (h * salt & 0xFFFFFFFF) >> 27
            if not u32(image.payload, block + 4 * i) >> bit & 1:
                return False
        return True

    @staticmethod
    def verify(image):
        """Every payload is valid."""


def probe(h, i):
    return mix64((h + i) & MASK) if i else h


def counters_of(x, k, w):
    """One in each of k rows of w."""
    for i in range(k):
        yield i * w + scale64(x, w)
        x = (x ^ x >> 32) * 0xD6E8FEB86659FD93 & MASK


class Spectral:
    name = "spectral"
    SUMS_ARE_EXACT = True

    @staticmethod
    def counters(h):
        return h.slots * h.hashes

    @classmethod
    def halves_end(cls, h):
        return 64 + 64 * h.width + 8 * -(-cls.counters(h) // 16)

    @classmethod
    def bytes(cls, h):
        ok = 1 <= h.hashes <= 64 and h.slots >= 2 and h.slots * h.hashes < 1 << 44 and h.width >= 1
        return cls.halves_end(h) if ok else 0

    @staticmethod
    def half(image, counter):
        byte = image.payload[64 + 64 * image.header.width + counter // 2]
        return byte >> counter % 2 * 4 & 15

    @staticmethod
    def find(image, tag):
        """The number of its entry, or of the empty one where it would be."""
        n = 8 * image.header.width
        at = scale64(mix64(tag), n)
        for step in range(n):
            entry = u64(image.payload, 64 + 8 * ((at + step) % n))
            if entry == 0 or entry >> 17 == tag:
                return (at + step) % n, entry
        return at, 0

    @classmethod
    def value(cls, image, counter):
        half, rest, more, digit = cls.half(image, counter), 0, True, 0
        while half == 15 and more and digit < 4:
            entry = cls.find(image, counter << 2 | digit)[1]
            rest += (entry & 0xFFFF) << 16 * digit
            more, digit = entry >> 16 & 1, digit + 1
        return half + rest

    @classmethod
    def has(cls, image, key):
        h = image.header
        return all(cls.half(image, c) for c in counters_of(image.hash_key(key), h.hashes, h.slots))

    @classmethod
    def verify_entry(cls, image, at):
        entry = u64(image.payload, 64 + 8 * at)
        tag, digit = entry >> 17, entry >> 17 & 3
        require(tag >> 2 < cls.counters(image.header) and cls.half(image, tag >> 2) == 15,
                "a digit belongs to no counter")
        require(cls.find(image, tag)[0] == at, "a digit is where it is not found")
        require(entry & 0x1FFFF, "a leading digit is 0")
        if digit:
            require(cls.find(image, tag - 1)[1] >> 16 & 1, "a digit has none before it")
        if entry >> 16 & 1:
            require(digit < 3 and cls.find(image, tag + 1)[1], "a digit has none after it")

    @classmethod
    def verify(cls, image):
        h = image.header
        require(not any(image.payload[8:64]), "unused state is set")
        used = [i for i in range(8 * h.width) if u64(image.payload, 64 + 8 * i)]
        require(u64(image.payload, 0) == len(used) <= 6 * h.width, "the number of digits is wrong")
        for at in used:
            cls.verify_entry(image, at)
        for i in range(cls.counters(h), 16 * -(-cls.counters(h) // 16)):
            require(not cls.half(image, i), "bits past the end are set")
        for row in range(h.hashes):
            total = sum(cls.value(image, row * h.slots + i) for i in range(h.slots))
            require(total == h.count or total < h.count and not cls.SUMS_ARE_EXACT,
                    "a row does not add up")


class SpectralMi(Spectral):
    name = "spectral-mi"
    SUMS_ARE_EXACT = False


class SpectralRm(Spectral):
    name = "spectral-rm"

    @staticmethod
    def counters(h):
        return h.hashes * (h.slots + h.slots // 2 + 1)

    @classmethod
    def bytes(cls, h):
        return super().bytes(h) and cls.halves_end(h) + 8 * -(-h.slots * h.hashes // 64)

    @classmethod
    def mark(cls, image, bit):
        return image.payload[cls.halves_end(image.header) + bit // 8] >> bit % 8 & 1

    @classmethod
    def verify(cls, image):
        super().verify(image)
        bits = image.header.slots * image.header.hashes
        for bit in range(bits, 64 * -(-bits // 64)):
            require(not cls.mark(image, bit), "bits past the end are set")


class Scalable:
    name = "scalable"
    TIGHTER = [math.ceil(256 * math.log2(math.pi ** 2 / 6 * (j + 1) ** 2)) for j in range(40)]

    @staticmethod
    def bytes(h):
        ok = 1 <= h.hashes <= 40 and 1 <= h.width <= 16384 and 1 <= h.slots < 1 << (50 - h.hashes)
        size = 32 * h.slots * ((1 << h.hashes) - 1) if ok else 0
        return 64 + size if ok and h.capacity <= 8 * size else 0

    @classmethod
    def stage_has(cls, image, j, h):
        first, blocks = image.header.slots * ((1 << j) - 1), image.header.slots << j
        for i in range(min(8, 1 + (image.header.width + cls.TIGHTER[j] - 1) // 2560)):
            x = probe(h * (1 + 2 * j * 0x9E3779B97F4A7C15) & MASK, i)
            block = 64 + 32 * (first + scale64(x, blocks))
            for word, salt in enumerate(Blocked.SALT):
                if not u32(image.payload, block + 4 * word) >> ((x * salt & 0xFFFFFFFF) >> 27) & 1:
                    return False
        return True

    @classmethod
    def has(cls, image, key):
        h = image.hash_key(key)
        return any(cls.stage_has(image, j, h) for j in range(image.header.hashes))

    @staticmethod
    def verify(image):
        require(not any(image.payload[8:64]), "bytes before the first stage are not zero")
        held = u64(image.payload, 0)
        require(held <= image.header.capacity, "it holds more keys than there is room for")
        require(held <= image.header.count, "it holds more keys than were added")


class Window:
    name = "window"

    @staticmethod
    def bytes(h):
        ok = 1 <= h.slots < 1 << 47 and h.width == 8 and 1 <= h.hashes <= 8 and h.capacity < 1 << 60
        return 64 + 256 * h.slots if ok else 0

    @staticmethod
    def has(image, key):
        h, common = image.hash_key(key), 0xFF
        for i in range(image.header.hashes):
            x = probe(h, i)
            block = 64 + 256 * scale64(x, image.header.slots)
            for word, salt in enumerate(Blocked.SALT):
                common &= image.payload[block + 32 * word + ((x * salt & 0xFFFFFFFF) >> 27)]
        return common != 0

    @staticmethod
    def verify(image):
        held, share = u64(image.payload, 8), max(1, (image.header.capacity + 6) // 7)
        require(not any(image.payload[16:64]), "bytes before the first block are not zero")
        require(held <= min(share, image.header.count), "the newest generation holds too many keys")


class Fuse:
    name = "fuse"
    arity = 3
    widest_window = 12

    @staticmethod
    def part_bits(h):
        bits = 0
        while h.capacity >> bits > 1 << 24:
            bits += 1
        return bits

    @staticmethod
    def stash(h):
        """Bytes of the bitmap, and hashes that there is room for."""
        return 128 if h.slots >> 16 else 8, 3 + (h.slots >> 16)

    @classmethod
    def part_bytes(cls, h):
        bitmap, stash = cls.stash(h)
        slack = 0 if h.width in (8, 16, 32) else 7
        return ((h.slots * h.width + 7) // 8 + slack + 8 + bitmap + 8 * stash + 63) // 64 * 64

    @classmethod
    def tail(cls, h):
        """Where in a part it begins."""
        bitmap, stash = cls.stash(h)
        return cls.part_bytes(h) - (8 + bitmap + 8 * stash)

    @classmethod
    def bytes(cls, h):
        block, window = h.hashes & 15, h.hashes >> 4
        shaped = (1 <= h.width <= 32 and 2 <= block <= 6 and window <= cls.widest_window
                  and h.slots < 1 << 31 and h.slots % (1 << block) == 0
                  and h.slots >> block > 1 << window and h.capacity < 1 << 40)
        return cls.part_bytes(h) << cls.part_bits(h) if shaped else 0

    @classmethod
    def slots(cls, h, g, lead):
        """The slots of a key, in its near block and in one of the window before it."""
        length, window = 1 << (h.hashes & 15), 1 << (h.hashes >> 4)
        starts = h.slots // length - window
        near = (window + ((lead >> 32) * starts >> 32)) * length
        far = near - 1 - (g >> 11) % (window * length)
        yield near + g % length
        yield near + (g + 1 + (g >> 6) % (length // 2)) % length
        yield far
        if cls.arity == 4:
            yield far // length * length + (far + 1 + (g >> 27) % (length // 2)) % length

    @classmethod
    def has(cls, image, key):
        header, h = image.header, image.hash_key(key)
        bits = cls.part_bits(header)
        part = (h >> 64 - bits) * cls.part_bytes(header)
        tail = image.payload[part + cls.tail(header):part + cls.part_bytes(header)]
        tries, stashed = tail[4], int.from_bytes(tail[6:8], "little")
        if tries == 0:
            return False
        g, lead = h, h << bits & MASK
        if tries > 1:
            g = lead = mix64(h ^ (tries - 1) * 0x9E3779B97F4A7C15 & MASK)
        found = (g >> 32) % (1 << 25) ^ (g % (1 << 32) * 0x9E3779B1 >> 32)
        for slot in cls.slots(header, g, lead):
            at = slot * header.width
            byte = part + at // 8
            found ^= int.from_bytes(image.payload[byte:byte + 8], "little") >> at % 8
        if found & (1 << header.width) - 1 == 0:
            return True
        bitmap, stash = cls.stash(header)
        in_bitmap = tail[8 + g // 8 % bitmap] >> g % 8 & 1
        return bool(in_bitmap) and any(u64(tail, 8 + bitmap + 8 * i) == g
                                       for i in range(min(stashed, stash)))

    @classmethod
    def verify(cls, image):
        size, total = cls.part_bytes(image.header), 0
        for at in range(cls.tail(image.header), len(image.payload), size):
            tail = image.payload[at:at + 8]
            stashed, keys = int.from_bytes(tail[6:8], "little"), u32(tail, 0)
            require(stashed <= cls.stash(image.header)[1], "a stash of more keys than fit")
            require((keys == 0) == (tail[4] == 0), "keys and no seed, or a seed and no keys")
            total += keys
        require(total == image.header.count, "the keys of the parts are not the count")


class Fuse4(Fuse):
    name = "fuse4"
    arity = 4


class Fuse5(Fuse):
    name = "fuse5"
    widest_window = 10

    @classmethod
    def slots(cls, h, g, lead):
        """One slot in each quarter of the near block, and one in a block of the window before it."""
        length, window = 1 << (h.hashes & 15), 1 << (h.hashes >> 4)
        starts, quarter = h.slots // length - window, length // 4
        near = (window + ((lead >> 32) * starts >> 32)) * length
        for i in range(4):
            yield near + i * quarter + (g >> 4 * i) % quarter
        yield near - 1 - (g >> 16) % (window * length)


class Xor(Fuse):
    name = "xor"
    third = 1
    HEAD, STASH = 32, 3
    MULTIPLIER = 0x243F6A8885A308D3

    @classmethod
    def length(cls, h):
        return h.slots // (2 + cls.third)

    @classmethod
    def head_at(cls, h):
        return 0

    @classmethod
    def stored(cls, h):
        """Slots that are in the array."""
        return h.slots

    @classmethod
    def part_bytes(cls, h):
        slack = 0 if h.width in (8, 16, 32) else 7
        array = (cls.stored(h) * h.width + 7) // 8 + slack
        return (cls.head_at(h) + cls.HEAD + array + 63) // 64 * 64

    @classmethod
    def bytes(cls, h):
        shaped = (1 <= h.width <= 32 and h.hashes == 3 and 2 + cls.third <= h.slots < 1 << 31
                  and h.slots % (2 + cls.third) == 0 and h.capacity < 1 << 48)
        return cls.part_bytes(h) << cls.part_bits(h) if shaped else 0

    @classmethod
    def slot(cls, image, part, i):
        width = image.header.width
        at = i * width
        byte = part + cls.head_at(image.header) + cls.HEAD + at // 8
        return int.from_bytes(image.payload[byte:byte + 8], "little") >> at % 8 & (1 << width) - 1

    @classmethod
    def third_slot(cls, image, part, i):
        return cls.slot(image, part, 2 * cls.length(image.header) + i)

    @classmethod
    def has(cls, image, key):
        header, h = image.header, image.hash_key(key)
        bits, length = cls.part_bits(header), cls.length(header)
        part = (h >> 64 - bits) * cls.part_bytes(header)
        head = image.payload[part + cls.head_at(header):][:cls.HEAD]
        keys, seed, stashed = u32(head, 0), head[4], min(head[5], cls.STASH)
        if keys == 0:
            return False
        shift = max(bits, 6)
        mark = (h << bits & MASK) >> shift
        if any(u64(head, 8 + 8 * i) == mark for i in range(stashed)):
            return True
        scattered = seed >= 8
        spread = (seed * GOLDEN & MASK) >> 1 | scattered << 63
        g = fold(mark ^ spread, cls.MULTIPLIER)
        first = g * GOLDEN & MASK if scattered else mark << shift
        found = (mark ^ cls.slot(image, part, scale64(first, length))
                 ^ cls.slot(image, part, length + ((g >> 32) * length >> 32))
                 ^ cls.third_slot(image, part, (g & 0xFFFFFFFF) * (cls.third * length) >> 32))
        return found & (1 << header.width) - 1 == 0

    @classmethod
    def verify(cls, image):
        h, total = image.header, 0
        for part in range(0, len(image.payload), cls.part_bytes(h)):
            head = part + cls.head_at(h)
            require(image.payload[head + 5] <= cls.STASH, "a stash of more keys than fit")
            cls.verify_third(image, part)
            total += u32(image.payload, head)
        require(total == h.count, "the keys of the parts are not the count")

    @classmethod
    def verify_third(cls, image, part):
        """All slots are there."""


class Xorplus(Xor):
    name = "xorplus"
    third = 2
    LINE, LINE_BITS = 64, 448

    @classmethod
    def head_at(cls, h):
        whole, rest = divmod(cls.third * cls.length(h), cls.LINE_BITS)
        return whole * cls.LINE + (8 + words_of(rest) if rest else 0)

    @classmethod
    def kept(cls, h):
        owned = h.slots * 318 // 1024
        return owned - (owned >> h.width) + 2 * math.isqrt(owned) + 2

    @classmethod
    def stored(cls, h):
        return 2 * cls.length(h) + cls.kept(h)

    @classmethod
    def line(cls, image, part, number):
        """The counts of a line and its bits, as a number each."""
        at = part + cls.LINE * number
        size = min(cls.LINE, part + cls.head_at(image.header) - at)
        return u64(image.payload, at), int.from_bytes(image.payload[at + 8:at + size], "little")

    @classmethod
    def third_slot(cls, image, part, i):
        header = image.header
        number, bit = divmod(i, cls.LINE_BITS)
        counts, bits = cls.line(image, part, number)
        if not bits >> bit & 1:
            return 0
        pair = bit // 128
        before = (counts & 0xFFFFFFFF) + (counts >> 32 << 9 >> 9 * pair & 511)
        before += bin(bits >> 128 * pair & (1 << bit % 128) - 1).count("1")
        return cls.slot(image, part,
                        min(2 * cls.length(header) + before, cls.stored(header) - 1))

    @classmethod
    def verify_third(cls, image, part):
        length, before = cls.third * cls.length(image.header), 0
        for number in range((length + cls.LINE_BITS - 1) // cls.LINE_BITS):
            counts, bits = cls.line(image, part, number)
            here = min(length - number * cls.LINE_BITS, cls.LINE_BITS)
            right = before + sum(bin(bits & (1 << 128 * i) - 1).count("1") << 23 + 9 * i
                                 for i in (1, 2, 3) if here > 128 * i)
            require(counts == right and bits >> here == 0,
                    "slots that are not zero are counted wrong")
            before += bin(bits).count("1")
        require(before <= cls.kept(image.header), "slots that are not zero are counted wrong")


class Level:
    """One of the chain that makes up a part of a ribbon filter."""

    def __init__(self, keys, at, number, width, unit=8):
        self.keys, self.at, self.number = keys, at, number
        self.last = keys <= 4096
        self.segment_bits = 0
        if self.last:
            slots = max(keys, 1) + (keys // 40 if keys > 64 else 0)
            self.segment = self.slots = (slots + 7) // 8 * 8
            self.slots_at = at
            self.state_at = at + width * self.slots // 8
            self.end = self.state_at + 8
        else:
            while keys * 247 // 256 >> self.segment_bits >= 2**18:
                self.segment_bits += 1
            self.segment = (keys * 247 // 256 >> self.segment_bits) // 128 * 128
            self.slots = self.segment << self.segment_bits
            self.slots_at = at + ((self.slots // 128 + 3) // 4 + unit - 1) // unit * unit
            self.end = self.slots_at + width * self.slots // 8

    def start(self, y):
        rest = y << self.segment_bits & MASK
        return ((y >> 64 - self.segment_bits) * self.segment +
                scale64(rest, max(self.segment - 63, 1)))

    def next(self, width):
        m = self.slots
        keys = self.keys - m + m // 740 + (27 << self.segment_bits) + math.isqrt(m) + 37
        return Level(keys, self.end, self.number + 1, width)


def part_bits(h):
    bits = 0
    while h.capacity >> bits > 2**24:
        bits += 1
    return bits


def parts_of(image):
    size = len(image.payload) >> part_bits(image.header)
    return [image.payload[at:at + size] for at in range(0, len(image.payload), size)]


def part_of(image, hashed):
    bits = part_bits(image.header)
    size = len(image.payload) >> bits
    at = (hashed >> 64 - bits) * size
    return image.payload[at:at + size]


def up_to_64(n):
    return (n + 63) // 64 * 64


def fingerprint(y, width):
    return (y * 0x243F6A8885A308D3 & MASK) >> 64 - width


class Equations:
    """A chain of levels with room for some keys, and what the slots of a key add up to."""
    CUT = (128, 44, 16, 0)

    def __init__(self, room, width, bits, first_hash, at=0):
        self.width, self.bits = width, bits
        self.levels = [Level(room, at, first_hash, width, unit=64)]
        while not self.levels[-1].last:
            self.levels.append(self.levels[-1].next(width))
        self.at, self.end = at, self.levels[-1].end
        self.used = self.levels[-1].state_at + 1

    def word(self, part, hashed):
        """And the hash it was found with; None if there are no keys."""
        for level in self.levels:
            state = part[level.state_at] if level.last else 1
            if state == 0:
                return None
            draw = level.number + state - 1
            y = mix64(hashed + draw * 0x9E3779B97F4A7C15 & MASK) if draw else hashed
            spread = y << self.bits & MASK if level.number == 0 else y
            start = level.start(spread)
            if level.last or not self.is_bumped(part, level, start):
                return self.sum(part, level, start, y), y
        return None

    def is_bumped(self, part, level, start):
        bucket = start // 128
        threshold = part[level.at + bucket // 4] >> bucket % 4 * 2 & 3
        return start % 128 < self.CUT[threshold]

    def sum(self, part, level, start, y):
        row, word = y * 0xBF58476D1CE4E5B9 & MASK | 1, 0
        for j in range(self.width):
            for i in range(min(64, level.slots)):
                slot = start + i
                if level.last:
                    bit = 8 * level.slots_at + j * level.slots + slot
                else:
                    bit = 8 * level.slots_at + (slot // 64 * self.width + j) * 64 + slot % 64
                word ^= (row >> i & part[bit >> 3] >> (bit & 7) & 1) << j
        return word


class Ribbon:
    name = "ribbon"

    @staticmethod
    def equations(h):
        return Equations(h.slots, h.width, part_bits(h), h.hashes >> 8)

    @classmethod
    def bytes(cls, h):
        if not (h.slots <= 2**30 and 1 <= h.width <= 32 and h.hashes < 2**16):
            return 0
        e = cls.equations(h)
        return up_to_64(e.end) << part_bits(h) if h.hashes % 256 == len(e.levels) else 0

    @classmethod
    def has(cls, image, key):
        hashed = image.hash_key(key)
        found = cls.equations(image.header).word(part_of(image, hashed), hashed)
        return found is not None and found[0] == fingerprint(found[1], image.header.width)

    @classmethod
    def verify(cls, image):
        used = cls.equations(image.header).used
        require(not any(any(part[used:]) for part in parts_of(image)), "bytes after the last level")


class Map:
    """Values of `width` bits, then fingerprints of `hashes` mod 256 bits."""
    name = "map"

    @staticmethod
    def equations(h):
        return Equations(h.slots, h.width + h.hashes % 256, part_bits(h), h.hashes >> 8)

    @classmethod
    def bytes(cls, h):
        right = (h.slots <= 2**30 and 1 <= h.width <= 32 and 1 <= h.hashes % 256 <= 32
                 and h.hashes < 2**16)
        return up_to_64(cls.equations(h).end) << part_bits(h) if right else 0

    @classmethod
    def get(cls, image, key):
        """None for a stranger."""
        h, hashed = image.header, image.hash_key(key)
        found = cls.equations(h).word(part_of(image, hashed), hashed)
        if found is None or found[0] >> h.width != fingerprint(found[1], h.hashes % 256):
            return None
        return found[0] & (1 << h.width) - 1

    @classmethod
    def has(cls, image, key):
        return cls.get(image, key) is not None

    @classmethod
    def verify(cls, image):
        used = cls.equations(image.header).used
        require(not any(any(part[used:]) for part in parts_of(image)), "bytes after the last level")


class Cascade:
    """A sieve, then a bit for each key that passes it."""
    name = "cascade"
    FLAG = INVERTED

    @staticmethod
    def sieve(h):
        bits = h.width % 256
        return Equations(h.slots, bits, part_bits(h), h.width >> 8) if bits else None

    @classmethod
    def rest(cls, h):
        sieve = cls.sieve(h)
        passing = (h.slots * h.hashes >> 16) + (h.slots > 0)
        at = up_to_64(sieve.end) if sieve else 0
        return Equations(h.slots + passing, 1, part_bits(h), h.width >> 8, at)

    @classmethod
    def bytes(cls, h):
        right = (h.slots <= 2**28 and h.width % 256 <= 32 and h.width < 2**16
                 and h.slots + (h.slots * h.hashes >> 16) + (h.slots > 0) <= 2**30)
        return up_to_64(cls.rest(h).end) << part_bits(h) if right else 0

    @classmethod
    def has(cls, image, key):
        h, hashed = image.header, image.hash_key(key)
        part, sieve = part_of(image, hashed), cls.sieve(h)
        if h.count == 0:
            return False
        if sieve:
            found = sieve.word(part, hashed)
            if found is None or found[0] != fingerprint(found[1], h.width % 256):
                return h.flags == INVERTED
        found = cls.rest(h).word(part, hashed)
        return found is not None and found[0] != (found[1] * 0x243F6A8885A308D3 >> 31 & 1)

    @classmethod
    def verify(cls, image):
        sieve, rest = cls.sieve(image.header), cls.rest(image.header)
        for part in parts_of(image):
            require(not (sieve and any(part[sieve.used:rest.at])), "bytes after the sieve")
            require(not any(part[rest.used:]), "bytes after the last level")


class Gcs:
    name = "gcs"
    LINE, BUCKET_KEYS, PART_KEYS = 64, 128, 2**24

    @classmethod
    def shape(cls, h):
        """Bits that choose the part, buckets in a part, bytes of a part."""
        bits = next(c for c in range(64) if h.capacity >> c <= cls.PART_KEYS)
        return bits, (h.capacity >> bits) // cls.BUCKET_KEYS + 1, cls.LINE * h.hashes

    @classmethod
    def bytes(cls, h):
        bits, buckets, size = cls.shape(h)
        distance = buckets * h.slots // max(1, h.capacity >> bits)
        rest = max(1, distance - distance // 27).bit_length() - 1
        right = (1 <= h.slots and h.width == rest <= 56 and 1 <= h.hashes < 2**23 and h.capacity < 2**48
                 and buckets * h.slots << bits < 2**63 and 4 * (buckets + 1) < size)
        return size << bits if right else 0

    @classmethod
    def bucket(cls, image, part, i):
        """The bits of a bucket as one number, and how many they are."""
        _, buckets, size = cls.shape(image.header)
        index = size * part + size - 4 * (buckets + 1) + 4 * i
        start, end = u32(image.payload, index), u32(image.payload, index + 4)
        require(start <= end <= 8 * (size - 4 * (buckets + 1)), "offsets do not ascend")
        first = size * part + start // 8
        number = int.from_bytes(image.payload[first:size * part + (end + 7) // 8], "little")
        return number >> start % 8 & (1 << end - start) - 1, end - start

    @classmethod
    def values(cls, image, part, i):
        code, size = cls.bucket(image, part, i)
        at, value, width = 0, -1, image.header.width
        while at < size:
            distance = 0
            while not code >> at & 1:
                at, distance = at + 1, distance + 1
                require(at + width < size, "a bucket does not end with a key")
            at, size = at + 1, size - width
            require(at <= size, "a bucket does not end with a key")
            value += 1 + (distance << width | code >> size & (1 << width) - 1)
            require(value < image.header.slots, "a value is out of range")
            yield value

    @classmethod
    def has(cls, image, key):
        bits, buckets, _ = cls.shape(image.header)
        h = image.hash_key(key) << bits
        cell = scale64(h & MASK, buckets * image.header.slots)
        bucket, value = divmod(cell, image.header.slots)
        return value in cls.values(image, h >> 64, bucket)

    @classmethod
    def verify(cls, image):
        bits, buckets, size = cls.shape(image.header)
        values = 0
        for part in range(1 << bits):
            values += sum(1 for i in range(buckets) for _ in cls.values(image, part, i))
            index = size * (part + 1) - 4 * (buckets + 1)
            end = 8 * size * part + u32(image.payload, index + 4 * buckets)
            require(u32(image.payload, index) == 0, "the first offset is not zero")
            require(not any(image.bit(i) for i in range(end, 8 * index)),
                    "bits past the end are set")
        require(values <= image.header.count, "the number of keys is wrong")


class Quotient:
    name = "quotient"
    FLAG = GROWS
    OCCUPIED, CONTINUED, SHIFTED, REMAINDERS = 0, 8, 16, 24

    @classmethod
    def bytes(cls, h):
        right = (1 <= h.width <= 32 and h.hashes == 0 and h.capacity < h.slots
                 and h.slots << h.width < 2**63)
        return -(-h.slots // 64) * (cls.REMAINDERS + 8 * h.width) + 8 if right else 0

    @classmethod
    def block(cls, h, slot):
        """Where the block of a slot starts, and the number of the slot in there."""
        return slot // 64 * (cls.REMAINDERS + 8 * h.width), slot % 64

    @classmethod
    def bit(cls, image, which, slot):
        block, i = cls.block(image.header, slot)
        return image.bit(8 * (block + which) + i)

    @classmethod
    def remainder(cls, image, slot):
        width = image.header.width
        block, i = cls.block(image.header, slot)
        first, shift = divmod(8 * (block + cls.REMAINDERS) + i * width, 8)
        return u64(image.payload, first) >> shift & (1 << width) - 1

    @classmethod
    def end(cls, image, start):
        """Of the run that starts there."""
        slots = image.header.slots
        for i in range(start + 1, start + slots):
            if not cls.bit(image, cls.CONTINUED, i % slots):
                return i
        raise ImageError("CORRUPT", "a run does not end")

    @classmethod
    def run(cls, image, quotient):
        """The remainders of a quotient: from the start of its cluster, as many runs further as
        there are occupied quotients between."""
        slots = image.header.slots
        if not cls.bit(image, cls.OCCUPIED, quotient):
            return []
        skip, start = 0, quotient
        while cls.bit(image, cls.SHIFTED, start % slots):
            skip += cls.bit(image, cls.OCCUPIED, start % slots)
            start -= 1
            require(quotient - start < slots, "no slot is at home")
        for _ in range(skip):
            start = cls.end(image, start)
        return [cls.remainder(image, i % slots) for i in range(start, cls.end(image, start))]

    @classmethod
    def has(cls, image, key):
        h = image.header
        quotient, remainder = divmod(scale64(image.hash_key(key), h.slots << h.width), 1 << h.width)
        return remainder in cls.run(image, quotient)

    @classmethod
    def laid_out(cls, h, prints, free):
        """The payload that holds them, where the first `free` slots are taken by those that wrap
        around the end; and how many slots do that."""
        payload = bytearray(cls.bytes(h))

        def set_bits(byte, bit, value):
            first, shift = byte + bit // 8, bit % 8
            held = u64(payload, first) | value << shift
            payload[first:first + 8] = held.to_bytes(8, "little")

        for n, value in enumerate(prints):
            quotient, remainder = divmod(value, 1 << h.width)
            free = max(free, quotient)
            home, i = cls.block(h, quotient)
            set_bits(home + cls.OCCUPIED, i, 1)
            block, i = cls.block(h, free % h.slots)
            set_bits(block + cls.CONTINUED, i, int(n > 0 and prints[n - 1] >> h.width == quotient))
            set_bits(block + cls.SHIFTED, i, int(free != quotient))
            set_bits(block + cls.REMAINDERS, i * h.width, remainder)
            free += 1
        return bytes(payload), max(0, free - h.slots)

    @classmethod
    def verify(cls, image):
        h = image.header
        prints = [quotient << h.width | remainder for quotient in range(h.slots)
                  for remainder in cls.run(image, quotient)]
        require(len(prints) == h.count <= h.capacity, "the number of keys is wrong")
        require(prints == sorted(prints), "a run is not sorted")
        free, (payload, wrapped) = 0, cls.laid_out(h, prints, 0)
        while wrapped != free:
            free, (payload, wrapped) = wrapped, cls.laid_out(h, prints, wrapped)
        require(payload == bytes(image.payload), "a slot is not where it belongs")


class Cqf:
    """Runs of remainders in shards of blocks of 64 slots."""
    name = "cqf"
    FLAG, HAS_LOAD = GROWS, True
    BLOCK, HEADER, BITS, FAR = 64, 64, 17, 255

    @classmethod
    def shape(cls, h):
        """Bits that choose the shard, its slots, and how many of those may be in use."""
        bits = max(0, h.slots.bit_length() - cls.BITS)
        mean = (h.capacity >> bits) + 1
        room = mean + 6 * (math.isqrt(mean) + 1) if bits else h.capacity
        return bits, h.slots >> bits, room

    @classmethod
    def slot_bits(cls, h):
        return h.width

    @classmethod
    def size(cls, h):
        return up_to_64(cls.HEADER + cls.shape(h)[1] // cls.BLOCK * (17 + 8 * cls.slot_bits(h)) + 8)

    @classmethod
    def shard_size(cls, h):
        return cls.size(h)

    @classmethod
    def bytes(cls, h):
        bits, slots, room = cls.shape(h)
        right = (0 < h.slots <= 2**48 and h.slots % (cls.BLOCK << bits) == 0
                 and 2 <= h.width <= 32 and h.slots << h.width < 2**63
                 and h.hashes == 1 and h.capacity < h.slots and room < slots)
        return cls.size(h) << bits if right else 0

    @classmethod
    def lists(cls, image, shard):
        """Occupied quotients, last slots of runs, offset of the first block, all slots."""
        h, at = image.header, shard * cls.shard_size(image.header) + cls.HEADER
        occupied, ends, slots, wide = [], [], [], cls.slot_bits(image.header)
        for block in range(cls.shape(h)[1] // cls.BLOCK):
            words = [int.from_bytes(image.payload[a:b], "little") for a, b in
                     ((at, at + 8), (at + 8, at + 16), (at + 17, at + 17 + 8 * wide))]
            occupied += [64 * block + j for j in range(64) if words[0] >> j & 1]
            ends += [64 * block + j for j in range(64) if words[1] >> j & 1]
            slots += [words[2] >> j * wide & (1 << wide) - 1 for j in range(64)]
            at += 17 + 8 * wide
        return occupied, ends, slots

    @classmethod
    def digits(cls, run, x, width):
        """The count of x whose slots `run` starts with, and how many slots."""
        if run[:3] == ([x, 0, x] if x else [0, 0, 0]):
            return 3, 3
        if x and run[1:2] == [x] or run[1:2] == [0] == [x]:
            return 2, 2
        if len(run) < 3 or x and run[1] > x:
            return 1, 1
        end = next((i for i in range(1, len(run)) if run[i] == x), None)
        if end is None or x == 0 and run[end:end + 2] != [0, 0]:
            return 1, 1
        base, value = 2**width - (2 if x else 1), 0
        for digit in run[1:end]:
            if digit:
                value = value * base + digit - 1 - (x and digit > x)
        return (value + 3, end + 1) if x else (value + 4, end + 2)

    @classmethod
    def code(cls, x, count, width):
        if count < 4:
            return [x] * count if count < 3 or x == 0 else [x, 0, x]
        base, value, digits = 2**width - (2 if x else 1), count - (3 if x else 4), []
        while value or not digits:
            value, digit = divmod(value, base)
            digits.insert(0, digit + 1 + (x != 0 and digit + 1 >= x))
        if x == 0:
            return [0, *digits, 0, 0]
        return [x, *([0] if digits[0] > x else []), *digits, x]

    @classmethod
    def runs(cls, image, shard):
        """(quotient, slots) of each run. Runs from before the end may take the first slots: some
        number of the first ends are theirs."""
        occupied, ends, slots = cls.lists(image, shard)
        require(len(occupied) == len(ends), "runs and their ends differ in number")
        for around in range(len(ends) + 1):
            turned = ends[around:] + [len(slots) + e for e in ends[:around]]
            after, found = (ends[around - 1] + 1 if around else 0), []
            for quotient, end in zip(occupied, turned):
                start = max(after, quotient)
                found.append((quotient, [slots[i % len(slots)] for i in range(start, end + 1)]))
                after = end + 1
            if all(run for _, run in found):
                return found
        raise ImageError("CORRUPT", "runs do not end after their quotients")

    @classmethod
    def counts(cls, image, shard):
        """Count by fingerprint, ascending."""
        width, held = image.header.width, {}
        for quotient, run in cls.runs(image, shard):
            while run:
                count, used = cls.digits(run, run[0], width)
                held[quotient << width | run[0]] = count
                run = run[used:]
        return held

    @classmethod
    def has(cls, image, key):
        h, hashed = image.header, image.hash_key(key)
        bits, slots, _ = cls.shape(h)
        if not hasattr(image, "held"):
            image.held = {}
        shard = hashed >> 64 - bits
        if shard not in image.held:
            image.held[shard] = cls.counts(image, shard)
        return scale64(hashed << bits & MASK, slots << h.width) in image.held[shard]

    @classmethod
    def rebuilt(cls, h, held):
        """The shard that these counts make."""
        runs = {}
        for fingerprint_, count in sorted(held.items()):
            x = fingerprint_ & (1 << h.width) - 1
            runs.setdefault(fingerprint_ >> h.width, []).extend(cls.code(x, count, h.width))
        return cls.laid_out(h, runs)

    @classmethod
    def laid_out(cls, h, runs):
        """The shard with these slots by quotient, ascending."""
        slots, around, before = cls.shape(h)[1], 0, None
        while around != before:
            before, after = around, around
            for quotient, run in runs.items():
                after = max(after, quotient) + len(run)
            around = max(0, after - slots)
        values, ends, after, offsets = [0] * slots, [0] * slots, around, []
        for quotient in range(slots):
            if quotient % cls.BLOCK == 0:
                offsets.append(min(cls.FAR, max(0, after - quotient)))
            for x in runs.get(quotient, []):
                after = max(after, quotient)
                values[after % slots] = x
                after += 1
            ends[(after - 1) % slots] |= quotient in runs
        out = sum(map(len, runs.values())).to_bytes(8, "little") + bytes(cls.HEADER - 8)
        for block, offset in enumerate(offsets):
            mine = range(cls.BLOCK * block, cls.BLOCK * (block + 1))
            occupied = sum((i in runs) << i % 64 for i in mine)
            ending = sum(ends[i] << i % 64 for i in mine)
            packed = sum(values[i] << i % 64 * cls.slot_bits(h) for i in mine)
            out += (occupied.to_bytes(8, "little") + ending.to_bytes(8, "little")
                    + bytes([offset]) + packed.to_bytes(8 * cls.slot_bits(h), "little"))
        return out.ljust(cls.size(h), b"\0")

    @classmethod
    def verify(cls, image):
        h, total = image.header, 0
        bits, _, room = cls.shape(h)
        for shard in range(1 << bits):
            held = cls.counts(image, shard)
            part = image.payload[shard * cls.size(h):(shard + 1) * cls.size(h)]
            require(part == cls.rebuilt(h, held), "what it holds would be written otherwise")
            require(u64(part, 0) <= room, "too many slots are in use")
            total += sum(held.values())
        require(total == h.count, "the number of keys is wrong")


class Aqf(Cqf):
    """Runs of items: a remainder, chunks of the hash after it, digits of the count. Behind the
    table of a shard, the hash of each item's key in the place of its first slot."""
    name = "aqf"
    FLAG = GROWS | ASKS_KEYS

    @classmethod
    def shape(cls, h):
        bits, slots, needed = super().shape(h)
        return bits, slots, slots - 1 - slots // 32

    @classmethod
    def slot_bits(cls, h):
        return h.width + 1

    @classmethod
    def keeps_keys(cls, h):
        return not h.flags & ASKS_KEYS

    @classmethod
    def shard_size(cls, h):
        return cls.size(h) + (8 * cls.shape(h)[1] if cls.keeps_keys(h) else 0)

    @classmethod
    def bytes(cls, h):
        bits, slots, room = cls.shape(h)
        right = (0 < h.slots <= 2**48 and h.slots % (cls.BLOCK << bits) == 0
                 and 2 <= h.width <= 31 and h.slots << h.width < 2**63 and h.hashes == 1
                 and h.capacity < h.slots and super().shape(h)[2] <= room)
        return cls.shard_size(h) << bits if right else 0

    @classmethod
    def items(cls, run):
        """[remainder, chunks, count digits] of each item of a run."""
        found = []
        for slot in run:
            if not slot & 1:
                found.append([slot >> 1, [], []])
                continue
            require(found, "a run begins in the middle of an item")
            require(slot & 2 or not found[-1][2], "a chunk comes after a digit")
            found[-1][2 if slot & 2 else 1].append(slot >> 2)
        return found

    @classmethod
    def prefix(cls, h, quotient, item):
        """The bits that hashes of an item start with, as text: after those of scale64()."""
        c = h.width - 1
        return (quotient << h.width | item[0],
                "".join(f"{chunk:0{c}b}" for chunk in item[1]))

    @classmethod
    def place(cls, h, hashed):
        """Shard, fingerprint in it, and the bits after that."""
        bits, slots, _ = cls.shape(h)
        product = (hashed << bits & MASK) * (slots << h.width)
        tail = hashed * (h.slots << h.width) & MASK
        return (hashed >> 64 - bits if bits else 0), product >> 64, f"{tail:064b}" + "0" * 64

    @classmethod
    def held_in(cls, image, shard):
        """By fingerprint: the texts of its items."""
        held = {}
        for quotient, run in cls.runs(image, shard):
            for item in cls.items(run):
                print_, text = cls.prefix(image.header, quotient, item)
                held.setdefault(print_, []).append(text)
        return held

    @classmethod
    def has(cls, image, key):
        shard, print_, tail = cls.place(image.header, image.hash_key(key))
        if not hasattr(image, "held"):
            image.held = {}
        if shard not in image.held:
            image.held[shard] = cls.held_in(image, shard)
        return any(tail.startswith(text) for text in image.held[shard].get(print_, []))

    @classmethod
    def check_run(cls, h, quotient, run):
        """Items and their counts."""
        items, c = cls.items(run), h.width - 1
        texts = [cls.prefix(h, quotient, item) for item in items]
        require(texts == sorted(texts), "a run is out of order")
        for (print_, text), (after, next_) in zip(texts, texts[1:]):
            require(print_ != after or not next_.startswith(text), "an item begins with another")
        counts = []
        for _, chunks, digits in items:
            require(len(chunks) * c < 64 + c, "an item is too long")
            require(not digits or digits[-1], "a count has a zero too many")
            counts.append(1 + sum(d << c * i for i, d in enumerate(digits)))
        return texts, counts

    @classmethod
    def verify(cls, image):
        h, total = image.header, 0
        bits, slots, room = cls.shape(h)
        for shard in range(1 << bits):
            part = image.payload[shard * cls.shard_size(h):(shard + 1) * cls.shard_size(h)]
            runs, texts = dict(cls.runs(image, shard)), []
            for quotient, run in runs.items():
                found, counts = cls.check_run(h, quotient, run)
                texts += found
                total += sum(counts)
            require(part[:cls.size(h)] == cls.laid_out(h, runs),
                    "what it holds would be written otherwise")
            require(u64(part, 0) <= room, "too many slots are in use")
            if cls.keeps_keys(h):
                cls.check_hashes(image, shard, part[cls.size(h):], texts)
        require(total == h.count, "the number of keys is wrong")

    @classmethod
    def check_hashes(cls, image, shard, hashes, texts):
        """Each hash leads to an item, and there is one for each."""
        wanted, found = {t: 0 for t in texts}, 0
        for i in range(0, len(hashes), 8):
            hashed = u64(hashes, i)
            if hashed:
                number, print_, tail = cls.place(image.header, hashed)
                mine = [t for t in texts if t[0] == print_ and tail.startswith(t[1])]
                require(number == shard and len(mine) == 1, "a hash leads to no item")
                found += 1
        require(found in (len(wanted), len(wanted) - 1), "hashes and items differ in number")


class Aleph(Cqf):
    """Runs of fingerprints of many lengths, in one table that is laid out as a shard."""
    name = "aleph"
    FLAG, EVEN = 0, 21

    @classmethod
    def shape(cls, h):
        now = h.hashes % 256
        return 0, h.slots, ((h.slots >> now) * h.load // 1000 << now) - 1

    @classmethod
    def more(cls, narrow, size):
        if size < narrow:
            return 0
        return 1 if size < cls.EVEN else 4 + 2 * ((size - 20).bit_length() - 1)

    @classmethod
    def lengths(cls, h):
        """Bits that fingerprints may have: those of each size when they were new, less one for
        each doubling since."""
        now, narrow = h.hashes % 256, h.hashes // 256
        least = h.width - 1 - cls.more(narrow, now)
        return {max(0, least + cls.more(narrow, size) - (now - size)) for size in range(now + 1)}

    @classmethod
    def bytes(cls, h):
        now, narrow = h.hashes % 256, h.hashes // 256
        right = (now <= 40 and 1 <= narrow <= cls.EVEN and h.width <= 32
                 and h.width - 1 - cls.more(narrow, now) >= 1
                 and 0 < h.slots <= 2**48 and h.slots % (64 << now) == 0
                 and h.slots << h.width - 1 < 2**63
                 and (h.slots >> now) * h.load >= 1000 and h.capacity <= cls.shape(h)[2])
        return cls.size(h) if right else 0

    @classmethod
    def print(cls, x, width):
        """The bits in a slot, as text."""
        return f"{x:0{width}b}".rstrip("0")[:-1]

    @classmethod
    def has(cls, image, key):
        width = image.header.width
        if not hasattr(image, "held"):
            image.held = dict(cls.runs(image, 0))
        whole = scale64(image.hash_key(key), image.header.slots << width - 1)
        own = f"{whole % (1 << width - 1):0{width - 1}b}"
        return any(own.startswith(cls.print(x, width))
                   for x in image.held.get(whole >> width - 1, []))

    @classmethod
    def verify(cls, image):
        h, lengths, used = image.header, cls.lengths(image.header), 0
        held = dict(cls.runs(image, 0))
        for run in held.values():
            require(all(run), "a slot of a run is empty")
            prints = [cls.print(x, h.width) for x in run]
            require(prints == sorted(prints, key=lambda bits: (bits.ljust(32, "0"), len(bits))),
                    "a run is out of order")
            require({len(bits) for bits in prints} <= lengths, "a length is impossible")
            used += len(run)
        require(image.payload == cls.laid_out(h, held), "what it holds would be written otherwise")
        require(h.count <= used <= cls.shape(h)[2], "too many slots are in use, or too few")
        require(0 in lengths or h.count == used, "the number of keys is wrong")


class Surplus:
    """How many keys of a class there are beyond its ceiling."""
    WINDOW, CLASS_BITS = 16, 56

    def __init__(self, slots, shift, class_bits):
        few = slots >> shift
        self.entries = 2 + min(few, 2) + few // 64 if class_bits <= self.CLASS_BITS else 0
        self.class_bits = class_bits

    def bytes(self):
        return 1 + 8 * self.entries if self.entries else 0

    def verify(self, image, full):
        """`full`: the classes that are at their ceiling."""
        if self.entries == 0:
            return
        at, seen = len(image.payload) - self.bytes(), set()
        require(image.payload[at] <= 1, "the surplus is neither known nor lost")
        for i in range(self.entries):
            more, name = divmod(u64(image.payload, at + 1 + 8 * i), 1 << self.class_bits)
            require(more or not name, "an empty entry of the surplus is in use")
            if more:
                home = scale64(name * 0x9E3779B97F4A7C15 & MASK, self.entries)
                require((i - home) % self.entries < self.WINDOW and name not in seen,
                        "an entry of the surplus is not in its place")
                require(name in full, "a class has a surplus, but is not at its ceiling")
                seen.add(name)


class Cuckoo:
    """Two windows of two slots each, anywhere; a slot tells which of the four places it is."""
    name = "cuckoo"
    FLAG, STASH, CEILING = EXACT_DELETE, 4, 3

    @classmethod
    def surplus(cls, h):
        return Surplus(h.slots, 3 * h.width - 12, (h.slots - 2).bit_length() + h.width - 2)

    @classmethod
    def stash_at(cls, h):
        return (h.slots * h.width + 7) // 8

    @classmethod
    def bytes(cls, h):
        whole = 3 + 64 - (h.slots - 1).bit_length() if h.slots else 0
        right = (6 <= h.width <= 64 and h.hashes == 0 and 5 <= h.slots <= 2**45
                 and (h.flags == 0 or h.width >= whole))
        return cls.stash_at(h) + 8 + 8 * cls.STASH + cls.surplus(h).bytes() if right else 0

    @staticmethod
    def step(starts, bits):
        x = (bits ^ bits >> 32) * 0x9E3779B1 & 2**32 - 1
        x = (x ^ x >> 15) * 0x85EBCA77 & 2**32 - 1
        return 2 + scale64(x << 32, starts - 3)

    @staticmethod
    def key_class(h, hashed):
        """The first window and the fingerprint."""
        starts = h.slots - 1
        return scale64(hashed, starts), (hashed * starts & MASK) >> 66 - h.width

    @classmethod
    def places(cls, h, first, bits):
        """What each place of the class would hold: (slot, value)."""
        second = (first + cls.step(h.slots - 1, bits)) % (h.slots - 1)
        slots = (first, first + 1, second, second + 1)
        return [(slot, bits << 2 | i) for i, slot in enumerate(slots) if bits << 2 | i]

    @staticmethod
    def slot(image, i):
        """The number in slot i."""
        width = image.header.width
        at, shift = divmod(i * width, 8)
        part = int.from_bytes(image.payload[at:at + 9], "little")
        return part >> shift & (1 << width) - 1

    @classmethod
    def stash(cls, image):
        words = [u64(image.payload, cls.stash_at(image.header) + 8 * i)
                 for i in range(cls.STASH + 1)]
        return words[0], words[1:]

    @classmethod
    def copies(cls, image, key_class):
        h, (n, hashes) = image.header, cls.stash(image)
        return (sum(cls.slot(image, at) == value for at, value in cls.places(h, *key_class))
                + sum(cls.key_class(h, hashed) == key_class for hashed in hashes[:n]))

    @classmethod
    def has(cls, image, key):
        return cls.copies(image, cls.key_class(image.header, image.hash_key(key))) > 0

    @classmethod
    def class_at(cls, h, slot, value):
        """Whose a slot is: the way back from its place."""
        start, starts = slot - (value & 1), h.slots - 1
        require(0 <= start < starts, "a slot is in no window")
        back = cls.step(starts, value >> 2) if value & 2 else 0
        return (start - back) % starts, value >> 2

    @classmethod
    def verify(cls, image):
        h, (n, hashes) = image.header, cls.stash(image)
        require(n <= cls.STASH, "the stash is longer than it can be")
        require(not any(hashes[n:]), "an empty place of the stash is in use")
        classes = [cls.key_class(h, hashed) for hashed in hashes[:n]]
        for i in range(h.slots):
            value = cls.slot(image, i)
            if value:
                classes.append(cls.class_at(h, i, value))
        require(max(map(classes.count, set(classes)), default=0) <= cls.CEILING,
                "a key is there too often")
        cls.surplus(h).verify(image, {first << h.width - 2 | bits for first, bits in set(classes)
                                      if classes.count((first, bits)) == cls.CEILING})
        end = h.slots * h.width
        require(end % 8 == 0 or image.payload[end // 8] >> end % 8 == 0, "bits past the end are set")
        require(len(classes) == h.count, "the number of keys is wrong")


class CuckooBuckets:
    """Tags in either of two buckets of four; what finds no room is in a stash."""
    name = "cuckoo-buckets"
    CEILING, STASH = 7, 8

    @classmethod
    def bits(cls, h):
        return 4 * h.width

    @classmethod
    def planes(cls, h):
        return ((h.slots // 8 << h.width) - 1).bit_length()

    @classmethod
    def stash_at(cls, h):
        return -(-h.slots // 4 * cls.bits(h) // 8)

    @classmethod
    def bytes(cls, h):
        right = (0 < h.slots <= 2**48 and h.slots % 8 == 0 and 4 <= h.width <= 32
                 and h.hashes == 2 and h.capacity <= h.slots
                 and h.slots // 8 <= 1 << 62 - h.width)
        return cls.surplus_at(h) + cls.surplus(h).bytes() if right else 0

    @classmethod
    def surplus_at(cls, h):
        return cls.stash_at(h) + max(8, 1 + cls.planes(h))

    @classmethod
    def surplus(cls, h):
        return Surplus(h.slots, 7 * h.width - 16, cls.planes(h))

    @staticmethod
    def other(h, bucket, tag):
        buckets = h.slots // 4
        x = tag * 0x9E3779B1 & 0xFFFFFFFF
        x = (x ^ x >> 15) * 0x85EBCA6B & 0xFFFFFFFF
        distance = x * min(buckets, 2**32) >> 32 | 1
        return (bucket - distance if bucket & 1 else bucket + distance) % buckets

    @classmethod
    def class_of(cls, h, bucket, tag):
        even = cls.other(h, bucket, tag) if bucket & 1 else bucket
        return even // 2 << h.width | tag

    @classmethod
    def raw(cls, image, bucket):
        bits = cls.bits(image.header)
        first, shift = divmod(bucket * bits, 8)
        return int.from_bytes(image.payload[first:first + 17], "little") >> shift & (1 << bits) - 1

    @staticmethod
    def unpacked(h, raw):
        return [raw >> h.width * s & (1 << h.width) - 1 for s in range(4)]

    @staticmethod
    def in_order(tags):
        return all(tags[:sum(1 for tag in tags if tag)])

    @classmethod
    def tags(cls, image, bucket):
        return cls.unpacked(image.header, cls.raw(image, bucket))

    @classmethod
    def stash(cls, image):
        """Entries, and whether they are in use."""
        h = image.header
        used, *planes = image.payload[cls.stash_at(h):cls.stash_at(h) + 1 + cls.planes(h)]
        return [(sum((plane >> e & 1) << j for j, plane in enumerate(planes)), used >> e & 1)
                for e in range(cls.STASH)]

    @classmethod
    def has(cls, image, key):
        h, hashed = image.header, image.hash_key(key)
        buckets = h.slots // 4
        first = scale64(hashed, buckets)
        tag = 1 + scale64(hashed * buckets & MASK, (1 << h.width) - 1)
        return (tag in cls.tags(image, first) or tag in cls.tags(image, cls.other(h, first, tag))
                or (cls.class_of(h, first, tag), 1) in cls.stash(image))

    @classmethod
    def verify(cls, image):
        h, held = image.header, {}
        for bucket in range(h.slots // 4):
            tags = cls.tags(image, bucket)
            require(cls.in_order(tags), "a bucket is out of order")
            for tag in filter(None, tags):
                name = cls.class_of(h, bucket, tag)
                held[name] = held.get(name, 0) + 1
        for name, used in cls.stash(image):
            require(used or name == 0, "an unused entry of the stash is set")
            if used:
                require(name & (1 << h.width) - 1 and name >> h.width < h.slots // 8,
                        "an entry of the stash is no key")
                held[name] = held.get(name, 0) + 1
        require(all(copies <= cls.CEILING for copies in held.values()), "a key is held too often")
        require(sum(held.values()) == h.count, "the number of keys is wrong")
        stash = cls.stash_at(h)
        require(not any(image.bit(i) for i in range(h.slots // 4 * cls.bits(h), 8 * stash)),
                "unused bits are set")
        require(not any(image.payload[stash + 1 + cls.planes(h):cls.surplus_at(h)]),
                "unused bytes are set")
        cls.surplus(h).verify(image, {name for name in held if held[name] == cls.CEILING})


class Morton:
    """Buckets of three, packed into blocks of one line."""
    name = "morton"
    FLAG = GROWS

    @staticmethod
    def shape(h):
        """Buckets, marks and slots of a block; doublings."""
        buckets = h.hashes & 255
        slots = min((512 - 2 * buckets - 16) // h.width, 9 * buckets // 4)
        marks = min(512 - 2 * buckets - slots * h.width, buckets)
        return buckets, marks, slots, h.hashes >> 8

    @classmethod
    def bytes(cls, h):
        buckets, doublings = h.hashes & 255, h.hashes >> 8
        right = (4 <= h.width and h.width + doublings <= 32
                 and 16 <= buckets <= 64 and buckets % 2 == 0 and buckets != 62
                 and (doublings == 0 or h.flags) and 0 < h.slots <= 2**39
                 and h.slots % 2**doublings == 0
                 and h.slots * buckets << h.width <= 2**63)
        right = right and h.capacity <= h.slots * cls.shape(h)[2]
        return 64 * h.slots + cls.surplus(h).bytes() if right else 0

    @classmethod
    def surplus(cls, h):
        buckets, _, slots, doublings = cls.shape(h)
        pairs = (h.slots >> doublings) * buckets // 2
        return Surplus(h.slots * slots, 4 * h.width - 12,
                       (pairs - 1).bit_length() + h.width + doublings)

    @staticmethod
    def block(image, i):
        return int.from_bytes(image.payload[64 * i:64 * i + 64], "little")

    @classmethod
    def counters(cls, h, block):
        """How many fingerprints each bucket has."""
        buckets = cls.shape(h)[0]
        return [(block >> i & 1) + 2 * (block >> buckets + i & 1) for i in range(buckets)]

    @classmethod
    def bucket(cls, image, block, i):
        """The fingerprints of bucket i."""
        h, slots = image.header, cls.shape(image.header)[2]
        counters = cls.counters(h, block)[:i + 1]
        first, end = min(sum(counters[:i]), slots), min(sum(counters), slots)
        return [block >> 512 - (slots - k) * h.width & (1 << h.width) - 1
                for k in range(first, end)]

    @classmethod
    def other(cls, h, at, value):
        """The number of the other bucket, over all homes."""
        buckets, _, _, doublings = cls.shape(h)
        homes = h.slots >> doublings
        bits = h.width + doublings
        nearest, reach = (0, homes) if homes < 4 else (1, min(homes - 2, 128))
        z = value << 32 - bits if homes < 4 else value * 0x9E3779B1 & 2**32 - 1
        far = buckets * nearest + 1 + 2 * (z * reach * (buckets // 2) >> 32)
        return (at + far if at % buckets & 1 else at - far) % (homes * buckets)

    @classmethod
    def copies(cls, image, at, value):
        """How often the bucket with that number has the fingerprint; and its mark."""
        h = image.header
        buckets, marks, _, doublings = cls.shape(h)
        home, i = divmod(at, buckets)
        block = cls.block(image, home << doublings | value >> h.width)
        mark = block >> 2 * buckets + i * marks // buckets & 1
        return cls.bucket(image, block, i).count(value & (1 << h.width) - 1), mark

    @classmethod
    def has(cls, image, key):
        h = image.header
        buckets, _, _, doublings = cls.shape(h)
        bits = h.width + doublings
        at, value = divmod(scale64(image.hash_key(key), (h.slots >> doublings) * buckets << bits),
                           1 << bits)
        copies, mark = cls.copies(image, at, value)
        return bool(copies or mark and cls.copies(image, cls.other(h, at, value), value)[0])

    @classmethod
    def verify(cls, image):
        h, held, full = image.header, 0, set()
        buckets, marks, slots, doublings = cls.shape(h)
        for i in range(h.slots):
            block = cls.block(image, i)
            used = sum(cls.counters(h, block))
            require(used <= slots, "counters exceed slots")
            require(block >> 512 - (slots - used) * h.width == 0, "unused slots are not zero")
            gap = block & (1 << 512 - slots * h.width) - 1
            require(gap >> 2 * buckets + marks == 0, "bits before the slots are set")
            held += used
            for k in range(buckets):
                for value in cls.bucket(image, block, k):
                    value |= (i & (1 << doublings) - 1) << h.width
                    at = (i >> doublings) * buckets + k
                    both = (at, cls.other(h, at, value))
                    copies, marked = zip(*(cls.copies(image, a, value) for a in both))
                    require(sum(copies) <= 4, "too many copies")
                    if sum(copies) == 4 and all(marked):
                        even = min(both, key=lambda a: a % 2)
                        full.add(even // 2 << h.width + doublings | value)
        cls.surplus(h).verify(image, full)
        require(held == h.count, "the number of keys is wrong")


class Counting:
    name = "counting"

    @staticmethod
    def bytes(h):
        right = h.slots >= 1 and 1 <= h.hashes <= 64 and 1 <= h.width <= 16
        return 8 * -(-h.slots // (64 // h.width)) if right else 0

    @staticmethod
    def bits_of(h, counter):
        """Those of a counter, in the array of all bits."""
        lanes = 64 // h.width
        first = counter // lanes * 64 + counter % lanes * h.width
        return range(first, first + h.width)

    @classmethod
    def has(cls, image, key):
        h = image.header
        places = probes(image.hash_key(key), h.hashes, h.slots)
        return all(any(image.bit(i) for i in cls.bits_of(h, at)) for at in places)

    @classmethod
    def verify(cls, image):
        used = {i for at in range(image.header.slots) for i in cls.bits_of(image.header, at)}
        require(not any(image.bit(i) for i in range(8 * len(image.payload)) if i not in used),
                "bits of no counter are set")


class CountingBlocked:
    name = "counting-blocked"

    @staticmethod
    def bytes(h):
        return 64 * h.slots if h.slots >= 1 and h.width == 4 and h.hashes == 8 else 0

    @staticmethod
    def has(image, key):
        h = image.hash_key(key)
        line = 64 * scale64(h, image.header.slots)
        words = (u64(image.payload, line + 8 * i) for i in range(8))
        return all(word >> 4 * (h >> 4 * i & 15) & 15 for i, word in enumerate(words))

    @staticmethod
    def verify(image):
        """Every payload is valid."""


class Countmin:
    name = "countmin"
    FLAG, CEILING = SUMS, 2**32 - 1

    @classmethod
    def bytes(cls, h):
        right = h.slots >= 2 and h.slots % 2 == 0 and 1 <= h.hashes <= 45
        return 4 * h.slots * h.hashes if right and h.width == 32 else 0

    @staticmethod
    def has(image, key):
        h = image.header
        places = probes(image.hash_key(key), h.hashes, h.slots)
        return min(u32(image.payload, 4 * (row * h.slots + at)) for row, at in enumerate(places)) > 0

    @classmethod
    def verify(cls, image):
        h = image.header
        for row in range(h.hashes):
            counters = [u32(image.payload, 4 * (row * h.slots + i)) for i in range(h.slots)]
            total = sum(counters)
            require(total <= h.count, "a row holds more than was added")
            exact = h.flags == SUMS and cls.CEILING not in counters
            require(total == h.count or total > 0 and not exact, "a row holds less than was added")


class Compressed:
    name = "compressed"
    MOST_LEVEL = 24

    @classmethod
    def shape(cls, h):
        """Blocks, bits of a block, where starts and codes are."""
        blocks = max(8 * h.width // 256, h.slots >> cls.MOST_LEVEL) + 1
        starts = 8 + 8 * (blocks // 32 + 1)
        return blocks, -(-h.slots // blocks), starts, starts + 2 * (blocks + 1)

    @classmethod
    def bytes(cls, h):
        right = (1 <= h.slots < 2**48 and 1 <= h.width and 1 <= h.hashes <= 64
                 and h.slots // 1024 <= 64 * h.width)
        return 8 * h.width if right and cls.shape(h)[3] <= 8 * h.width else 0

    @classmethod
    def start(cls, image, i):
        starts = cls.shape(image.header)[2]
        return u64(image.payload, 8 + i // 32 * 8) + u16(image.payload, starts + 2 * i)

    @classmethod
    def rare(cls, image):
        """How many bits are coded, and whether those are the clear ones."""
        ones = u64(image.payload, 0)
        require(ones <= image.header.slots, "more bits are set than there are")
        return min(ones, image.header.slots - ones), ones > image.header.slots - ones

    @classmethod
    def weights(cls, image):
        some, zero, left = (cls.rare(image)[0] << 64) // image.header.slots, [], []
        while len(zero) <= cls.MOST_LEVEL and some <= 2**63:
            clear = 2**32 - (some >> 32)
            zero.append(min(clear >> 16, 65535))
            left.append((clear << 16) // (2**32 + clear))
            if some > 3 << 61:
                break
            some = 2 * some - (some * some >> 64)
        return zero, left

    @classmethod
    def block(cls, image, i):
        """The bits that are coded, from the first bit of the block on."""
        _, size, _, codes = cls.shape(image.header)
        bits = max(0, min(size, image.header.slots - i * size))
        start, end = cls.start(image, i), cls.start(image, i + 1)
        require(start <= end <= len(image.payload) - codes, "starts of blocks do not ascend")
        data = image.payload[codes + start:codes + end]
        if cls.rare(image)[0] == 0:
            require(not data, "there are codes for bits that are all the same")
            return
        zero, left = cls.weights(image)
        low, span, digits = 0, 2**64 - 1, 8

        def number():
            return int.from_bytes(bytes(data[:digits]).ljust(digits, b"\0"), "big")

        def is_clear(weight):
            nonlocal low, span, digits
            bound = (span >> 16) * weight
            clear = number() - low < bound
            low, span = (low, bound) if clear else (low + bound, span - bound)
            if span < 2**32:
                low, span, digits = low << 32, span << 32, digits + 4
            return clear

        def node(at, j):
            if j == 0:
                require(at < bits, "a bit is past the end of its block")
                yield at
            elif is_clear(left[j - 1]):
                yield from node(at + 2**(j - 1), j - 1)
            else:
                yield from node(at, j - 1)
                if not is_clear(zero[j - 1]):
                    yield from node(at + 2**(j - 1), j - 1)

        top = len(zero) - 1
        for group in range(0, bits, 2**top):
            if not is_clear(zero[top]):
                yield from node(group, top)
        ups = (-(-low >> 8 * z) << 8 * z for z in range(8, -1, -1))
        shortest = next(up for up in ups if up - low < span)
        require(number() == shortest and len(data) <= digits and (not data or data[-1]),
                "a block does not decode to its end")

    @classmethod
    def has(cls, image, key):
        h, inverted = image.header, cls.rare(image)[1]
        if not hasattr(image, "blocks"):
            image.blocks = {}
        for at in probes(image.hash_key(key), h.hashes, h.slots):
            i, at = divmod(at, cls.shape(h)[1])
            if i not in image.blocks:
                image.blocks[i] = set(cls.block(image, i))
            if (at in image.blocks[i]) == inverted:
                return False
        return True

    @classmethod
    def verify(cls, image):
        blocks, _, starts, codes = cls.shape(image.header)
        coded = sum(1 for i in range(blocks) for _ in cls.block(image, i))
        require(coded == cls.rare(image)[0], "the number of set bits is wrong")
        require(cls.start(image, 0) == 0, "the first block does not come first")
        require(not any(u16(image.payload, starts + 2 * i) for i in range(0, blocks + 1, 32)),
                "a base is not where its first block starts")
        require(not any(image.payload[codes + cls.start(image, blocks):]),
                "bytes behind the codes are set")


class Acf:
    name = "acf"
    FLAG = GROWS
    TABLES, ENTRY = 4, 16

    @classmethod
    def cells_bytes(cls, h):
        return -(-cls.TABLES * (h.slots << h.width) * h.hashes // 512) * 64

    @classmethod
    def bytes(cls, h):
        right = 5 <= h.hashes <= 32 and h.width <= (40 if h.flags else 0) and h.slots >= 1
        cells = cls.TABLES * (h.slots << h.width) if right else 0
        return cls.cells_bytes(h) + cls.ENTRY * cells if h.capacity <= cells <= 2**42 else 0

    @classmethod
    def places(cls, header, h):
        """The cells of a hash, and what they hold with either selector."""
        b, v = header.slots << header.width, 2**(header.hashes - 1) - 1
        g = mix64(h ^ GOLDEN)
        x = fold(h, g)
        sources = (h, rotl64(h, 32), g, rotl64(g, 32))
        return ([i * b + scale64(source, b) for i, source in enumerate(sources)],
                (1 + ((x >> 32) * v >> 32), v + 2 + ((x & 2**32 - 1) * v >> 32)))

    @staticmethod
    def cell(image, i):
        bits = image.header.hashes
        at = i * bits
        return u64(image.payload, at // 8) >> at % 8 & 2**bits - 1

    @classmethod
    def entry(cls, image, i):
        at = cls.cells_bytes(image.header) + cls.ENTRY * i
        return u64(image.payload, at), u64(image.payload, at + 8)

    @classmethod
    def has(cls, image, key):
        cells, values = cls.places(image.header, image.hash_key(key))
        return any(cls.cell(image, i) in values for i in cells)

    @classmethod
    def verify(cls, image):
        header, held, total = image.header, set(), 0
        n = cls.TABLES * (header.slots << header.width)
        for i in range(n):
            (h, copies), value = cls.entry(image, i), cls.cell(image, i)
            require(copies or h == value == 0, "a cell has no copies")
            if copies:
                cells, values = cls.places(header, h)
                require(i in cells, "a key is not in one of its cells")
                require(value in values, "a fingerprint is not that of its key")
                require(h not in held, "a key is there twice")
                held.add(h)
                total += copies
        cells = int.from_bytes(image.payload[:cls.cells_bytes(header)], "little")
        require(cells >> n * header.hashes == 0, "bits past the end are set")
        require(total == header.count, "the number of keys is wrong")


KINDS = {1: Bitmap, 2: Hashset, 3: Bloom, 4: Partitioned, 5: Blocked, 6: Xor, 7: Xorplus, 8: Fuse,
         9: Fuse4, 10: Ribbon, 11: Gcs, 12: Cascade, 13: Map, 14: Quotient, 15: Cqf,
         16: Cuckoo, 17: CuckooBuckets, 19: Morton, 20: Aleph, 21: Fuse5,
         22: Counting, 23: CountingBlocked, 24: Spectral, 25: SpectralMi, 26: SpectralRm,
         27: Countmin, 28: Compressed, 29: Scalable, 30: Window, 31: Aqf, 32: Acf,
         33: Hashmap}
FAST, KEYED, RAW = 0, 1, 2
HASHES = {FAST: "fast", KEYED: "keyed", RAW: "raw"}


# ---- The image --------------------------------------------------------------------------------

MAGIC = b"\x89TMS\r\n\x1a\n"
MAJOR = 1
SMALLEST_HEADER, LARGEST_HEADER = 256, 4096
SECTIONS_AT = 104
PAYLOAD, NOTE = 1, 2
NOTE_TIME, NOTE_MOST = 8, 263
CRITICAL = 1
BLOCK = 2**20


class Header:
    """The fixed fields, in the order of the table in docs/format.md."""

    FIELDS = struct.Struct("<8sHHIQIHHQ16sQdQIIQHHI")

    def __init__(self, data):
        (self.magic, self.major, self.minor, self.size, self.image_size, self.kind, self.hash,
         self.flags, self.seed, self.secret, self.capacity, self.fpr, self.slots, self.width,
         self.hashes, self.count, self.state, self.load,
         self.sections) = self.FIELDS.unpack_from(data)


class Section:
    FIELDS = struct.Struct("<IIQQQ")
    SIZE = FIELDS.size

    def __init__(self, data, index):
        (self.id, self.flags, self.offset, self.length,
         self.digest) = self.FIELDS.unpack_from(data, SECTIONS_AT + self.SIZE * index)
        self.sums_at = self.offset + (self.length + 7) // 8 * 8
        self.end = self.sums_at + 8 * ((self.length + BLOCK - 1) // BLOCK)


class Image:
    def __init__(self, data):
        """Checks the header and the section table, in the order that docs/format.md gives."""
        self.data = data
        require(data[:4] == MAGIC[:4], "the first bytes are not those of an image", "FOREIGN")
        require(len(data) >= SMALLEST_HEADER, "shorter than a header")
        require(data[:8] == MAGIC, "the line ends of the magic are changed: a transfer as text?")
        h = self.header = Header(data)
        require(h.major <= MAJOR, f"format {h.major}.{h.minor}, this reader knows {MAJOR}", "NEWER")
        require(SMALLEST_HEADER <= h.size <= LARGEST_HEADER and h.size % 64 == 0
                and h.size <= len(data), "impossible header size")
        require(u64(data, h.size - 8) == xxh3(data[:h.size - 8]), "header checksum")
        require(h.major == MAJOR, "impossible version")
        require(h.image_size == len(data), "the image size differs from that in the header")
        require(h.state in (0, 1), "unknown state")
        self.check_sections()
        self.check_numbers()
        require(h.state == 0, "a writer stopped half-way", "DIRTY")

    def check_sections(self):
        h = self.header
        table_end = SECTIONS_AT + Section.SIZE * h.sections
        require(table_end <= h.size - 8, "impossible number of sections")
        self.sections = [Section(self.data, i) for i in range(h.sections)]
        end = h.size
        for s in self.sections:
            require(s.flags & ~CRITICAL == 0 and (s.id == PAYLOAD or not s.flags & CRITICAL),
                    f"section {s.id} is needed and unknown", "NEWER")
            require(s.offset % 64 == 0 and s.offset >= end and s.end <= h.image_size,
                    f"section {s.id} lies outside its place")
            require(s.id != NOTE or NOTE_TIME < s.length <= NOTE_MOST, "impossible size of a note")
            end = s.end
        payloads = [s for s in self.sections if s.id == PAYLOAD]
        require(len(payloads) == 1, "not exactly one payload")
        require(sum(s.id == NOTE for s in self.sections) <= 1, "more than one note")
        require(end == h.image_size, "bytes after the last section")
        require(not any(self.data[table_end:h.size - 8]), "padding of the header is not zero")
        at = payloads[0]
        self.payload = self.data[at.offset:at.offset + at.length]

    def check_numbers(self):
        h = self.header
        require(h.kind in KINDS, f"kind {h.kind} is unknown", "NEWER")
        require(h.hash in HASHES, f"hash {h.hash} is unknown", "NEWER")
        require(h.flags < 16, f"flags {h.flags} are unknown", "NEWER")
        require((h.hash == KEYED) == any(h.secret), "secret and hash disagree")
        require(0 <= h.fpr <= 1, "the rate is not one")
        kind = KINDS[h.kind]
        flag, has_load = getattr(kind, "FLAG", 0), getattr(kind, "HAS_LOAD", False)
        require(h.flags in (0, flag), "the kind has no such option")
        require(1 <= h.load <= 1000 if has_load else h.load == 0, "impossible load")
        require(len(self.payload) == kind.bytes(h) > 0,
                "the payload does not fit its geometry")

    def verify(self):
        """Checks everything else: padding, sums, digests, and what the kind demands."""
        end = self.header.size
        for s in self.sections:
            require(not any(self.data[end:s.offset]), f"bytes before section {s.id} are not zero")
            self.verify_section(s)
            if s.id == NOTE:
                self.note_text(s)
            end = s.end
        KINDS[self.header.kind].verify(self)

    def verify_section(self, s):
        sums = self.data[s.sums_at:s.end]
        require(not any(self.data[s.offset + s.length:s.sums_at]), "padding is not zero")
        require(xxh3(sums) == s.digest, f"digest of section {s.id}")
        for i, (expected,) in enumerate(struct.iter_unpack("<Q", sums)):
            start = s.offset + i * BLOCK
            block = self.data[start:min(start + BLOCK, s.offset + s.length)]
            require(xxh3(block) == expected, f"section {s.id}, bytes {start}..{start + len(block)}")

    def note_text(self, s):
        try:
            text = self.data[s.offset + NOTE_TIME:s.offset + s.length].decode()
        except UnicodeDecodeError:
            text = "\0"
        require(all(c >= " " and not "\x7f" <= c < "\xa0" for c in text), "the note is no text")
        return text

    def bit(self, i):
        return self.payload[i >> 3] >> (i & 7) & 1 == 1

    def hash_key(self, key):
        return mix64(key ^ mix64(self.header.seed + 0x9E3779B97F4A7C15 & MASK))

    def key(self, line):
        h = self.header
        if h.hash == RAW:
            return int(line)
        return siphash(line, h.secret) if h.hash == KEYED else xxh3(line, h.seed)

    def has(self, key):
        return KINDS[self.header.kind].has(self, key)

    def get(self, line):
        """The value that came with a key; None for a stranger."""
        return KINDS[self.header.kind].get(self, self.key(line))


# ---- Command line -----------------------------------------------------------------------------


def bitsheader(image):
    h = image.header
    print(f"format    {h.major}.{h.minor}")
    print(f"kind      {h.kind} ({KINDS[h.kind].name})")
    print(f"hash      {HASHES[h.hash]}")
    for name in ("flags", "seed", "capacity", "fpr", "slots", "width", "hashes", "load", "count"):
        print(f"{name:<9} {getattr(h, name)}")
    print(f"state     {'dirty' if h.state else 'whole'}")
    for s in image.sections:
        print(f"section   {s.id} offset {s.offset} length {s.length} digest {s.digest:016x}")
        if s.id == NOTE:
            print(f"note      {u64(image.data, s.offset)} {image.note_text(s)}")


def query(image, lines, out):
    present = [line for line in lines if image.has(image.key(line))]
    out.writelines(line + b"\n" for line in present)
    return 0 if present else 1


def lines_of(stream):
    data = stream.read()
    lines = data.split(b"\n")
    return lines if lines[-1] else lines[:-1]


def main():
    parser = argparse.ArgumentParser(description="Reads a tamis image.")
    parser.add_argument("file")
    parser.add_argument("--query", action="store_true", help="print the lines that are present")
    parser.add_argument("--verify", action="store_true", help="check every byte")
    options = parser.parse_args()
    try:
        with open(options.file, "rb") as file:
            image = Image(file.read())
        image.verify()
        if options.query:
            return query(image, lines_of(sys.stdin.buffer), sys.stdout.buffer)
        if not options.verify:
            bitsheader(image)
    except OSError as error:
        print(f"read_image: {error}", file=sys.stderr)
        return 3
    except ImageError as error:
        print(f"read_image: {options.file}: {error}", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
