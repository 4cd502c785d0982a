/* cf.c - the CF commands: cuckoo filters, which can forget items, compatible with RedisBloom. */
#include <inttypes.h>
#include <stdio.h>

#include "dump.h"
#include "families.h"
#include "key.h"
#include "memory.h"
#include "redis_cuckoo.h"
#include "reply.h"
#include "settings.h"
#include "word.h"

static redis_type *cf_type;

typedef struct cf_filter {
    memory memory;
    redis_cuckoo cuckoo;
} cf_filter;

/* ---- Making ------------------------------------------------------------ */

enum { CF_CAPACITY_MAX = 1 << 30 };

typedef struct cf_wish {
    uint64_t capacity, bucket_size, max_iterations, expansion;
} cf_wish;

static cf_wish cf_default(void)
{
    return (cf_wish){ .capacity = settings.cf_initial_size,
                      .bucket_size = settings.cf_bucket_size,
                      .max_iterations = settings.cf_max_iterations,
                      .expansion = settings.cf_expansion_factor };
}

static void cf_free(void *value)
{
    cf_filter *f = value;

    redis_cuckoo_clear(&f->cuckoo);
    memory_free_value(f, sizeof *f);
}

static bool cf_create(key *k, const cf_wish *w)
{
    cf_filter *f = memory_new_value(sizeof *f);

    if (f && !redis_cuckoo_init(&f->cuckoo, memory_allocator(&f->memory), w->capacity,
                                (uint16_t)w->bucket_size, (uint16_t)w->max_iterations,
                                (uint16_t)w->expansion)) {
        key_set(k, cf_type, f);
        return true;
    }
    if (f)
        memory_free_value(f, sizeof *f);
    reply_error(k->ctx, "ERR Insufficient memory to create filter");
    return false;
}

/* What replicas are told of a new filter: nothing depends on a setting of theirs. */
static void cf_replicate_created(key *k, const cf_wish *w)
{
    redis.Replicate(k->ctx, "CF.RESERVE", "slclclcl", k->name, (long long)w->capacity, "BUCKETSIZE",
                    (long long)w->bucket_size, "MAXITERATIONS", (long long)w->max_iterations,
                    "EXPANSION", (long long)w->expansion);
}

typedef struct cf_option {
    const char *word, *not_a_number, *out_of_range;
    uint64_t least, most;
} cf_option;

static const cf_option CF_OPTIONS[] = {
    { "BUCKETSIZE", "Couldn't parse BUCKETSIZE", "BUCKETSIZE: value must be in the range [1, 255]",
      1, 255 },
    { "MAXITERATIONS", "Couldn't parse MAXITERATIONS",
      "MAXITERATIONS: value must be in the range [1, 65535]", 1, 65535 },
    { "EXPANSION", "Couldn't parse EXPANSION", "EXPANSION: value must be in the range [0, 32768]",
      0, 32768 },
};

/* Why this is no option and value, or NULL. */
static const char *cf_parse_option(redis_string **argv, uint64_t *const values[3])
{
    for (int i = 0; i < 3; i++) {
        const cf_option *o = &CF_OPTIONS[i];
        long long n;

        if (!word_is(argv[0], o->word))
            continue;
        if (redis.StringToLongLong(argv[1], &n) != REDIS_OK)
            return o->not_a_number;
        if (n < (long long)o->least || n > (long long)o->most)
            return o->out_of_range;
        *values[i] = (uint64_t)n;
        return NULL;
    }
    return "Unknown argument received";
}

static const char *cf_parse_wish(redis_string **argv, int argc, cf_wish *w)
{
    uint64_t *const values[] = { &w->bucket_size, &w->max_iterations, &w->expansion };
    const char *why = NULL;
    long long n;

    if (redis.StringToLongLong(argv[2], &n) != REDIS_OK)
        return "Bad capacity";
    for (int i = 3; i < argc && !why; i += 2)
        why = cf_parse_option(argv + i, values);
    if (why)
        return why;
    if (n < 2 * (long long)w->bucket_size || n > CF_CAPACITY_MAX)
        return "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]";
    w->capacity = (uint64_t)n;
    return NULL;
}

