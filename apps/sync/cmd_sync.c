/* cmd_sync.c - tamis sync: a file or a folder becomes as another is. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "filters/spec.h"
#include "sync_job.h"
#include "term/progress.h"
#include "text/json.h"
#include "wire/connect.h"
#include "wire/packed_message.h"
#include "wire/traffic.h"

typedef struct request {
    connect_way way;
    const char *rsh, *program;
    traffic_wish wants;
    bool is_read_only;
    sync_job job;
} request;

/* ---- Requests ---------------------------------------------------------- */

enum { ASKED_SIZE = 18, ASKED_ALL = 31 };
enum { ASKED_PUSH = 1, ASKED_FOLDERS = 2, ASKED_DELETE = 4, ASKED_CONTENT = 8, ASKED_DRY = 16 };

static void ask(const sync_job *work, bool pushes)
{
    uint8_t asked[ASKED_SIZE] = {
        (uint8_t)((pushes ? ASKED_PUSH : 0) | (work->is_recursive ? ASKED_FOLDERS : 0) |
                  (work->deletes ? ASKED_DELETE : 0) | (work->by_content ? ASKED_CONTENT : 0) |
                  (work->is_dry ? ASKED_DRY : 0)),
        (uint8_t)work->way
    };

    memcpy(asked + 2, work->secret, sizeof work->secret);
    line_send(work->line, PART_REQUEST, asked, sizeof asked);
}

/* Whether the other side pushes. */
static bool hear_request(sync_job *work, bool is_read_only)
{
    const uint8_t *asked = line_expect_bytes(work->line, PART_REQUEST, ASKED_SIZE);
    unsigned flags = asked[0];

    if (flags > ASKED_ALL || asked[1] > WAY_CHUNKS)
        line_refuse(work->line, "it asks for what this tamis does not know");
    if (is_read_only && flags & ASKED_PUSH)
        line_refuse(work->line, "this side is read-only");
    work->is_recursive = flags & ASKED_FOLDERS;
    work->deletes = flags & ASKED_DELETE;
    work->by_content = flags & ASKED_CONTENT;
    work->is_dry = flags & ASKED_DRY;
    work->way = (sync_way)asked[1];
    memcpy(work->secret, asked + 2, sizeof work->secret);
    return flags & ASKED_PUSH;
}

static void greet(sync_job *work, bool asks)
{
    work->offers = line_greet(work->line, "sync", asks, packed_offer()) & packed_offer();
}

static void serve(sync_job *work, const char *path, bool is_read_only)
{
    work->tree = tree_open(path);
    greet(work, false);
    if (hear_request(work, is_read_only))
        receiver_run(work);
    else
        sender_run(work);
    tree_close(&work->tree);
}

static void request_from(sync_job *work, const char *path, bool pushes)
{
    work->tree = tree_open(path);
    work->is_watched = true;
    draw_secret(work->secret);
    greet(work, true);
    ask(work, pushes);
    if (pushes)
        sender_run(work);
    else
        receiver_run(work);
    tree_close(&work->tree);
}

/* ---- Both on this machine ---------------------------------------------- */

typedef struct other_side {
    neighbour beside;
    sync_job job;
    const char *path;
} other_side;

static void serve_beside(neighbour *n)
{
    other_side *other = (other_side *)n;

    other->job.line = n->line;
    serve(&other->job, other->path, false);
}

static void sync_here(request *r, const char *from, const char *to)
{
    other_side other = { .beside = { .serve = serve_beside },
                         .job = { .memory = r->job.memory, .limit_size = r->job.limit_size },
                         .path = to };

    r->job.line = connect_beside(&other.beside, &r->way.limits, from, to);
    request_from(&r->job, from, true);
    connect_end_beside(&other.beside);
}

/* ---- Another machine --------------------------------------------------- */

/* For a shell: in quotes, and a quote as '\''. A NUL follows. */
static void append_quoted(buffer *out, const char *text)
{
    buffer_append(out, "'", 1);
    for (; *text; text++)
        if (*text == '\'')
            buffer_append(out, "'\\''", 4);
        else
            buffer_append(out, text, 1);
    buffer_print(out, "'");
}

/* HOST:PATH has no slash before the colon. NULL: it is a file here. */
static const char *path_there(const char *operand)
{
    size_t host = strcspn(operand, "/:");

    return operand[host] == ':' && host > 0 ? operand + host + 1 : NULL;
}

/* One shell here and one there take quotes away. */
static char *remote_command(const request *r, const char *operand)
{
    const char *path = path_there(operand);
    buffer there = { 0 }, here = { 0 };
    char host[NAME_MAX + 1];

    snprintf(host, sizeof host, "%.*s", (int)(path - 1 - operand), operand);
    if (host[0] == '-') /* ssh would take it for an option */
        die(CODE_USAGE, "sync: no host is called '%s'; './%s' is a file here", host, operand);
    buffer_print(&there, "%s sync --serve -- ", r->program);
    append_quoted(&there, *path ? path : ".");
    buffer_print(&here, "%s ", r->rsh);
    append_quoted(&here, host);
    buffer_print(&here, " ");
    append_quoted(&here, there.bytes);
    buffer_free(&there);
    return here.bytes;
}

/* ---- Result ------------------------------------------------------------ */

