/* crowds.c - builds on threads of keys that meet: repeated as often as a slot counts and more, or
 * chosen, so that their hashes fall into few slots. Whatever the threads do with them, the filter,
 * or the failure, is the one that a single thread gives. */
#include "kinds.h"
#include "tamis_builder.h"

/* Threads share a part of more than 2^16 keys. */
enum { MANY = 66000, THREADS = 4, SEED = 5 };

/* Of kinds that need more than keys: each key with its value, or beside keys to be told from it. */
static tamis_status feed(tamis_builder *b, tamis_kind kind, const uint64_t *keys, size_t n)
{
    rng r = rng_for(980, 0);
    uint64_t *others = fresh_keys(&r, n);
    tamis_status status;

    for (size_t i = 0; i < n && tamis_kind_can(kind) & TAMIS_CAN_GET; i++)
        others[i] = keys[i] % 1000;
    if (tamis_kind_can(kind) & TAMIS_CAN_GET)
        status = tamis_builder_add_map(b, keys, others, n);
    else
        status = tamis_builder_add_many(b, keys, n);
    if (!status && tamis_kind_can(kind) & TAMIS_CAN_EXCLUDE)
        status = tamis_builder_add_excluded(b, others, n);
    free(others);
    return status;
}

static tamis_status build_by_builder(tamis **out, tamis_kind kind, const uint64_t *keys, size_t n,
                                     unsigned threads)
{
    const tamis_spec spec = spec_for(0, 0.5, SEED);
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = threads);
    tamis_builder *b = NULL;
    tamis_status status = tamis_builder_new(&b, kind, &spec, &o);

    if (!status)
        status = feed(b, kind, keys, n);
    if (!status)
        status = tamis_builder_finish(out, b);
    tamis_builder_free(b);
    return status;
}

static tamis_status build(tamis **out, tamis_kind kind, const uint64_t *keys, size_t n,
                          unsigned threads)
{
    if (!(tamis_kind_can(kind) & TAMIS_CAN_BUILD))
        return build_by_builder(out, kind, keys, n, threads);
    const tamis_plan plan = plan_for(kind, n, 0.5, SEED);
    return tamis_build_threads(out, &plan, keys, n, threads, NULL);
}

static void check_same_on_threads(tamis_kind kind, const uint64_t *keys, size_t n)
{
    tamis *alone = NULL, *shared = NULL;
    tamis_status status = build(&alone, kind, keys, n, 1);

    assert_int_equal(build(&shared, kind, keys, n, THREADS), status);
    if (!status)
        assert_true(same_image(shared, alone));
    tamis_free(shared);
    for (size_t i = 0; i < n && !status; i++)
        assert_true(tamis_has(alone, keys[i]));
    tamis_free(alone);
}

/* Six bits count the keys of a slot: 64 copies look like none, 65 like one. */
static size_t add_copies(uint64_t *keys)
{
    size_t at = 0;

    for (size_t copies = 60; copies <= 68; copies++)
        for (int many = 0; many < 3; many++, at += copies)
            for (size_t i = 0; i < copies; i++)
                keys[at + i] = keys[at];
    return at;
}

/* Hashes that begin alike begin in the same block; those that end alike have the same offsets. */
static size_t add_crowds(uint64_t *keys, rng *r)
{
    size_t at = 0;

    for (size_t crowd = 0; crowd < 12; crowd++) {
        uint64_t begins = rng_next(r) << 32, ends = rng_next(r) >> 32;

        for (size_t i = 0; i < 40 + 10 * crowd; i++, at++)
            keys[at] = unhash_key(begins | (ends ^ i << (crowd % 2 ? 24 : 0)), salt_of_seed(SEED));
    }
    return at;
}

static void some_keys_meet(tamis_kind kind)
{
    rng r = rng_for(980 + (uint64_t)kind, 1);
    uint64_t *keys = fresh_keys(&r, MANY);
    size_t copied = add_copies(keys);

    assert_true(copied + add_crowds(keys + copied, &r) < MANY);
    shuffle(&r, keys, MANY);
    check_same_on_threads(kind, keys, MANY);
    free(keys);
}

/* One key, again and again, is one key. */
static void one_key_is_all_there_is(tamis_kind kind)
{
    uint64_t *keys = array_of(MANY, sizeof *keys);

    for (size_t i = 0; i < MANY; i++)
        keys[i] = 7;
    check_same_on_threads(kind, keys, MANY);
    free(keys);
}

/* All in a few slots: who cannot solve that says so. */
static void nothing_but_a_crowd(tamis_kind kind)
{
    uint64_t *keys = array_of(MANY, sizeof *keys);

    for (uint64_t i = 0; i < MANY; i++)
        keys[i] = unhash_key(UINT64_C(0x123456789) << 24 ^ i, salt_of_seed(SEED));
    check_same_on_threads(kind, keys, MANY);
    free(keys);
}

int main(int argc, char **argv)
{
    const unsigned others = TAMIS_CAN_ADD | TAMIS_CAN_PUT; /* make no use of threads */
    const law laws[] = {
        { "some keys meet", some_keys_meet, .cannot = others },
        { "one key is all there is", one_key_is_all_there_is, .cannot = others },
        { "nothing but a crowd", nothing_but_a_crowd, .cannot = others },
    };

    test_begin(argc, argv);
    return check_laws_of_all(laws, is_sanitized() && !is_long_run() ? 1 : 3);
}
