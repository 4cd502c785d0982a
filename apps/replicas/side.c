/* side.c - one of two sets that should be equal. */
#include "side.h"

#include <stdlib.h>
#include <string.h>

bool side_make(side *s, size_t n)
{
    *s = (side){ .keys = calloc(n + 1, sizeof *s->keys),
                 .others = calloc(n + 1, sizeof *s->others),
                 .states = calloc(n + 1, 1),
                 .n = n };
    return s->keys && s->others && s->states;
}

void side_free(side *s)
{
    free(s->keys);
    free(s->others);
    free(s->states);
    *s = (side){ 0 };
}

side_tally side_count(const side *s, side_state state)
{
    side_tally t = { 0 };

    for (size_t i = 0; i < s->n; i++)
        if (s->states[i] == state) {
            t.n++;
            t.sum += s->others[i];
        }
    return t;
}

/* ---- Groups ------------------------------------------------------------ */

static size_t group_of(uint64_t key, unsigned bits)
{
    return bits == 0 ? 0 : (size_t)(key >> (64 - bits));
}

void side_sum_groups(const side *s, unsigned bits, uint64_t *sums)
{
    memset(sums, 0, sizeof *sums << bits);
    for (size_t i = 0; i < s->n; i++)
        sums[group_of(s->keys[i], bits)] += s->others[i];
}

void side_settle(side *s, unsigned bits, const uint8_t *differs)
{
    for (size_t i = 0; i < s->n; i++) {
        size_t group = group_of(s->keys[i], bits);

        if (!(differs[group / 8] >> group % 8 & 1))
            s->states[i] = SIDE_SETTLED;
    }
}

/* ---- Filters ----------------------------------------------------------- */

/* Filters of this kind are made of nothing but keys, any keys, forget none, and are best at
 * something. */
static bool is_fit(tamis_kind kind)
{
    unsigned can = tamis_kind_can(kind);

    return can & TAMIS_CAN_BUILD && !(can & (TAMIS_CAN_GET | TAMIS_CAN_EXCLUDE | TAMIS_CAN_ROTATE |
                                             TAMIS_IS_INDEXED | TAMIS_IS_TO_STUDY));
}

/* With a seed of its own for each round: what passes one filter by mistake passes the next as
 * rarely. */
static bool plan_smallest(tamis_plan *best, uint64_t keys, unsigned round, double fpr)
{
    tamis_spec spec = TAMIS_SPEC(.keys = keys, .fpr = fpr, .hasher = { TAMIS_RAW, round, { 0 } });
    bool has_one = false;
    tamis_plan plan;

    for (tamis_kind kind = TAMIS_NO_KIND; (kind = tamis_kind_next(kind));)
        if (is_fit(kind) && !tamis_plan_kind(&plan, kind, &spec) &&
            (!has_one || plan.bytes < best->bytes)) {
            *best = plan;
            has_one = true;
        }
    return has_one;
}

tamis_status side_filter(const side *s, unsigned round, double fpr, tamis **out)
{
    size_t n = (size_t)side_count(s, SIDE_OPEN).n, at = 0;
    uint64_t *keys = malloc((n + 1) * sizeof *keys);
    tamis_plan plan;

    *out = NULL;
    if (!keys)
        return TAMIS_NOMEM;
    for (size_t i = 0; i < s->n; i++)
        if (s->states[i] == SIDE_OPEN)
            keys[at++] = s->keys[i];
    tamis_status status = n == 0 ? TAMIS_OK
                          : plan_smallest(&plan, n, round, fpr)
                              ? tamis_build(out, &plan, keys, n, NULL)
                              : TAMIS_RANGE;
    free(keys);
    return status;
}

void side_sift(side *s, const tamis *there)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->states[i] == SIDE_OPEN && (!there || !tamis_has(there, s->keys[i]))) {
            s->states[i] = SIDE_MISSING;
            s->n_missing++;
        }
}
