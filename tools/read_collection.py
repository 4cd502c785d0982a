#!/usr/bin/env python3
"""tools/read_collection.py FILE [NAME]: a second reader of collections, which follows
docs/format.md and shares no code with the library. Prints the names, or writes the image of one to
standard output.
"""
import sys

sys.dont_write_bytecode = True
from read_image import ImageError, require, scale64, u16, u32, u64, xxh3  # noqa: E402

PAGE, SLOT, ENTRY = 4096, 64, 17
MAGIC = b"\x89TMC\r\n\x1a\n"


class Slot:
    """What a slot of the header says, or None of a field if its checksum is wrong."""

    def __init__(self, data, number):
        at = 512 * (1 + number)
        self.generation, self.end, self.directory, self.pages, self.count, self.seed = (
            u64(data, at + 8 * i) for i in range(6))
        self.flags = u32(data, at + 48)
        self.holds = (xxh3(data[at:at + 56]) == u64(data, at + 56) and self.generation > 0
                      and self.generation % 2 == number // 2)


class Collection:
    def __init__(self, data):
        require(data[:4] == MAGIC[:4], "another magic", "FOREIGN")
        require(data[:8] == MAGIC and len(data) >= PAGE, "the magic is damaged, or it is too short")
        require(u16(data, 8) <= 1, "a newer major version", "NEWER")
        slots = [slot for slot in (Slot(data, i) for i in range(4)) if slot.holds]
        require(slots, "no slot of the header holds")
        self.data = data
        self.slot = max(slots, key=lambda slot: slot.generation)
        require(self.slot.end <= len(data), "the file is too short")
        require(self.slot.directory % PAGE == 0 and self.slot.directory > 0 and self.slot.pages > 0
                and self.slot.directory + PAGE * self.slot.pages <= self.slot.end,
                "the directory is not in the file")
        self.places = {}
        for number in range(self.slot.pages):
            self.read_page(number)
        require(len(self.places) == self.slot.count, "another number of filters")
        used = PAGE * (1 + self.slot.pages) + sum(-(-size // 64) * 64
                                                  for _, size in self.places.values())
        require(used <= self.slot.end, "filters overlap")

    def read_page(self, number):
        at = self.slot.directory + PAGE * number
        page = self.data[at:at + PAGE]
        require(xxh3(page[8:], number) == u64(page, 0), f"page {number}: checksum")
        at, last = 16, b""
        for _ in range(u16(page, 8)):
            offset, size, length = u64(page, at), u64(page, at + 8), page[at + 16]
            name = page[at + ENTRY:at + ENTRY + length]
            require(name > last and len(name) == length, f"page {number}: not in order")
            require(scale64(xxh3(name, self.slot.seed), self.slot.pages) == number,
                    f"{name}: not in its page")
            require(offset % 64 == 0 and offset >= PAGE and offset + size <= self.slot.end,
                    f"{name}: not in the file")
            self.places[name.decode()] = (offset, size)
            at, last = at + ENTRY + length, name
        require(not any(page[10:16]) and not any(page[at:]), f"page {number}: padding")

    def image(self, name):
        offset, size = self.places[name]
        return self.data[offset:offset + size]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.split("\n", maxsplit=1)[0])
    try:
        with open(sys.argv[1], "rb") as file:
            collection = Collection(file.read())
    except ImageError as error:
        sys.exit(f"{sys.argv[1]}: {error}")
    if len(sys.argv) == 3:
        sys.stdout.buffer.write(collection.image(sys.argv[2]))
    else:
        print(*sorted(collection.places), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
