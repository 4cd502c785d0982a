/* intersect.c - fuzzer: what the other side of `tamis intersect` may say.
 *
 * input: settings and the number of elements there (one byte each), then messages as in talk.h. */
#include "talk.h"

#include "../../intersect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SETTINGS = 2, ELEMENTS = 300 };

static elements *own_set(const intersect *t)
{
    elements *set = intersect_new_set(t);

    for (uint64_t i = 0; i < ELEMENTS; i++)
        elements_add(set, &(element){ i * (UINT64_MAX / ELEMENTS), i, i });
    elements_sort(set);
    return set;
}

static void talk(line *l, unsigned settings)
{
    uint64_t n_there = settings >> 8;
    intersect t = { .line = l,
                    .is_first = settings & 1,
                    .is_raw = settings & 2,
                    .here = { ELEMENTS, ELEMENTS - 1 },
                    .there = { n_there, n_there },
                    .memory = 4 * COST_MEMORY, /* half of it for a filter, which takes one */
                    .memory_for_set = COST_MEMORY,
                    .threads = 1 };

    t.plan.form = settings & 4 ? INTERSECT_UNCODED : INTERSECT_CODED;
    t.plan.kind = settings & 8 ? TAMIS_BLOOM : TAMIS_NO_KIND;
    t.plan.fpr = 0.1;
    t.order.hash = t.check.hash = TAMIS_FAST;
    t.set = own_set(&t);
    elements *result = intersect_run(&t);
    MUST(elements_count(result) <= ELEMENTS);
    elements_free(result);
    elements_free(t.set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const talk_side talking = { "intersect", "FQVKRC.", talk };

    if (size >= SETTINGS && size <= TALK_LONGEST)
        talk_run(&talking, data[0] | (unsigned)data[1] << 8, data + SETTINGS, size - SETTINGS);
    return 0;
}
