/* lab_spectral.c - tamis lab spectral: three ways to keep counts, on a stream by Zipf's law.
 *
 * With minimum selection, the count of a key is wrong if each of its counters has another key: that
 * is a false positive among n - 1 keys, however often keys come. Keys of one filter are not
 * independent of each other. So many small filters are filled, and one key of each is looked at:
 * how many of these are wrong is binomial. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"
#include "text/number.h"

static const struct {
    tamis_kind kind;
    const char *name;
} METHODS[] = { { TAMIS_SPECTRAL, "minimum selection" },
                { TAMIS_SPECTRAL_MI, "minimal increase" },
                { TAMIS_SPECTRAL_RM, "recurring minimum" } };

enum { N_METHODS = 3 };

typedef struct spectral {
    lab lab;
    uint64_t keys, adds;
    double power;
    const char *stream;
} spectral;

static void add_key(const lab *l, tamis *f, uint64_t key)
{
    tamis_status status = tamis_add(f, key);

    if (status)
        die_status("add to", l->experiment->name, status);
}

/* ---- A stream that is typed -------------------------------------------- */

enum { WORDS_MAX = 1000 };

static size_t split(char *words[WORDS_MAX], char *text)
{
    size_t n = 0;

    for (char *word; (word = strsep(&text, ", ")) && n < WORDS_MAX;)
        if (*word)
            words[n++] = word;
    return n;
}

static size_t times_in(char *const *words, size_t n, const char *word)
{
    size_t times = 0;

    for (size_t i = 0; i < n; i++)
        times += strcmp(words[i], word) == 0;
    return times;
}

static void count_words(const lab *l, int method, char *const *words, size_t n)
{
    const tamis_hasher hasher = { .hash = TAMIS_FAST, .seed = l->seed };
    tamis_spec spec = TAMIS_SPEC(.keys = n, .fpr = 0.001);
    tamis_plan plan = lab_plan(l, METHODS[method].kind, &spec);
    tamis *f = lab_new(l, &plan);

    for (size_t i = 0; i < n; i++)
        add_key(l, f, tamis_hasher_key(&hasher, words[i], strlen(words[i])));
    for (size_t i = 0; i < n; i++) {
        if (times_in(words, i, words[i]))
            continue;
        LAB_ROW(l, lab_text(tamis_kind_name(METHODS[method].kind)), lab_text(words[i]),
                lab_count(times_in(words, n, words[i])),
                lab_count(tamis_count(f, tamis_hasher_key(&hasher, words[i], strlen(words[i])))));
    }
    tamis_free(f);
}

static void show_words(const lab *l, const char *stream)
{
    char *words[WORDS_MAX], *copy = strdup(stream);
    chart *c = lab_chart(l, "Counts of the words of a stream", "words in the order that they came",
                         "added");
    chart_series *s = chart_add(c, "added", CHART_BARS);
    size_t n = copy ? split(words, copy) : 0, distinct = 0;

    if (n == 0)
        args_refuse(l->args, "--stream has no word");
    lab_columns(l, "method key added counted");
    for (int method = 0; method < N_METHODS; method++)
        count_words(l, method, words, n);
    for (size_t i = 0; i < n; i++)
        if (!times_in(words, i, words[i]))
            chart_put(s, (double)distinct++, (double)times_in(words, n, words[i]));
    lab_note(l, "%zu words, %zu of them different.", n, distinct);
    free(copy);
}

/* ---- Many small filters ------------------------------------------------ */

/* How often each of n keys comes, most frequent first. */
static void draw_times(uint64_t *times, const lab_zipf *z, lab_random *random, uint64_t adds)
{
    memset(times, 0, z->n * sizeof *times);
    for (uint64_t i = 0; i < adds; i++)
        times[lab_draw_zipf(z, random)]++;
}

/* Keys in an order that does not depend on how often they come. The stream is shuffled: copies of
 * one key do not come together. */
static void add_stream(const lab *l, tamis *f, const uint64_t *keys, const lab_zipf *z,
                       lab_random random, uint64_t adds)
{
    for (uint64_t i = 0; i < adds; i++)
        add_key(l, f, keys[lab_draw_zipf(z, &random)]);
}

