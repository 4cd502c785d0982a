/* module.c - see module.h. */
#include "module.h"

#include <stddef.h>

#include "base/sort.h"

/* ---- Names and numbers ------------------------------------------------- */

/* One name after the other, which clang-format moves at every visit. */
/* clang-format off */
#define WEB_SPEC(X)                                                                      \
    X(keys) X(fpr) X(max_bytes) X(load) X(can) X(value_bits) X(universe) X(counter_bits) \
    X(error) X(bits) X(hashes) X(quotient_bits) X(tag_bits)
#define WEB_PLAN(X)                                                                      \
    X(kind) X(capacity) X(fpr) X(bytes) X(slots) X(width) X(hashes) X(flags) X(load)     \
    X(ceiling) X(error)
#define WEB_INFO(X)                                                                      \
    X(count) X(cardinality) X(fill) X(fpr) X(readonly) X(saturated) X(noted)             \
    X(adaptations) X(adapted_bits) X(queried) X(error)
/* clang-format on */
#define WEB_NAME(field) " " #field

static double web_array[32];

/* Each begins with the blank that is between two names. */
const char *web_spec_names(void)
{
    return &(WEB_SPEC(WEB_NAME))[1];
}

const char *web_plan_names(void)
{
    return &(WEB_PLAN(WEB_NAME))[1];
}

const char *web_info_names(void)
{
    return &(WEB_INFO(WEB_NAME))[1];
}

double *web_numbers(void)
{
    return web_array;
}

typedef struct {
    const char *name;
    unsigned bit;
} web_ability;

static const web_ability WEB_ABILITIES[] = {
#define TAMIS_X(constant, bit, name, meaning) { name, bit },
    TAMIS_ABILITIES(TAMIS_X)
#undef TAMIS_X
};
enum { WEB_N_ABILITIES = sizeof WEB_ABILITIES / sizeof WEB_ABILITIES[0] };

const char *web_ability_name(unsigned i)
{
    return i < WEB_N_ABILITIES ? WEB_ABILITIES[i].name : NULL;
}

unsigned web_ability_bit(unsigned i)
{
    return i < WEB_N_ABILITIES ? WEB_ABILITIES[i].bit : 0;
}

const char *web_status_name(tamis_status status)
{
    switch (status) {
#define TAMIS_X(constant, number, text) \
    case TAMIS_##constant:              \
        return #constant;
        TAMIS_STATUSES(TAMIS_X)
#undef TAMIS_X
    }
    return NULL;
}

/* ---- Plans ------------------------------------------------------------- */

/* There are fewer kinds than that, and the tests count them. */
enum { WEB_MAX_PLANS = 64 };

static tamis_hasher web_wished;
static tamis_plan web_plans[WEB_MAX_PLANS];
static tamis_plan web_made;

void web_set_hasher(tamis_hash hash, uint64_t seed, const uint8_t secret[16])
{
    web_wished = (tamis_hasher){ .hash = hash, .seed = seed };
    for (int i = 0; i < 16; i++)
        web_wished.secret[i] = secret[i];
}

const tamis_hasher *web_hasher(void)
{
    return &web_wished;
}

/* The compiler is told to convert a number that a field cannot hold to the nearest that it can. */
static tamis_spec web_spec(void)
{
    tamis_spec spec = TAMIS_SPEC(.hasher = web_wished);
    const double *number = web_array;

#define WEB_TAKE(field) spec.field = (__typeof__(spec.field))*number++;
    WEB_SPEC(WEB_TAKE)
    return spec;
}

tamis_status web_plan(tamis_kind kind)
{
    tamis_spec spec = web_spec();

    return tamis_plan_kind(&web_made, kind, &spec);
}

const tamis_plan *web_planned(void)
{
    return &web_made;
}

size_t web_plan_all(void)
{
    tamis_spec spec = web_spec();
    size_t n = tamis_plan_all(web_plans, WEB_MAX_PLANS, &spec);

    return n < WEB_MAX_PLANS ? n : WEB_MAX_PLANS;
}

void web_plan_pick(size_t i)
{
    web_made = web_plans[i % WEB_MAX_PLANS];
}

void web_plan_numbers(const tamis_plan *plan)
{
    double *number = web_array;

#define WEB_PUT_PLAN(field) *number++ = (double)plan->field;
    WEB_PLAN(WEB_PUT_PLAN)
}

const tamis_hasher *web_plan_hasher(const tamis_plan *plan)
{
    return &plan->hasher;
}

tamis_hash web_hasher_hash(const tamis_hasher *hasher)
{
    return hasher->hash;
}

uint64_t web_hasher_seed(const tamis_hasher *hasher)
{
    return hasher->seed;
}

const char *web_info_numbers(const tamis *f)
{
    tamis_info info = { .size = sizeof info };
    double *number = web_array;

    tamis_get_info(f, &info);
#define WEB_PUT_INFO(field) *number++ = (double)info.field;
    WEB_INFO(WEB_PUT_INFO)
    return info.note;
}

/* ---- Keys as bytes ----------------------------------------------------- */

bool web_has(const tamis *f, const void *data, size_t size)
{
    return tamis_has(f, tamis_key(f, data, size));
}

bool web_has_integer(const tamis *f, uint32_t low, uint32_t high)
{
    return tamis_has(f, (uint64_t)high << 32 | low);
}

/* Once is what every kind can do. */
tamis_status web_add(tamis *f, const void *data, size_t size, uint64_t times)
{
    uint64_t key = tamis_key(f, data, size);

    return times == 1 ? tamis_add(f, key) : tamis_add_times(f, key, times);
}

