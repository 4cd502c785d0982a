/* reconcile.c - what both ends of a reconciliation say. */
#include <stdlib.h>
#include <string.h>

#include "reconcile_talk.h"
#include "term/array.h"
#include "wire/packed_message.h"

const traffic_part reconcile_parts[] = {
    { 'H', "greeting" },         { PART_ASK, "question" },  { PART_SET, "numbers" },
    { PART_SYMBOLS, "symbols" }, { PART_MORE, "more" },     { PART_WEIGH, "weight" },
    { PART_GIVE, "all" },        { PART_PLACES, "places" }, { PART_VERDICT, "verdict" },
    { PART_LINES, "lines" },     { '.', "alive" },          { 0, NULL },
};

void reconcile_free(reconcile *r)
{
    line_set_free(&r->here);
    free(r->only_here);
    buffer_free(&r->only_there);
}

reconcile_seal reconcile_seal_form(const reconcile *r, const uint8_t secret[16])
{
    const tamis_hasher *h = &r->form.hasher;
    tamis_hasher by = { .hash = TAMIS_KEYED };
    uint64_t parts[3] = { (uint64_t)h->hash, h->seed, tamis_hasher_key(h, secret, 16) };

    memcpy(by.secret, secret, sizeof by.secret);
    if (!r->form.is_image)
        return (reconcile_seal){ .end = r->here.end };
    return (reconcile_seal){ .is_image = 1,
                             .hasher = tamis_hasher_key(&by, parts, sizeof parts),
                             .range = r->form.range };
}

tamis_symbols *reconcile_symbols(const reconcile *r, const uint8_t secret[16])
{
    uint64_t *keys = array_new(r->here.n, sizeof *keys, "keys");
    tamis_symbols *made;

    for (size_t i = 0; i < r->here.n; i++)
        keys[i] = r->here.lines[i].key;
    tamis_status status = tamis_symbols_new(&made, keys, r->here.n, secret, NULL);
    if (status)
        die_status("compare with", "the other side", status);
    free(keys);
    return made;
}

/* ---- Frames ------------------------------------------------------------ */

coded reconcile_expect(reconcile *r, char part)
{
    line_frame f = line_expect(r->line, part);

    return (coded){ f.body, f.body + f.size };
}

_Noreturn void reconcile_refuse_frame(reconcile *r)
{
    line_refuse(r->line, "a message is shorter or longer than it should be");
}

uint64_t reconcile_number(reconcile *r, coded *c)
{
    uint64_t number;

    if (!coded_number(c, &number))
        reconcile_refuse_frame(r);
    return number;
}

/* ---- Lines ------------------------------------------------------------- */

/* What the first byte of a message says of its lines. */
enum { LINES_PLAIN, LINES_SHARING };

static packed pack_text(const reconcile *r, const buffer *text, uint8_t form)
{
    buffer message = { 0 };

    buffer_append(&message, &form, 1);
    if (form == LINES_SHARING)
        coded_put_lines(&message, text->bytes, text->size, r->here.end);
    else
        buffer_append(&message, text->bytes, text->size);
    packed p = packed_make(message.bytes, message.size, r->offers);
    buffer_free(&message);
    return p;
}

/* Of texts, zstd finds what is shared; of numbers it does not, because that is short. */
packed reconcile_pack_lines(const reconcile *r, const line_ref *lines, size_t n)
{
    buffer text = { 0 };

    line_set_write(&r->here, lines, n, &text);
    packed plain = pack_text(r, &text, LINES_PLAIN), sharing = pack_text(r, &text, LINES_SHARING);
    buffer_free(&text);
    bool is_plain = plain.bytes.size <= sharing.bytes.size;
    buffer_free(is_plain ? &sharing.bytes : &plain.bytes);
    return is_plain ? plain : sharing;
}

void reconcile_send_lines(reconcile *r, const line_ref *lines, size_t n)
{
    packed p = reconcile_pack_lines(r, lines, n);

    packed_send(&p, r->line, PART_LINES);
    buffer_free(&p.bytes);
}

/* Lines are copied once, from what came to the text or from there to what differs: each copy may
 * take half of the memory. Those that share bytes take as little as three for any number. */
static void receive_text(reconcile *r)
{
    size_t most = r->memory / 2;
    buffer message = { 0 };

    packed_receive(r->line, PART_LINES, &message, most);
    coded c = coded_of(message.bytes, message.size);
    r->only_there.size = 0;
    if (c.at == c.end || *c.at > LINES_SHARING)
        line_refuse(r->line, "lines come in a form that nobody knows");
    if (*c.at++ == LINES_PLAIN)
        buffer_append(&r->only_there, c.at, (size_t)(c.end - c.at));
    else if (!coded_lines(&c, &r->only_there, r->here.end, most))
        line_refuse(r->line, "lines make no sense, or are larger than --memory allows");
    buffer_free(&message);
}

/* What a line takes beside its bytes, while it is compared: its key, in two arrays. */
enum { LINE_MEMORY = 24 };

static void check_memory(const reconcile *r)
{
    if (r->n_there > (r->memory - 2 * r->only_there.size) / LINE_MEMORY)
        line_refuse(r->line, "%zu lines take more than --memory allows", r->n_there);
}

void reconcile_receive_lines(reconcile *r)
{
    const buffer *all = &r->only_there;
    span text, last = { "", 0 };
    size_t at = 0;

    receive_text(r);
    if (all->size > 0 && (unsigned char)all->bytes[all->size - 1] != r->here.end)
        line_refuse(r->line, "the last line has no end");
    for (r->n_there = 0; line_next(&r->only_there, r->here.end, &at, &text); r->n_there++) {
        if (r->n_there > 0 && span_compare(last, text) >= 0)
            line_refuse(r->line, "lines come out of order");
        last = text;
    }
    check_memory(r);
}

uint64_t reconcile_sum_there(const reconcile *r)
{
    uint64_t sum = r->here.sum;
    size_t at = 0;
    span text;

    for (size_t i = 0; i < r->n_here; i++)
        sum -= line_set_other(&r->here, line_set_line(&r->here, &r->only_here[i]));
    while (line_next(&r->only_there, r->here.end, &at, &text))
        sum += line_set_other(&r->here, text);
    return sum;
}

bool reconcile_next(const reconcile *r, reconcile_walk *w, span *text, bool *is_here)
{
    size_t there = w->there;
    bool has_here = w->here < r->n_here,
         has_there = line_next(&r->only_there, r->here.end, &there, text);

    if (!has_here && !has_there)
        return false;
    span here = has_here ? line_set_line(&r->here, &r->only_here[w->here]) : (span){ "", 0 };
    *is_here = has_here && (!has_there || span_compare(here, *text) < 0);
    if (*is_here) {
        *text = here;
        w->here++;
    } else {
        w->there = there;
    }
    return true;
}
