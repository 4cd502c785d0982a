/* kinds.c - the only file that names the kinds: number -> name, summary, table. */
#include <string.h>

#include "filter.h"

#define TAMIS_X(constant, number, symbol, name, summary) extern const tamis_ops tamis__##symbol;
TAMIS_KINDS(TAMIS_X)
#undef TAMIS_X

typedef struct {
    tamis_kind kind;
    const char *name, *summary;
    const tamis_ops *ops;
} kind_row;

/* Ascending numbers, as in the header: tamis_kind_next() relies on it. */
static const kind_row KINDS[] = {
#define TAMIS_X(constant, number, symbol, name, summary) \
    { TAMIS_##constant, name, summary, &tamis__##symbol },
    TAMIS_KINDS(TAMIS_X)
#undef TAMIS_X
};

enum { KINDS_COUNT = sizeof KINDS / sizeof KINDS[0] };

static const kind_row *row_of(tamis_kind kind)
{
    for (int i = 0; i < KINDS_COUNT; i++)
        if (KINDS[i].kind == kind)
            return &KINDS[i];
    return NULL;
}

const tamis_ops *tamis__ops(tamis_kind kind)
{
    const kind_row *row = row_of(kind);
    return row ? row->ops : NULL;
}

tamis_kind tamis__reduced_kind(tamis_kind kind)
{
    return kind == TAMIS_COUNTING || kind == TAMIS_COMPRESSED ? TAMIS_BLOOM : TAMIS_NO_KIND;
}

tamis_kind tamis__packed_kind(tamis_kind kind)
{
    return kind == TAMIS_BLOOM ? TAMIS_COMPRESSED : TAMIS_NO_KIND;
}

tamis_kind tamis_kind_next(tamis_kind kind)
{
    for (int i = 0; i < KINDS_COUNT; i++)
        if (KINDS[i].kind > kind)
            return KINDS[i].kind;
    return TAMIS_NO_KIND;
}

const char *tamis_kind_name(tamis_kind kind)
{
    const kind_row *row = row_of(kind);
    return row ? row->name : NULL;
}

const char *tamis_kind_summary(tamis_kind kind)
{
    const kind_row *row = row_of(kind);
    return row ? row->summary : NULL;
}

bool tamis_kind_find(tamis_kind *kind, const char *name)
{
    for (int i = 0; i < KINDS_COUNT; i++)
        if (strcmp(KINDS[i].name, name) == 0) {
            *kind = KINDS[i].kind;
            return true;
        }
    return false;
}

static bool deletes_exactly(const tamis_ops *ops)
{
    return ops->exact_delete || (ops->remove && !ops->rate);
}

unsigned tamis_kind_can(tamis_kind kind)
{
    const tamis_ops *ops = tamis__ops(kind);

    if (!ops)
        return 0;
    return (ops->add ? TAMIS_CAN_ADD : 0u) |
           (ops->add || ops->build || ops->solver ? TAMIS_CAN_BUILD : 0u) |
           (ops->remove ? TAMIS_CAN_REMOVE : 0u) | (ops->count ? TAMIS_CAN_COUNT : 0u) |
           (ops->merge || ops->ordered ? TAMIS_CAN_MERGE : 0u) |
           (ops->intersect ? TAMIS_CAN_INTERSECT : 0u) |
           (ops->list || ops->ordered ? TAMIS_CAN_LIST : 0u) | (ops->fold ? TAMIS_CAN_FOLD : 0u) |
           (ops->add_concurrent ? TAMIS_CAN_ADD_CONCURRENT : 0u) | (ops->mapper ? TAMIS_CAN_GET : 0u) |
           (ops->splitter ? TAMIS_CAN_EXCLUDE : 0u) | (ops->only_sets_bits ? TAMIS_CAN_READ_WHILE_ADD : 0u) |
           (ops->ordered ? TAMIS_CAN_RESIZE | TAMIS_CAN_GROW : 0u) |
           (ops->grower && !ops->grower->for_counts ? TAMIS_CAN_GROW : 0u) |
           (ops->rotate ? TAMIS_CAN_ROTATE : 0u) |
           (deletes_exactly(ops) ? TAMIS_CAN_EXACT_DELETE : 0u) |
           (ops->reduce ? TAMIS_CAN_CONVERT : 0u) | (ops->dot || ops->ordered ? TAMIS_CAN_DOT : 0u) |
           (ops->rate ? 0u : TAMIS_IS_EXACT) | (ops->indexed ? TAMIS_IS_INDEXED : 0u);
}
