/* reconcile_ask.c - the end of a reconciliation that asks: it takes symbols until it knows which
 * keys differ.
 *
 * The first symbols tell about how many do. From these few the error is a quarter, so that no more
 * are asked for than are very likely needed. With each answer the estimate gets better, up to where
 * small steps are left. The two factors in next_step() were chosen by simulation, for few symbols
 * too many in few rounds: 1.52 symbols for each of 100 keys, 1.36 for each of 100,000, where 1.46
 * and 1.355 are needed, in five or six rounds. */
#include <math.h>
#include <stdlib.h>

#include "filters/spec.h"
#include "key_set.h"
#include "reconcile_talk.h"
#include "term/array.h"
#include "term/progress.h"
#include "wire/packed_message.h"

typedef struct asking {
    reconcile *r;
    uint8_t secret[16];
    tamis_difference *difference;
    uint64_t bytes_there; /* of all lines */
    double packed_there;  /* and if they are sent; 0: not known */
    uint64_t taken;       /* symbols */
    bool is_done;
    uint64_t *keys_there; /* that differ, in order */
    size_t n_there;
} asking;

/* ---- Begin ------------------------------------------------------------- */

static void send_question(asking *a)
{
    reconcile_seal seal = reconcile_seal_form(a->r, a->secret);
    buffer body = { 0 };

    buffer_append(&body, a->secret, sizeof a->secret);
    coded_put_number(&body, seal.is_image);
    coded_put_number(&body, seal.end);
    if (seal.is_image) {
        coded_put_bytes(&body, seal.hasher, 8);
        coded_put_bytes(&body, seal.range, 8);
    }
    line_put(a->r->line, PART_ASK, &body);
}

/* False: two lines of the other side have the same key. */
static bool receive_numbers(asking *a)
{
    coded c = reconcile_expect(a->r, PART_SET);
    uint64_t answer = reconcile_number(a->r, &c);

    a->r->rounds++;
    a->r->all_there = reconcile_number(a->r, &c);
    a->bytes_there = reconcile_number(a->r, &c);
    if (c.at != c.end)
        reconcile_refuse_frame(a->r);
    return answer == RECONCILE_FINE;
}

static void begin_difference(asking *a)
{
    tamis_symbols *own = reconcile_symbols(a->r, a->secret);
    tamis_status status = tamis_difference_new(&a->difference, own, NULL);

    if (status)
        die_status("compare with", "the other side", status);
}

/* ---- Symbols ----------------------------------------------------------- */

/* Takes symbols of one frame. False: they are of no set. */
static bool take_frame(asking *a, uint64_t most, uint64_t *taken)
{
    coded c = reconcile_expect(a->r, PART_SYMBOLS);
    buffer symbols = { 0 };
    tamis_status status = TAMIS_OK;

    if (!coded_symbols(&c, &symbols, most, a->taken, a->r->all_there) || symbols.size == 0)
        reconcile_refuse_frame(a->r);
    *taken = symbols.size / sizeof(tamis_symbol);
    if (!a->is_done)
        status = tamis_difference_take(a->difference, (const void *)symbols.bytes, (size_t)*taken,
                                       &a->is_done);
    if (status == TAMIS_NOMEM)
        die_status("compare with", "the other side", status);
    buffer_free(&symbols);
    return status == TAMIS_OK;
}

static bool take_symbols(asking *a, uint64_t n)
{
    bool is_fine = true;

    for (uint64_t taken; n > 0; n -= taken, a->taken += taken) {
        is_fine &= take_frame(a, n, &taken);
        line_breathe(a->r->line);
    }
    return is_fine;
}

/* Symbols that it takes on average to find so many keys, as measured. */
static double symbols_for(double keys)
{
    return keys * (1.35 + 1.1 / sqrt(keys + 1));
}

/* Of a peer that lies, too, no more can differ than there is. */
static double keys_that_differ(const asking *a)
{
    double all = (double)a->r->here.n + (double)a->r->all_there;

    return fmin(tamis_difference_estimate(a->difference), all);
}

static uint64_t next_step(const asking *a)
{
    double keys = keys_that_differ(a), taken = (double)a->taken;
    /* Of the estimate, and of what it takes: as shares. */
    double spread = sqrt(2 / taken + 0.5 / (keys + 1));
    double step = symbols_for(keys) * (1 - 1.25 * spread) - taken;
    double least = fmax(4, 0.7 * spread * taken);

    return (uint64_t)fmin(fmax(step, least), 0x1p62); /* more than anybody sends */
}

