/* reconcile_serve.c - the end of a reconciliation that answers. */
#include <stdlib.h>
#include <string.h>

#include "reconcile_talk.h"
#include "term/array.h"
#include "wire/packed_message.h"

typedef struct serving {
    reconcile *r;
    tamis_symbols *symbols;
    uint64_t sent;  /* of them */
    unsigned tries; /* secrets that came */
    packed all;     /* lines; no bytes: not made yet */
    bool has_all, gave_all, is_done;
} serving;

static void forget(serving *s)
{
    tamis_symbols_free(s->symbols);
    buffer_free(&s->all.bytes);
    free(s->r->only_here);
    s->r->only_here = NULL;
    s->r->is_whole = false;
    *s = (serving){ .r = s->r, .tries = s->tries };
}

/* ---- Question ---------------------------------------------------------- */

static void check_form(serving *s, coded *c, const uint8_t secret[16])
{
    reconcile_seal here = reconcile_seal_form(s->r, secret), there = { 0 };

    there.is_image = reconcile_number(s->r, c);
    there.end = reconcile_number(s->r, c);
    if (there.is_image != here.is_image)
        line_refuse(s->r->line, "one side has a file of lines, the other a filter");
    if (there.end != here.end)
        line_refuse(s->r->line, "lines end differently on the two sides; give --null on both");
    if (here.is_image && (!coded_bytes(c, &there.hasher, 8) || !coded_bytes(c, &there.range, 8)))
        reconcile_refuse_frame(s->r);
    if (there.hasher != here.hasher)
        line_refuse(s->r->line, "the filters of the two sides hash keys differently");
    if (there.range != here.range)
        line_refuse(s->r->line, "the filters of the two sides have fingerprints of different "
                                "lengths; build them with the same --keys and --fpr");
}

/* In pieces, so that memory does not depend on how many are asked for. */
enum { SYMBOLS_PIECE = 1 << 14 };

static void send_symbols(serving *s, uint64_t n)
{
    for (size_t piece; n > 0; n -= piece, s->sent += piece) {
        buffer body = { 0 };

        piece = n < SYMBOLS_PIECE ? (size_t)n : SYMBOLS_PIECE;
        coded_put_symbols(&body, s->symbols, s->sent, piece, s->r->here.n);
        line_put(s->r->line, PART_SYMBOLS, &body);
    }
}

/* One who asks takes all lines instead where symbols would take more bytes than these. So much and
 * a bit more is what others send. */
enum { SYMBOLS_FREE = 4096, SYMBOLS_TIMES = 4 };

static void answer_more(serving *s, uint64_t n)
{
    uint64_t lines = s->r->here.n + s->r->here.text.size / CODED_SYMBOL;
    uint64_t most = SYMBOLS_FREE + SYMBOLS_TIMES * lines;

    if (n > most || s->sent > most - n)
        line_refuse(s->r->line, "it asks for more symbols than all lines are worth");
    send_symbols(s, n);
}

static void answer_question(serving *s, coded c)
{
    uint8_t secret[16];
    buffer body = { 0 };

    if (++s->tries > RECONCILE_TRIES)
        line_refuse(s->r->line, "it asked more than %d times", RECONCILE_TRIES);
    forget(s);
    if ((size_t)(c.end - c.at) < sizeof secret)
        reconcile_refuse_frame(s->r);
    memcpy(secret, c.at, sizeof secret);
    c.at += sizeof secret;
    check_form(s, &c, secret);
    line_set_hash_by(&s->r->here, secret);
    bool is_fine = line_set_index(&s->r->here);
    coded_put_number(&body, is_fine ? RECONCILE_FINE : RECONCILE_AGAIN);
    coded_put_number(&body, s->r->here.n);
    coded_put_number(&body, s->r->here.text.size);
    line_put(s->r->line, PART_SET, &body);
    if (!is_fine)
        return;
    s->symbols = reconcile_symbols(s->r, secret);
    send_symbols(s, TAMIS_SYMBOLS_FIRST);
}

/* ---- All lines --------------------------------------------------------- */

