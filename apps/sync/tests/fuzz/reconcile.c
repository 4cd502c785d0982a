/* reconcile.c - fuzzer: what the other side of `tamis reconcile` may say.
 *
 * input: settings (one byte: whether this side asks), then messages as in talk.h. */
#include "talk.h"

#include "../../reconcile_talk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 300 };

static void do_nothing(reconcile *r)
{
    (void)r;
}

static void talk(line *l, unsigned settings)
{
    reconcile r = {
        .line = l, .here = { .end = '\n' }, .memory = COST_MEMORY, .settle = do_nothing
    };
    char text[24];

    for (int i = 0; i < LINES; i++)
        buffer_append(&r.here.text, text, (size_t)snprintf(text, sizeof text, "line %d\n", i));
    (settings & 1 ? reconcile_ask : reconcile_serve)(&r);
    MUST(r.n_here <= LINES);
    reconcile_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const talk_side talking = { "reconcile", "ANMSWGPVL.", talk };

    return talk_input(&talking, data, size);
}