/* Bytes for each symbol while it is worked on. */
enum { SYMBOL_MEMORY = 96 };

static void check_memory(const asking *a, uint64_t n)
{
    if (a->taken + n > a->r->memory / SYMBOL_MEMORY)
        line_refuse(a->r->line,
                    "what differs takes more than %zu bytes, which is larger than --memory allows",
                    a->r->memory);
}

/* False: it should have been enough long ago. A symbol that was taken for a single key by mistake
 * spoils the others for good. */
static bool ask_for_symbols(asking *a)
{
    uint64_t n = next_step(a);
    buffer body = { 0 };

    if ((double)a->taken > 3 * symbols_for(keys_that_differ(a)) + 4 * TAMIS_SYMBOLS_FIRST)
        return false;
    check_memory(a, n);
    coded_put_number(&body, n);
    line_put(a->r->line, PART_MORE, &body);
    a->r->rounds++;
    progress_show(a->taken, a->taken + n, "symbols");
    return take_symbols(a, n);
}

/* ---- All lines --------------------------------------------------------- */

/* Lines are compressed to this share of their bytes at best; if symbols take less, nobody needs to
 * try. */
#define LEAST_SHARE (1 / 20.0)

static double weigh_all(asking *a)
{
    buffer body = { 0 };

    if (a->packed_there == 0) {
        line_put(a->r->line, PART_WEIGH, &body);
        coded c = reconcile_expect(a->r, PART_WEIGH);
        a->packed_there = (double)reconcile_number(a->r, &c);
        a->r->rounds++;
    }
    return a->packed_there;
}

/* Lines that only the other side has are sent in any case. */
static bool all_is_shorter(asking *a)
{
    double keys = keys_that_differ(a), there = (double)a->r->all_there;
    double symbols = CODED_SYMBOL * fmax(symbols_for(keys) - (double)a->taken, 1);
    double surplus = there - (double)a->r->here.n;
    double share = there > 0 ? fmin((keys + surplus) / 2 / there, 1) : 1;

    if (symbols < LEAST_SHARE * (1 - share) * (double)a->bytes_there)
        return false;
    return symbols > (1 - share) * weigh_all(a);
}

/* ---- What differs ------------------------------------------------------ */

/* Keys that were found become lines, in the order of keys. False: they cannot be what differs. */
static bool find_lines(asking *a)
{
    reconcile *r = a->r;
    size_t n_here;
    const uint64_t *here = tamis_difference_here(a->difference, &n_here);
    const uint64_t *there = tamis_difference_there(a->difference, &a->n_there);
    uint64_t *keys_here = key_set_of(here, n_here);
    bool is_fine = true;

    a->keys_there = key_set_of(there, a->n_there);
    r->only_here = array_new(n_here, sizeof *r->only_here, "lines");
    for (r->n_here = 0; r->n_here < n_here && is_fine;) {
        const line_ref *own = line_set_find(&r->here, keys_here[r->n_here]);
        is_fine = own;
        if (own)
            r->only_here[r->n_here++] = *own;
    }
    for (size_t i = 0; i < a->n_there; i++)
        is_fine = is_fine && !line_set_find(&r->here, a->keys_there[i]);
    free(keys_here);
    return is_fine && r->here.n - r->n_here + a->n_there == r->all_there;
}

/* Where the lines that only the other side has are among its lines. */
static uint64_t *find_places(const asking *a)
{
    const reconcile *r = a->r;
    uint64_t *places = array_new(a->n_there, sizeof *places, "places");
    size_t passed = 0, gone = 0;

    for (size_t i = 0; i < a->n_there; i++) {
        while (passed < r->here.n && r->here.lines[passed].key < a->keys_there[i]) {
            gone += gone < r->n_here && r->only_here[gone].key == r->here.lines[passed].key;
            passed++;
        }
        places[i] = passed - gone + i;
    }
    return places;
}

static void send_difference(asking *a)
{
    reconcile *r = a->r;
    uint64_t *places = find_places(a);
    buffer body = { 0 };

    coded_put_number(&body, a->n_there);
    coded_put_bytes(&body, r->here.sum, 8);
    coded_put_places(&body, places, a->n_there, r->all_there);
    packed_put(r->line, PART_PLACES, &body, r->offers);
    line_set_sort(&r->here, r->only_here, r->n_here);
    reconcile_send_lines(r, r->only_here, r->n_here);
    r->rounds++;
    free(places);
}

