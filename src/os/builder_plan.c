/* builder_plan.c - how large a filter must be for what came. Prefix: builder_. */
#include <string.h>

#include "core/grow.h"
#include "core/plan.h"
#include "os/builder.h"

make tamis__builder_make(tamis_builder *b)
{
    make m = { .f = &b->stub,
               .host = &b->host,
               .keys = tamis__spill_list(&b->keys),
               .distinct = b->counts[0],
               .both = b->counts[1],
               .rest = b->counts[2] };

    if (builder_has(b, TAMIS_TRAIT_TAKES_EXCLUDED))
        m.excluded = tamis__spill_list(&b->excluded);
    memset(b->counts, 0, sizeof b->counts);
    m.total = m.keys.n + m.excluded.n;
    return m;
}

/* The plan for so many keys and for all excluded keys that came. */
tamis_status tamis__builder_plan_for(const tamis_builder *b, tamis_plan *plan, tamis_spec *spec)
{
    spec->keys = spec->keys ? spec->keys : 1;
    if (b->excluded.n && spec->universe < spec->keys + b->excluded.n)
        spec->universe = spec->keys + b->excluded.n;
    return tamis_plan_kind(plan, b->stub.plan.kind, spec);
}

/* ---- Kinds that are solved --------------------------------------------------- */

/* Whether there may be more keys than planned for, or so many repeated ones that a part is too
 * large to be read as it is. */
static bool builder_must_count(const tamis_builder *b, const make *m)
{
    const tamis_plan planned = { .kind = b->stub.plan.kind, .capacity = b->spec.keys };
    unsigned bits = tamis__make_part_bits(&planned);
    unsigned above = bits > SPILL_BUCKET_BITS ? bits - SPILL_BUCKET_BITS : 0;
    uint64_t most = tamis__make_largest(&m->keys, NULL, NULL, (size_t)1 << (bits - above));

    return builder_has(b, TAMIS_TRAIT_TAKES_EXCLUDED) || m->keys.n > planned.capacity ||
           most > tamis__make_part_room(&planned) << above;
}

/* Counts keys, if need be, and plans for them. Kinds that exclude go through all items four times:
 * counting, and the three passes of core/make_excluding.c. */
tamis_status tamis__builder_plan_solved(tamis_builder *b, make *m, tamis_plan *plan)
{
    const bool excludes = builder_has(b, TAMIS_TRAIT_TAKES_EXCLUDED);
    tamis_spec spec = b->spec;
    uint64_t keys = 0, excluded = 0;
    tamis_status status = TAMIS_OK;

    if (builder_must_count(b, m)) {
        m->total *= excludes ? 4 : 2;
        status = tamis__make_count(m, excludes, &keys, &excluded);
    }
    if (status)
        return status;
    m->is_clean = excludes;
    spec.keys = spec.keys > keys ? spec.keys : keys;
    spec.keys = spec.keys ? spec.keys : 1;
    if (builder_has(b, TAMIS_TRAIT_TAKES_VALUES) && spec.value_bits == 0)
        spec.value_bits = builder_bits(b->values | 1);
    if (excludes && spec.universe < spec.keys + excluded)
        spec.universe = spec.keys + excluded;
    return tamis_plan_kind(plan, b->stub.plan.kind, &spec);
}

/* ---- Kinds in order, and kinds that build sets ------------------------------- */

/* How many keys to plan for: those announced, or those that came. */
tamis_status tamis__builder_size_items(const tamis_builder *b, make *m, uint64_t *keys)
{
    uint64_t excluded;

    if (*keys)
        return TAMIS_OK;
    *keys = m->keys.n;
    if (builder_has(b, TAMIS_TRAIT_KEEPS_COPIES) || m->keys.n < 2)
        return TAMIS_OK;
    m->total *= 2;
    return tamis__make_count(m, false, keys, &excluded);
}

/* A plan with more room, for copies of keys that were not announced; or for more keys than were, if
 * the filter may grow. Counts take less room than copies would: it is found in steps. */
tamis_status tamis__builder_enlarge(const tamis_builder *b, tamis_plan *plan, tamis_spec *spec)
{
    uint64_t more = spec->keys + spec->keys / 4 + 1;

    if (tamis__plan_grows(plan))
        return tamis__plan_grow(plan, b->keys.n);
    if (b->spec.keys || spec->keys >= b->keys.n)
        return TAMIS_FULL;
    spec->keys = more < b->keys.n ? more : b->keys.n;
    return tamis__builder_plan_for(b, plan, spec);
}