static void pack_all(serving *s)
{
    const line_set *here = &s->r->here;
    line_ref *lines;

    if (s->has_all)
        return;
    lines = array_new(here->n, sizeof *lines, "lines");
    if (here->n > 0)
        memcpy(lines, here->lines, here->n * sizeof *lines);
    line_set_sort(here, lines, here->n);
    s->all = reconcile_pack_lines(s->r, lines, here->n);
    s->has_all = true;
    free(lines);
}

static void answer_weight(serving *s)
{
    buffer body = { 0 };

    pack_all(s);
    coded_put_number(&body, s->all.bytes.size);
    line_put(s->r->line, PART_WEIGH, &body);
}

static void answer_all(serving *s)
{
    if (s->gave_all)
        line_refuse(s->r->line, "it asked for all lines twice");
    s->gave_all = true;
    pack_all(s);
    packed_send(&s->all, s->r->line, PART_LINES);
    s->r->is_whole = true;
}

/* ---- End --------------------------------------------------------------- */

typedef struct places {
    uint64_t *at;
    size_t n;
    uint64_t sum; /* of all lines of the other side */
} places;

/* A number and a sum; a place takes at most so many bytes, and an upper part for all. */
enum { PLACES_HEAD = 64, CODED_PLACE = 10 };

static places take_places(serving *s, line_frame first)
{
    places p = { .n = 0 };
    buffer body = { 0 };

    packed_take(s->r->line, first, &body, PLACES_HEAD + CODED_PLACE * s->r->here.n);
    coded c = coded_of(body.bytes, body.size);
    uint64_t n = reconcile_number(s->r, &c);

    if (n > s->r->here.n || !coded_bytes(&c, &p.sum, 8))
        reconcile_refuse_frame(s->r);
    p.n = (size_t)n;
    p.at = array_new(p.n, sizeof *p.at, "lines");
    if (!coded_places(&c, p.at, p.n, s->r->here.n))
        line_refuse(s->r->line, "places of lines make no sense");
    buffer_free(&body);
    return p;
}

static void take_difference(serving *s, const places *p)
{
    reconcile *r = s->r;

    free(r->only_here);
    r->only_here = array_new(p->n, sizeof *r->only_here, "lines");
    r->n_here = p->n;
    for (size_t i = 0; i < p->n; i++)
        r->only_here[i] = r->here.lines[p->at[i]];
    line_set_sort(&r->here, r->only_here, r->n_here);
    reconcile_receive_lines(r);
    r->all_there = r->here.n - r->n_here + r->n_there;
}

static void answer_difference(serving *s, line_frame first)
{
    reconcile *r = s->r;
    buffer body = { 0 };
    places p = take_places(s, first);

    take_difference(s, &p);
    bool is_fine = reconcile_sum_there(r) == p.sum;
    if (is_fine)
        r->settle(r);
    coded_put_number(&body, is_fine ? RECONCILE_FINE : RECONCILE_AGAIN);
    coded_put_bytes(&body, r->here.sum, 8);
    line_put(r->line, PART_VERDICT, &body);
    if (is_fine && !r->is_whole)
        reconcile_send_lines(r, r->only_here, r->n_here);
    s->is_done = is_fine;
    free(p.at);
}

static void answer(serving *s, line_frame f)
{
    coded c = { f.body, f.body + f.size };

    if (f.part != PART_ASK && !s->symbols)
        line_refuse(s->r->line, "a message of part '%c' came before the question", f.part);
    switch (f.part) {
    case PART_ASK:
        answer_question(s, c);
        break;
    case PART_MORE:
        answer_more(s, reconcile_number(s->r, &c));
        break;
    case PART_WEIGH:
        answer_weight(s);
        break;
    case PART_GIVE:
        answer_all(s);
        break;
    case PART_PLACES:
        answer_difference(s, f);
        break;
    default:
        line_refuse(s->r->line, "a message of part '%c' makes no sense here", f.part);
    }
}

void reconcile_serve(reconcile *r)
{
    serving s = { .r = r };

    while (!s.is_done) {
        answer(&s, line_receive(r->line));
        r->rounds++;
    }
    r->symbols = s.sent;
    tamis_symbols_free(s.symbols);
    buffer_free(&s.all.bytes);
}
