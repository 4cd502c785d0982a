/* cmd_intersect.c - tamis intersect: the lines that two machines have in common. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "files/replace.h"
#include "files/scratch.h"
#include "filters/spec.h"
#include "intersect.h"
#include "term/message.h"
#include "text/json.h"
#include "wire/coded.h"
#include "wire/connect.h"
#include "wire/traffic.h"

typedef struct request {
    connect_way way;
    source source;
    intersect_wish wish;
    const char *out;
    traffic_wish wants;
    bool both, counting, plans;
    tamis_hasher second; /* of the other hash */
    uint64_t line;       /* of the chunk at hand: how many came before it */
    intersect talk;
    char copy[32]; /* where the copy of a pipe is */
} request;

/* Memory for sets if nothing is said of it, the share of one of them, and the least: a builder
 * takes half, and no less than 4 MiB. */
enum { DEFAULT_MEMORY = 1 << 30, SETS = 8, LEAST_MEMORY = 16 << 20 };

/* ---- Elements of the file ---------------------------------------------- */

static bool is_absent(const batch *b, size_t i)
{
    return b->keyless[i / 64] >> i % 64 & 1;
}

/* Integers are in order by a hash, and known by themselves. */
static element element_of(const request *r, uint64_t key, uint64_t other, uint64_t at)
{
    if (r->wish.is_raw)
        return (element){ intersect_hash(&r->talk.order, key), key, at };
    return (element){ key, other, at };
}

static void keep_elements(void *ctx, job *j)
{
    const request *r = ctx;
    batch *b = &j->batch;
    uint64_t first = j->lines - b->n, keys[BATCH_LINES];
    key_format second = r->source.format;

    second.hasher = r->second;
    memcpy(keys, b->keys, b->n * sizeof *keys);
    if (!r->wish.is_raw)
        batch_take(b, &second, b->start[0], b->start[b->n]);
    for (size_t i = 0; i < b->n; i++) {
        element e = element_of(r, keys[i], b->keys[i], first + i);
        if (!is_absent(b, i))
            buffer_append(&j->out, &e, sizeof e);
    }
}

static void add_elements(void *ctx, job *j)
{
    request *r = ctx;
    const element *e = (const void *)j->out.bytes;

    for (size_t i = 0; i < j->out.size / sizeof *e; i++) {
        element moved = { e[i].hash, e[i].rest, e[i].line + r->line };

        elements_add(r->talk.set, &moved);
        if (r->wish.is_raw && moved.rest > r->talk.here.largest)
            r->talk.here.largest = moved.rest;
    }
    r->line += j->lines;
    line_breathe(r->talk.line);
}

static void read_set(request *r)
{
    pipeline p = { .take_batch = keep_elements, .finish_chunk = add_elements, .ctx = r };

    r->talk.set = intersect_new_set(&r->talk);
    r->line = 0;
    pipeline_run(&p, &r->source);
    elements_sort(r->talk.set);
    r->talk.here.n = elements_count(r->talk.set);
}

/* What is read twice but may come only once is copied. */
static void copy_pipe(request *r)
{
    static char *names[2];
    const char *name = r->source.names[0];
    bool is_standard = strcmp(name, "-") == 0;
    int from = is_standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC), to;
    struct stat s;
    buffer piece = { 0 };
    uint64_t done = 0;
    ssize_t got;

    if (from < 0 || fstat(from, &s))
        die_errno("read", name);
    if (S_ISREG(s.st_mode) && !is_standard) {
        close(from); /* only read */
        return;
    }
    to = scratch_open();
    buffer_reserve(&piece, 1 << 16);
    while ((got = read(from, piece.bytes, piece.room)) > 0) {
        scratch_write(to, piece.bytes, (size_t)got, done);
        done += (uint64_t)got;
    }
    if (got < 0)
        die_errno("read", name);
    buffer_free(&piece);
    snprintf(r->copy, sizeof r->copy, "/dev/fd/%d", to);
    names[0] = r->copy;
    r->source.names = names;
}

