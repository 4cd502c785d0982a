/* cuckoo_buckets_explain.c - buckets of four tags, and the two of a key.
 * Prefix: buckets_. */
#include "cuckoo/cuckoo_buckets.h"
#include "explain.h"

static tamis_cell buckets_cell(const buckets_table *t, uint64_t bucket, unsigned slot)
{
    uint32_t tag = buckets_get(t, bucket, slot);

    return (tamis_cell){ .array = "bucket",
                         .number = bucket,
                         .index = slot,
                         .value = tag,
                         .bits = t->width,
                         .marks = tag ? 0 : TAMIS_MARK_EMPTY };
}

static tamis_cell buckets_stash_cell(const buckets_table *t, unsigned entry)
{
    return (tamis_cell){ .array = "stash",
                         .index = entry,
                         .value = buckets_stash_get(t, entry),
                         .bits = t->class_bits,
                         .marks = t->stash[0] >> entry & 1 ? 0 : TAMIS_MARK_EMPTY };
}

void tamis__cuckoo_buckets_cells(const tamis *f, tamis_telling *to)
{
    const buckets_table t = buckets_of(f);
    const surplus s = buckets_surplus_of(&t);
    bool goes_on = true;

    for (uint64_t i = 0; i < BUCKETS_SLOTS * t.buckets && goes_on; i++)
        goes_on = tamis__tell_cell(to, buckets_cell(&t, i / BUCKETS_SLOTS, i % BUCKETS_SLOTS));
    for (unsigned i = 0; i < BUCKETS_STASH && goes_on; i++)
        goes_on = tamis__tell_cell(to, buckets_stash_cell(&t, i));
    if (goes_on)
        tamis__tell_surplus(to, &s);
}

/* The class of a key is its tag and its two buckets, as one number. */
static void buckets_explain_stash(const buckets_table *t, const buckets_key *k, tamis_telling *to)
{
    uint64_t class = buckets_class(t, k);

    if (t->stash[0])
        tamis__tell_number(to, "class", class);
    for (unsigned i = 0; i < BUCKETS_STASH; i++)
        if (t->stash[0] >> i & 1)
            tamis__tell_read(to, "class in the stash", buckets_stash_cell(t, i),
                             buckets_stash_find(t, class) >> i & 1);
}

bool tamis__cuckoo_buckets_explain(const tamis *f, uint64_t key, tamis_telling *to)
{
    const buckets_table t = buckets_of(f);
    buckets_key k = buckets_key_of(&t, hash_key(key, t.salt));
    bool is_held = false;

    tamis__tell_number(to, "tag", k.tag);
    tamis__tell_number(to, "bucket", k.first);
    tamis__tell_number(to, "other bucket", k.second);
    for (unsigned i = 0; i < 2 * BUCKETS_SLOTS; i++) {
        bool is_first = i < BUCKETS_SLOTS;
        tamis_cell cell = buckets_cell(&t, is_first ? k.first : k.second, i % BUCKETS_SLOTS);
        tamis__tell_read(to, is_first ? "tag in the bucket" : "tag in the other bucket", cell,
                         cell.value == k.tag);
        is_held = is_held || cell.value == k.tag;
    }
    buckets_explain_stash(&t, &k, to);
    bool found = is_held || buckets_stashed(&t, &k);
    tamis__tell_number(to, "count", buckets_count_of(&t, &k));
    return tamis__tell_answer(to, found,
                              is_held ? "one of its buckets has its tag"
                              : found ? "the stash has its tag and buckets"
                                      : "neither of its buckets has its tag");
}
