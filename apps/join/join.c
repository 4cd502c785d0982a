/* join.c - two tables become one.
 *
 *     first file   ->  tape of its rows, filter of its keys
 *     second file  ->  rows that the filter drops: gone or, if A is second, out without a partner
 *                      other rows: B was first and is in memory: they meet it, on all threads, and
 *                                  go out;
 *                                  else: tape
 *     tapes        ->  B is in memory: A goes through it;  else: grace.c
 *
 * B is first unless A is much smaller, since rows of A that meet B at once need no memory. The
 * order of what goes out is always that of A, then that of B: neither memory nor threads change it.
 *
 * The filter is asked by a hash without a secret, so that what is told of it is the same each time.
 * Tables and splits use one with a secret: nobody can choose keys that fall on one slot. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filters/spec.h"
#include "join.h"
#include "term/message.h"
#include "term/progress.h"

/* A record in memory at once: a quote that is not closed makes one of the rest of the file. */
enum { RECORD_MAX = 256 << 20 };

/* ---- Chunks to rows ---------------------------------------------------- */

enum { ROWS = 512 };

typedef struct rows {
    size_t n;
    span text[ROWS], key[ROWS];
    uint32_t missing[ROWS]; /* fields */
    uint64_t keys[ROWS];    /* for the filter */
    size_t lines[ROWS];     /* and empty ones before it */
    size_t tail;            /* empty lines after the last row */
    uint64_t hits[ROWS / 64];
} rows;

/* What a chunk leaves for its turn, at the start of job.out. */
typedef struct chunk_note {
    uint64_t rows, lines; /* good ones */
    row_fault fault;      /* of the next one */
    size_t rest;          /* where rows begin that had no room here; else the size of the chunk */
    join_counts counts;
} chunk_note;

static uint64_t plain_key(span key)
{
    tamis_hasher plain = { .hash = TAMIS_FAST };

    return tamis_hasher_key(&plain, key.at, key.size);
}

static void add_row(rows *b, const sheet *s, const row *r, buffer *joined)
{
    span key = sheet_key_text(s, r, joined);

    b->text[b->n] = r->text;
    b->key[b->n] = key;
    b->missing[b->n] = (uint32_t)(s->columns - r->fields);
    b->keys[b->n++] = plain_key(key);
}

/* Takes rows until the batch is full; lines without a byte are none. */
static const char *take_rows(rows *b, const sheet *s, bool is_plain, const char *at,
                             const char *end, buffer *joined, row_fault *fault)
{
    row r;

    b->n = b->tail = joined->size = 0;
    while (b->n < ROWS && at < end) {
        const char *next = sheet_row(s, is_plain, at, end, &r, fault);

        if (*fault)
            break;
        b->tail += r.lines;
        if (r.text.size > 0) {
            b->lines[b->n] = b->tail;
            b->tail = 0;
            add_row(b, s, &r, joined);
        }
        at = next;
    }
    return at;
}

/* ---- One of the two files ---------------------------------------------- */

typedef struct pass {
    join *join;
    sheet *sheet;
} pass;

static bool is_a(const pass *p)
{
    return p->sheet == &p->join->a;
}

/* A bit for each row that may have a partner. */
static void ask_filter(const pass *p, rows *b, chunk_note *note)
{
    join *j = p->join;

    if (!atomic_load(&j->asks)) {
        memset(b->hits, 0xff, sizeof b->hits);
        return;
    }
    tamis_has_many(j->filter, b->hits, b->keys, b->n);
    note->counts.asked += b->n;
}

static uint64_t secret_hash(const join *j, span key)
{
    return tamis_hasher_key(&j->secret, key.at, key.size);
}

/* What is kept of a row: of A all of it, with its missing fields if something follows; of B what
 * will follow. */
static span text_to_keep(const pass *p, const rows *b, size_t i, buffer *line)
{
    const join *j = p->join;
    uint32_t missing = b->missing[i];

    line->size = 0;
    if (is_a(p) && (!emits_pairs(j) || missing == 0))
        return b->text[i];
    if (is_a(p)) {
        buffer_append(line, b->text[i].at, b->text[i].size);
        while (missing-- > 0)
            buffer_append(line, &p->sheet->csv.delim, 1);
    } else if (emits_pairs(j))
        sheet_append_others(p->sheet, &j->a.csv, line, b->text[i]);
    return (span){ line->bytes, line->size };
}

/* For the turn of the chunk. A row that the filter dropped waits only if it goes out alone, with a
 * place of 0; others have 1. */
static void keep_row(const pass *p, const rows *b, size_t i, bool is_hit, buffer *line, buffer *to)
{
    record r = { .place = is_hit };

    if (!is_hit && !(is_a(p) && emits_alone(p->join)))
        return;
    r.hash = is_hit ? secret_hash(p->join, b->key[i]) : 0;
    record_append(to, &r, b->key[i], text_to_keep(p, b, i, line));
}

