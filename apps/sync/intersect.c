/* intersect.c - one end of a conversation about what two sets have in common.
 *
 *     first                                    second
 *       |  F  filter of its set                  |
 *       |--------------------------------------->|  which elements pass it?
 *       |  Q  their numbers, in order, coded     |
 *       |<---------------------------------------|
 *       |  V  which of them it has               |
 *       |  K  a checksum for each 64 numbers     |
 *       |--------------------------------------->|  same elements, same checksums
 *       |  R  where not: 64 bits of each         |
 *       |<---------------------------------------|
 *       |  C  which of these it has              |
 *       |--------------------------------------->|
 *
 * The number of an element is its hash, brought down to a range that makes it short: different
 * elements may have the same one. So a number that both have says only that elements are probably
 * in common, and checksums of other hashes of these elements say so for certain: unless all groups
 * agree, those that do not are compared in full. A wrong element is left if two hashes of 64 bits
 * agree, or two such checksums do. */
#include <stdlib.h>
#include <string.h>

#include "intersect.h"
#include "term/array.h"
#include "term/message.h"
#include "text/byte_order.h"
#include "wire/coded.h"
#include "wire/rice.h"

/* ---- Bytes of a line --------------------------------------------------- */

enum { SEND_AT = 1 << 16 };

static void put_number(buffer *b, uint64_t number)
{
    coded_put_bytes(b, number, 8);
}

static uint64_t number_at(const void *bytes, size_t i)
{
    return le64((const uint8_t *)bytes + 8 * i);
}

static void send_number(line *l, char part, uint64_t number)
{
    buffer b = { 0 };

    put_number(&b, number);
    line_put(l, part, &b);
}

static uint64_t receive_number(line *l, char part)
{
    return number_at(line_expect_bytes(l, part, 8), 0);
}

static void send_when_full(line *l, char part, buffer *b, size_t full)
{
    if (b->size < full || b->size == 0)
        return;
    line_send(l, part, b->bytes, b->size);
    b->size = 0;
}

/* Frames of a part until an empty one: memory grows as they come. */
static buffer receive_all(const intersect *t, char part)
{
    uint64_t most = t->memory ? t->memory : SIZE_MAX;
    buffer all = { 0 };
    line_frame f;

    while ((f = line_expect(t->line, part)).size > 0) {
        if (f.size > most - all.size)
            line_refuse(t->line, "a message of part '%c' is larger than --memory allows", part);
        buffer_append(&all, f.body, f.size);
    }
    return all;
}

typedef struct incoming {
    line *line;
    char part;
} incoming;

static bool bring_more(void *ctx, const uint8_t **bytes, size_t *size)
{
    const incoming *in = ctx;
    line_frame f = line_expect(in->line, in->part);

    *bytes = f.body;
    *size = f.size;
    return f.size > 0;
}

uint64_t intersect_hash(const tamis_hasher *by, uint64_t number)
{
    uint8_t bytes[8];

    put_le64(bytes, number);
    return tamis_hasher_key(by, bytes, sizeof bytes);
}

/* ---- Sets -------------------------------------------------------------- */

static void breathe(void *ctx)
{
    line_breathe(ctx);
}

elements *intersect_new_set(const intersect *t)
{
    return elements_new(t->memory_for_set, breathe, t->line);
}

/* What the filter is asked for. */
static uint64_t key_of(const intersect *t, const element *e)
{
    return t->is_raw ? e->rest : e->hash;
}

enum { BATCH = 1024 };

/* So many of the next elements, with their keys. */
static size_t next_batch(const intersect *t, element *batch, uint64_t *keys)
{
    const element *e;
    size_t n = 0;

    for (; n < BATCH && (e = elements_next(t->set)); n++) {
        batch[n] = *e;
        keys[n] = key_of(t, e);
    }
    line_breathe(t->line);
    return n;
}

/* ---- The filter -------------------------------------------------------- */

/* Where larger payloads begin in an image; what is before them, but for the header, are zeros that
 * do not travel. */
enum { HEADER = 256, PAYLOAD_AT = 4096, LARGE = 65536 };

typedef struct sending {
    line *line;
    uint64_t done;
    bool has_gap;
} sending;