static int cf_reserve(redis_ctx *ctx, redis_string **argv, int argc)
{
    cf_wish w = cf_default();
    const char *why;
    key k;

    if (argc < 3 || argc % 2 == 0)
        return redis.WrongArity(ctx);
    why = cf_parse_wish(argv, argc, &w);
    if (why)
        return reply_error(ctx, why);
    k = key_write(ctx, argv[1], cf_type);
    if (k.holds == KEY_OTHER)
        reply_error(ctx, REPLY_WRONG_TYPE);
    else if (k.holds == KEY_OURS)
        reply_error(ctx, REPLY_EXISTS);
    else if (cf_create(&k, &w)) {
        cf_replicate_created(&k, &w);
        key_changed(&k, "cf.reserve");
        reply_ok(ctx);
    }
    key_close(&k);
    return REDIS_OK;
}

/* ---- Adding ------------------------------------------------------------ */

/* Items that are hashed, and asked for in memory, before the first is looked for. */
enum { CF_BATCH = 64 };

static size_t cf_hash(const redis_cuckoo *c, redis_cuckoo_hash *hashes, redis_string **items, int n)
{
    int i;

    for (i = 0; i < n && i < CF_BATCH; i++) {
        size_t size;
        const char *item = redis.StringPtrLen(items[i], &size);

        hashes[i] = redis_cuckoo_hash_of(item, size);
    }
    if (i > 1)
        redis_cuckoo_prefetch(c, hashes, (size_t)i);
    return (size_t)i;
}

/* How a command adds, and how it answers for an item. */
typedef struct cf_manner {
    const char *command; /* for replicas, if they cannot be told the same */
    bool only_new;
    void (*reply)(redis_ctx *ctx, tamis_status status); /* OK, PRESENT or FULL */
    bool has_options; /* which replicas may refuse, as their settings are others */
} cf_manner;

static tamis_status cf_add_one(redis_cuckoo *c, redis_cuckoo_hash h, bool only_new)
{
    uint64_t most = memory_must_obey() ? REDIS_CUCKOO_TABLES_MAX : settings.cf_max_expansions;

    if (only_new && redis_cuckoo_has(c, h))
        return TAMIS_PRESENT;
    return redis_cuckoo_add(c, h, (uint32_t)most);
}

/* Returns how many were tried and answered; less than n: the last reply says why. */
static int cf_add_items(redis_ctx *ctx, redis_cuckoo *c, redis_string **items, int n,
                        const cf_manner *how)
{
    redis_cuckoo_hash hashes[CF_BATCH];
    tamis_status status = TAMIS_OK;
    int done = 0;

    while (done < n) {
        size_t batch = cf_hash(c, hashes, items + done, n - done);

        for (size_t i = 0; i < batch; i++, done++) {
            status = cf_add_one(c, hashes[i], how->only_new);
            if (status == TAMIS_NOMEM || status == TAMIS_RANGE) {
                reply_error(ctx, status == TAMIS_NOMEM ? "ERR Insufficient memory"
                                                       : "Maximum expansions reached");
                return done;
            }
            how->reply(ctx, status);
        }
    }
    return done;
}

static void cf_add_to(key *k, const cf_wish *created, redis_string **items, int n,
                      const cf_manner *how, bool is_array)
{
    redis_cuckoo *c = &((cf_filter *)k->value)->cuckoo;
    uint64_t before = c->items;
    int done;

    if (is_array)
        redis.ReplyWithArray(k->ctx, REDIS_POSTPONED);
    done = cf_add_items(k->ctx, c, items, n, how);
    if (is_array)
        redis.ReplySetArrayLength(k->ctx, done < n ? done + 1 : n);
    if (created)
        cf_replicate_created(k, created);
    if (!created && done == n && !how->has_options)
        redis.ReplicateVerbatim(k->ctx);
    else if (done > 0)
        redis.Replicate(k->ctx, how->command, "scv", k->name, "ITEMS", items, (size_t)done);
    if (created || c->items > before)
        key_changed(k, "cf.add");
}

