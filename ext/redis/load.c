/* load.c - images of filters, out and in, in chunks.
 *
 * Chunks wait beside the key, which keeps what it holds until the last of them is there and the
 * image is verified. Replicas are told of the whole image then, in one piece of the stream: no
 * server is ever left with half of one, whatever happens to the primary. */
#include "load.h"

#include <stdio.h>

#include "dump.h"
#include "filter_value.h"
#include "reply.h"
#include "tamis_file.h"
#include "word_parse.h"

/* ---- TAMIS.DUMP --------------------------------------------------------- */

/* Into a buffer of the server's; its checksums are kept from the first chunk to the last. */
static char *load_part(filter *f, size_t size, uint64_t from)
{
    uint64_t *sums = filter_sums(f);
    char *bytes = sums ? redis.TryAlloc(size) : NULL;

    if (bytes && tamis_image_part(f->tamis, sums, bytes, size, from)) {
        redis.Free(bytes);
        bytes = NULL;
    }
    return bytes;
}

static int load_reply_part(redis_ctx *ctx, filter *f, uint64_t from)
{
    uint64_t total = tamis_image_size(f->tamis);
    size_t size = DUMP_PIECE_MAX;
    char *bytes;

    if (from == 0)
        f->dumped = f->state;
    if (f->dumped && f->dumped != f->state)
        return reply_error(ctx,
                           "ERR the filter has changed since offset 0 was dumped: begin again");
    if (from >= total)
        return reply_error(ctx, "ERR the offset is behind the end of the image");
    if (total - from < size)
        size = (size_t)(total - from);
    bytes = load_part(f, size, from);
    if (!bytes)
        return filter_reply_status(ctx, TAMIS_NOMEM);
    redis.ReplyWithArray(ctx, 3);
    reply_count(ctx, from + size < total ? from + size : 0);
    reply_count(ctx, total);
    redis.ReplyWithStringBuffer(ctx, bytes, size);
    redis.Free(bytes);
    if (from + size == total)
        filter_drop_sums(f);
    return REDIS_OK;
}

int load_dump_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    uint64_t from;
    filter *f;
    key k;

    (void)argc;
    if (!word_to_count(argv[2], &from))
        return reply_error(ctx, "ERR bad offset");
    k = key_read(ctx, argv[1], filter_type);
    f = filter_of(&k);
    if (f)
        load_reply_part(ctx, f, from);
    key_close(&k);
    return REDIS_OK;
}

/* ---- Images that are coming ----------------------------------------------- */

/* A client that went away must not cost memory for ever. */
enum { LOADS_MAX = 64, LOAD_IDLE_MS = 60000 };

typedef struct load_chunk {
    struct load_chunk *next;
    size_t size, used; /* used: bytes that the decoder took */
    char bytes[];
} load_chunk;

typedef struct load {
    memory memory;
    struct load *next;
    redis_string *name;
    int db;
    uint64_t total, have, touched_ms;
    load_chunk *first, **end;
} load;

static load *loads;
static size_t loads_n;
static bool loads_watched; /* by a timer */

static void load_drop_first_chunk(load *l)
{
    load_chunk *c = l->first;
    tamis_allocator a = memory_allocator(&l->memory);

    l->first = c->next;
    a.free(a.ctx, c, sizeof *c + c->size);
}

static void load_end(load *l)
{
    load **at = &loads;

    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    loads_n--;
    while (l->first)
        load_drop_first_chunk(l);
    redis.FreeString(NULL, l->name);
    memory_free_value(l, sizeof *l);
}

static void load_end_idle(redis_ctx *ctx, void *data)
{
    uint64_t now = (uint64_t)redis.Milliseconds();

    (void)data;
    for (load *l = loads, *next; l; l = next) {
        next = l->next;
        if (now > l->touched_ms && now - l->touched_ms > LOAD_IDLE_MS)
            load_end(l);
    }
    loads_watched = loads != NULL;
    if (loads_watched)
        redis.CreateTimer(ctx, LOAD_IDLE_MS / 6, load_end_idle, NULL);
}

static void load_watch(redis_ctx *ctx)
{
    if (!loads_watched)
        redis.CreateTimer(ctx, LOAD_IDLE_MS / 6, load_end_idle, NULL);
    loads_watched = true;
}

static load *load_find(int db, const redis_string *name)
{
    load *l = loads;

    while (l && (l->db != db || redis.StringCompare(l->name, name)))
        l = l->next;
    return l;
}

static load *load_begin(redis_ctx *ctx, redis_string *name, uint64_t total)
{
    load *l = loads_n < LOADS_MAX || memory_must_obey() ? memory_new_value(sizeof *l) : NULL;

    if (!l)
        return NULL;
    l->name = redis.HoldString(NULL, name);
    l->db = redis.GetSelectedDb(ctx);
    l->total = total;
    l->end = &l->first;
    load_watch(ctx);
    l->next = loads;
    loads = l;
    loads_n++;
    return l;
}

