/* delta.c - a new file as blocks of an old one and bytes between them.
 *
 * A window of one block moves over the new file, byte by byte. If its rolling hash is that of a
 * block, its strong hash is worked out, and if that is the same too, the window is that block: it
 * is copied, and the window jumps to its end. Where one block was found, the next one is looked for
 * first, and where several were found, four at a time: their strong hashes are worked out side by
 * side.
 *
 * Format, of librsync: its number, then commands, then a zero byte. All numbers have the highest
 * byte first.
 *
 *   01 .. 40   that many bytes follow, which are new
 *   41 .. 44   the same; the number is in the next 1, 2, 4 or 8 bytes
 *   45 .. 54   a part of the old file: its offset in 1, 2, 4 or 8 bytes, and its length */
#include <string.h>

#include "delta.h"
#include "rolling.h"

enum { MAGIC = 0x72730236, END = 0, SHORT_LITERAL = 0x40, LITERAL = 0x41, COPY = 0x45 };
enum { PIECE = 1 << 18, GROUP = 4 };

/* A signature that means harm may have the rolling hash of every window and the strong hash of
 * none: each byte of the new file would cost a block. So many bytes are hashed in vain at first,
 * and for each byte of the file; windows after that are taken for new. */
enum { PATIENCE = 1 << 24, PATIENCE_PER_BYTE = 64 };

/* How far the new file was read and understood. */
typedef struct delta_scan {
    const block_signature *s;
    byte_source *in;
    void *in_ctx;
    tamis_sink *out;
    void *out_ctx;
    const tamis_allocator *by;

    uint8_t *bytes; /* a part of the file */
    size_t size, room, room_most;
    size_t literal;  /* from here to `at`, bytes are new */
    size_t at;       /* the window starts here */
    bool has_ended;  /* there is nothing after the part */
    bool has_failed; /* an input or a sink did */
    bool lacks_memory;
    uint64_t copy, length; /* what is to be copied next; 0: nothing */
    int64_t expected;      /* the block after the one that was found last; SIGNATURE_NONE */
    uint64_t patience;     /* how many bytes may still be hashed in vain */
} delta_scan;

/* ---- Commands ---------------------------------------------------------- */

/* 0, 1, 2 or 3 for numbers that fit in 1, 2, 4 or 8 bytes. */
static unsigned delta_size_class(uint64_t x)
{
    return x > UINT32_MAX ? 3 : x > UINT16_MAX ? 2 : x > UINT8_MAX ? 1 : 0;
}

static void delta_put(delta_scan *d, const void *bytes, size_t size)
{
    d->has_failed = d->has_failed || (size > 0 && !d->out(d->out_ctx, bytes, size));
}

static void delta_put_copy(delta_scan *d)
{
    unsigned offset = delta_size_class(d->copy), length = delta_size_class(d->length);
    uint8_t line[17] = { (uint8_t)(COPY + 4 * offset + length) };

    if (d->length == 0)
        return;
    signature_put(line + 1, d->copy, 1u << offset);
    signature_put(line + 1 + (1u << offset), d->length, 1u << length);
    delta_put(d, line, 1 + (1u << offset) + (1u << length));
    d->length = 0;
}

/* What was found to be new so far. */
static void delta_put_literal(delta_scan *d)
{
    size_t n = d->at - d->literal;
    unsigned size = delta_size_class(n);
    uint8_t line[9] = { (uint8_t)(LITERAL + size) };

    if (n == 0)
        return;
    delta_put_copy(d);
    signature_put(line + 1, n, 1u << size);
    if (n <= SHORT_LITERAL)
        line[0] = (uint8_t)n;
    delta_put(d, line, n <= SHORT_LITERAL ? 1 : 1 + (1u << size));
    delta_put(d, d->bytes + d->literal, n);
    d->literal = d->at;
}

static void delta_copy(delta_scan *d, int64_t block, size_t size)
{
    uint64_t offset = (uint64_t)block * d->s->spec.block;

    delta_put_literal(d);
    if (d->length == 0 || d->copy + d->length != offset) {
        delta_put_copy(d);
        d->copy = offset;
    }
    d->length += size;
    d->at += size;
    d->literal = d->at;
    d->expected = (uint64_t)block + 1 < d->s->blocks ? block + 1 : SIGNATURE_NONE;
}

/* ---- The new file ------------------------------------------------------ */

static size_t delta_left(const delta_scan *d)
{
    return d->size - d->at;
}

/* Room for large blocks is made when the file was found to be large: any signature can claim
 * them. */
static void delta_grow(delta_scan *d)
{
    size_t room = d->room ? 2 * d->room : PIECE;

    room = room < d->room_most ? room : d->room_most;
    d->lacks_memory = !signature_grow(d->by, &d->bytes, d->size, &d->room, room);
}

static void delta_fill(delta_scan *d)
{
    size_t asked = d->room - d->size;
    size_t got = signature_fill(d->in, d->in_ctx, d->bytes + d->size, asked);

    d->has_ended = got != asked;
    d->has_failed = d->has_failed || got == SIZE_MAX;
    d->size += got == SIZE_MAX ? 0 : got;
}