/* ---- Before the filter ------------------------------------------------- */

/* Elements of a sketch, at most and as a share of all. */
enum { SKETCH = 128, SKETCH_SHARE = 64 };
/* More elements than this no line of any length brings. */
#define SET_MOST (UINT64_C(1) << 48)

/* The sizes of messages are checked before. */
static uint64_t take(coded *c, unsigned bytes)
{
    uint64_t number;

    (void)coded_bytes(c, &number, bytes);
    return number;
}

static coded expect(const request *r, char part, size_t size)
{
    return coded_of(line_expect_bytes(r->talk.line, part, size), size);
}

/* Two hashes, by secrets that nobody knew before: no line was made to have those of another. */
static void use_secrets(request *r, const uint8_t first[16], const uint8_t second[16])
{
    tamis_hasher a = { .hash = TAMIS_KEYED }, b = { .hash = TAMIS_KEYED };

    memcpy(a.secret, first, 16);
    memcpy(b.secret, second, 16);
    r->talk.order = a;
    r->talk.check = b;
    r->talk.is_raw = r->wish.is_raw;
    r->source.format.hasher = r->wish.is_raw ? (tamis_hasher){ .hash = TAMIS_RAW } : a;
    r->second = b;
}

enum { ASK_BYTES = 16 + 16 + 1 + 1 };

static void ask(request *r)
{
    uint8_t secrets[2][16];
    buffer b = { 0 };

    draw_secret(secrets[0]);
    draw_secret(secrets[1]);
    use_secrets(r, secrets[0], secrets[1]);
    buffer_append(&b, secrets, sizeof secrets);
    coded_put_bytes(&b, r->wish.is_raw, 1);
    coded_put_bytes(&b, r->both, 1);
    line_put(r->talk.line, PART_ASK, &b);
    line_flush(r->talk.line);
}

static void hear_ask(request *r)
{
    static const uint8_t zeros[16];
    const uint8_t *at = line_expect_bytes(r->talk.line, PART_ASK, ASK_BYTES);

    if (memcmp(at, zeros, 16) == 0 || memcmp(at + 16, zeros, 16) == 0)
        line_refuse(r->talk.line, "a secret of zeros is none");
    r->wish.is_raw = at[32] == 1;
    r->both = at[33] == 1;
    if (r->both && r->way.serves_here && strcmp(r->out, "-") == 0)
        line_refuse(r->talk.line, "--both needs -o FILE beside --serve");
    use_secrets(r, at, at + 16);
}

static void put_set(const request *r, buffer *b)
{
    coded_put_bytes(b, r->talk.here.n, 8);
    coded_put_bytes(b, r->talk.here.largest, 8);
}

static void take_set(request *r, coded *c)
{
    r->talk.there.n = take(c, 8);
    r->talk.there.largest = take(c, 8);
    if (r->talk.there.n > SET_MOST)
        line_refuse(r->talk.line, "%" PRIu64 " elements are more than any file has",
                    r->talk.there.n);
}

static void send_sketch(const request *r)
{
    uint64_t n = r->talk.here.n / SKETCH_SHARE;
    const element *e;
    buffer b = { 0 };

    put_set(r, &b);
    elements_rewind(r->talk.set);
    for (uint64_t i = 0; i < SKETCH && i < n && (e = elements_next(r->talk.set)); i++)
        coded_put_bytes(&b, e->hash, 8);
    line_put(r->talk.line, PART_SKETCH, &b);
}

/* The hashes that come are the lowest of the other side: those of them that are here, too, tell
 * which share of its elements is. Returns how many that makes. */
