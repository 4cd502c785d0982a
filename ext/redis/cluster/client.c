/* client.c - a filter that is too large for one server, in parts on all servers of a Redis Cluster.
 *
 *     tamis-redis-client reserve seen 1000000000
 *     tamis-redis-client add seen <keys
 *     tamis-redis-client ask seen <keys
 *
 * Part i holds the keys whose hash is i modulo the number of parts. Its name says where it is:
 *
 *   - {seen:3}, the default: each part has a slot of its own, and parts spread over the servers;
 *   - {seen}:3, with -t: all parts have one slot, so that they are together on one server;
 *   - {seen:3}@monday: part 3 of the filter seen@monday. It has the slot of {seen:3}, so that
 *     filters of one name are merged part by part, by the server that has them.
 *
 * How many parts there are, and what they are, is in the key {seen}:about, and nowhere else: all
 * clients agree. */
#define _POSIX_C_SOURCE 200809L

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis.h>

#include "cluster.h"

enum { NAME_MAX_SIZE = 200, PARTS_MAX = 16384, KINDS_MAX_SIZE = 32 };
enum { BATCH = 1 << 16, BATCH_BYTES = 1 << 24, ITEMS_MAX = 1000 };

typedef struct filter {
    char name[NAME_MAX_SIZE], version[NAME_MAX_SIZE]; /* version: "@monday", or "" */
    char about[128];
    unsigned parts;
    bool is_together;
    char kind[KINDS_MAX_SIZE]; /* "bf": of the BF commands; else of the TAMIS commands */
    double keys, rate;
} filter;

typedef struct options {
    const char *host;
    int port, replicas;
    size_t batch; /* keys that are sent at a time */
    double patience;
    bool is_range; /* keys are the numbers from `next` to `last`, not the lines of standard input */
    uint64_t next, last;
    filter wanted; /* by reserve */
} options;

static void die(const char *why, const char *what)
{
    fprintf(stderr, "tamis-redis-client: %s%s%s\n", why, *what ? ": " : "", what);
    exit(2);
}

static void *client_alloc(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p)
        die("no memory", "");
    return p;
}

/* ---- Names ------------------------------------------------------------- */

typedef struct text {
    char bytes[2 * NAME_MAX_SIZE + 16];
} text;

static text part_name(const filter *f, unsigned i)
{
    text t;

    snprintf(t.bytes, sizeof t.bytes, f->is_together ? "{%s}:%u%s" : "{%s:%u}%s", f->name, i,
             f->version);
    return t;
}

static text about_name(const filter *f)
{
    text t;

    snprintf(t.bytes, sizeof t.bytes, "{%s}:about%s", f->name, f->version);
    return t;
}

static filter filter_named(const char *name, filter f)
{
    size_t size = strcspn(name, "@");

    if (strlen(name) >= NAME_MAX_SIZE || size == 0 || strpbrk(name, "{}"))
        die("not a name for a filter", name);
    snprintf(f.name, sizeof f.name, "%.*s", (int)size, name);
    snprintf(f.version, sizeof f.version, "%s", name + size);
    return f;
}

static void filter_describe(filter *f)
{
    snprintf(f->about, sizeof f->about, "%u %s %s %.0f %g", f->parts,
             f->is_together ? "together" : "spread", f->kind, f->keys, f->rate);
}

static bool filter_understand(filter *f, const char *about)
{
    char how[16];

    snprintf(f->about, sizeof f->about, "%s", about);
    if (sscanf(about, "%u %15s %31s %lf %lf", &f->parts, how, f->kind, &f->keys, &f->rate) != 5)
        return false;
    f->is_together = !strcmp(how, "together");
    return f->parts > 0 && f->parts <= PARTS_MAX;
}

static bool filter_is_bf(const filter *f)
{
    return !strcmp(f->kind, "bf");
}

/* ---- One command to every part ---------------------------------------------- */

enum { WORDS_MAX = 64 };

typedef struct order {
    text key;
    const char *words[WORDS_MAX];
    size_t sizes[WORDS_MAX];
    int n;
} order;

