/* pipeline.c - workers that take turns.
 *
 *     worker 1   read | split, hash, probe    | finish |  read | ...
 *     worker 2          read | split, hash, probe ...  | finish | ...
 *
 * A worker carries a chunk all the way. It locks the input and reads the chunk, works on it while
 * others work on theirs, waits until all earlier chunks are finished, and finishes its own. There
 * is no queue: memory is one job per worker, and the turns alone keep the order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "header.h"
#include "pipeline.h"
#include "term/array.h"
#include "term/message.h"
#include "term/progress.h"
#include "text/reader.h"
#include "thread_pool.h"

typedef struct run {
    const pipeline *pipeline;
    source *source;

    pthread_mutex_t input_lock; /* guards what follows */
    reader reader;
    uint64_t chunks;
    buffer header;   /* of all inputs, if they have one */
    uint64_t headed; /* the input whose header was taken last */
    thread_pool pool;

    pthread_mutex_t turn_lock; /* guards the turn; the worker whose turn it is owns the rest */
    pthread_cond_t turn_ended;
    uint64_t turn;
    uint64_t input_number; /* whose lines are being finished */
    uint64_t input_lines;  /* of this input, before the current chunk */
    uint64_t lines, keyless;
    bool has_warned_of_cr;
} run;

/* ---- Jobs -------------------------------------------------------------- */

void pipeline_keep_keys(void *ctx, job *j)
{
    (void)ctx;
    batch_drop_keyless(&j->batch);
    buffer_append(&j->out, j->batch.keys, j->batch.n * sizeof *j->batch.keys);
}

const uint64_t *pipeline_kept_keys(const job *j, size_t *n)
{
    *n = j->out.size / sizeof(uint64_t);
    return (const void *)j->out.bytes;
}

/* ---- Reading and working ----------------------------------------------- */

/* Starts threads one by one as chunks are read, so that small inputs need none. If the system has
 * no more threads, fewer do the same work. */
static void hire(run *r)
{
    unsigned crowd = r->pool.started + 1;

    if (crowd < r->source->threads && r->reader.done >= (uint64_t)CHUNK_SIZE * crowd)
        thread_pool_grow(&r->pool);
}

static void take_header(run *r, job *j)
{
    j->has_header = header_is_expected(r->source) && r->reader.inputs != r->headed;
    j->shows_header = j->has_header && r->header.size == 0;
    if (j->has_header)
        header_take(&r->header, r->source, &j->text, r->reader.name);
    r->headed = r->reader.inputs;
}

static bool read_chunk(run *r, job *j)
{
    reader_state state;

    pthread_mutex_lock(&r->input_lock);
    state = reader_next(&r->reader, &j->text);
    j->error = state == READER_FAILED ? errno : 0;
    j->why = r->reader.why;
    j->input = r->reader.name;
    j->input_number = r->reader.inputs;
    j->start = r->reader.start;
    j->is_last = r->reader.is_last;
    j->turn = r->chunks++;
    j->has_header = j->shows_header = false;
    if (state == READER_CHUNK) {
        take_header(r, j);
        hire(r);
    }
    progress_show(r->reader.done >> 20, r->reader.total >> 20, "MiB");
    pthread_mutex_unlock(&r->input_lock);
    return state != READER_END;
}

static void work_on(run *r, job *j)
{
    const char *at = j->text.bytes, *end;

    j->lines = j->has_header;
    j->keyless = j->selected = j->out.size = 0;
    j->fault = KEY_GOOD;
    if (j->error || j->why)
        return;
    if (r->pipeline->take_chunk) {
        r->pipeline->take_chunk(r->pipeline->ctx, j);
        return;
    }
    end = at + j->text.size;
    while (at < end && !j->fault) {
        at = batch_take(&j->batch, &r->source->format, at, end);
        j->lines += j->batch.n;
        j->keyless += j->batch.n_keyless;
        j->fault = j->batch.fault;
        r->pipeline->take_batch(r->pipeline->ctx, j);
    }
}

/* ---- Turns ------------------------------------------------------------- */

static void await_turn(run *r, uint64_t turn)
{
    pthread_mutex_lock(&r->turn_lock);
    while (r->turn != turn)
        pthread_cond_wait(&r->turn_ended, &r->turn_lock);
    pthread_mutex_unlock(&r->turn_lock);
}

static void end_turn(run *r)
{
    pthread_mutex_lock(&r->turn_lock);
    r->turn++;
    pthread_cond_broadcast(&r->turn_ended);
    pthread_mutex_unlock(&r->turn_lock);
}

