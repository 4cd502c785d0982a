/* print.c - what was found, in order. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "matcher.h"
#include "term/array.h"
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

/* What is found, and where: what has no name is not told. */
typedef struct finding {
    const char *input, *place, *what;
    uint64_t number; /* the place */
    char after;      /* the number; 0: only JSON has it */
    span text;
} finding;

static void print_finding(matcher *m, const finding *f)
{
    if (m->as_json) {
        json_open(&m->json, NULL, '{');
        if (f->input)
            json_text(&m->json, "file", f->input);
        if (f->place)
            json_count(&m->json, f->place, f->number);
        json_bytes(&m->json, f->what, f->text.at, f->text.size);
        json_close(&m->json, '}');
        return;
    }
    if (f->input && m->shows_names) {
        buffer_append(&m->out, f->input, strlen(f->input));
        buffer_append(&m->out, ":", 1);
    }
    if (f->after)
        append_number(&m->out, f->number, f->after);
    buffer_append(&m->out, f->text.at, f->text.size);
    buffer_append(&m->out, &m->format.end, 1);
    output_gathered(&m->out, false);
}

static span text_of(const matcher *m, uint32_t id)
{
    const pattern *p = &m->index.patterns[id];

    return (span){ m->index.given.bytes + p->at, p->size };
}

static void print_line(matcher *m, const job *j, const spot *line)
{
    print_finding(m, &(finding){ j->input,
                                 "line",
                                 "text",
                                 m->lines + line->line + 1,
                                 m->numbered ? ':' : 0,
                                 { j->text.bytes + line->from, line->to - line->from - 1 } });
}

/* ---- Matches ----------------------------------------------------------- */

/* All patterns that begin at one place, the shortest first. */
static void print_place(matcher *m, const job *j, const spot *spots, size_t n)
{
    m->ids.size = 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t id = spots[i].longest; id != NO_PATTERN;
             id = matcher_next(m, j, spots->from, m->index.patterns[id].parent)) {
            ranked r = { m->index.patterns[id].size, id };

            buffer_append(&m->ids, &r, sizeof r);
        }
    ranked *ids = (void *)m->ids.bytes;
    size_t n_ids = m->ids.size / sizeof *ids;
    array_sort(ids, n_ids);
    for (size_t i = 0; i < n_ids; i++)
        print_finding(m, &(finding){ j->input, "offset", "pattern", j->start + spots->from, ':',
                                     text_of(m, ids[i].id) });
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

static void print_pattern(matcher *m, uint32_t id)
{
    bool has_count = m->view == VIEW_COUNTS;

    print_finding(m, &(finding){ NULL, has_count ? "count" : NULL, "pattern", m->counts[id],
                                 has_count ? '\t' : 0, text_of(m, id) });
}

/* Those that occur, or do not, in the order of the lines they were read from. */
void matcher_print_patterns(matcher *m)
{
    ranked *list = array_new(m->index.n, sizeof *list, "patterns");
    size_t n = 0;

    count_ancestors(m);
    for (size_t i = 0; i < m->index.n; i++)
        if ((m->counts[i] > 0) != m->inverted)
            list[n++] = (ranked){ m->index.patterns[i].at, (uint32_t)i };
    array_sort(list, n);
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
            print_line(m, j, &spots[i]);
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
