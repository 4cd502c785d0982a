/* exchange.c - which keys of two sets differ.
 *
 * About as many symbols as it should take come first; then a few more at a time are asked for. No
 * set takes more than some two for each key there is: who sends more lies. */
#include <math.h>

#include "exchange.h"
#include "term/message.h"
#include "wire/coded.h"

enum { SYMBOLS_AT_MOST = 1 << 20 };
/* Bytes for each symbol while it is worked on. */
enum { SYMBOL_MEMORY = 96 };

static double symbols_for(double differ)
{
    return 1.36 * differ + 1.5 * sqrt(differ) + 2;
}

double exchange_cost(double differ)
{
    return CODED_SYMBOL * symbols_for(differ) + 16;
}

/* Of sets of n and m keys. The other side may not be believed. */
static uint64_t most_symbols(uint64_t n, uint64_t m)
{
    return n < SYMBOLS_AT_MOST && m < SYMBOLS_AT_MOST ? 2 * (n + m) + 64 : 4 * SYMBOLS_AT_MOST;
}

static tamis_symbols *symbols_of(const sync_job *job, const uint64_t *keys, size_t n)
{
    tamis_symbols *s;
    tamis_status status = tamis_symbols_new(&s, keys, n, job->secret, NULL);

    if (status)
        die(CODE_MEMORY, "out of memory for %zu keys", n);
    return s;
}

/* ---- Who tells --------------------------------------------------------- */

static uint64_t hear_more(const sync_job *job)
{
    line_frame f = line_expect(job->line, PART_MORE);
    coded c = coded_of(f.body, f.size);
    uint64_t more;

    if (!coded_number(&c, &more) || c.at < c.end)
        line_refuse(job->line, "a number of symbols that came makes no sense");
    return more;
}

void exchange_tell(const sync_job *job, const uint64_t *keys, size_t n, double differ,
                   uint64_t others)
{
    tamis_symbols *s = symbols_of(job, keys, n);
    buffer message = { 0 };
    uint64_t told = 0, more = (uint64_t)symbols_for(differ), most = most_symbols(n, others) + more;

    coded_put_number(&message, n);
    while (more > 0) {
        coded_put_symbols(&message, s, told, (size_t)more, n);
        job_send_plain(job, PART_SYMBOLS, &message);
        told += more;
        more = hear_more(job);
        if (more > most - told)
            line_refuse(job->line, "it does not find out what differs");
    }
    tamis_symbols_free(s);
}

void exchange_decline(const sync_job *job)
{
    job_send_plain(job, PART_SYMBOLS, &(buffer){ 0 });
}

/* ---- Who finds out ----------------------------------------------------- */

static void ask_for_more(const sync_job *job, uint64_t more)
{
    buffer message = { 0 };

    coded_put_number(&message, more);
    line_put(job->line, PART_MORE, &message);
}

typedef struct finder {
    const sync_job *job;
    tamis_difference *difference;
    uint64_t taken, n_there, most;
} finder;

/* False: not all is known yet. */
static bool take_symbols(finder *f, coded *c)
{
    bool is_done = false;
    buffer symbols = { 0 };

    if (!coded_symbols(c, &symbols, UINT64_MAX, f->taken, f->n_there))
        line_refuse(f->job->line, "what came instead of symbols makes no sense");
    size_t n = symbols.size / sizeof(tamis_symbol);
    if (n == 0 || tamis_difference_take(f->difference, (const void *)symbols.bytes, n, &is_done))
        line_refuse(f->job->line, "no set has the symbols that came");
    f->taken += n;
    buffer_free(&symbols);
    return is_done;
}

static tamis_difference *difference_to(const sync_job *job, const uint64_t *keys, size_t n)
{
    tamis_difference *d;

    if (tamis_difference_new(&d, symbols_of(job, keys, n), NULL))
        die(CODE_MEMORY, "out of memory for %zu keys", n);
    return d;
}

/* An eighth of what there was, or a little above what the counts tell is missing. */
static uint64_t more_for(const finder *f)
{
    double expected = symbols_for(tamis_difference_estimate(f->difference)) - (double)f->taken;
    uint64_t eighth = f->taken / 8 + 4;

    return expected > (double)(4 * eighth) ? 4 * eighth : eighth;
}

tamis_difference *exchange_find(const sync_job *job, const uint64_t *keys, size_t n)
{
    size_t most = CODED_NUMBER + job->memory / SYMBOL_MEMORY * CODED_SYMBOL;
    buffer message = job_receive_plain(job, PART_SYMBOLS, most);
    coded c = coded_of(message.bytes, message.size);
    finder f = { .job = job };

    if (message.size == 0)
        return NULL;
    if (!coded_number(&c, &f.n_there) || f.n_there > UINT64_MAX / 4)
        line_refuse(job->line, "it says that it has an impossible number of keys");
    f.most = most_symbols(n, f.n_there);
    f.difference = difference_to(job, keys, n);
    while (!take_symbols(&f, &c)) {
        if (f.taken >= f.most)
            line_refuse(job->line, "after %" PRIu64 " symbols it is still not clear what differs",
                        f.taken);
        uint64_t more = more_for(&f);
        if (f.taken + more > job->memory / SYMBOL_MEMORY)
            line_refuse(job->line,
                        "what differs takes more than %zu bytes, which is larger than "
                        "--memory allows",
                        job->memory);
        ask_for_more(job, more);
        buffer_free(&message);
        message = job_receive_plain(job, PART_SYMBOLS, ((size_t)more + 1) * (CODED_SYMBOL + 9));
        c = coded_of(message.bytes, message.size);
    }
    ask_for_more(job, 0);
    buffer_free(&message);
    return f.difference;
}
