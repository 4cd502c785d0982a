/* replicas_talk.c - two replicas compare themselves, at two ends of a line. */
#include "replicas_talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/spec.h"
#include "term/array.h"
#include "wire/coded.h"
#include "wire/packed_message.h"

enum {
    PART_ASK = 'A',
    PART_NUMBERS = 'N',
    PART_GROUPS = 'G',
    PART_SUMS = 'S',
    PART_DIFFER = 'D',
    PART_RATE = 'R',
    PART_FILTER = 'F',
    PART_TALLY = 'T',
    PART_END = 'E',
    PART_LINES = 'L'
};

const traffic_part replicas_parts[] = {
    { 'H', "greeting" },
    { PART_ASK, "question" },
    { PART_NUMBERS, "numbers" },
    { PART_GROUPS, "groups" },
    { PART_SUMS, "sums" },
    { PART_DIFFER, "differ" },
    { PART_RATE, "rates" },
    { PART_FILTER, "filters" },
    { PART_TALLY, "tallies" },
    { PART_END, "end" },
    { PART_LINES, "names" },
    { '.', "alive" },
    { 0, NULL },
};

/* So that nobody is kept busy for ever. */
enum { ROUNDS_MOST = 255 };

/* ---- Messages ---------------------------------------------------------- */

static _Noreturn void refuse_message(const replicas *r)
{
    line_refuse(r->line, "a message makes no sense");
}

static void send_numbers(const replicas *r, char part, uint64_t a, uint64_t b)
{
    buffer body = { 0 };

    coded_put_number(&body, a);
    coded_put_bytes(&body, b, 8);
    line_put(r->line, part, &body);
}

static side_tally read_numbers(const replicas *r, line_frame f)
{
    coded c = coded_of(f.body, f.size);
    side_tally t;

    if (!coded_number(&c, &t.n) || !coded_bytes(&c, &t.sum, 8) || c.at != c.end)
        refuse_message(r);
    return t;
}

static void send_tally(const replicas *r, char part)
{
    side_tally t = side_count(&r->side, SIDE_OPEN);

    send_numbers(r, part, t.n, t.sum);
}

static bool is_same(side_tally a, side_tally b)
{
    return a.n == b.n && a.sum == b.sum;
}

/* ---- Both sides -------------------------------------------------------- */

static void make_side(replicas *r, const uint8_t secret[16])
{
    line_set *set = &r->here->set;

    if (!inventory_index(r->here, secret, r->line))
        line_refuse(r->line, "two names have the same hash by accident; run this again");
    if (!side_make(&r->side, set->n))
        die(CODE_MEMORY, "out of memory for %zu names", set->n);
    for (size_t i = 0; i < set->n; i++) {
        r->side.keys[i] = set->lines[i].key;
        r->side.others[i] = line_set_other(set, line_set_line(set, &set->lines[i]));
    }
}

/* The rate of the filter that is sent; 0 of none. */
static double send_filter(const replicas *r, double fpr)
{
    buffer image = { 0 };
    tamis *f;
    tamis_status status = side_filter(&r->side, r->rounds, fpr, &f);
    double rate = f ? tamis_plan_of(f)->fpr : 0;

    if (f && !status) {
        buffer_reserve(&image, tamis_image_size(f));
        image.size = tamis_image_size(f);
        status = tamis_image_write(f, image.bytes, image.size);
    }
    if (status)
        die_status("make", "a filter of names", status);
    packed_put(r->line, PART_FILTER, &image, r->offers);
    tamis_free(f);
    return rate;
}

static buffer take_image(const replicas *r, line_frame first)
{
    buffer image = { 0 };

    packed_take(r->line, first, &image, r->memory / 2); /* the filter is a copy */
    return image;
}

/* By the filter that came. Returns its rate; 0 of none. */
static double sift_by(replicas *r, buffer *image)
{
    tamis *f = NULL;
    tamis_status status =
        image->size > 0 ? tamis_image_read(&f, image->bytes, image->size, NULL) : TAMIS_OK;

    if (status == TAMIS_NOMEM)
        die(CODE_MEMORY, "out of memory for a filter of %zu bytes", image->size);
    if (status)
        line_refuse(r->line, "a filter makes no sense: %s", tamis_status_text(status));
    side_sift(&r->side, f);
    double rate = f ? tamis_plan_of(f)->fpr : 0;
    tamis_free(f);
    buffer_free(image);
    return rate;
}