static double hear_sketch(request *r)
{
    line_frame f = line_expect(r->talk.line, PART_SKETCH);
    uint64_t seen = 0, n = f.size / 8 - 2;
    coded c = coded_of(f.body, f.size);
    const element *e;

    if (f.size < 16 || f.size % 8 || n > SKETCH)
        line_refuse(r->talk.line, "a sketch has %zu bytes", f.size);
    take_set(r, &c);
    elements_rewind(r->talk.set);
    e = elements_next(r->talk.set);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t hash = take(&c, 8);
        while (e && e->hash < hash)
            e = elements_next(r->talk.set);
        seen += e && e->hash == hash;
    }
    double here = (double)r->talk.here.n, there = (double)r->talk.there.n;
    double common = there * ((double)seen + 0.5) / ((double)n + 1);
    return common < here ? common : here;
}

enum { PLAN_BYTES = 1 + 1 + 1 + 4 + 8 + 8 + 8 };

static void send_plan(request *r)
{
    const intersect_plan *p = &r->talk.plan;
    uint64_t fpr;
    buffer b = { 0 };

    memcpy(&fpr, &p->fpr, sizeof fpr);
    coded_put_bytes(&b, p->is_dry, 1);
    coded_put_bytes(&b, p->asker_is_first, 1);
    coded_put_bytes(&b, p->form, 1);
    coded_put_bytes(&b, p->kind, 4);
    coded_put_bytes(&b, fpr, 8);
    put_set(r, &b);
    line_put(r->talk.line, PART_PLAN, &b);
}

static void hear_plan(request *r)
{
    coded c = expect(r, PART_PLAN, PLAN_BYTES);
    intersect_plan *p = &r->talk.plan;

    p->is_dry = take(&c, 1) == 1;
    p->asker_is_first = take(&c, 1) == 1;
    p->form = take(&c, 1) == INTERSECT_CODED ? INTERSECT_CODED : INTERSECT_UNCODED;
    p->kind = (tamis_kind)take(&c, 4);
    uint64_t fpr = take(&c, 8);
    memcpy(&p->fpr, &fpr, sizeof fpr);
    take_set(r, &c);
    if (p->kind && !intersect_takes(p->kind, r->wish.is_raw))
        line_refuse(r->talk.line, "kind %d cannot be made here", (int)p->kind);
    if (p->kind && !p->asker_is_first && !intersect_is_worth(p, &r->talk.here))
        line_refuse(r->talk.line,
                    "it asks for a filter of many times the bytes of %" PRIu64 " elements",
                    r->talk.here.n);
}

/* ---- What is shown ----------------------------------------------------- */

typedef struct showing {
    replacement *to;
    elements *lines; /* their places */
    const element *next;
    uint64_t line; /* of the chunk at hand */
    buffer out;
} showing;

static void keep_starts(void *ctx, job *j)
{
    const batch *b = &j->batch;

    (void)ctx;
    for (size_t i = 0; i < b->n; i++) {
        size_t at[2] = { (size_t)(b->start[i] - j->text.bytes),
                         (size_t)(b->start[i + 1] - j->text.bytes) };
        buffer_append(&j->out, at, sizeof at);
    }
}

static void show_chunk(void *ctx, job *j)
{
    showing *s = ctx;
    const size_t *at = (const void *)j->out.bytes;

    s->out.size = 0;
    for (; s->next && s->next->hash < s->line + j->lines; s->next = elements_next(s->lines)) {
        size_t i = (size_t)(s->next->hash - s->line);

        buffer_append(&s->out, j->text.bytes + at[2 * i], at[2 * i + 1] - at[2 * i]);
    }
    s->line += j->lines;
    replace_write(s->to, s->out.bytes, s->out.size);
}

static void show_lines(request *r, elements *lines)
{
    showing s = { .lines = lines, .to = replace_begin(r->out) };
    pipeline p = { .take_batch = keep_starts, .finish_chunk = show_chunk, .ctx = &s };

    elements_rewind(lines);
    s.next = elements_next(lines);
    r->source.format.hasher = (tamis_hasher){ .hash = TAMIS_FAST };
    pipeline_run(&p, &r->source);
    replace_end(s.to);
    buffer_free(&s.out);
}

