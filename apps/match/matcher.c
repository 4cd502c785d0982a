/* matcher.c - what is found in a chunk. */
#include "matcher.h"

#include "scan.h"

bool matcher_needs_lines(const matcher *m)
{
    return m->view == VIEW_LINES || (m->inverted && m->view != VIEW_PATTERNS);
}

/* ---- Words ------------------------------------------------------------- */

static bool is_in_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
}

/* Chunks that are no lines overlap so far that the byte before a match is there, and the byte after
 * it. */
static bool is_word(const matcher *m, const job *j, size_t place, uint32_t id)
{
    size_t end = place + m->index.patterns[id].size;

    return (place == 0 || !is_in_word(j->text.bytes[place - 1])) &&
           (end == j->text.size || !is_in_word(j->text.bytes[end]));
}

uint32_t matcher_next(const matcher *m, const job *j, size_t place, uint32_t id)
{
    while (m->words && id != NO_PATTERN && !is_word(m, j, place, id))
        id = m->index.patterns[id].parent;
    return id;
}

/* ---- Spots ------------------------------------------------------------- */

typedef struct chunk {
    const matcher *matcher;
    job *job;
} chunk;

static void note_pattern(scan *s, size_t place, uint32_t longest)
{
    const chunk *c = s->ctx;
    spot found = { .from = place, .longest = matcher_next(c->matcher, c->job, place, longest) };

    if (found.longest == NO_PATTERN)
        return;
    buffer_append(&c->job->out, &found, sizeof found);
    if (c->matcher->view == VIEW_NAMES || c->matcher->view == VIEW_NOTHING)
        s->done_to = SIZE_MAX;
}

/* Line ends are the same in text that was folded. */
static void note_line(scan *s, size_t place, uint32_t longest)
{
    const chunk *c = s->ctx;
    int end = c->matcher->format.end;

    if (matcher_next(c->matcher, c->job, place, longest) == NO_PATTERN)
        return;
    const char *before = memrchr(s->text, end, place);
    const char *after = memchr(s->text + place, end, s->size - place);
    s->done_from = before ? (size_t)(before - s->text) + 1 : 0;
    s->done_to = (size_t)(after - s->text) + 1;
    spot line = { .from = s->done_from, .to = s->done_to };
    buffer_append(&c->job->out, &line, sizeof line);
}

/* Nearly in order already: see scan.h. */
static void sort_spots(spot *spots, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        spot moved = spots[i];
        size_t at = i;

        for (; at > 0 && spots[at - 1].from > moved.from; at--)
            spots[at] = spots[at - 1];
        spots[at] = moved;
    }
}

/* ---- Lines ------------------------------------------------------------- */

/* Those that are printed in a way of their own are not put together. */
static bool takes_each_line(const matcher *m)
{
    return m->numbered || m->shows_names || m->as_json;
}

static size_t end_of_line(const matcher *m, const job *j, size_t from)
{
    const char *text = j->text.bytes;

    return (size_t)((char *)memchr(text + from, m->format.end, j->text.size - from) - text) + 1;
}

static void append_lines(const matcher *m, const job *j, buffer *lines, size_t from, size_t to)
{
    while (from < to) {
        spot *last = lines->size ? (spot *)(void *)(lines->bytes + lines->size) - 1 : NULL;
        spot next = { .from = from, .to = takes_each_line(m) ? end_of_line(m, j, from) : to };

        from = next.to;
        if (last && last->to == next.from && !takes_each_line(m))
            last->to = next.to;
        else
            buffer_append(lines, &next, sizeof next);
    }
}

/* From lines with a match, some of them twice, to those asked for. */
static void select_lines(const matcher *m, job *j)
{
    const spot *found = (void *)j->out.bytes;
    size_t n = j->out.size / sizeof *found, done = 0;
    buffer lines = { 0 };

    for (size_t i = 0; i < n; i++) {
        if (found[i].from < done)
            continue;
        if (m->inverted)
            append_lines(m, j, &lines, done, found[i].from);
        else
            append_lines(m, j, &lines, found[i].from, found[i].to);
        done = found[i].to;
    }
    if (m->inverted)
        append_lines(m, j, &lines, done, j->text.size);
    buffer_free(&j->out);
    j->out = lines;
}

static uint64_t count_lines(const matcher *m, const job *j, size_t from, size_t to)
{
    uint64_t n = 0;

    for (; from < to; n++)
        from = end_of_line(m, j, from);
    return n;
}

static void number_lines(const matcher *m, job *j)
{
    spot *lines = (void *)j->out.bytes;
    size_t n = j->out.size / sizeof *lines, at = 0;

    for (size_t i = 0; i < n; at = lines[i++].from) {
        j->lines += count_lines(m, j, at, lines[i].from);
        lines[i].line = j->lines;
    }
    j->lines += count_lines(m, j, at, j->text.size);
}

/* ---- Chunks ------------------------------------------------------------ */

/* What patterns are compared with. */
static const char *text_of(const matcher *m, job *j)
{
    buffer *folded = &j->batch.joined;

    index_pad(&j->text);
    if (!m->format.folds)
        return j->text.bytes;
    folded->size = 0;
    buffer_append(folded, j->text.bytes, j->text.size);
    index_pad(folded);
    index_fold(folded->bytes, folded->size);
    return folded->bytes;
}

/* Of chunks that overlap, the first byte is only there to be looked at, and so are the last ones,
 * where the next chunk begins. */
static void bound(scan *s, const matcher *m, const job *j)
{
    if (matcher_needs_lines(m))
        return;
    s->from = j->start > 0;
    if (!j->is_last)
        s->to = s->size - m->index.longest;
}

void matcher_find(void *ctx, job *j)
{
    const matcher *m = ctx;
    bool needs_lines = matcher_needs_lines(m);
    chunk c = { m, j };
    scan s = { .index = &m->index,
               .text = text_of(m, j),
               .size = j->text.size,
               .to = j->text.size,
               .take = needs_lines ? note_line : note_pattern,
               .ctx = &c };

    bound(&s, m, j);
    scan_run(&s);
    if (needs_lines || m->view == VIEW_OFFSETS)
        sort_spots((void *)j->out.bytes, j->out.size / sizeof(spot));
    if (!needs_lines)
        return;
    select_lines(m, j);
    if (m->numbered || m->as_json)
        number_lines(m, j);
}