/* ---- The side that asks ------------------------------------------------ */

typedef struct asking {
    replicas *r;
    uint8_t secret[16];
    side_tally there;   /* all of the other side */
    side_tally open;    /* what is left of it */
    double passed[2];   /* chances that a name which only one side has passed all filters so
                           far: one of this side, one of the other */
    double comparisons; /* of sums */
} asking;

static void send_question(const asking *a)
{
    const inventory *v = a->r->here;
    uint8_t body[sizeof a->secret + 3] = { 0 };

    memcpy(body, a->secret, sizeof a->secret);
    body[16] = v->is_folder;
    body[17] = v->set.end;
    body[18] = (uint8_t)(v->is_folder ? v->facts : 0);
    line_send(a->r->line, PART_ASK, body, sizeof body);
    line_flush(a->r->line);
}

/* Bytes of sums for so many groups, and of filters for what is then in question, if d of n names
 * differ: a filter takes about as many bits for a name as d has, and some. */
static double cost_of(unsigned bits, double n, double d)
{
    double groups = exp2(bits);

    return 8 * groups - n * expm1(-d / groups) * (log2(d + 1) + 5) / 8;
}

static unsigned best_bits(double n, double d)
{
    unsigned best = 0;

    for (unsigned bits = 1; bits <= SIDE_BITS_MOST; bits++)
        if (cost_of(bits, n, d) < cost_of(best, n, d))
            best = bits;
    return best;
}

/* Asks for the sums, and returns a bit for each group that differs, and how many do. */
static buffer compare_groups(asking *a, unsigned bits, size_t *n_differ)
{
    replicas *r = a->r;
    size_t n = (size_t)1 << bits;
    uint64_t *sums = array_new(n, sizeof *sums, "sums of groups"), sum;
    buffer got = { 0 }, differs = { 0 };

    send_numbers(r, PART_GROUPS, bits, 0);
    side_sum_groups(&r->side, bits, sums);
    packed_receive(r->line, PART_SUMS, &got, n * 8);
    coded c = coded_of(got.bytes, got.size);
    buffer_reserve(&differs, n / 8 + 1);
    memset(differs.bytes, 0, differs.size = (n + 7) / 8);
    *n_differ = 0;
    for (size_t i = 0; i < n; i++) {
        if (!coded_bytes(&c, &sum, 8))
            refuse_message(r);
        *n_differ += sum != sums[i];
        differs.bytes[i / 8] = (char)(differs.bytes[i / 8] | (sum != sums[i]) << i % 8);
    }
    free(sums);
    buffer_free(&got);
    return differs;
}

/* How many names differ, if so many of the groups do; if all do, at least so many. */
static double differences(unsigned bits, size_t n_differ)
{
    double groups = exp2(bits), same = fmax(groups - (double)n_differ, 0.5);

    return -groups * log(same / groups);
}

/* Of names that only the larger side can have, all are in question. At first there are as many
 * groups as suit one difference. How many of them differ tells how many names do,
 * and whether more groups would pay: they have to save a fifth. */
static void find_groups(asking *a)
{
    replicas *r = a->r;
    double n = 2 * fmin((double)r->side.n, (double)a->there.n), now = INFINITY, d = 1;
    unsigned bits = 0, next;

    while ((next = best_bits(n, d)) > bits && cost_of(next, n, d) < 0.8 * now) {
        size_t n_differ;

        bits = next;
        buffer differs = compare_groups(a, bits, &n_differ);
        side_settle(&r->side, bits, (const uint8_t *)differs.bytes);
        packed_put(r->line, PART_DIFFER, &differs, r->offers);
        a->comparisons += exp2(bits);
        d = differences(bits, n_differ);
        now = cost_of(bits, n, d) - 8 * exp2(bits);
    }
}

/* The first filters find most of what is missing. Then it is known how much is likely left, and one
 * more round finds all of it in 19 of 20 cases. */
static const double FIRST_RATE = 1.0 / 16, LEFT_RATE = 0.05, LEAST_RATE = 1e-9;

static double likely_overlooked(const asking *a, uint64_t missing_there)
{
    double here = (double)a->r->side.n_missing + 1, there = (double)missing_there + 1;

    return here * a->passed[0] / (1 - a->passed[0]) + there * a->passed[1] / (1 - a->passed[1]);
}

