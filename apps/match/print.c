/* print.c - what was found, in order. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "matcher.h"
#include "term/message.h"
#include "term/output.h"

/* Bytes written at a time. */
static void append_number(buffer *out, uint64_t number, char after)
{
    char digits[21], *at = digits + sizeof digits;

    *--at = after;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    buffer_append(out, at, (size_t)(digits + sizeof digits - at));
}

static void append_name(matcher *m, const job *j)
{
    if (!m->shows_names)
        return;
    buffer_append(&m->out, j->input, strlen(j->input));
    buffer_append(&m->out, ":", 1);
}

static void append_pattern(matcher *m, uint32_t id)
{
    const pattern *p = &m->index.patterns[id];

    buffer_append(&m->out, m->index.given.bytes + p->at, p->size);
    buffer_append(&m->out, &m->format.end, 1);
    output_gathered(&m->out, false);
}

static void json_pattern(matcher *m, uint32_t id)
{
    const pattern *p = &m->index.patterns[id];

    json_bytes(&m->json, "pattern", m->index.given.bytes + p->at, p->size);
}

/* ---- Lines ------------------------------------------------------------- */

static void print_line_json(matcher *m, const job *j, const spot *line)
{
    json_open(&m->json, NULL, '{');
    json_text(&m->json, "file", j->input);
    json_count(&m->json, "line", m->lines + line->line + 1);
    json_bytes(&m->json, "text", j->text.bytes + line->from, line->to - line->from - 1);
    json_close(&m->json, '}');
}

static void print_line(matcher *m, const job *j, const spot *line)
{
    append_name(m, j);
    if (m->numbered)
        append_number(&m->out, m->lines + line->line + 1, ':');
    buffer_append(&m->out, j->text.bytes + line->from, line->to - line->from);
    output_gathered(&m->out, false);
}

/* ---- Matches ----------------------------------------------------------- */

static void print_match(matcher *m, const job *j, size_t place, uint32_t id)
{
    if (m->as_json) {
        json_open(&m->json, NULL, '{');
        json_text(&m->json, "file", j->input);
        json_count(&m->json, "offset", j->start + place);
        json_pattern(m, id);
        json_close(&m->json, '}');
        return;
    }
    append_name(m, j);
    append_number(&m->out, j->start + place, ':');
    append_pattern(m, id);
}

typedef struct sized {
    uint32_t size, id;
} sized;

static int by_size(const void *left, const void *right)
{
    const sized *a = left, *b = right;

    return (a->size > b->size) - (a->size < b->size);
}

/* All patterns that begin at one place, the shortest first. */
static void print_place(matcher *m, const job *j, const spot *spots, size_t n)
{
    m->ids.size = 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t id = spots[i].longest; id != NO_PATTERN;
             id = matcher_next(m, j, spots->from, m->index.patterns[id].parent)) {
            sized s = { m->index.patterns[id].size, id };

            buffer_append(&m->ids, &s, sizeof s);
        }
    sized *ids = (void *)m->ids.bytes;
    size_t n_ids = m->ids.size / sizeof *ids;
    if (n_ids > 1)
        qsort(ids, n_ids, sizeof *ids, by_size);
    for (size_t i = 0; i < n_ids; i++)
        print_match(m, j, spots->from, ids[i].id);
}

static void print_places(matcher *m, const job *j, const spot *spots, size_t n)
{
    for (size_t i = 0, first = 0; first < n; first = i) {
        while (i < n && spots[i].from == spots[first].from)
            i++;
        print_place(m, j, spots + first, i - first);
    }
}

/* ---- Patterns ---------------------------------------------------------- */

/* Where not all ancestors of a pattern are words, each is counted by itself; else later. */
static void count_spot(matcher *m, const job *j, const spot *s)
{
    uint32_t id = s->longest;

    do {
        m->counts[id]++;
        id = m->index.patterns[id].parent;
    } while (m->words && (id = matcher_next(m, j, s->from, id)) != NO_PATTERN);
}

/* A pattern occurs wherever one occurs that begins with it. Parents come before children. */
static void count_ancestors(matcher *m)
{
    for (size_t i = m->index.n; i-- > 0 && !m->words;) {
        uint32_t parent = m->index.patterns[i].parent;

        if (parent != NO_PATTERN)
            m->counts[parent] += m->counts[i];
    }
}

typedef struct placed {
    uint64_t at;
    uint32_t id;
} placed;

static int by_place(const void *left, const void *right)
{
    const placed *a = left, *b = right;

    return (a->at > b->at) - (a->at < b->at);
}

static void print_pattern(matcher *m, uint32_t id)
{
    bool has_count = m->view == VIEW_COUNTS;

    if (m->as_json) {
        json_open(&m->json, NULL, '{');
        if (has_count)
            json_count(&m->json, "count", m->counts[id]);
        json_pattern(m, id);
        json_close(&m->json, '}');
        return;
    }
    if (has_count)
        append_number(&m->out, m->counts[id], '\t');
    append_pattern(m, id);
}

/* Those that occur, or do not, in the order of the lines they were read from. */
void matcher_print_patterns(matcher *m)
{
    placed *list = malloc((m->index.n + 1) * sizeof *list);
    size_t n = 0;

    if (!list)
        die(CODE_MEMORY, "out of memory for a list of the patterns");
    count_ancestors(m);
    for (size_t i = 0; i < m->index.n; i++)
        if ((m->counts[i] > 0) != m->inverted)
            list[n++] = (placed){ m->index.patterns[i].at, (uint32_t)i };
    qsort(list, n, sizeof *list, by_place);
    for (size_t i = 0; i < n; i++)
        print_pattern(m, list[i].id);
    output_gathered(&m->out, true);
    m->found = n > 0;
    free(list);
}

/* ---- Chunks ------------------------------------------------------------ */

static void print_name(matcher *m, const job *j)
{
    if (m->is_named)
        return;
    m->is_named = true;
    if (m->as_json) {
        json_text(&m->json, NULL, j->input);
        return;
    }
    buffer_append(&m->out, j->input, strlen(j->input));
    buffer_append(&m->out, "\n", 1);
}

static void print_spots(matcher *m, const job *j, const spot *spots, size_t n)
{
    switch (m->view) {
    case VIEW_LINES:
        for (size_t i = 0; i < n; i++)
            (m->as_json ? print_line_json : print_line)(m, j, &spots[i]);
        break;
    case VIEW_OFFSETS:
        print_places(m, j, spots, n);
        break;
    case VIEW_COUNTS:
    case VIEW_PATTERNS:
        for (size_t i = 0; i < n; i++)
            count_spot(m, j, &spots[i]);
        break;
    case VIEW_NAMES:
        print_name(m, j);
        break;
    case VIEW_NOTHING:
        leave(CODE_OK);
    }
}

void matcher_print(void *ctx, job *j)
{
    matcher *m = ctx;
    size_t n = j->out.size / sizeof(spot);

    if (j->input_number != m->input) {
        m->lines = 0;
        m->is_named = false;
    }
    m->input = j->input_number;
    if (n > 0)
        print_spots(m, j, (void *)j->out.bytes, n);
    output_gathered(&m->out, true);
    m->found = m->found || n > 0;
    m->lines += j->lines;
}
