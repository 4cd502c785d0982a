/* cf.c - the CF commands: cuckoo filters, which can forget items, compatible with RedisBloom. */
#include <inttypes.h>
#include <stdio.h>

#include "dump.h"
#include "families.h"
#include "key.h"
#include "redis_cuckoo.h"
#include "reply.h"
#include "settings.h"
#include "value.h"
#include "word_parse.h"

static redis_type *cf_type;

static const value_type CF_VALUE;

/* NULL: the key holds nothing, or something else. */
static redis_cuckoo *cf_of(const key *k)
{
    return k->holds == KEY_OURS ? k->value : NULL;
}

/* ---- Making ------------------------------------------------------------ */

enum { CF_CAPACITY_MAX = 1 << 30 };

typedef struct cf_options {
    uint64_t capacity, bucket_size, max_iterations, expansion;
} cf_options;

static cf_options cf_default(void)
{
    return (cf_options){ .capacity = settings.cf_initial_size,
                         .bucket_size = settings.cf_bucket_size,
                         .max_iterations = settings.cf_max_iterations,
                         .expansion = settings.cf_expansion_factor };
}

static bool cf_create(key *k, const cf_options *o)
{
    redis_cuckoo *f = value_new(&CF_VALUE);

    if (f && !redis_cuckoo_init(f, value_allocator(f), o->capacity, (uint16_t)o->bucket_size,
                                (uint16_t)o->max_iterations, (uint16_t)o->expansion)) {
        key_set(k, cf_type, f);
        return true;
    }
    if (f)
        value_drop(f);
    reply_error(k->ctx, "ERR Insufficient memory to create filter");
    return false;
}

/* What replicas are told of a new filter: nothing depends on a setting of theirs. */
static void cf_replicate_created(key *k, const cf_options *w)
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

static const char *cf_parse(redis_string **argv, int argc, cf_options *o)
{
    uint64_t *const values[] = { &o->bucket_size, &o->max_iterations, &o->expansion };
    const char *why = NULL;
    long long n;

    if (redis.StringToLongLong(argv[2], &n) != REDIS_OK)
        return "Bad capacity";
    for (int i = 3; i < argc && !why; i += 2)
        why = cf_parse_option(argv + i, values);
    if (why)
        return why;
    if (n < 2 * (long long)o->bucket_size || n > CF_CAPACITY_MAX)
        return "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]";
    o->capacity = (uint64_t)n;
    return NULL;
}

static void cf_reserve_at(key *k, redis_string **argv, int argc)
{
    cf_options o = cf_default();
    const char *why = cf_parse(argv, argc, &o);

    if (!why)
        why = key_refuse_new(k);
    if (why)
        reply_error(k->ctx, why);
    else if (cf_create(k, &o)) {
        cf_replicate_created(k, &o);
        key_changed(k, "cf.reserve");
        reply_ok(k->ctx);
    }
}

