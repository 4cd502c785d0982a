/* ops.c - fuzzer: bytes as a program of operations on two tiny filters, beside an exact model.
 *
 * input: kind, keys planned, seed (one byte each), then instructions of two bytes: what, and a
 * number. Keys are 0 .. 63, so that programs collide, repeat and remove on purpose. Checked after
 * each instruction: no key is lost, exact kinds hold nothing else, the structure stands. */
#include <stdlib.h>
#include <string.h>

#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { UNIVERSE = 64, MAX_STEPS = 200 };

/* How often each key was added and not removed; and how many adds ago, as some kinds forget. */
typedef struct {
    tamis *f;
    unsigned times[UNIVERSE], age[UNIVERSE];
} pair;

static unsigned can;

/* ---- Model against filter ---------------------------------------------- */

/* A key that has come so far stays, whatever is removed. */
static bool has_stopped(const pair *p, uint64_t key)
{
    return tamis_count(p->f, key) == tamis_plan_of(p->f)->ceiling;
}

static void check_key(const pair *p, uint64_t key)
{
    bool held = p->times[key] > 0;

    if (held)
        MUST(tamis_has(p->f, key));
    if (can & TAMIS_IS_EXACT)
        MUST(tamis_has(p->f, key) == held);
    if (can & TAMIS_CAN_COUNT)
        MUST(tamis_count(p->f, key) >= p->times[key] || has_stopped(p, key));
    else
        MUST(tamis_count(p->f, key) == tamis_has(p->f, key));
}

static bool tick_off(void *ctx, uint64_t key, uint64_t count)
{
    unsigned *seen = ctx;

    MUST(key < UNIVERSE && count > 0);
    seen[key]++;
    return true;
}

typedef struct {
    uint64_t low, sum; /* no fingerprint is below, nor more often than once */
} roll;

static bool call(void *ctx, uint64_t print, uint64_t count)
{
    roll *r = ctx;

    MUST(print >= r->low && count > 0);
    r->low = print + 1;
    r->sum += count;
    return true;
}

static void check_prints(const pair *p)
{
    roll r = { 0, 0 };
    uint64_t sum = 0;

    MUST(tamis_list(p->f, call, &r) == TAMIS_OK);
    for (unsigned key = 0; key < UNIVERSE; key++)
        sum += p->times[key];
    MUST(r.sum >= sum && info_of(p->f).count == r.sum);
}

static void check_list(const pair *p)
{
    unsigned seen[UNIVERSE] = { 0 };

    if (!(can & TAMIS_IS_EXACT)) {
        check_prints(p);
        return;
    }
    MUST(tamis_list(p->f, tick_off, seen) == TAMIS_OK);
    for (unsigned key = 0; key < UNIVERSE; key++)
        MUST(seen[key] == (p->times[key] > 0));
}

static unsigned distinct(const pair *p)
{
    unsigned n = 0;

    for (unsigned key = 0; key < UNIVERSE; key++)
        n += p->times[key] > 0;
    return n;
}

static void check(const pair *p)
{
    for (unsigned key = 0; key < UNIVERSE; key++)
        check_key(p, key);
    exercise_batch(p->f);
    MUST(tamis_verify(p->f, NULL, NULL) == TAMIS_OK);
    if (can & TAMIS_IS_EXACT)
        MUST(info_of(p->f).count == distinct(p));
    if (can & TAMIS_CAN_LIST)
        check_list(p);
}

/* ---- Instructions ------------------------------------------------------ */

static void note_age(pair *p, uint64_t key)
{
    for (unsigned k = 0; k < UNIVERSE; k++)
        if (++p->age[k] >= tamis_plan_of(p->f)->capacity)
            p->times[k] = 0;
    p->age[key] = 0;
}

/* An exact kind keeps each key once. */
static void note_added(pair *p, uint64_t key)
{
    if (can & TAMIS_CAN_ROTATE)
        note_age(p, key);
    p->times[key] = can & TAMIS_CAN_COUNT ? p->times[key] + 1 : 1;
}