/* A row of A meets those of B. False: there is no room for what goes out. */
static bool probe_row(const pass *p, const rows *b, size_t i, bool is_hit, outlet *o,
                      join_counts *counts)
{
    join *j = p->join;
    const record *last = NULL;
    size_t size = o->text->size;
    uint64_t out = counts->out;

    if (is_hit)
        last = matches_find(&j->matches, secret_hash(j, b->key[i]), b->key[i]);
    if (!last)
        emit_alone(j, o, b->text[i], b->missing[i], counts);
    else if (!emit_found(j, o, b->text[i], b->missing[i], last, counts)) {
        o->text->size = size;
        counts->out = out;
        return false;
    }
    counts->a_found += last != NULL;
    return true;
}

/* Handles the rows of a batch. Returns how many. */
static size_t take_batch(const pass *p, rows *b, outlet *o, buffer *line, chunk_note *note)
{
    size_t i;

    ask_filter(p, b, note);
    for (i = 0; i < b->n; i++) {
        bool is_hit = b->hits[i / 64] >> i % 64 & 1;

        if (!p->join->is_probing)
            keep_row(p, b, i, is_hit, line, o->text);
        else if (!probe_row(p, b, i, is_hit, o, &note->counts))
            break;
        note->counts.dropped += !is_hit;
        note->lines += b->lines[i];
        note->rows++;
    }
    return i;
}

/* From note->rest on, to the end or to where there is no room. */
static void take_text(const pass *p, const job *chunk, outlet *o, chunk_note *note)
{
    const char *at = chunk->text.bytes + note->rest, *end = chunk->text.bytes + chunk->text.size;
    bool is_plain = !p->sheet->has_quotes || !memchr(chunk->text.bytes, '"', chunk->text.size);
    buffer joined = { 0 }, line = { 0 };
    rows b;

    /* What is there must not move. */
    buffer_reserve(&joined, sheet_key_room(p->sheet, ROWS, (size_t)(end - at)));
    while (at < end && !note->fault) {
        at = take_rows(&b, p->sheet, is_plain, at, end, &joined, &note->fault);
        size_t n = take_batch(p, &b, o, &line, note);
        if (n < b.n) {
            note->fault = ROW_GOOD;
            at = b.text[n].at;
            break;
        }
        note->lines += b.tail;
    }
    note->rest = (size_t)(at - chunk->text.bytes);
    buffer_free(&joined);
    buffer_free(&line);
}

static void take_chunk(void *ctx, job *chunk)
{
    const pass *p = ctx;
    sheet_key key = { p->join->key, !is_a(p) };
    outlet o = { .when_full = OUTLET_STOPS, .text = &chunk->out };
    chunk_note note = { 0 };

    if (chunk->turn == 0)
        note.rest = (size_t)(sheet_open(p->sheet, &key, chunk->text.bytes,
                                        chunk->text.bytes + chunk->text.size, &note.lines) -
                             chunk->text.bytes);
    else
        sheet_await(p->sheet);
    buffer_append(&chunk->out, &note, sizeof note);
    take_text(p, chunk, &o, &note);
    memcpy(chunk->out.bytes, &note, sizeof note);
    chunk->lines = note.lines;
}

/* ---- The filter -------------------------------------------------------- */

/* A share of the memory, and wrong answers: one row in a hundred is looked up in vain. */
enum { FILTER_SHARE = 8 };
static const double FPR = 0.01, FPR_MAX = 0.3;

static bool plan_filter(const join *j, tamis_plan *plan, uint64_t keys)
{
    for (double fpr = FPR; fpr < FPR_MAX; fpr *= 2) {
        tamis_spec spec = TAMIS_SPEC(.keys = keys, .fpr = fpr);

        if (!tamis_plan_kind(plan, TAMIS_BLOCKED, &spec) && plan->bytes <= j->memory / FILTER_SHARE)
            return true;
    }
    return false;
}

static void fill_filter(join *j, const tape *t)
{
    tape_reader reader;
    const record *r;

    tape_read(&reader, t, grace_piece(j));
    while ((r = tape_next(&reader))) {
        tamis_status status = tamis_add(j->filter, plain_key(record_key(r)));
        if (status)
            die_status("fill", "the filter", status);
    }
    tape_read_end(&reader);
}

/* Of the file that was read; none if it would be too large for its share. */
static void make_filter(join *j, const tape *first)
{
    tamis_plan plan;
    tamis_status status;

    if (j->no_filter || !plan_filter(j, &plan, first->rows ? first->rows : 1))
        return;
    if ((status = tamis_new(&j->filter, &plan, NULL)))
        die_status("make", "the filter", status);
    fill_filter(j, first);
    j->filter_bytes = plan.bytes;
    atomic_store(&j->asks, true);
}