/* ---- All that the other side has --------------------------------------- */

/* Splits what it sent into what is here and what is not. */
static bool compare_all(asking *a)
{
    reconcile *r = a->r;
    bool *is_there = array_new(r->here.n, sizeof *is_there, "lines");
    buffer only_there = { 0 }, keys = { 0 };
    size_t at = 0, n = 0;
    span text;

    while (line_next(&r->only_there, r->here.end, &at, &text)) {
        uint64_t key = line_set_key(&r->here, text);
        const line_ref *same = line_set_find(&r->here, key);

        if (same && span_compare(line_set_line(&r->here, same), text) == 0) {
            is_there[same - r->here.lines] = true;
            continue;
        }
        buffer_append(&only_there, text.at, text.size + 1);
        buffer_append(&keys, &key, sizeof key);
        n++;
    }
    a->keys_there = key_set_of((const void *)keys.bytes, n);
    a->n_there = n;
    buffer_free(&keys);
    buffer_free(&r->only_there);
    r->only_there = only_there;
    bool is_fine = r->n_there == r->all_there;
    r->n_there = n;
    r->only_here = array_new(r->here.n, sizeof *r->only_here, "lines");
    for (size_t i = r->n_here = 0; i < r->here.n; i++)
        if (!is_there[i])
            r->only_here[r->n_here++] = r->here.lines[i];
    free(is_there);
    return is_fine;
}

static void take_all(asking *a)
{
    buffer body = { 0 };

    line_put(a->r->line, PART_GIVE, &body);
    a->r->rounds++;
    a->r->is_whole = true;
    reconcile_receive_lines(a->r);
    if (!compare_all(a))
        line_refuse(a->r->line, "it sent other lines than it has");
}

/* ---- End --------------------------------------------------------------- */

/* The lines that came are those whose keys were found. */
static void check_lines(const asking *a)
{
    const reconcile *r = a->r;
    size_t at = 0;
    span text;

    if (r->n_there != a->n_there)
        line_refuse(r->line, "it sent %zu lines instead of %zu", r->n_there, a->n_there);
    while (line_next(&r->only_there, r->here.end, &at, &text)) {
        uint64_t key = line_set_key(&r->here, text);
        if (!key_set_has(a->keys_there, a->n_there, key))
            line_refuse(r->line, "it sent a line that was not asked for");
    }
}

/* False: the sums of both sides differ. */
static bool settle(asking *a)
{
    reconcile *r = a->r;
    coded c = reconcile_expect(r, PART_VERDICT);
    uint64_t answer = reconcile_number(r, &c), sum;

    if (!coded_bytes(&c, &sum, 8) || c.at != c.end)
        reconcile_refuse_frame(r);
    if (answer != RECONCILE_FINE)
        return false;
    if (!r->is_whole) {
        reconcile_receive_lines(r);
        check_lines(a);
    }
    if (reconcile_sum_there(r) != sum)
        line_refuse(r->line, "the lines that it sent are not those that it has");
    r->settle(r);
    return true;
}

static bool find_difference(asking *a)
{
    bool is_fine = take_symbols(a, TAMIS_SYMBOLS_FIRST);

    while (is_fine && !a->is_done) {
        if (all_is_shorter(a)) {
            take_all(a);
            return true;
        }
        is_fine = ask_for_symbols(a);
    }
    a->r->symbols = a->taken;
    return is_fine && find_lines(a);
}

static bool try_once(asking *a)
{
    if (!line_set_index(&a->r->here))
        return false;
    send_question(a);
    if (!receive_numbers(a))
        return false;
    begin_difference(a);
    if (!find_difference(a))
        return false;
    send_difference(a);
    return settle(a);
}

void reconcile_ask(reconcile *r)
{
    bool is_done = false;

    for (int i = 0; i < RECONCILE_TRIES && !is_done; i++) {
        asking a = { .r = r };

        free(r->only_here);
        r->only_here = NULL;
        r->is_whole = false;
        draw_secret(a.secret);
        line_set_hash_by(&r->here, a.secret);
        is_done = try_once(&a);
        tamis_difference_free(a.difference);
        free(a.keys_there);
    }
    progress_erase();
    if (!is_done)
        line_refuse(r->line, "what differs could not be found, with two secrets");
}
