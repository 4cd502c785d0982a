/* kinds.c - the core alone: every kind is planned, made, asked, written and read, with memory of
 * the caller's and a small stack; and plans from elsewhere take no memory that is not there.
 * Compiled by wasm.py for a machine without an operating system. */
#include <stdlib.h>
#include <string.h>

#include "foreign.h"
#include "tamis_values.h"

enum { KEYS = 3000, STRANGERS = 3000 };

static uint64_t keys[KEYS + STRANGERS], values[KEYS], hits[(KEYS + 63) / 64];
static _Alignas(64) uint8_t image[4 << 20];
static size_t taken; /* from the allocator, and not given back */

enum { MEMORY = 192 << 20 };

static void *take(void *ctx, size_t size)
{
    (void)ctx;
    void *block = size <= MEMORY - taken ? malloc(size) : NULL;
    taken += block ? size : 0;
    return block;
}

static void give_back(void *ctx, void *block, size_t size)
{
    (void)ctx;
    taken -= size;
    free(block);
}

static const tamis_allocator ALLOCATOR = { take, give_back, NULL };

static bool holds_all(const tamis *f)
{
    if (tamis_has_many(f, hits, keys, KEYS) != KEYS)
        return false;
    for (int i = 0; i < KEYS; i++)
        if (!tamis_has(f, keys[i]))
            return false;
    return tamis_verify(f, NULL, NULL) == TAMIS_OK;
}

static tamis_status make(tamis **f, tamis_kind kind)
{
    unsigned can = tamis_kind_can(kind);
    tamis_spec spec = TAMIS_SPEC(.keys = KEYS, .fpr = 0.01, .hasher = { .hash = TAMIS_RAW });
    tamis_plan plan;

    spec.value_bits = can & TAMIS_CAN_GET ? 7 : 0;
    spec.universe = can & TAMIS_CAN_EXCLUDE ? KEYS + STRANGERS : 0;
    tamis_status status = tamis_plan_kind(&plan, kind, &spec);
    if (status)
        return status;
    if (can & TAMIS_CAN_GET)
        return tamis_build_map(f, &plan, keys, values, KEYS, &ALLOCATOR);
    if (can & TAMIS_CAN_EXCLUDE)
        return tamis_build_excluding(f, &plan, keys, KEYS, keys + KEYS, STRANGERS, &ALLOCATOR);
    return tamis_build(f, &plan, keys, KEYS, &ALLOCATOR);
}

static bool is_copied(const tamis *f)
{
    size_t size = tamis_image_size(f);
    tamis *copy;

    if (size > sizeof image || tamis_image_write(f, image, size) ||
        tamis_image_read(&copy, image, size, &ALLOCATOR))
        return false;
    bool ok = holds_all(copy);
    tamis_free(copy);
    return ok;
}

/* Goes through what can be changed: keys leave and come back one by one. */
static bool changes(tamis *f)
{
    unsigned can = tamis_plan_can(tamis_plan_of(f));

    for (int i = 0; i < KEYS && can & TAMIS_CAN_REMOVE; i++)
        if (tamis_remove(f, keys[i]) ||
            (can & TAMIS_CAN_PUT ? tamis_put(f, keys[i], 0) : tamis_add(f, keys[i])))
            return false;
    return holds_all(f);
}

static bool works(tamis_kind kind)
{
    tamis *f;

    if (make(&f, kind))
        return false;
    bool ok = holds_all(f) && is_copied(f) && changes(f);
    tamis_free(f);
    return ok && taken == 0;
}

static bool builds_foreign_plans(tamis_kind kind)
{
    static foreign x = { .a = &ALLOCATOR, .most = MEMORY / 3 };

    foreign_check(kind, &x);
    return !x.fault && taken == 0;
}

/* 0, or the number of the first kind that does not work. A core without a default allocator has no
 * memory to give. */
__attribute__((export_name("first_failure"))) int first_failure(void);

int first_failure(void)
{
    const tamis_spec spec = TAMIS_SPEC(.keys = 10);
    tamis_plan plan;
    tamis *f;

    if (tamis_plan_kind(&plan, TAMIS_BLOOM, &spec) || tamis_new(&f, &plan, NULL) != TAMIS_NOMEM)
        return -1;
    for (uint64_t i = 0; i < KEYS + STRANGERS; i++)
        keys[i] = i; /* small enough for kinds that take small numbers only */
    for (uint64_t i = 0; i < KEYS; i++)
        values[i] = i % 128;
    for (tamis_kind k = tamis_kind_next(TAMIS_NO_KIND); k; k = tamis_kind_next(k))
        if (!works(k) || !builds_foreign_plans(k))
            return (int)k;
    return 0;
}