/* Has at least so many bytes from the window on, unless the file ends. */
static void delta_have(delta_scan *d, size_t wanted)
{
    if (delta_left(d) >= wanted || d->has_ended)
        return;
    delta_put_literal(d);
    if (d->at > 0)
        memmove(d->bytes, d->bytes + d->at, delta_left(d));
    d->size -= d->at;
    d->at = d->literal = 0;
    while (d->size < wanted && !d->has_ended) {
        if (d->room < d->room_most)
            delta_grow(d);
        if (d->lacks_memory)
            d->has_ended = true;
        else
            delta_fill(d);
    }
}

/* ---- Blocks ------------------------------------------------------------ */

static bool delta_is_block(const delta_scan *d, int64_t block, uint32_t weak, const uint8_t *strong)
{
    size_t n = d->s->spec.strong;

    return d->s->weak[block] == weak && memcmp(d->s->strong + (size_t)block * n, strong, n) == 0;
}

/* The block in the window, the expected one if it is that, or SIGNATURE_NONE. */
static int64_t delta_block_at(delta_scan *d, uint32_t weak, size_t size)
{
    uint8_t strong[SIGNATURE_STRONG_MOST];

    if (!signature_may_have(d->s, weak) || !signature_has(d->s, weak) || size > d->patience)
        return SIGNATURE_NONE;
    signature_strong(d->s->is_md4, strong, d->bytes + d->at, size);
    if (d->expected != SIGNATURE_NONE && delta_is_block(d, d->expected, weak, strong))
        return d->expected;
    int64_t found = signature_find(d->s, weak, strong);
    d->patience -= found == SIGNATURE_NONE ? size : 0;
    return found;
}

/* How many of the next four blocks are found to be those that are expected. Rolling hashes tell how
 * many may be; a strong hash of one alone takes more than half of the time of four. */
static int delta_next_four(const delta_scan *d)
{
    size_t block = d->s->spec.block;
    const uint8_t *bytes = d->bytes + d->at;
    uint8_t strong[GROUP][SIGNATURE_STRONG_MOST];
    int likely = 0, n = 0;

    while (likely < GROUP && d->s->weak[d->expected + likely] ==
                                 rolling_of(d->s->is_rabin, bytes + (size_t)likely * block, block))
        likely++;
    if (likely < 2)
        return 0;
    signature_strong_four(d->s->is_md4, strong, bytes, block);
    while (n < likely && delta_is_block(d, d->expected + n, d->s->weak[d->expected + n], strong[n]))
        n++;
    return n;
}

/* While blocks follow each other as they did. */
static void delta_follow(delta_scan *d)
{
    size_t block = d->s->spec.block;

    for (;;) {
        delta_have(d, GROUP * block);
        if (d->expected == SIGNATURE_NONE || delta_left(d) < GROUP * block || d->has_failed ||
            (uint64_t)d->expected + GROUP > d->s->blocks)
            return;
        int n = delta_next_four(d);
        for (int i = 0; i < n; i++)
            delta_copy(d, d->expected, block);
        if (n < GROUP)
            return;
    }
}

/* Moves the window until the part ends or its rolling hash may be that of a block. */
__attribute__((always_inline)) static inline uint32_t delta_roll(delta_scan *d, bool is_rabin,
                                                                 uint32_t hash, uint32_t leaving)
{
    const uint8_t *bytes = d->bytes;
    size_t block = d->s->spec.block, at = d->at, last = d->size - block;

    while (at < last) {
        hash = rolling_moved(is_rabin, hash, leaving, bytes[at], bytes[at + block]);
        at++;
        if (signature_may_have(d->s, hash))
            break;
    }
    d->patience += PATIENCE_PER_BYTE * (uint64_t)(at - d->at);
    d->at = at;
    return hash;
}

static void delta_scan_blocks(delta_scan *d)
{
    size_t block = d->s->spec.block;
    bool is_rabin = d->s->is_rabin;
    uint32_t leaving = rolling_leaving(is_rabin, block), hash = 0;
    bool is_fresh = true; /* the window jumped */

    for (;;) {
        delta_have(d, block + 1);
        if (delta_left(d) < block || d->has_failed)
            return;
        if (is_fresh)
            hash = rolling_of(is_rabin, d->bytes + d->at, block);
        int64_t found = delta_block_at(d, hash, block);
        is_fresh = found != SIGNATURE_NONE;
        if (is_fresh) {
            delta_copy(d, found, block);
            delta_follow(d);
            continue;
        }
        d->expected = SIGNATURE_NONE;
        size_t before = d->at;
        hash = is_rabin ? delta_roll(d, true, hash, leaving) : delta_roll(d, false, hash, leaving);
        if (d->at == before)
            return;
    }
}