tamis_status web_remove(tamis *f, const void *data, size_t size, uint64_t times)
{
    uint64_t key = tamis_key(f, data, size);

    return times == 1 ? tamis_remove(f, key) : tamis_remove_times(f, key, times);
}

double web_count(const tamis *f, const void *data, size_t size)
{
    return (double)tamis_count(f, tamis_key(f, data, size));
}

bool web_get(const tamis *f, uint64_t *value, const void *data, size_t size)
{
    return tamis_get(f, value, tamis_key(f, data, size));
}

tamis_status web_put(tamis *f, const void *data, size_t size, uint64_t value)
{
    return tamis_put(f, tamis_key(f, data, size), value);
}

tamis_status web_adapt(tamis *f, const void *data, size_t size)
{
    return tamis_adapt(f, tamis_key(f, data, size));
}

void web_hash_many(const tamis_hasher *hasher, uint64_t *keys, const uint8_t *data,
                   const uint32_t *ends, size_t n)
{
    uint32_t at = 0;

    for (size_t i = 0; i < n; i++) {
        keys[i] = tamis_hasher_key(hasher, data + at, ends[i] - at);
        at = ends[i];
    }
}

/* ---- Lists ------------------------------------------------------------- */

size_t web_sort_unique(uint64_t *keys, size_t n)
{
    return tamis__sort_unique(keys, n);
}

typedef struct {
    uint64_t *pairs;
    size_t n, max;
} web_listed;

static bool web_take_pair(void *ctx, uint64_t key, uint64_t count)
{
    web_listed *to = ctx;

    if (to->n < to->max) {
        to->pairs[2 * to->n] = key;
        to->pairs[2 * to->n + 1] = count;
    }
    to->n++;
    return true;
}

tamis_status web_list(const tamis *f, uint64_t *pairs, size_t *n, size_t max)
{
    web_listed to = { .pairs = pairs, .max = max };
    bool has_values = (tamis_kind_can(tamis_plan_of(f)->kind) & TAMIS_CAN_GET) != 0;
    tamis_status status =
        has_values ? tamis_list_values(f, web_take_pair, &to) : tamis_list(f, web_take_pair, &to);

    *n = to.n;
    return status;
}

_Static_assert(offsetof(tamis_cell, array) == 0 && offsetof(tamis_cell, number) == 8 &&
                   offsetof(tamis_cell, index) == 16 && offsetof(tamis_cell, value) == 24 &&
                   offsetof(tamis_cell, bits) == 32 && offsetof(tamis_cell, marks) == 36 &&
                   sizeof(tamis_cell) == 40,
               "cells are where tamis.js reads them");
_Static_assert(offsetof(tamis_step, type) == 0 && offsetof(tamis_step, text) == 4 &&
                   offsetof(tamis_step, value) == 8 && offsetof(tamis_step, agrees) == 16 &&
                   offsetof(tamis_step, cell) == 24 && sizeof(tamis_step) == 64,
               "steps are where tamis.js reads them");
_Static_assert(offsetof(tamis_peel, type) == 0 && offsetof(tamis_peel, key) == 4 &&
                   offsetof(tamis_peel, fingerprint) == 8 && offsetof(tamis_peel, n_cells) == 20 &&
                   offsetof(tamis_peel, own) == 24 && offsetof(web_peel, cells) == 32 &&
                   sizeof(web_peel) == 352,
               "and so are steps of peeling");

typedef struct {
    tamis_cell *cells;
    tamis_step *steps;
    web_peel *peels;
    size_t n, max;
} web_shown;

static bool web_take_cell(void *ctx, const tamis_cell *cell)
{
    web_shown *to = ctx;

    if (to->n < to->max)
        to->cells[to->n] = *cell;
    to->n++;
    return true;
}

tamis_status web_cells(const tamis *f, tamis_cell *cells, size_t *n, size_t max)
{
    web_shown to = { .cells = cells, .max = max };
    tamis_status status = tamis_visit_cells(f, web_take_cell, &to);

    *n = to.n;
    return status;
}

static bool web_take_step(void *ctx, const tamis_step *step)
{
    web_shown *to = ctx;

    if (to->n < to->max)
        to->steps[to->n] = *step;
    to->n++;
    return true;
}

size_t web_steps(const tamis *f, uint64_t key, tamis_step *steps, size_t max)
{
    web_shown to = { .steps = steps, .max = max };

    tamis_explain(f, key, web_take_step, &to);
    return to.n;
}

static bool web_take_peel(void *ctx, const tamis_peel *step)
{
    web_shown *to = ctx;

    if (to->n < to->max) {
        web_peel *peel = &to->peels[to->n];
        peel->step = *step;
        for (unsigned i = 0; i < step->n_cells && i < WEB_MOST_TOUCHED; i++)
            peel->cells[i] = step->cells[i];
    }
    to->n++;
    return true;
}

tamis_status web_peels(const tamis *f, const uint64_t *keys, size_t n_keys, web_peel *peels,
                       size_t *n, size_t max)
{
    web_shown to = { .peels = peels, .max = max };
    tamis_status status = tamis_explain_peeling(f, keys, n_keys, web_take_peel, &to);

    *n = to.n;
    return status;
}

static void web_take_fault(void *ctx, const char *why, uint64_t offset, uint64_t size)
{
    const char **first = ctx;

    (void)offset;
    (void)size;
    if (!*first)
        *first = why;
}

const char *web_fault(const void *image, size_t size)
{
    const char *why = NULL;
    tamis *view;

    if (tamis_image_view(&view, image, size, NULL))
        return NULL;
    if (!tamis_verify(view, web_take_fault, &why))
        why = NULL;
    tamis_free(view);
    return why;
}
