/* documents.c - inputs to documents.
 *
 * A document is read once, in pieces, into a filter with one hash. So memory does not grow with its
 * length. One hash estimates best: for a given number of bits, more hashes only fill them. The
 * filter is as wide as will ever be wanted; halving it later gives the bits of a filter that was
 * half as wide from the start. Of most documents few bits are set, and only their places are kept.
 */
#include "documents.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "files/thread_pool.h"
#include "files/tree.h"
#include "filters/compatible.h"
#include "filters/store.h"
#include "term/array.h"
#include "term/message.h"
#include "term/progress.h"
#include "text/reader.h"

/* What has no line end for so long is no text, and would fill the memory. */
enum { LINE_MAX_SIZE = 64 << 20 };

static void *room_for(size_t size)
{
    return array_new(1, size, "documents; give fewer of them, or smaller --bits");
}

static document *new_document(documents *d, const char *name)
{
    size_t size = strlen(name) + 1;

    d->all = array_grown(d->all, d->n, sizeof *d->all, "documents; give fewer of them");
    d->all[d->n] = (document){ .name = memcpy(room_for(size), name, size) };
    return &d->all[d->n++];
}

static void take_plan(documents *d, const tamis_plan *plan)
{
    d->plan = *plan;
    d->total_bits = plan->slots * (plan->kind == TAMIS_PARTITIONED ? plan->hashes : 1);
}

static void make_plan(documents *d, uint64_t bits)
{
    tamis_spec spec = TAMIS_SPEC(.keys = bits, .bits = bits, .hashes = 1);
    tamis_plan plan;

    spec.hasher = d->shingles.hasher;
    if (tamis_plan_kind(&plan, TAMIS_BLOOM, &spec))
        die(CODE_LIMIT, "similar: no filter has %" PRIu64 " bits", bits);
    take_plan(d, &plan);
}

/* ---- Bits of a filter -------------------------------------------------- */

/* Takes the payload out of an image that passes by. docs/format.md says where it starts. */
typedef struct payload_sink {
    uint8_t *to;
    uint64_t at, start, size;
} payload_sink;

static bool take_payload(void *ctx, const void *piece, size_t size)
{
    payload_sink *s = ctx;
    uint64_t from = s->at > s->start ? s->at : s->start;
    uint64_t end = s->at + size < s->start + s->size ? s->at + size : s->start + s->size;

    if (from < end)
        memcpy(s->to + (from - s->start), (const char *)piece + (from - s->at),
               (size_t)(end - from));
    s->at += size;
    return true;
}

static tamis_status copy_bits(uint8_t *to, const tamis *f)
{
    uint64_t size = tamis_plan_of(f)->bytes;
    payload_sink s = { .to = to, .start = size < 65536 ? 256 : 4096, .size = size };

    return tamis_image_send(f, take_payload, &s);
}

static uint64_t word_at(const uint8_t *bits, uint64_t size, uint64_t i)
{
    uint64_t word = 0;

    memcpy(&word, bits + i, size - i < sizeof word ? (size_t)(size - i) : sizeof word);
    return le64toh(word);
}

static uint64_t count_ones(const uint8_t *bits, uint64_t size)
{
    uint64_t ones = 0;

    for (uint64_t i = 0; i < size; i += 8)
        ones += (uint64_t)__builtin_popcountll(word_at(bits, size, i));
    return ones;
}

static void list_places(uint32_t *places, const uint8_t *bits, uint64_t size)
{
    for (uint64_t i = 0; i < size; i += 8)
        for (uint64_t word = word_at(bits, size, i); word; word &= word - 1)
            *places++ = (uint32_t)(8 * i + (uint64_t)__builtin_ctzll(word));
}

/* Keeps the bits in whichever form is smaller. */
static void keep_bits(const documents *d, document *doc, const uint8_t *bits)
{
    uint64_t size = d->plan.bytes;

    doc->ones = count_ones(bits, size);
    if (doc->ones * sizeof *doc->places < size) {
        doc->places = room_for((size_t)doc->ones * sizeof *doc->places);
        list_places(doc->places, bits, size);
        return;
    }
    doc->bits = room_for((size_t)size);
    memcpy(doc->bits, bits, (size_t)size);
}

static void set_place(uint8_t *row, uint64_t place)
{
    row[place / 8] = (uint8_t)(row[place / 8] | 1u << place % 8);
}

