/* filter_value.c - the data type of TAMIS commands. */
#include "filter_value.h"

#include <pthread.h>
#include <stdio.h>

#include "reply.h"
#include "word_parse.h"

redis_type *filter_type;

/* ---- Life -------------------------------------------------------------- */

static uint64_t filter_states;

static void filter_init(filter *f)
{
    f->state = ++filter_states;
    atomic_init(&f->holders, 1);
}

filter *filter_new(void)
{
    filter *f = value_new(&FILTER_VALUE);

    if (f)
        filter_init(f);
    return f;
}

/* Limits do not count them: 8 bytes for each MiB, and a filter at its limit can be dumped, too. */
uint64_t *filter_sums(filter *f)
{
    const size_t size = ((size_t)(tamis_plan_of(f->tamis)->bytes >> 20) + 1) * sizeof *f->sums;

    if (f->sums)
        return f->sums;
    f->sums = redis.TryAlloc(size);
    if (f->sums)
        memset(f->sums, 0, size);
    return f->sums;
}

void filter_drop_sums(filter *f)
{
    if (f->sums)
        redis.Free(f->sums);
    f->sums = NULL;
}

/* Before a change. */
static void filter_begin_state(filter *f)
{
    f->state = ++filter_states;
    filter_drop_sums(f);
}

void filter_hold(filter *f)
{
    f->holders++;
}

/* Of all filters: who waits looks whether it was the one. */
static pthread_mutex_t filter_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filter_dropped = PTHREAD_COND_INITIALIZER;

/* A primary's word cannot be refused; the server may have become a replica while a thread of its
 * own was still reading. */
static void filter_await(const filter *f)
{
    pthread_mutex_lock(&filter_lock);
    while (f->holders > 1)
        pthread_cond_wait(&filter_dropped, &filter_lock);
    pthread_mutex_unlock(&filter_lock);
}

void filter_drop(filter *f)
{
    if (!f)
        return;
    if (--f->holders > 0) {
        pthread_mutex_lock(&filter_lock);
        pthread_cond_broadcast(&filter_dropped);
        pthread_mutex_unlock(&filter_lock);
        return;
    }
    filter_drop_sums(f);
    tamis_free(f->tamis);
    value_drop(f);
}

unsigned filter_can(const filter *f)
{
    return tamis_plan_can(tamis_plan_of(f->tamis));
}

int filter_reply_status(redis_ctx *ctx, tamis_status status)
{
    char text[128];

    snprintf(text, sizeof text, "ERR %s", tamis_status_text(status));
    return reply_error(ctx, text);
}

bool filter_key(const tamis_hasher *hasher, uint64_t *to, const redis_string *item)
{
    const char *bytes;
    size_t size;

    if (hasher->hash == TAMIS_RAW)
        return word_to_number(item, to);
    bytes = redis.StringPtrLen(item, &size);
    *to = tamis_hasher_key(hasher, bytes, size);
    return true;
}

/* ---- Time -------------------------------------------------------------- */

/* A filter keeps the last seven intervals: so many make a window. */
enum { FILTER_INTERVALS = 7 };

tamis_status filter_turn(filter *f, uint64_t turns, uint64_t at_ms)
{
    tamis_status status = TAMIS_OK;

    /* After one more than it keeps, there is nothing left to forget. */
    if (turns > FILTER_INTERVALS + 1)
        turns = FILTER_INTERVALS + 1;
    while (turns-- && !status)
        status = tamis_rotate(f->tamis);
    if (!status && f->window_ms)
        f->turned_ms = at_ms;
    return status;
}

bool filter_may_have_window(const filter *f)
{
    if (!f->window_ms)
        return !f->turned_ms;
    return f->window_ms <= INT64_MAX && f->turned_ms <= INT64_MAX &&
           filter_can(f) & TAMIS_CAN_ROTATE;
}

/* As Redis deletes keys that have expired: the primary does when it sees one, whatever the command,
 * and tells its replicas, which do nothing by themselves. */