/* What is left at the end may hold the old file's last block, which may be short. */
static void delta_scan_end(delta_scan *d)
{
    int64_t last = (int64_t)d->s->blocks - 1;
    bool is_rabin = d->s->is_rabin;
    uint32_t hash = rolling_of(is_rabin, d->bytes + d->at, delta_left(d));
    uint32_t leaving = rolling_leaving(is_rabin, delta_left(d));

    for (; last >= 0 && delta_left(d) > 0; d->at++) {
        leaving = rolling_leaving_less(is_rabin, leaving);
        if (hash == d->s->weak[last] && delta_block_at(d, hash, delta_left(d)) == last) {
            delta_copy(d, last, delta_left(d));
            return;
        }
        hash = rolling_shrunk(is_rabin, hash, leaving, d->bytes[d->at]);
    }
    d->at = d->size;
    delta_put_literal(d);
}

tamis_status delta_make(const block_signature *s, byte_source *new_file, void *new_ctx,
                        tamis_sink *out, void *out_ctx, const tamis_allocator *a)
{
    delta_scan d = { .s = s,
                     .in = new_file,
                     .in_ctx = new_ctx,
                     .out = out,
                     .out_ctx = out_ctx,
                     .by = a ? a : &signature_heap,
                     .room_most = PIECE + 2 * GROUP * (size_t)s->spec.block,
                     .expected = SIGNATURE_NONE,
                     .patience = PATIENCE };
    uint8_t line[4];

    signature_put(line, MAGIC, 4);
    delta_put(&d, line, 4);
    delta_scan_blocks(&d);
    if (!d.lacks_memory)
        delta_scan_end(&d);
    delta_put_copy(&d);
    line[0] = END;
    delta_put(&d, line, 1);
    if (d.bytes)
        d.by->free(d.by->ctx, d.bytes, d.room);
    return d.lacks_memory ? TAMIS_NOMEM : d.has_failed ? TAMIS_IO : TAMIS_OK;
}

/* ---- Patching ---------------------------------------------------------- */

typedef struct delta_patch {
    byte_source *in;
    void *in_ctx;
    old_file_reader *old_file;
    void *old_ctx;
    uint64_t old_size;
    tamis_sink *out;
    void *out_ctx;
} delta_patch;

static tamis_status delta_take(const delta_patch *p, void *bytes, size_t size)
{
    size_t got = signature_fill(p->in, p->in_ctx, bytes, size);

    return got == SIZE_MAX ? TAMIS_IO : got < size ? TAMIS_CORRUPT : TAMIS_OK;
}

static tamis_status delta_take_number(const delta_patch *p, uint64_t *x, unsigned size_class)
{
    uint8_t bytes[8];
    unsigned n = 1u << size_class;
    tamis_status status = delta_take(p, bytes, n);

    *x = 0;
    for (unsigned i = 0; i < n && !status; i++)
        *x = *x << 8 | bytes[i];
    return status;
}

enum { PATCH_PIECE = 1 << 13 };

static tamis_status delta_apply_literal(const delta_patch *p, uint64_t n)
{
    uint8_t piece[PATCH_PIECE];
    tamis_status status = TAMIS_OK;

    for (; n > 0 && !status;) {
        size_t size = n < sizeof piece ? (size_t)n : sizeof piece;
        status = delta_take(p, piece, size);
        if (!status && !p->out(p->out_ctx, piece, size))
            status = TAMIS_IO;
        n -= size;
    }
    return status;
}

static tamis_status delta_apply_copy(const delta_patch *p, uint64_t offset, uint64_t n)
{
    uint8_t piece[PATCH_PIECE];

    if (offset > p->old_size || n > p->old_size - offset)
        return TAMIS_CORRUPT;
    for (size_t size; n > 0; n -= size, offset += size) {
        size = n < sizeof piece ? (size_t)n : sizeof piece;
        if (!p->old_file(p->old_ctx, piece, size, offset) || !p->out(p->out_ctx, piece, size))
            return TAMIS_IO;
    }
    return TAMIS_OK;
}

static tamis_status delta_apply_command(const delta_patch *p, unsigned command)
{
    uint64_t offset, n;
    tamis_status status;

    if (command <= SHORT_LITERAL)
        return delta_apply_literal(p, command);
    if (command < COPY) {
        status = delta_take_number(p, &n, command - LITERAL);
        return status ? status : delta_apply_literal(p, n);
    }
    if (command >= COPY + 16)
        return TAMIS_CORRUPT;
    status = delta_take_number(p, &offset, (command - COPY) / 4);
    if (!status)
        status = delta_take_number(p, &n, (command - COPY) % 4);
    return status ? status : delta_apply_copy(p, offset, n);
}

tamis_status delta_apply(byte_source *delta, void *delta_ctx, old_file_reader *old_file,
                         void *old_ctx, uint64_t old_size, tamis_sink *out, void *out_ctx)
{
    const delta_patch p = { delta, delta_ctx, old_file, old_ctx, old_size, out, out_ctx };
    uint8_t start[4], command;
    tamis_status status = delta_take(&p, start, sizeof start);

    if (status)
        return status == TAMIS_CORRUPT ? TAMIS_FOREIGN : status;
    if (signature_number(start) != MAGIC)
        return TAMIS_FOREIGN;
    for (;;) {
        status = delta_take(&p, &command, 1);
        if (status || command == END)
            return status;
        status = delta_apply_command(&p, command);
        if (status)
            return status;
    }
}
