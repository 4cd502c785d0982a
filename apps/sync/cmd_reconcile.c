/* cmd_reconcile.c - tamis reconcile: what differs between two sets, and how to end that. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "files/file_read.h"
#include "files/replace.h"
#include "filters/store.h"
#include "reconcile.h"
#include "term/output.h"
#include "text/abilities.h"
#include "text/json.h"
#include "text/unpack.h"
#include "wire/connect.h"
#include "wire/packed_message.h"

/* Offers, beside that of packed.h. */
enum { OFFER_UNION = 2 };

typedef struct request {
    reconcile talk;
    connect_way way;
    const char *path;
    struct stat read_as; /* the file when it was read */
    bool is_packed;      /* it is compressed */
    traffic_wish wants;
    bool takes_packed, makes_union, counting;
} request;

/* ---- Reading ----------------------------------------------------------- */

static bool read_entry(void *ctx, uint64_t key, uint64_t count)
{
    buffer_print(ctx, "%020" PRIu64 "\t%" PRIu64 "\n", key, count);
    return true;
}

/* Fingerprints are slots times 2^width numbers, however these two were chosen. */
static uint64_t range_of(const tamis_plan *plan)
{
    uint64_t slots = plan->slots, width = plan->width;
    tamis_hasher by = { .hash = TAMIS_FAST };

    if (tamis_kind_can(plan->kind) & TAMIS_IS_EXACT)
        return 0;
    for (; slots > 0 && slots % 2 == 0; slots /= 2)
        width++;
    return tamis_hasher_key(&by, (uint64_t[]){ slots, width }, 16);
}

static void read_image(request *q)
{
    tamis *f = store_map_whole(q->path);
    const tamis_plan *plan = tamis_plan_of(f);

    abilities_require(plan->kind, TAMIS_CAN_LIST, q->path);
    q->talk.form = (reconcile_form){ true, plan->hasher, range_of(plan) };
    q->talk.here.end = '\n';
    tamis_status status = tamis_list(f, read_entry, &q->talk.here.text);
    if (status)
        die_status("list", q->path, status);
    tamis_free(f);
}

/* Images begin with these bytes. */
static bool is_image(const char *bytes, size_t size)
{
    static const char magic[] = "\x89TMS\r\n\x1a\n";

    return size >= sizeof magic - 1 && memcmp(bytes, magic, sizeof magic - 1) == 0;
}

static void read_set(request *q)
{
    bool is_open;
    char start[16];
    int fd;

    /* A pipe would lose what is read from it. */
    if (strcmp(q->path, "-") == 0 || stat(q->path, &q->read_as) || !S_ISREG(q->read_as.st_mode) ||
        (fd = open(q->path, O_RDONLY | O_CLOEXEC)) < 0) {
        line_set_read(&q->talk.here, q->path, q->takes_packed);
        return;
    }
    size_t size = file_read(fd, q->path, start, sizeof start, 0);
    close(fd); /* only read */
    q->is_packed = !q->takes_packed && unpack_find(start, size, &is_open);
    if (is_image(start, size))
        read_image(q);
    else
        line_set_read(&q->talk.here, q->path, q->takes_packed);
}

/* ---- Union ------------------------------------------------------------- */

static void check_unchanged(const request *q)
{
    struct stat now;

    if (stat(q->path, &now))
        die_errno("read", q->path);
    if (now.st_size != q->read_as.st_size || now.st_ino != q->read_as.st_ino ||
        now.st_mtim.tv_sec != q->read_as.st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != q->read_as.st_mtim.tv_nsec)
        die(CODE_IO, "%s changed meanwhile; it is left as it is. Run this again", q->path);
}

/* Lines of this side stay where they are, and the others follow in the order of their bytes. */
static void add_lines(reconcile *r)
{
    const request *q = r->ctx;

    if (!q->makes_union || r->n_there == 0)
        return;
    replacement *file = replace_begin(q->path);
    replace_write(file, r->here.text.bytes, r->here.text.size);
    replace_write(file, r->only_there.bytes, r->only_there.size);
    check_unchanged(q);
    replace_end(file);
}