/* One item: full is an error then. */
static void cf_reply_one(redis_ctx *ctx, tamis_status status)
{
    if (status == TAMIS_FULL)
        reply_error(ctx, "Filter is full");
    else
        reply_bool(ctx, status == TAMIS_OK);
}

static int cf_add_command(redis_ctx *ctx, redis_string **argv, int argc, bool only_new)
{
    const cf_manner how = { only_new ? "CF.INSERTNX" : "CF.INSERT", only_new, cf_reply_one, false };
    cf_wish w = cf_default();
    bool is_new;
    key k;

    if (argc != 3)
        return redis.WrongArity(ctx);
    k = key_write(ctx, argv[1], cf_type);
    is_new = k.holds == KEY_NOTHING;
    if (k.holds == KEY_OTHER)
        reply_error(ctx, REPLY_WRONG_TYPE);
    else if (!is_new || cf_create(&k, &w))
        cf_add_to(&k, is_new ? &w : NULL, argv + 2, 1, &how, false);
    key_close(&k);
    return REDIS_OK;
}

static int cf_add(redis_ctx *ctx, redis_string **argv, int argc)
{
    return cf_add_command(ctx, argv, argc, false);
}

static int cf_addnx(redis_ctx *ctx, redis_string **argv, int argc)
{
    return cf_add_command(ctx, argv, argc, true);
}

/* ---- CF.INSERT --------------------------------------------------------- */

typedef struct cf_insert_words {
    cf_wish wish;
    bool must_exist;
    int items; /* where the first one is */
} cf_insert_words;

static const char *cf_parse_capacity(const redis_string *word, cf_wish *w)
{
    long long n;

    if (redis.StringToLongLong(word, &n) != REDIS_OK)
        return "Bad capacity";
    if (n < 2 * (long long)w->bucket_size || n > CF_CAPACITY_MAX)
        return "Capacity must be in the range [cf-bucket-size * 2, 1073741824]";
    w->capacity = (uint64_t)n;
    return NULL;
}

/* Where the word ITEMS is; argc if it is nowhere. */
static int cf_insert_options(redis_string **argv, int argc, cf_insert_words *w, const char **why)
{
    int at = 2;

    for (; at < argc && !*why && !word_is(argv[at], "ITEMS"); at++)
        if (word_is(argv[at], "NOCREATE"))
            w->must_exist = true;
        else if (!word_is(argv[at], "CAPACITY"))
            *why = "Unknown argument received";
        else if (++at < argc)
            *why = cf_parse_capacity(argv[at], &w->wish);
    return at;
}

/* False if it has replied. */
static bool cf_insert_parse(redis_ctx *ctx, redis_string **argv, int argc, cf_insert_words *w)
{
    const char *why = NULL;

    w->items = cf_insert_options(argv, argc, w, &why) + 1;
    if (why)
        reply_error(ctx, why);
    else if (w->items >= argc)
        redis.WrongArity(ctx);
    return !why && w->items < argc;
}

static int cf_insert_command(redis_ctx *ctx, redis_string **argv, int argc, cf_manner how)
{
    cf_insert_words w = { .wish = cf_default() };
    bool is_new;
    key k;

    if (argc < 4)
        return redis.WrongArity(ctx);
    if (!cf_insert_parse(ctx, argv, argc, &w))
        return REDIS_OK;
    how.has_options = w.items > 3;
    k = key_write(ctx, argv[1], cf_type);
    is_new = k.holds == KEY_NOTHING;
    if (k.holds == KEY_OTHER)
        reply_error(ctx, REPLY_WRONG_TYPE);
    else if (is_new && w.must_exist)
        reply_error(ctx, REPLY_NOT_FOUND);
    else if (!is_new || cf_create(&k, &w.wish))
        cf_add_to(&k, is_new ? &w.wish : NULL, argv + w.items, argc - w.items, &how, true);
    key_close(&k);
    return REDIS_OK;
}

static void cf_reply_bool(redis_ctx *ctx, tamis_status status)
{
    reply_bool(ctx, status == TAMIS_OK);
}

