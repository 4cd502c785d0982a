/* lab_hash.c - tamis lab hash: how evenly hash functions spread keys, what a flipped bit does, and
 * whether two halves of a hash are as good as many hashes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hashes.h"
#include "lab.h"
#include "text/reader.h"

static const char WORDS[] = "/usr/share/dict/american-english";

/* Keys, one after the other; key i is from start i to start i + 1. */
typedef struct key_list {
    const char *name;
    buffer bytes, starts;
    size_t n;
} key_list;

enum { TYPED_MAX = 32, KEY_BITS = 64 };

typedef struct hash {
    lab lab;
    const char *words; /* a file, or NULL: some are made up */
    uint64_t keys, buckets;
    const char *typed[TYPED_MAX];
    size_t n_typed;
    hashes_family *family;
    chart_series *bars; /* of the keys at hand */
} hash;

/* ---- Keys -------------------------------------------------------------- */

static void append_key(key_list *k, const void *data, size_t size)
{
    size_t start = k->bytes.size;

    buffer_append(&k->starts, &start, sizeof start);
    buffer_append(&k->bytes, data, size);
    k->n++;
}

static void append_line(void *ctx, char *line, size_t size)
{
    append_key(ctx, line, size);
}

static void free_keys(key_list *k)
{
    buffer_free(&k->bytes);
    buffer_free(&k->starts);
}

static const void *key_at(const key_list *k, size_t i, size_t *size)
{
    const size_t *starts = (const void *)k->starts.bytes;
    size_t end = i + 1 < k->n ? starts[i + 1] : k->bytes.size;

    *size = end - starts[i];
    return k->bytes.bytes + starts[i];
}

/* The lowest first. */
static void bytes_of(uint8_t bytes[8], uint64_t key)
{
    for (int b = 0; b < 8; b++)
        bytes[b] = (uint8_t)(key >> 8 * b);
}

/* Syllables in the order of counting. */
static void make_up_words(key_list *k, uint64_t n)
{
    static const char *const SYLLABLES[] = { "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo",
                                             "mu", "na", "pe", "ri", "so", "tu", "va", "we", "zi" };
    const size_t count = sizeof SYLLABLES / sizeof *SYLLABLES;

    for (size_t i = 0; i < n; i++) {
        char word[64] = "";
        for (size_t rest = i + count; rest; rest /= count)
            strcat(word, SYLLABLES[rest % count]);
        append_key(k, word, strlen(word));
    }
}

static key_list words_of(const hash *r)
{
    key_list k = { .name = "words" };

    if (r->words)
        reader_each_line(r->words, append_line, &k);
    else
        make_up_words(&k, r->keys);
    if (k.n == 0)
        die(CODE_USAGE, "lab hash: %s has no line", r->words);
    return k;
}

/* 0, 1, 2 ..., as eight bytes. */
static key_list integers_of(const hash *r)
{
    key_list k = { .name = "integers" };

    for (uint64_t i = 0; i < r->keys; i++) {
        uint8_t bytes[8];
        bytes_of(bytes, i);
        append_key(&k, bytes, sizeof bytes);
    }
    return k;
}

/* ---- Evenness ---------------------------------------------------------- */

/* Both tails of a p-value, for what happens once in a thousand times. */
static const char *verdict_of(double p)
{
    if (p < CHANCE_OUTSIDE / 2)
        return "uneven";
    return p > 1 - CHANCE_OUTSIDE / 2 ? "too even" : "even";
}