static int cf_reserve(redis_ctx *ctx, redis_string **argv, int argc)
{
    if (argc % 2 == 0)
        return redis.WrongArity(ctx);
    return key_run(ctx, argv, argc, &CF_VALUE, OPEN_ANY, cf_reserve_at);
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
typedef struct cf_add_mode {
    const char *command; /* for replicas, if they cannot be told the same */
    bool only_new;
    void (*reply)(redis_ctx *ctx, tamis_status status); /* OK, PRESENT or FULL */
    bool has_options; /* which replicas may refuse, as their settings are others */
} cf_add_mode;

static tamis_status cf_add_one(redis_cuckoo *c, redis_cuckoo_hash h, bool only_new)
{
    uint64_t most = memory_must_obey() ? REDIS_CUCKOO_TABLES_MAX : settings.cf_max_expansions;

    if (only_new && redis_cuckoo_has(c, h))
        return TAMIS_PRESENT;
    return redis_cuckoo_add(c, h, (uint32_t)most);
}

/* Returns how many were tried and answered; less than n: the last reply says why. */
static int cf_add_items(redis_ctx *ctx, redis_cuckoo *c, redis_string **items, int n,
                        const cf_add_mode *how)
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

static void cf_add_to(key *k, const cf_options *created, redis_string **items, int n,
                      const cf_add_mode *how, bool is_array)
{
    redis_cuckoo *c = cf_of(k);
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

/* Makes a filter if there is none. */
static void cf_add_or_create(key *k, const cf_options *o, redis_string **items, int n,
                             const cf_add_mode *how, bool is_array)
{
    bool is_new = k->holds == KEY_NOTHING;

    if (!is_new || cf_create(k, o))
        cf_add_to(k, is_new ? o : NULL, items, n, how, is_array);
}

static void cf_add_any(key *k, redis_string **argv, int argc)
{
    static const cf_add_mode how = { "CF.INSERT", false, cf_reply_one, false };
    cf_options o = cf_default();

    cf_add_or_create(k, &o, argv + 2, argc - 2, &how, false);
}

static void cf_add_new(key *k, redis_string **argv, int argc)
{
    static const cf_add_mode how = { "CF.INSERTNX", true, cf_reply_one, false };
    cf_options o = cf_default();

    cf_add_or_create(k, &o, argv + 2, argc - 2, &how, false);
}

static int cf_add(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &CF_VALUE, OPEN_WRITE | OPEN_NOTHING, cf_add_any);
}

static int cf_addnx(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &CF_VALUE, OPEN_WRITE | OPEN_NOTHING, cf_add_new);
}

/* ---- CF.INSERT --------------------------------------------------------- */

typedef struct cf_insert_words {
    int items; /* where the first one is */
    bool must_exist;
    cf_options options;
} cf_insert_words;

static const char *cf_parse_capacity(const redis_string *word, cf_options *o)
{
    long long n;

    if (redis.StringToLongLong(word, &n) != REDIS_OK)
        return "Bad capacity";
    if (n < 2 * (long long)o->bucket_size || n > CF_CAPACITY_MAX)
        return "Capacity must be in the range [cf-bucket-size * 2, 1073741824]";
    o->capacity = (uint64_t)n;
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
            *why = cf_parse_capacity(argv[at], &w->options);
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

static int cf_insert_command(redis_ctx *ctx, redis_string **argv, int argc, cf_add_mode how)
{
    cf_insert_words w = { .options = cf_default() };
    const char *why;
    key k;

    if (!cf_insert_parse(ctx, argv, argc, &w))
        return REDIS_OK;
    how.has_options = w.items > 3;
    k = key_write(ctx, argv[1], cf_type);
    why = key_refuse_add(&k, w.must_exist);
    if (why)
        reply_error(ctx, why);
    else
        cf_add_or_create(&k, &w.options, argv + w.items, argc - w.items, &how, true);
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
    cf_add_mode how = { .command = "CF.INSERT",
                        .reply = reply_is_resp3(ctx) ? cf_reply_bool : cf_reply_number };

    return cf_insert_command(ctx, argv, argc, how);
}

/* Three answers: numbers for everybody. */
static int cf_insertnx(redis_ctx *ctx, redis_string **argv, int argc)
{
    cf_add_mode how = { .command = "CF.INSERTNX", .only_new = true, .reply = cf_reply_number };

    return cf_insert_command(ctx, argv, argc, how);
}

/* ---- Lookups and removal ------------------------------------------------- */

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

/* Of a key that is no filter, lookups find nothing: scripts rely on it. */
static void cf_reply_one_found(key *k, redis_string **argv, int argc)
{
    cf_reply_found(k->ctx, cf_of(k), argv + 2, argc - 2);
}

static int cf_exists(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &CF_VALUE, OPEN_NOTHING | OPEN_OTHER, cf_reply_one_found);
}

static void cf_reply_all_found(key *k, redis_string **argv, int argc)
{
    redis.ReplyWithArray(k->ctx, argc - 2);
    cf_reply_found(k->ctx, cf_of(k), argv + 2, argc - 2);
}

static int cf_mexists(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &CF_VALUE, OPEN_NOTHING | OPEN_OTHER, cf_reply_all_found);
}

static void cf_reply_count(key *k, redis_string **argv, int argc)
{
    const redis_cuckoo *c = cf_of(k);
    redis_cuckoo_hash h;

    (void)argc;
    if (c)
        cf_hash(c, &h, argv + 2, 1);
    reply_count(k->ctx, c ? redis_cuckoo_count(c, h) : 0);
}

