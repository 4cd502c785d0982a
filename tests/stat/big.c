/* big.c - filters of more than 2^32 bits: positions beyond 32 bits are used, and evenly; the file
 * is written, read and mapped whole. An eighth of the bits lies beyond; in the long run
 * (TAMIS_LONG=1) more than half. Files of one kind only, of all kinds in the long run: how the core
 * writes a payload does not depend on what is in it. */
#include "cuckoo/acf.h"
#include "kinds.h"

enum { CHUNK = 65536, PARTS = 64 };

static uint64_t least_bits(void)
{
    return is_long_run() ? UINT64_C(9) << 30 : UINT64_C(9) << 29;
}

/* A part of 64 has 4096 of them, or 65536: one that gets a tenth less, or a fortieth, is seen. */
static uint64_t n_keys(void)
{
    return is_long_run() ? 4 << 20 : 4 << 16;
}

static tamis_plan big_plan(tamis_kind kind)
{
    tamis_spec spec = TAMIS_SPEC(.fpr = 0.01, .max_bytes = least_bits() / 8 * 257 / 256);
    tamis_plan plan;

    spec.hasher = (tamis_hasher){ .hash = TAMIS_RAW, .seed = 33 };
    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    assert_true(plan.bytes > least_bits() / 8 && plan.bytes <= spec.max_bytes);
    return plan;
}

static void fill_chunk(uint64_t *keys, rng *r)
{
    for (int i = 0; i < CHUNK; i++)
        keys[i] = rng_next(r);
}

/* Single calls, batches and shared adds compute positions each in their own loop. */
static void add_chunk(tamis *f, const uint64_t *keys, int how)
{
    size_t added;

    if (how == 0)
        for (int i = 0; i < CHUNK; i++)
            assert_int_equal(tamis_add(f, keys[i]), TAMIS_OK);
    else if (how == 1 && tamis_kind_can(f->plan.kind) & TAMIS_CAN_ADD_CONCURRENT)
        assert_int_equal(tamis_add_concurrent(f, &added, keys, CHUNK), TAMIS_OK);
    else
        add_all(f, keys, CHUNK);
}

static void add_keys(tamis *f, rng r)
{
    uint64_t keys[CHUNK];

    for (uint64_t done = 0; done < n_keys(); done += CHUNK) {
        fill_chunk(keys, &r);
        add_chunk(f, keys, (int)(done / CHUNK % 3));
    }
}

static uint64_t hits_of_chunk(const tamis *f, const uint64_t *keys, bool one_by_one)
{
    uint64_t hits[CHUNK / 64], found = 0;

    if (!one_by_one)
        return tamis_has_many(f, hits, keys, CHUNK);
    for (int i = 0; i < CHUNK; i++)
        found += tamis_has(f, keys[i]);
    return found;
}

static uint64_t hits_of(const tamis *f, rng r)
{
    uint64_t keys[CHUNK], found = 0;

    for (uint64_t done = 0; done < n_keys(); done += CHUNK) {
        fill_chunk(keys, &r);
        found += hits_of_chunk(f, keys, done / CHUNK % 4 == 1);
    }
    return found;
}

/* Bytes over which keys fall evenly. */
typedef struct stretch {
    const uint8_t *at;
    uint64_t bytes;
} stretch;

/* Where they do. Of counters, a table for high counts is empty here, and what follows the first
 * rows is nearly so. Of cells with entries beside them, those are a stretch of their own. */
static unsigned find_stretches(const tamis *f, stretch s[2])
{
    const uint8_t *first = f->payload, *entries = first;
    uint64_t bytes = f->plan.bytes;

    if (has_trait(f->plan.kind, TAMIS_TRAIT_GROWS_COUNTS)) {
        first += 64 + 64 * (uint64_t)f->plan.width;
        bytes = f->plan.slots * f->plan.hashes / 2;
    } else if (f->plan.kind == TAMIS_ACF) {
        const acf_table t = acf_of(f);
        entries = acf_entry(&t, 0);
        bytes = (uint64_t)(entries - first);
    }
    s[0] = (stretch){ first, bytes };
    s[1] = (stretch){ entries, f->plan.bytes - bytes };
    return entries > first ? 2 : 1;
}

static uint64_t count_words(const uint8_t *at, uint64_t bytes)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < bytes; i += 8)
        n += le64(at + i) != 0;
    return n;
}

/* Words are counted that are not 0. Their bits are not even: the first bits of a hash tell where
 * its key is, and where hashes are kept, those of the first part begin with zeros. The words of one
 * key may all lie in one part, so that parts share keys as coins fall, at worst; the bound on the
 * number of keys in a part is then a bound on its share of the words. */
static void assert_even(const stretch *s)
{
    uint64_t part = s->bytes / PARTS / 8 * 8, words[PARTS], total = 0;

    for (int i = 0; i < PARTS; i++)
        total += words[i] = count_words(s->at + (uint64_t)i * part, part);
    assert_true(total > n_keys() / 2);
    for (int i = 0; i < PARTS; i++) {
        double keys = (double)words[i] / (double)total * (double)n_keys();

        snprintf(law_at, sizeof law_at, "part %d of %d: %llu of %llu words", i, PARTS,
                 (unsigned long long)words[i], (unsigned long long)total);
        assert_true(binomial_fits_at((uint64_t)keys, n_keys(), 1.0 / PARTS, ALPHA / PARTS));
    }
}

static void assert_file_holds(const tamis *f, rng keys)
{
    tamis *copy = NULL, *map = NULL;

    assert_int_equal(tamis_save(f, temp_path()), TAMIS_OK);
    assert_int_equal(tamis_load(&copy, temp_path(), NULL), TAMIS_OK);
    assert_true(same_payload(f, copy));
    assert_int_equal(info_of(copy).count, n_keys());
    tamis_free(copy);
    assert_int_equal(tamis_map(&map, temp_path(), 0, NULL), TAMIS_OK);
    assert_int_equal(hits_of(map, keys), n_keys());
    assert_true(is_whole(map));
    tamis_free(map);
    unlink(temp_path());
}

/* One of each way to number cells; all in a long run. */
static bool is_tried(tamis_kind kind)
{
    static const tamis_kind LIST[] = { TAMIS_BLOOM,  TAMIS_BLOCKED, TAMIS_COUNTING, TAMIS_CQF,
                                       TAMIS_CUCKOO, TAMIS_MORTON,  TAMIS_NO_KIND };

    return is_long_run() || is_listed(LIST, kind);
}

static void more_than_2_to_the_32_bits_work(tamis_kind kind)
{
    if (!is_tried(kind))
        skip();
    tamis_plan plan = big_plan(kind);
    tamis *f = new_filter(&plan);
    rng keys = rng_for(1000, 0), strangers = rng_for(1001, 0);
    stretch s[2];

    add_keys(f, keys);
    assert_int_equal(hits_of(f, keys), n_keys());
    tamis_info info = info_of(f);
    assert_int_equal(info.count, n_keys());
    assert_true(is_near(info.cardinality, (double)n_keys(), 0.01));
    assert_true(binomial_fits(hits_of(f, strangers), n_keys(), info.fpr));
    for (unsigned i = 0, n = find_stretches(f, s); i < n; i++)
        assert_even(&s[i]);
    if (is_long_run())
        assert_file_holds(f, keys);
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { "more than 2^32 bits", more_than_2_to_the_32_bits_work, .can = TAMIS_CAN_ADD,
          .cannot = TAMIS_IS_EXACT },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