static bool is_beyond(const pair *p, uint64_t key)
{
    return can & TAMIS_IS_INDEXED && key >= tamis_plan_of(p->f)->capacity;
}

static void run_add(pair *p, uint64_t key)
{
    tamis_status status = tamis_add(p->f, key);

    MUST((status == TAMIS_RANGE) == is_beyond(p, key));
    if (status == TAMIS_OK)
        note_added(p, key);
}

static void run_add_many(pair *p, uint64_t first)
{
    uint64_t keys[20];
    size_t added = 0;

    for (unsigned i = 0; i < 20; i++)
        keys[i] = (first + 5 * i) % UNIVERSE;
    tamis_status status = tamis_add_many(p->f, &added, keys, 20);
    MUST((status == TAMIS_OK) == (added == 20));
    for (size_t i = 0; i < added; i++)
        note_added(p, keys[i]);
}

static void run_add_concurrent(pair *p, uint64_t first)
{
    uint64_t keys[3] = { first, (first + 1) % UNIVERSE, first };
    size_t added = 0;

    tamis_status status = tamis_add_concurrent(p->f, &added, keys, 3);
    if (!(can & TAMIS_CAN_ADD_CONCURRENT))
        MUST(status == TAMIS_CANNOT);
    for (size_t i = 0; i < added; i++)
        note_added(p, keys[i]);
}

/* Removing what was never added is the caller's fault in kinds that cannot tell. */
static void run_remove(pair *p, uint64_t key)
{
    if (!p->times[key] && !(can & TAMIS_IS_EXACT))
        return;
    tamis_status status = tamis_remove(p->f, key);
    if (!(can & TAMIS_CAN_REMOVE))
        MUST(status == TAMIS_CANNOT);
    else if (is_beyond(p, key))
        MUST(status == TAMIS_RANGE);
    else
        MUST(status == (p->times[key] ? TAMIS_OK : TAMIS_ABSENT));
    p->times[key] -= status == TAMIS_OK;
}

static void run_add_times(pair *p, uint64_t key, unsigned times)
{
    tamis_status status = tamis_add_times(p->f, key, times);

    if (!(can & TAMIS_CAN_COUNT))
        MUST(status == TAMIS_CANNOT);
    p->times[key] += status == TAMIS_OK ? times : 0;
}

/* As many as there are; then one more than that, whoever added them. Of a key that has come to the
 * ceiling nobody knows how many there are. */
static void run_remove_times(pair *p, uint64_t key, unsigned times)
{
    if (times > p->times[key])
        times = p->times[key];
    tamis_status status = tamis_remove_times(p->f, key, times);
    if (!(can & TAMIS_CAN_COUNT) || !(can & TAMIS_CAN_REMOVE)) {
        MUST(status == TAMIS_CANNOT);
        return;
    }
    MUST(status == TAMIS_OK);
    p->times[key] -= times;
    if (!has_stopped(p, key))
        MUST(tamis_remove_times(p->f, key, tamis_count(p->f, key) + 1) == TAMIS_ABSENT);
}

static void run_remove_many(pair *p, uint64_t first)
{
    uint64_t keys[20];
    size_t n = 0, removed = 0;

    for (unsigned i = 0; i < 20; i++) {
        uint64_t key = (first + 3 * i) % UNIVERSE;
        if (p->times[key])
            keys[n++] = key;
    }
    tamis_status status = tamis_remove_many(p->f, &removed, keys, n);
    if (!(can & TAMIS_CAN_REMOVE)) {
        MUST(status == TAMIS_CANNOT && removed == 0);
        return;
    }
    MUST(status == TAMIS_OK && removed == n);
    for (size_t i = 0; i < n; i++)
        p->times[keys[i]]--;
}

static void run_resize(pair *p, uint64_t keys)
{
    tamis_status status = tamis_resize(p->f, keys);

    if (!(can & TAMIS_CAN_RESIZE))
        MUST(status == TAMIS_CANNOT);
}

