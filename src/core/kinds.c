/* kinds.c - the only file that names the kinds: number -> name, summary, table; and which becomes
 * which. */
#include <string.h>

#include "filter.h"

/* A build with some kinds only (TAMIS_KINDS in cmake/library.cmake) has this in the place of the
 * others: no function, no ability. */
const tamis_ops tamis__left_out = { 0 };

#define TAMIS_X(constant, number, symbol, name, summary) extern const tamis_ops tamis__##symbol;
TAMIS_KINDS(TAMIS_X)
#undef TAMIS_X

typedef struct {
    tamis_kind kind;
    const char *name, *summary;
    const tamis_ops *ops;
} kinds_entry;

/* Ascending numbers, as in the header: tamis_kind_next() relies on it. */
static const kinds_entry KINDS[] = {
#define TAMIS_X(constant, number, symbol, name, summary) \
    { TAMIS_##constant, name, summary, &tamis__##symbol },
    TAMIS_KINDS(TAMIS_X)
#undef TAMIS_X
};

enum { KINDS_COUNT = sizeof KINDS / sizeof KINDS[0] };

static const kinds_entry *kinds_row(tamis_kind kind)
{
    for (int i = 0; i < KINDS_COUNT; i++)
        if (KINDS[i].kind == kind)
            return &KINDS[i];
    return NULL;
}

/* ---- Conversions ------------------------------------------------------- */

tamis_converter tamis__counting_to_bloom, tamis__compressed_to_bloom, tamis__bloom_to_compressed;
void tamis__counting_follow(tamis *to, const tamis *from, uint64_t key);

/* The name of a kind is a macro where tamis__left_out is in its place. */
static const tamis_conversion CONVERSIONS[] = {
#if !defined tamis__counting && !defined tamis__bloom
    { TAMIS_COUNTING, TAMIS_BLOOM, tamis__counting_to_bloom, tamis__counting_follow },
#endif
#if !defined tamis__compressed && !defined tamis__bloom
    { TAMIS_COMPRESSED, TAMIS_BLOOM, tamis__compressed_to_bloom, NULL },
    { TAMIS_BLOOM, TAMIS_COMPRESSED, tamis__bloom_to_compressed, NULL },
#endif
    { TAMIS_NO_KIND, TAMIS_NO_KIND, NULL, NULL },
};

/* `to` may be NULL: any kind. */
static const tamis_conversion *kinds_conversion(tamis_kind from, const tamis_kind *to)
{
    for (size_t i = 0; i < sizeof CONVERSIONS / sizeof *CONVERSIONS; i++)
        if (CONVERSIONS[i].from == from && (!to || CONVERSIONS[i].to == *to))
            return &CONVERSIONS[i];
    return NULL;
}

const tamis_conversion *tamis__conversion(tamis_kind from, tamis_kind to)
{
    return kinds_conversion(from, &to);
}

/* It is the first row of its kind. */
const tamis_conversion *tamis__plain_conversion(tamis_kind from)
{
    const tamis_conversion *row = kinds_conversion(from, NULL);

    return row && row->follow ? row : NULL;
}

/* ---- Speed ------------------------------------------------------------- */

/* From the fastest lookup to the slowest: 10^7 absent keys in batches, as docs/performance.md and
 * the pages of the kinds have measured it. Of those that are as fast, the smaller comes first. */
static const tamis_kind BY_SPEED[] = {
    TAMIS_BITMAP,
    TAMIS_BLOCKED,
    TAMIS_COUNTING_BLOCKED,
    TAMIS_CUCKOO,
    TAMIS_CUCKOO_BUCKETS,
    TAMIS_FUSE,
    TAMIS_FUSE4,
    TAMIS_FUSE5,
    TAMIS_BLOOM,
    TAMIS_PARTITIONED,
    TAMIS_SCALABLE,
    TAMIS_COUNTING,
    TAMIS_SPECTRAL,
    TAMIS_SPECTRAL_MI,
    TAMIS_XOR,
    TAMIS_WINDOW,
    TAMIS_MORTON,
    TAMIS_RIBBON,
    TAMIS_MAP,
    TAMIS_QUOTIENT,
    TAMIS_AQF,
    TAMIS_ALEPH,
    TAMIS_CQF,
    TAMIS_SPECTRAL_RM,
    TAMIS_XORPLUS,
    TAMIS_CASCADE,
    TAMIS_HASHSET,
    TAMIS_HASHMAP,
    TAMIS_ACF,
    TAMIS_COUNTMIN,
    TAMIS_GCS,
    TAMIS_COMPRESSED,
};

enum { SPEEDS_COUNT = sizeof BY_SPEED / sizeof *BY_SPEED };

int tamis__kind_rank(tamis_kind kind)
{
    int rank = 0;

    while (rank < SPEEDS_COUNT && BY_SPEED[rank] != kind)
        rank++;
    return rank;
}

/* ---- Rows -------------------------------------------------------------- */

/* False if this build leaves it out. */
static bool kinds_is_here(const kinds_entry *row)
{
    return row->ops->plan;
}

const tamis_ops *tamis__ops(tamis_kind kind)
{
    const kinds_entry *row = kinds_row(kind);
    return row && kinds_is_here(row) ? row->ops : NULL;
}

tamis_kind tamis_kind_next(tamis_kind kind)
{
    for (int i = 0; i < KINDS_COUNT; i++)
        if (KINDS[i].kind > kind && kinds_is_here(&KINDS[i]))
            return KINDS[i].kind;
    return TAMIS_NO_KIND;
}

const char *tamis_kind_name(tamis_kind kind)
{
    const kinds_entry *row = kinds_row(kind);
    return row ? row->name : NULL;
}

const char *tamis_kind_summary(tamis_kind kind)
{
    const kinds_entry *row = kinds_row(kind);
    return row ? row->summary : NULL;
}

bool tamis_kind_find(tamis_kind *kind, const char *name)
{
    for (int i = 0; i < KINDS_COUNT; i++)
        if (strcmp(KINDS[i].name, name) == 0 && kinds_is_here(&KINDS[i])) {
            *kind = KINDS[i].kind;
            return true;
        }
    return false;
}

/* Exact kinds and adaptive ones with remove() know every key; others may be asked to. */
static unsigned kinds_deletions(const tamis_ops *ops)
{
    bool knows_keys = ops->remove && (!ops->rate || ops->adapt);

    return knows_keys || ops->traits & TAMIS_TRAIT_CAN_DELETE_EXACTLY ? TAMIS_CAN_EXACT_DELETE : 0u;
}

static unsigned kinds_sizes(const tamis_ops *ops)
{
    unsigned can = 0;

    if (ops->move && !ops->resize)
        can |= TAMIS_CAN_FOLD;
    if (ops->append)
        can |= TAMIS_CAN_RESIZE;
    if (ops->traits & (TAMIS_TRAIT_GROWS | TAMIS_TRAIT_CAN_GROW))
        can |= TAMIS_CAN_GROW;
    return can;
}

unsigned tamis_kind_can(tamis_kind kind)
{
    const tamis_ops *ops = tamis__ops(kind);

    if (!ops)
        return 0;
    const bool adds = ops->add && !ops_put(ops), is_raw = ops->item && !ops->rate;
    unsigned extras = ops->traits & (TAMIS_TRAIT_TAKES_VALUES | TAMIS_TRAIT_TAKES_EXCLUDED);
    return (adds ? TAMIS_CAN_ADD : 0u) | (adds || (ops->solve && !extras) ? TAMIS_CAN_BUILD : 0u) |
           (ops->remove ? TAMIS_CAN_REMOVE : 0u) | (ops->count ? TAMIS_CAN_COUNT : 0u) |
           (ops->merge || ops->append ? TAMIS_CAN_MERGE : 0u) |
           (ops->reduce || ops->append ? TAMIS_CAN_INTERSECT : 0u) |
           (ops->next ? TAMIS_CAN_LIST : 0u) |
           (ops->add_concurrent ? TAMIS_CAN_ADD_CONCURRENT : 0u) |
           (extras & TAMIS_TRAIT_TAKES_VALUES ? TAMIS_CAN_GET : 0u) |
           (extras & TAMIS_TRAIT_TAKES_EXCLUDED ? TAMIS_CAN_EXCLUDE : 0u) |
           (ops_put(ops) ? TAMIS_CAN_PUT : 0u) |
           (ops->traits & TAMIS_TRAIT_ONLY_SETS_BITS ? TAMIS_CAN_READ_WHILE_ADD : 0u) |
           (ops->adapt ? TAMIS_CAN_ADAPT : 0u) |
           (ops_have_whole_hashes(ops) ? TAMIS_CAN_ASK_KEYS : 0u) |
           (ops->forget && !ops->adapt ? TAMIS_CAN_ROTATE : 0u) |
           (ops->dot || ops->append ? TAMIS_CAN_DOT : 0u) | (ops->rate ? 0u : TAMIS_IS_EXACT) |
           (is_raw ? TAMIS_IS_INDEXED : 0u) |
           (ops->traits & TAMIS_TRAIT_TO_STUDY ? TAMIS_IS_TO_STUDY : 0u) |
           (kinds_conversion(kind, NULL) ? TAMIS_CAN_CONVERT : 0u) | kinds_deletions(ops) |
           kinds_sizes(ops);
}