static _Noreturn void refuse_key(const run *r, const job *j)
{
    uint64_t line = r->input_lines + 1;

    if (j->fault == KEY_NO_VALUE)
        die(CODE_USAGE,
            "%s, line %" PRIu64 ": field %" PRIu64
            " is not an integer from 0 to 18446744073709551615",
            j->input, line, r->source->format.value_field);
    if (j->fault == KEY_NO_INTEGER)
        die(CODE_USAGE,
            "%s, line %" PRIu64 ": not an integer from 0 to 18446744073709551615; this filter "
            "takes raw keys, one per line",
            j->input, line);
    die(CODE_LIMIT,
        "%s, line %" PRIu64 ": not below %" PRIu64 ", the capacity; build with a larger -n",
        j->input, line, r->source->format.below);
}

/* Lists made elsewhere may end their lines with CR and LF: then no key would be found. One line of
 * each input tells, and one warning is enough. */
static void warn_of_cr(run *r, const job *j)
{
    const key_format *format = &r->source->format;
    buffer joined = { 0 };
    span text = { 0 };

    if (r->has_warned_of_cr || r->pipeline->take_chunk || format->end != '\n' ||
        j->text.size == 0 || j->fault)
        return;
    if (key_text(&text, format, j->text.bytes, j->text.bytes + j->text.size, &joined) &&
        text.size > 0 && text.at[text.size - 1] == '\r') {
        say("%s: the key of the first line ends in a carriage return, which counts; --crlf leaves "
            "it out",
            j->input);
        r->has_warned_of_cr = true;
    }
    buffer_free(&joined);
}

static void account(run *r, const job *j)
{
    if (j->input_number != r->input_number) {
        r->input_lines = 0;
        warn_of_cr(r, j);
    }
    r->input_number = j->input_number;
    r->input_lines += j->lines;
    r->lines += j->lines - (j->has_header && !r->pipeline->take_chunk);
    r->keyless += j->keyless;
}

static void finish(run *r, job *j)
{
    if (j->why && r->pipeline->refuse_text)
        r->pipeline->refuse_text(r->pipeline->ctx, j);
    if (j->why)
        die(CODE_IO, "%s: %s", j->input, j->why);
    if (j->error) {
        errno = j->error;
        die_errno("read", j->input);
    }
    if (j->shows_header && r->pipeline->take_header)
        r->pipeline->take_header(r->pipeline->ctx, r->header.bytes, r->header.size);
    if (r->pipeline->finish_chunk)
        r->pipeline->finish_chunk(r->pipeline->ctx, j);
    account(r, j);
    if (j->fault)
        refuse_key(r, j);
}

/* ---- Workers ----------------------------------------------------------- */

static void work(void *ctx)
{
    run *r = ctx;
    job *j = array_new(1, sizeof *j, "a thread; use fewer (-j)");

    while (read_chunk(r, j)) {
        work_on(r, j);
        await_turn(r, j->turn);
        finish(r, j);
        end_turn(r);
    }
    buffer_free(&j->text);
    buffer_free(&j->out);
    buffer_free(&j->batch.joined);
    free(j);
}

uint64_t source_own_memory(const source *s)
{
    enum { OWN_BYTES = 6 << 20, THREAD_BYTES = 2 << 20 };

    return OWN_BYTES + (uint64_t)s->threads * THREAD_BYTES;
}

uint64_t source_memory(const source *s, uint64_t memory, uint64_t least)
{
    uint64_t own = source_own_memory(s);

    if (memory && memory < own + least)
        die(CODE_MEMORY, "--memory is too little for %u threads; give %" PRIu64 "M or more",
            s->threads, (own + least) >> 20);
    return memory ? memory - own : 0;
}

static uint64_t last_field(const key_format *f)
{
    uint64_t last = f->value_field;

    for (size_t i = 0; i < f->n_fields; i++)
        last = f->fields[i] > last ? f->fields[i] : last;
    return last;
}

static void warn_of_keyless(const run *r)
{
    if (r->keyless > 0)
        say("%" PRIu64 " of %" PRIu64 " lines have no field %" PRIu64
            " and were passed over; is --delim or --fields-by right?",
            r->keyless, r->lines, last_field(&r->source->format));
}

uint64_t pipeline_run(const pipeline *p, source *s)
{
    run r = { .pipeline = p,
              .source = s,
              .input_lock = PTHREAD_MUTEX_INITIALIZER,
              .turn_lock = PTHREAD_MUTEX_INITIALIZER,
              .turn_ended = PTHREAD_COND_INITIALIZER };

    thread_pool_init(&r.pool, work, &r);
    reader_open(&r.reader, s->names, s->format.end);
    r.reader.takes_packed = s->takes_packed;
    r.reader.line_max = s->line_max;
    r.reader.overlap = s->overlap;
    r.reader.is_csv = s->format.columns == COLUMNS_BY_CSV;
    r.reader.csv = (csv_format){ s->format.delim, s->format.end };
    work(&r);
    thread_pool_wait(&r.pool);
    progress_erase();
    reader_close(&r.reader);
    buffer_free(&r.header);
    warn_of_keyless(&r);
    return r.lines;
}
