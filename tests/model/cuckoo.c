/* cuckoo.c - filters that keep a copy for each key, and a few of one key at most: they take what
 * was planned, and then more, up to a key for which there is no room. No kind is named. */
#include "kinds.h"

/* Kinds that only ever saturate are not asked for more than this. */
enum { MOST_TIMES = 2, MOST_CEILING = 7 };

static bool keeps_copies(tamis_kind kind)
{
    tamis_plan plan = plan_for(kind, 100, 0.01, 0);

    return plan.ceiling <= MOST_CEILING;
}

static void assert_all_there(const tamis *f, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_true(tamis_has(f, keys[i]));
}

/* One at a time and in batches. */
static void assert_refused(tamis *f, const uint64_t *key)
{
    image_bytes before = image_of(f);
    size_t added = 99;

    assert_int_equal(tamis_add(f, *key), TAMIS_FULL);
    assert_int_equal(tamis_add_many(f, &added, key, 1), TAMIS_FULL);
    assert_int_equal(added, 0);
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
}

static void fill_one(tamis_kind kind, uint64_t n, double fpr, uint64_t round)
{
    rng r = rng_for(4000 + (uint64_t)kind, round);
    tamis_plan plan = plan_for(kind, n, fpr, rng_next(&r));
    size_t most = MOST_TIMES * (size_t)n + 100, held = 0;
    uint64_t *keys = fresh_keys(&r, most);
    tamis *f = new_filter(&plan);

    snprintf(law_at, sizeof law_at, "capacity %llu, fpr %g, round %llu", (unsigned long long)n, fpr,
             (unsigned long long)round);
    while (held < most && tamis_add(f, keys[held]) == TAMIS_OK)
        held++;
    assert_true(held >= n);
    assert_all_there(f, keys, held);
    if (held < most)
        assert_refused(f, &keys[held]);
    assert_all_there(f, keys, held);
    assert_true(is_whole(f));
    free(keys);
    tamis_free(f);
}

/* A thousand of them. */
static void filters_take_their_keys(tamis_kind kind)
{
    const double fprs[] = { 0.05, 0.01, 0.0039, 0.001, 0.00001 };
    const uint64_t few = is_sanitized() ? 90 : is_long_run() ? 9900 : 990, many = few / 45;

    if (!keeps_copies(kind))
        return;
    for (uint64_t i = 0; i < few; i++)
        fill_one(kind, i * i % 3001, fprs[i % 5], i);
    for (uint64_t i = 0; i < many; i++)
        fill_one(kind, is_sanitized() ? 10000 : 100000, fprs[i % 5], few + i);
}

/* Its copies beyond the ceiling cost nobody a place. */
static void one_key_a_million_times(tamis_kind kind)
{
    const size_t n = 100000, others = n / 10 * 9;
    rng r = rng_for(4100 + (uint64_t)kind, 0);
    tamis_plan plan = plan_for(kind, n, 0.0039, rng_next(&r));
    uint64_t *keys = fresh_keys(&r, 1 + others);

    if (keeps_copies(kind)) {
        tamis *f = new_filter(&plan);

        for (int i = 0; i < 1000000; i++)
            assert_int_equal(tamis_add(f, keys[0]), TAMIS_OK);
        add_all(f, keys + 1, others);
        assert_all_there(f, keys, 1 + others);
        assert_int_equal(tamis_count(f, keys[0]), plan.ceiling);
        assert_true(is_whole(f));
        tamis_free(f);
    }
    free(keys);
}

/* ---- Memory ------------------------------------------------------------ */

typedef struct limited_blocks {
    bool is_open;
    size_t taken;
} limited_blocks;

static void *take_block(void *ctx, size_t size)
{
    limited_blocks *p = ctx;

    p->taken++;
    return p->is_open ? malloc(size) : NULL;
}

static void give_back(void *ctx, void *block, size_t size)
{
    (void)ctx;
    (void)size;
    free(block);
}

/* Long searches may take memory. Without it a key is refused and nothing changes; once there is
 * some again, everything is as if there always had been. */
static void add_without_memory(tamis_kind kind)
{
    const uint64_t n = 20000;
    tamis_plan plan = plan_for(kind, n, 0.001, 5);
    limited_blocks rich = { true, 0 }, poor = { true, 0 };
    const tamis_allocator a = { take_block, give_back, &rich },
                          b = { take_block, give_back, &poor };
    tamis *f, *g;
    uint64_t refused = 0;

    assert_int_equal(tamis_new(&f, &plan, &a), TAMIS_OK);
    assert_int_equal(tamis_new(&g, &plan, &b), TAMIS_OK);
    rich.taken = 0;
    for (uint64_t key = 0; key < n; key++) {
        image_bytes before = key % 50 ? (image_bytes){ NULL, 0 } : image_of(g);
        poor.is_open = false;
        tamis_status status = tamis_add(g, key);
        poor.is_open = true;
        if (status) {
            assert_int_equal(status, TAMIS_NOMEM);
            assert_true(key % 50 || is_image_of(&before, g));
            assert_int_equal(tamis_add(g, key), TAMIS_OK);
            refused++;
        }
        assert_int_equal(tamis_add(f, key), TAMIS_OK);
        free_bytes(&before);
    }
    assert_true(same_image(f, g));
    assert_int_equal(refused, rich.taken);
    tamis_free(f);
    tamis_free(g);
}

static void add_many_without_memory(tamis_kind kind)
{
    const size_t n = 20000, step = 200;
    rng r = rng_for(4200 + (uint64_t)kind, 0);
    uint64_t *keys = fresh_keys(&r, n);
    tamis_plan plan = plan_for(kind, n, 0.001, 6);
    limited_blocks poor = { true, 0 };
    const tamis_allocator a = { take_block, give_back, &poor };
    tamis *f;

    assert_int_equal(tamis_new(&f, &plan, &a), TAMIS_OK);
    for (size_t i = 0; i < n; i += step) {
        size_t added = 0, rest = 0;
        poor.is_open = false;
        tamis_status status = tamis_add_many(f, &added, keys + i, step);
        poor.is_open = true;
        assert_int_equal(status, added < step ? TAMIS_NOMEM : TAMIS_OK);
        assert_int_equal(info_of(f).count, i + added);
        assert_int_equal(tamis_add_many(f, &rest, keys + i + added, step - added), TAMIS_OK);
    }
    assert_all_there(f, keys, n);
    assert_true(is_whole(f));
    free(keys);
    tamis_free(f);
}

static void searches_without_memory(tamis_kind kind)
{
    if (!keeps_copies(kind))
        return;
    add_without_memory(kind);
    add_many_without_memory(kind);
}

int main(int argc, char **argv)
{
    const unsigned COPIES = TAMIS_CAN_ADD | TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT;
    const law laws[] = {
        { "takes its keys, refuses without a trace", filters_take_their_keys, .can = COPIES },
        { "one key a million times", one_key_a_million_times, .can = COPIES },
        { "searches without memory change nothing", searches_without_memory, .can = COPIES },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