/* NULL: it can be made. */
static const char *why_no_union(const request *q)
{
    if (q->talk.form.is_image)
        return "--union is for files of lines; 'tamis merge' joins filters";
    if (!S_ISREG(q->read_as.st_mode))
        return "--union needs a file that it can replace, not a pipe";
    if (q->is_packed)
        return "--union would write lines into a compressed file; decompress it first";
    return NULL;
}

/* ---- Printing ---------------------------------------------------------- */

static void print_lines(const request *q)
{
    const reconcile *r = &q->talk;
    reconcile_walk w = { 0 };
    buffer out = { 0 };
    span text;
    bool is_here;

    while (reconcile_next(r, &w, &text, &is_here)) {
        buffer_append(&out, is_here ? "< " : "> ", 2);
        output_put_text(&out, text.at, text.size);
        buffer_append(&out, &r->here.end, 1);
        output_gathered(&out, false);
    }
    output_gathered(&out, true);
    buffer_free(&out);
}

/* A fingerprint whose counts differ. */
typedef struct entry {
    uint64_t fingerprint, here, there;
} entry;

static uint64_t number_in(const char **at)
{
    uint64_t number = 0;

    for (; **at >= '0' && **at <= '9'; ++*at)
        number = number * 10 + (uint64_t)(**at - '0');
    return number;
}

/* The fingerprint and the count of a line; the other side may send anything. */
static entry entry_of(const request *q, span text, bool is_here)
{
    const char *at = text.at;
    entry e = { 0 };

    e.fingerprint = number_in(&at);
    bool has_tab = *at == '\t';
    at += has_tab;
    uint64_t count = number_in(&at);
    if (!has_tab || at != text.at + text.size || count == 0)
        line_refuse(q->talk.line, "it sent an entry that no filter has");
    *(is_here ? &e.here : &e.there) = count;
    return e;
}

/* Entries of one fingerprint follow each other. False: there is none. */
static bool next_entry(const request *q, reconcile_walk *w, entry *e)
{
    reconcile_walk ahead;
    span text;
    bool is_here, has_second;

    if (!reconcile_next(&q->talk, w, &text, &is_here))
        return false;
    *e = entry_of(q, text, is_here);
    ahead = *w;
    has_second = reconcile_next(&q->talk, &ahead, &text, &is_here);
    entry second = has_second ? entry_of(q, text, is_here) : (entry){ 0 };
    if (has_second && second.fingerprint == e->fingerprint) {
        e->here += second.here;
        e->there += second.there;
        *w = ahead;
    }
    return true;
}

static void print_entries(const request *q)
{
    reconcile_walk w = { 0 };
    entry e;

    while (next_entry(q, &w, &e))
        printf("%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", e.fingerprint, e.here, e.there);
    if (w.here + w.there > 0)
        say("these are fingerprints, with their counts here and there");
}

static void print_counts(const reconcile *r)
{
    printf("%zu only here, %zu only there, %zu on both sides\n", r->n_here, r->n_there,
           r->here.n - r->n_here);
}

/* ---- JSON -------------------------------------------------------------- */

static void json_lines(json *j, const char *name, const request *q, bool wants_here)
{
    reconcile_walk w = { 0 };
    bool is_here;
    span text;

    json_open(j, name, '[');
    while (reconcile_next(&q->talk, &w, &text, &is_here))
        if (is_here == wants_here)
            json_bytes(j, NULL, text.at, text.size);
    json_close(j, ']');
}