enum { SMALL_KEYS = 100, SMALL_ADDS = 400 };

/* Whether the count of the middle key is wrong. Each key comes once before the stream. */
static bool is_wrong(const lab *l, tamis_plan *plan, const lab_zipf *z, lab_random *random)
{
    uint64_t times[SMALL_KEYS], *keys = lab_draw_keys(random, SMALL_KEYS);

    plan->hasher.seed = lab_draw(random);
    tamis *f = lab_new(l, plan);
    lab_random stream = *random;
    for (size_t i = 0; i < SMALL_KEYS; i++)
        add_key(l, f, keys[i]);
    add_stream(l, f, keys, z, stream, SMALL_ADDS);
    draw_times(times, z, random, SMALL_ADDS);
    uint64_t chosen = lab_draw_below(random, SMALL_KEYS);
    bool wrong = tamis_count(f, keys[chosen]) != times[chosen] + 1;
    tamis_free(f);
    free(keys);
    return wrong;
}

static void show_small(const spectral *r, int method)
{
    tamis_spec spec = TAMIS_SPEC(.keys = SMALL_KEYS, .fpr = 0.05);
    uint64_t filters = r->lab.is_quick ? 200 : 2000, wrong = 0;
    lab_random random = lab_stream(&r->lab, 20 + (uint64_t)method);
    lab_zipf z = lab_zipf_new(SMALL_KEYS, r->power);
    tamis_plan plan = lab_plan(&r->lab, METHODS[method].kind, &spec);
    double p = tamis_plan_rate(&plan, SMALL_KEYS - 1);

    for (uint64_t i = 0; i < filters; i++)
        wrong += is_wrong(&r->lab, &plan, &z, &random);
    chance_range range = chance_shares(chance_counts(filters, p, p, CHANCE_OUTSIDE), filters);
    if (method > 0)
        range.low = 0; /* the other two are to be better than that */
    LAB_ROW(&r->lab, lab_text("small"), lab_text(tamis_kind_name(METHODS[method].kind)),
            lab_text("any"), lab_real(p), LAB_BOUNDS(range, (double)wrong / (double)filters),
            lab_none(), lab_none(), lab_none());
    free(z.sums);
}

/* ---- One large filter -------------------------------------------------- */

/* Of keys of neighbouring ranks. */
typedef struct errors {
    uint64_t keys, wrong, under;
    double excess; /* sum of what is counted too much, as a share of what was added */
} errors;

static errors find_errors(const tamis *f, const uint64_t *keys, const uint64_t *times,
                          uint64_t from, uint64_t to)
{
    errors e = { 0 };

    for (uint64_t i = from; i < to; i++) {
        uint64_t count = tamis_count(f, keys[i]);
        if (times[i] == 0)
            continue;
        e.keys++;
        e.wrong += count != times[i];
        e.under += count < times[i];
        e.excess += ((double)count - (double)times[i]) / (double)times[i];
    }
    return e;
}

static void show_errors(const spectral *r, int method, const char *ranks, const errors *e,
                        double theory, double bits)
{
    double keys = e->keys > 0 ? (double)e->keys : 1;

    LAB_ROW(&r->lab, lab_text("stream"), lab_text(tamis_kind_name(METHODS[method].kind)),
            lab_text(ranks), lab_real(theory), LAB_BOUNDS(CHANCE_UNKNOWN, (double)e->wrong / keys),
            lab_real(e->excess / keys), lab_count(e->under), lab_real(bits));
}

static const char *const RANKS[] = { "1-100", "101-1000", "1001-10000", "10001-" };