static void filter_look_at_clock(key *k, filter *f)
{
    uint64_t every = (f->window_ms + FILTER_INTERVALS - 1) / FILTER_INTERVALS;
    uint64_t now = (uint64_t)redis.Milliseconds(), turns;

    if (now < f->turned_ms || now - f->turned_ms < every)
        return;
    memory_begin(k->ctx);
    if (memory_must_obey() || redis.AvoidReplicaTraffic() || f->holders > 1)
        return;
    turns = (now - f->turned_ms) / every;
    filter_begin_state(f);
    if (filter_turn(f, turns, f->turned_ms + turns * every))
        return;
    redis.Replicate(k->ctx, "TAMIS.TURN", "sll", k->name, (long long)turns,
                    (long long)f->turned_ms);
    key_changed(k, "tamis.turn");
}

/* ---- The filter of a command -------------------------------------------- */

filter *filter_maybe(key *k, bool *replied)
{
    filter *f = k->holds == KEY_OURS ? k->value : NULL;

    *replied = k->holds == KEY_OTHER;
    if (*replied)
        reply_error(k->ctx, REPLY_WRONG_TYPE);
    if (f && f->window_ms)
        filter_look_at_clock(k, f);
    return f;
}

filter *filter_of(key *k)
{
    bool replied;
    filter *f = filter_maybe(k, &replied);

    if (!f && !replied)
        reply_error(k->ctx, REPLY_NOT_FOUND);
    return f;
}

filter *filter_to_change(key *k)
{
    filter *f = filter_of(k);

    if (f && memory_must_obey())
        filter_await(f);
    if (f && f->holders > 1) {
        reply_error(k->ctx,
                    "TRYAGAIN the filter is being read; it can be changed when that is done");
        return NULL;
    }
    if (f)
        filter_begin_state(f);
    return f;
}

/* ---- Images in chunks --------------------------------------------------- */

/* Collects pieces into chunks of one size, and sends each on. The chunk is that of the thread of
 * the server, which alone saves and replicates. */
typedef struct filter_pipe {
    size_t used;
    uint64_t sent, total;
    void (*send)(const struct filter_pipe *p);
    redis_ctx *ctx;
    redis_io *io;
    redis_string *name;
    const filter *f;
} filter_pipe;

static char filter_chunk[FILTER_CHUNK];

static bool filter_collect(void *ctx, const void *piece, size_t size)
{
    filter_pipe *p = ctx;
    const char *from = piece;

    while (size > 0) {
        size_t room = sizeof filter_chunk - p->used, n = room < size ? room : size;

        memcpy(filter_chunk + p->used, from, n);
        p->used += n;
        from += n;
        size -= n;
        if (n == room || p->sent + p->used == p->total) {
            p->send(p);
            p->sent += p->used;
            p->used = 0;
        }
    }
    return true;
}

/* Filters in memory can always be sent. */
static void filter_send(const filter *f, filter_pipe *p)
{
    p->f = f;
    p->total = tamis_image_size(f->tamis);
    (void)!tamis_image_send(f->tamis, filter_collect, p);
}

/* To replicas or into a file, as a command. Words behind those that the format names are not read.
 */
static void filter_tell_chunk(const filter_pipe *p)
{
    const char *format = p->f->window_ms ? "sllbclcl" : "sllb";
    long long at = (long long)p->sent, total = (long long)p->total;
    long long window = (long long)p->f->window_ms, since = (long long)p->f->turned_ms;

    if (p->io)
        redis.EmitAOF(p->io, "TAMIS.LOAD", format, p->name, at, total, filter_chunk, p->used,
                      "WINDOW", window, "SINCE", since);
    else
        redis.Replicate(p->ctx, "TAMIS.LOAD", format, p->name, at, total, filter_chunk, p->used,
                        "WINDOW", window, "SINCE", since);
}

static void filter_save_chunk(const filter_pipe *p)
{
    redis.SaveStringBuffer(p->io, filter_chunk, p->used);
}

void filter_replicate(key *k, const filter *f)
{
    filter_pipe p = { .send = filter_tell_chunk, .ctx = k->ctx, .name = k->name };

    filter_send(f, &p);
}