static const traffic_part parts[] = {
    { 'H', "greeting" },           { PART_REQUEST, "request" },
    { PART_SUMMARY, "summary" },   { PART_ENTRIES, "entries" },
    { PART_GONE, "gone" },         { PART_PLAN, "plan" },
    { PART_SKETCHES, "sketches" }, { PART_CHOICE, "choice" },
    { PART_SYMBOLS, "symbols" },   { PART_MORE, "more" },
    { PART_BLOCKS, "blocks" },     { PART_RECIPE, "recipe" },
    { PART_DATA, "data" },         { PART_FAILED, "failed" },
    { PART_DONE, "done" },         { 0, NULL },
};

static void print_json(const sync_job *work)
{
    json j = { 0 };

    json_open(&j, NULL, '{');
    json_count(&j, "new", work->n_new);
    json_count(&j, "changed", work->n_changed);
    json_count(&j, "deleted", work->n_deleted);
    json_count(&j, "again", work->n_again);
    json_count(&j, "file_bytes", work->bytes);
    traffic_json(work->line, parts, &j);
    json_close(&j, '}');
}

static void print_stats(const sync_job *work)
{
    fprintf(stderr,
            "%" PRIu64 " new, %" PRIu64 " changed, %" PRIu64 " deleted; %" PRIu64
            " bytes of files\n",
            work->n_new, work->n_changed, work->n_deleted, work->bytes);
    traffic_print(work->line, parts);
}

static void print_result(const request *r)
{
    if (r->wants.as_json)
        print_json(&r->job);
    if (r->wants.as_text)
        print_stats(&r->job);
}

/* ---- Command ----------------------------------------------------------- */

static int run_serving(request *r, const args *a)
{
    char **words = args_operands(a, 1, 1, "the file or folder to serve");

    connect_check(&r->way, a);
    r->job.line = connect_open(&r->way);
    serve(&r->job, words[0], r->is_read_only);
    connect_close(&r->way, r->job.line);
    line_free(r->job.line);
    return CODE_OK;
}

/* Which operand is on this machine; the way to the other is known after. */
static bool pushes_to(request *r, const args *a, char **words)
{
    bool is_there[2];
    bool has_way = r->way.via || r->way.connect;

    for (int i = 0; i < 2; i++)
        is_there[i] = has_way ? strcmp(words[i], "-") == 0 : path_there(words[i]) != NULL;
    if (has_way && is_there[0] == is_there[1])
        args_refuse(a, "with --via or --connect, one of SRC and DEST is '-': the other side");
    if (is_there[0] && is_there[1])
        args_refuse(a, "one of SRC and DEST has to be on this machine");
    if (!has_way && (is_there[0] || is_there[1]))
        r->way.via = remote_command(r, words[is_there[0] ? 0 : 1]);
    return !is_there[0];
}

static int run_asking(request *r, const args *a)
{
    char **words = args_operands(a, 2, 2, "a SRC and a DEST");
    bool pushes = pushes_to(r, a, words);

    r->job.shows = r->job.is_dry && !r->wants.as_json;
    if (!r->way.via && !r->way.connect) {
        sync_here(r, words[0], words[1]);
    } else {
        connect_check(&r->way, a);
        r->job.line = connect_open(&r->way);
        request_from(&r->job, words[pushes ? 0 : 1], pushes);
    }
    progress_erase();
    print_result(r);
    connect_close(&r->way, r->job.line);
    line_free(r->job.line);
    return CODE_OK;
}

static int run(args *a)
{
    request r = { .way = connect_default(),
                  .rsh = "ssh",
                  .program = "tamis",
                  .job = { .memory = (size_t)1 << 30 } };

    args_read(a, &r);
    return r.way.serves_here || r.way.listen ? run_serving(&r, a) : run_asking(&r, a);
}

static const option_row options[] = {
    { 'r', "recursive", NULL, "folders, with all that is in them",
      TO_FLAG(request, job.is_recursive) },
    { 0, "delete", NULL, "delete at DEST what SRC does not have", TO_FLAG(request, job.deletes) },
    { 'n', "dry-run", NULL, "only show what would be made, changed and deleted",
      TO_FLAG(request, job.is_dry) },
    { 0, "checksum", NULL, "compare what is in files (default: their sizes and times)",
      TO_FLAG(request, job.by_content) },
    { 0, "rsh", "COMMAND", "reaches HOST (default: ssh)", TO_TEXT(request, rsh) },
    { 0, "tamis", "PROGRAM", "what tamis is called on HOST (default: tamis)",
      TO_TEXT(request, program) },
    { 0, "read-only", NULL, "with --serve or --listen: nothing may be changed",
      TO_FLAG(request, is_read_only) },
    { 0, "blocks", NULL, "find what changed by blocks of fixed size",
      TO_CONSTANT(request, job.way, WAY_BLOCKS) },
    { 0, "chunks", NULL, "find it by chunks that content cuts (default: what is cheaper)",
      TO_CONSTANT(request, job.way, WAY_CHUNKS) },
    { 0, "memory", "SIZE", "for a message of the other side and what is made of it (default: 1G)",
      TO_MEMORY(request, job.memory) },
    { 0, "limit-size", "SIZE", "of files that come, at most (default: 1G and 1024 times what came)",
      TO_SIZE(request, job.limit_size) },
    OPTIONS(traffic_options, request, wants),
    OPTIONS(connect_options, request, way),
    { .included = progress_options },
    { 0 },
};

const command cmd_sync = { "sync", help_sync, options, .run = run };