static const traffic_part parts[] = {
    { 'H', "greeting" },         { PART_ASK, "question" },  { PART_SKETCH, "sketch" },
    { PART_PLAN, "plan" },       { PART_FILTER, "filter" }, { PART_ANSWER, "answer" },
    { PART_VERDICT, "verdict" }, { PART_CHECK, "checks" },  { PART_REPAIR, "repair" },
    { PART_REST, "rest" },       { '.', "alive" },          { 0, NULL },
};

static const char *kind_name(const intersect_plan *p)
{
    return p->kind ? tamis_kind_name(p->kind) : "none";
}

static void print_stats(const request *r)
{
    const intersect_plan *p = &r->talk.plan;

    fprintf(stderr, "filter %s, rate %.3g; %" PRIu64 " elements here, %" PRIu64 " there\n",
            kind_name(p), p->kind ? p->fpr : 1, r->talk.here.n, r->talk.there.n);
    fprintf(stderr, "%" PRIu64 " elements passed it, %" PRIu64 " groups were repaired\n",
            r->talk.answered, r->talk.repaired);
    traffic_print(r->talk.line, parts);
}

static void json_plan(json *j, const request *r, double common)
{
    const intersect_plan *p = &r->talk.plan;

    json_count(j, "here", r->talk.here.n);
    json_count(j, "there", r->talk.there.n);
    json_real(j, "expected_common", common);
    json_text(j, "filter_from", p->asker_is_first ? "here" : "there");
    json_text(j, "kind", kind_name(p));
    json_real(j, "fpr", p->kind ? p->fpr : 1);
    json_real(j, "expected_filter_bytes", p->filter);
    json_real(j, "expected_answer_bytes", p->answer);
}

static void print_json(const request *r, double expected, uint64_t common)
{
    json j = { 0 };

    json_open(&j, NULL, '{');
    if (!r->plans)
        json_count(&j, "common", common);
    json_plan(&j, r, expected);
    if (!r->plans) {
        json_count(&j, "passed", r->talk.answered);
        json_count(&j, "repaired_groups", r->talk.repaired);
        traffic_json(r->talk.line, parts, &j);
    }
    json_close(&j, '}');
}

static void print_plan(const request *r, double common)
{
    const intersect_plan *p = &r->talk.plan;

    printf("%" PRIu64 " elements here, %" PRIu64 " there, about %.0f in common\n", r->talk.here.n,
           r->talk.there.n, common);
    if (p->kind)
        printf("filter     %s of the set %s, rate %.3g, %.0f bytes\n", kind_name(p),
               p->asker_is_first ? "here" : "there", p->fpr, p->filter);
    else
        printf("filter     none: most would pass it\n");
    printf("answer     from %s, %.0f bytes\n", p->asker_is_first ? "there" : "here", p->answer);
    printf("all        %.0f bytes\n", p->filter + p->answer);
}

/* ---- Command ----------------------------------------------------------- */

static void check_options(void *into, const args *a)
{
    request *r = into;

    r->wish.memory = r->talk.memory / 2;
    connect_check(&r->way, a);
    if (r->wish.kind && !intersect_takes(r->wish.kind, r->wish.is_raw))
        args_refuse(a, tamis_kind_can(r->wish.kind) & TAMIS_IS_INDEXED
                           ? "filters of this kind hold small integers; give --raw too"
                           : "filters of this kind need more than keys, or forget them; 'tamis "
                             "kinds' tells what each can do");
    if (!connect_asks(&r->way) && (r->both || r->plans || r->wish.kind || r->wish.fpr > 0))
        args_refuse(a, "the side that asks decides how; this one serves");
    if (r->talk.memory && r->talk.memory < LEAST_MEMORY)
        die(CODE_MEMORY, "intersect: --memory is too little; give %dM or more", LEAST_MEMORY >> 20);
}

