/* cmd_digest.c - tamis digest: which peer of a Squid cache has it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "digest.h"
#include "filters/store.h"
#include "term/array.h"
#include "term/message.h"
#include "term/output.h"
#include "text/json.h"

/* Squid's default. */
enum { DEFAULT_BITS = 5 };

typedef struct request {
    char **files; /* NULL follows the last */
    source source;
    const char *out;
    char *from[2];     /* where URLs are asked for; NULL: standard input */
    uint64_t capacity; /* 0: as many as there are URLs */
    uint32_t bits_per_entry;
    uint8_t method;
    bool inverted, counting, as_json;
} request;

/* The URL of line i of a batch, and its entry. False: the line has no such field. */
static bool entry_of(uint8_t key[MD5_SIZE], span *url, const request *r, job *j, size_t i)
{
    batch *b = &j->batch;

    if (!key_text(url, &r->source.format, b->start[i], b->start[i + 1], &b->joined))
        return false;
    digest_key(key, r->method, *url);
    return true;
}

/* ---- Writing ----------------------------------------------------------- */

typedef struct entries {
    const request *request;
    buffer keys; /* of MD5_SIZE bytes each */
} entries;

static void collect_batch(void *ctx, job *j)
{
    const entries *e = ctx;
    uint8_t key[MD5_SIZE];
    span url;

    for (size_t i = 0; i < j->batch.n; i++)
        if (entry_of(key, &url, e->request, j, i))
            buffer_append(&j->out, key, sizeof key);
}

static void collect_chunk(void *ctx, job *j)
{
    entries *e = ctx;

    buffer_append(&e->keys, j->out.bytes, j->out.size);
}

static int compare_keys(const void *a, const void *b)
{
    return memcmp(a, b, MD5_SIZE);
}

/* Sorts them, and keeps one of each. */
static size_t sort_keys(buffer *keys)
{
    size_t n = keys->size / MD5_SIZE, kept = 0;

    if (n > 0)
        qsort(keys->bytes, n, MD5_SIZE, compare_keys);
    for (size_t i = 0; i < n; i++) {
        const char *key = keys->bytes + i * MD5_SIZE;

        if (kept == 0 || compare_keys(key, keys->bytes + (kept - 1) * MD5_SIZE) != 0)
            memmove(keys->bytes + kept++ * MD5_SIZE, key, MD5_SIZE);
    }
    return kept;
}

static int run_write(request *r)
{
    entries e = { .request = r };
    const pipeline p = { .take_batch = collect_batch, .finish_chunk = collect_chunk, .ctx = &e };
    digest d;

    store_check_target(r->out);
    store_spare_inputs("digest", r->out, r->source.names);
    pipeline_run(&p, &r->source);
    size_t n = sort_keys(&e.keys);
    uint64_t capacity = r->capacity ? r->capacity : n + (n == 0);
    if (!digest_make(&d, capacity, r->bits_per_entry))
        die(CODE_LIMIT,
            "digest: %" PRIu64 " entries with %" PRIu32
            " bits each are more than the 2^31 bits that Squid can have",
            capacity, r->bits_per_entry);
    for (size_t i = 0; i < n; i++)
        digest_add(&d, (const uint8_t *)e.keys.bytes + i * MD5_SIZE);
    digest_fill f = digest_fill_of(&d, NULL);
    if (f.share > DIGEST_FULL)
        say("%.1f %% of the bits are set; Squid uses no digest above %.0f %%: give a larger "
            "--capacity",
            100 * f.share, 100 * DIGEST_FULL);
    digest_write(&d, r->out);
    digest_free(&d);
    buffer_free(&e.keys);
    return CODE_OK;
}

/* ---- Telling ----------------------------------------------------------- */

static void print_estimate(const char *name, double n, double error)
{
    if (n < INFINITY)
        printf("%-11s%.0f, give or take %.0f\n", name, n, error);
    else
        printf("%-11sno telling: all bits are set\n", name);
}

