/* damage.c - views hold whatever bytes they were given, under a header that is right. Every call
 * on them ends and stays inside the payload (sanitizers watch), verify() tells, and no filter that
 * can be changed is made from them unchecked. No kind is named. */
#include "model/ground.h"

enum { ROUNDS = 60 };

/* Where the payload of a small or of a large image starts: see docs/format.md. */
static uint8_t *payload_in(const image_bytes *image, const tamis_plan *plan)
{
    return image->at + (plan->bytes < 65536 ? 256 : 4096);
}

/* All ones, all the same, noise, a few flipped bits. */
static void scribble(uint8_t *payload, size_t size, rng *r, int how)
{
    if (how % 4 == 3) {
        for (int i = 0; i < 5; i++)
            payload[rng_below(r, size)] ^= (uint8_t)(1u << rng_below(r, 8));
        return;
    }
    uint64_t same = rng_next(r);
    for (size_t i = 0; i < size; i++)
        payload[i] = (uint8_t)(how % 4 == 0   ? 0xff
                               : how % 4 == 1 ? same >> i % 8 * 8
                                              : rng_next(r));
}

static bool visit(void *ctx, uint64_t key, uint64_t count)
{
    (void)key;
    (void)count;
    return --*(uint64_t *)ctx > 0;
}

static void query_all(const tamis *view, const ground *g)
{
    size_t n = g->n + g->n_strangers;
    uint64_t *hits = array_of(n / 64 + 1, sizeof *hits), left = 2 * n + 1000;

    for (size_t i = 0; i < n; i++) {
        bool has = tamis_has(view, g->keys[i]);
        bool counts = tamis_count(view, g->keys[i]) != 0;
        assert_true(counts_very_keys(g->plan.kind) ? has || !counts : has == counts);
    }
    assert_true(tamis_has_many(view, hits, g->keys, n) <= n);
    tamis_info info = info_of(view);
    assert_true(info.fill >= 0 && info.fpr >= 0 && info.fpr <= 1 && !isnan(info.cardinality));
    (void)!tamis_list(view, visit, &left);
    assert_int_equal(tamis_verify(view, NULL, NULL), TAMIS_CORRUPT);
    free(hits);
}

/* A copy is a filter like any other: refused, or one that takes keys. */
static void use_copy(tamis *copy, const ground *g)
{
    size_t added = 0;

    (void)!tamis_add_many(copy, &added, g->keys, g->n);
    for (size_t i = 0; i < added; i++)
        assert_true(tamis_has(copy, g->keys[i]));
    for (size_t i = 0; i < g->n; i++)
        (void)!tamis_remove(copy, g->keys[i]);
    tamis_free(copy);
}

static void make_others(const tamis *view, const ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n), *made = NULL;

    (void)!tamis_combine(f, TAMIS_MERGE, view);
    assert_holds(f, g->keys, g->n);
    (void)!tamis_combine(f, TAMIS_INTERSECT, view);
    tamis_free(f);
    if (tamis_clone(&made, view, NULL) == TAMIS_OK)
        use_copy(made, g);
    if (tamis_fold(&made, view, 1, NULL) == TAMIS_OK)
        use_copy(made, g);
}

static void damaged_views_are_safe(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n / 2);

    for (int i = 0; i < ROUNDS && g->plan.bytes < 8192; i++) {
        image_bytes image = image_of(f), whole = image_of(f);
        tamis *view = NULL, *copy = NULL;

        scribble(payload_in(&image, &g->plan), (size_t)g->plan.bytes, &g->r, i);
        if (memcmp(image.at, whole.at, image.size) != 0) {
            assert_int_equal(tamis_image_read(&copy, image.at, image.size, NULL), TAMIS_CORRUPT);
            assert_int_equal(tamis_image_view(&view, image.at, image.size, NULL), TAMIS_OK);
            query_all(view, g);
            make_others(view, g);
            tamis_free(view);
        }
        free_bytes(&image);
        free_bytes(&whole);
    }
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const ground_law laws[] = {
        { "damaged views are safe", damaged_views_are_safe, TAMIS_CAN_BUILD },
    };

    test_begin(argc, argv);
    return check_ground_laws(laws, sizeof laws / sizeof *laws);
}