static int cf_count(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &CF_VALUE, OPEN_NOTHING | OPEN_OTHER, cf_reply_count);
}

static void cf_remove(key *k, redis_string **argv, int argc)
{
    redis_cuckoo *c = cf_of(k);
    redis_cuckoo_hash h;
    bool removed;

    (void)argc;
    if (!c) {
        reply_error(k->ctx, "Not found");
        return;
    }
    cf_hash(c, &h, argv + 2, 1);
    removed = redis_cuckoo_remove(c, h);
    redis.ReplicateVerbatim(k->ctx);
    if (removed)
        key_changed(k, "cf.del");
    reply_bool(k->ctx, removed);
}

static int cf_del(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &CF_VALUE, OPEN_ANY, cf_remove);
}

static void cf_compact_tables(key *k, redis_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    if (!cf_of(k)) {
        reply_error(k->ctx, "Cuckoo filter was not found");
        return;
    }
    redis_cuckoo_compact(cf_of(k));
    key_end(k, NULL, "cf.compact");
}

static int cf_compact(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &CF_VALUE, OPEN_ANY, cf_compact_tables);
}

/* ---- What there is ------------------------------------------------------ */

/* Sizes of RedisBloom's own structures on 64-bit machines: a filter and a table. Clients compare.
 */
enum { CF_SIZE_BASE = 40, CF_SIZE_TABLE = 16 };

static void cf_reply_info(key *k, redis_string **argv, int argc)
{
    const redis_cuckoo *c = cf_of(k);

    (void)argv;
    (void)argc;
    redis.ReplyWithMap(k->ctx, 8);
    reply_entry(k->ctx, "Size",
                CF_SIZE_BASE + (uint64_t)c->n * CF_SIZE_TABLE + redis_cuckoo_slots(c));
    reply_entry(k->ctx, "Number of buckets", c->buckets);
    reply_entry(k->ctx, "Number of filters", c->n);
    reply_entry(k->ctx, "Number of items inserted", c->items);
    reply_entry(k->ctx, "Number of items deleted", c->deletes);
    reply_entry(k->ctx, "Bucket size", c->bucket_size);
    reply_entry(k->ctx, "Expansion rate", c->expansion);
    reply_entry(k->ctx, "Max iterations", c->max_iterations);
}

static void cf_reply_debug(key *k, redis_string **argv, int argc)
{
    const redis_cuckoo *c = cf_of(k);
    char text[256];

    (void)argv;
    (void)argc;
    snprintf(text, sizeof text,
             "bktsize:%u buckets:%" PRIu64 " items:%" PRIu64 " deletes:%" PRIu64 " filters:%" PRIu32
             " max_iterations:%u expansion:%u",
             c->bucket_size, c->buckets, c->items, c->deletes, c->n, c->max_iterations,
             c->expansion);
    redis.ReplyWithCString(k->ctx, text);
}

static int cf_info(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &CF_VALUE, OPEN_READ, cf_reply_info);
}

static int cf_debug(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &CF_VALUE, OPEN_READ, cf_reply_debug);
}

/* ---- Dumps ------------------------------------------------------------- */

static size_t cf_write_header(const void *v, unsigned char *header)
{
    redis_cuckoo_write_header(v, header);
    return REDIS_CUCKOO_HEADER_SIZE;
}

static unsigned char *cf_array(const void *v, uint64_t offset, size_t *size)
{
    return redis_cuckoo_array(v, offset, size);
}

static const dump_type CF_DUMP = { "CF.LOADCHUNK", REDIS_CUCKOO_HEADER_SIZE, cf_write_header,
                                   cf_array };

