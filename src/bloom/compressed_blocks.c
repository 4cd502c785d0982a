/* compressed_blocks.c - blocks of coded bits: written once, read one by one, checked. */
#include "bloom/compressed_blocks.h"

compressed_layout tamis__compressed_layout(const tamis_plan *p)
{
    uint64_t bytes = (uint64_t)p->width * COMPRESSED_WORD,
             least = (p->slots >> BIT_CODER_LEVELS) + 1;
    uint64_t blocks = bytes / COMPRESSED_BLOCK_BYTES + 1;
    compressed_layout l = { .slots = p->slots, .blocks = blocks < least ? least : blocks };

    l.block_bits = (p->slots + l.blocks - 1) / l.blocks;
    l.starts = COMPRESSED_HEAD + (l.blocks / COMPRESSED_BASE_BLOCKS + 1) * 8;
    l.codes = l.starts + (l.blocks + 1) * 2;
    l.room = bytes - l.codes;
    return l;
}

tamis_status tamis__compressed_write(uint8_t *payload, const tamis_plan *p, const uint8_t *bits)
{
    compressed_layout l = tamis__compressed_layout(p);
    uint64_t ones = count_ones(bits, bytes_of_bits(l.slots)), base = 0;
    bit_coder_model m = tamis__bit_coder_model(ones, l.slots);
    uint8_t *codes = payload + l.codes, *at = codes, *end = codes + l.room;

    put_le64(payload, ones);
    for (uint64_t i = 0; i <= l.blocks; i++) {
        if (i % COMPRESSED_BASE_BLOCKS == 0) {
            base = (uint64_t)(at - codes);
            put_le64(payload + COMPRESSED_HEAD + i / COMPRESSED_BASE_BLOCKS * 8, base);
        }
        uint64_t start = (uint64_t)(at - codes) - base;
        if (start > UINT16_MAX)
            return TAMIS_FULL;
        put_le16(payload + l.starts + 2 * i, (uint16_t)start);
        if (i < l.blocks && !m.certain)
            at = tamis__bit_coder_write(at, end, &m, bits, compressed_first_of(&l, i),
                                        compressed_first_of(&l, i + 1));
        if (!at)
            return TAMIS_FULL;
    }
    return TAMIS_OK;
}

/* ---- Reading ----------------------------------------------------------- */

compressed_reader tamis__compressed_reader(const tamis *f)
{
    compressed_reader c = { .payload = f->payload, .l = tamis__compressed_layout(&f->plan) };
    uint64_t ones = le64(c.payload);

    c.m = tamis__bit_coder_model(ones < c.l.slots ? ones : c.l.slots, c.l.slots);
    c.block = UINT64_MAX;
    return c;
}

uint64_t tamis__compressed_start(const compressed_reader *c, uint64_t block)
{
    uint64_t base = le64(c->payload + COMPRESSED_HEAD + block / COMPRESSED_BASE_BLOCKS * 8);

    return (base < c->l.room ? base : c->l.room) + le16(c->payload + c->l.starts + 2 * block);
}

bit_coder_reader tamis__compressed_read_block(const compressed_reader *c, uint64_t block)
{
    const uint8_t *codes = c->payload + c->l.codes;
    uint64_t start = tamis__compressed_start(c, block), end = tamis__compressed_start(c, block + 1);
    uint64_t bits = compressed_first_of(&c->l, block + 1) - compressed_first_of(&c->l, block);

    end = end < c->l.room ? end : c->l.room;
    start = start < end ? start : end;
    return tamis__bit_coder_read(codes + start, codes + end, bits);
}

bool tamis__compressed_get(compressed_reader *c, uint64_t pos)
{
    uint64_t block = pos / c->l.block_bits, bit = pos - block * c->l.block_bits;

    if (c->m.certain)
        return c->m.inverted;
    bool is_new = block != c->block;
    if (is_new)
        c->r = tamis__compressed_read_block(c, block);
    c->block = block;
    if (is_new || (!c->r.done && c->r.walk.at < bit))
        tamis__bit_coder_seek(&c->r, &c->m, bit);
    return (!c->r.done && c->r.walk.at == bit) != c->m.inverted;
}

/* ---- Checking ---------------------------------------------------------- */

static const char *compressed_verify_block(const compressed_reader *c, uint64_t block,
                                           uint64_t *coded)
{
    bit_coder_reader r = tamis__compressed_read_block(c, block);

    if (tamis__compressed_start(c, block) > tamis__compressed_start(c, block + 1))
        return "starts of blocks do not ascend";
    if (c->m.certain)
        return r.end == r.start ? NULL : "there are codes for bits that are all the same";
    while (tamis__bit_coder_seek(&r, &c->m, 0))
        ++*coded;
    if (r.strayed)
        return "a bit is past the end of its block";
    return tamis__bit_coder_is_whole(&r) ? NULL : "a block does not decode to its end";
}

static const char *compressed_verify_index(const compressed_reader *c)
{
    const compressed_layout *l = &c->l;
    uint64_t end = tamis__compressed_start(c, l->blocks);
    const uint8_t *codes = c->payload + l->codes;

    if (le64(c->payload) > l->slots)
        return "more bits are set than there are";
    if (end > l->room)
        return "codes are past the end";
    for (uint64_t i = 0; i <= l->blocks; i += COMPRESSED_BASE_BLOCKS)
        if (le16(c->payload + l->starts + 2 * i) ||
            le64(c->payload + COMPRESSED_HEAD + i / COMPRESSED_BASE_BLOCKS * 8) > l->room)
            return "a base is not where its first block starts";
    if (tamis__compressed_start(c, 0))
        return "the first block does not come first";
    return bytes_are_zero(codes + end, codes + l->room) ? NULL : "bytes behind the codes are set";
}

const char *tamis__compressed_verify(const tamis *f)
{
    compressed_reader c = tamis__compressed_reader(f);
    uint64_t coded = 0, ones = le64(c.payload);
    const char *why = compressed_verify_index(&c);

    for (uint64_t i = 0; i < c.l.blocks && !why; i++)
        why = compressed_verify_block(&c, i, &coded);
    if (!why && coded != (c.m.inverted ? c.l.slots - ones : ones))
        why = "the number of set bits is wrong";
    return why;
}
