/* cmd_adapt.c - tamis adapt: false positives that a filter takes back. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "filters/store.h"
#include "tamis_adapt.h"
#include "term/message.h"
#include "text/abilities.h"
#include "text/json.h"

/* A line, and where it stands. */
typedef struct place {
    const char *input;
    uint64_t line;
} place;

typedef struct adapting {
    source source;
    bool forget, as_json, quiet;
    tamis *filter;
    const char *path;
    uint64_t taken_back, not_found, no_room;
    buffer held; /* places of lines whose keys are in the filter */

    uint64_t input; /* whose chunks are being finished */
    uint64_t lines; /* of it, before the current chunk */
} adapting;

/* ---- Reporting to the filter ------------------------------------------- */

/* A key, and the number of its line in the chunk. */
typedef struct record {
    uint64_t key, line;
} record;

static void keep_records(void *ctx, job *j)
{
    const batch *b = &j->batch;

    (void)ctx;
    for (size_t i = 0; i < b->n; i++) {
        record r = { b->keys[i], j->lines - b->n + i + 1 };

        if (!(b->keyless[i / 64] >> i % 64 & 1))
            buffer_append(&j->out, &r, sizeof r);
    }
}

static void take_back(adapting *a, uint64_t key, place where)
{
    tamis_status status = TAMIS_OK;
    uint64_t *n = &a->not_found;

    if (tamis_has(a->filter, key)) {
        status = tamis_adapt(a->filter, key);
        n = status == TAMIS_FULL ? &a->no_room : &a->taken_back;
    }
    if (status == TAMIS_PRESENT)
        buffer_append(&a->held, &where, sizeof where);
    else if (status && status != TAMIS_FULL)
        die_status("adapt", a->path, status);
    else
        ++*n;
}

static void adapt_chunk(void *ctx, job *j)
{
    adapting *a = ctx;
    const record *all = (const void *)j->out.bytes;

    if (j->input_number != a->input)
        a->lines = 0;
    a->input = j->input_number;
    for (size_t i = 0; i < j->out.size / sizeof *all; i++)
        take_back(a, all[i].key, (place){ j->input, a->lines + all[i].line });
    a->lines += j->lines;
}

/* ---- Telling ----------------------------------------------------------- */

static const place *held_places(const adapting *a, size_t *n)
{
    *n = a->held.size / sizeof(place);
    return (const void *)a->held.bytes;
}

static void print_text(const adapting *a, uint64_t lines)
{
    size_t held;

    held_places(a, &held);
    printf("%" PRIu64 " lines: %" PRIu64 " taken back, %" PRIu64
           " not found anyway, %zu in the filter, %" PRIu64 " without room\n",
           lines, a->taken_back, a->not_found, held, a->no_room);
}

static void print_json(const adapting *a, uint64_t lines)
{
    json j = { 0 };
    size_t held;
    const place *places = held_places(a, &held);

    json_open(&j, NULL, '{');
    json_text(&j, "file", a->path);
    json_count(&j, "lines", lines);
    json_count(&j, "taken_back", a->taken_back);
    json_count(&j, "not_found", a->not_found);
    json_count(&j, "no_room", a->no_room);
    json_open(&j, "held", '[');
    for (size_t i = 0; i < held; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "input", places[i].input);
        json_count(&j, "line", places[i].line);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

/* The first of them, and how many more there are. */
static void say_held(const adapting *a)
{
    enum { MOST = 10 };
    size_t held, shown;
    const place *places = held_places(a, &held);
    buffer list = { 0 };
    char number[32];

    shown = held < MOST ? held : MOST;
    for (size_t i = 0; i < shown; i++) {
        snprintf(number, sizeof number, " line %" PRIu64, places[i].line);
        if (i > 0)
            buffer_append(&list, ", ", 2);
        buffer_append(&list, places[i].input, strlen(places[i].input));
        buffer_append(&list, number, strlen(number));
    }
    snprintf(number, sizeof number, " and %zu more", held - shown);
    if (held > shown)
        buffer_append(&list, number, strlen(number));
    buffer_append(&list, "", 1);
    say("%s holds these keys, which are no false positives: %s", a->path, list.bytes);
    buffer_free(&list);
}

static int print_outcome(const adapting *a)
{
    if (a->no_room > 0)
        die(CODE_LIMIT,
            "%s: no room to take back %" PRIu64 " of %" PRIu64
            " false positives; 'tamis adapt --forget' makes room, and so does a filter that was "
            "built with a larger -n, with --universe, or with --grow if its kind can grow",
            a->path, a->no_room, a->no_room + a->taken_back);
    if (a->held.size == 0)
        return CODE_OK;
    say_held(a);
    return CODE_NOTHING;
}

/* ---- Command ----------------------------------------------------------- */

static int adapt(adapting *a)
{
    const pipeline p = { .take_batch = keep_records, .finish_chunk = adapt_chunk, .ctx = a };

    a->source.format.hasher = tamis_plan_of(a->filter)->hasher;
    uint64_t lines = pipeline_run(&p, &a->source);
    if (a->taken_back > 0)
        store_save(a->filter, a->path);
    if (a->as_json)
        print_json(a, lines);
    else if (!a->quiet)
        print_text(a, lines);
    return print_outcome(a);
}

static int forget(const adapting *a)
{
    tamis_info info = { .size = sizeof info };
    json j = { 0 };

    tamis_get_info(a->filter, &info);
    tamis_status status = tamis_forget_adaptations(a->filter);
    if (status)
        die_status("adapt", a->path, status);
    store_save(a->filter, a->path);
    if (a->as_json) {
        json_open(&j, NULL, '{');
        json_text(&j, "file", a->path);
        json_count(&j, "forgotten", info.adaptations);
        json_close(&j, '}');
    } else if (!a->quiet) {
        printf("%" PRIu64 " adaptations forgotten\n", info.adaptations);
    }
    return CODE_OK;
}

static int run(args *a)
{
    adapting it = { .source = source_default() };

    args_read(a, &it);
    it.quiet = args_given(a, "quiet");
    char **operands = args_operands(a, 1, SIZE_MAX, "the FILE to adapt");
    if (it.forget && operands[1])
        args_refuse(a, "--forget takes one FILE and reads no INPUT");
    source_inputs(&it.source, operands + 1);
    it.path = operands[0];

    it.filter = store_load_locked(it.path);
    abilities_require(tamis_plan_of(it.filter)->kind, TAMIS_CAN_ADAPT, it.path);
    abilities_require_own_keys(tamis_plan_of(it.filter), it.path);
    int code = it.forget ? forget(&it) : adapt(&it);
    tamis_free(it.filter);
    buffer_free(&it.held);
    return code;
}

static const option_row options[] = {
    { 0, "forget", NULL, "forget all adaptations; no INPUT is read", TO_FLAG(adapting, forget) },
    { 0, "json", NULL, "print JSON", TO_FLAG(adapting, as_json) },
    { .included = quiet_options },
    OPTIONS(key_options, adapting, source),
    { 0 },
};

const command cmd_adapt = { "adapt", help_adapt, options, .run = run };