static const option_row options[] = {
    { 'k', "kind", "KIND", "kind of filter (default: with which the fewest bytes are sent)",
      TO_KIND(request, wish.kind) },
    { 'p', "fpr", "RATE", "its false positive rate (default: likewise)",
      TO_FPR(request, wish.fpr) },
    { 'c', "count", NULL, "print only how many lines are in common", TO_FLAG(request, counting) },
    { 'o', "output", "FILE", "where to write the lines (default: standard output)",
      TO_TEXT(request, out) },
    { 0, "both", NULL, "write the lines of the other side there, too", TO_FLAG(request, both) },
    { 0, "raw", NULL, "lines are integers below 2^64, known by their value",
      TO_FLAG(request, wish.is_raw) },
    { 0, "uncoded", NULL, "send what passes the filter in full: 8 or 16 bytes each",
      TO_CONSTANT(request, wish.form, INTERSECT_UNCODED) },
    { 0, "plan", NULL, "tell which filter would be sent, and send none", TO_FLAG(request, plans) },
    { 0, "memory", "SIZE", "memory it may take: 512M, 4G; more waits on disk",
      TO_SIZE(request, talk.memory) },
    OPTIONS(traffic_options, request, wants),
    OPTIONS(connect_options, request, way),
    OPTIONS(key_options, request, source),
    { .included = quiet_options },
    { .take = check_options },
};

static elements *ask_for_it(request *r, double *common)
{
    ask(r);
    read_set(r);
    *common = hear_sketch(r);
    if (!intersect_choose(&r->talk.plan, &r->wish, &r->talk.here, &r->talk.there, *common) &&
        r->talk.here.n + r->talk.there.n > 0)
        die(CODE_LIMIT,
            "intersect: no filter can be made so; leave out -k or -p, or give more --memory");
    r->talk.plan.is_dry = r->plans;
    r->talk.is_first = r->talk.plan.asker_is_first;
    send_plan(r);
    return r->plans ? NULL : intersect_run(&r->talk);
}

static elements *serve(request *r)
{
    hear_ask(r);
    read_set(r);
    send_sketch(r);
    hear_plan(r);
    r->talk.is_first = !r->talk.plan.asker_is_first;
    return r->talk.plan.is_dry ? NULL : intersect_run(&r->talk);
}

static void show(request *r, elements *result, double expected)
{
    uint64_t n = result ? elements_count(result) : 0;

    if (r->wants.as_json)
        print_json(r, expected, n);
    else if (r->plans)
        print_plan(r, expected);
    else if (r->counting)
        printf("%" PRIu64 "\n", n);
    else
        show_lines(r, result);
}

static int run(args *a)
{
    request r = { .way = connect_default(), .source = source_default(), .out = "-" };
    double expected = 0;

    args_read(a, &r);
    r.source.names = args_operands(a, 1, 1, "the FILE of a set");
    if (r.way.serves_here && strcmp(r.source.names[0], "-") == 0)
        args_refuse(a, "standard input is the line, with --serve; name a FILE");
    bool asks = connect_asks(&r.way);
    copy_pipe(&r);
    r.talk.threads = r.source.threads;
    r.talk.memory_for_set = (r.talk.memory ? r.talk.memory : DEFAULT_MEMORY) / SETS;
    r.talk.line = connect_open(&r.way);
    line_greet(r.talk.line, "intersect", asks, 0);
    elements *result = asks ? ask_for_it(&r, &expected) : serve(&r);
    connect_close(&r.way, r.talk.line);
    elements_free(r.talk.set);
    if (asks || (r.both && result))
        show(&r, result, expected);
    if (r.wants.as_text)
        print_stats(&r);
    line_free(r.talk.line);
    uint64_t n = result ? elements_count(result) : 0;
    if (result)
        elements_free(result);
    return n > 0 || r.plans || !asks ? CODE_OK : CODE_NOTHING;
}

const command cmd_intersect = { "intersect", help_intersect, options, .run = run };