/* A filter without items has no dump, and neither has what is behind the end. */
static void cf_reply_piece(key *k, uint64_t at)
{
    unsigned char header[REDIS_CUCKOO_HEADER_SIZE];
    const char *bytes = (const char *)header;
    size_t size = cf_write_header(k->value, header);
    uint64_t next = 1;

    if (at > 0) {
        bytes = dump_piece(&CF_DUMP, k->value, at - 1, &size);
        next = at + size;
    }
    redis.ReplyWithArray(k->ctx, 2);
    if (!bytes || cf_of(k)->items == 0) {
        reply_count(k->ctx, 0);
        redis.ReplyWithNull(k->ctx);
    } else {
        reply_count(k->ctx, next);
        redis.ReplyWithStringBuffer(k->ctx, bytes, size);
    }
}

static void cf_reply_dump(key *k, redis_string **argv, int argc)
{
    uint64_t at;

    (void)argc;
    if (!word_to_count(argv[2], &at))
        reply_error(k->ctx, "Invalid position");
    else if (k->holds != KEY_OURS)
        reply_error(k->ctx, k->holds == KEY_OTHER ? REPLY_WRONG_TYPE : REPLY_NOT_FOUND);
    else
        cf_reply_piece(k, at);
}

static int cf_scandump(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &CF_VALUE, OPEN_NOTHING | OPEN_OTHER, cf_reply_dump);
}

/* Why a header makes no filter, or NULL. */
static const char *cf_load_header(key *k, const char *bytes, size_t size)
{
    redis_cuckoo_header header;
    tamis_status status = TAMIS_NOMEM;
    redis_cuckoo *f;

    if (size != REDIS_CUCKOO_HEADER_SIZE)
        return "Invalid header";
    header = redis_cuckoo_read_header((const unsigned char *)bytes);
    f = value_new(&CF_VALUE);
    if (f)
        status = redis_cuckoo_make(f, value_allocator(f), &header);
    if (!status) {
        key_set(k, cf_type, f);
        return NULL;
    }
    if (f)
        value_drop(f);
    return status == TAMIS_CORRUPT ? "Invalid header" : "Couldn't create filter!";
}

static const char *cf_load(key *k, uint64_t at, const redis_string *data)
{
    size_t size;
    const char *bytes = redis.StringPtrLen(data, &size);

    if (k->holds == KEY_OTHER)
        return REPLY_WRONG_TYPE;
    if (k->holds == KEY_NOTHING)
        return at == 1 ? cf_load_header(k, bytes, size) : REPLY_NOT_FOUND;
    if (at == 1)
        return REPLY_EXISTS;
    return dump_take(&CF_DUMP, k->value, at - 1, bytes, size) ? "Couldn't load chunk!" : NULL;
}

static void cf_take_piece(key *k, redis_string **argv, int argc)
{
    const char *why = "Invalid position";
    uint64_t at;

    (void)argc;
    if (word_to_count(argv[2], &at) && at > 0)
        why = cf_load(k, at, argv[3]);
    key_end(k, why, "cf.loadchunk");
}

static int cf_loadchunk(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &CF_VALUE, OPEN_ANY, cf_take_piece);
}

/* ---- The data type ------------------------------------------------------ */

enum { CF_ENCODING = 4 };