static void order_add(order *o, const char *word)
{
    if (o->n == WORDS_MAX)
        die("too many words", word);
    o->words[o->n] = word;
    o->sizes[o->n++] = strlen(word);
}

static request order_request(const order *o)
{
    return (request){ .words = (const char **)o->words, .sizes = o->sizes, .n = o->n, .key = 1 };
}

/* Fails unless all replies are fine, or say what is `allowed`: a command that was sent again may
 * find that it was done. */
static void run_orders(cluster *c, const options *o, const order *orders, size_t n,
                       const char *allowed)
{
    request *requests = client_alloc(n, sizeof *requests);

    for (size_t i = 0; i < n; i++)
        requests[i] = order_request(&orders[i]);
    if (!cluster_run(c, requests, n, o->replicas, o->patience))
        exit(1);
    for (size_t i = 0; i < n; i++)
        if (requests[i].reply->type == REDIS_REPLY_ERROR && strcmp(requests[i].reply->str, allowed))
            die(orders[i].words[1], requests[i].reply->str);
    cluster_release(requests, n);
    free(requests);
}

/* What is told about a filter; "" if there is none. */
static void ask_about(cluster *c, const options *o, const filter *f, char about[128])
{
    text key = about_name(f);
    const char *words[] = { "GET", key.bytes };
    size_t sizes[] = { 3, strlen(key.bytes) };
    request r = { .words = words, .sizes = sizes, .n = 2, .key = 1 };

    if (!cluster_run(c, &r, 1, 0, o->patience))
        exit(1);
    if (r.reply->type == REDIS_REPLY_ERROR)
        die(key.bytes, r.reply->str);
    snprintf(about, 128, "%s", r.reply->type == REDIS_REPLY_STRING ? r.reply->str : "");
    cluster_release(&r, 1);
}

static filter find_filter(cluster *c, const options *o, const char *name)
{
    filter f = filter_named(name, (filter){ .parts = 0 });
    char about[sizeof f.about];

    ask_about(c, o, &f, about);
    if (!*about)
        die("no such filter: reserve it first", name);
    if (!filter_understand(&f, about))
        die("not understood", about);
    return f;
}

/* ---- reserve, merge, where ------------------------------------------------- */

/* Before its parts: a filter that is half made can be made again, but not otherwise. */
static void publish(cluster *c, const options *o, const filter *f)
{
    char about[sizeof f->about];
    order set = { .key = about_name(f) };

    order_add(&set, "SET");
    order_add(&set, set.key.bytes);
    order_add(&set, f->about);
    order_add(&set, "NX");
    run_orders(c, o, &set, 1, "");
    ask_about(c, o, f, about);
    if (strcmp(about, f->about))
        die("there is a filter of this name", about);
}

/* Hashes do not share out keys quite evenly: four standard deviations more. */
static void reserve_part(const filter *f, order *o, char capacity[32], char rate[32])
{
    double share = f->keys / f->parts;

    snprintf(capacity, 32, "%.0f", ceil(share + 4 * sqrt(share)));
    snprintf(rate, 32, "%g", f->rate);
    order_add(o, filter_is_bf(f) ? "BF.RESERVE" : "TAMIS.RESERVE");
    order_add(o, o->key.bytes);
    if (filter_is_bf(f)) {
        order_add(o, rate);
        order_add(o, capacity);
        return;
    }
    order_add(o, f->kind);
    order_add(o, "CAPACITY");
    order_add(o, capacity);
    order_add(o, "ERROR");
    order_add(o, rate);
}

/* To be merged, filters have one plan and one secret. */
static void reserve_part_like(order *o, text *like)
{
    order_add(o, "TAMIS.RESERVE");
    order_add(o, o->key.bytes);
    order_add(o, "LIKE");
    order_add(o, like->bytes);
}