/* -1 is "no space". */
static void cf_reply_number(redis_ctx *ctx, tamis_status status)
{
    redis.ReplyWithLongLong(ctx, status == TAMIS_OK ? 1 : status == TAMIS_PRESENT ? 0 : -1);
}

/* To clients of RESP3, "no space" is a no. */
static int cf_insert(redis_ctx *ctx, redis_string **argv, int argc)
{
    cf_manner how = { .command = "CF.INSERT",
                      .reply = reply_is_resp3(ctx) ? cf_reply_bool : cf_reply_number };

    return cf_insert_command(ctx, argv, argc, how);
}

/* Three answers: numbers for everybody. */
static int cf_insertnx(redis_ctx *ctx, redis_string **argv, int argc)
{
    cf_manner how = { .command = "CF.INSERTNX", .only_new = true, .reply = cf_reply_number };

    return cf_insert_command(ctx, argv, argc, how);
}

/* ---- Asking and removing ------------------------------------------------- */

/* Lookups of a key that is no filter find nothing: scripts rely on it. */
static const redis_cuckoo *cf_maybe(const key *k)
{
    return k->holds == KEY_OURS ? &((const cf_filter *)k->value)->cuckoo : NULL;
}

static void cf_reply_found(redis_ctx *ctx, const redis_cuckoo *c, redis_string **items, int n)
{
    redis_cuckoo_hash hashes[CF_BATCH];

    for (int done = 0; done < n;) {
        size_t batch = c ? cf_hash(c, hashes, items + done, n - done) : (size_t)n;

        for (size_t i = 0; i < batch; i++)
            reply_bool(ctx, c && redis_cuckoo_has(c, hashes[i]));
        done += (int)batch;
    }
}

static int cf_exists(redis_ctx *ctx, redis_string **argv, int argc)
{
    key k;

    if (argc != 3)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], cf_type);
    cf_reply_found(ctx, cf_maybe(&k), argv + 2, 1);
    key_close(&k);
    return REDIS_OK;
}

static int cf_mexists(redis_ctx *ctx, redis_string **argv, int argc)
{
    key k;

    if (argc < 3)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], cf_type);
    redis.ReplyWithArray(ctx, argc - 2);
    cf_reply_found(ctx, cf_maybe(&k), argv + 2, argc - 2);
    key_close(&k);
    return REDIS_OK;
}

static int cf_count(redis_ctx *ctx, redis_string **argv, int argc)
{
    const redis_cuckoo *c;
    redis_cuckoo_hash h;
    key k;

    if (argc != 3)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], cf_type);
    c = cf_maybe(&k);
    if (c)
        cf_hash(c, &h, argv + 2, 1);
    reply_count(ctx, c ? redis_cuckoo_count(c, h) : 0);
    key_close(&k);
    return REDIS_OK;
}

static int cf_del(redis_ctx *ctx, redis_string **argv, int argc)
{
    key k;

    if (argc != 3)
        return redis.WrongArity(ctx);
    k = key_write(ctx, argv[1], cf_type);
    if (k.holds != KEY_OURS)
        reply_error(ctx, "Not found");
    else {
        cf_filter *f = k.value;
        redis_cuckoo_hash h;
        bool removed;

        cf_hash(&f->cuckoo, &h, argv + 2, 1);
        removed = redis_cuckoo_remove(&f->cuckoo, h);
        redis.ReplicateVerbatim(ctx);
        if (removed)
            key_changed(&k, "cf.del");
        reply_bool(ctx, removed);
    }
    key_close(&k);
    return REDIS_OK;
}

static int cf_compact(redis_ctx *ctx, redis_string **argv, int argc)
{
    key k;

    if (argc != 2)
        return redis.WrongArity(ctx);
    k = key_write(ctx, argv[1], cf_type);
    if (k.holds != KEY_OURS)
        reply_error(ctx, "Cuckoo filter was not found");
    else {
        redis_cuckoo_compact(&((cf_filter *)k.value)->cuckoo);
        redis.ReplicateVerbatim(ctx);
        key_changed(&k, "cf.compact");
        reply_ok(ctx);
    }
    key_close(&k);
    return REDIS_OK;
}