static bool load_keep(load *l, const char *bytes, size_t size)
{
    tamis_allocator a = memory_allocator(&l->memory);
    load_chunk *c = a.alloc(a.ctx, sizeof *c + size);

    if (!c)
        return false;
    *c = (load_chunk){ .size = size };
    memcpy(c->bytes, bytes, size);
    *l->end = c;
    l->end = &c->next;
    l->have += size;
    l->touched_ms = (uint64_t)redis.Milliseconds();
    return true;
}

/* Chunks are freed as the decoder takes them. */
static bool load_take(void *ctx, void *piece, size_t size)
{
    load *l = ctx;
    char *to = piece;

    while (size > 0 && l->first) {
        load_chunk *c = l->first;
        size_t n = c->size - c->used < size ? c->size - c->used : size;

        memcpy(to, c->bytes + c->used, n);
        c->used += n;
        to += n;
        size -= n;
        if (c->used == c->size)
            load_drop_first_chunk(l);
    }
    return size == 0;
}

void load_tell(redis_info *info)
{
    uint64_t bytes = 0;

    for (const load *l = loads; l; l = l->next)
        bytes += l->memory.used;
    redis.InfoAddFieldULongLong(info, "loads", loads_n);
    redis.InfoAddFieldULongLong(info, "loading_bytes", bytes);
}

/* ---- TAMIS.LOAD --------------------------------------------------------- */

typedef struct load_words {
    uint64_t at, total, window_ms, since_ms;
    const char *bytes;
    size_t size;
} load_words;

static bool load_parse(load_words *w, redis_string **argv, int argc)
{
    *w = (load_words){ .at = 0 };
    w->bytes = redis.StringPtrLen(argv[4], &w->size);
    if (!word_to_count(argv[2], &w->at) || !word_to_count(argv[3], &w->total))
        return false;
    if (w->size == 0 || w->at > w->total || w->size > w->total - w->at)
        return false;
    if (argc == 5)
        return true;
    return argc == 9 && word_is(argv[5], "WINDOW") && word_to_count(argv[6], &w->window_ms) &&
           word_is(argv[7], "SINCE") && word_to_count(argv[8], &w->since_ms) && w->window_ms &&
           w->since_ms;
}

/* The filter of an image that is in one piece, or in all its chunks. */
static tamis_status load_decode(filter *f, load *l, const load_words *w)
{
    tamis_allocator a = value_allocator(f);
    tamis_status status = l ? tamis_image_receive(&f->tamis, load_take, l, w->total, &a)
                            : tamis_image_read(&f->tamis, w->bytes, w->size, &a);

    if (!status && tamis_image_size(f->tamis) != w->total)
        return TAMIS_CORRUPT;
    f->window_ms = w->window_ms;
    f->turned_ms = w->since_ms;
    if (!status && !filter_may_have_window(f))
        return TAMIS_CANNOT;
    /* An image that says it is longer than all that came. */
    return status == TAMIS_IO || status == TAMIS_RANGE ? TAMIS_CORRUPT : status;
}

static void load_finish(key *k, load *l, const load_words *w)
{
    filter *f = filter_new();
    tamis_status status = f ? load_decode(f, l, w) : TAMIS_NOMEM;

    if (l)
        load_end(l);
    if (status) {
        filter_drop(f);
        filter_reply_status(k->ctx, status);
        return;
    }
    key_set(k, filter_type, f);
    filter_replicate(k, f);
    key_changed(k, "tamis.load");
    reply_ok(k->ctx);
}

/* Replies how many bytes are there: the next offset. */
static void load_continue(key *k, load *l, const load_words *w)
{
    char text[96];

    if (!l || l->have != w->at || l->total != w->total) {
        snprintf(text, sizeof text, "ERR no load is at this offset; it goes on at %llu",
                 l ? (unsigned long long)l->have : 0ULL);
        reply_error(k->ctx, text);
    } else if (!load_keep(l, w->bytes, w->size)) {
        load_end(l);
        filter_reply_status(k->ctx, TAMIS_NOMEM);
    } else if (l->have == l->total)
        load_finish(k, l, w);
    else
        reply_count(k->ctx, l->have);
}

static void load_words_into(key *k, const load_words *w)
{
    load *l = load_find(redis.GetSelectedDb(k->ctx), k->name);

    if (w->at == 0 && l) {
        load_end(l);
        l = NULL;
    }
    if (w->size == w->total) {
        load_finish(k, NULL, w);
        return;
    }
    if (w->at == 0) {
        l = load_begin(k->ctx, k->name, w->total);
        if (!l) {
            reply_error(k->ctx, "ERR out of memory, or too many loads at a time");
            return;
        }
    }
    load_continue(k, l, w);
}

int load_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    load_words w;
    key k;

    if (!load_parse(&w, argv, argc))
        return reply_error(ctx, "ERR bad offset, total, data or window");
    k = key_write(ctx, argv[1], filter_type);
    if (k.holds == KEY_OTHER)
        reply_error(ctx, REPLY_WRONG_TYPE);
    else
        load_words_into(&k, &w);
    key_close(&k);
    return REDIS_OK;
}
