/* bench_queried.c - tamis-bench-queried: what an adaptive cuckoo filter learns from the strangers
 * that are asked for.
 *
 *   tamis-bench-queried time     beside one that has a HyperLogLog to count strangers: ns per
 * question tamis-bench-queried error    how far its estimate of their number is off, and how far it
 * should be tamis-bench-queried rates    false positives of strangers that come again
 *
 * Four tables of 1024 cells, 95 % of them in use. Everything found that is no member is reported.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "../zipf.h"
#include "base/hash.h"
#include "base/le.h"
#include "tamis_adapt.h"

enum { MEMBERS = 3876, BUCKETS = 1024 };

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "tamis-bench-queried: %s: %s\n", what, why);
    exit(1);
}

static void check(tamis_status status, const char *what)
{
    if (status)
        fail(what, tamis_status_text(status));
}

static void *array_of(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p)
        fail("memory", "there is none");
    return p;
}

static uint64_t member(uint64_t i)
{
    return mix64(2 * i);
}

static uint64_t stranger(uint64_t i)
{
    return mix64(2 * i + 1);
}

static double values_of(unsigned print_bits)
{
    return BUCKETS * (exp2(print_bits) - 1);
}

static tamis *filter_of(unsigned print_bits, uint64_t seed)
{
    tamis_spec spec = TAMIS_SPEC(.keys = MEMBERS, .tag_bits = print_bits,
                                 .hasher = { .hash = TAMIS_RAW, .seed = seed });
    tamis_plan plan;
    tamis_kind kind;
    tamis *f;

    if (!tamis_kind_find(&kind, "acf"))
        fail("acf", "no such kind");
    check(tamis_plan_kind(&plan, kind, &spec), "planning");
    if (plan.slots != BUCKETS)
        fail("planning", "another number of cells");
    check(tamis_new(&f, &plan, NULL), "making");
    for (uint64_t i = 0; i < MEMBERS; i++)
        check(tamis_add(f, member(i)), "adding");
    return f;
}

/* A member is found, and is no mistake. Returns whether a stranger was found. */
static bool report(tamis *f, uint64_t key)
{
    tamis_status status = tamis_adapt(f, key);

    if (status && status != TAMIS_PRESENT)
        fail("adapting", tamis_status_text(status));
    return !status;
}

/* ---- HyperLogLog ------------------------------------------------------- */

/* 1024 registers of six bits, and two bytes to be read behind them. */
enum { REGISTERS = 1024, REGISTER_BITS = 10 };

typedef struct sketch {
    uint8_t registers[REGISTERS * 6 / 8 + 2];
} sketch;

static unsigned sketch_get(const sketch *s, unsigned i)
{
    return le16(s->registers + i * 6 / 8) >> i * 6 % 8 & 63;
}

/* Apart, as what comes with another library is. */
__attribute__((noinline)) static void sketch_add(sketch *s, uint64_t key)
{
    uint64_t h = hash_key(key, HASH_GOLDEN);
    unsigned i = (unsigned)(h >> (64 - REGISTER_BITS)), old = sketch_get(s, i);
    unsigned rank = 1 + (unsigned)__builtin_clzll(h << REGISTER_BITS | 1u << (REGISTER_BITS - 1));

    if (rank <= old)
        return;
    uint8_t *at = s->registers + i * 6 / 8;
    put_le16(at, (uint16_t)(le16(at) ^ (old ^ rank) << i * 6 % 8));
}

/* With linear counting where registers are empty, as its authors do. */
static double sketch_count(const sketch *s)
{
    double sum = 0, empty = 0, m = REGISTERS;

    for (unsigned i = 0; i < REGISTERS; i++) {
        sum += exp2(-(double)sketch_get(s, i));
        empty += sketch_get(s, i) == 0;
    }
    double count = 0.7213 / (1 + 1.079 / m) * m * m / sum;
    return count <= 2.5 * m && empty > 0 ? m * log(m / empty) : count;
}