/* ---- What there is ------------------------------------------------------ */

/* The filter of a reading command, or NULL after a reply that says why there is none. */
static const redis_cuckoo *cf_need(const key *k)
{
    if (k->holds != KEY_OURS)
        reply_error(k->ctx, k->holds == KEY_OTHER ? REPLY_WRONG_TYPE : REPLY_NOT_FOUND);
    return cf_maybe(k);
}

/* Sizes of RedisBloom's own structures on 64-bit machines: a filter and a table. Clients compare.
 */
enum { CF_SIZE_BASE = 40, CF_SIZE_TABLE = 16 };

static void cf_reply_info(redis_ctx *ctx, const redis_cuckoo *c)
{
    redis.ReplyWithMap(ctx, 8);
    reply_entry(ctx, "Size", CF_SIZE_BASE + (uint64_t)c->n * CF_SIZE_TABLE + redis_cuckoo_slots(c));
    reply_entry(ctx, "Number of buckets", c->buckets);
    reply_entry(ctx, "Number of filters", c->n);
    reply_entry(ctx, "Number of items inserted", c->items);
    reply_entry(ctx, "Number of items deleted", c->deletes);
    reply_entry(ctx, "Bucket size", c->bucket_size);
    reply_entry(ctx, "Expansion rate", c->expansion);
    reply_entry(ctx, "Max iterations", c->max_iterations);
}

static void cf_reply_debug(redis_ctx *ctx, const redis_cuckoo *c)
{
    char text[256];

    snprintf(text, sizeof text,
             "bktsize:%u buckets:%" PRIu64 " items:%" PRIu64 " deletes:%" PRIu64 " filters:%" PRIu32
             " max_iterations:%u expansion:%u",
             c->bucket_size, c->buckets, c->items, c->deletes, c->n, c->max_iterations,
             c->expansion);
    redis.ReplyWithCString(ctx, text);
}

static int cf_tell(redis_ctx *ctx, redis_string **argv, int argc,
                   void (*reply)(redis_ctx *ctx, const redis_cuckoo *c))
{
    const redis_cuckoo *c;
    key k;

    if (argc != 2)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], cf_type);
    c = cf_need(&k);
    if (c)
        reply(ctx, c);
    key_close(&k);
    return REDIS_OK;
}

static int cf_info(redis_ctx *ctx, redis_string **argv, int argc)
{
    return cf_tell(ctx, argv, argc, cf_reply_info);
}

static int cf_debug(redis_ctx *ctx, redis_string **argv, int argc)
{
    return cf_tell(ctx, argv, argc, cf_reply_debug);
}

/* ---- Dumps ------------------------------------------------------------- */

/* The next bytes of all tables, up to a chunk. */
static const char *cf_chunk(const redis_cuckoo *c, uint64_t offset, size_t *size)
{
    const unsigned char *slots = redis_cuckoo_array(c, offset, size);

    if (*size > DUMP_CHUNK_MAX)
        *size = DUMP_CHUNK_MAX;
    return (const char *)slots;
}

/* A filter without items has no dump, and neither has what is behind the end. */
static void cf_reply_dump(redis_ctx *ctx, const redis_cuckoo *c, uint64_t at)
{
    unsigned char header[REDIS_CUCKOO_HEADER_SIZE];
    const char *bytes = (const char *)header;
    size_t size = sizeof header;
    uint64_t next = 1;

    redis_cuckoo_write_header(c, header);
    if (at > 0) {
        bytes = cf_chunk(c, at - 1, &size);
        next = at + size;
    }
    redis.ReplyWithArray(ctx, 2);
    if (!bytes || c->items == 0) {
        reply_count(ctx, 0);
        redis.ReplyWithNull(ctx);
    } else {
        reply_count(ctx, next);
        redis.ReplyWithStringBuffer(ctx, bytes, size);
    }
}

static int cf_scandump(redis_ctx *ctx, redis_string **argv, int argc)
{
    const redis_cuckoo *c;
    uint64_t at;
    key k;

    if (argc != 3)
        return redis.WrongArity(ctx);
    if (!word_to_count(argv[2], &at))
        return reply_error(ctx, "Invalid position");
    k = key_read(ctx, argv[1], cf_type);
    c = cf_need(&k);
    if (c)
        cf_reply_dump(ctx, c, at);
    key_close(&k);
    return REDIS_OK;
}

