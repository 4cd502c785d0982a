"""A second opinion on the filters of the BF and CF commands, written from their description alone.

The dump of a filter is read and asked here, in Python: the module and this must agree on every item.
"""
import math
import struct

M = 0xC6A4A7935BD1E995
MASK = 2**64 - 1


def murmur64(data, seed):
    """MurmurHash64A."""
    h = seed ^ (len(data) * M & MASK)
    whole = len(data) // 8 * 8
    for (k,) in struct.iter_unpack("<Q", data[:whole]):
        k = k * M & MASK
        k = (k ^ k >> 47) * M & MASK
        h = (h ^ k) * M & MASK
    if data[whole:]:
        h = (h ^ int.from_bytes(data[whole:], "little")) * M & MASK
    h = (h ^ h >> 47) * M & MASK
    return h ^ h >> 47


def murmur32(data, seed):
    """MurmurHash2."""
    m, mask = 0x5BD1E995, 2**32 - 1
    h = seed ^ len(data)
    whole = len(data) // 4 * 4
    for (k,) in struct.iter_unpack("<I", data[:whole]):
        k = k * m & mask
        k = (k ^ k >> 24) * m & mask
        h = h * m & mask ^ k
    if data[whole:]:
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return h ^ h >> 15


def dump(client, family, key):
    """All chunks of a filter, as (number, bytes)."""
    chunks, at = [], 0
    while True:
        at, data = client.ask(f"{family}.SCANDUMP", key, at)
        if at == 0:
            return chunks
        chunks.append((at, data))


class Bloom:
    """A filter from the chunks of BF.SCANDUMP."""

    def __init__(self, chunks):
        header = chunks[0][1]
        self.size, n, self.options, self.growth = struct.unpack_from("<QIII", header)
        fields = [struct.unpack_from("<QQQddIQB", header, 20 + 53 * i) for i in range(n)]
        data, at = b"".join(chunk for _, chunk in chunks[1:]), 0
        self.links = []
        for size, bits, items, error, bpe, k, capacity, n2 in fields:
            self.links.append((data[at:at + size], 2**n2 if n2 else bits, k, capacity, error))
            at += size
        assert at == len(data) and len(header) == 20 + 53 * n

    def has(self, item):
        a = murmur64(item, M) if self.options & 4 else murmur32(item, 0x9747B28C)
        b = murmur64(item, a) if self.options & 4 else murmur32(item, a)
        return any(all(bits[x >> 3] >> (x & 7) & 1
                       for x in ((a + i * b & MASK) % used for i in range(k)))
                   for bits, used, k, _, _ in self.links)


def bloom_sizes(capacity, error, growth, links, fixed=False):
    """Bytes, hashes and capacity of each link of a filter."""
    error = error if fixed else error / 2
    for _ in range(links):
        bpe = -math.log(error) / 0.480453013918201
        yield ((max(int(capacity * bpe), 1) + 63) // 64 * 8, math.ceil(0.693147180559945 * bpe),
               capacity)
        capacity, error = capacity * growth, error / 2


class Cuckoo:
    """A filter from the chunks of CF.SCANDUMP."""

    def __init__(self, chunks):
        (self.items, self.buckets, self.deletes, n, self.bucket_size, self.max_iterations,
         self.expansion) = struct.unpack("<QQQQHHH", chunks[0][1])
        data, at = b"".join(chunk for _, chunk in chunks[1:]), 0
        self.tables = []
        for i in range(n):
            size = self.buckets * self.expansion**i * self.bucket_size
            self.tables.append(data[at:at + size])
            at += size
        assert at == len(data)

    def count(self, item):
        h = murmur64(item, 0)
        fingerprint = h % 255 + 1
        found = 0
        for table in self.tables:
            buckets = len(table) // self.bucket_size
            for at in {h % buckets, (h ^ fingerprint * 0x5BD1E995) % buckets}:
                bucket = table[at * self.bucket_size:(at + 1) * self.bucket_size]
                found += bucket.count(fingerprint)
        return found
