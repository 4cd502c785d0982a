/* crafted.c - keys chosen by somebody who knows the seed: static kinds are built in about the room
 * that was planned, or not at all.
 *
 * hash_key() and mix64() can be undone, so that any hashes can be had. */
#include "core/plan.h"
#include "kinds.h"
#include "limited_allocator.h"
#include "tamis_builder.h"

enum { N = 14000, SEED = 1 };

/* ---- Hashes ------------------------------------------------------------ */

typedef uint64_t hash_choice(uint64_t i);

static uint64_t all_low(uint64_t i)
{
    return i;
}

static uint64_t far_apart(uint64_t i)
{
    return i << 40;
}

static uint64_t one_low_half(uint64_t i)
{
    return mix64(i) << 32;
}

/* Low after they were mixed again, some with each of so many seeds. */
static uint64_t low_with_sums(uint64_t i)
{
    uint64_t seed = i % 8;

    return seed ? unmix64(i) - seed * HASH_GOLDEN : i;
}

static uint64_t low_with_xors(uint64_t i)
{
    uint64_t seed = i % 64;

    return seed ? unmix64(i) ^ seed * HASH_GOLDEN : i;
}

static hash_choice *const CHOICES[] = { all_low, far_apart, one_low_half, low_with_sums,
                                        low_with_xors };

enum { N_CHOICES = sizeof CHOICES / sizeof *CHOICES };

/* ---- Building ---------------------------------------------------------- */

/* Keys, and as many again to be told from them where a kind does so. */
typedef struct chosen {
    uint64_t keys[2 * N], values[N];
} chosen;

static void choose(chosen *c, hash_choice *choice)
{
    for (size_t i = 0; i < 2 * N; i++)
        c->keys[i] = unhash_key(choice(i), salt_of_seed(SEED));
    for (size_t i = 0; i < N; i++)
        c->values[i] = i % 16;
}

static tamis_spec crafted_spec(tamis_kind kind)
{
    tamis_spec spec = spec_for(N, 0.001, SEED);

    spec.value_bits = has_trait(kind, TAMIS_TRAIT_TAKES_VALUES) ? 4 : 0;
    spec.universe = has_trait(kind, TAMIS_TRAIT_TAKES_EXCLUDED) ? 2 * N : 0;
    return spec;
}

static tamis_status crafted_build(tamis **out, const tamis_plan *p, const chosen *c,
                                  const tamis_allocator *a)
{
    if (has_trait(p->kind, TAMIS_TRAIT_TAKES_VALUES))
        return tamis_build_map(out, p, c->keys, c->values, N, a);
    if (has_trait(p->kind, TAMIS_TRAIT_TAKES_EXCLUDED))
        return tamis_build_excluding(out, p, c->keys, N, c->keys + N, N, a);
    return tamis_build(out, p, c->keys, N, a);
}

static tamis_status crafted_finish(tamis **out, tamis_kind kind, const chosen *c,
                                   const tamis_allocator *a)
{
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = 16 << 20, .alloc = a);
    const tamis_spec spec = crafted_spec(kind);
    tamis_builder *b = NULL;
    tamis_status status;

    assert_int_equal(tamis_builder_new(&b, kind, &spec, &o), TAMIS_OK);
    if (has_trait(kind, TAMIS_TRAIT_TAKES_VALUES))
        status = tamis_builder_add_map(b, c->keys, c->values, N);
    else
        status = tamis_builder_add_many(b, c->keys, N);
    if (!status && has_trait(kind, TAMIS_TRAIT_TAKES_EXCLUDED))
        status = tamis_builder_add_excluded(b, c->keys + N, N);
    assert_int_equal(status, TAMIS_OK);
    status = tamis_builder_finish(out, b);
    tamis_builder_free(b);
    return status;
}

/* ---- Laws -------------------------------------------------------------- */

/* What docs/architecture.md states: the size of the plan after eight steps. */
static uint64_t most_bytes(tamis_plan p)
{
    for (int i = 0; i < 8; i++)
        assert_int_equal(tamis__plan_enlarge(&p), TAMIS_OK);
    return p.bytes;
}

static void assert_holds_chosen(const tamis *f, const chosen *c)
{
    uint64_t hits[N / 64 + 1], value;

    assert_int_equal(tamis_has_many(f, hits, c->keys, N), N);
    assert_true(is_whole(f));
    for (size_t i = 0; i < N; i++) {
        assert_true(tamis_has(f, c->keys[i]));
        if (has_trait(f->plan.kind, TAMIS_TRAIT_TAKES_VALUES))
            assert_true(tamis_get(f, &value, c->keys[i]) && value == c->values[i]);
    }
    if (has_trait(f->plan.kind, TAMIS_TRAIT_TAKES_EXCLUDED))
        assert_int_equal(tamis_has_many(f, hits, c->keys + N, N), 0);
}

static void crafted_keys_take_little_more_than_planned(tamis_kind kind)
{
    const tamis_spec spec = crafted_spec(kind);
    chosen *c = array_of(1, sizeof *c);
    tamis_plan plan;

    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    assert_true(most_bytes(plan) <= plan.bytes + plan.bytes * 5 / 8 + 1024);
    for (int i = 0; i < N_CHOICES; i++) {
        limited_allocator p = { .limit = UINT64_MAX };
        const tamis_allocator a = allocator_of(&p);
        tamis *f = NULL, *g = NULL;

        snprintf(law_at, sizeof law_at, "choice %d", i);
        choose(c, CHOICES[i]);
        tamis_status status = crafted_build(&f, &plan, c, &a);
        assert_true(status == TAMIS_OK || status == TAMIS_FULL);
        assert_true(p.most <= 128 * (size_t)N);
        assert_int_equal(crafted_finish(&g, kind, c, &a), status);
        if (!status) {
            assert_true(f->plan.bytes <= most_bytes(plan));
            assert_holds_chosen(f, c);
            assert_true(same_image(f, g));
        }
        tamis_free(f);
        tamis_free(g);
        assert_int_equal(p.live, 0);
    }
    free(c);
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { "crafted keys take little more than planned", crafted_keys_take_little_more_than_planned,
          .cannot = TAMIS_CAN_ADD | TAMIS_CAN_PUT },
    };

    test_begin(argc, argv);
    return check_laws_of_all(laws, sizeof laws / sizeof *laws);
}
