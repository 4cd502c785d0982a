/* build.c - a filter of a collection: what is in it is read in slices and hashed at once, 8 bytes
 * for each element, and the filter is made of these in a thread. */
#include "build.h"

#include "job.h"
#include "reply.h"
#include "reserve.h"
#include "tamis_builder.h"
#include "word_parse.h"

/* Keys of a chunk: the first has room for a few, each after it for twice as many. */
enum { BUILD_FIRST = 1 << 10, BUILD_MOST = 1 << 16 };

/* Keys that were read, with their values in kinds that have some. */
typedef struct build_chunk {
    struct build_chunk *next;
    size_t n, room;
    uint64_t numbers[]; /* `room` keys, then as many values */
} build_chunk;

typedef struct build {
    job job;
    reserve_wish wish;
    bool has_values;
    const struct build_source *type;
    redis_string *source;
    redis_string *field; /* of streams: NULL is every field */
    build_chunk *chunks;
    /* Where reading is: one of these. */
    redis_cursor *cursor;
    long list_at;
    redis_stream_id stream_at, stream_end;
    bool has_begun;
    /* Lists are read by position: what moves elements spoils it. */
    struct build *next_list;
    bool is_list;
} build;

/* ---- Keys that wait ------------------------------------------------------- */

static size_t build_chunk_size(const build *b, size_t room)
{
    return sizeof(build_chunk) + room * sizeof(uint64_t) * (b->has_values ? 2 : 1);
}

static void build_drop_chunk(build *b)
{
    build_chunk *c = b->chunks;
    tamis_allocator a = memory_allocator(&b->job.memory);

    b->chunks = c->next;
    a.free(a.ctx, c, build_chunk_size(b, c->room));
}

/* The chunk that the next key goes to, or NULL. */
static build_chunk *build_room(build *b)
{
    tamis_allocator a = memory_allocator(&b->job.memory);
    build_chunk *c = b->chunks;
    size_t room = c ? 2 * c->room : BUILD_FIRST;

    if (c && c->n < c->room)
        return c;
    if (room > BUILD_MOST)
        room = BUILD_MOST;
    c = a.alloc(a.ctx, build_chunk_size(b, room));
    if (!c)
        return NULL;
    *c = (build_chunk){ .next = b->chunks, .room = room };
    b->chunks = c;
    return c;
}

static void build_take(build *b, const redis_string *item, const redis_string *value)
{
    build_chunk *c = build_room(b);
    uint64_t number = 0;

    if (!c)
        b->job.status = TAMIS_NOMEM;
    else if (!filter_key(&b->wish.spec.hasher, &c->numbers[c->n], item))
        b->job.error = "ERR this filter takes integers only";
    else if (b->has_values && !word_to_number(value, &number))
        b->job.error = "ERR a value is no integer from 0 on";
    else {
        if (b->has_values)
            c->numbers[c->room + c->n] = number;
        c->n++;
    }
}

static bool build_failed(const build *b)
{
    return b->job.status || b->job.error;
}

/* ---- Sets, hashes and sorted sets ------------------------------------------- */

static void build_scanned(redis_key *handle, redis_string *field, redis_string *value, void *data)
{
    (void)handle;
    if (!build_failed(data))
        build_take(data, field, value);
}

static bool build_scan(redis_key *handle, build *b)
{
    if (!b->cursor)
        b->cursor = redis.ScanCursorCreate();
    while (redis.ScanKey(handle, b->cursor, build_scanned, b))
        if (build_failed(b) || job_must_pause(&b->job))
            return false;
    return true;
}

/* ---- Lists ------------------------------------------------------------- */

static build *build_lists; /* that are being read */
static bool build_is_told;

static const char BUILD_LIST_CHANGED[] = "ERR the list changed while it was read";

static int build_list_changed(redis_ctx *ctx, int type, const char *event, redis_string *name)
{
    (void)type;
    (void)event;
    for (build *b = build_lists; b; b = b->next_list)
        if (b->job.db == redis.GetSelectedDb(ctx) && !redis.StringCompare(b->source, name))
            b->job.error = BUILD_LIST_CHANGED;
    return REDIS_OK;
}

/* Another list may have the name now, and no event tells of it. */
static void build_databases_swapped(redis_ctx *ctx, redis_event event, uint64_t part, void *data)
{
    const redis_swapdb *swap = data;

    (void)ctx;
    (void)event;
    (void)part;
    for (build *b = build_lists; b; b = b->next_list)
        if (b->job.db == swap->first || b->job.db == swap->second)
            b->job.error = BUILD_LIST_CHANGED;
}