static void print_info(const digest *d)
{
    digest_fill f = digest_fill_of(d, NULL);

    printf("file       %s\n", d->name);
    printf("version    %" PRIu32 ", readable by %" PRIu32 " and later\n", d->version,
           d->readable_by);
    printf("holds      %" PRIu32 " entries, made for %" PRIu32 "; %" PRIu32 " deleted since\n",
           d->count, d->capacity, d->deletes);
    print_estimate("estimated", f.n, f.error);
    printf("mask       %" PRIu32 " bytes, %" PRIu32 " bits per entry\n", d->size,
           d->bits_per_entry);
    printf("fill       %.2f %%%s\n", 100 * f.share,
           f.share > DIGEST_FULL ? ", too full for Squid to use it" : "");
    printf("rate       %.4g of URLs that are not in the cache seem to be\n", f.rate);
}

static void print_info_json(json *j, const digest *d)
{
    digest_fill f = digest_fill_of(d, NULL);

    json_open(j, NULL, '{');
    json_text(j, "file", d->name);
    json_count(j, "version", d->version);
    json_count(j, "readable_by", d->readable_by);
    json_count(j, "count", d->count);
    json_count(j, "capacity", d->capacity);
    json_count(j, "deletes", d->deletes);
    json_real(j, "estimated", f.n);
    json_real(j, "error", f.error);
    json_count(j, "mask_bytes", d->size);
    json_count(j, "bits_per_entry", d->bits_per_entry);
    json_real(j, "fill", f.share);
    json_real(j, "rate", f.rate);
    json_bool(j, "usable", f.share <= DIGEST_FULL);
    json_close(j, '}');
}

static int run_info(request *r)
{
    json j = { 0 };

    if (r->as_json)
        json_open(&j, NULL, '[');
    for (char **file = r->files; *file; file++) {
        digest d = digest_read(*file);

        if (r->as_json) {
            print_info_json(&j, &d);
        } else {
            printf("%s", file == r->files ? "" : "\n");
            print_info(&d);
        }
        digest_free(&d);
    }
    if (r->as_json)
        json_close(&j, ']');
    return CODE_OK;
}

/* ---- Comparing --------------------------------------------------------- */

typedef struct comparison {
    const digest *a, *b;
    digest_fill of_a, of_b, either;
    double both, similarity; /* estimated */
    bool are_same;           /* bit by bit */
} comparison;

static comparison compare(const digest *a, const digest *b)
{
    comparison c = { a,
                     b,
                     digest_fill_of(a, NULL),
                     digest_fill_of(b, NULL),
                     digest_fill_of(a, b),
                     0,
                     0,
                     memcmp(a->mask, b->mask, a->size) == 0 };
    double least = fmin(c.of_a.n, c.of_b.n);

    c.both = fmin(fmax(c.of_a.n + c.of_b.n - c.either.n, 0), least);
    c.similarity = c.are_same ? 1 : c.both / c.either.n;
    return c;
}

static void print_side(const char *what, const digest *d, const digest_fill *f)
{
    printf("%-11s%s: %" PRIu32 " entries, fill %.2f %%\n", what, d->name, d->count, 100 * f->share);
    print_estimate("estimated", f->n, f->error);
}

static void print_comparison(const comparison *c)
{
    print_side("first", c->a, &c->of_a);
    print_side("second", c->b, &c->of_b);
    print_estimate("either", c->either.n, c->either.error);
    printf("both       %.0f\n", c->both);
    printf("similarity %.3f%s\n", c->similarity, c->are_same ? ", all bits are the same" : "");
}

static void json_side(json *j, const char *name, const digest *d, const digest_fill *f)
{
    json_open(j, name, '{');
    json_text(j, "file", d->name);
    json_count(j, "count", d->count);
    json_real(j, "fill", f->share);
    json_real(j, "estimated", f->n);
    json_real(j, "error", f->error);
    json_close(j, '}');
}

static void print_comparison_json(const comparison *c)
{
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_side(&j, "first", c->a, &c->of_a);
    json_side(&j, "second", c->b, &c->of_b);
    json_real(&j, "either", c->either.n);
    json_real(&j, "both", c->both);
    json_real(&j, "similarity", c->similarity);
    json_bool(&j, "same", c->are_same);
    json_close(&j, '}');
}