/* The sum of (found - expected)^2 / expected over all buckets. */
static double chi_square(const hash *r, const hashes_row *function, const uint64_t *hashes,
                         size_t n)
{
    uint64_t *found = array_new(r->buckets, sizeof *found, "numbers");
    double expected = (double)n / (double)r->buckets, sum = 0;

    for (size_t i = 0; i < n; i++)
        found[hashes_bucket(r->family, function, hashes[i])]++;
    for (uint64_t i = 0; i < r->buckets; i++)
        sum += ((double)found[i] - expected) * ((double)found[i] - expected) / expected;
    free(found);
    return sum;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Pairs of keys with one hash; sorts them. */
static double clashes(uint64_t *hashes, size_t n)
{
    double pairs = 0, same = 0;

    qsort(hashes, n, sizeof *hashes, by_value);
    for (size_t i = 1; i < n; i++) {
        same = hashes[i] == hashes[i - 1] ? same + 1 : 0;
        pairs += same;
    }
    return pairs;
}

static void test_evenness(const hash *r, const hashes_row *function, const key_list *k)
{
    uint64_t *hashes = array_new(k->n, sizeof *hashes, "numbers");
    double range = function->bits ? ldexp(1, (int)function->bits) : (double)r->buckets;
    double start = lab_clock(), degrees = (double)r->buckets - 1, n = (double)k->n;

    for (size_t i = 0; i < k->n; i++) {
        size_t size;
        const void *key = key_at(k, i, &size);
        hashes[i] = function->hash(r->family, key, size);
    }
    double took = lab_clock() - start, sum = chi_square(r, function, hashes, k->n);
    double p = chance_chi_square(sum, degrees);

    LAB_ROW(&r->lab, lab_text("buckets"), lab_text(function->name), lab_text(k->name),
            lab_count(k->n), lab_real(sum), lab_real(degrees), lab_real(p), lab_text(verdict_of(p)),
            lab_none(), lab_none(), lab_none(), lab_real(took / n));
    chart_put_name(r->bars, (double)(function - hashes_table), fmax(sum / degrees, 1e-3),
                   function->name);
    LAB_ROW(&r->lab, lab_text("clashes"), lab_text(function->name), lab_text(k->name),
            lab_count(k->n), lab_real(clashes(hashes, k->n)), lab_real(n * (n - 1) / 2 / range),
            lab_none(), lab_none(), lab_none(), lab_none(), lab_none(), lab_none());
    free(hashes);
}

/* ---- Avalanche --------------------------------------------------------- */

/* What a flipped bit of the key does to a bit of the hash. */
typedef enum effect { NEVER, SOMETIMES, HALF, ALWAYS } effect;

/* Of each function: how each bit of the key works on each bit of the hash. It outlives the run. */
static struct avalanche {
    unsigned bits[HASHES_N];
    uint8_t effects[HASHES_N][KEY_BITS][64];
} avalanche;

static void count_flips(const hash *r, const hashes_row *function, uint32_t flips[KEY_BITS][64],
                        size_t keys)
{
    lab_random random = lab_stream(&r->lab, 3);
    uint8_t bytes[8];

    for (size_t i = 0; i < keys; i++) {
        uint64_t key = lab_draw(&random);
        bytes_of(bytes, key);
        uint64_t before = function->hash(r->family, bytes, sizeof bytes);
        for (int in = 0; in < KEY_BITS; in++) {
            bytes_of(bytes, key ^ UINT64_C(1) << in);
            uint64_t flipped = before ^ function->hash(r->family, bytes, sizeof bytes);
            for (int out = 0; out < 64; out++)
                flips[in][out] += (uint32_t)(flipped >> out & 1);
        }
    }
}

static effect effect_of(uint32_t flips, size_t keys, chance_range half)
{
    if (flips >= half.low && flips <= half.high)
        return HALF;
    return flips == 0 ? NEVER : flips == keys ? ALWAYS : SOMETIMES;
}

/* All pairs of bits together leave their bounds once in a thousand times. */
static void test_avalanche(const hash *r, const hashes_row *function)
{
    const size_t keys = r->lab.is_quick ? 300 : 2000, number = (size_t)(function - hashes_table);
    unsigned bits = hashes_bits(r->family, function);
    uint32_t(*flips)[64] = array_new(KEY_BITS, sizeof *flips, "numbers");
    double pairs = KEY_BITS * (double)bits, sum = 0;
    chance_range half = chance_counts(keys, 0.5, 0.5, CHANCE_OUTSIDE / pairs);
    size_t good = 0;

    count_flips(r, function, flips, keys);
    avalanche.bits[number] = bits;
    for (int in = 0; in < KEY_BITS; in++)
        for (unsigned out = 0; out < bits; out++) {
            effect e = effect_of(flips[in][out], keys, half);
            avalanche.effects[number][in][out] = (uint8_t)e;
            good += e == HALF;
            sum += flips[in][out];
        }
    free(flips);
    LAB_ROW(&r->lab, lab_text("avalanche"), lab_text(function->name), lab_text("random"),
            lab_count(keys), lab_real(sum / pairs / (double)keys), lab_real(0.5), lab_none(),
            lab_format("%.3g %% of bits", 100 * (double)good / pairs), lab_none(), lab_none(),
            lab_none(), lab_none());
}

static const svg_colour EFFECT_COLOURS[] = { SVG_PAPER, SVG_TINT4, SVG_TINT2, SVG_MARK };

static void paint_matrix(svg *s, double x, double y, double cell, size_t number)
{
    unsigned bits = avalanche.bits[number];

    svg_rect(s, x, y, 64 * cell, 64 * cell, SVG_NONE, SVG_FAINT);
    svg_rect(s, x, y, bits * cell, 64 * cell, SVG_TINT2, SVG_NONE);
    for (int in = 0; in < KEY_BITS; in++)
        for (unsigned out = 0, next; out < bits; out = next) {
            uint8_t e = avalanche.effects[number][in][out];
            for (next = out + 1; next < bits && avalanche.effects[number][in][next] == e;)
                next++;
            if (e != HALF)
                svg_rect(s, x + out * cell, y + in * cell, (next - out) * cell, cell,
                         EFFECT_COLOURS[e], SVG_NONE);
        }
}

enum { ACROSS = 4 };

static void paint_avalanche(const void *ctx, svg *s, chart_box box)
{
    static const char *const NAMES[] = { "never", "sometimes", "half of the time", "always" };
    const svg_font small = { .colour = SVG_INK, .size = 12 };
    const double width = box.width / ACROSS, cell = floor((width - 20) / 6.4) / 10;

    (void)ctx;
    for (size_t i = 0; i < HASHES_N; i++) {
        double x = box.x + (double)(i % ACROSS) * width;
        double y = box.y + 8 + (double)(i / ACROSS) * (64 * cell + 34);
        svg_text(s, x, y + 10, small, hashes_table[i].name);
        paint_matrix(s, x, y + 16, cell, i);
    }
    for (size_t i = 0; i < 4; i++) {
        double x = box.x + 3 * width, y = box.y + 2 * (64 * cell + 34) + 24 + 22 * (double)i;
        svg_rect(s, x, y, 14, 14, EFFECT_COLOURS[i], SVG_DIM);
        svg_text(s, x + 20, y + 12, small, NAMES[i]);
    }
}

/* ---- Universal families ------------------------------------------------ */

static uint64_t draw(void *ctx)
{
    return lab_draw(ctx);
}

/* Two keys, whichever, share a bucket with a chance of 1/M over the functions of a family. */
static void test_families(const hash *r)
{
    static const size_t FAMILIES[] = { 6, 7, 8 };
    static hashes_family family;
    const uint64_t n = r->lab.is_quick ? 2000 : 20000;
    lab_random random = lab_stream(&r->lab, 6);
    double theory = 1 / (double)r->buckets;
    chance_range range = chance_shares(chance_counts(n, theory, theory, CHANCE_OUTSIDE), n);
    uint64_t shared[3] = { 0 };

    for (uint64_t i = 0; i < n; i++) {
        hashes_draw(&family, r->buckets, draw, &random);
        for (size_t f = 0; f < 3; f++) {
            hashes_function *function = hashes_table[FAMILIES[f]].hash;
            shared[f] += function(&family, "silent", 6) % r->buckets ==
                         function(&family, "listen", 6) % r->buckets;
        }
    }
    for (size_t f = 0; f < 3; f++) {
        double found = (double)shared[f] / (double)n;
        LAB_ROW(&r->lab, lab_text("family"), lab_text(hashes_table[FAMILIES[f]].name),
                lab_text("two"), lab_count(n), lab_real(found), lab_real(theory), lab_none(),
                lab_none(), lab_real(range.low), lab_real(range.high), lab_inside(range, found),
                lab_none());
    }
}

/* ---- Two halves -------------------------------------------------------- */

typedef struct bloom {
    uint64_t bits, *words;
    unsigned k;
    bool has_halves;
} bloom;

/* The i-th place of a key: by a hash of its own or, by Kirsch and Mitzenmacher, h1 + i h2 of the
 * two halves of one. */
static uint64_t place(const bloom *b, uint64_t key, unsigned i)
{
    uint8_t bytes[8];
    tamis_hasher hasher = { .hash = TAMIS_FAST, .seed = b->has_halves ? 0 : i };

    bytes_of(bytes, key);
    uint64_t h = tamis_hasher_key(&hasher, bytes, sizeof bytes);
    return b->has_halves ? ((h & 0xffffffff) + i * (h >> 32)) % b->bits : h % b->bits;
}

static void bloom_add(const bloom *b, uint64_t key)
{
    for (unsigned i = 0; i < b->k; i++) {
        uint64_t at = place(b, key, i);
        b->words[at / 64] |= UINT64_C(1) << at % 64;
    }
}

static bool bloom_has(const bloom *b, uint64_t key)
{
    bool found = true;

    for (unsigned i = 0; i < b->k && found; i++) {
        uint64_t at = place(b, key, i);
        found = b->words[at / 64] >> at % 64 & 1;
    }
    return found;
}

static void test_halves(const hash *r, unsigned k, bool has_halves, chart_series *dots)
{
    const uint64_t n = r->lab.is_quick ? 2000 : 20000, probes = 25 * n;
    bloom b = { 10 * n, array_new(10 * n / 64 + 1, sizeof *b.words, "numbers"), k, has_halves };
    lab_random random = lab_stream(&r->lab, 4 + has_halves);
    const chance_array array = { b.bits, k, false };
    chance_range range = chance_bloom(array, n, probes);
    uint64_t hits = 0;

    for (uint64_t i = 0; i < n; i++)
        bloom_add(&b, lab_draw(&random));
    double start = lab_clock();
    for (uint64_t i = 0; i < probes; i++)
        hits += bloom_has(&b, lab_draw(&random));
    double took = lab_clock() - start, rate = (double)hits / (double)probes;

    LAB_ROW(&r->lab, lab_text("bloom"), lab_text(has_halves ? "two halves" : "k functions"),
            lab_text("random"), lab_count(n), lab_real(rate),
            lab_real(pow(chance_fill(array, (double)n), k)), lab_none(), lab_format("k = %u", k),
            lab_real(range.low), lab_real(range.high), lab_inside(range, rate),
            lab_real(took / (double)probes));
    chart_put_range(dots, k, rate, range.low, range.high);
    free(b.words);
}

static void test_bloom(const hash *r)
{
    static const unsigned KS[] = { 1, 2, 3, 5, 7, 10, 14 };
    chart *c = lab_chart(&r->lab, "Two halves of one hash, or as many hashes", "k, bits of a key",
                         "false positive rate at 10 bits per key");
    chart_series *theory = chart_add(c, "theory of k functions", CHART_LINE);
    chart_series *dots[] = { chart_add(c, "k functions", CHART_DOTS),
                             chart_add(c, "two halves", CHART_DOTS) };

    c->y.is_log = true;
    for (unsigned k = 1; k <= 14; k++)
        chart_put(theory, k, pow(-expm1(-0.1 * k), k));
    for (size_t i = 0; i < sizeof KS / sizeof *KS; i++)
        for (int halves = 0; halves < 2; halves++)
            test_halves(r, KS[i], halves, dots[halves]);
}

/* ---- The experiment ---------------------------------------------------- */

static void test_keys(hash *r, chart *c, key_list k)
{
    r->bars = chart_add(c, k.name, CHART_BARS);
    for (size_t i = 0; i < HASHES_N; i++)
        test_evenness(r, &hashes_table[i], &k);
    free_keys(&k);
}

static void say_what_is_seen(const hash *r)
{
    const hashes_row *sum = &hashes_table[2];

    lab_note(
        &r->lab,
        "buckets: chi-square over %" PRIu64 " buckets, and the share p of random functions "
        "that would be as uneven or more. 'too even' is no praise: consecutive integers modulo a "
        "prime fill buckets in turn, which is fine until they are not consecutive.",
        r->buckets);
    lab_note(&r->lab,
             "clashes: pairs of keys with one hash. A sum of characters does not see their order: "
             "silent and listen both have %" PRIu64 ", as all anagrams do. k(k+3) is the same for "
             "k and -3-k, so that it never uses half of the buckets.",
             sum->hash(r->family, "silent", 6));
    lab_note(&r->lab, "avalanche: the mean share of bits of the hash that a flipped bit of the key "
                      "flips, and how many of these pairs of bits do so about half of the time.");
    lab_note(&r->lab,
             "family: two keys, silent and listen, and a function drawn anew each time. They "
             "share a bucket as often as if it were random: so keys can be chosen against a "
             "function, but not against the family.");
    lab_note(&r->lab,
             "bloom: false positives of a Bloom filter whose k bits are h1 + i h2, the two "
             "halves of one hash, beside one with k hash functions.");
}

static void test_all(hash *r)
{
    lab_columns(&r->lab, "test hash keys n found theory p verdict low high inside ns*");
    chart *c = lab_chart(&r->lab, "Evenness: 1 is what random functions have", "hash",
                         "chi-square / degrees of freedom");

    c->y.is_log = c->x.is_named = true;
    test_keys(r, c, words_of(r));
    test_keys(r, c, integers_of(r));
    for (size_t i = 0; i < HASHES_N; i++)
        test_avalanche(r, &hashes_table[i]);
    c = lab_chart(&r->lab, "Avalanche: bits of the key downwards, of the hash to the right", "",
                  "");
    c->paint = paint_avalanche;
    c->height = 600;
    test_families(r);
    test_bloom(r);
    say_what_is_seen(r);
}

/* ---- Keys typed by hand ------------------------------------------------ */

static void show_typed(const hash *r)
{
    chart *c = lab_chart(&r->lab, "The buckets of the keys", "hash", "bucket");

    c->x.is_named = true;
    lab_columns(&r->lab, "hash key bits value bucket");
    for (size_t k = 0; k < r->n_typed; k++) {
        chart_series *dots = k < CHART_SERIES_MAX ? chart_add(c, r->typed[k], CHART_DOTS) : NULL;
        for (size_t i = 0; i < HASHES_N; i++) {
            const hashes_row *row = &hashes_table[i];
            uint64_t h = row->hash(r->family, r->typed[k], strlen(r->typed[k]));
            uint64_t bucket = hashes_bucket(r->family, row, h);

            LAB_ROW(&r->lab, lab_text(row->name), lab_format("%.40s", r->typed[k]),
                    lab_count(hashes_bits(r->family, row)), lab_format("%" PRIx64, h),
                    lab_count(bucket));
            if (dots)
                chart_put_name(dots, (double)i, (double)bucket, row->name);
        }
    }
}

/* ---- Options ----------------------------------------------------------- */

static bool is_prime(uint64_t n)
{
    for (uint64_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return n > 1;
}

static void take_buckets(void *into, const args *a)
{
    hash *r = into;

    r->buckets = args_count(a, 2, 1000000);
    if (!is_prime(r->buckets))
        args_refuse(a, "--buckets is a prime, as 1021 or 8191: division is by it");
}

static void take_text(void *into, const args *a)
{
    hash *r = into;

    if (r->n_typed == TYPED_MAX)
        args_refuse(a, "there are too many of --of");
    r->typed[r->n_typed++] = a->value;
}

static void run(void *request)
{
    static hashes_family family;
    hash *r = request;
    lab_random random = lab_stream(&r->lab, 2);

    if (!r->words)
        r->words = access(WORDS, R_OK) == 0 ? WORDS : NULL;
    r->keys = lab_choice(&r->lab, r->keys, 100000, 20000);
    r->family = &family;
    hashes_draw(&family, r->buckets, draw, &random);
    if (r->n_typed)
        show_typed(r);
    else
        test_all(r);
}

static const option_row options[] = {
    { 0, "words", "FILE", "keys, one per line (default: the words of the system)",
      TO_TEXT(hash, words) },
    { 0, "keys", "N", "integers 0 to N - 1 as keys, too (default: 1e5)",
      TO_COUNT(hash, keys, 1, 100000000) },
    { 0, "buckets", "M", "a prime (default: 1021)", .take = take_buckets },
    { 0, "of", "TEXT", "only print the hashes of a text, by each function", .take = take_text },
    { 0 },
};

LAB_EXPERIMENT(hash, LAB_NEEDS(TAMIS_NO_KIND), .buckets = 1021);