static void reserve(cluster *c, const options *o, filter f, const filter *like)
{
    order *orders = client_alloc(f.parts, sizeof *orders);
    text *likes = client_alloc(f.parts, sizeof *likes);
    char capacity[32], rate[32];

    publish(c, o, &f);
    for (unsigned i = 0; i < f.parts; i++) {
        orders[i].key = part_name(&f, i);
        if (like) {
            likes[i] = part_name(like, i);
            reserve_part_like(&orders[i], &likes[i]);
        } else
            reserve_part(&f, &orders[i], capacity, rate);
    }
    run_orders(c, o, orders, f.parts, "ERR item exists");
    printf("reserved %u parts\n", f.parts);
    free(likes);
    free(orders);
}

/* Parts of this many keys take about 6 MB at 1 %: what a move of one stops the server for is short
 * (docs/redis.md). */
enum { PART_KEYS = 1 << 22, PARTS_MIN = 12 };

static int reserve_command(cluster *c, const options *o, int argc, char **argv)
{
    filter f = filter_named(argv[0], o->wanted), like;

    if (argc == 3 && !strcmp(argv[1], "like")) {
        like = find_filter(c, o, argv[2]);
        if (strcmp(like.name, f.name) || filter_is_bf(&like))
            die("only a filter of the same name, with a kind of TAMIS (-k)", argv[2]);
        f = filter_named(argv[0], like);
        reserve(c, o, f, &like);
        return 0;
    }
    f.keys = argc == 2 ? strtod(argv[1], NULL) : 0;
    if (!(f.keys >= 1 && f.keys <= 1e12))
        die("reserve NAME KEYS, or reserve NAME@VERSION like NAME[@VERSION]", "");
    if (!f.parts)
        f.parts = (unsigned)fmin(fmax(ceil(f.keys / PART_KEYS), PARTS_MIN), PARTS_MAX);
    filter_describe(&f);
    reserve(c, o, f, NULL);
    return 0;
}

static int merge_command(cluster *c, const options *o, int argc, char **argv)
{
    filter to = find_filter(c, o, argv[0]), *from = client_alloc((size_t)argc, sizeof *from);
    text *names = client_alloc((size_t)argc * to.parts, sizeof *names);
    order *orders = client_alloc(to.parts, sizeof *orders);
    char count[16];

    snprintf(count, sizeof count, "%d", argc - 1);
    for (int k = 1; k < argc; k++) {
        from[k] = find_filter(c, o, argv[k]);
        if (strcmp(from[k].name, to.name) || strcmp(from[k].about, to.about))
            die("not a filter that can be merged into the first", argv[k]);
    }
    for (unsigned i = 0; i < to.parts; i++) {
        orders[i].key = part_name(&to, i);
        order_add(&orders[i], "TAMIS.MERGE");
        order_add(&orders[i], orders[i].key.bytes);
        order_add(&orders[i], count);
        for (int k = 1; k < argc; k++) {
            text *name = &names[i * (unsigned)argc + (unsigned)k];

            *name = part_name(&from[k], i);
            order_add(&orders[i], name->bytes);
        }
    }
    run_orders(c, o, orders, to.parts, "");
    printf("merged %d filters of %u parts\n", argc - 1, to.parts);
    free(orders);
    free(names);
    free(from);
    return 0;
}

static int where_command(const cluster *c, const filter *f)
{
    char where[300];

    for (unsigned i = 0; i < f->parts; i++) {
        text key = part_name(f, i);
        unsigned slot = cluster_slot(key.bytes, strlen(key.bytes));

        printf("%s slot %u %s\n", key.bytes, slot, cluster_where(c, slot, where));
    }
    return 0;
}

/* ---- Keys, many at a time -------------------------------------------------- */

/* Each part may have a last one that is not full. */
enum { REQUESTS_MAX = BATCH / ITEMS_MAX + PARTS_MAX };

typedef struct item {
    size_t at, size; /* in the text of the batch */
    unsigned part;
    bool found;
} item;

typedef struct batch {
    item items[BATCH];
    size_t n;
    char *text;
    size_t size, room;
    item *sorted[BATCH]; /* by part; `ends` has where each part ends */
    unsigned ends[PARTS_MAX + 1];
    text keys[PARTS_MAX];
    request requests[REQUESTS_MAX];
    size_t n_requests;
    const char *words[BATCH + 4 * REQUESTS_MAX]; /* of all requests */
    size_t sizes[BATCH + 4 * REQUESTS_MAX];
    size_t n_words;
} batch;