static int run_compare(request *r)
{
    digest a = digest_read(r->files[0]), b = digest_read(r->files[1]);

    if (a.size != b.size)
        die(CODE_USAGE,
            "digest: %s has %" PRIu32 " bits and %s has %" PRIu32
            "; only masks of one size can be compared: 'info' tells of each",
            a.name, a.size * 8, b.name, b.size * 8);
    comparison c = compare(&a, &b);
    (r->as_json ? print_comparison_json : print_comparison)(&c);
    digest_free(&a);
    digest_free(&b);
    return c.are_same ? CODE_OK : CODE_NOTHING;
}

/* ---- Asking ------------------------------------------------------------ */

typedef struct asking {
    const request *request;
    digest *peers;
    size_t n;
    uint64_t *found; /* URLs that each peer may have */
    uint64_t urls, nowhere, selected;
} asking;

/* The URL and the peers that may have it. */
static void print_peers(const asking *a, buffer *out, const uint8_t key[MD5_SIZE], span url)
{
    buffer_append(out, url.at, url.size);
    for (size_t i = 0; i < a->n; i++)
        if (digest_has(&a->peers[i], key)) {
            buffer_append(out, "\t", 1);
            buffer_append(out, a->peers[i].name, strlen(a->peers[i].name));
        }
    buffer_append(out, &a->request->source.format.end, 1);
}

static bool is_somewhere(const asking *a, const uint8_t key[MD5_SIZE])
{
    for (size_t i = 0; i < a->n; i++)
        if (digest_has(&a->peers[i], key))
            return true;
    return false;
}

/* When they are counted, keys are left for finish_chunk. */
static void ask_batch(void *ctx, job *j)
{
    const asking *a = ctx;
    const request *r = a->request;
    uint8_t key[MD5_SIZE];
    span url;

    for (size_t i = 0; i < j->batch.n; i++) {
        if (!entry_of(key, &url, r, j, i))
            continue;
        if (r->counting) {
            buffer_append(&j->out, key, sizeof key);
        } else if (is_somewhere(a, key) != r->inverted) {
            j->selected++;
            print_peers(a, &j->out, key, url);
        }
    }
}

static void count_chunk(asking *a, const job *j)
{
    for (size_t at = 0; at < j->out.size; at += MD5_SIZE) {
        const uint8_t *key = (const uint8_t *)j->out.bytes + at;
        bool is_here = false;

        for (size_t i = 0; i < a->n; i++) {
            bool has = digest_has(&a->peers[i], key);

            a->found[i] += has;
            is_here |= has;
        }
        a->urls++;
        a->nowhere += !is_here;
    }
}

static void ask_chunk(void *ctx, job *j)
{
    asking *a = ctx;

    if (a->request->counting)
        count_chunk(a, j);
    else
        output_write(j->out.bytes, j->out.size);
    a->selected += j->selected;
}

static void print_counts(const asking *a)
{
    for (size_t i = 0; i < a->n; i++)
        printf("%" PRIu64 "\t%s\n", a->found[i], a->peers[i].name);
}