/* ---- Time -------------------------------------------------------------- */

/* Packets of flows, one in sixteen of a member. */
enum { PACKETS = 1 << 24, FLOWS = 1 << 24, BLOCK = 1 << 16, RUNS = 15, FLOW_PRINT_BITS = 15 };

static double packets(uint64_t *keys)
{
    zipf z = zipf_of(1.0, FLOWS, 1);
    uint8_t *seen = array_of(FLOWS + 1, 1);
    double flows = 0;

    for (size_t i = 0; i < PACKETS; i++) {
        uint64_t flow = zipf_next(&z);
        bool is_member = i % 16 == 0;
        keys[i] = is_member ? member(flow % MEMBERS) : stranger(flow);
        flows += !is_member && !seen[flow];
        seen[flow] |= !is_member;
    }
    free(seen);
    return flows;
}

static void ask(tamis *f, const uint64_t *keys)
{
    for (size_t i = 0; i < BLOCK; i++)
        if (tamis_has(f, keys[i]))
            report(f, keys[i]);
}

static void ask_and_count(tamis *f, sketch *s, const uint64_t *keys)
{
    for (size_t i = 0; i < BLOCK; i++)
        if (!tamis_has(f, keys[i]) || report(f, keys[i]))
            sketch_add(s, keys[i]);
}

typedef struct run {
    double alone, with, saved;    /* ns per question, and a share of it */
    double keys, error, sketched; /* estimates */
} run;

/* In turns, block by block, and the other one first each time. */
static run run_of(const tamis *filled, const uint64_t *keys)
{
    static sketch s;
    tamis *f, *g;
    run r = { 0 };

    memset(&s, 0, sizeof s);
    check(tamis_clone(&f, filled, NULL), "copying");
    check(tamis_clone(&g, filled, NULL), "copying");
    for (size_t i = 0; i < 2 * PACKETS; i += BLOCK) {
        const uint64_t *block = keys + i / 2 / BLOCK * BLOCK;
        bool is_alone = (i / BLOCK + i / BLOCK / 2) % 2;
        bench_time start = bench_start();
        if (is_alone)
            ask(f, block);
        else
            ask_and_count(g, &s, block);
        *(is_alone ? &r.alone : &r.with) += bench_stop(start, PACKETS).cpu;
    }
    check(tamis_queried(f, &r.keys, &r.error), "estimating");
    r.sketched = sketch_count(&s);
    r.saved = 1 - r.alone / r.with;
    tamis_free(f);
    tamis_free(g);
    return r;
}

static int by_saved(const void *a, const void *b)
{
    const run *x = a, *y = b;

    return (x->saved > y->saved) - (x->saved < y->saved);
}

static void measure_time(void)
{
    uint64_t *keys = array_of(PACKETS, sizeof *keys);
    double flows = packets(keys);
    tamis *f = filter_of(FLOW_PRINT_BITS, 1);
    run runs[RUNS];

    for (int i = 0; i < RUNS; i++)
        runs[i] = run_of(f, keys);
    qsort(runs, RUNS, sizeof *runs, by_saved);
    const run *r = &runs[RUNS / 2];
    printf("%d packets, %.0f flows of strangers\n", PACKETS, flows);
    printf("acf                 %.2f ns, %.0f flows estimated, standard error %.0f\n", r->alone,
           r->keys, r->error);
    printf("acf, HyperLogLog    %.2f ns, %.0f flows estimated, standard error %.0f\n", r->with,
           r->sketched, 1.04 / sqrt(REGISTERS) * flows);
    printf("saved               %.1f %%; %.1f to %.1f in %d runs\n", 100 * r->saved,
           100 * runs[0].saved, 100 * runs[RUNS - 1].saved, RUNS);
    tamis_free(f);
    free(keys);
}

/* ---- Errors ------------------------------------------------------------ */

enum { SEEDS = 200, ERROR_PRINT_BITS = 7 };

