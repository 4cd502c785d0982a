/* chunks.c - files are cut where their bytes say so: sizes, places that move with the bytes, and
 * known answers. */
#include "../../chunks.h"
#include "check.h"

static const uint8_t SECRET[16] = "where to cut it";
static const chunks_spec SPEC = { 256, 1024, 4096 };

typedef struct cuts {
    size_t *ends; /* the last one is that of the file */
    size_t n;
} cuts;

static chunker chunks_like(const chunks_spec *spec, const uint8_t secret[16])
{
    chunker c;

    assert_true(chunks_begin(&c, spec, secret));
    return c;
}

/* In pieces of up to that many bytes, of random sizes; 0: in one. */
static cuts cuts_of(const chunker *c, const uint8_t *bytes, size_t size, size_t piece, rng *r)
{
    cuts found = { array_of(size / 64 + 1, sizeof(size_t)), 0 };
    chunk now = { 0 };
    bool is_cut = true;

    for (size_t at = 0; at < size;) {
        size_t end = piece ? at + rng_below(r, piece + 1) : size;
        end = end < size ? end : size;
        size_t taken = chunks_take(c, &now, bytes + at, end - at, &is_cut);
        assert_true(taken <= end - at && (is_cut || taken == end - at));
        at += taken;
        if (is_cut)
            found.ends[found.n++] = at;
    }
    if (!is_cut)
        found.ends[found.n++] = size;
    return found;
}

static uint8_t *random_bytes(rng *r, size_t size)
{
    uint8_t *bytes = array_of(size, 1);

    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(rng_next(r) >> 56);
    return bytes;
}

static void assert_same(const cuts *a, const cuts *b)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->ends, b->ends, a->n * sizeof *a->ends);
}

/* ---- Sizes ------------------------------------------------------------- */

/* The chance that a chunk of random bytes is longer than that. */
static double chance_longer(const chunks_spec *spec, double size)
{
    double mean = spec->mean, before = 13 * mean / 16;

    if (size < spec->least)
        return 1;
    if (size >= spec->most)
        return 0;
    double low = fmin(size, before) - spec->least + 1, high = fmax(size - before, 0);
    return exp(low * log1p(-1 / (4 * mean)) + high * log1p(-4 / mean));
}

static double expected_size(const chunks_spec *spec)
{
    double sum = 0, chance = 1;

    for (double size = 0; size < spec->most && chance > 1e-18; size++)
        sum += chance = chance_longer(spec, size);
    return sum;
}

/* How many chunks are longer than each of a few sizes is binomial; their mean keeps Hoeffding's
 * bound for independent numbers between the least and the most. */
static void assert_sizes(const chunks_spec *spec, const cuts *found)
{
    size_t n = found->n - 1; /* the file ends in the last one */
    double range = spec->most - spec->least, expected = expected_size(spec);
    uint32_t limits[] = { spec->least, spec->mean / 2, spec->mean / 16 * 13, spec->mean,
                          spec->mean + spec->mean / 2 };

    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        uint64_t longer = 0;
        for (size_t i = 0; i < n; i++)
            longer += found->ends[i] - (i ? found->ends[i - 1] : 0) > limits[k];
        assert_true(binomial_fits(longer, n, chance_longer(spec, limits[k])));
    }
    for (size_t i = 0; i < n; i++) {
        size_t size = found->ends[i] - (i ? found->ends[i - 1] : 0);
        assert_true(size >= spec->least && size <= spec->most);
    }
    double mean = (double)found->ends[n - 1] / (double)n;
    assert_true(fabs(mean - expected) <= range * sqrt(log(2 / ALPHA) / (2 * (double)n)));
    assert_true(is_near(expected, spec->mean, 0.07));
}

static void sizes_are_as_promised(void **state)
{
    static const chunks_spec specs[] = {
        { 256, 1024, 4096 }, { 64, 128, 256 },    { 64, 1024, 2048 },    { 512, 1024, 1 << 30 },
        { 64, 256, 1024 },   { 128, 1024, 4096 }, { 2048, 8192, 65536 }, { 65, 4096, 16384 },
    };
    rng r = rng_for(1, 1);
    size_t size = run_size(4000000, 1000000, 40000000);

    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        uint8_t *bytes = random_bytes(&r, size);
        chunker c = chunks_like(&specs[i], SECRET);
        cuts found = cuts_of(&c, bytes, size, 0, &r);
        assert_sizes(&specs[i], &found);
        free(found.ends);
        free(bytes);
    }
}

/* Whatever the secret: it is not left to chance that zeros are cut into large chunks. */
static void runs_of_a_byte_are_long_chunks(void **state)
{
    static const chunks_spec small = { 64, 128, 256 };
    uint8_t bytes[3000], secret[16] = { 0 };

    (void)state;
    for (int round = 0; round < 100; round++) {
        secret[5] = (uint8_t)round;
        chunker c = chunks_like(&small, secret);
        for (int value = 0; value < 256; value++) {
            memset(bytes, value, sizeof bytes);
            cuts found = cuts_of(&c, bytes, sizeof bytes, 0, NULL);
            assert_int_equal(found.n, (sizeof bytes + 255) / 256);
            assert_int_equal(found.ends[0], 256);
            free(found.ends);
        }
    }
}