/* ---- The data type ------------------------------------------------------ */

enum { FILTER_ENCODING = 1 };

static void filter_rdb_save(redis_io *io, void *value)
{
    const filter *f = value;
    filter_pipe p = { .send = filter_save_chunk, .io = io };

    redis.SaveUnsigned(io, f->window_ms);
    redis.SaveUnsigned(io, f->turned_ms);
    redis.SaveUnsigned(io, tamis_image_size(f->tamis));
    filter_send(f, &p);
}

/* Strings of an RDB file, as the bytes that they are. */
typedef struct filter_strings {
    redis_io *io;
    char *string;
    size_t size, used;
} filter_strings;

static bool filter_next_string(filter_strings *s)
{
    if (s->string)
        redis.Free(s->string);
    s->used = s->size = 0;
    s->string = redis.LoadStringBuffer(s->io, &s->size);
    return s->string && s->size > 0;
}

static bool filter_take(void *ctx, void *piece, size_t size)
{
    filter_strings *s = ctx;
    char *to = piece;

    while (size > 0) {
        size_t n;

        if (s->used == s->size && !filter_next_string(s))
            return false;
        n = s->size - s->used < size ? s->size - s->used : size;
        memcpy(to, s->string + s->used, n);
        s->used += n;
        to += n;
        size -= n;
    }
    return true;
}

static bool filter_load(redis_io *io, int encoding, void *v)
{
    filter *f = v;
    filter_strings s = { .io = io };
    tamis_allocator a = value_allocator(f);
    tamis_status status;
    uint64_t size;

    filter_init(f);
    f->window_ms = redis.LoadUnsigned(io);
    f->turned_ms = redis.LoadUnsigned(io);
    size = redis.LoadUnsigned(io);
    if (encoding != FILTER_ENCODING || redis.IsIOError(io))
        return false;
    status = tamis_image_receive(&f->tamis, filter_take, &s, size, &a);
    if (s.string)
        redis.Free(s.string);
    if (!status &&
        (s.used < s.size || tamis_image_size(f->tamis) != size || !filter_may_have_window(f)))
        status = TAMIS_CORRUPT;
    if (status) {
        redis.LogIOError(io, "warning", "a filter cannot be loaded: %s", tamis_status_text(status));
        tamis_free(f->tamis);
    }
    return !status;
}

void *filter_rdb_load(redis_io *io, int encoding)
{
    return value_load(io, encoding, &FILTER_VALUE);
}

static void filter_rewrite(redis_io *io, redis_string *name, void *v)
{
    filter_pipe p = { .send = filter_tell_chunk, .io = io, .name = name };

    filter_send(v, &p);
}

static bool filter_digest_piece(void *ctx, const void *piece, size_t size)
{
    redis.DigestAddStringBuffer(ctx, piece, size);
    return true;
}

static void filter_digest(redis_digest *digest, void *value)
{
    const filter *f = value;

    redis.DigestAddLongLong(digest, (long long)f->window_ms);
    redis.DigestAddLongLong(digest, (long long)f->turned_ms);
    (void)!tamis_image_send(f->tamis, filter_digest_piece, digest);
    redis.DigestEndSequence(digest);
}

static void filter_free(void *value)
{
    filter_drop(value);
}

static tamis_status filter_copy(void *v, const void *from)
{
    const filter *old = from;
    filter *f = v;
    tamis_allocator a = value_allocator(f);

    filter_init(f);
    f->window_ms = old->window_ms;
    f->turned_ms = old->turned_ms;
    return tamis_clone(&f->tamis, old->tamis, &a);
}

const value_type FILTER_VALUE = {
    .made = &filter_type,
    .name = "tamis-flt",
    .encoding = FILTER_ENCODING,
    .size = sizeof(filter),
    .what = "a filter",
    .missing = REPLY_NOT_FOUND,
    .life = { .load = filter_load, .copy = filter_copy, .free = filter_free },
    .output = { filter_rdb_save, filter_rewrite, filter_digest },
};