static void print_counts_json(const asking *a)
{
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_count(&j, "urls", a->urls);
    json_count(&j, "nowhere", a->nowhere);
    json_open(&j, "peers", '[');
    for (size_t i = 0; i < a->n; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "file", a->peers[i].name);
        json_count(&j, "may_have", a->found[i]);
        json_real(&j, "rate", digest_fill_of(&a->peers[i], NULL).rate);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

static int run_ask(request *r)
{
    asking a = { .request = r };
    const pipeline p = { .take_batch = ask_batch, .finish_chunk = ask_chunk, .ctx = &a };

    while (r->files[a.n])
        a.n++;
    a.peers = array_new(a.n, sizeof *a.peers, "digests");
    a.found = array_new(a.n, sizeof *a.found, "digests");
    for (size_t i = 0; i < a.n; i++)
        a.peers[i] = digest_read(r->files[i]);
    pipeline_run(&p, &r->source);
    if (r->counting)
        (r->as_json ? print_counts_json : print_counts)(&a);
    for (size_t i = 0; i < a.n; i++)
        digest_free(&a.peers[i]);
    free(a.peers);
    free(a.found);
    bool has_any = r->counting ? a.nowhere < a.urls : a.selected > 0;
    return has_any ? CODE_OK : CODE_NOTHING;
}

/* ---- Command ----------------------------------------------------------- */

/* In the order of the command's verbs. */
static const struct verb {
    int (*run)(request *r);
    size_t min, max; /* operands */
    const char *what;
    bool reads_urls;
} VERBS[] = {
    { run_write, 0, SIZE_MAX, "", true },
    { run_info, 1, SIZE_MAX, "digest info: give the FILE of a digest", false },
    { run_compare, 2, 2, "digest compare: give the FILEs of two digests", false },
    { run_ask, 1, SIZE_MAX, "digest ask: give the FILE of a peer's digest", true },
};

static void take_method(void *into, const args *a)
{
    request *r = into;

    r->method = digest_method(a->value);
    if (!r->method)
        args_refuse(a, "--method is GET, POST, PUT, HEAD, CONNECT, TRACE, OPTIONS or DELETE");
}

static void take_from(void *into, const args *a)
{
    ((request *)into)->from[0] = (char *)(uintptr_t)a->value;
}

static void choose_json(void *into, const args *a)
{
    request *r = into;

    (void)a;
    r->counting = r->as_json = true;
}

/* How often standard input is named, or meant. */
static int inputs_of(const request *r, const struct verb *verb)
{
    int n = verb->run == run_ask && (!r->from[0] || strcmp(r->from[0], "-") == 0);

    for (char **file = r->files; *file; file++)
        n += strcmp(*file, "-") == 0;
    return n;
}

static void check_request(const request *r, const struct verb *verb, const args *a)
{
    size_t n = 0;

    if (!verb->reads_urls && args_given_any(a, key_options))
        args_refuse(a, "info and compare read no URLs, and take no options of inputs");
    while (r->files[n])
        n++;
    if (n < verb->min || n > verb->max)
        args_refuse(a, verb->what);
    if (verb->run == run_write && !r->out)
        args_refuse(a, "digest write: name the FILE to write with -o");
    if (verb->run == run_write && r->as_json)
        args_refuse(a, "digest write: there is nothing to print as JSON");
    if (inputs_of(r, verb) > 1)
        args_refuse(a, "standard input can be read only once; name files, or give --from INPUT");
    if (r->inverted && r->counting)
        args_refuse(a, "-v prints URLs, -c and --json count them: give one of them");
}

static int run(args *a)
{
    request r = { .source = source_default(),
                  .bits_per_entry = DEFAULT_BITS,
                  .method = digest_method("GET") };

    args_read(a, &r);
    char **words = args_operands(a, 1, SIZE_MAX, "write, info, compare or ask");
    const struct verb *verb = &VERBS[args_verb(a, words[0])];
    r.files = words + 1;
    check_request(&r, verb, a);
    source_inputs(&r.source, verb->run == run_ask ? r.from : r.files);
    return verb->run(&r);
}

static const option_row options[] = {
    { 'o', "output", "FILE", "the digest to write; '-' is standard output", TO_TEXT(request, out),
      .verbs = "write" },
    { 0, "capacity", "N", "entries to make it for (default: what it gets)",
      TO_COUNT(request, capacity, 1, UINT32_MAX), .verbs = "write" },
    { 0, "bits-per-entry", "B", "bits for each of them (default: 5, as Squid's)",
      TO_COUNT(request, bits_per_entry, 1, UINT8_MAX), .verbs = "write" },
    { 0, "method", "METHOD", "of the requests (default: GET)", .take = take_method,
      .verbs = "write ask" },
    { 0, "from", "INPUT", "where URLs come from (default: standard input)", .take = take_from,
      .verbs = "ask" },
    { 'v', "invert-match", NULL, "print the URLs that no peer has", TO_FLAG(request, inverted),
      .verbs = "ask" },
    { 'c', "count", NULL, "print only how many of the URLs each peer may have",
      TO_FLAG(request, counting), .verbs = "ask" },
    { 0, "json", NULL, "print JSON; ask: as --count", .take = choose_json },
    { .included = quiet_options },
    OPTIONS(key_options, request, source),
    { 0 },
};

const command cmd_digest = {
    .name = "digest",
    .help = help_digest,
    .options = options,
    .verbs = "write info compare ask",
    .run = run,
};
