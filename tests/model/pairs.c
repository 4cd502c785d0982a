/* pairs.c - any two filters and any operation on two: what comes out is right by an exact model, or
 * the call refuses and changes nothing.
 *
 * Filters of a kind are planned with every set of options, in many geometries and with several
 * hashers. Those of the first few geometries come in every state: empty, full, grown, adapted, made
 * in every way, own, borrowed or mapped. Each of them meets each other one, itself, and one of each
 * other kind; in a short run, a random part of these pairs, but the first filter meets them all. No
 * pair is left out by name, and no kind is named. */
#include "core/plan.h"
#include "kinds.h"
#include "tamis_adapt.h"
#include "tamis_values.h"

/* ---- Plans ------------------------------------------------------------- */

enum { N_KEYS = 400, N_STRANGERS = 40, MOST_TIMES = 3 };

static const tamis_hasher HASHERS[] = {
    { .hash = TAMIS_RAW, .seed = 5 },
    { .hash = TAMIS_RAW, .seed = 6 },
    { .hash = TAMIS_FAST, .seed = 5 },
    { .hash = TAMIS_FAST, .seed = 6 },
    { .hash = TAMIS_KEYED, .seed = 5, .secret = { 1 } },
    { .hash = TAMIS_KEYED, .seed = 5, .secret = { [15] = 1 } },
};

/* What spec.can may ask for and a plan remembers, or not. */
static const unsigned OPTIONS[] = { TAMIS_CAN_GROW, TAMIS_CAN_EXACT_DELETE, TAMIS_CAN_DOT,
                                    TAMIS_CAN_ASK_KEYS, TAMIS_CAN_REMOVE };

/* Kinds refuse the geometries that they do not have. Of the first ones, filters come in all states;
 * of the others, with some keys. */