static bool send_piece(void *ctx, const void *piece, size_t size)
{
    sending *s = ctx;
    const char *at = piece, *end = at + size;

    while (at < end) {
        uint64_t stop = !s->has_gap            ? UINT64_MAX
                        : s->done < HEADER     ? HEADER
                        : s->done < PAYLOAD_AT ? PAYLOAD_AT
                                               : UINT64_MAX;
        size_t n =
            (uint64_t)(end - at) < stop - s->done ? (size_t)(end - at) : (size_t)(stop - s->done);
        if (stop != PAYLOAD_AT)
            line_send(s->line, PART_FILTER, at, n);
        s->done += n;
        at += n;
    }
    return true;
}

static bool keep_alive(void *ctx, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    line_breathe(ctx);
    return true;
}

static void check_filter(const intersect *t, tamis_status status)
{
    if (status == TAMIS_NOMEM && t->memory)
        die(CODE_MEMORY,
            "intersect: a %s filter of %" PRIu64 " elements cannot be made in half of "
            "--memory; give more, or another -k",
            tamis_kind_name(t->plan.kind), t->here.n);
    if (status)
        die_status("make", "the filter", status);
}

static void feed_builder(const intersect *t, tamis_builder *b)
{
    static element batch[BATCH];
    uint64_t keys[BATCH];
    size_t n;

    elements_rewind(t->set);
    while ((n = next_batch(t, batch, keys)) > 0)
        check_filter(t, tamis_builder_add_many(b, keys, n));
}

static tamis *make_filter(const intersect *t)
{
    tamis_spec spec = intersect_spec(&t->plan, &t->here);
    tamis_build_options options =
        TAMIS_BUILD_OPTIONS(.memory = t->memory / 2, .threads = t->threads, .progress = keep_alive,
                            .ctx = t->line);
    tamis_builder *b;
    tamis *f = NULL;

    check_filter(t, tamis_builder_new(&b, t->plan.kind, &spec, &options));
    feed_builder(t, b);
    check_filter(t, tamis_builder_finish(&f, b));
    tamis_builder_free(b);
    return f;
}

static void send_filter(const intersect *t)
{
    tamis *f = make_filter(t);
    sending s = { .line = t->line, .has_gap = tamis_plan_of(f)->bytes >= LARGE };
    uint8_t has_gap = s.has_gap;

    line_send(t->line, PART_FILTER, &has_gap, 1);
    if (tamis_image_send(f, send_piece, &s))
        die(CODE_CORRUPT, "the filter could not be sent");
    line_send(t->line, PART_FILTER, NULL, 0);
    tamis_free(f);
}

/* An image with its zeros, at an address that filters may have. */
static char *whole_image(buffer *got, size_t *size)
{
    size_t gap = got->size > HEADER && got->bytes[0] == 1 ? PAYLOAD_AT - HEADER : 0;
    size_t start, body = got->size - 1;

    buffer_reserve(got, gap + 64);
    start = (size_t)(-(uintptr_t)got->bytes % 64);
    char *at = got->bytes + start;
    memmove(at, got->bytes + 1, body);
    if (gap) {
        memmove(at + PAYLOAD_AT, at + HEADER, body - HEADER);
        memset(at + HEADER, 0, gap);
    }
    *size = body + gap;
    return at;
}

static tamis *receive_filter(const intersect *t, buffer *got)
{
    tamis *f = NULL;
    size_t size = 0;

    *got = receive_all(t, PART_FILTER);
    if (got->size == 0)
        line_refuse(t->line, "the filter is missing");
    char *image = whole_image(got, &size);
    tamis_status status = tamis_image_view(&f, image, size, NULL);
    if (!status)
        status = tamis_verify(f, NULL, NULL);
    if (status)
        line_refuse(t->line, "the filter makes no sense: %s", tamis_status_text(status));
    return f;
}

/* ---- The answer -------------------------------------------------------- */

/* Elements that pass the filter, in order. */
static elements *sift(intersect *t)
{
    static element batch[BATCH];
    uint64_t keys[BATCH], hits[BATCH / 64];
    elements *passed = intersect_new_set(t);
    buffer image = { 0 };
    tamis *f = t->plan.kind ? receive_filter(t, &image) : NULL;
    size_t n;

    memset(hits, 0xff, sizeof hits);
    elements_rewind(t->set);
    while ((n = next_batch(t, batch, keys)) > 0) {
        if (f)
            tamis_has_many(f, hits, keys, n);
        for (size_t i = 0; i < n; i++)
            if (hits[i / 64] >> i % 64 & 1)
                elements_add(passed, &batch[i]);
    }
    elements_sort(passed);
    tamis_free(f);
    buffer_free(&image);
    t->answered = elements_count(passed);
    return passed;
}