static void show_stream(const spectral *r, int method, chart_series *wrong, chart_series *excess)
{
    static const uint64_t ENDS[] = { 0, 100, 1000, 10000 };
    lab_random random = lab_stream(&r->lab, 1);
    uint64_t *keys = lab_draw_keys(&random, r->keys),
             *times = array_new(r->keys, sizeof *times, "numbers");
    lab_zipf z = lab_zipf_new(r->keys, r->power);
    tamis_spec spec = TAMIS_SPEC(.keys = r->keys, .fpr = 0.05);
    lab_random stream = random;
    tamis_plan plan = lab_plan(&r->lab, METHODS[method].kind, &spec);
    tamis *f = lab_new(&r->lab, &plan);

    add_stream(&r->lab, f, keys, &z, stream, r->adds);
    draw_times(times, &z, &random, r->adds);
    errors all = find_errors(f, keys, times, 0, r->keys);
    double theory = tamis_plan_rate(&plan, all.keys - 1);
    double bits = (double)tamis_plan_of(f)->bytes * 8 / (double)all.keys;
    show_errors(r, method, "all", &all, theory, bits);
    for (size_t i = 0; i < 4 && ENDS[i] < r->keys; i++) {
        uint64_t end = i < 3 && ENDS[i + 1] < r->keys ? ENDS[i + 1] : r->keys;
        errors e = find_errors(f, keys, times, ENDS[i], end);
        show_errors(r, method, RANKS[i], &e, theory, bits);
        chart_put_name(wrong, (double)i, (double)e.wrong / (double)e.keys, RANKS[i]);
        chart_put_name(excess, (double)i, e.excess / (double)e.keys, RANKS[i]);
    }
    free(z.sums);
    tamis_free(f);
    free(times);
    free(keys);
}

static void show_streams(const spectral *r)
{
    chart *wrong = lab_chart(&r->lab, "Counts that are wrong, by how frequent the key is",
                             "rank of the key", "share of keys");
    chart *excess = lab_chart(&r->lab, "By how much: frequent keys suffer little",
                              "rank of the key", "excess / count");

    wrong->x.is_named = excess->x.is_named = true;
    for (int method = 0; method < N_METHODS; method++)
        show_stream(r, method, chart_add(wrong, METHODS[method].name, CHART_BARS),
                    chart_add(excess, METHODS[method].name, CHART_BARS));
    lab_note(
        &r->lab,
        "Stream: %" PRIu64 " adds of %" PRIu64 " keys by Zipf's law with power %g, in "
        "filters planned for 5 %%. 'wrong' is the share of keys whose count is not right, "
        "'excess' by how much on average, as a share of the right count, 'under' how many are "
        "too low: none, but for recurring minimum, in rare cases. 'bits' is the room, per key.",
        r->adds, r->keys, r->power);
}

/* ---- Experiment -------------------------------------------------------- */

static void take_power(void *into, const args *a)
{
    double value;

    if (!number_real(&value, a->value) || !(value >= 0 && value <= 4))
        args_refuse_value(a, "a number from 0 to 4");
    *(double *)into = value;
}

static void run(void *request)
{
    spectral *r = request;
    const lab *l = &r->lab;

    if (r->stream) {
        show_words(l, r->stream);
        return;
    }
    r->keys = lab_choice(l, r->keys, 50000, 2000);
    r->adds = r->adds ? r->adds : 20 * r->keys;
    lab_columns(l, "part method ranks theory low high wrong inside excess under bits");
    for (int method = 0; method < N_METHODS; method++)
        show_small(r, method);
    lab_note(l,
             "Small: one key of each of many filters of %d keys. With minimum selection its count "
             "is wrong as often as a Bloom filter of that shape is; the other two are below.",
             SMALL_KEYS);
    show_streams(r);
}

static const option_row options[] = {
    { 0, "keys", "N", "different keys (default: 5e4)", TO_COUNT(spectral, keys, 1000, 10000000) },
    { 0, "adds", "N", "of the stream (default: 20 for each key)",
      TO_COUNT(spectral, adds, 1, 1000000000) },
    { 0, "power", "S", "of Zipf's law: rank i comes as 1/i^S (default: 1)", .take = take_power,
      OPTION_MEMBER(double, spectral, power) },
    { 0, "stream", "WORDS", "count these instead, as in A,A,B,C,C", TO_TEXT(spectral, stream) },
    { 0 },
};

LAB_EXPERIMENT(spectral, LAB_NEEDS(TAMIS_SPECTRAL, TAMIS_SPECTRAL_MI, TAMIS_SPECTRAL_RM),
               .power = 1);
