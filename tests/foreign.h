/* foreign.h - plans as an image from elsewhere may bring them: valid, of few keys, and so large
 * that what a build needs for them has more than 32 bits. Building to them takes what memory there
 * is, or is refused. No kind is named; free of cmocka, for machines without an operating system. */
#ifndef TAMIS_TESTS_FOREIGN_H
#define TAMIS_TESTS_FOREIGN_H

#include "core/plan.h"
#include "filter.h"

enum { FOREIGN_KEYS = 1000 };

typedef struct foreign {
    uint64_t keys[FOREIGN_KEYS], beside[FOREIGN_KEYS]; /* values, or others */
    const tamis_allocator *a;
    uint64_t most;     /* bytes of a payload that are worth trying */
    unsigned n;        /* plans that were tried */
    const char *fault; /* what went wrong with the last, or NULL */
} foreign;

static inline tamis_status foreign_build(tamis **f, const tamis_plan *p, const foreign *x)
{
    unsigned can = tamis_kind_can(p->kind);

    if (can & TAMIS_CAN_GET)
        return tamis_build_map(f, p, x->keys, x->beside, FOREIGN_KEYS, x->a);
    if (can & TAMIS_CAN_EXCLUDE)
        return tamis_build_excluding(f, p, x->keys, FOREIGN_KEYS, x->beside, FOREIGN_KEYS, x->a);
    return tamis_build(f, p, x->keys, FOREIGN_KEYS, x->a);
}

static inline void foreign_try(const tamis_plan *p, foreign *x)
{
    tamis *f;
    tamis_status status = foreign_build(&f, p, x);

    x->n++;
    if (status == TAMIS_OK) {
        for (int i = 0; i < FOREIGN_KEYS; i++)
            if (!tamis_has(f, x->keys[i]))
                x->fault = "a key is not found";
        tamis_free(f);
    } else if (status != TAMIS_NOMEM && status != TAMIS_FULL && status != TAMIS_RANGE) {
        x->fault = "the build fails as none may";
    }
}

/* The first valid plan of so many slots or a few more; false: there is none, or it is too large. */
static inline bool foreign_plan(tamis_plan *p, uint64_t slots, uint64_t most)
{
    for (p->slots = slots; p->slots < slots + 6000; p->slots++) {
        p->bytes = tamis__ops(p->kind)->bytes(p);
        if (tamis__plan_is_valid(p))
            return p->bytes <= most;
    }
    return false;
}

/* Slots of which a multiple is 2^32 or a little more: of so many bytes, a build needs that. */
static inline void foreign_check(tamis_kind kind, foreign *x)
{
    unsigned can = tamis_kind_can(kind);
    tamis_spec spec =
        TAMIS_SPEC(.keys = FOREIGN_KEYS, .fpr = 0.01, .hasher = { .hash = TAMIS_RAW });
    tamis_plan plan;

    spec.value_bits = can & TAMIS_CAN_GET ? 7 : 0;
    spec.universe = can & TAMIS_CAN_EXCLUDE ? 2 * FOREIGN_KEYS : 0;
    for (uint64_t i = 0; i < FOREIGN_KEYS; i++) {
        x->keys[i] = i;
        x->beside[i] = can & TAMIS_CAN_GET ? i % 128 : FOREIGN_KEYS + i;
    }
    x->n = 0;
    x->fault = tamis_plan_kind(&plan, kind, &spec) ? "there is no plan" : NULL;
    for (unsigned wide = 0; wide < 2 && !x->fault; wide++)
        for (uint64_t by = 1; by <= 4096 && !x->fault; by += by < 16 ? 1 : by) {
            tamis_plan p = plan;
            p.width = wide ? plan.width : 1;
            if (foreign_plan(&p, ((UINT64_C(1) << 32) + by - 1) / by, x->most))
                foreign_try(&p, x);
            p.width = wide ? plan.width : 1;
            /* Of so many bits; an eighth of a multiple of eight was there before. */
            if (by % 8 && foreign_plan(&p, ((UINT64_C(1) << 35) + by - 1) / by, x->most))
                foreign_try(&p, x);
        }
}

#endif
