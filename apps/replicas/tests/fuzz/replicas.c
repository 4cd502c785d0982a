/* replicas.c - fuzzer: what the other side of `tamis replicas` may say.
 *
 * input: settings (one byte: whether this side asks), then messages as in talk.h. */
#include "talk.h"

#include "../../replicas_talk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 300, ROUNDS = 16 };

static void talk(line *l, unsigned settings)
{
    inventory here = { .path = "list", .set.end = '\n' };
    replicas r = { .line = l, .here = &here, .memory = COST_MEMORY, .rounds_most = ROUNDS };
    char text[24];

    for (int i = 0; i < LINES; i++)
        buffer_append(&here.set.text, text, (size_t)snprintf(text, sizeof text, "name %d\n", i));
    (settings & 1 ? replicas_ask : replicas_serve)(&r);
    MUST(r.side.n_missing <= LINES);
    replicas_free(&r);
    inventory_close(&here);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const talk_side talking = { "replicas", "ANGSDRFTEL.", talk };

    return talk_input(&talking, data, size);
}