/* Bits of a filter of `size` bytes that are one bit in a filter 2^shift times smaller follow each
 * other. */
static void set_bits(uint8_t *row, const document *doc, uint64_t size, unsigned shift)
{
    for (uint64_t p = 0; doc->places && p < doc->ones; p++)
        set_place(row, doc->places[p] >> shift);
    if (doc->bits && shift == 0)
        memcpy(row, doc->bits, (size_t)size);
    for (uint64_t i = 0; doc->bits && shift > 0 && i < size; i += 8)
        for (uint64_t word = word_at(doc->bits, size, i); word; word &= word - 1)
            set_place(row, (8 * i + (uint64_t)__builtin_ctzll(word)) >> shift);
}

void document_fill(const documents *d, size_t i, uint8_t *row)
{
    set_bits(row, &d->all[i], d->plan.bytes, 0);
}

static void forget_bits(document *doc)
{
    free(doc->places);
    free(doc->bits);
    doc->places = NULL;
    doc->bits = NULL;
}

void documents_fold(documents *d, uint64_t bits)
{
    unsigned shift = (unsigned)__builtin_ctzll(d->total_bits / bits);
    uint64_t size = d->plan.bytes;
    uint8_t *row;

    if (shift == 0)
        return;
    make_plan(d, bits);
    row = room_for((size_t)d->plan.bytes);
    for (size_t i = 0; i < d->n; i++) {
        memset(row, 0, (size_t)d->plan.bytes);
        set_bits(row, &d->all[i], size, shift);
        forget_bits(&d->all[i]);
        keep_bits(d, &d->all[i], row);
    }
    free(row);
}

/* ---- Filters of documents ---------------------------------------------- */

/* What one thread makes filters with. */
typedef struct maker {
    const documents *documents;
    shingler shingler;
    tamis *filter;
    buffer keys; /* uint64_t, if they are kept */
    uint8_t *bits;
} maker;

static void add_keys(void *ctx, const uint64_t *keys, size_t n)
{
    maker *m = ctx;
    size_t added;

    if (tamis_add_many(m->filter, &added, keys, n))
        die(CODE_MEMORY, "out of memory for the filter of a document");
    if (m->documents->keeps_keys)
        buffer_append(&m->keys, keys, n * sizeof *keys);
}

static maker *maker_new(const documents *d)
{
    maker *m = room_for(sizeof *m);

    m->documents = d;
    m->shingler = (shingler){ .format = &d->shingles, .take = add_keys, .ctx = m };
    m->bits = room_for((size_t)d->plan.bytes);
    return m;
}

static void maker_free(maker *m)
{
    buffer_free(&m->shingler.text);
    buffer_free(&m->keys);
    free(m->bits);
    free(m);
}

static void maker_begin(maker *m)
{
    m->keys.size = 0;
    shingle_begin(&m->shingler);
    if (tamis_new(&m->filter, &m->documents->plan, NULL))
        die(CODE_MEMORY, "out of memory for the filter of a document; give smaller --bits");
}

static int compare_keys(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return (a > b) - (a < b);
}

static void keep_keys(document *doc, const buffer *kept)
{
    size_t n = kept->size / sizeof *doc->keys;

    uint64_t *keys = (void *)kept->bytes;

    if (n > 0)
        qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 0; i < n; i++)
        if (doc->n_keys == 0 || keys[i] != keys[doc->n_keys - 1])
            keys[doc->n_keys++] = keys[i];
    doc->keys = room_for(doc->n_keys * sizeof *keys);
    if (n > 0)
        memcpy(doc->keys, keys, doc->n_keys * sizeof *keys);
}

static void maker_end(maker *m, document *doc)
{
    shingle_end(&m->shingler);
    if (copy_bits(m->bits, m->filter))
        die(CODE_MEMORY, "out of memory for the filter of a document");
    tamis_free(m->filter);
    keep_bits(m->documents, doc, m->bits);
    if (m->documents->keeps_keys)
        keep_keys(doc, &m->keys);
}

/* ---- Inputs ------------------------------------------------------------ */

typedef void take_line(void *ctx, span line);

/* Each with its end. */
static void each_line(const documents *d, const buffer *text, take_line *take, void *ctx)
{
    const char *at = text->bytes, *end = at + text->size;

    for (size_t size; at < end; at += size) {
        size = key_line_size(&d->source->format, at, end);
        take(ctx, (span){ at, size });
    }
}