static uint64_t missing_there(const asking *a)
{
    side_tally settled = side_count(&a->r->side, SIDE_SETTLED);

    return a->there.n - settled.n - a->open.n;
}

static double next_rate(const asking *a)
{
    if (a->r->fpr > 0 || a->r->rounds == 0)
        return a->r->fpr > 0 ? a->r->fpr : FIRST_RATE;
    return fmax(fmin(LEFT_RATE / likely_overlooked(a, missing_there(a)), FIRST_RATE), LEAST_RATE);
}

/* Rates travel as sixteenths of a bit. */
static double rate_of(uint64_t sixteenths)
{
    return exp2(-(double)sixteenths / 16);
}

static void do_round(asking *a)
{
    replicas *r = a->r;
    uint64_t sixteenths = (uint64_t)ceil(-log2(next_rate(a)) * 16);

    r->rounds++;
    send_numbers(r, PART_RATE, sixteenths, 0);
    a->passed[1] *= send_filter(r, rate_of(sixteenths));
    buffer image = take_image(r, line_expect(r->line, PART_FILTER));
    a->passed[0] *= sift_by(r, &image);
    a->open = read_numbers(r, line_expect(r->line, PART_TALLY));
    a->comparisons++;
    if (a->open.n > a->there.n - side_count(&r->side, SIDE_SETTLED).n)
        refuse_message(r);
    r->agrees = is_same(a->open, side_count(&r->side, SIDE_OPEN));
}

/* They are as many as were announced, this side has none of them, and with what is left they have
 * the sum of all. */
static void check_lines(const asking *a)
{
    const replicas *r = a->r;
    const line_set *set = &r->here->set;
    side_tally settled = side_count(&r->side, SIDE_SETTLED);
    uint64_t sum = settled.sum + a->open.sum;
    size_t at = 0;
    span text, name;

    while (line_next(&r->only_there, r->here->set.end, &at, &text)) {
        if (!inventory_name(r->here, text, &name) || line_set_find(set, line_set_key(set, text)))
            line_refuse(r->line, "it sent a name that nobody lacks");
        sum += line_set_other(set, text);
    }
    if (sum != a->there.sum)
        line_refuse(r->line, "the names that it sent are not those that are missing");
}

static void receive_lines(asking *a)
{
    replicas *r = a->r;
    const buffer *all = &r->only_there;
    size_t at = 0;
    span text;

    packed_receive(r->line, PART_LINES, &r->only_there, r->memory);
    if (all->size > 0 && (unsigned char)all->bytes[all->size - 1] != r->here->set.end)
        line_refuse(r->line, "the last name has no end");
    while (line_next(&r->only_there, r->here->set.end, &at, &text))
        r->n_there++;
    if (r->n_there > (r->memory - all->size) / REPLICAS_NAME)
        line_refuse(r->line, "%" PRIu64 " names take more than --memory allows", r->n_there);
    if (r->n_there != missing_there(a))
        line_refuse(r->line, "it sent another number of names than are missing");
    check_lines(a);
}

/* A sum of 64 bits agrees by accident once in 2^64 times. */
static void conclude(asking *a)
{
    replicas *r = a->r;

    r->chance = r->agrees ? fmin(a->comparisons * 0x1p-64, 1) : 1;
    r->overlooked = r->agrees ? 0 : fmax(likely_overlooked(a, r->n_there), 1);
}

static void find_missing(asking *a)
{
    replicas *r = a->r;

    find_groups(a);
    while (!r->agrees && r->rounds < r->rounds_most)
        do_round(a);
}

void replicas_ask(replicas *r)
{
    asking a = { .r = r, .passed = { 1, 1 }, .comparisons = 1 };

    draw_secret(a.secret);
    send_question(&a);
    make_side(r, a.secret);
    send_tally(r, PART_NUMBERS);
    a.there = a.open = read_numbers(r, line_expect(r->line, PART_NUMBERS));
    r->all_there = a.there.n;
    r->agrees = is_same(a.there, side_count(&r->side, SIDE_OPEN));
    bool is_equal = r->agrees;
    if (!is_equal)
        find_missing(&a);
    send_numbers(r, PART_END, r->side.n_missing, !is_equal);
    if (!is_equal)
        receive_lines(&a);
    conclude(&a);
}

/* ---- The side that serves ---------------------------------------------- */

typedef struct serving {
    replicas *r;
    uint8_t secret[16];
    unsigned bits; /* of groups */
    double fpr;    /* of the next filter; 0: none may come */
} serving;