/* The high half of hash * range, from its four products of halves, as not every machine has a type
 * of 128 bits. The order of numbers is that of hashes. */
static uint64_t number_of(const element *e, uint64_t range)
{
    uint64_t low = (uint32_t)e->hash, high = e->hash >> 32;
    uint64_t middle = high * (uint32_t)range + (low * (uint32_t)range >> 32);
    uint64_t other = low * (range >> 32) + (uint32_t)middle;

    return high * (range >> 32) + (middle >> 32) + (other >> 32);
}

/* Goes through the elements of an answer. Those of one number are in one place; what is not coded
 * has a place of its own. */
typedef struct walk {
    const intersect *t;
    elements *answer;
    uint64_t range, number;
    uint64_t place; /* of the element at hand */
    bool is_new;    /* it is the first of its place */
    uint64_t n;     /* elements so far */
} walk;

static walk walk_through(const intersect *t, elements *answer)
{
    elements_rewind(answer);
    return (walk){ .t = t,
                   .answer = answer,
                   .range = intersect_range(t->there.n, elements_count(answer)) };
}

static const element *walk_on(walk *w)
{
    const element *e = elements_next(w->answer);

    if (!e)
        return NULL;
    uint64_t number = number_of(e, w->range);
    w->is_new = w->n == 0 || w->t->plan.form == INTERSECT_UNCODED || number != w->number;
    w->place += w->is_new && w->n > 0;
    w->number = number;
    if (w->n++ % BATCH == 0)
        line_breathe(w->t->line);
    return e;
}

static uint64_t count_places(const intersect *t, elements *answer)
{
    walk w = walk_through(t, answer);
    uint64_t places = 0;

    while (walk_on(&w))
        places += w.is_new;
    return places;
}

/* An integer is all there is to know. */
static void put_uncoded(const intersect *t, buffer *out, const element *e)
{
    if (!t->is_raw)
        put_number(out, e->hash);
    put_number(out, e->rest);
}

/* Returns how many numbers there are. */
static uint64_t send_answer(const intersect *t, elements *answer)
{
    uint64_t places = count_places(t, answer), after = 0;
    walk w = walk_through(t, answer);
    rice_writer numbers = { .low = rice_low_bits(w.range, places) };
    const element *e;

    send_number(t->line, PART_ANSWER, elements_count(answer));
    send_number(t->line, PART_ANSWER, places);
    while ((e = walk_on(&w))) {
        if (t->plan.form == INTERSECT_UNCODED)
            put_uncoded(t, &numbers.out, e);
        else if (w.is_new)
            rice_put(&numbers, w.number - after);
        after = w.number + 1;
        send_when_full(t->line, PART_ANSWER, &numbers.out, SEND_AT);
    }
    rice_end(&numbers);
    send_when_full(t->line, PART_ANSWER, &numbers.out, 1);
    buffer_free(&numbers.out);
    return places;
}

/* ---- Which of them are there ------------------------------------------- */

/* What is in common, as far as is known: elements whose hash is the place of their number. */
typedef struct common {
    elements *of;
    uint64_t places;
    buffer bits; /* of the places: whether the first side has such an element */
    uint64_t n_bits;
} common;

static void set_bit(common *c, uint64_t place, bool is_set)
{
    static const char zero;

    if (place / 8 >= c->bits.size)
        buffer_append(&c->bits, &zero, 1);
    c->bits.bytes[place / 8] = (char)(c->bits.bytes[place / 8] | is_set << place % 8);
    c->n_bits += is_set;
}

static bool has_bit(const buffer *bits, uint64_t i)
{
    return bits->bytes[i / 8] >> i % 8 & 1;
}

typedef struct hearing {
    const intersect *t;
    uint64_t range, after; /* the last number, from 1 */
    rice_reader in;
    element heard;       /* its number in place of the hash, or all of it */
    const element *next; /* of this side */
} hearing;

static uint64_t hear_number(hearing *h)
{
    uint64_t number = 0;
    size_t size = 0;

    for (unsigned i = 0; i < 8; i++) {
        if (h->in.at == h->in.end) {
            if (!bring_more(h->in.ctx, &h->in.at, &size))
                line_refuse(h->t->line, "the answer is shorter than announced");
            h->in.end = h->in.at + size;
        }
        number |= (uint64_t)*h->in.at++ << 8 * i;
    }
    return number;
}