/* ---- Room for B -------------------------------------------------------- */

/* Rows of B in memory have a table beside them. */
static bool is_over(const tape *b, uint64_t more)
{
    return !tape_is_on_disk(b) && b->rows > 0 &&
           tape_bytes(b) + more + (b->rows + 1) * MATCHES_ROW > b->room;
}

/* UINT64_MAX: a pipe tells nothing. */
static uint64_t size_of(const char *path)
{
    struct stat s;
    bool is_standard = strcmp(path, "-") == 0;

    if (is_standard ? fstat(STDIN_FILENO, &s) : stat(path, &s))
        die_errno("read", path);
    return S_ISREG(s.st_mode) ? (uint64_t)s.st_size : UINT64_MAX;
}

/* Rows that came before the filter. */
static void filter_tape(join *j, tape *t)
{
    buffer *held = &t->held;
    size_t kept = 0, size;

    j->counts.asked += t->rows;
    for (size_t at = 0; at < held->size; at += size) {
        const record *r = (void *)(held->bytes + at);

        size = record_size(r);
        if (!tamis_has(j->filter, plain_key(record_key(r)))) {
            j->counts.dropped++;
            t->rows--;
            continue;
        }
        memmove(held->bytes + kept, r, size);
        kept += size;
    }
    held->size = kept;
}

static void read_sheet(join *j, sheet *s);

/* B was taken for the smaller file because it is a pipe, or compressed, and turns out to be larger
 * than A: A is read between two chunks of it. */
static void turn_to_a(join *j)
{
    uint64_t size = j->a_is_read || j->no_filter ? UINT64_MAX : size_of(j->a.path);

    if (size > j->memory / 8 || size > tape_bytes(&j->b_rows) / 2)
        return;
    j->a_is_first = true;
    j->b_rows.room /= 2;
    read_sheet(j, &j->a);
    make_filter(j, &j->a_rows);
    if (j->filter)
        filter_tape(j, &j->b_rows);
}

/* Where only keys count, repeats make room. */
static void drop_repeats(tape *b)
{
    matches once;

    matches_open(&once, &b->held, &b->rows, true);
    matches_close(&once);
}

static void keep_b(join *j, const record *r)
{
    tape *b = &j->b_rows;

    if (is_over(b, record_size(r))) {
        turn_to_a(j);
        if (!emits_pairs(j))
            drop_repeats(b);
        if (is_over(b, b->room / 4))
            tape_spill(b, grace_piece(j));
    }
    tape_put(b, r);
}

/* ---- In turn ----------------------------------------------------------- */

/* Where most rows pass, asking costs more than it saves: a lookup in the table costs a few times as
 * much as one in the filter. */
enum { SAMPLE = 1 << 16, DROPPED_MIN = 8 };

static void count_up(join *j, sheet *s, const chunk_note *note)
{
    s->rows += note->rows;
    s->lines += note->lines;
    j->counts.asked += note->counts.asked;
    j->counts.dropped += note->counts.dropped;
    j->counts.a_found += note->counts.a_found;
    j->counts.out += note->counts.out;
    if (j->counts.asked >= SAMPLE && j->counts.dropped < j->counts.asked / DROPPED_MIN)
        atomic_store(&j->asks, false);
}

/* What the filter dropped goes out alone; it is in order, as is all of this run. */
static void keep_a(join *j, record *r)
{
    outlet o = { .when_full = OUTLET_RUNS, .text = &j->line, .place = j->a_place };
    bool is_hit = r->place;

    r->place = j->a_place++;
    if (is_hit) {
        tape_put(&j->a_rows, r);
        return;
    }
    emit_alone(j, &o, record_text(r), 0, &j->counts);
    emit_flush(j, &o);
}

static void keep_records(const pass *p, const job *chunk)
{
    record *r;

    for (size_t at = sizeof(chunk_note); at < chunk->out.size; at += record_size(r)) {
        r = (void *)(chunk->out.bytes + at);
        if (is_a(p))
            keep_a(p->join, r);
        else
            keep_b(p->join, r);
    }
}

/* Rows that had no room in the chunk are taken here, and written as they come. */
static void write_found(const pass *p, const job *chunk, chunk_note *note)
{
    outlet o = { .when_full = OUTLET_WRITES, .text = &p->join->line };

    emit_header(p->join);
    replace_write(p->join->to, chunk->out.bytes + sizeof *note, chunk->out.size - sizeof *note);
    if (note->rest < chunk->text.size && !note->fault)
        take_text(p, chunk, &o, note);
    emit_flush(p->join, &o);
}