/* ---- Files ------------------------------------------------------------- */

static void take_element(void *ctx, span line)
{
    maker *m = ctx;
    span text;

    key_text(&text, &m->documents->source->format, line.at, line.at + line.size, NULL);
    shingle_key(&m->shingler, tamis_hasher_key(&m->documents->shingles.hasher, text.at, text.size));
}

static void make_document(maker *m, document *doc)
{
    const documents *d = m->documents;
    char *names[] = { doc->name, NULL };
    buffer text = { 0 };
    bool is_first = true;
    reader r;

    reader_open(&r, names, d->source->format.end);
    r.takes_packed = d->source->takes_packed;
    r.line_max = LINE_MAX_SIZE;
    maker_begin(m);
    while (!doc->is_binary && reader_has_next(&r, &text)) {
        doc->is_binary = d->unit == DOCUMENT_IS_FILE && is_first &&
                         memchr(text.bytes, 0, text.size) && d->source->format.end;
        is_first = false;
        if (d->unit == DOCUMENT_IS_SET)
            each_line(d, &text, take_element, m);
        else if (!doc->is_binary)
            shingle_text(&m->shingler, (span){ text.bytes, text.size });
    }
    maker_end(m, doc);
    reader_close(&r);
    buffer_free(&text);
}

typedef struct reading {
    documents *documents;
    work_list list;
} reading;

static void read_files(void *ctx)
{
    reading *r = ctx;
    maker *m = maker_new(r->documents);

    for (size_t i; work_list_next(&r->list, &i);)
        make_document(m, &r->documents->all[i]);
    maker_free(m);
}

static void read_all_files(documents *d)
{
    reading r = { d, work_list_of(d->n, "documents") };

    thread_pool_run(d->source->threads, read_files, &r);
    progress_erase();
}

/* ---- Lines ------------------------------------------------------------- */

typedef struct line_reading {
    documents *documents;
    maker *maker;
    const char *input;
    uint64_t input_number, line,
        without; /* the last lack the column with the text, or the one with the name */
    buffer name, joined;
} line_reading;

static bool name_line(line_reading *l, span line)
{
    key_format format = l->documents->source->format;
    span text;

    l->name.size = 0;
    if (l->documents->id_field == 0) {
        buffer_print(&l->name, "%s:%" PRIu64, l->input, l->line);
        return true;
    }
    format.n_fields = 1;
    format.fields[0] = l->documents->id_field;
    if (!key_text(&text, &format, line.at, line.at + line.size, &l->joined))
        return false;
    buffer_print(&l->name, "%.*s", (int)text.size, text.at);
    return true;
}

static void take_document(void *ctx, span line)
{
    line_reading *l = ctx;
    const char *end = line.at + line.size;
    span text;

    l->line++;
    if (!name_line(l, line) ||
        !key_text(&text, &l->documents->source->format, line.at, end, &l->joined)) {
        l->without++;
        return;
    }
    maker_begin(l->maker);
    shingle_text(&l->maker->shingler, text);
    maker_end(l->maker, new_document(l->documents, l->name.bytes));
}

static void take_chunk(void *ctx, job *j)
{
    line_reading *l = ctx;

    if (j->input_number != l->input_number)
        l->line = j->has_header;
    l->input_number = j->input_number;
    l->input = strcmp(j->input, "standard input") == 0 ? "-" : j->input;
    each_line(l->documents, &j->text, take_document, l);
}

/* One thread makes the documents, because they stay in the order of their lines. */
static void read_lines(documents *d)
{
    line_reading l = { .documents = d, .maker = maker_new(d) };
    pipeline p = { .take_chunk = take_chunk, .ctx = &l };
    source lines = *d->source;

    lines.threads = 1;
    lines.line_max = LINE_MAX_SIZE;
    pipeline_run(&p, &lines);
    if (l.without > 0)
        say("%" PRIu64 " %s the column and %s left out", l.without,
            l.without == 1 ? "line lacks" : "lines lack", l.without == 1 ? "is" : "are");
    buffer_free(&l.name);
    buffer_free(&l.joined);
    maker_free(l.maker);
}

/* ---- Filters made before ----------------------------------------------- */