static void build_subscribe(redis_ctx *ctx)
{
    redis.SubscribeToKeyspaceEvents(
        ctx, REDIS_NOTIFY_LIST | REDIS_NOTIFY_GENERIC | REDIS_NOTIFY_EXPIRED | REDIS_NOTIFY_EVICTED,
        build_list_changed);
    redis.SubscribeToServerEvent(ctx, (redis_event){ REDIS_EVENT_SWAPDB, 1 },
                                 build_databases_swapped);
    build_is_told = true;
}

static void build_watch_list(redis_ctx *ctx, build *b)
{
    if (!build_is_told)
        build_subscribe(ctx);
    b->is_list = true;
    b->next_list = build_lists;
    build_lists = b;
}

static void build_unwatch_list(build *b)
{
    build **at = &build_lists;

    if (!b->is_list)
        return;
    while (*at != b)
        at = &(*at)->next_list;
    *at = b->next_list;
    b->is_list = false;
}

static bool build_list(redis_key *handle, build *b)
{
    long n = (long)redis.ValueLength(handle);

    while (b->list_at < n) {
        redis_string *item = redis.ListGet(handle, b->list_at++);

        if (!item)
            break;
        build_take(b, item, NULL);
        redis.FreeString(NULL, item);
        if (build_failed(b) || job_must_pause(&b->job))
            return b->list_at == n;
    }
    return true;
}

/* ---- Streams ----------------------------------------------------------- */

static void build_take_entry(redis_key *handle, build *b, long fields)
{
    redis_string *field, *value;

    while (fields-- > 0 && redis.StreamIteratorNextField(handle, &field, &value) == REDIS_OK) {
        if (!build_failed(b) && (!b->field || !redis.StringCompare(b->field, field)))
            build_take(b, value, NULL);
        redis.FreeString(NULL, field);
        redis.FreeString(NULL, value);
    }
}

/* Entries that come later are not read, or a busy stream would have no end. */
static bool build_find_end(redis_key *handle, build *b)
{
    long fields;
    bool found;

    if (redis.StreamIteratorStart(handle, REDIS_STREAM_BACKWARDS, NULL, NULL) != REDIS_OK)
        return false;
    found = redis.StreamIteratorNextID(handle, &b->stream_end, &fields) == REDIS_OK;
    redis.StreamIteratorStop(handle);
    b->has_begun = true;
    return found;
}

static bool build_stream(redis_key *handle, build *b)
{
    bool is_first = !b->has_begun, pauses = false;
    long fields;

    if (is_first && !build_find_end(handle, b))
        return true;
    if (redis.StreamIteratorStart(handle, is_first ? 0 : REDIS_STREAM_AFTER_FIRST,
                                  is_first ? NULL : &b->stream_at, &b->stream_end) != REDIS_OK)
        return true; /* nothing comes after */
    while (!pauses && redis.StreamIteratorNextID(handle, &b->stream_at, &fields) == REDIS_OK) {
        build_take_entry(handle, b, fields);
        pauses = build_failed(b) || job_must_pause(&b->job);
    }
    redis.StreamIteratorStop(handle);
    return !pauses;
}

/* ---- Sources ----------------------------------------------------------- */

typedef struct build_source {
    const char *word;
    int type;
    bool (*read)(redis_key *handle, build *b); /* true when all is read */
} build_source;

static const build_source BUILD_SOURCES[] = {
    { "SET", REDIS_KEY_SET, build_scan },         { "HASH", REDIS_KEY_HASH, build_scan },
    { "ZSET", REDIS_KEY_ZSET, build_scan },       { "LIST", REDIS_KEY_LIST, build_list },
    { "STREAM", REDIS_KEY_STREAM, build_stream },
};

static const build_source *build_find_source(const redis_string *word)
{
    for (size_t i = 0; i < sizeof BUILD_SOURCES / sizeof *BUILD_SOURCES; i++)
        if (word_is(word, BUILD_SOURCES[i].word))
            return &BUILD_SOURCES[i];
    return NULL;
}

/* A slice of the source, which may have become another one since. */
static bool build_read(redis_ctx *ctx, job *j)
{
    build *b = (build *)j;
    redis_key *handle = redis.OpenKey(ctx, b->source, REDIS_READ);
    int type = redis.KeyType(handle);
    bool is_read = false;

    if (type == REDIS_KEY_EMPTY)
        j->error = REPLY_NOT_FOUND;
    else if (type != b->type->type)
        j->error = REPLY_WRONG_TYPE;
    else
        is_read = b->type->read(handle, b);
    redis.CloseKey(handle);
    if (is_read)
        build_unwatch_list(b);
    return is_read;
}

/* ---- The filter -------------------------------------------------------- */

static tamis_status build_add_all(build *b, tamis_builder *to)
{
    tamis_status status = TAMIS_OK;

    while (b->chunks && !status) {
        const build_chunk *c = b->chunks;

        status = b->has_values ? tamis_builder_add_map(to, c->numbers, c->numbers + c->room, c->n)
                               : tamis_builder_add_many(to, c->numbers, c->n);
        build_drop_chunk(b);
    }
    return status;
}