static void finish_chunk(void *ctx, job *chunk)
{
    const pass *p = ctx;
    chunk_note note;

    memcpy(&note, chunk->out.bytes, sizeof note);
    if (!note.fault && p->join->is_probing)
        write_found(p, chunk, &note);
    if (note.fault)
        sheet_refuse(p->sheet, p->sheet->lines + note.lines + 1, note.fault);
    if (!p->join->is_probing)
        keep_records(p, chunk);
    count_up(p->join, p->sheet, &note);
}

static void refuse_text(void *ctx, const job *chunk)
{
    const pass *p = ctx;
    row_fault fault;
    row r;

    if (chunk->text.size == 0 || !p->sheet->has_quotes)
        return;
    sheet_row(p->sheet, false, chunk->text.bytes, chunk->text.bytes + chunk->text.size, &r, &fault);
    if (fault == ROW_OPEN)
        sheet_refuse(p->sheet, p->sheet->lines + 1, fault);
}

static void read_sheet(join *j, sheet *s)
{
    pass p = { .join = j, .sheet = s };
    pipeline line = { .take_chunk = take_chunk,
                      .finish_chunk = finish_chunk,
                      .refuse_text = refuse_text,
                      .ctx = &p };
    char *names[] = { (char *)(uintptr_t)s->path, NULL };
    source from = j->source;

    from.names = names;
    from.line_max = RECORD_MAX;
    from.format.delim = s->csv.delim;
    from.format.end = s->csv.end;
    from.format.columns = s->has_quotes ? COLUMNS_BY_CSV : COLUMNS_BY_DELIM;
    pipeline_run(&line, &from);
    *(s == &j->a ? &j->a_is_read : &j->b_is_read) = true;
    if (!s->is_open && s->has_header)
        die(CODE_CORRUPT, "%s is empty: it has no header line", s->name);
}

/* ---- Both -------------------------------------------------------------- */

/* Rows of A that meet those of B at once need no room: so B is first if A is not much smaller. A
 * pipe is taken for the larger file if the other one is sure to fit in memory, else for the
 * smaller. */
static bool is_a_first(const join *j)
{
    uint64_t a = size_of(j->a.path), b = size_of(j->b.path);

    if (a == UINT64_MAX || b == UINT64_MAX)
        return b != UINT64_MAX && b > j->memory / 4;
    return a < b / 2;
}

/* Both are on tapes, or only A is. */
static void join_tapes(join *j)
{
    outlet o = { .when_full = OUTLET_WRITES, .text = &j->line };

    matches_open(&j->matches, &j->b_rows.held, &j->b_rows.rows, !emits_pairs(j));
    grace_probe(j, &j->a_rows, &o, PROBE_ALL);
    matches_close(&j->matches);
    j->spilled += tape_close(&j->a_rows) + tape_close(&j->b_rows);
}

static void write_row(void *ctx, const record *r)
{
    join *j = ctx;

    replace_write(j->to, record_text(r).at, r->text_size);
}

static void join_spilled(join *j)
{
    if (tape_is_on_disk(&j->a_rows))
        tape_spill(&j->a_rows, grace_piece(j));
    tape_spill(&j->b_rows, grace_piece(j));
    tamis_free(j->filter);
    j->filter = NULL;
    grace_join(j, &j->a_rows, &j->b_rows, 0);
    j->spilled += runs_merge(&j->runs, write_row, j);
}

/* Room for the rows of both files, if A is read first; else for those of one at a time. */
static void open_tapes(join *j)
{
    size_t room = (size_t)(j->memory / 4 * 3);

    tape_open(&j->a_rows, room / 2);
    tape_open(&j->b_rows, j->a_is_first ? room / 2 : room);
    runs_open(&j->runs, grace_piece(j));
}

void join_run(join *j)
{
    j->secret.hash = TAMIS_KEYED;
    draw_secret(j->secret.secret);
    j->a_is_first = is_a_first(j);
    open_tapes(j);
    read_sheet(j, j->a_is_first ? &j->a : &j->b);
    if (!j->filter)
        make_filter(j, j->a_is_first ? &j->a_rows : &j->b_rows);
    j->is_probing = !j->a_is_read && !tape_is_on_disk(&j->b_rows);
    if (j->is_probing)
        matches_open(&j->matches, &j->b_rows.held, &j->b_rows.rows, !emits_pairs(j));
    if (!j->a_is_read || !j->b_is_read)
        read_sheet(j, j->a_is_read ? &j->b : &j->a);
    emit_header(j);
    if (j->is_probing) {
        matches_close(&j->matches);
        tape_close(&j->b_rows);
    } else if (!tape_is_on_disk(&j->b_rows))
        join_tapes(j);
    else
        join_spilled(j);
    progress_erase();
    tamis_free(j->filter);
    buffer_free(&j->line);
}
