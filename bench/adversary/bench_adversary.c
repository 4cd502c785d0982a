/* bench_adversary.c - tamis-bench-adversary: what somebody who chooses all keys can do to a filter.
 *
 *   tamis-bench-adversary [KIND...]     all kinds that take keys one by one
 *
 * Writes two rows for each kind, as CSV. One is of somebody who knows the seed: mix64 is a
 * permutation, and so is XXH3 of eight bytes, so that any hash has its key. He tries all this in a
 * filter of his own before. The other is of somebody who only sees the answers of a keyed filter.
 * Figures are those of random keys, times so much:
 *
 *   rate     of strangers, after as many keys as planned
 *   bytes    of filters that grow from a few keys, beside one of as many random keys
 *   has, add ns of one, the slowest of keys that share 0 to 44 bits of their hash
 *   full     the share of the planned keys that have room, at worst */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "base/hash.h"
#include "filter.h"
#include "tamis.h"

enum { FEW = 16, SOME = 1000, KEYS = 10000, CANDIDATES = 8, STRANGERS = 1 << 21, RUNS = 32 };

/* Leading bits of the hash that all keys share. */
static const unsigned SHARED[] = { 0, 12, 20, 28, 36, 44 };

enum { N_SHARED = sizeof SHARED / sizeof *SHARED };

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "tamis-bench-adversary: %s\n", what);
    exit(1);
}

static uint64_t counter;

static uint64_t any(void)
{
    return mix64(++counter * HASH_GOLDEN);
}

static tamis *filter_of(tamis_kind kind, tamis_hash hash, uint64_t keys, unsigned can)
{
    tamis_spec spec = TAMIS_SPEC(.keys = keys, .fpr = 0.01, .can = can, .hasher = { .hash = hash });
    tamis_plan plan;
    tamis *f;

    if (hash == TAMIS_KEYED)
        for (int i = 0; i < 16; i++)
            spec.hasher.secret[i] = (uint8_t)(any() | 1);
    else
        spec.hasher.seed = any();
    if (tamis_plan_kind(&plan, kind, &spec) || tamis_new(&f, &plan, NULL))
        fail(tamis_kind_name(kind));
    return f;
}

/* A key whose hash begins with so many zeros; where hashing is keyed, the key of such a number. */
static uint64_t chosen_key(const tamis *f, unsigned zeros)
{
    uint64_t key = unhash_key(any() >> zeros, salt_of_seed(f->plan.hasher.seed));

    return f->plan.hasher.hash == TAMIS_KEYED ? tamis_key(f, &key, sizeof key) : key;
}

/* ---- Rates ------------------------------------------------------------- */

static uint64_t ones(const tamis *f)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < f->plan.bytes; i++)
        n += (uint64_t)__builtin_popcount(((const uint8_t *)f->payload)[i]);
    return n;
}

/* Of keys that are not found, who knows the seed takes the one that sets most bits. */
static uint64_t worst_key(const tamis *f)
{
    uint64_t worst = 0, most = 0;

    for (int i = 0; i < CANDIDATES;) {
        uint64_t key = chosen_key(f, 0);
        tamis *copy;

        if (tamis_has(f, key))
            continue;
        if (f->plan.hasher.hash == TAMIS_KEYED)
            return key;
        if (tamis_clone(&copy, f, NULL))
            fail("memory");
        if (tamis_add(copy, key) == TAMIS_OK && ones(copy) > most) {
            most = ones(copy);
            worst = key;
        }
        tamis_free(copy);
        i++;
    }
    return worst;
}

static double rate_of(tamis_kind kind, tamis_hash hash, bool is_attack)
{
    double found = 0;

    for (int run = 0; run < RUNS; run++) {
        tamis *f = filter_of(kind, hash, SOME, 0);

        for (int i = 0; i < SOME; i++)
            if (tamis_add(f, is_attack ? worst_key(f) : any()))
                break;
        for (int i = 0; i < STRANGERS / RUNS; i++)
            found += tamis_has(f, any());
        tamis_free(f);
    }
    return found / STRANGERS;
}

/* ---- Memory and time --------------------------------------------------- */

typedef struct toll {
    double bytes, has, add; /* the last two in ns */
    size_t in;              /* keys that had room */
} toll;

/* Of up to so many keys. */
static toll toll_of(tamis_kind kind, tamis_hash hash, unsigned zeros, unsigned can, size_t most)
{
    static uint64_t keys[KEYS];
    tamis *f = filter_of(kind, hash, can ? FEW : KEYS, can);
    size_t n = 0, found = 0;

    for (size_t i = 0; i < most; i++)
        keys[i] = chosen_key(f, zeros);
    bench_time start = bench_start();
    while (n < most && tamis_add(f, keys[n]) == TAMIS_OK)
        n++;
    toll t = { .add = bench_stop(start, n).cpu, .in = n };
    start = bench_start();
    for (size_t i = 0; i < n; i++)
        found += tamis_has(f, keys[i]);
    t.has = bench_stop(start, n).cpu;
    t.bytes = (double)tamis_plan_of(f)->bytes;
    if (found != n)
        fail("a key is lost");
    tamis_free(f);
    return t;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static toll worst_toll(tamis_kind kind, tamis_hash hash)
{
    toll worst = { .in = KEYS };

    for (int i = 0; i < N_SHARED; i++) {
        toll t = toll_of(kind, hash, SHARED[i], 0, KEYS);
        worst.has = larger(worst.has, t.has);
        worst.add = larger(worst.add, t.add);
        worst.in = t.in < worst.in ? t.in : worst.in;
    }
    return worst;
}

static double worst_growth(tamis_kind kind, tamis_hash hash)
{
    double worst = 0;

    for (int i = 0; i < N_SHARED; i++) {
        toll t = toll_of(kind, hash, SHARED[i], TAMIS_CAN_GROW, KEYS);
        toll honest = toll_of(kind, hash, 0, TAMIS_CAN_GROW, t.in);
        worst = larger(worst, t.bytes / honest.bytes);
    }
    return worst;
}

/* ---- Rows -------------------------------------------------------------- */

static void write_row(tamis_kind kind, tamis_hash hash, const char *name)
{
    unsigned can = tamis_kind_can(kind);
    toll honest = toll_of(kind, hash, 0, 0, KEYS), worst = worst_toll(kind, hash);

    printf("%s,%s,", tamis_kind_name(kind), name);
    if (!(can & TAMIS_IS_EXACT))
        printf("%.2f", rate_of(kind, hash, true) / rate_of(kind, hash, false));
    printf(",");
    if (can & TAMIS_CAN_GROW)
        printf("%.1f", worst_growth(kind, hash));
    printf(",%.0f,%.0f,%.3f\n", worst.has / honest.has, worst.add / honest.add,
           (double)worst.in / KEYS);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    puts("kind,hash,rate,bytes,has,add,full");
    for (tamis_kind kind = 0; (kind = tamis_kind_next(kind)) != TAMIS_NO_KIND;) {
        bool is_asked = argc == 1;

        for (int i = 1; i < argc; i++)
            is_asked |= strcmp(argv[i], tamis_kind_name(kind)) == 0;
        if (!is_asked || !(tamis_kind_can(kind) & TAMIS_CAN_ADD) ||
            tamis_kind_can(kind) & TAMIS_IS_INDEXED)
            continue;
        write_row(kind, TAMIS_RAW, "fast");
        write_row(kind, TAMIS_KEYED, "keyed");
    }
    return 0;
}