static void batch_add(batch *b, const char *bytes, size_t size)
{
    if (b->room - b->size < size) {
        b->room = 2 * b->room + size;
        b->text = realloc(b->text, b->room);
        if (!b->text)
            die("no memory", "");
    }
    memcpy(b->text + b->size, bytes, size);
    b->items[b->n++] = (item){ .at = b->size, .size = size };
    b->size += size;
}

/* Whether there is another key. */
static bool batch_add_next(batch *b, options *o)
{
    static char *line;
    static size_t room;
    char number[24];
    ssize_t size;

    if (o->is_range) {
        if (o->next > o->last)
            return false;
        size = snprintf(number, sizeof number, "%" PRIu64, o->next++);
        batch_add(b, number, (size_t)size);
        return true;
    }
    size = getline(&line, &room, stdin);
    if (size < 0)
        return false;
    batch_add(b, line, (size_t)size - (line[size - 1] == '\n'));
    return true;
}

/* The hash of this has nothing to do with those of filters. */
static unsigned part_of(const filter *f, const char *key, size_t size)
{
    static const tamis_hasher hasher = { .hash = TAMIS_FAST, .seed = 0x7061727473 }; /* "parts" */

    return (unsigned)(tamis_hasher_key(&hasher, key, size) % f->parts);
}

static void batch_sort(batch *b, const filter *f)
{
    memset(b->ends, 0, sizeof b->ends);
    for (size_t i = 0; i < b->n; i++) {
        item *x = &b->items[i];

        x->part = part_of(f, b->text + x->at, x->size);
        b->ends[x->part + 1]++;
    }
    for (unsigned p = 0; p < f->parts; p++)
        b->ends[p + 1] += b->ends[p];
    for (size_t i = 0; i < b->n; i++) /* ends[p] goes from the begin of part p to its end */
        b->sorted[b->ends[b->items[i].part]++] = &b->items[i];
}

static bool batch_fill(batch *b, options *o, const filter *f)
{
    b->n = b->size = 0;
    while (b->n < o->batch && b->size < BATCH_BYTES && batch_add_next(b, o))
        ;
    batch_sort(b, f);
    return b->n > 0;
}

/* Words before the items. BF.MADD would make a filter where there is none, and so hide that it has
 * gone elsewhere. */
typedef struct verb {
    const char *name;
    const char *options[2];
    int n; /* options */
} verb;

static verb verb_of(const filter *f, bool adds)
{
    static const verb verbs[2][2] = {
        { { "TAMIS.MEXISTS", { NULL }, 0 }, { "TAMIS.MADD", { NULL }, 0 } },
        { { "BF.MEXISTS", { NULL }, 0 }, { "BF.INSERT", { "NOCREATE", "ITEMS" }, 2 } },
    };

    return verbs[filter_is_bf(f)][adds];
}

static void batch_word(batch *b, const char *word, size_t size)
{
    b->words[b->n_words] = word;
    b->sizes[b->n_words++] = size;
}

static void batch_request(batch *b, const verb *v, const text *key, item **items, size_t n)
{
    size_t first = b->n_words;

    batch_word(b, v->name, strlen(v->name));
    batch_word(b, key->bytes, strlen(key->bytes));
    for (int i = 0; i < v->n; i++)
        batch_word(b, v->options[i], strlen(v->options[i]));
    for (size_t i = 0; i < n; i++)
        batch_word(b, b->text + items[i]->at, items[i]->size);
    b->requests[b->n_requests++] = (request){ .words = b->words + first,
                                              .sizes = b->sizes + first,
                                              .n = (int)(b->n_words - first),
                                              .key = 1,
                                              .must_exist = true };
}