static void check_kind(const tamis_plan *plan, const char *path)
{
    if (plan->kind == TAMIS_BLOOM || plan->kind == TAMIS_PARTITIONED)
        return;
    die(CODE_USAGE,
        "similar: %s is a %s filter; only the bits of bloom and partitioned filters tell how "
        "alike sets are",
        path, tamis_kind_name(plan->kind));
}

/* Ones are counted in 32 bits. */
static void check_size(const documents *d)
{
    if (d->total_bits > UINT32_MAX)
        die(CODE_LIMIT, "similar: %s has more than 2^32 bits", d->all[0].name);
}

static bool is_same_plan(const tamis_plan *a, const tamis_plan *b)
{
    return a->kind == b->kind && a->slots == b->slots && a->hashes == b->hashes &&
           makes_same_keys(&a->hasher, &b->hasher);
}

static void read_filters(documents *d)
{
    for (size_t i = 0; i < d->n; i++) {
        document *doc = &d->all[i];
        tamis *f = store_map_whole(doc->name);
        const tamis_plan *plan = tamis_plan_of(f);

        check_kind(plan, doc->name);
        if (i == 0)
            take_plan(d, plan);
        check_size(d);
        if (!is_same_plan(&d->plan, plan))
            refuse_pair("similar", d->all[0].name, &d->plan, doc->name, plan);
        uint8_t *bits = room_for((size_t)plan->bytes);
        tamis_status status = copy_bits(bits, f);
        if (status)
            die_status("read", doc->name, status);
        keep_bits(d, doc, bits);
        free(bits);
        tamis_free(f);
        progress_show(i + 1, d->n, "filters");
    }
    progress_erase();
}

/* ---- All --------------------------------------------------------------- */

static void list_folder(documents *d, const char *path)
{
    tree t = tree_open(path);
    entry_list list = tree_list(&t, true, false);

    for (size_t i = 0; i < list.n; i++)
        if (list.all[i].type == ENTRY_FILE && *list.all[i].name)
            new_document(d, tree_name(&t, list.all[i].name));
    entry_free(&list);
    tree_close(&t);
}

static void list_files(documents *d, char *const *names)
{
    for (; *names; names++)
        if (store_is_folder(*names))
            list_folder(d, *names);
        else
            new_document(d, *names);
}

void documents_read(documents *d, char *const *names, uint64_t bits)
{
    if (d->unit != DOCUMENT_IS_FILTER)
        make_plan(d, bits);
    if (d->unit == DOCUMENT_IS_LINE) {
        read_lines(d);
        return;
    }
    list_files(d, names);
    if (d->unit == DOCUMENT_IS_FILTER)
        read_filters(d);
    else
        read_all_files(d);
}

static void document_free(document *doc)
{
    forget_bits(doc);
    free(doc->name);
    free(doc->keys);
}

/* Those left out for one reason. */
typedef struct outcasts {
    size_t n;
    char *first; /* name */
} outcasts;

static void leave_out(outcasts *o, document *doc)
{
    if (o->n++ == 0) {
        o->first = doc->name;
        doc->name = NULL;
    }
    document_free(doc);
}

static void say_outcasts(outcasts *o, const char *why_one, const char *why_all)
{
    if (o->n == 1)
        say("1 document is left out: %s (%s)", why_one, o->first);
    if (o->n > 1)
        say("%zu documents are left out: %s (the first is %s)", o->n, why_all, o->first);
    free(o->first);
}

void documents_drop(documents *d)
{
    outcasts binary = { 0 }, empty = { 0 }, full = { 0 };
    size_t kept = 0;

    for (size_t i = 0; i < d->n; i++) {
        document *doc = &d->all[i];

        if (doc->is_binary)
            leave_out(&binary, doc);
        else if (doc->ones == 0)
            leave_out(&empty, doc);
        else if (doc->ones == d->total_bits)
            leave_out(&full, doc);
        else
            d->all[kept++] = *doc;
    }
    d->n = kept;
    say_outcasts(&binary, "it is binary", "they are binary");
    say_outcasts(&empty, "there is nothing in it", "there is nothing in them");
    say_outcasts(&full, "all its bits are set; give more --bits",
                 "all their bits are set; give more --bits");
}

void documents_free(documents *d)
{
    for (size_t i = 0; i < d->n; i++)
        document_free(&d->all[i]);
    free(d->all);
}