static void json_entries(json *j, const request *q)
{
    reconcile_walk w = { 0 };
    entry e;

    json_open(j, "counts", '[');
    while (next_entry(q, &w, &e)) {
        json_open(j, NULL, '{');
        json_count(j, "fingerprint", e.fingerprint);
        json_count(j, "here", e.here);
        json_count(j, "there", e.there);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void print_json(const request *q)
{
    const reconcile *r = &q->talk;
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_count(&j, "only_here", r->n_here);
    json_count(&j, "only_there", r->n_there);
    json_count(&j, "both", r->here.n - r->n_here);
    if (!q->counting && r->form.is_image)
        json_entries(&j, q);
    if (!q->counting && !r->form.is_image) {
        json_lines(&j, "lines_here", q, true);
        json_lines(&j, "lines_there", q, false);
    }
    json_bool(&j, "sent_all", r->is_whole);
    json_count(&j, "symbols", r->symbols);
    json_count(&j, "rounds", r->rounds);
    traffic_json(r->line, reconcile_parts, &j);
    json_close(&j, '}');
}

static void print_stats(const reconcile *r)
{
    fprintf(stderr, "%zu lines here, %" PRIu64 " there; %zu differ\n", r->here.n, r->all_there,
            r->n_here + r->n_there);
    fprintf(stderr, "%" PRIu64 " symbols, %u rounds%s\n", r->symbols, r->rounds,
            r->is_whole ? "; all lines of one side were sent" : "");
    traffic_print(r->line, reconcile_parts);
}

static void print_result(const request *q)
{
    if (q->wants.as_json)
        print_json(q);
    else if (q->counting)
        print_counts(&q->talk);
    else if (q->talk.form.is_image)
        print_entries(q);
    else if (!q->makes_union)
        print_lines(q);
    if (q->wants.as_text)
        print_stats(&q->talk);
}

/* ---- Command ----------------------------------------------------------- */

static const option_row options[] = {
    { 0, "union", NULL, "add to each file the lines that only the other has",
      TO_FLAG(request, makes_union) },
    { 'c', "count", NULL, "print only how many lines differ", TO_FLAG(request, counting) },
    { 'z', "null", NULL, "lines end with a NUL byte, not with a newline",
      TO_CONSTANT(request, talk.here.end, 0) },
    { 0, "no-decompress", NULL,
      "take compressed inputs as they are (default: read gzip, zstd and xz)",
      TO_FLAG(request, takes_packed) },
    { 0, "memory", "SIZE",
      "for what the other side sends: K, M, G (default: half of the machine's)",
      TO_MEMORY(request, talk.memory) },
    OPTIONS(traffic_options, request, wants),
    OPTIONS(connect_options, request, way),
    { .included = progress_options },
    { 0 },
};

static size_t half_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

    uint64_t half = pages > 0 && size > 0 ? (uint64_t)pages / 2 * (uint64_t)size : UINT64_MAX;

    return half < SIZE_MAX / 2 ? (size_t)half : SIZE_MAX / 2;
}

/* Who runs a command at the other end may have its file changed; who connects may not, unless the
 * side that listens says so. */
static void agree_on_union(request *q, uint64_t theirs)
{
    bool there = theirs & OFFER_UNION;

    if (q->way.serves_here && there)
        q->makes_union = true;
    if (q->way.listen && there != q->makes_union)
        line_refuse(q->talk.line, "one side makes a union and the other does not; "
                                  "give --union on both");
    if (q->makes_union && why_no_union(q))
        line_refuse(q->talk.line, "%s", why_no_union(q));
}

static void converse(request *q)
{
    reconcile *r = &q->talk;
    bool asks = connect_asks(&q->way);

    r->line = connect_open(&q->way);
    r->offers =
        line_greet(r->line, "reconcile", asks, packed_offer() | (q->makes_union ? OFFER_UNION : 0));
    agree_on_union(q, r->offers);
    r->settle = add_lines;
    r->ctx = q;
    if (asks)
        reconcile_ask(r);
    else
        reconcile_serve(r);
}

static int run(args *a)
{
    request q = { .talk = { .here = { .end = '\n' }, .memory = half_of_memory() },
                  .way = connect_default() };

    args_read(a, &q);
    connect_check(&q.way, a);
    q.path = args_operands(a, 1, 1, "a FILE of lines, or of a filter")[0];
    if (q.way.serves_here && (strcmp(q.path, "-") == 0))
        args_refuse(a, "with --serve, standard input is the line; name a FILE");
    read_set(&q);
    if (q.makes_union && why_no_union(&q))
        args_refuse(a, why_no_union(&q));
    converse(&q);
    if (!q.way.serves_here)
        print_result(&q);
    bool differ = !q.makes_union && q.talk.n_here + q.talk.n_there > 0;
    connect_close(&q.way, q.talk.line);
    line_free(q.talk.line);
    int code = differ && !q.way.serves_here ? CODE_NOTHING : CODE_OK;
    reconcile_free(&q.talk);
    return code;
}

const command cmd_reconcile = { "reconcile", help_reconcile, options, .run = run };