/* To whatever kind there is a way. */
static void run_convert(const pair *p)
{
    for (tamis_kind to = tamis_kind_next(TAMIS_NO_KIND); to; to = tamis_kind_next(to)) {
        tamis *made;

        if (tamis_convert(&made, to, p->f, NULL) != TAMIS_OK)
            continue;
        for (unsigned key = 0; key < UNIVERSE; key++)
            MUST(tamis_has(made, key) == tamis_has(p->f, key));
        tamis_free(made);
    }
}

static void run_rotate(pair *p)
{
    tamis_status status = tamis_rotate(p->f);

    MUST(status == (can & TAMIS_CAN_ROTATE ? TAMIS_OK : TAMIS_CANNOT));
    if (status == TAMIS_OK)
        memset(p->times, 0, sizeof p->times);
}

/* A key that is there is nobody's mistake. */
static void run_adapt(pair *p, uint64_t key)
{
    tamis_status status = tamis_adapt(p->f, key);

    MUST(p->times[key] ? status == TAMIS_PRESENT : status == TAMIS_OK || status == TAMIS_FULL);
    if (key == 0)
        MUST(tamis_forget_adaptations(p->f) == TAMIS_OK);
}

static void run_merge_many(pair *p, const pair *q)
{
    const tamis *const both[] = { p->f, q->f };
    pair sum = *p;

    if (tamis_merge_many(&sum.f, both, 2, NULL) != TAMIS_OK)
        return;
    for (unsigned key = 0; key < UNIVERSE; key++)
        sum.times[key] += q->times[key];
    check(&sum);
    tamis_free(sum.f);
}

static void run_merge(pair *p, const pair *q)
{
    tamis_status status = tamis_combine(p->f, TAMIS_MERGE, q->f);

    if (!(can & TAMIS_CAN_MERGE))
        MUST(status == TAMIS_CANNOT);
    for (unsigned key = 0; key < UNIVERSE && status == TAMIS_OK; key++)
        p->times[key] += can & TAMIS_CAN_COUNT ? q->times[key] : q->times[key] && !p->times[key];
}

static void run_intersect(pair *p, const pair *q)
{
    tamis_status status = tamis_combine(p->f, TAMIS_INTERSECT, q->f);

    if (!(can & TAMIS_CAN_INTERSECT))
        MUST(status == TAMIS_CANNOT);
    for (unsigned key = 0; key < UNIVERSE && status == TAMIS_OK; key++)
        if (q->times[key] < p->times[key])
            p->times[key] = q->times[key];
}

/* Exact kinds forget any keys, others what was merged before. */
static void run_subtract(pair *p, const pair *q)
{
    if (!(can & TAMIS_CAN_INTERSECT) || !(can & TAMIS_CAN_REMOVE)) {
        MUST(tamis_combine(p->f, TAMIS_SUBTRACT, q->f) == TAMIS_CANNOT);
    } else if (!(can & TAMIS_IS_EXACT)) {
        if (tamis_combine(p->f, TAMIS_MERGE, q->f) == TAMIS_OK)
            MUST(tamis_combine(p->f, TAMIS_SUBTRACT, q->f) == TAMIS_OK);
    } else if (tamis_combine(p->f, TAMIS_SUBTRACT, q->f) == TAMIS_OK) {
        for (unsigned key = 0; key < UNIVERSE; key++)
            p->times[key] = p->times[key] && !q->times[key];
    }
}

static void replace(pair *p, tamis *f)
{
    tamis_free(p->f);
    p->f = f;
}

static void run_clone(pair *p)
{
    tamis *copy;

    MUST(tamis_clone(&copy, p->f, NULL) == TAMIS_OK);
    replace(p, copy);
}

static void run_image(pair *p)
{
    size_t size = tamis_image_size(p->f);
    void *image = malloc(size);
    tamis *copy;

    MUST(image && tamis_image_write(p->f, image, size) == TAMIS_OK);
    MUST(tamis_image_read(&copy, image, size, NULL) == TAMIS_OK);
    free(image);
    replace(p, copy);
}