static const tamis_spec SHAPES[] = {
    TAMIS_SPEC(.keys = 100, .fpr = 0.1),
    TAMIS_SPEC(.keys = 40, .fpr = 0.05),
    TAMIS_SPEC(.quotient_bits = 7, .tag_bits = 4),
    TAMIS_SPEC(.keys = 100, .bits = 1024, .hashes = 3),
    TAMIS_SPEC(.quotient_bits = 8, .tag_bits = 3),
    TAMIS_SPEC(.keys = 200, .fpr = 0.1),
    TAMIS_SPEC(.keys = 100, .fpr = 0.1, .counter_bits = 2),
    TAMIS_SPEC(.keys = 100, .fpr = 0.1, .error = 0.05),
    TAMIS_SPEC(.keys = 100, .tag_bits = 11),
    TAMIS_SPEC(.keys = 10, .fpr = 0.1, .load = 0.4),

    TAMIS_SPEC(.fpr = 0.1),
    TAMIS_SPEC(.keys = 1, .fpr = 0.1),
    TAMIS_SPEC(.keys = 80, .fpr = 0.1),
    TAMIS_SPEC(.keys = 101, .fpr = 0.1),
    TAMIS_SPEC(.keys = 100, .fpr = 0.11),
    TAMIS_SPEC(.keys = 100, .fpr = 0.01),
    TAMIS_SPEC(.keys = 100, .fpr = 1e-6),
    TAMIS_SPEC(.keys = 100, .fpr = 0.1, .load = 0.4),
    TAMIS_SPEC(.keys = 100, .fpr = 0.1, .load = 0.9),
    TAMIS_SPEC(.keys = 100, .fpr = 0.1, .universe = 300),
    TAMIS_SPEC(.keys = 100, .tag_bits = 4),
    TAMIS_SPEC(.quotient_bits = 6, .tag_bits = 4),
    TAMIS_SPEC(.quotient_bits = 6, .tag_bits = 5),
    TAMIS_SPEC(.quotient_bits = 8, .tag_bits = 4),
    TAMIS_SPEC(.quotient_bits = 10, .tag_bits = 1),
    TAMIS_SPEC(.keys = 200, .bits = 1024, .hashes = 3),
    TAMIS_SPEC(.keys = 100, .bits = 1024, .hashes = 4),
    TAMIS_SPEC(.keys = 100, .bits = 2048, .hashes = 3),
    TAMIS_SPEC(.keys = 100, .bits = 1024, .hashes = 3, .counter_bits = 1),
    TAMIS_SPEC(.keys = 100, .fpr = 0.1, .counter_bits = 1),
    TAMIS_SPEC(.keys = 100, .fpr = 0.1, .counter_bits = 16),
    TAMIS_SPEC(.keys = 300, .fpr = 0.1, .error = 0.05),
    TAMIS_SPEC(.fpr = 0.1, .error = 0.05),
    TAMIS_SPEC(.fpr = 0.01, .error = 0.02),
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Kinds that need more than keys get values of a few bits, or a universe. */
static bool plan_of(tamis_plan *plan, tamis_kind kind, tamis_spec spec)
{
    if (has_trait(kind, TAMIS_TRAIT_TAKES_VALUES))
        spec.value_bits = 5;
    if (has_trait(kind, TAMIS_TRAIT_TAKES_EXCLUDED))
        spec.universe = 3 * spec.keys + 50;
    return tamis_plan_kind(plan, kind, &spec) == TAMIS_OK;
}

/* ---- Filters and what they hold ---------------------------------------- */

/* A filter, and how often each key was added to it. */
typedef struct sample {
    tamis_spec spec;
    tamis_plan plan;
    const char *state;
    tamis *f;
    size_t number, planned; /* its own, and that of its plan */
    uint64_t times[N_KEYS];
    size_t shown; /* the first keys, if it asks for them */
    image_bytes image;
    bool can_be_written; /* it is a map, in a file of its own */
    bool is_reshaped;    /* its geometry is not that of its plan */
} sample;

/* The first are those most likely to be mistaken for "empty"; in indexed kinds, keys are below the
 * capacity. */
static uint64_t key_at(const sample *s, size_t i)
{
    const uint64_t special[] = { 0, UINT64_MAX, salt_of_seed(5), salt_of_seed(6) };

    return is_indexed(s->plan.kind) ? i : i < LENGTH(special) ? special[i] : mix64(i) ^ test_seed();
}

static uint64_t stranger_at(const sample *s, size_t i)
{
    return key_at(s, N_KEYS + i);
}

/* Of kinds that have values; another one in each filter, as far as five bits go. */
static uint64_t value_at(const sample *s, size_t i)
{
    return (i + s->number) % 32;
}

static bool is_map(tamis_kind kind)
{
    return tamis_kind_can(kind) & TAMIS_CAN_PUT;
}

static bool has_prints(tamis_kind kind)
{
    return tamis_kind_can(kind) & TAMIS_CAN_RESIZE;
}

/* ---- What goes in ------------------------------------------------------ */

typedef uint64_t content(uint64_t i, uint64_t capacity);

static uint64_t nothing(uint64_t i, uint64_t capacity)
{
    (void)i;
    (void)capacity;
    return 0;
}

static uint64_t some(uint64_t i, uint64_t capacity)
{
    return i < capacity / 4 ? 1 + i % 3 : 0;
}

static uint64_t others(uint64_t i, uint64_t capacity)
{
    return i >= capacity / 8 && i < capacity / 8 + capacity / 4 ? 1 + i / 2 % 3 : 0;
}

static uint64_t part_of_some(uint64_t i, uint64_t capacity)
{
    return i < capacity / 4 && i % 2 == 0;
}

static uint64_t as_planned(uint64_t i, uint64_t capacity)
{
    return i < capacity;
}

static uint64_t more_than_planned(uint64_t i, uint64_t capacity)
{
    return i < 3 * capacity;
}

/* One of them so often that counts of two such filters are too many. */
static uint64_t one_often(uint64_t i, uint64_t capacity)
{
    return i == 5 && capacity > 20 ? UINT64_C(1) << 63 : part_of_some(i, capacity);
}

static void decide_times(sample *s, content *holds)
{
    uint64_t keys = s->plan.capacity < N_KEYS ? s->plan.capacity : N_KEYS;

    for (size_t i = 0; i < (is_indexed(s->plan.kind) ? keys : N_KEYS); i++) {
        s->times[i] = holds(i, keys);
        if (is_exact(s->plan.kind) && s->times[i])
            s->times[i] = 1;
    }
}

/* ---- How it is made ---------------------------------------------------- */

/* False if filters of that kind or plan are not made so. */
typedef bool way(sample *s);

/* All copies of all keys, and their values. Returns how many. */
static size_t copies_of(const sample *s, uint64_t *keys, uint64_t *values)
{
    size_t n = 0;

    for (size_t i = 0; i < N_KEYS; i++)
        for (uint64_t t = 0; t < s->times[i]; t++, n++) {
            keys[n] = key_at(s, i);
            values[n] = value_at(s, i);
        }
    return n;
}

static tamis_status build(sample *s)
{
    uint64_t keys[MOST_TIMES * N_KEYS], values[MOST_TIMES * N_KEYS], excluded[N_STRANGERS];
    size_t n = copies_of(s, keys, values);

    for (size_t i = 0; i < N_STRANGERS; i++)
        excluded[i] = stranger_at(s, i);
    if (has_trait(s->plan.kind, TAMIS_TRAIT_TAKES_VALUES))
        return tamis_build_map(&s->f, &s->plan, keys, values, n, NULL);
    if (has_trait(s->plan.kind, TAMIS_TRAIT_TAKES_EXCLUDED))
        return tamis_build_excluding(&s->f, &s->plan, keys, n, excluded, N_STRANGERS, NULL);
    return tamis_build(&s->f, &s->plan, keys, n, NULL);
}

static bool by_build(sample *s)
{
    if (s->plan.flags & TAMIS_PLAN_ASKS_KEYS || build(s))
        return false;
    for (size_t i = 0; i < N_KEYS && has_trait(s->plan.kind, TAMIS_TRAIT_BUILDS_SETS); i++)
        s->times[i] = s->times[i] > 0;
    return true;
}

/* Where filters ask for their keys: those that were added. */
static tamis_status show_keys(void *ctx, uint64_t group, tamis_visit *visit, void *to)
{
    const sample *s = ctx;

    for (size_t i = 0; i < s->shown; i++)
        if (s->times[i] && tamis_group(s->f, key_at(s, i)) == group &&
            !visit(to, key_at(s, i), s->times[i]))
            break;
    return TAMIS_OK;
}

static tamis_status add_key(sample *s, size_t i)
{
    uint64_t key = key_at(s, i);
    tamis_status status = TAMIS_OK;

    if (is_map(s->plan.kind))
        return tamis_put(s->f, key, value_at(s, i));
    if (tamis_kind_can(s->plan.kind) & TAMIS_CAN_COUNT)
        return tamis_add_times(s->f, key, s->times[i]);
    for (uint64_t t = 0; t < s->times[i] && !status; t++)
        status = tamis_add(s->f, key);
    return status;
}

static bool by_adds(sample *s)
{
    tamis_status status = TAMIS_OK;

    if (!(tamis_kind_can(s->plan.kind) & (TAMIS_CAN_ADD | TAMIS_CAN_PUT)))
        return by_build(s);
    s->f = new_filter(&s->plan);
    tamis_set_keys(s->f, show_keys, s);
    for (s->shown = 0; s->shown < N_KEYS && !status; s->shown++)
        status = s->times[s->shown] ? add_key(s, s->shown) : TAMIS_OK;
    return status == TAMIS_OK;
}

static bool by_counts(sample *s)
{
    const unsigned COUNTS = TAMIS_CAN_ADD | TAMIS_CAN_COUNT;

    return (tamis_kind_can(s->plan.kind) & COUNTS) == COUNTS && by_adds(s);
}

static bool by_threads(sample *s)
{
    uint64_t keys[MOST_TIMES * N_KEYS], values[MOST_TIMES * N_KEYS];
    size_t n = copies_of(s, keys, values), added;

    if (!(tamis_kind_can(s->plan.kind) & TAMIS_CAN_ADD_CONCURRENT))
        return false;
    s->f = new_filter(&s->plan);
    return tamis_add_concurrent(s->f, &added, keys, n) == TAMIS_OK;
}

/* Some false positives are reported. */
static bool and_adapted(sample *s)
{
    rng r = rng_for(3400 + (uint64_t)s->plan.kind, s->number);
    size_t adapted = 0;

    if (!(tamis_kind_can(s->plan.kind) & TAMIS_CAN_ADAPT) || !by_adds(s))
        return false;
    for (int i = 0; i < 2000 && adapted < 6; i++) {
        uint64_t stranger = rng_next(&r);
        if (tamis_has(s->f, stranger) && tamis_adapt(s->f, stranger) == TAMIS_OK)
            adapted++;
    }
    return adapted > 0;
}

static bool and_churned(sample *s)
{
    const size_t n = s->plan.capacity < 4 * N_STRANGERS ? s->plan.capacity / 4 : N_STRANGERS;
    size_t added = 0;

    if (!(tamis_kind_can(s->plan.kind) & TAMIS_CAN_REMOVE) || is_map(s->plan.kind) ||
        is_indexed(s->plan.kind) || !by_adds(s))
        return false;
    while (added < n && tamis_add(s->f, stranger_at(s, added)) == TAMIS_OK)
        added++;
    for (size_t i = 0; i < added; i++)
        assert_int_equal(tamis_remove(s->f, stranger_at(s, i)), TAMIS_OK);
    return added > 0;
}

static bool resized(sample *s, uint64_t keys)
{
    return has_prints(s->plan.kind) && by_adds(s) && tamis_resize(s->f, keys) == TAMIS_OK;
}

static bool and_enlarged(sample *s)
{
    return resized(s, 4 * s->plan.capacity + 3);
}

static bool and_lessened(sample *s)
{
    return resized(s, s->plan.capacity / 2);
}

static bool reshape(sample *s, tamis *made)
{
    tamis_free(s->f);
    s->f = made;
    s->is_reshaped = true;
    return true;
}

static bool and_folded(sample *s)
{
    tamis *made = NULL;

    return by_adds(s) && !tamis_fold(&made, s->f, 2, NULL) && reshape(s, made);
}

static bool and_shrunk(sample *s)
{
    tamis *made = NULL;

    return by_adds(s) && !tamis_shrink(&made, s->f, 3 * s->plan.bytes / 4, NULL) &&
           reshape(s, made);
}

static bool converted_from(sample *s, tamis_kind kind)
{
    const tamis_plan plan = s->plan;
    tamis *made = NULL;
    bool is_made = plan_of(&s->plan, kind, s->spec) && by_adds(s) &&
                   !tamis_convert(&made, plan.kind, s->f, NULL);

    s->plan = plan;
    return is_made && reshape(s, made);
}

/* The first kind that can become this one. */
static bool and_converted(sample *s)
{
    tamis_kind from = first_kind();

    while (from && !tamis__conversion(from, s->plan.kind))
        from = tamis_kind_next(from);
    return from && converted_from(s, from);
}

/* A filter in the bytes of s->image, or of a file of them. */
static tamis *view_of(const sample *s)
{
    tamis *f = NULL;

    assert_int_equal(tamis_image_view(&f, s->image.at, s->image.size, NULL), TAMIS_OK);
    return f;
}

static tamis *map_of(const sample *s, unsigned flags)
{
    const char *path = temp_path();
    FILE *file = fopen(path, "wb");
    tamis *f = NULL;

    assert_non_null(file);
    assert_int_equal(fwrite(s->image.at, 1, s->image.size, file), s->image.size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(tamis_map(&f, path, flags, NULL), TAMIS_OK);
    unlink(path);
    return f;
}

static void borrow(sample *s, tamis *f)
{
    tamis_free(s->f);
    s->f = f;
}

static bool and_viewed(sample *s)
{
    if (!by_adds(s))
        return false;
    s->image = image_of(s->f);
    borrow(s, view_of(s));
    return true;
}

static bool and_mapped(sample *s)
{
    if (!by_adds(s))
        return false;
    s->image = image_of(s->f);
    borrow(s, map_of(s, 0));
    return true;
}

static bool and_mapped_to_write(sample *s)
{
    if (!(tamis_kind_can(s->plan.kind) & TAMIS_CAN_READ_WHILE_ADD) || !by_adds(s))
        return false;
    s->image = image_of(s->f);
    s->can_be_written = true;
    borrow(s, map_of(s, TAMIS_MAP_WRITE));
    return true;
}

/* The first two are those of all plans. */
enum { EVERYWHERE = 2 };

static const struct {
    const char *says;
    content *holds;
    way *make;
} STATES[] = {
    { "some", some, by_adds },
    { "others", others, by_adds },
    { "empty", nothing, by_adds },
    { "part of some", part_of_some, by_adds },
    { "full", as_planned, by_adds },
    { "grown", more_than_planned, by_adds },
    { "one often", one_often, by_counts },
    { "built", others, by_build },
    { "added by threads", others, by_threads },
    { "adapted", some, and_adapted },
    { "others, adapted", others, and_adapted },
    { "full, adapted", as_planned, and_adapted },
    { "grown, adapted", more_than_planned, and_adapted },
    { "churned", some, and_churned },
    { "enlarged", others, and_enlarged },
    { "lessened", some, and_lessened },
    { "folded", some, and_folded },
    { "shrunk", others, and_shrunk },
    { "converted", others, and_converted },
    { "view", some, and_viewed },
    { "view, empty", nothing, and_viewed },
    { "view, grown", more_than_planned, and_viewed },
    { "map", others, and_mapped },
    { "map, writable", some, and_mapped_to_write },
};

/* ---- All filters of a kind --------------------------------------------- */

typedef struct samples {
    tamis_plan *plans;
    sample **at;
    size_t n_plans, n, n_own; /* filters; of them, of the kind: others follow */
} samples;

static size_t plans_tried, filters_built, pairs_tried, done, refused;

static void free_sample(sample *s)
{
    tamis_free(s->f);
    free_bytes(&s->image);
    free(s);
}

static void add_sample(samples *of, const tamis_plan *p, const tamis_spec *spec, size_t state)
{
    sample *s = array_of(1, sizeof *s);

    *s = (sample){ .spec = *spec,
                   .plan = *p,
                   .state = STATES[state].says,
                   .number = of->n,
                   .planned = of->n_plans };
    decide_times(s, STATES[state].holds);
    if (!STATES[state].make(s)) {
        free_sample(s);
        return;
    }
    if (!s->image.at)
        s->image = image_of(s->f);
    assert_true(is_whole(s->f));
    of->at = realloc(of->at, (of->n + 1) * sizeof(sample *));
    assert_non_null(of->at);
    of->at[of->n++] = s;
    filters_built++;
}

static bool is_planned(const samples *of, const tamis_plan *p)
{
    for (size_t i = 0; i < of->n_plans; i++)
        if (memcmp(&of->plans[i], p, sizeof *p) == 0)
            return true;
    return false;
}

/* A filter for each state; none for a plan that was there before. */
static void add_samples(samples *of, tamis_kind kind, const tamis_spec *spec, size_t n_states)
{
    tamis_plan plan;

    if (!plan_of(&plan, kind, *spec) || is_planned(of, &plan))
        return;
    for (size_t i = 0; i < n_states; i++)
        add_sample(of, &plan, spec, i);
    of->plans = realloc(of->plans, (of->n_plans + 1) * sizeof *of->plans);
    assert_non_null(of->plans);
    of->plans[of->n_plans++] = plan;
}

/* As the bits of `set` say. */
static unsigned options_of(unsigned set)
{
    unsigned can = 0;

    for (size_t i = 0; i < LENGTH(OPTIONS); i++)
        can |= set >> i & 1 ? OPTIONS[i] : 0;
    return can;
}

/* One of each other kind. */
static void add_samples_of_others(samples *s, tamis_kind kind)
{
    tamis_spec spec = SHAPES[0];

    spec.hasher = HASHERS[0];
    for (tamis_kind other = first_kind(); other; other = tamis_kind_next(other))
        if (other != kind)
            add_samples(s, other, &spec, 1);
}

static samples samples_of(tamis_kind kind)
{
    const size_t in_all_states = run_size(4, 4, 10);
    samples s = { 0 };

    for (size_t shape = 0; shape < LENGTH(SHAPES); shape++)
        for (unsigned set = 0; set < 1u << LENGTH(OPTIONS); set++)
            for (size_t h = 0; h < (shape == 0 ? LENGTH(HASHERS) : 1); h++) {
                tamis_spec spec = SHAPES[shape];
                spec.can = options_of(set);
                spec.hasher = HASHERS[h];
                add_samples(&s, kind, &spec,
                            shape < in_all_states && h == 0 ? LENGTH(STATES) : EVERYWHERE);
            }
    plans_tried += s.n_plans;
    s.n_own = s.n;
    add_samples_of_others(&s, kind);
    return s;
}

static void free_samples(samples *of)
{
    for (size_t i = 0; i < of->n; i++)
        free_sample(of->at[i]);
    free(of->at);
    free(of->plans);
}

/* ---- Operations -------------------------------------------------------- */

/* What is given to one, and what comes out. */
typedef struct trial {
    const sample *a, *b;
    tamis *f;       /* a, or a copy of it to be changed */
    const tamis *g; /* b, or f itself */
    tamis *made;
    uint64_t product;
} trial;

static tamis_status call_merge(trial *t)
{
    return tamis_combine(t->f, TAMIS_MERGE, t->g);
}

static tamis_status call_intersect(trial *t)
{
    return tamis_combine(t->f, TAMIS_INTERSECT, t->g);
}

static tamis_status call_subtract(trial *t)
{
    return tamis_combine(t->f, TAMIS_SUBTRACT, t->g);
}

static tamis_status call_merge_many(trial *t)
{
    const tamis *const both[] = { t->f, t->g };

    return tamis_merge_many(&t->made, both, 2, NULL);
}

static tamis_status call_dot(trial *t)
{
    return tamis_dot(t->f, &t->product, t->g);
}

static uint64_t count_of_both(uint64_t a, uint64_t b)
{
    return a + b;
}

static uint64_t count_in_common(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t count_left(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* All that the headers have for two filters: tools/contract looks whether one is missing here. */
typedef struct operation {
    const char *says;
    tamis_status (*call)(trial *t);
    uint64_t (*count)(uint64_t a, uint64_t b); /* of a key then; NULL: a product comes out */
    unsigned can;                              /* what f needs */
    bool changes;                              /* f; the others make something new */
} operation;

static const operation OPERATIONS[] = {
    { "merge", call_merge, count_of_both, TAMIS_CAN_MERGE, true },
    { "intersect", call_intersect, count_in_common, TAMIS_CAN_INTERSECT, true },
    { "subtract", call_subtract, count_left, TAMIS_CAN_INTERSECT | TAMIS_CAN_REMOVE, true },
    { "merge_many", call_merge_many, count_of_both, TAMIS_CAN_MERGE | TAMIS_CAN_RESIZE, false },
    { "dot", call_dot, NULL, TAMIS_CAN_DOT, false },
};

/* ---- The model --------------------------------------------------------- */

/* Keys that the filters cannot tell apart are one: a fingerprint, or in kinds without them a key.
 */
typedef struct held {
    uint64_t print, in_a, in_b;
    size_t i; /* one of its keys */
} held;

typedef struct model {
    held at[N_KEYS]; /* ascending */
    size_t n;
    uint64_t total, product; /* copies in both, and the product */
    bool overflows, lacks;   /* 2^64 copies or more; b has more of a key than a has */
} model;

static int by_print(const void *x, const void *y)
{
    const held *a = x, *b = y;

    return (a->print > b->print) - (a->print < b->print);
}

static void gather(model *m, const trial *t)
{
    const sample *a = t->a, *b = t->b;
    size_t n = 0;

    for (size_t i = 0; i < N_KEYS; i++)
        if (a->times[i] || b->times[i]) {
            uint64_t key = key_at(a, i);
            uint64_t print = has_prints(a->plan.kind) ? print_of(&t->f->plan, key) : key;
            m->at[n++] = (held){ print, a->times[i], b->times[i], i };
        }
    qsort(m->at, n, sizeof *m->at, by_print);
    for (size_t i = 0; i < n; i++)
        if (m->n && m->at[m->n - 1].print == m->at[i].print) {
            m->at[m->n - 1].in_a += m->at[i].in_a;
            m->at[m->n - 1].in_b += m->at[i].in_b;
        } else {
            m->at[m->n++] = m->at[i];
        }
}

static model *model_of(const trial *t)
{
    model *m = array_of(1, sizeof *m);

    gather(m, t);
    for (size_t i = 0; i < m->n; i++) {
        uint64_t a = m->at[i].in_a, b = m->at[i].in_b, product;
        if (mul_overflows(a, b, &product) || add_overflows(m->product, product, &m->product))
            m->product = UINT64_MAX;
        m->lacks |= b > a;
    }
    m->overflows = add_overflows(info_of(t->a->f).count, info_of(t->b->f).count, &m->total);
    return m;
}

static const held *held_at(const model *m, const trial *t, uint64_t key)
{
    held h = { .print = has_prints(t->a->plan.kind) ? print_of(&t->f->plan, key) : key };

    return bsearch(&h, m->at, m->n, sizeof h, by_print);
}

/* How often the key is there then, as far as counts go. */
static uint64_t wanted(const trial *t, const operation *o, const held *h)
{
    uint64_t count = h ? o->count(h->in_a, h->in_b) : 0, ceiling = t->f->plan.ceiling;

    if (is_exact(t->a->plan.kind))
        ceiling = 1;
    return count < ceiling ? count : ceiling;
}

/* ---- Results ----------------------------------------------------------- */

/* Of whole hashes, keys that are not there may be found and counted. */
static bool counts_exactly(tamis_kind kind, uint64_t want)
{
    return is_exact(kind) || counts_very_keys(kind) ||
           (has_prints(kind) && (want || !tells_keys_apart(kind)));
}

static void check_key(const trial *t, const operation *o, const model *m, const tamis *f,
                      uint64_t key)
{
    const held *h = held_at(m, t, key);
    uint64_t want = wanted(t, o, h), count = tamis_count(f, key);
    bool found = tamis_has(f, key), both = tamis_has(t->a->f, key) && tamis_has(t->b->f, key);

    assert_true(found || want == 0);
    if (is_exact(t->a->plan.kind))
        assert_true(found == (want > 0));
    if (o->count == count_in_common && !tells_keys_apart(t->a->plan.kind))
        assert_true(both || !found);
    if (counts_exactly(t->a->plan.kind, want))
        assert_int_equal(count, want);
    else if (tamis_kind_can(t->a->plan.kind) & TAMIS_CAN_COUNT && !may_undercount(t->a->plan.kind))
        assert_true(count >= want);
    else
        assert_true(count >= (want > 0));
}

/* In a union, that of b. */
static void check_value(const trial *t, const operation *o, const model *m, const tamis *f,
                        size_t i)
{
    const held *h = held_at(m, t, key_at(t->a, i));
    const sample *of = o->count == count_of_both && h && h->in_b ? t->b : t->a;
    uint64_t value = 99, want = wanted(t, o, h) ? value_at(of, i) : 0;

    assert_int_equal(tamis_get(f, &value, key_at(t->a, i)), wanted(t, o, h));
    assert_int_equal(value, want);
}

typedef struct roll {
    const trial *t;
    const operation *o;
    const model *m;
    size_t i;
} roll;

static bool call(void *ctx, uint64_t print, uint64_t count)
{
    roll *r = ctx;

    while (r->i < r->m->n && wanted(r->t, r->o, &r->m->at[r->i]) == 0)
        r->i++;
    assert_true(r->i < r->m->n);
    const held *h = &r->m->at[r->i++];
    assert_true(h->print == print && wanted(r->t, r->o, h) == count);
    return true;
}

static uint64_t all_wanted(const trial *t, const operation *o, const model *m)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < m->n; i++)
        sum += wanted(t, o, &m->at[i]);
    return sum;
}

/* Every fingerprint with its count, and none besides. */
static void check_list(const trial *t, const operation *o, const model *m, const tamis *f)
{
    roll r = { t, o, m, 0 };

    assert_int_equal(tamis_list(f, call, &r), TAMIS_OK);
    while (r.i < m->n)
        assert_int_equal(wanted(t, o, &m->at[r.i++]), 0);
}

/* Bits are those that adding all keys of both sets. */
static void check_bits(const trial *t, const tamis *f)
{
    tamis *both = new_filter(&f->plan);

    for (size_t i = 0; i < N_KEYS; i++)
        if (t->a->times[i] || t->b->times[i])
            assert_int_equal(tamis_add(both, key_at(t->a, i)), TAMIS_OK);
    assert_true(same_payload(f, both));
    tamis_free(both);
}

static void check_union(const trial *t, const tamis *f)
{
    if (!is_exact(t->a->plan.kind))
        assert_int_equal(info_of(f).count, info_of(t->a->f).count + info_of(t->b->f).count);
    if (tamis_kind_can(t->a->plan.kind) & TAMIS_CAN_READ_WHILE_ADD)
        check_bits(t, f);
}

static void check_held(const trial *t, const operation *o, const model *m, const tamis *f)
{
    for (size_t i = 0; i < N_KEYS + N_STRANGERS; i++)
        check_key(t, o, m, f, key_at(t->a, i));
}

static void check_result(const trial *t, const operation *o, const model *m, const tamis *f)
{
    assert_true(is_whole(f));
    check_held(t, o, m, f);
    if (o->count == count_of_both)
        check_union(t, f);
    if (has_prints(t->a->plan.kind))
        check_list(t, o, m, f);
    if (has_prints(t->a->plan.kind) || is_exact(t->a->plan.kind))
        assert_int_equal(info_of(f).count, all_wanted(t, o, m));
    for (size_t i = 0; i < N_KEYS && is_map(t->a->plan.kind); i++)
        check_value(t, o, m, f, i);
}

/* ---- Afterwards -------------------------------------------------------- */

static tamis_status add_once(tamis *f, uint64_t key)
{
    return is_map(f->plan.kind) ? tamis_put(f, key, 1) : tamis_add(f, key);
}

static bool removes(const trial *t)
{
    return tamis_kind_can(t->a->plan.kind) & TAMIS_CAN_REMOVE && !t->a->can_be_written;
}

/* Any key may come and go. Before it comes, it may be taken for another, whose count it has. */
static void check_new_key(const trial *t, tamis *f, uint64_t key)
{
    uint64_t before = tamis_count(f, key);
    tamis_status status = add_once(f, key);

    if (status) {
        assert_true(status == TAMIS_FULL || status == TAMIS_RANGE);
        return;
    }
    assert_true(tamis_has(f, key));
    assert_true(tamis_count(f, key) >= (tells_keys_apart(f->plan.kind) ? 1 : before));
    if (removes(t) && !before)
        assert_int_equal(tamis_remove(f, key), TAMIS_OK);
}

/* What is held can be removed. */
static void check_old_key(const trial *t, const operation *o, const model *m, tamis *f)
{
    size_t i = 0;

    while (i < m->n && wanted(t, o, &m->at[i]) == 0)
        i++;
    if (i == m->n || !removes(t))
        return;
    uint64_t key = key_at(t->a, m->at[i].i), count = tamis_count(f, key);
    assert_int_equal(tamis_remove(f, key), TAMIS_OK);
    if (counts_exactly(t->a->plan.kind, 1) && count < f->plan.ceiling)
        assert_int_equal(tamis_count(f, key), count - 1);
    assert_true(add_once(f, key) == TAMIS_OK && tamis_has(f, key));
}

static void check_life(const trial *t, const operation *o, const model *m, tamis *f)
{
    check_old_key(t, o, m, f);
    for (size_t i = 0; i < 3 && !is_indexed(t->a->plan.kind); i++)
        check_new_key(t, f, stranger_at(t->a, i));
    for (size_t i = 0; i < m->n; i++)
        assert_true(wanted(t, o, &m->at[i]) == 0 || tamis_has(f, key_at(t->a, m->at[i].i)));
    assert_true(is_whole(f));
}

/* ---- Refusals ---------------------------------------------------------- */

static bool go_together(const trial *t)
{
    return t->a->planned == t->b->planned && !t->a->is_reshaped && !t->b->is_reshaped;
}

/* Counters that have stopped for good stay: b then holds more than its keys. */
static void check_refusal(const trial *t, const operation *o, const model *m, tamis_status why)
{
    const sample *a = t->a;
    bool can = (tamis_plan_can(&t->f->plan) & o->can) == o->can;

    assert_true(can || why == TAMIS_CANNOT || why == TAMIS_MISMATCH);
    if (why == TAMIS_CANNOT)
        assert_true(!can || (a->can_be_written && o->can != TAMIS_CAN_MERGE));
    else if (why == TAMIS_MISMATCH)
        assert_false(go_together(t));
    else if (why == TAMIS_READONLY)
        assert_true(o->changes && info_of(t->f).readonly);
    else if (why == TAMIS_ABSENT)
        assert_true(o->count == count_left && !is_exact(a->plan.kind) &&
                    (m->lacks || info_of(t->b->f).saturated));
    else if (why == TAMIS_FULL)
        assert_true(o->count == count_of_both && m->total > t->f->plan.capacity);
    else if (why == TAMIS_RANGE)
        assert_true(o->count == count_of_both && m->overflows);
    else
        fail_msg("%s", tamis_status_text(why));
}

/* What must not be done. Kinds that count tell some keys that are not there, or all. */
static void check_permission(const trial *t, const operation *o, const model *m)
{
    assert_int_equal(tamis_plan_can(&t->f->plan) & o->can, o->can);
    assert_int_equal(t->a->plan.kind, t->b->plan.kind);
    assert_memory_equal(&t->a->spec.hasher, &t->b->spec.hasher, sizeof t->a->spec.hasher);
    assert_false(o->changes && info_of(t->f).readonly);
    assert_false(o->count == count_of_both && m->overflows);
    assert_false(o->count == count_left && m->lacks && has_prints(t->a->plan.kind));
}

/* ---- Pairs ------------------------------------------------------------- */

static void name_trial(const trial *t, const operation *o)
{
    snprintf(law_at, sizeof law_at, "%s: %zu (%s, plan %zu) and %s%zu (%s, %s, plan %zu)", o->says,
             t->a->number, t->a->state, t->a->planned, t->g == t->f ? "itself, " : "", t->b->number,
             tamis_kind_name(t->b->plan.kind), t->b->state, t->b->planned);
}

static tamis *copy_to_change(const sample *s)
{
    tamis *f = s->f;

    if (s->can_be_written)
        return map_of(s, TAMIS_MAP_WRITE);
    if (!info_of(s->f).readonly)
        assert_int_equal(tamis_clone(&f, s->f, NULL), TAMIS_OK);
    if (f != s->f)
        tamis_set_keys(f, show_keys, (void *)(uintptr_t)s);
    return f;
}

/* Where copies that were never added are taken away, nothing is promised of the others. */
static void check_done(const trial *t, const operation *o, const model *m)
{
    tamis *f = o->changes ? t->f : t->made;

    check_permission(t, o, m);
    if (o->count == NULL) {
        assert_true(t->product >= m->product);
        assert_true(t->product == m->product || !has_prints(t->a->plan.kind));
    } else if (o->count == count_left && m->lacks && !is_exact(t->a->plan.kind)) {
        assert_true(is_whole(f));
    } else {
        check_result(t, o, m, f);
        check_life(t, o, m, f);
    }
}

static void try_operation(trial *t, const operation *o, bool with_itself)
{
    if (!t->f)
        t->f = copy_to_change(t->a);
    t->g = with_itself ? t->f : t->b->f;
    t->made = NULL;
    t->product = 77;
    name_trial(t, o);
    tamis_status status = o->call(t);
    model *m = model_of(t);
    bool is_changed = !status && o->changes;

    if (status) {
        check_refusal(t, o, m, status);
        assert_true(!t->made && t->product == 77);
        refused++;
    } else {
        check_done(t, o, m);
        done++;
    }
    assert_true(is_changed || is_image_of(&t->a->image, t->f));
    assert_true(is_image_of(&t->b->image, t->b->f));
    if (is_changed) {
        tamis_free(t->f);
        t->f = NULL;
    }
    tamis_free(t->made);
    free(m);
}

static void check_pair(const sample *a, const sample *b)
{
    trial t = { .a = a, .b = b };

    for (size_t i = 0; i < LENGTH(OPERATIONS); i++) {
        try_operation(&t, &OPERATIONS[i], false);
        if (a == b)
            try_operation(&t, &OPERATIONS[i], true);
    }
    if (t.f != a->f)
        tamis_free(t.f);
    pairs_tried++;
}

/* Pairs that go together are taken more often than others: these are soon refused. */
static bool is_taken(rng *r, const sample *a, const sample *b, size_t every)
{
    const size_t rarely = tamis__plans_merge(&a->f->plan, &b->f->plan) ? every / 8 + 1 : every;

    return a->number == 0 || a == b || rng_below(r, rarely) == 0;
}

static void check_kind(tamis_kind kind)
{
    samples s = samples_of(kind);
    rng r = rng_for(3401, (uint64_t)kind);
    const size_t every = s.n_own * s.n / run_size(2000, 300, SIZE_MAX) + 1;

    for (size_t a = 0; a < s.n_own; a++)
        for (size_t b = 0; b < s.n; b++)
            if (is_taken(&r, s.at[a], s.at[b], every))
                check_pair(s.at[a], s.at[b]);
    free_samples(&s);
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { .says = "two filters become what they should, or stay", .check = check_kind },
    };

    test_begin(argc, argv);
    int failed = check_laws_of_all(laws, LENGTH(laws));
    printf("%zu plans, %zu filters, %zu pairs: %zu operations done, %zu refused\n", plans_tried,
           filters_built, pairs_tried, done, refused);
    return failed;
}