static void hear_uncoded(hearing *h)
{
    h->heard.hash = h->t->is_raw ? 0 : hear_number(h);
    h->heard.rest = hear_number(h);
    if (h->t->is_raw)
        h->heard.hash = intersect_hash(&h->t->order, h->heard.rest);
}

static void hear_coded(hearing *h)
{
    uint64_t gap;

    if (h->after >= h->range || !rice_get(&h->in, &gap, h->range - 1 - h->after))
        line_refuse(h->t->line, "the answer has a number that is too large, or too few of them");
    h->heard.hash = h->after + gap;
    h->after = h->heard.hash + 1;
}

/* Where the next element of this side is: before what was heard, the same, or after it. */
static int compare_next(const hearing *h)
{
    const element *x = h->next, *y = &h->heard;
    bool is_coded = h->t->plan.form == INTERSECT_CODED;
    uint64_t hash = is_coded ? number_of(x, h->range) : x->hash;

    if (hash != y->hash || is_coded)
        return (hash > y->hash) - (hash < y->hash);
    return (x->rest > y->rest) - (x->rest < y->rest);
}

/* Takes the elements of this side that what was heard may stand for. */
static void match(hearing *h, common *c, uint64_t place)
{
    int order = -1;
    bool found = false;

    while (h->next && (order = compare_next(h)) <= 0) {
        if (order == 0)
            elements_add(c->of, &(element){ place, h->next->rest, h->next->line });
        found |= order == 0;
        h->next = elements_next(h->t->set);
    }
    set_bit(c, place, found);
}

/* An answer has no more elements than the other side has. */
static void check_answer(const intersect *t, const common *c)
{
    if (t->answered > t->there.n || c->places > t->answered || (t->answered > 0 && c->places == 0))
        line_refuse(t->line, "the answer is of %" PRIu64 " elements, of %" PRIu64 " there are",
                    t->answered, t->there.n);
}

static common receive_answer(intersect *t)
{
    common c = { .of = intersect_new_set(t) };
    incoming from = { t->line, PART_ANSWER };
    hearing h = { .t = t, .in = { .more = bring_more, .ctx = &from } };

    t->answered = receive_number(t->line, PART_ANSWER);
    c.places = receive_number(t->line, PART_ANSWER);
    check_answer(t, &c);
    h.range = intersect_range(t->here.n, t->answered);
    h.in.low = rice_low_bits(h.range, c.places);
    elements_rewind(t->set);
    h.next = elements_next(t->set);
    for (uint64_t i = 0; i < c.places; i++) {
        if (t->plan.form == INTERSECT_CODED)
            hear_coded(&h);
        else
            hear_uncoded(&h);
        match(&h, &c, i);
    }
    if (!rice_is_at_end(&h.in))
        line_refuse(t->line, "the answer is longer than announced");
    elements_sort(c.of);
    return c;
}

/* ---- The verdict ------------------------------------------------------- */

/* Only the places of the rarer of yes and no are sent. */
static bool rarer(const common *c)
{
    return c->n_bits <= c->places / 2;
}

static void send_bits(const intersect *t, const common *c)
{
    bool wanted = rarer(c);
    uint64_t n = wanted ? c->n_bits : c->places - c->n_bits, after = 0;
    rice_writer w = { .low = rice_low_bits(c->places, n) };

    send_number(t->line, PART_VERDICT, c->n_bits);
    for (uint64_t i = 0; i < c->places && n > 0; i++)
        if (has_bit(&c->bits, i) == wanted) {
            rice_put(&w, i - after);
            after = i + 1;
            send_when_full(t->line, PART_VERDICT, &w.out, SEND_AT);
        }
    rice_end(&w);
    send_when_full(t->line, PART_VERDICT, &w.out, 1);
    buffer_free(&w.out);
}