/* A smaller filter cannot meet the other one again, so it is only looked at. */
static void run_fold(const pair *p, uint64_t by)
{
    pair smaller = *p;

    if (tamis_fold(&smaller.f, p->f, by, NULL) != TAMIS_OK)
        return;
    check(&smaller);
    tamis_free(smaller.f);
}

static void run_rebuild(pair *p)
{
    uint64_t keys[UNIVERSE];
    size_t n = 0;
    tamis *f;

    for (unsigned key = 0; key < UNIVERSE; key++)
        if (p->times[key])
            keys[n++] = key;
    if (tamis_build(&f, tamis_plan_of(p->f), keys, n, NULL) != TAMIS_OK)
        return;
    for (unsigned key = 0; key < UNIVERSE; key++)
        p->times[key] = p->times[key] > 0;
    replace(p, f);
}

static void run_step(pair *p, pair *q, uint8_t what, uint8_t number)
{
    uint64_t key = number % UNIVERSE;

    switch (what % 19) {
    case 0:
    case 1:
    case 2:
        run_add(p, key);
        break;
    case 3:
    case 4:
        run_remove(p, key);
        break;
    case 5:
        run_add_many(p, key);
        break;
    case 6:
        run_add_concurrent(p, key);
        break;
    case 7:
        run_merge(p, q);
        break;
    case 8:
        number & 1 ? run_subtract(p, q) : run_intersect(p, q);
        break;
    case 9:
        number & 1 ? run_clone(p) : run_rebuild(p);
        break;
    case 10:
        run_image(p);
        break;
    case 11:
        run_add_times(p, key, number);
        break;
    case 12:
        run_remove_times(p, key, number / UNIVERSE + 1u);
        break;
    case 13:
        run_remove_many(p, key);
        break;
    case 14:
        run_resize(p, number);
        break;
    case 15:
        run_merge_many(p, q);
        break;
    case 16:
        run_convert(p);
        break;
    case 17:
        can &TAMIS_CAN_ADAPT ? run_adapt(p, key) : run_rotate(p);
        break;
    default:
        run_fold(p, number % 7);
        break;
    }
}

/* ---- Program ----------------------------------------------------------- */

static tamis_kind nth_kind(unsigned n)
{
    tamis_kind kind = tamis_kind_next(TAMIS_NO_KIND);

    while (n--) {
        kind = tamis_kind_next(kind);
        if (!kind)
            kind = tamis_kind_next(kind);
    }
    return kind;
}

static bool start(pair pairs[2], const uint8_t *data)
{
    tamis_kind kind = nth_kind(data[0]);
    tamis_spec spec =
        TAMIS_SPEC(.keys = data[1] % UNIVERSE + 1u, .hasher = { TAMIS_RAW, data[2], { 0 } });
    tamis_plan plan;

    can = tamis_kind_can(kind);
    spec.fpr = can & TAMIS_IS_EXACT ? 0 : 0.2;
    /* Every other seed may grow where that is possible. */
    spec.can = data[2] & 1 ? can & TAMIS_CAN_GROW : 0;
    if (tamis_plan_kind(&plan, kind, &spec) || tamis_new(&pairs[0].f, &plan, NULL))
        return false;
    MUST(tamis_clone(&pairs[1].f, pairs[0].f, NULL) == TAMIS_OK);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pair pairs[2] = { 0 };

    if (size < 3 || !start(pairs, data))
        return 0;
    for (size_t i = 3; i + 1 < size && i < 2 * MAX_STEPS; i += 2) {
        unsigned turn = data[i] >> 7;
        run_step(&pairs[turn], &pairs[!turn], data[i] & 0x7f, data[i + 1]);
        check(&pairs[turn]);
    }
    tamis_free(pairs[0].f);
    tamis_free(pairs[1].f);
    return 0;
}