static void cf_save_value(redis_io *io, void *value)
{
    const redis_cuckoo *c = value;
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

static bool cf_load_value(redis_io *io, int encoding, void *v)
{
    redis_cuckoo *c = v;
    redis_cuckoo_header h = { .tables = redis.LoadUnsigned(io) };
    uint64_t at = 0;
    bool fine = encoding == CF_ENCODING;

    h.buckets = redis.LoadUnsigned(io);
    h.items = redis.LoadUnsigned(io);
    h.deletes = redis.LoadUnsigned(io);
    h.bucket_size = redis.LoadUnsigned(io);
    h.max_iterations = redis.LoadUnsigned(io);
    h.expansion = redis.LoadUnsigned(io);
    if (!fine || redis.IsIOError(io) || redis_cuckoo_make(c, value_allocator(v), &h))
        return false;
    for (uint32_t i = 0; i < c->n && fine; i++)
        fine = cf_load_table(io, c, &at);
    if (!fine)
        redis_cuckoo_clear(c);
    return fine;
}

static void *cf_rdb_load(redis_io *io, int encoding)
{
    return value_load(io, encoding, &CF_VALUE);
}

static void cf_rewrite(redis_io *io, redis_string *name, void *v)
{
    dump_rewrite(&CF_DUMP, io, name, v);
}

static void cf_digest(redis_digest *digest, void *v)
{
    dump_digest(&CF_DUMP, digest, v);
}

static tamis_status cf_copy(void *v, const void *from)
{
    return redis_cuckoo_copy(v, value_allocator(v), from);
}

static void cf_clear(void *v)
{
    redis_cuckoo_clear(v);
}

static const value_type CF_VALUE = VALUE_TYPE(cf, "MBbloomCF", CF_ENCODING, sizeof(redis_cuckoo),
                                              "a cuckoo filter", REPLY_NOT_FOUND, NULL);

/* ---- The table --------------------------------------------------------- */

static redis_arg RESERVE_ARGS[] = { ARG_KEY,
                                    ARG("capacity", INTEGER),
                                    ARG_OPTION("bucketsize", INTEGER, "BUCKETSIZE"),
                                    ARG_OPTION("maxiterations", INTEGER, "MAXITERATIONS"),
                                    ARG_OPTION("expansion", INTEGER, "EXPANSION"),
                                    ARG_END };
static redis_arg INSERT_ARGS[] = { ARG_KEY, ARG_OPTION("capacity", INTEGER, "CAPACITY"),
                                   ARG_WORD("nocreate", "NOCREATE"),
                                   ARG_MANY_AFTER("items", STRING, "ITEMS"), ARG_END };

static const command COMMANDS[] = {
    { "cf.reserve", cf_reserve, "write deny-oom", -3, KEY_ADD, "Creates an empty cuckoo filter",
      "O(1)", RESERVE_ARGS, NULL },
    { "cf.add", cf_add, "write deny-oom", 3, KEY_ADD,
      "Adds an item to a cuckoo filter, which is created if there is none", "O(k + i)", args_item,
      NULL },
    { "cf.addnx", cf_addnx, "write deny-oom", 3, KEY_ADD,
      "Adds an item to a cuckoo filter if it is not there", "O(k + i)", args_item, NULL },
    { "cf.insert", cf_insert, "write deny-oom", -4, KEY_ADD,
      "Adds items to a cuckoo filter, which is created as told if there is none", "O(n * (k + i))",
      INSERT_ARGS, NULL },
    { "cf.insertnx", cf_insertnx, "write deny-oom", -4, KEY_ADD,
      "Adds the items to a cuckoo filter that are not there", "O(n * (k + i))", INSERT_ARGS, NULL },
    { "cf.exists", cf_exists, "readonly fast", 3, KEY_READ, "Is an item in a cuckoo filter?",
      "O(k)", args_item, NULL },
    { "cf.mexists", cf_mexists, "readonly fast", -3, KEY_READ,
      "Which items are in a cuckoo filter?", "O(k * n)", args_items, NULL },
    { "cf.count", cf_count, "readonly fast", 3, KEY_READ,
      "How often an item may be in a cuckoo filter", "O(k)", args_item, NULL },
    { "cf.del", cf_del, "write fast", 3, KEY_REMOVE, "Removes one copy of an item", "O(k)",
      args_item, NULL },
    { "cf.compact", cf_compact, "write", 2, KEY_CHANGE, "Moves items to older parts", "O(n) slots",
      args_key, NULL },
    { "cf.info", cf_info, "readonly fast", 2, KEY_READ, "Sizes of a cuckoo filter", "O(1)",
      args_key, NULL },
    { "cf.scandump", cf_scandump, "readonly fast", 3, KEY_READ, "The next chunk of a cuckoo filter",
      "O(n) bytes", args_scandump, NULL },
    { "cf.loadchunk", cf_loadchunk, "write deny-oom", 4, KEY_ADD,
      "Restores a chunk of a cuckoo filter", "O(n) bytes", args_loadchunk, NULL },
    { "cf.debug", cf_debug, "readonly fast", 2, KEY_READ, "Sizes of a cuckoo filter, as text",
      "O(1)", args_key, NULL },
    { .name = NULL },
};

const family cf_family = {
    .category = "cuckoo", .commands = COMMANDS, .type = &CF_VALUE, .load = cf_rdb_load
};
