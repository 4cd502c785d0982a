/* cmd_count.c - tamis count: how often each line was added to a filter. */
#include <stdio.h>

#include "commands.h"
#include "message.h"
#include "output.h"
#include "store.h"

typedef struct counting {
    const tamis *filter;
    bool found;
} counting;

static void take_batch(void *ctx, job *j)
{
    const counting *c = ctx;
    const batch *b = &j->batch;
    uint64_t counts[BATCH_LINES];

    tamis_count_many(c->filter, counts, b->keys, b->n);
    for (size_t i = 0; i < b->n; i++) {
        bool is_keyless = b->keyless[i / 64] >> i % 64 & 1;
        uint64_t count = is_keyless ? 0 : counts[i];
        char text[24];
        int size = snprintf(text, sizeof text, "%" PRIu64 "\t", count);

        j->selected += count > 0;
        buffer_append(&j->out, text, (size_t)size);
        buffer_append(&j->out, b->start[i], (size_t)(b->start[i + 1] - b->start[i]));
    }
}

static void finish_chunk(void *ctx, job *j)
{
    counting *c = ctx;

    c->found |= j->selected > 0;
    output_write(j->out.bytes, j->out.size);
}

static int run(args *a)
{
    counting c = { 0 };
    pipeline p = { .take_batch = take_batch, .finish_chunk = finish_chunk, .ctx = &c };
    source s;
    char **operands;
    tamis *f;

    source_init(&s);
    while (args_next(a) != -1)
        source_option(&s, a);
    operands = args_operands(a, 1, SIZE_MAX, "the FILE of a filter");
    source_inputs(&s, a, operands + 1);

    c.filter = f = store_load(operands[0]);
    s.format.hasher = tamis_plan_of(f)->hasher;
    pipeline_run(&p, &s);
    tamis_free(f);
    return c.found ? CODE_OK : CODE_NOTHING;
}

const command cmd_count = {
    .name = "count",
    .operands = "[OPTION]... FILE [INPUT]...",
    .summary = "print how often each line was added to a filter",
    .about =
        "Reads lines from the INPUTs, or from standard input. Before each line it prints how\n"
        "often its key was added to the filter in FILE, and a TAB. The number is never too small.\n"
        "Kinds that do not count answer 1 or 0.",
    .options = { key_options },
    .when_ok = "a line had a count above 0",
    .when_nothing = "all counts were 0",
    .example = "  printf '%s\\n' red green red | tamis build -k cqf -o colours.tamis\n"
               "  printf '%s\\n' red grey | tamis count colours.tamis",
    .run = run,
};