static void build_work(job *j)
{
    build *b = (build *)j;
    tamis_allocator a = value_allocator(j->made);
    tamis_build_options options = TAMIS_BUILD_OPTIONS(.alloc = &a);
    tamis_builder *builder;

    j->status = tamis_builder_new(&builder, b->wish.kind, &b->wish.spec, &options);
    if (j->status)
        return;
    j->status = build_add_all(b, builder);
    if (!j->status)
        j->status = tamis_builder_finish(&j->made->tamis, builder);
    tamis_builder_free(builder);
}

static void build_end(job *j)
{
    build *b = (build *)j;

    build_unwatch_list(b);
    while (b->chunks)
        build_drop_chunk(b);
    if (b->cursor)
        redis.ScanCursorDestroy(b->cursor);
    if (b->field)
        redis.FreeString(NULL, b->field);
    redis.FreeString(NULL, b->source);
    memory_free_value(b, sizeof *b);
}

/* ---- TAMIS.BUILD -------------------------------------------------------- */

static build *build_new(const reserve_wish *w, const build_source *type, redis_string *into,
                        redis_string *source, redis_string *field)
{
    build *b = memory_new_value(sizeof *b);
    filter *made = b ? filter_new() : NULL;

    if (!made) {
        if (b)
            memory_free_value(b, sizeof *b);
        return NULL;
    }
    made->window_ms = w->window_ms;
    if (w->window_ms)
        made->turned_ms = w->since_ms ? w->since_ms : (uint64_t)redis.Milliseconds();
    b->job.into = into;
    b->job.event = "tamis.build";
    b->job.made = made;
    b->job.read = build_read;
    b->job.work = build_work;
    b->job.end = build_end;
    b->wish = *w;
    b->has_values = tamis_kind_can(w->kind) & TAMIS_CAN_GET;
    b->type = type;
    b->source = redis.HoldString(NULL, source);
    b->field = field ? redis.HoldString(NULL, field) : NULL;
    return b;
}

/* Says what is wrong before anybody waits for it. */
static const char *build_refuse(redis_ctx *ctx, redis_string **argv, const build_source *type,
                                const reserve_wish *w)
{
    redis_key *source = redis.OpenKey(ctx, argv[5], REDIS_READ);
    int holds = redis.KeyType(source);
    key into = key_write(ctx, argv[1], filter_type);
    const char *why = NULL;

    if (tamis_kind_can(w->kind) & TAMIS_CAN_GET && type->type != REDIS_KEY_HASH)
        why = "ERR this kind holds values: it is built from a HASH of integers";
    else if (holds == REDIS_KEY_EMPTY)
        why = REPLY_NOT_FOUND;
    else if (holds != type->type || into.holds == KEY_OTHER)
        why = REPLY_WRONG_TYPE;
    redis.CloseKey(source);
    key_close(&into);
    return why;
}

/* What is so small is done at once: one slice reads it. */
enum { BUILD_SMALL = 1000 };

static bool build_is_large(redis_ctx *ctx, redis_string *source)
{
    redis_key *handle = redis.OpenKey(ctx, source, REDIS_READ);
    bool is_large = redis.ValueLength(handle) > BUILD_SMALL;

    redis.CloseKey(handle);
    return is_large;
}

redis_key_spec build_keys[] = { KEY_AT(1, KEY_REPLACE), KEY_AT(5, KEY_READ), KEYS_END };

int build_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    const build_source *type = build_find_source(argv[4]);
    bool has_field = argc >= 8 && word_is(argv[6], "FIELD");
    int options = has_field ? 8 : 6;
    reserve_wish w;
    const char *why;
    build *b;

    if (command_reports_keys(ctx, build_keys, argv, argc))
        return REDIS_OK;
    if (!word_is(argv[3], "FROM") || !type)
        return reply_error(ctx, "ERR say what it is built of: FROM SET|HASH|ZSET|LIST|STREAM key");
    if (has_field && type->type != REDIS_KEY_STREAM)
        return reply_error(ctx, "ERR FIELD is for streams");
    if (!reserve_parse(ctx, &w, argv[2], argv + options, argc - options))
        return REDIS_OK;
    why = build_refuse(ctx, argv, type, &w);
    if (why)
        return reply_error(ctx, why);
    b = build_new(&w, type, argv[1], argv[5], has_field ? argv[7] : NULL);
    if (!b)
        return filter_reply_status(ctx, TAMIS_NOMEM);
    if (type->type == REDIS_KEY_LIST)
        build_watch_list(ctx, b);
    job_run(ctx, &b->job, build_is_large(ctx, argv[5]));
    return REDIS_OK;
}
