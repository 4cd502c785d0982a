/* index.c - groups of patterns, tables of groups, and the search in a group. */
#include <stdlib.h>

#include "filters/spec.h"
#include "index.h"
#include "items.h"
#include "term/array.h"
#include "term/message.h"
#include "text/reader.h"

/* ---- Bytes ------------------------------------------------------------- */

void index_fold(char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(bytes[i] | (bytes[i] >= 'A' && bytes[i] <= 'Z' ? 'a' ^ 'A' : 0));
}

void index_pad(buffer *b)
{
    buffer_reserve(b, WINDOW_MAX);
    memset(b->bytes + b->size, 0, WINDOW_MAX);
}

static void read_patterns(match_index *x, const char *path, const pattern_format *format)
{
    reader_all(&x->given, path, format->end, format->takes_packed);
    index_pad(&x->given);
    x->bytes = x->given.bytes;
    if (!format->folds)
        return;
    buffer_append(&x->folded, x->given.bytes, x->given.size);
    index_pad(&x->folded);
    index_fold(x->folded.bytes, x->folded.size);
    x->bytes = x->folded.bytes;
}

/* ---- Groups ------------------------------------------------------------ */

static size_t shared_prefix(const char *a, const char *b, size_t from, size_t to)
{
    enum { STEP = 64 };

    while (to - from >= STEP && memcmp(a + from, b + from, STEP) == 0)
        from += STEP;
    while (from < to && a[from] == b[from])
        from++;
    return from;
}

static bool is_same_group(const item *a, const item *b)
{
    return a->hash == b->hash && a->offset == b->offset;
}

static bool is_same_pattern(const item *a, const item *b)
{
    return is_same_group(a, b) && a->size == b->size && memcmp(a->at, b->at, a->size) == 0;
}

/* The pattern before is in the same group: whatever this one begins with, that one does, or is. */
static uint32_t parent_of(const match_index *x, size_t i)
{
    const pattern *p = &x->patterns[i], *before = p - 1;
    size_t least = p->size < before->size ? p->size : before->size;
    size_t shared = shared_prefix(x->bytes + p->at, x->bytes + before->at, 0, least);
    uint32_t up = (uint32_t)(i - 1);

    while (up != NO_PATTERN && x->patterns[up].size > shared)
        up = x->patterns[up].parent;
    return up;
}

/* Turns the items of a class into patterns, without repeated ones. Returns how many groups there
 * are. */
static size_t take_items(match_index *x, item *items, size_t n, group *groups)
{
    size_t n_groups = 0;

    for (size_t i = 0; i < n; i++) {
        const item *it = &items[i];
        bool goes_on = i > 0 && is_same_group(it, it - 1);

        if (goes_on && is_same_pattern(it, it - 1))
            continue;
        x->patterns[x->n] = (pattern){ (uint64_t)(it->at - x->bytes), it->size, NO_PATTERN };
        if (goes_on)
            x->patterns[x->n].parent = parent_of(x, x->n);
        else
            groups[n_groups++] =
                (group){ .hash = it->hash, .first = (uint32_t)x->n, .offset = it->offset & 63U };
        groups[n_groups - 1].n++;
        x->n++;
    }
    return n_groups;
}

/* ---- Tables ------------------------------------------------------------ */

/* The least power of two, from 2^least, with so many bits for each window. */
static unsigned bits_for(size_t n, unsigned least, size_t each)
{
    unsigned bits = least;

    while ((size_t)1 << bits < n * each)
        bits++;
    return bits;
}

/* Hashes come in order, so that slots are filled from the first to the last, about. */
static void fill_slots(window_class *c, const group *groups, size_t n)
{
    unsigned bits = bits_for(n + n / 2, 4, 1);

    c->n_slots = (size_t)1 << bits;
    c->slot_shift = 64 - bits;
    c->slots = array_new(c->n_slots, sizeof *c->slots, "patterns");
    for (size_t i = 0; i < n; i++) {
        size_t slot = (size_t)(groups[i].hash >> c->slot_shift);

        while (c->slots[slot].n > 0)
            slot = (slot + 1) & (c->n_slots - 1);
        c->slots[slot] = groups[i];
    }
}

/* Four to eight bits for each window. More would stop more positions, but a bitmap that falls out
 * of the second cache of a core costs more than the filter behind it; scan.c has the figures. */