/* Why a header makes no filter, or NULL. */
static const char *cf_load_header(key *k, const char *bytes, size_t size)
{
    redis_cuckoo_header header;
    tamis_status status = TAMIS_NOMEM;
    cf_filter *f;

    if (size != REDIS_CUCKOO_HEADER_SIZE)
        return "Invalid header";
    header = redis_cuckoo_read_header((const unsigned char *)bytes);
    f = memory_new_value(sizeof *f);
    if (f)
        status = redis_cuckoo_make(&f->cuckoo, memory_allocator(&f->memory), &header);
    if (!status) {
        key_set(k, cf_type, f);
        return NULL;
    }
    if (f)
        memory_free_value(f, sizeof *f);
    return status == TAMIS_CORRUPT ? "Invalid header" : "Couldn't create filter!";
}

/* The number of a chunk is one more than where it ends. */
static const char *cf_load_chunk(const cf_filter *f, uint64_t at, const char *bytes, size_t size)
{
    size_t room = 0;
    unsigned char *slots =
        size <= at - 1 ? redis_cuckoo_array(&f->cuckoo, at - 1 - size, &room) : NULL;

    if (!slots || size > room)
        return "Couldn't load chunk!";
    memcpy(slots, bytes, size);
    return NULL;
}

static const char *cf_load(key *k, uint64_t at, const redis_string *data)
{
    size_t size;
    const char *bytes = redis.StringPtrLen(data, &size);

    if (k->holds == KEY_OTHER)
        return REPLY_WRONG_TYPE;
    if (k->holds == KEY_OURS)
        return at == 1 ? REPLY_EXISTS : cf_load_chunk(k->value, at, bytes, size);
    return at == 1 ? cf_load_header(k, bytes, size) : REPLY_NOT_FOUND;
}

static int cf_loadchunk(redis_ctx *ctx, redis_string **argv, int argc)
{
    const char *why;
    uint64_t at;
    key k;

    if (argc != 4)
        return redis.WrongArity(ctx);
    if (!word_to_count(argv[2], &at) || at == 0)
        return reply_error(ctx, "Invalid position");
    k = key_write(ctx, argv[1], cf_type);
    why = cf_load(&k, at, argv[3]);
    if (why)
        reply_error(ctx, why);
    else {
        redis.ReplicateVerbatim(ctx);
        key_changed(&k, "cf.loadchunk");
        reply_ok(ctx);
    }
    key_close(&k);
    return REDIS_OK;
}

/* ---- The data type ------------------------------------------------------ */

enum { CF_ENCODING = 4 };

static void cf_rdb_save(redis_io *io, void *value)
{
    const redis_cuckoo *c = &((const cf_filter *)value)->cuckoo;
    const unsigned char *slots;
    size_t size = 0;

    redis.SaveUnsigned(io, c->n);
    redis.SaveUnsigned(io, c->buckets);
    redis.SaveUnsigned(io, c->items);
    redis.SaveUnsigned(io, c->deletes);
    redis.SaveUnsigned(io, c->bucket_size);
    redis.SaveUnsigned(io, c->max_iterations);
    redis.SaveUnsigned(io, c->expansion);
    for (uint64_t at = 0; (slots = redis_cuckoo_array(c, at, &size)); at += size) {
        redis.SaveUnsigned(io, size / c->bucket_size);
        redis.SaveStringBuffer(io, (const char *)slots, size);
    }
}

/* One table, which must be as large as the header says. */
static bool cf_load_table(redis_io *io, const redis_cuckoo *c, uint64_t *at)
{
    size_t size = 0, room = 0;
    uint64_t buckets = redis.LoadUnsigned(io);
    char *bytes = redis.LoadStringBuffer(io, &size);
    unsigned char *slots = redis_cuckoo_array(c, *at, &room);
    bool fine = bytes && slots && size == room && buckets == size / c->bucket_size;

    if (fine)
        memcpy(slots, bytes, size);
    if (bytes)
        redis.Free(bytes);
    *at += size;
    return fine;
}