/* The estimate after that many strangers, each asked for `passes` times, in another order each. */
static double estimate(uint64_t seed, uint64_t strangers, unsigned passes)
{
    static const uint64_t strides[] = { 1, 7919, 104729 }; /* primes that divide no number here */
    tamis *f = filter_of(ERROR_PRINT_BITS, seed);
    double keys, error;

    for (unsigned pass = 0; pass < passes; pass++)
        for (uint64_t i = 0; i < strangers; i++) {
            uint64_t key = stranger(seed << 40 | i * strides[pass] % strangers);
            if (tamis_has(f, key))
                report(f, key);
        }
    check(tamis_queried(f, &keys, &error), "estimating");
    tamis_free(f);
    return keys;
}

static void measure_errors(void)
{
    const double shares[] = { 0.05, 0.1, 0.2, 0.4, 0.8 };

    printf("strangers   of b v   mean estimate   standard error   theory   ratio\n");
    for (int i = 0; i < 5; i++) {
        uint64_t n = (uint64_t)(shares[i] * values_of(ERROR_PRINT_BITS));
        double sum = 0, squares = 0, x = shares[i];
        double theory = sqrt(expm1(4 * x)) / (2 * x) / sqrt(MEMBERS);
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            double off = estimate(seed, n, 1 + (unsigned)(seed % 3)) / (double)n - 1;
            sum += off;
            squares += off * off;
        }
        double found = sqrt(squares / SEEDS);
        printf("%9" PRIu64 "%9.2f%16.4f%15.2f %%%7.2f %%%8.3f\n", n, x, 1 + sum / SEEDS,
               100 * found, 100 * theory, found / theory);
    }
}

/* ---- Rates ------------------------------------------------------------- */

typedef struct tally {
    uint64_t found, repeats;
} tally;

/* Of the second half of 60 questions for each stranger. */
static tally ask_again_and_again(unsigned print_bits, uint64_t strangers, double exponent,
                                 bool reports)
{
    tamis *f = filter_of(print_bits, 5);
    uint8_t *was_found = array_of(strangers + 1, 1);
    zipf z = zipf_of(exponent, strangers, 2);
    tally t = { 0, 0 };

    for (uint64_t i = 0; i < 60 * strangers; i++) {
        uint64_t who =
            exponent > 0 ? zipf_next(&z) : 1 + (uint64_t)(zipf_uniform(&z) * (double)strangers);
        bool counts = i >= 30 * strangers, found = tamis_has(f, stranger(who));
        t.found += found && counts;
        t.repeats += found && counts && was_found[who];
        was_found[who] |= found;
        if (found && reports)
            report(f, stranger(who));
    }
    tamis_free(f);
    free(was_found);
    return t;
}

static void print_rates(uint64_t per_key, double exponent)
{
    uint64_t n = per_key * MEMBERS;
    double questions = 30 * (double)n;
    tally plain = ask_again_and_again(8, n, exponent, false);
    tally told = ask_again_and_again(7, n, exponent, true);

    printf("%17" PRIu64 "%8.1f%19.3f %%%16.3f %%%14.1f %%\n", per_key, exponent,
           100 * (double)plain.found / questions, 100 * (double)told.found / questions,
           100 * (double)told.repeats / (double)(told.found + !told.found));
}

/* Eight bits each: of the fingerprint, if nothing is reported; else of it and the selector. */
static void measure_rates(void)
{
    const double exponents[] = { 0, 0.8, 1, 1.2 };

    printf("strangers per key    Zipf    8 bits, never told    7 bits, told    of these repeats\n");
    for (int i = 0; i < 4; i++)
        for (uint64_t per_key = 1; per_key <= 100; per_key *= 10)
            print_rates(per_key, exponents[i]);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "time") == 0)
        measure_time();
    else if (argc == 2 && strcmp(argv[1], "error") == 0)
        measure_errors();
    else if (argc == 2 && strcmp(argv[1], "rates") == 0)
        measure_rates();
    else
        fail("usage", "time, error or rates");
    return 0;
}