static void take_question(serving *s)
{
    const inventory *v = s->r->here;
    const uint8_t *body = line_expect_bytes(s->r->line, PART_ASK, sizeof s->secret + 3);

    memcpy(s->secret, body, sizeof s->secret);
    if (body[16] != v->is_folder)
        line_refuse(s->r->line, "one side has a list, the other a folder");
    if (body[17] != v->set.end)
        line_refuse(s->r->line, "lines end differently on the two sides; give --null on both");
    if (body[18] > FACTS_CONTENT)
        refuse_message(s->r);
    s->r->here->facts = (inventory_facts)body[18];
}

enum { GROUPS_LEAST = 64 };

static void answer_groups(serving *s, line_frame f)
{
    side_tally wanted = read_numbers(s->r, f);
    buffer body = { 0 };

    /* Each time there are more, and never many more than names. */
    if (wanted.n > SIDE_BITS_MOST || wanted.n <= s->bits ||
        s->r->side.n + GROUPS_LEAST < (size_t)1 << wanted.n)
        refuse_message(s->r);
    s->bits = (unsigned)wanted.n;
    size_t n = (size_t)1 << s->bits;
    uint64_t *sums = array_new(n, sizeof *sums, "sums of groups");
    side_sum_groups(&s->r->side, s->bits, sums);
    for (size_t i = 0; i < n; i++)
        coded_put_bytes(&body, sums[i], 8);
    packed_put(s->r->line, PART_SUMS, &body, s->r->offers);
    free(sums);
}

static void take_differing(serving *s, line_frame f)
{
    size_t size = (((size_t)1 << s->bits) + 7) / 8;
    buffer differs = { 0 };

    packed_take(s->r->line, f, &differs, size);
    if (differs.size != size)
        refuse_message(s->r);
    side_settle(&s->r->side, s->bits, (const uint8_t *)differs.bytes);
    buffer_free(&differs);
}

/* No rate is below 2^-40. */
enum { SIXTEENTHS_MOST = 40 * 16 };

static void take_rate(serving *s, line_frame f)
{
    uint64_t sixteenths = read_numbers(s->r, f).n;

    if (sixteenths == 0 || sixteenths > SIXTEENTHS_MOST || s->r->rounds == ROUNDS_MOST)
        refuse_message(s->r);
    s->fpr = rate_of(sixteenths);
}

/* What the filter of the other side lacks is not there: this side's need not have it. */
static void answer_filter(serving *s, line_frame f)
{
    replicas *r = s->r;

    if (s->fpr <= 0)
        refuse_message(r);
    r->rounds++;
    buffer image = take_image(r, f);
    sift_by(r, &image);
    send_filter(r, s->fpr);
    send_tally(r, PART_TALLY);
    s->fpr = 0;
}

static void send_lines(const replicas *r)
{
    const line_set *set = &r->here->set;
    line_ref *lines = array_new(r->side.n_missing, sizeof *lines, "lines");
    buffer text = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < r->side.n; i++)
        if (r->side.states[i] == SIDE_MISSING)
            lines[n++] = set->lines[i];
    line_set_sort(set, lines, n);
    line_set_write(set, lines, n, &text);
    packed_put(r->line, PART_LINES, &text, r->offers);
    free(lines);
}

/* False: that was the end. */
static bool answer(serving *s, line_frame f)
{
    if (f.part == PART_GROUPS)
        answer_groups(s, f);
    else if (f.part == PART_DIFFER)
        take_differing(s, f);
    else if (f.part == PART_RATE)
        take_rate(s, f);
    else if (f.part == PART_FILTER)
        answer_filter(s, f);
    else if (f.part != PART_END)
        line_refuse(s->r->line, "a message of part '%c' makes no sense here", f.part);
    return f.part != PART_END;
}

void replicas_serve(replicas *r)
{
    serving s = { .r = r };
    line_frame f;

    take_question(&s);
    make_side(r, s.secret);
    r->all_there = read_numbers(r, line_expect(r->line, PART_NUMBERS)).n;
    send_tally(r, PART_NUMBERS);
    while (f = line_receive(r->line), answer(&s, f))
        ;
    side_tally end = read_numbers(r, f);
    r->n_there = end.n;
    if (end.sum)
        send_lines(r);
}

void replicas_free(replicas *r)
{
    side_free(&r->side);
    buffer_free(&r->only_there);
}