static bool cf_load_filter(redis_io *io, cf_filter *f)
{
    redis_cuckoo *c = &f->cuckoo;
    redis_cuckoo_header h = { .tables = redis.LoadUnsigned(io) };
    uint64_t at = 0;
    bool fine = true;

    h.buckets = redis.LoadUnsigned(io);
    h.items = redis.LoadUnsigned(io);
    h.deletes = redis.LoadUnsigned(io);
    h.bucket_size = redis.LoadUnsigned(io);
    h.max_iterations = redis.LoadUnsigned(io);
    h.expansion = redis.LoadUnsigned(io);
    if (redis.IsIOError(io) || redis_cuckoo_make(c, memory_allocator(&f->memory), &h))
        return false;
    for (uint32_t i = 0; i < c->n && fine; i++)
        fine = cf_load_table(io, c, &at);
    if (!fine)
        redis_cuckoo_clear(c);
    return fine;
}

static void *cf_rdb_load(redis_io *io, int encoding)
{
    cf_filter *f;

    memory_begin(NULL);
    if (encoding != CF_ENCODING)
        return NULL;
    f = memory_new_value(sizeof *f);
    if (!f || cf_load_filter(io, f))
        return f;
    redis.LogIOError(io, "warning", "a cuckoo filter is damaged, or there is no memory for it");
    memory_free_value(f, sizeof *f);
    return NULL;
}

static void cf_aof_rewrite(redis_io *io, redis_string *name, void *value)
{
    const redis_cuckoo *c = &((const cf_filter *)value)->cuckoo;
    unsigned char header[REDIS_CUCKOO_HEADER_SIZE];
    const char *bytes;
    size_t size = 0;

    redis_cuckoo_write_header(c, header);
    redis.EmitAOF(io, "CF.LOADCHUNK", "slb", name, 1LL, header, sizeof header);
    for (uint64_t at = 0; (bytes = cf_chunk(c, at, &size)); at += size)
        redis.EmitAOF(io, "CF.LOADCHUNK", "slb", name, (long long)(at + size + 1), bytes, size);
}

static void cf_digest(redis_digest *digest, void *value)
{
    const redis_cuckoo *c = &((const cf_filter *)value)->cuckoo;
    unsigned char header[REDIS_CUCKOO_HEADER_SIZE];
    const unsigned char *slots;
    size_t size = 0;

    redis_cuckoo_write_header(c, header);
    redis.DigestAddStringBuffer(digest, (const char *)header, sizeof header);
    for (uint64_t at = 0; (slots = redis_cuckoo_array(c, at, &size)); at += size)
        redis.DigestAddStringBuffer(digest, (const char *)slots, size);
    redis.DigestEndSequence(digest);
}

static void *cf_copy(redis_string *from, redis_string *to, const void *value)
{
    cf_filter *f;

    (void)from;
    (void)to;
    memory_begin(NULL);
    f = memory_new_value(sizeof *f);
    if (!f)
        return NULL;
    if (!redis_cuckoo_copy(&f->cuckoo, memory_allocator(&f->memory),
                           &((const cf_filter *)value)->cuckoo))
        return f;
    memory_free_value(f, sizeof *f);
    return NULL;
}

static bool cf_load_type(redis_ctx *ctx)
{
    redis_type_methods methods = { .version = REDIS_TYPE_VERSION,
                                   .rdb_load = cf_rdb_load,
                                   .rdb_save = cf_rdb_save,
                                   .aof_rewrite = cf_aof_rewrite,
                                   .mem_usage = memory_usage,
                                   .digest = cf_digest,
                                   .free = cf_free,
                                   .free_effort = memory_free_effort,
                                   .copy = cf_copy };

    cf_type = redis.CreateDataType(ctx, "MBbloomCF", CF_ENCODING, &methods);
    return cf_type != NULL;
}

/* ---- The table --------------------------------------------------------- */