static void receive_bits(const intersect *t, common *c)
{
    incoming from = { t->line, PART_VERDICT };
    rice_reader in = { .more = bring_more, .ctx = &from };
    uint64_t n_bits = receive_number(t->line, PART_VERDICT), gap = 0;

    if (n_bits > c->places)
        line_refuse(t->line, "the verdict is of more elements than were asked for");
    c->n_bits = n_bits;
    bool wanted = rarer(c);
    uint64_t n = wanted ? n_bits : c->places - n_bits, i = 0;
    c->n_bits = 0;
    in.low = rice_low_bits(c->places, n);
    for (; n > 0; n--) {
        if (i == c->places || !rice_get(&in, &gap, c->places - 1 - i))
            line_refuse(t->line, "the verdict has a number that is too large, or too many");
        for (; gap > 0; gap--)
            set_bit(c, i++, !wanted);
        set_bit(c, i++, wanted);
    }
    while (i < c->places)
        set_bit(c, i++, !wanted);
    if (!rice_is_at_end(&in))
        line_refuse(t->line, "the verdict is longer than announced");
}

/* ---- Checksums of groups ----------------------------------------------- */

static uint64_t group_of(const element *e)
{
    return e->hash / INTERSECT_GROUP;
}

/* What is not coded was compared in full. */
static uint64_t count_groups(const intersect *t, const common *c)
{
    if (t->plan.form == INTERSECT_UNCODED)
        return 0;
    return c->places / INTERSECT_GROUP + (c->places % INTERSECT_GROUP > 0);
}

/* Of the next group, from its first element on; 0 if it has none. */
static uint64_t next_sum(const intersect *t, common *c, const element **e, uint64_t group)
{
    uint64_t sum = 0;

    for (; *e && group_of(*e) == group; *e = elements_next(c->of))
        sum += intersect_hash(&t->check, (*e)->rest);
    if (group % BATCH == 0)
        line_breathe(t->line);
    return sum;
}

static void send_sums(const intersect *t, common *c)
{
    uint64_t groups = count_groups(t, c);
    buffer out = { 0 };

    elements_rewind(c->of);
    const element *e = elements_next(c->of);
    for (uint64_t group = 0; group < groups; group++) {
        put_number(&out, next_sum(t, c, &e, group));
        send_when_full(t->line, PART_CHECK, &out, SEND_AT);
    }
    send_when_full(t->line, PART_CHECK, &out, 1);
    buffer_free(&out);
}

/* Returns which groups do not agree, as uint64_t. */
static buffer receive_sums(const intersect *t, common *c)
{
    uint64_t groups = count_groups(t, c), there;
    coded sums = { 0 };
    buffer bad = { 0 };

    elements_rewind(c->of);
    const element *e = elements_next(c->of);
    for (uint64_t group = 0; group < groups; group++) {
        if (sums.at == sums.end) {
            line_frame f = line_expect(t->line, PART_CHECK);
            sums = coded_of(f.body, f.size);
        }
        if (!coded_bytes(&sums, &there, 8))
            line_refuse(t->line, "checksums of groups are missing");
        if (there != next_sum(t, c, &e, group))
            buffer_append(&bad, &group, sizeof group);
    }
    if (sums.at != sums.end)
        line_refuse(t->line, "there are more checksums than groups");
    return bad;
}

/* ---- Groups that do not agree ------------------------------------------ */

/* A line of this side that is in common. */
static void keep(elements *result, const element *e)
{
    elements_add(result, &(element){ .hash = e->line });
}

/* Sends each bad group: its number, how many elements it has here, and what they are. */
static void send_bad(intersect *t, common *c, const buffer *bad)
{
    const uint64_t *groups = (const void *)bad->bytes;
    size_t n = bad->size / sizeof *groups;
    const element *e;
    buffer out = { 0 }, rests = { 0 };

    elements_rewind(c->of);
    e = elements_next(c->of);
    for (size_t i = 0; i < n; i++) {
        rests.size = 0;
        for (; e && group_of(e) <= groups[i]; e = elements_next(c->of))
            if (group_of(e) == groups[i])
                put_number(&rests, e->rest);
        put_number(&out, groups[i]);
        put_number(&out, rests.size / 8);
        buffer_append(&out, rests.bytes, rests.size);
    }
    if (out.size)
        line_send(t->line, PART_REPAIR, out.bytes, out.size);
    line_send(t->line, PART_REPAIR, NULL, 0);
    t->repaired = n;
    buffer_free(&out);
    buffer_free(&rests);
}

