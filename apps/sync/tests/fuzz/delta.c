/* delta.c - fuzzer: bytes as signatures, deltas and files.
 *
 * input: a mode and the size of the first part (two bytes, low and high), then the part and what is
 * left.
 *
 *   mode % 3 = 0   a signature, a new file: the delta of them has to make a file of that size
 *   1              an old file, a delta: any end is right, but for a bad access
 *   2              an old file, a new file: the delta has to make it; mode / 3 chooses the hashes
 */
#include <stdlib.h>
#include <string.h>

#include "../../delta.h"
#include "cost.h"
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SETTINGS = 3, WRITTEN_MOST = 1 << 20, DELTA_LEAST = 5, DELTA_COMMAND = 17 };

typedef struct part {
    const uint8_t *at;
    size_t size;
} part;

typedef struct written {
    uint8_t at[WRITTEN_MOST];
    size_t size;
} written;

static size_t part_read(void *ctx, void *bytes, size_t size)
{
    part *p = ctx;
    size_t n = p->size < size ? p->size : size;

    if (n > 0)
        memcpy(bytes, p->at, n);
    p->at += n;
    p->size -= n;
    return n;
}

static bool part_read_old(void *ctx, void *bytes, size_t size, uint64_t offset)
{
    const part *p = ctx;

    MUST(offset <= p->size && size <= p->size - offset);
    memcpy(bytes, p->at + offset, size);
    return true;
}

/* Of an old file that nobody knows. */
static bool part_read_zeros(void *ctx, void *bytes, size_t size, uint64_t offset)
{
    (void)ctx;
    (void)offset;
    memset(bytes, 0, size);
    return true;
}

static bool written_add(void *ctx, const void *bytes, size_t size)
{
    written *w = ctx;

    if (size > sizeof w->at - w->size)
        return false;
    memcpy(w->at + w->size, bytes, size);
    w->size += size;
    return true;
}

static block_signature *signature_of(part sig)
{
    block_signature *s = NULL;
    tamis_status status = signature_load(&s, part_read, &sig, 0, NULL);

    MUST(status == TAMIS_OK || status == TAMIS_FOREIGN || status == TAMIS_CORRUPT ||
         status == TAMIS_RANGE);
    return s;
}

static part delta_between(const block_signature *s, part new_file)
{
    static written delta;

    delta.size = 0;
    size_t size = new_file.size;
    MUST(delta_make(s, part_read, &new_file, written_add, &delta, NULL) == TAMIS_OK);
    /* A command for a block of a byte, and what is around them. */
    MUST(delta.size <= DELTA_LEAST + DELTA_COMMAND * size);
    return (part){ delta.at, delta.size };
}

static void exercise_signature(part sig, part new_file)
{
    static written made;
    block_signature *s = signature_of(sig);

    if (!s)
        return;
    part delta = delta_between(s, new_file);
    made.size = 0;
    MUST(delta_apply(part_read, &delta, part_read_zeros, NULL, UINT64_MAX, written_add, &made) ==
         TAMIS_OK);
    MUST(made.size == new_file.size);
    signature_free(s);
}

static void exercise_delta(part old, part delta)
{
    static written made;

    made.size = 0;
    (void)!delta_apply(part_read, &delta, part_read_old, &old, old.size, written_add, &made);
}

static void exercise_files(part old, part new_file, unsigned mode)
{
    static const signature_format FORMATS[] = { SIGNATURE_SUM_MD4, SIGNATURE_SUM_BLAKE2,
                                                SIGNATURE_RABIN_MD4, SIGNATURE_RABIN_BLAKE2 };
    static written sig, made;
    const signature_spec spec = { FORMATS[mode % 4], 1 + mode / 4, 16 };
    part rest = old;

    sig.size = made.size = 0;
    MUST(signature_make(&spec, part_read, &rest, written_add, &sig, NULL) == TAMIS_OK);
    block_signature *s = signature_of((part){ sig.at, sig.size });
    MUST(s);
    part delta = delta_between(s, new_file);
    MUST(delta_apply(part_read, &delta, part_read_old, &old, old.size, written_add, &made) ==
         TAMIS_OK);
    MUST(made.size == new_file.size && memcmp(made.at, new_file.at, made.size) == 0);
    signature_free(s);
}

/* Files are read in pieces of 2^18 bytes, of which a buffer holds two while it grows, and so is a
 * signature. Its blocks are of five bytes at least; each takes these, up to four slots of 12 bytes
 * in two tables and 16 bytes of bits. */
static const cost_law COST = { .memory = 1 << 20, .memory_times = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS || size > 1 << 14)
        return 0;
    cost_begin();
    size_t first = data[1] + 256u * data[2];
    first = first < size - SETTINGS ? first : size - SETTINGS;
    part a = { data + SETTINGS, first };
    part b = { data + SETTINGS + first, size - SETTINGS - first };
    switch (data[0] % 3) {
    case 0:
        exercise_signature(a, b);
        break;
    case 1:
        exercise_delta(a, b);
        break;
    default:
        exercise_files(a, b, data[0] / 3);
    }
    cost_check("delta", &COST, size);
    return 0;
}