static void others_are_refused(void **state)
{
    static const chunks_spec bad[] = {
        { 63, 1024, 4096 },  { 513, 1024, 4096 }, { 256, 1000, 4096 },
        { 256, 1024, 2047 }, { 256, 0, 4096 },    { 64, 0, 0 },
        { 0, 0, 0 },         { 64, 64, 4096 },    { 256, 1024, 1u << 31 },
    };
    chunker c;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(chunks_begin(&c, &bad[i], SECRET));
}

/* ---- Places ------------------------------------------------------------ */

static void pieces_do_not_matter(void **state)
{
    rng r = rng_for(2, 2);
    size_t size = 40000;
    chunker c = chunks_like(&SPEC, SECRET);

    (void)state;
    for (size_t round = 0; round < run_size(60, 20, 2000); round++) {
        uint8_t *bytes = random_bytes(&r, size);
        memset(bytes + rng_below(&r, size / 2), 0, rng_below(&r, size / 2));
        cuts whole = cuts_of(&c, bytes, size, 0, &r);
        cuts pieces = cuts_of(&c, bytes, size, 1 + rng_below(&r, 3 * round + 1), &r);
        assert_same(&whole, &pieces);
        free(whole.ends);
        free(pieces.ends);
        free(bytes);
    }
}

/* Cuts fall together again where a chunk of both files may end, and about a third of all chunks end
 * at such a place. 64 chunks without one are less likely than 1e-9. */
static void assert_falls_together(const cuts *before, const cuts *after, size_t moved, size_t from)
{
    size_t i = 0, k = 0;

    while (before->ends[i] <= from)
        i++;
    while (after->ends[k] <= from + moved)
        k++;
    assert_int_equal(before->n - i, after->n - k);
    for (; i < before->n; i++, k++)
        assert_int_equal(before->ends[i] + moved, after->ends[k]);
}

static void cuts_move_with_the_bytes(void **state)
{
    rng r = rng_for(3, 3);
    size_t size = 100000;
    chunker c = chunks_like(&SPEC, SECRET);

    (void)state;
    for (size_t round = 0; round < run_size(200, 50, 10000); round++) {
        uint8_t *bytes = random_bytes(&r, size);
        cuts before = cuts_of(&c, bytes + 1, size - 1, 0, &r);
        cuts after = cuts_of(&c, bytes, size, 0, &r);
        assert_falls_together(&before, &after, 1, 64 * SPEC.mean);
        free(before.ends);
        free(after.ends);
        free(bytes);
    }
}

static void secrets_hide_cuts(void **state)
{
    rng r = rng_for(4, 4);
    size_t size = 1000000, same = 0;
    uint8_t *bytes = random_bytes(&r, size), other[16];

    (void)state;
    memcpy(other, SECRET, sizeof other);
    other[15] ^= 1;
    chunker c = chunks_like(&SPEC, SECRET), d = chunks_like(&SPEC, other);
    cuts a = cuts_of(&c, bytes, size, 0, &r), b = cuts_of(&d, bytes, size, 0, &r);
    for (size_t i = 0, k = 0; i + 1 < a.n && k + 1 < b.n; a.ends[i] < b.ends[k] ? i++ : k++)
        same += a.ends[i] == b.ends[k];
    /* A byte is a cut of the one with chance 1 / mean, given that it is one of the other. */
    assert_true(binomial_fits(same, a.n - 1, 1 / expected_size(&SPEC)));
    free(a.ends);
    free(b.ends);
    free(bytes);
}

/* Two versions of the library that cut a file in different places would send all of it. */
static void cuts_are_known(void **state)
{
    static const size_t known[] = { 442,   1470,  2575,  3457,  4628,  5484,  6556,
                                    7422,  8660,  9526,  10470, 11318, 12360, 13536,
                                    14423, 15640, 16972, 18224, 19653, 20000 };
    uint8_t bytes[20000];
    chunker c = chunks_like(&SPEC, SECRET);

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)((uint32_t)i * (uint32_t)i * UINT32_C(0x9E3779B1) >> 24);
    cuts found = cuts_of(&c, bytes, sizeof bytes, 0, NULL);
    assert_int_equal(found.n, sizeof known / sizeof *known);
    assert_memory_equal(found.ends, known, sizeof known);
    free(found.ends);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_as_promised),
        cmocka_unit_test(runs_of_a_byte_are_long_chunks),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(pieces_do_not_matter),
        cmocka_unit_test(cuts_move_with_the_bytes),
        cmocka_unit_test(secrets_hide_cuts),
        cmocka_unit_test(cuts_are_known),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