/* A request for each part, or more where it has many items. */
static void batch_requests(batch *b, const filter *f, const verb *v)
{
    unsigned at = 0;

    b->n_words = b->n_requests = 0;
    for (unsigned p = 0; p < f->parts; p++) {
        b->keys[p] = part_name(f, p);
        while (at < b->ends[p]) {
            unsigned n = b->ends[p] - at < ITEMS_MAX ? b->ends[p] - at : ITEMS_MAX;

            batch_request(b, v, &b->keys[p], b->sorted + at, n);
            at += n;
        }
    }
}

/* Items that are in now, or that may be. */
static size_t batch_replies(batch *b, const verb *v)
{
    size_t at = 0, found = 0;

    for (size_t i = 0; i < b->n_requests; i++) {
        const request *r = &b->requests[i];
        size_t n = (size_t)r->n - 2 - (size_t)v->n;

        if (r->reply->type == REDIS_REPLY_ERROR)
            die(r->words[1], r->reply->str);
        if (r->reply->elements < n || r->reply->element[n - 1]->type == REDIS_REPLY_ERROR)
            die(r->words[1], r->reply->elements ? r->reply->element[r->reply->elements - 1]->str
                                                : "not a reply to this");
        for (size_t k = 0; k < n; k++, at++)
            found += b->sorted[at]->found = r->reply->element[k]->integer == 1;
    }
    return found;
}

/* ---- add, ask, check --------------------------------------------------------- */

static size_t batch_run(cluster *c, const options *o, batch *b, const filter *f, bool adds)
{
    verb v = verb_of(f, adds);
    size_t found;

    batch_requests(b, f, &v);
    if (!cluster_run(c, b->requests, b->n_requests, adds ? o->replicas : 0, o->patience)) {
        fflush(stdout); /* the failure is told, whatever comes of this */
        return SIZE_MAX;
    }
    found = batch_replies(b, &v);
    cluster_release(b->requests, b->n_requests);
    return found;
}

static batch *batch_new(void)
{
    return client_alloc(1, sizeof(batch));
}

static void batch_free(batch *b)
{
    free(b->text);
    free(b);
}

/* After a failure; the first key that may be missing. */
static void add_explain(const options *o, uint64_t first)
{
    fflush(stdout); /* the failure is reported in any case */
    fprintf(stderr,
            "tamis-redis-client: keys from number %" PRIu64 " on are not acknowledged; they can be "
            "added again.\n",
            first);
    if (o->replicas)
        fputs("A primary that has lost its replica needs one: start that server again, or wait for "
              "none with -w 0.\n",
              stderr);
}

static int add_command(cluster *c, options *o, const filter *f)
{
    batch *b = batch_new();
    uint64_t n = 0, new = 0;
    size_t added = 0;

    while (batch_fill(b, o, f) && (added = batch_run(c, o, b, f, true)) != SIZE_MAX) {
        n += b->n;
        new += added;
    }
    batch_free(b);
    printf("acknowledged %" PRIu64 ", new %" PRIu64 "\n", n, new);
    if (added == SIZE_MAX)
        add_explain(o, n + 1);
    return added == SIZE_MAX;
}

static void ask_print(const batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->items[i].found) {
            fwrite(b->text + b->items[i].at, 1, b->items[i].size, stdout);
            putchar('\n');
        }
}

static int ask_command(cluster *c, options *o, const filter *f, bool prints)
{
    batch *b = batch_new();
    uint64_t n = 0, there = 0;
    size_t found = 0;

    while (batch_fill(b, o, f) && (found = batch_run(c, o, b, f, false)) != SIZE_MAX) {
        n += b->n;
        there += found;
        if (prints)
            ask_print(b);
    }
    batch_free(b);
    if (!prints)
        printf("asked %" PRIu64 ", missing %" PRIu64 "\n", n, n - there);
    return found == SIZE_MAX || (!prints && there < n);
}

/* ---- The command line ------------------------------------------------------- */

