/* cost.c - small input stays cheap: whatever the keys and the image, calls take no more memory than
 * docs/format.md says. No kind is named.
 *
 * Keys are crafted against a seed that is known: mix64 is a permutation, so that any hash has its
 * key. All memory comes from an allocator that refuses what is beyond the bound and remembers it.
 */
#include "fuzz/seal.h"
#include "kinds.h"
#include "limited_allocator.h"
#include "tamis_disk.h"

/* What a call may take besides: the struct, and the long searches of cuckoo kinds. */
enum { CONSTANT = 64 << 10 };

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

/* As many as tell what a key takes in a large filter, and have room where a word has 32 bits. */
enum { MANY_KEYS = sizeof(size_t) > 4 ? 1 << 20 : 1 << 18 };

/* A filter grows while a quarter of it or more is in use: so it has eight times the room that its
 * keys need or less, and beside it, while it grows, is one of half that size. */
static uint64_t growth_limit(const tamis_plan *first, const tamis_plan *large, uint64_t n)
{
    double each = (double)large->bytes / (double)large->capacity;

    return 12 * (first->bytes + (uint64_t)(each * (double)n)) + CONSTANT;
}

/* Returns how many keys went in. */
static size_t grow_with(tamis *f, limited_allocator *p, const tamis_plan *large, const family *y,
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
    tamis_plan large = growing_plan(kind, MANY_KEYS, fpr, load);

    for (int i = 0; i < N_FAMILIES; i++) {
        limited_allocator p = { .limit = growth_limit(&plan, &large, 0) };
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
    size_t n = run_size(1500, 500, 30000);

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
    tamis_plan large = growing_plan(kind, MANY_KEYS, 1e-6, 0.007);

    for (int i = 0; i < N_FAMILIES; i++) {
        const size_t n = run_size(2000, 1200, 2000);
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

/* ---- Builds ------------------------------------------------------------ */

static tamis_plan build_plan(tamis_kind kind, size_t n, uint64_t seed, double load)
{
    unsigned can = tamis_kind_can(kind);
    tamis_spec spec = spec_for(n, can & TAMIS_CAN_EXCLUDE ? 0 : 0.01, seed);

    spec.can = can & TAMIS_CAN_GROW;
    spec.load = load;
    spec.value_bits = can & TAMIS_CAN_GET ? 8 : 0;
    spec.universe = can & TAMIS_CAN_EXCLUDE ? 2 * n : 0;
    return plan_of_spec(kind, spec);
}

static void builds_are_paid_for_by_keys(tamis_kind kind)
{
    const size_t n = run_size(1500, 500, 100000);
    const tamis_plan plan = build_plan(kind, n, 8, 0);
    uint64_t *keys = array_of(n, sizeof *keys), *beside = array_of(n, sizeof *keys);

    for (int i = 0; i < N_FAMILIES; i++) {
        limited_allocator p = { .limit = 12 * (plan.bytes + 64 * n) + CONSTANT };
        const tamis_allocator a = allocator_of(&p);
        rng r = rng_for(2690 + (uint64_t)kind, (uint64_t)i);
        tamis *f = NULL;

        snprintf(law_at, sizeof law_at, "%s", FAMILIES[i].name);
        for (size_t k = 0; k < n; k++) {
            keys[k] = is_indexed(kind) ? k : crafted_key(&FAMILIES[i], &r, &plan.hasher, 0);
            beside[k] = tamis_kind_can(kind) & TAMIS_CAN_GET
                            ? keys[k] & 255
                            : crafted_key(&FAMILIES[i], &r, &plan.hasher, 0) ^ 1;
        }
        tamis_status status = build_any(&f, &plan, keys, beside, n, &a);
        if (p.is_overdrawn)
            fail_msg("a build takes more than %llu bytes", (unsigned long long)p.limit);
        assert_true(status == TAMIS_OK || status == TAMIS_FULL || status == TAMIS_CONFLICT);
        for (size_t k = 0; !status && k < n; k++)
            assert_true(tamis_has(f, keys[k]));
        if (!status)
            tamis_free(f);
        assert_int_equal(p.live, 0);
    }
    free(keys);
    free(beside);
}

/* ---- Secrets ----------------------------------------------------------- */

/* Of somebody who knows the seed, but not the secret, and sees answers: his keys would crowd a
 * place if they were raw, and each is one that the filter does not find. */
static void attack(tamis *f, const family *y, rng *r, size_t n)
{
    for (uint64_t in = 0, tried = 0; in < n; tried++) {
        uint64_t chosen = crafted_key(y, r, &f->plan.hasher, 0) + tried;
        uint64_t key = tamis_key(f, &chosen, sizeof chosen);

        if (tamis_has(f, key))
            continue;
        assert_int_equal(tamis_add(f, key), TAMIS_OK);
        in++;
    }
}

static uint64_t strangers_found(const tamis *f, rng *r, size_t n)
{
    uint64_t keys[1024], hits[16], found = 0;

    for (size_t i = 0; i < n; i += 1024) {
        for (int k = 0; k < 1024; k++)
            keys[k] = rng_next(r);
        found += tamis_has_many(f, hits, keys, 1024);
    }
    return found;
}

/* There is room for all of them, and the rate is that of keys which nobody chose: 1.02 times as
 * high at most. */
static void secrets_make_chosen_keys_harmless(tamis_kind kind)
{
    const size_t keys = run_size(10000, 1000, 10000), probes = run_size(1 << 16, 1 << 12, 1 << 20);
    const size_t filters = run_size(4, 1, 8) * N_FAMILIES;
    tamis_spec spec = spec_for(keys, 0.01, 8);
    uint64_t found = 0;
    tamis_plan plan;

    spec.hasher = (tamis_hasher){ .hash = TAMIS_KEYED, .seed = 8, .secret = "sixteen letters" };
    if (is_indexed(kind) || is_exact(kind))
        return;
    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    for (size_t i = 0; i < filters; i++) {
        rng r = rng_for(2720 + (uint64_t)kind, i);
        tamis *f;

        plan.hasher.secret[0]++;
        f = new_filter(&plan);
        snprintf(law_at, sizeof law_at, "%s", FAMILIES[i % N_FAMILIES].name);
        attack(f, &FAMILIES[i % N_FAMILIES], &r, keys);
        found += strangers_found(f, &r, probes);
        tamis_free(f);
    }
    double honest = tamis_plan_rate(&plan, keys);
    if (!binomial_fits_between(found, filters * probes, 0, 1.02 * honest))
        fail_msg("%g of strangers are found, not %g", (double)found / (double)(filters * probes),
                 honest);
}

/* ---- Images ------------------------------------------------------------ */

/* A filter of n random keys, with whatever else its kind needs. */
static tamis *sample_of(tamis_kind kind, size_t n, rng *r)
{
    const tamis_plan plan = build_plan(kind, n, rng_next(r), rng_below(r, 2) ? 0 : 0.3);
    uint64_t *keys = universe_of(&plan, r, &n), *beside = fresh_keys(r, n);
    tamis *f = NULL;

    for (size_t i = 0; i < n; i++)
        beside[i] &= tamis_kind_can(kind) & TAMIS_CAN_GET ? 255 : UINT64_MAX;
    assert_int_equal(build_any(&f, &plan, keys, beside, n, NULL), TAMIS_OK);
    free(keys);
    free(beside);
    return f;
}

/* A number that somebody might try, near the one that is there or far from it. */
static uint64_t strange_number(rng *r, uint64_t x)
{
    switch (rng_below(r, 6)) {
    case 0:
        return x + rng_below(r, 5) - 2;
    case 1:
        return x << rng_below(r, 8);
    case 2:
        return x >> rng_below(r, 8);
    case 3:
        return (UINT64_C(1) << rng_below(r, 64)) - rng_below(r, 2);
    case 4:
        return rng_below(r, 1000);
    default:
        return UINT64_MAX - rng_below(r, 2);
    }
}

/* Numbers of a header that mean something to a kind: docs/format.md. */
static const struct field {
    int at, size;
} FIELDS[] = { { 30, 2 }, { 56, 8 }, { 72, 8 }, { 80, 4 }, { 84, 4 }, { 88, 8 }, { 98, 2 } };

static void change_header(uint8_t *image, rng *r)
{
    const struct field *field = &FIELDS[rng_below(r, sizeof FIELDS / sizeof *FIELDS)];
    uint64_t x = seal_number(image + field->at, field->size);

    seal_put(image + field->at, field->size, strange_number(r, x));
}

/* A number, or a stretch of bytes; most of what a payload says of itself comes first. */
static void change_payload(uint8_t *payload, uint64_t size, rng *r)
{
    uint64_t at = rng_below(r, 2) ? rng_below(r, size) & ~UINT64_C(7) : 0;
    uint64_t n = 1 + rng_below(r, size - at);

    if (rng_below(r, 2) && at + 8 <= size)
        seal_put(payload + at, 8, strange_number(r, seal_number(payload + at, 8)));
    else if (rng_below(r, 2))
        payload[at] ^= (uint8_t)(1u << rng_below(r, 8));
    else
        memset(payload + at, (int)rng_below(r, 256), n);
}

static void change_image(image_bytes *image, rng *r)
{
    uint64_t offset = seal_number(image->at + SEAL_TABLE + SEAL_OFFSET, 8);
    uint64_t length = seal_number(image->at + SEAL_TABLE + SEAL_LENGTH, 8);

    for (uint64_t i = 0, n = 1 + rng_below(r, 3); i < n; i++)
        if (rng_below(r, 3))
            change_header(image->at, r);
        else
            change_payload(image->at + offset, length, r);
    seal(image->at, image->size);
}

/* What docs/format.md says: twelve times the image, and what n keys take in a filter of that load,
 * eight times over. */
static uint64_t image_limit(const image_bytes *image, const tamis_plan *plan, uint64_t n)
{
    uint64_t each = 64000 / (uint64_t)(plan->load ? plan->load : 1000);

    return 12 * (image->size + each * n) + CONSTANT;
}

enum { SOME = 64 };

static void ask(const tamis *f, rng *r)
{
    uint64_t keys[SOME], hits[SOME / 64];
    size_t n = 0;

    assert_true(is_whole(f));
    for (int i = 0; i < SOME; i++)
        keys[i] = rng_next(r) >> rng_below(r, 64);
    for (int i = 0; i < SOME; i++)
        n += tamis_has(f, keys[i]);
    assert_int_equal(tamis_has_many(f, hits, keys, SOME), n);
    (void)info_of(f);
}

static void change(tamis *f, rng *r)
{
    const family *y = &FAMILIES[rng_below(r, N_FAMILIES)];
    uint64_t keys[SOME];
    size_t done;
    tamis *copy = NULL;

    for (int i = 0; i < SOME; i++)
        keys[i] = crafted_key(y, r, &f->plan.hasher, 0);
    for (int i = 0; i < SOME / 2; i++)
        (void)!tamis_add(f, keys[i]);
    (void)!tamis_add_many(f, &done, keys + SOME / 2, SOME / 2);
    (void)!tamis_remove_many(f, &done, keys, SOME / 4);
    for (int i = SOME / 4; i < SOME / 2; i++)
        (void)!tamis_remove(f, keys[i]);
    if (tamis_clone(&copy, f, &f->alloc))
        return;
    (void)!tamis_combine(f, TAMIS_MERGE, copy);
    (void)!tamis_combine(f, TAMIS_INTERSECT, copy);
    tamis_free(copy);
}

/* Whatever it was, it is an image of the library's own by now. */
static void assert_read_again(const tamis *f)
{
    image_bytes image = image_of(f);
    tamis *again = NULL;

    assert_int_equal(tamis_image_read(&again, image.at, image.size, NULL), TAMIS_OK);
    tamis_free(again);
    free_bytes(&image);
}

/* Whether it could be read. */
static bool use_image(const image_bytes *image, rng *r)
{
    limited_allocator p = { .limit = image->size + 4096 };
    const tamis_allocator a = allocator_of(&p);
    tamis *f = NULL;
    tamis_status status = tamis_image_read(&f, image->at, image->size, &a);

    assert_false(p.is_overdrawn);
    if (status)
        return false;
    p.limit = p.live; /* asking takes nothing */
    ask(f, r);
    assert_false(p.is_overdrawn);
    p.limit = image_limit(image, &f->plan, SOME);
    change(f, r);
    if (p.is_overdrawn)
        fail_msg("%zu bytes and %d keys take more than %llu bytes", image->size, SOME,
                 (unsigned long long)p.limit);
    assert_true(is_whole(f));
    assert_read_again(f);
    tamis_free(f);
    assert_int_equal(p.live, 0);
    return true;
}

static void small_images_stay_cheap(tamis_kind kind)
{
    const size_t rounds = run_size(300, 100, 20000);
    size_t read = 0;

    for (size_t i = 0; i < rounds; i++) {
        rng r = rng_for(2660 + (uint64_t)kind, i);
        tamis *f = sample_of(kind, 8 << rng_below(&r, 5), &r);
        image_bytes image = image_of(f);

        snprintf(law_at, sizeof law_at, "round %zu", i);
        change_image(&image, &r);
        read += use_image(&image, &r);
        free_bytes(&image);
        tamis_free(f);
    }
    /* Some are still filters, or nothing was looked at. */
    assert_true(read > rounds / 100);
}

/* ---- Conversions ------------------------------------------------------- */

/* What docs/format.md says: kinds that take keys one by one become no larger than twice what they
 * are, and what is coded becomes what it stands for. */
static uint64_t conversion_limit(const tamis *f, size_t size)
{
    uint64_t most = tamis_kind_can(f->plan.kind) & TAMIS_CAN_ADD ? 2 : 1024;

    return most * size + 4096;
}

/* To every kind that there is a way to: returns how many. */
static int convert_all(const tamis *f, size_t size)
{
    limited_allocator p = { .limit = conversion_limit(f, size) };
    const tamis_allocator a = allocator_of(&p);
    int ways = 0;

    for (tamis_kind to = first_kind(); to; to = tamis_kind_next(to)) {
        tamis *made = NULL;
        tamis_status status = tamis_convert(&made, to, f, &a);

        if (p.is_overdrawn)
            fail_msg("%zu bytes to %s take more than %llu", size, tamis_kind_name(to),
                     (unsigned long long)p.limit);
        if (!status)
            assert_true(is_whole(made));
        else
            assert_true(status == TAMIS_CANNOT || status == TAMIS_CORRUPT);
        ways += !status;
        tamis_free(made);
        assert_int_equal(p.live, 0);
    }
    return ways;
}

/* Of views only the header was checked. */
static int convert_image(const image_bytes *image)
{
    tamis *f = NULL;
    int ways = 0;

    if (!tamis_image_view(&f, image->at, image->size, NULL))
        ways = convert_all(f, image->size);
    tamis_free(f);
    return ways;
}

static void conversions_stay_cheap(tamis_kind kind)
{
    const size_t rounds = run_size(200, 60, 20000);
    size_t converted = 0;

    for (size_t i = 0; i < rounds; i++) {
        rng r = rng_for(2750 + (uint64_t)kind, i);
        tamis *f = sample_of(kind, rng_below(&r, 2) ? (size_t)8 << rng_below(&r, 8) : 0, &r);
        image_bytes image = image_of(f);

        snprintf(law_at, sizeof law_at, "round %zu", i);
        assert_true(convert_all(f, image.size) > 0);
        change_image(&image, &r);
        converted += convert_image(&image) > 0;
        free_bytes(&image);
        tamis_free(f);
    }
    /* Some are still filters, or nothing was looked at. */
    assert_true(converted > rounds / 100);
}

/* All that is set is in one place, where coders expect as little as elsewhere. */
static void crowded_images_convert_cheaply(tamis_kind kind)
{
    const tamis_plan plan = build_plan(kind, run_size(2000000, 1000000, 40000000), 8, 0);
    tamis *f = new_filter(&plan);
    image_bytes image = image_of(f);
    uint8_t *payload = image.at + seal_number(image.at + SEAL_TABLE + SEAL_OFFSET, 8);

    for (unsigned share = 64; share <= 1024; share *= 4) {
        snprintf(law_at, sizeof law_at, "one of %u is set", share);
        memset(payload, 0, plan.bytes);
        memset(payload + plan.bytes / 2, 255, plan.bytes / share);
        seal(image.at, image.size);
        assert_true(convert_image(&image) > 0);
    }
    free_bytes(&image);
    tamis_free(f);
}

/* An image of no key, which says of itself that it stands for more and more. */
static void empty_images_convert_cheaply(tamis_kind kind)
{
    enum { SLOTS = 72 }; /* docs/format.md */
    const tamis_plan plan = build_plan(kind, 2000, 8, 0);
    const uint64_t slots = plan.slots;
    tamis *f = filter_of(&plan, NULL, 0);
    image_bytes image = image_of(f);

    assert_int_equal(seal_number(image.at + SLOTS, 8), slots);
    for (int doublings = 0; doublings < 40; doublings++) {
        snprintf(law_at, sizeof law_at, "%llu slots", (unsigned long long)slots << doublings);
        seal_put(image.at + SLOTS, 8, slots << doublings);
        seal(image.at, image.size);
        assert_true(convert_image(&image) > 0 || doublings > 0);
    }
    free_bytes(&image);
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { "growth is paid for by keys", growth_is_paid_for_by_keys,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_GROW },
        { "secrets make chosen keys harmless", secrets_make_chosen_keys_harmless,
          .can = TAMIS_CAN_ADD },
        { "files grow by keys", files_grow_by_keys, .can = TAMIS_CAN_RESIZE | TAMIS_CAN_GROW,
          .cannot = TAMIS_CAN_ADAPT },
        { "conversions stay cheap", conversions_stay_cheap, .can = TAMIS_CAN_CONVERT },
        { "empty images convert cheaply", empty_images_convert_cheaply, .can = TAMIS_CAN_CONVERT },
        { "crowded images convert cheaply", crowded_images_convert_cheaply,
          .can = TAMIS_CAN_ADD | TAMIS_CAN_CONVERT },
    };

    const law of_all[] = {
        { "builds are paid for by keys", builds_are_paid_for_by_keys, .can = 0 },
        { "small images stay cheap", small_images_stay_cheap, .can = 0 },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws) +
           check_laws_of_all(of_all, sizeof of_all / sizeof *of_all);
}