static redis_arg RESERVE_ARGS[] = { ARG_KEY,
                                    ARG("capacity", INTEGER),
                                    ARG_OPTION("bucketsize", INTEGER, "BUCKETSIZE"),
                                    ARG_OPTION("maxiterations", INTEGER, "MAXITERATIONS"),
                                    ARG_OPTION("expansion", INTEGER, "EXPANSION"),
                                    ARG_END };
static redis_arg ITEM_ARGS[] = { ARG_KEY, ARG("item", STRING), ARG_END };
static redis_arg ITEMS_ARGS[] = { ARG_KEY, ARG_MANY("item", STRING), ARG_END };
static redis_arg INSERT_ARGS[] = { ARG_KEY, ARG_OPTION("capacity", INTEGER, "CAPACITY"),
                                   ARG_WORD("nocreate", "NOCREATE"),
                                   ARG_MANY_AFTER("items", STRING, "ITEMS"), ARG_END };
static redis_arg KEY_ARGS[] = { ARG_KEY, ARG_END };
static redis_arg SCANDUMP_ARGS[] = { ARG_KEY, ARG("iterator", INTEGER), ARG_END };
static redis_arg LOADCHUNK_ARGS[] = { ARG_KEY, ARG("iterator", INTEGER), ARG("data", STRING),
                                      ARG_END };

static const command COMMANDS[] = {
    { "cf.reserve", cf_reserve, "write deny-oom", -3, KEY_ADD, "Creates an empty cuckoo filter",
      "O(1)", RESERVE_ARGS, NULL },
    { "cf.add", cf_add, "write deny-oom", 3, KEY_ADD,
      "Adds an item to a cuckoo filter, which is created if there is none", "O(k + i)", ITEM_ARGS,
      NULL },
    { "cf.addnx", cf_addnx, "write deny-oom", 3, KEY_ADD,
      "Adds an item to a cuckoo filter if it is not there", "O(k + i)", ITEM_ARGS, NULL },
    { "cf.insert", cf_insert, "write deny-oom", -4, KEY_ADD,
      "Adds items to a cuckoo filter, which is created as told if there is none", "O(n * (k + i))",
      INSERT_ARGS, NULL },
    { "cf.insertnx", cf_insertnx, "write deny-oom", -4, KEY_ADD,
      "Adds the items to a cuckoo filter that are not there", "O(n * (k + i))", INSERT_ARGS, NULL },
    { "cf.exists", cf_exists, "readonly fast", 3, KEY_READ, "Is an item in a cuckoo filter?",
      "O(k)", ITEM_ARGS, NULL },
    { "cf.mexists", cf_mexists, "readonly fast", -3, KEY_READ,
      "Which items are in a cuckoo filter?", "O(k * n)", ITEMS_ARGS, NULL },
    { "cf.count", cf_count, "readonly fast", 3, KEY_READ,
      "How often an item may be in a cuckoo filter", "O(k)", ITEM_ARGS, NULL },
    { "cf.del", cf_del, "write fast", 3, KEY_REMOVE, "Removes one copy of an item", "O(k)",
      ITEM_ARGS, NULL },
    { "cf.compact", cf_compact, "write", 2, KEY_CHANGE, "Moves items to older parts", "O(n) slots",
      KEY_ARGS, NULL },
    { "cf.info", cf_info, "readonly fast", 2, KEY_READ, "Sizes of a cuckoo filter", "O(1)",
      KEY_ARGS, NULL },
    { "cf.scandump", cf_scandump, "readonly fast", 3, KEY_READ, "The next chunk of a cuckoo filter",
      "O(n) bytes", SCANDUMP_ARGS, NULL },
    { "cf.loadchunk", cf_loadchunk, "write deny-oom", 4, KEY_ADD,
      "Restores a chunk of a cuckoo filter", "O(n) bytes", LOADCHUNK_ARGS, NULL },
    { "cf.debug", cf_debug, "readonly fast", 2, KEY_READ, "Sizes of a cuckoo filter, as text",
      "O(1)", KEY_ARGS, NULL },
    { .name = NULL },
};

const family cf_family = { .category = "cuckoo", .commands = COMMANDS, .load = cf_load_type };