/* Keeps what is in groups that agree, and what the other side has of the others. */
static elements *settle_second(intersect *t, common *c, const buffer *bad)
{
    const uint64_t *groups = (const void *)bad->bytes;
    size_t n = bad->size / sizeof *groups, g = 0;
    elements *result = intersect_new_set(t);
    buffer bits = { 0 };
    uint64_t i = 0;
    const element *e;

    if (n > 0)
        bits = receive_all(t, PART_REST);
    elements_rewind(c->of);
    while ((e = elements_next(c->of))) {
        while (g < n && groups[g] < group_of(e))
            g++;
        bool is_bad = g < n && groups[g] == group_of(e);
        if (is_bad && i / 8 >= bits.size)
            line_refuse(t->line, "what is left of the verdict is too short");
        if (!is_bad || has_bit(&bits, i))
            keep(result, e);
        i += is_bad;
    }
    buffer_free(&bits);
    return result;
}

/* A group of the other side, as it was sent. */
typedef struct bad_group {
    const char *rests;
    uint64_t group, n;
    size_t first; /* its bit */
} bad_group;

/* The next group in order, or false. */
static bool next_bad(const intersect *t, const buffer *all, size_t *at, bad_group *b)
{
    size_t left = all->size / 8 - *at;
    uint64_t last = b->group;

    if (left == 0)
        return false;
    b->first += (size_t)b->n;
    b->group = number_at(all->bytes, *at);
    b->n = left > 1 ? number_at(all->bytes, *at + 1) : UINT64_MAX;
    b->rests = all->bytes + 8 * (*at + 2);
    if (all->size % 8 || left < 2 || b->n > left - 2 || (*at > 0 && b->group <= last))
        line_refuse(t->line, "groups to be repaired make no sense");
    *at += 2 + (size_t)b->n;
    return true;
}

/* Whether the other side has it, which is told that this one has. */
static bool is_in_group(const bad_group *b, const element *e, uint8_t *bits)
{
    bool found = false;

    for (uint64_t i = 0; i < b->n; i++)
        if (number_at(b->rests, (size_t)i) == e->rest) {
            uint64_t bit = b->first + i;
            bits[bit / 8] = (uint8_t)(bits[bit / 8] | 1 << bit % 8);
            found = true;
        }
    return found;
}

static elements *settle_first(intersect *t, common *c)
{
    buffer all = receive_all(t, PART_REPAIR);
    size_t n_bytes = all.size / 64 + 1, at = 0;
    uint8_t *bits = array_new(n_bytes, 1, "bits");
    elements *result = intersect_new_set(t);
    bad_group b = { 0 };

    elements_rewind(c->of);
    const element *e = elements_next(c->of);
    for (; next_bad(t, &all, &at, &b); t->repaired++) {
        for (; e && group_of(e) < b.group; e = elements_next(c->of))
            keep(result, e);
        for (; e && group_of(e) == b.group; e = elements_next(c->of))
            if (is_in_group(&b, e, bits))
                keep(result, e);
    }
    for (; e; e = elements_next(c->of))
        keep(result, e);
    if (all.size > 0) {
        line_send(t->line, PART_REST, bits, n_bytes);
        line_send(t->line, PART_REST, NULL, 0);
    }
    buffer_free(&all);
    free(bits);
    return result;
}

/* ---- Both sides -------------------------------------------------------- */

static elements *run_first(intersect *t)
{
    if (t->plan.kind)
        send_filter(t);
    common c = receive_answer(t);
    send_bits(t, &c);
    send_sums(t, &c);
    elements *result = settle_first(t, &c);
    elements_free(c.of);
    buffer_free(&c.bits);
    return result;
}

static elements *run_second(intersect *t)
{
    elements *answer = sift(t);
    common c = { .of = intersect_new_set(t), .places = send_answer(t, answer) };
    const element *e;

    receive_bits(t, &c);
    walk w = walk_through(t, answer);
    while ((e = walk_on(&w)))
        if (has_bit(&c.bits, w.place))
            elements_add(c.of, &(element){ w.place, e->rest, e->line });
    elements_sort(c.of);
    elements_free(answer);
    buffer bad = receive_sums(t, &c);
    send_bad(t, &c, &bad);
    elements *result = settle_second(t, &c, &bad);
    elements_free(c.of);
    buffer_free(&c.bits);
    buffer_free(&bad);
    return result;
}

elements *intersect_run(intersect *t)
{
    elements *result = (t->is_first ? run_first : run_second)(t);

    elements_sort(result);
    return result;
}