static const char USAGE[] =
    "usage: tamis-redis-client [OPTION]... COMMAND NAME[@VERSION] ...\n"
    "\n"
    "  reserve NAME KEYS              a filter for so many keys, in parts\n"
    "  reserve NAME@TO like NAME...   another that can be merged with it\n"
    "  add NAME                       keys, one in a line, or those of -r\n"
    "  ask NAME                       prints the keys that may be in it\n"
    "  check NAME                     counts those that are not; exit code 1 if there are some\n"
    "  merge NAME@TO NAME@FROM...     adds all that others hold\n"
    "  where NAME                     on which server each part is\n"
    "\n"
    "  -h HOST, -p PORT   one of the servers (127.0.0.1, 7100)\n"
    "  -n PARTS           reserve: how many parts (as many as hold 4 million keys each; 12 or "
    "more)\n"
    "  -t                 reserve: parts together on one server, {NAME}:i; else {NAME:i}\n"
    "  -k KIND            reserve: a kind of the TAMIS commands; else a filter of the BF commands\n"
    "  -e RATE            reserve: false positives (0.01)\n"
    "  -w REPLICAS        that must have what is added (1); 0: nobody waits for them\n"
    "  -r FIRST-LAST      the keys are these numbers\n"
    "  -s SECONDS         give up when nothing has helped for so long (60)\n"
    "  -b KEYS            sent at a time, to all parts (65536)\n";

static void usage(void)
{
    fputs(USAGE, stderr);
    exit(2);
}

static void parse_range(options *o, const char *word)
{
    char rest;

    o->is_range = true;
    if (sscanf(word, "%" SCNu64 "-%" SCNu64 "%c", &o->next, &o->last, &rest) != 2 ||
        o->last == UINT64_MAX)
        die("not a range", word);
}

/* A number within bounds. */
static double parse_number(const char *word, double least, double most)
{
    char *end;
    double x = strtod(word, &end);

    if (end == word || *end || !(x >= least && x <= most))
        die("not a number that goes here", word);
    return x;
}

static void parse_option(options *o, int letter, const char *value)
{
    if (letter == 'h')
        o->host = value;
    else if (letter == 'p')
        o->port = (int)parse_number(value, 1, 65535);
    else if (letter == 'n')
        o->wanted.parts = (unsigned)parse_number(value, 1, PARTS_MAX);
    else if (letter == 't')
        o->wanted.is_together = true;
    else if (letter == 'k')
        snprintf(o->wanted.kind, sizeof o->wanted.kind, "%s", value);
    else if (letter == 'e')
        o->wanted.rate = parse_number(value, 1e-12, 0.5);
    else if (letter == 'w')
        o->replicas = (int)parse_number(value, 0, 100);
    else if (letter == 'r')
        parse_range(o, value);
    else if (letter == 's')
        o->patience = parse_number(value, 0, 1e6);
    else if (letter == 'b')
        o->batch = (size_t)parse_number(value, 1, BATCH);
    else
        usage();
}

static int run_command(cluster *c, options *o, const char *command, int argc, char **argv)
{
    filter f;

    if (!strcmp(command, "reserve"))
        return reserve_command(c, o, argc, argv);
    if (!strcmp(command, "merge") && argc > 1)
        return merge_command(c, o, argc, argv);
    f = find_filter(c, o, argv[0]);
    if (!strcmp(command, "where"))
        return where_command(c, &f);
    if (!strcmp(command, "add"))
        return add_command(c, o, &f);
    if (!strcmp(command, "ask"))
        return ask_command(c, o, &f, true);
    if (!strcmp(command, "check"))
        return ask_command(c, o, &f, false);
    usage();
    return 2;
}

int main(int argc, char **argv)
{
    options o = { .host = "127.0.0.1",
                  .port = 7100,
                  .replicas = 1,
                  .batch = BATCH,
                  .patience = 60,
                  .wanted = { .kind = "bf", .rate = 0.01 } };
    cluster *c;
    int letter, result;

    while ((letter = getopt(argc, argv, "h:p:n:tk:e:w:r:s:b:")) != -1)
        parse_option(&o, letter, optarg);
    if (argc - optind < 2)
        usage();
    c = cluster_open(o.host, o.port);
    if (!c)
        return 1;
    result = run_command(c, &o, argv[optind], argc - optind - 1, argv + optind + 1);
    cluster_close(c);
    return result;
}
