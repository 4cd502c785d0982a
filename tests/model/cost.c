/* cost.c - small input stays cheap: whatever the keys and the image, calls take no more memory than
 * docs/format.md says. No kind is named.
 *
 * Keys are crafted against a seed that is known: mix64 is a permutation, so that any hash has its
 * key. All memory comes from an allocator that refuses what is beyond the bound and remembers it.
 */
#include "kinds.h"
#include "tamis_disk.h"

/* ---- The allocator ----------------------------------------------------- */

typedef struct purse {
    uint64_t live, most, limit;
    bool is_overdrawn;
} purse;

static void *purse_alloc(void *ctx, size_t size)
{
    purse *p = ctx;

    if (size > p->limit || p->live > p->limit - size) {
        p->is_overdrawn = true;
        return NULL;
    }
    p->live += size;
    p->most = p->live > p->most ? p->live : p->most;
    return malloc(size);
}

static void purse_free(void *ctx, void *block, size_t size)
{
    purse *p = ctx;

    p->live -= size;
    free(block);
}

static tamis_allocator allocator_of(purse *p)
{
    return (tamis_allocator){ purse_alloc, purse_free, p };
}

/* ---- Keys -------------------------------------------------------------- */

/* Keys are random, but for what of the hash is chosen: its first bits, all bits, or ever more of
 * the first bits as the filter doubles, so that each doubling helps a little. */
typedef struct family {
    const char *name;
    unsigned chosen;
    bool follows;
} family;

static const family FAMILIES[] = {
    { "random", 0, false },         { "near, 12 bits", 12, false }, { "near, 20 bits", 20, false },
    { "near, 28 bits", 28, false }, { "near, 36 bits", 36, false }, { "near, 44 bits", 44, false },
    { "one key", 63, false },       { "halving", 1, true },
};

enum { N_FAMILIES = sizeof FAMILIES / sizeof *FAMILIES };

/* The next key for a filter that has doubled so often. */
static uint64_t crafted_key(const family *y, rng *r, const tamis_hasher *hasher, unsigned doublings)
{
    unsigned bits = y->chosen + (y->follows ? doublings : 0);
    uint64_t h = rng_next(r) >> (bits < 63 ? bits : 63) | (bits >= 63);

    return unhash_key(h, salt_of_seed(hasher->seed));
}

/* ---- Growth ------------------------------------------------------------ */

static tamis_plan growing_plan(tamis_kind kind, uint64_t keys, double fpr, double load)
{
    tamis_spec spec = spec_for(keys, fpr, 8);
    tamis_plan plan;

    spec.can = TAMIS_CAN_GROW;
    spec.load = load;
    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    return plan;
}

/* A filter grows while a quarter of it or more is in use: so it has eight times the room that its
 * keys need or less, and beside it, while it grows, is one of half that size. */
static uint64_t growth_limit(const tamis_plan *first, const tamis_plan *large, uint64_t n)
{
    double each = (double)large->bytes / (double)large->capacity;

    return 12 * (first->bytes + (uint64_t)(each * (double)n) + 4096);
}

/* Returns how many keys went in. */
static size_t grow_with(tamis *f, purse *p, const tamis_plan *large, const family *y,
                        uint64_t *keys, size_t n, rng *r)
{
    const tamis_plan first = f->plan;
    tamis_status status = TAMIS_OK;
    size_t i = 0;

    for (unsigned doublings = 0; i < n; i++) {
        uint64_t bytes = f->plan.bytes;

        p->limit = growth_limit(&first, large, i + 1);
        keys[i] = crafted_key(y, r, &first.hasher, doublings);
        status = tamis_add(f, keys[i]);
        if (p->is_overdrawn)
            fail_msg("key %zu takes more than %llu bytes", i, (unsigned long long)p->limit);
        assert_true(status == TAMIS_OK || status == TAMIS_FULL);
        if (status)
            break;
        doublings += f->plan.bytes != bytes;
    }
    return i;
}

static void check_growth(tamis_kind kind, uint64_t few, size_t n, double fpr, double load)
{
    tamis_plan plan = growing_plan(kind, few, fpr, load);
    tamis_plan large = growing_plan(kind, 1 << 20, fpr, load);

    for (int i = 0; i < N_FAMILIES; i++) {
        purse p = { .limit = growth_limit(&plan, &large, 0) };
        const tamis_allocator a = allocator_of(&p);
        rng r = rng_for(2600 + (uint64_t)kind, (uint64_t)i);
        uint64_t *keys = array_of(n, sizeof *keys);
        tamis *f = NULL;

        snprintf(law_at, sizeof law_at, "from %llu keys, rate %g, load %g: %s",
                 (unsigned long long)few, fpr, load, FAMILIES[i].name);
        assert_int_equal(tamis_new(&f, &plan, &a), TAMIS_OK);
        size_t in = grow_with(f, &p, &large, &FAMILIES[i], keys, n, &r);
        /* Kinds that always grow are made for any number of keys. */
        if (!FAMILIES[i].chosen && has_trait(kind, TAMIS_TRAIT_GROWS))
            assert_int_equal(in, n);
        assert_true(is_whole(f));
        for (size_t k = 0; k < in; k++)
            assert_true(tamis_has(f, keys[k]));
        tamis_free(f);
        assert_int_equal(p.live, 0);
        free(keys);
    }
}

static void growth_is_paid_for_by_keys(tamis_kind kind)
{
    size_t n = run_size(3000, 1000, 30000);

    check_growth(kind, 8, n, 0.01, 0);
    check_growth(kind, 8, n, 0.5, 0);
    check_growth(kind, 8, n, 0.5, 0.1);
    check_growth(kind, 8, n, 1e-6, 0);
    /* So many slots that kinds which cut them into shards do so. */
    check_growth(kind, 1000, n, 1e-6, 0.007);
}

/* As above, of the file. */
static void files_grow_by_keys(tamis_kind kind)
{
    tamis_plan plan = growing_plan(kind, 1000, 1e-6, 0.007);
    tamis_plan large = growing_plan(kind, 1 << 20, 1e-6, 0.007);

    for (int i = 0; i < N_FAMILIES; i++) {
        const size_t n = 2000;
        rng r = rng_for(2630 + (uint64_t)kind, (uint64_t)i);
        tamis *f = new_filter(&plan);
        tamis_disk *d = NULL;

        snprintf(law_at, sizeof law_at, "%s", FAMILIES[i].name);
        assert_int_equal(tamis_save(f, temp_path()), TAMIS_OK);
        tamis_free(f);
        assert_int_equal(tamis_disk_open(&d, temp_path(), NULL), TAMIS_OK);
        for (size_t k = 0; k < n; k++) {
            size_t added;
            uint64_t key = crafted_key(&FAMILIES[i], &r, &plan.hasher, 0);
            tamis_status status = tamis_disk_add_many(d, &added, &key, 1);

            assert_true(status == TAMIS_OK || status == TAMIS_FULL);
            assert_true(tamis_plan_of(tamis_disk_file(d))->bytes <=
                        growth_limit(&plan, &large, k + 1));
            if (status)
                break;
        }
        tamis_disk_free(d);
        unlink(temp_path());
    }
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { "growth is paid for by keys", growth_is_paid_for_by_keys,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_GROW },
        { "files grow by keys", files_grow_by_keys, .can = TAMIS_CAN_RESIZE | TAMIS_CAN_GROW },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