static void fill_bits(window_class *c, const group *groups, size_t n)
{
    unsigned bits = bits_for(n, 12, 4);

    c->bit_shift = 64 - bits;
    c->bits = array_new((size_t)1 << (bits - 6), sizeof *c->bits, "bits of patterns");
    for (size_t i = 0; i < n; i++) {
        uint64_t bit = groups[i].hash >> c->bit_shift;

        c->bits[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

static void fill_filter(window_class *c, const group *groups, size_t n, uint64_t seed)
{
    tamis_spec spec = TAMIS_SPEC(.keys = n, .fpr = 0.01, .hasher = { TAMIS_RAW, seed, { 0 } });
    uint64_t *keys = array_new(n, sizeof *keys, "patterns");
    tamis_plan plan;
    tamis_status status = tamis_plan_kind(&plan, TAMIS_BLOCKED, &spec);

    for (size_t i = 0; i < n; i++)
        keys[i] = groups[i].hash;
    if (!status)
        status = tamis_build(&c->filter, &plan, keys, n, NULL);
    if (status)
        die_status("build", "a filter of the patterns", status);
    free(keys);
}

/* ---- Jumps ------------------------------------------------------------- */

/* From a pattern at some depth of its chain, a jump leads as far up as two equal jumps of its
 * parent in a row, or else to the parent: so a search takes about log2 of the depth steps. */
static void make_jumps(match_index *x)
{
    uint32_t *depths = array_new(x->n, sizeof *depths, "patterns"), *jumps = x->jumps;

    for (size_t i = 0; i < x->n; i++) {
        uint32_t up = x->patterns[i].parent, over, top;

        jumps[i] = up;
        depths[i] = up == NO_PATTERN ? 0 : depths[up] + 1;
        if (up == NO_PATTERN || (over = jumps[up]) == NO_PATTERN ||
            (top = jumps[over]) == NO_PATTERN)
            continue;
        if (depths[up] - depths[over] == depths[over] - depths[top])
            jumps[i] = top;
    }
    free(depths);
}

/* ---- Search ------------------------------------------------------------ */

/* A pattern beside a text: how many bytes they share, and whether the pattern is not after it. */
typedef struct beside {
    size_t shared;
    bool is_before;
} beside;

/* They share `known` bytes at least. */
static beside compare(const match_index *x, const pattern *p, const char *at, size_t size,
                      size_t known)
{
    const char *bytes = x->bytes + p->at;
    size_t to = p->size < size ? p->size : size, n = shared_prefix(bytes, at, known, to);

    return (beside){ n,
                     n == p->size || (n < size && (unsigned char)bytes[n] < (unsigned char)at[n]) };
}

/* The last pattern of the group that is not after the text, and what they share. Both ends of the
 * group are compared first: then all that is between them shares what both do. */
static uint32_t last_before(const match_index *x, const group *g, const char *at, size_t size,
                            size_t *shared)
{
    uint32_t low = g->first, high = g->first + g->n - 1;
    beside below = compare(x, &x->patterns[low], at, size, 0), above;

    *shared = below.shared;
    if (!below.is_before)
        return NO_PATTERN;
    if (low == high)
        return low;
    above = compare(x, &x->patterns[high], at, size, 0);
    if (above.is_before) {
        *shared = above.shared;
        return high;
    }
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        size_t known = below.shared < above.shared ? below.shared : above.shared;
        beside b = compare(x, &x->patterns[middle], at, size, known);

        if (b.is_before)
            low = middle, below = b;
        else
            high = middle, above = b;
    }
    *shared = below.shared;
    return low;
}

uint32_t index_find(const match_index *x, const group *g, const char *at, const char *end)
{
    size_t shared;
    uint32_t found = last_before(x, g, at, (size_t)(end - at), &shared);

    while (found != NO_PATTERN && x->patterns[found].size > shared) {
        uint32_t jump = x->jumps[found];

        found = jump != NO_PATTERN && x->patterns[jump].size > shared ? jump
                                                                      : x->patterns[found].parent;
    }
    return found;
}

/* ---- Open and close ---------------------------------------------------- */

static void begin_classes(match_index *x)
{
    static const unsigned sizes[CLASSES] = { 1, 2, 3, 4, 6, WINDOW_MAX };

    for (unsigned i = 0; i < CLASSES; i++) {
        unsigned char mask[WINDOW_MAX] = { 0 };

        memset(mask, 0xff, sizes[i]);
        x->classes[i].size = sizes[i];
        memcpy(&x->classes[i].mask, mask, sizeof mask);
    }
}

/* Classes without a pattern are left out. */
static void fill_classes(match_index *x, item_list *l, uint64_t seed)
{
    group *groups = array_new(l->n, sizeof *groups, "patterns");

    x->patterns = array_new(l->n, sizeof *x->patterns, "patterns");
    x->jumps = array_new(l->n, sizeof *x->jumps, "patterns");
    for (size_t i = 0, first = 0; i < CLASSES; first = l->ends[i++]) {
        size_t n = take_items(x, l->items + first, l->ends[i] - first, groups);
        window_class *c = &x->classes[x->n_classes];

        if (n == 0)
            continue;
        *c = x->classes[i];
        fill_bits(c, groups, n);
        fill_slots(c, groups, n);
        fill_filter(c, groups, n, seed);
        x->n_classes++;
    }
    free(groups);
}

void index_open(match_index *x, const char *path, const pattern_format *format)
{
    uint64_t secret[2];
    uint8_t bytes[sizeof secret];
    item_list l;

    *x = (match_index){ 0 };
    read_patterns(x, path, format);
    draw_secret(bytes);
    memcpy(secret, bytes, sizeof secret);
    x->factor = secret[0] | 1;
    begin_classes(x);
    items_make(&l, x, format);
    fill_classes(x, &l, secret[1]);
    free(l.items);
    make_jumps(x);
}

void index_close(match_index *x)
{
    for (unsigned i = 0; i < x->n_classes; i++) {
        free(x->classes[i].bits);
        free(x->classes[i].slots);
        tamis_free(x->classes[i].filter);
    }
    free(x->patterns);
    free(x->jumps);
    buffer_free(&x->given);
    buffer_free(&x->folded);
}
