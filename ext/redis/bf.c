/* bf.c - the BF commands: scalable Bloom filters, compatible with RedisBloom. */
#include <inttypes.h>
#include <stdio.h>

#include "dump.h"
#include "families.h"
#include "key.h"
#include "memory.h"
#include "redis_bloom.h"
#include "reply.h"
#include "settings.h"
#include "word.h"

static redis_type *bf_type;

typedef struct bf_filter {
    memory memory;
    redis_bloom bloom;
} bf_filter;

/* ---- Making ------------------------------------------------------------ */

enum { BF_CAPACITY_MAX = 1 << 30, BF_EXPANSION_MAX = 32768 };

typedef struct bf_wish {
    double error;
    uint64_t capacity, expansion;
    bool fixed;
} bf_wish;

static bf_wish bf_default(void)
{
    return (bf_wish){ .error = settings.bf_error_rate,
                      .capacity = settings.bf_initial_size,
                      .expansion = settings.bf_expansion_factor };
}

static void bf_free(void *value)
{
    bf_filter *f = value;

    redis_bloom_clear(&f->bloom);
    memory_free_value(f, sizeof *f);
}

static tamis_status bf_make(bf_filter **out, const bf_wish *w)
{
    bf_filter *f = memory_new_value(sizeof *f);
    tamis_status status;

    if (!f)
        return TAMIS_NOMEM;
    status = redis_bloom_init(&f->bloom, memory_allocator(&f->memory), w->error, w->capacity,
                              (uint32_t)w->expansion, w->fixed);
    if (status)
        memory_free_value(f, sizeof *f);
    else
        *out = f;
    return status;
}

/* Replaces nothing: the key is empty. */
static bool bf_create(key *k, const bf_wish *w)
{
    bf_filter *f;
    tamis_status status = bf_make(&f, w);

    if (status) {
        reply_error(k->ctx, status == TAMIS_NOMEM ? "ERR Insufficient memory to create filter"
                                                  : "ERR could not create filter");
        return false;
    }
    key_set(k, bf_type, f);
    return true;
}

/* What replicas are told: what was done here, with no setting of theirs in it. */
static void bf_replicate(key *k, const bf_wish *created, redis_string **items, int n)
{
    char error[32];

    if (created) {
        snprintf(error, sizeof error, "%.17g", created->error);
        redis.Replicate(k->ctx, "BF.RESERVE", created->fixed ? "sclc" : "sclcl", k->name, error,
                        (long long)created->capacity, created->fixed ? "NONSCALING" : "EXPANSION",
                        (long long)created->expansion);
    }
    if (n > 0)
        redis.Replicate(k->ctx, "BF.MADD", "sv", k->name, items, (size_t)n);
}

static const char *bf_parse_rate(const redis_string *word, double *error)
{
    if (redis.StringToDouble(word, error) != REDIS_OK)
        return "ERR bad error rate";
    if (!(*error > 0 && *error < 1))
        return "ERR error rate must be in the range (0.000000, 1.000000)";
    return NULL;
}

static const char *bf_parse_capacity(const redis_string *word, uint64_t *capacity)
{
    long long n;

    if (redis.StringToLongLong(word, &n) != REDIS_OK)
        return "ERR bad capacity";
    if (n < 1 || n > BF_CAPACITY_MAX)
        return "ERR capacity must be in the range [1, 1073741824]";
    *capacity = (uint64_t)n;
    return NULL;
}

static const char *bf_parse_expansion(const redis_string *word, uint64_t *expansion)
{
    long long n;

    if (redis.StringToLongLong(word, &n) != REDIS_OK)
        return "ERR bad expansion";
    if (n < 0 || n > BF_EXPANSION_MAX)
        return "ERR expansion must be in the range [0, 32768]";
    *expansion = (uint64_t)n;
    return NULL;
}

/* The words after the capacity. */
static const char *bf_parse_options(redis_string **argv, int argc, bf_wish *w)
{
    const char *why = NULL;
    bool expands = false;

    for (int i = 0; i < argc && !why; i++)
        if (word_is(argv[i], "NONSCALING"))
            w->fixed = true;
        else if (!word_is(argv[i], "EXPANSION"))
            why = "Unknown argument received";
        else if (++i == argc)
            why = "ERR no expansion";
        else {
            why = bf_parse_expansion(argv[i], &w->expansion);
            expands = w->expansion > 0;
        }
    if (!why && w->fixed && expands)
        return "Nonscaling filters cannot expand";
    return why;
}

static const char *bf_parse_wish(redis_string **argv, int argc, bf_wish *w)
{
    const char *why = bf_parse_rate(argv[2], &w->error);

    if (!why)
        why = bf_parse_capacity(argv[3], &w->capacity);
    return why ? why : bf_parse_options(argv + 4, argc - 4, w);
}

static int bf_reserve(redis_ctx *ctx, redis_string **argv, int argc)
{
    bf_wish w = bf_default();
    const char *why;
    key k;

    if (argc < 4 || argc > 7)
        return redis.WrongArity(ctx);
    why = bf_parse_wish(argv, argc, &w);
    if (why)
        return reply_error(ctx, why);
    k = key_write(ctx, argv[1], bf_type);
    if (k.holds == KEY_OTHER)
        reply_error(ctx, REPLY_WRONG_TYPE);
    else if (k.holds == KEY_OURS)
        reply_error(ctx, REPLY_EXISTS);
    else if (bf_create(&k, &w)) {
        bf_replicate(&k, &w, NULL, 0);
        key_changed(&k, "bf.reserve");
        reply_ok(ctx);
    }
    key_close(&k);
    return REDIS_OK;
}

/* ---- Items ------------------------------------------------------------- */

static size_t bf_hash(const redis_bloom *b, redis_bloom_hash *hashes, redis_string **items, int n)
{
    int i;

    for (i = 0; i < n && i < REDIS_BLOOM_BATCH; i++) {
        size_t size;
        const char *item = redis.StringPtrLen(items[i], &size);

        hashes[i] = redis_bloom_hash_of(b, item, size);
    }
    return (size_t)i;
}

/* Lookups of a key that is no filter find nothing: scripts rely on it. */
static void bf_reply_found(redis_ctx *ctx, const key *k, redis_string **items, int n)
{
    redis_bloom_hash hashes[REDIS_BLOOM_BATCH];
    bool found[REDIS_BLOOM_BATCH] = { false };

    while (n > 0) {
        size_t batch = n < REDIS_BLOOM_BATCH ? (size_t)n : REDIS_BLOOM_BATCH;

        if (k->holds == KEY_OURS) {
            const bf_filter *f = k->value;

            bf_hash(&f->bloom, hashes, items, n);
            redis_bloom_has_many(&f->bloom, found, hashes, batch);
        }
        for (size_t i = 0; i < batch; i++)
            reply_bool(ctx, found[i]);
        items += batch;
        n -= (int)batch;
    }
}

static int bf_exists(redis_ctx *ctx, redis_string **argv, int argc)
{
    key k;

    if (argc != 3)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], bf_type);
    bf_reply_found(ctx, &k, argv + 2, 1);
    key_close(&k);
    return REDIS_OK;
}

static int bf_mexists(redis_ctx *ctx, redis_string **argv, int argc)
{
    key k;

    if (argc < 3)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], bf_type);
    redis.ReplyWithArray(ctx, argc - 2);
    bf_reply_found(ctx, &k, argv + 2, argc - 2);
    key_close(&k);
    return REDIS_OK;
}

/* Adds items and replies for each. Returns how many are in; less than n: the last reply says why.
 */
static int bf_add_items(redis_ctx *ctx, redis_bloom *b, redis_string **items, int n)
{
    redis_bloom_hash hashes[REDIS_BLOOM_BATCH];
    bool added[REDIS_BLOOM_BATCH];
    tamis_status status = TAMIS_OK;
    int in = 0;

    while (in < n && !status) {
        size_t done, batch = bf_hash(b, hashes, items + in, n - in);

        status = redis_bloom_add_many(b, added, &done, hashes, batch);
        for (size_t i = 0; i < done; i++)
            reply_bool(ctx, added[i]);
        in += (int)done;
    }
    if (status)
        reply_error(ctx, status == TAMIS_FULL ? "ERR non scaling filter is full"
                                              : "ERR problem inserting into filter");
    return in;
}

static void bf_add_to(key *k, const bf_wish *created, redis_string **items, int n, bool is_array)
{
    bf_filter *f = k->value;
    uint64_t before = f->bloom.size;
    int in;

    if (is_array)
        redis.ReplyWithArray(k->ctx, REDIS_POSTPONED);
    in = bf_add_items(k->ctx, &f->bloom, items, n);
    if (is_array)
        redis.ReplySetArrayLength(k->ctx, in < n ? in + 1 : n);
    if (created || in < n)
        bf_replicate(k, created, items, in);
    else
        redis.ReplicateVerbatim(k->ctx);
    if (created || f->bloom.size > before)
        key_changed(k, "bf.add");
}

static int bf_add_command(redis_ctx *ctx, redis_string **argv, int argc, bool is_array)
{
    bf_wish w = bf_default();
    key k = key_write(ctx, argv[1], bf_type);
    bool is_new = k.holds == KEY_NOTHING;

    if (k.holds == KEY_OTHER)
        reply_error(ctx, REPLY_WRONG_TYPE);
    else if (!is_new || bf_create(&k, &w))
        bf_add_to(&k, is_new ? &w : NULL, argv + 2, argc - 2, is_array);
    key_close(&k);
    return REDIS_OK;
}

static int bf_add(redis_ctx *ctx, redis_string **argv, int argc)
{
    return argc == 3 ? bf_add_command(ctx, argv, argc, false) : redis.WrongArity(ctx);
}

static int bf_madd(redis_ctx *ctx, redis_string **argv, int argc)
{
    return argc >= 3 ? bf_add_command(ctx, argv, argc, true) : redis.WrongArity(ctx);
}

/* ---- BF.INSERT --------------------------------------------------------- */

typedef struct bf_insert_words {
    bf_wish wish;
    bool must_exist;
    int items; /* where the first one is */
} bf_insert_words;

/* Takes an option and its value, if it has one. Returns how many words that were, or 0. */
static int bf_insert_option(redis_string **argv, int argc, bf_insert_words *w, const char **why)
{
    const redis_string *value = argc > 1 ? argv[1] : NULL;

    if (word_is(argv[0], "NOCREATE"))
        return w->must_exist = true;
    if (word_is(argv[0], "NONSCALING"))
        return w->wish.fixed = true;
    if (word_is(argv[0], "CAPACITY"))
        *why = value && bf_parse_capacity(value, &w->wish.capacity) ? "Bad capacity" : NULL;
    else if (word_is(argv[0], "ERROR"))
        *why = value && bf_parse_rate(value, &w->wish.error) ? "Bad error rate" : NULL;
    else if (word_is(argv[0], "EXPANSION"))
        *why = value && bf_parse_expansion(value, &w->wish.expansion) ? "Bad expansion" : NULL;
    else
        *why = "Unknown argument received";
    return value && !*why ? 2 : 0;
}

/* False if it has replied. */
static bool bf_insert_parse(redis_ctx *ctx, redis_string **argv, int argc, bf_insert_words *w)
{
    const char *why = NULL;
    int at = 2, taken = 1;

    while (at < argc && taken && !word_is(argv[at], "ITEMS"))
        at += taken = bf_insert_option(argv + at, argc - at, w, &why);
    if (why)
        reply_error(ctx, why);
    else if (!taken || at + 1 >= argc)
        redis.WrongArity(ctx);
    w->items = at + 1;
    return !why && taken && w->items < argc;
}

static int bf_insert(redis_ctx *ctx, redis_string **argv, int argc)
{
    bf_insert_words w = { .wish = bf_default() };
    bool is_new;
    key k;

    if (argc < 4)
        return redis.WrongArity(ctx);
    if (!bf_insert_parse(ctx, argv, argc, &w))
        return REDIS_OK;
    k = key_write(ctx, argv[1], bf_type);
    is_new = k.holds == KEY_NOTHING;
    if (k.holds == KEY_OTHER)
        reply_error(ctx, REPLY_WRONG_TYPE);
    else if (is_new && w.must_exist)
        reply_error(ctx, REPLY_NOT_FOUND);
    else if (!is_new || bf_create(&k, &w.wish))
        bf_add_to(&k, is_new ? &w.wish : NULL, argv + w.items, argc - w.items, true);
    key_close(&k);
    return REDIS_OK;
}

/* ---- What there is ------------------------------------------------------ */

/* The filter of a reading command, or NULL after a reply that says why there is none. */
static const redis_bloom *bf_need(const key *k)
{
    if (k->holds == KEY_OURS)
        return &((const bf_filter *)k->value)->bloom;
    reply_error(k->ctx, k->holds == KEY_OTHER ? REPLY_WRONG_TYPE : REPLY_NOT_FOUND);
    return NULL;
}

static int bf_card(redis_ctx *ctx, redis_string **argv, int argc)
{
    const redis_bloom *b;
    key k;

    if (argc != 2)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], bf_type);
    if (k.holds == KEY_NOTHING)
        reply_count(ctx, 0);
    else if ((b = bf_need(&k)))
        reply_count(ctx, b->size);
    key_close(&k);
    return REDIS_OK;
}

/* Sizes of RedisBloom's own structures on 64-bit machines: a filter and a link. Clients compare. */
enum { BF_SIZE_BASE = 32, BF_SIZE_LINK = 64 };

typedef struct bf_field {
    const char *word, *name;
    uint64_t value;
    bool is_null;
} bf_field;

enum { BF_FIELDS = 5 };

static void bf_fields(const redis_bloom *b, bf_field fields[BF_FIELDS])
{
    uint64_t size = BF_SIZE_BASE + (uint64_t)b->n * BF_SIZE_LINK + redis_bloom_bytes(b);

    fields[0] = (bf_field){ "CAPACITY", "Capacity", redis_bloom_capacity(b), false };
    fields[1] = (bf_field){ "SIZE", "Size", size, false };
    fields[2] = (bf_field){ "FILTERS", "Number of filters", b->n, false };
    fields[3] = (bf_field){ "ITEMS", "Number of items inserted", b->size, false };
    fields[4] =
        (bf_field){ "EXPANSION", "Expansion rate", b->growth, b->options & REDIS_BLOOM_FIXED };
}

static void bf_reply_field(redis_ctx *ctx, const bf_field *field, bool named)
{
    if (named)
        redis.ReplyWithSimpleString(ctx, field->name);
    if (field->is_null)
        redis.ReplyWithNull(ctx);
    else
        reply_count(ctx, field->value);
}

/* A map of one entry, or an array of its value. */
static void bf_reply_one(redis_ctx *ctx, const bf_field *fields, const redis_string *word)
{
    const bf_field *f = fields;

    while (f < fields + BF_FIELDS && !word_is(word, f->word))
        f++;
    if (f == fields + BF_FIELDS)
        reply_error(ctx, "Invalid information value");
    else if (reply_is_resp3(ctx)) {
        redis.ReplyWithMap(ctx, 1);
        bf_reply_field(ctx, f, true);
    } else {
        redis.ReplyWithArray(ctx, 1);
        bf_reply_field(ctx, f, false);
    }
}

static void bf_reply_all(redis_ctx *ctx, const bf_field *fields)
{
    redis.ReplyWithMap(ctx, BF_FIELDS);
    for (int i = 0; i < BF_FIELDS; i++)
        bf_reply_field(ctx, &fields[i], true);
}

static int bf_info(redis_ctx *ctx, redis_string **argv, int argc)
{
    const redis_bloom *b;
    bf_field fields[BF_FIELDS];
    key k;

    if (argc < 2 || argc > 3)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], bf_type);
    b = bf_need(&k);
    if (b) {
        bf_fields(b, fields);
        if (argc == 3)
            bf_reply_one(ctx, fields, argv[2]);
        else
            bf_reply_all(ctx, fields);
    }
    key_close(&k);
    return REDIS_OK;
}

static void bf_reply_link(redis_ctx *ctx, const redis_bloom *b, const redis_bloom_link *l)
{
    char text[256];

    snprintf(text, sizeof text,
             "bytes:%" PRIu64 " bits:%" PRIu64 " hashes:%" PRIu32 " hashwidth:%d capacity:%" PRIu64
             " size:%" PRIu64 " ratio:%g",
             l->bytes, l->bits, l->hashes, b->options & REDIS_BLOOM_HASH64 ? 64 : 32, l->capacity,
             l->size, l->error);
    redis.ReplyWithCString(ctx, text);
}

static int bf_debug(redis_ctx *ctx, redis_string **argv, int argc)
{
    const redis_bloom *b;
    char text[32];
    key k;

    if (argc != 2)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], bf_type);
    b = bf_need(&k);
    if (b) {
        redis.ReplyWithArray(ctx, (long)b->n + 1);
        snprintf(text, sizeof text, "size:%" PRIu64, b->size);
        redis.ReplyWithCString(ctx, text);
        for (uint32_t i = 0; i < b->n; i++)
            bf_reply_link(ctx, b, &b->links[i]);
    }
    key_close(&k);
    return REDIS_OK;
}

/* ---- Dumps ------------------------------------------------------------- */

/* Up to so many bytes from `offset` on. */
static const char *bf_chunk(const redis_bloom *b, uint64_t offset, size_t *size)
{
    const unsigned char *bytes = redis_bloom_array(b, offset, size);

    if (*size > DUMP_CHUNK_MAX)
        *size = DUMP_CHUNK_MAX;
    return (const char *)bytes;
}

static void bf_reply_header(redis_ctx *ctx, const redis_bloom *b)
{
    unsigned char header[REDIS_BLOOM_HEADER_MAX];

    redis_bloom_write_header(b, header);
    redis.ReplyWithArray(ctx, 2);
    reply_count(ctx, 1);
    redis.ReplyWithStringBuffer(ctx, (const char *)header, redis_bloom_header_size(b));
}

static void bf_reply_chunk(redis_ctx *ctx, const redis_bloom *b, uint64_t offset)
{
    size_t size = 0;
    const char *bytes = bf_chunk(b, offset, &size);

    redis.ReplyWithArray(ctx, 2);
    reply_count(ctx, bytes ? offset + size + 1 : 0);
    redis.ReplyWithStringBuffer(ctx, bytes ? bytes : "", bytes ? size : 0);
}

static int bf_scandump(redis_ctx *ctx, redis_string **argv, int argc)
{
    const redis_bloom *b;
    long long at;
    key k;

    if (argc != 3)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], bf_type);
    b = bf_need(&k);
    if (!b)
        ;
    else if (redis.StringToLongLong(argv[2], &at) != REDIS_OK)
        reply_error(ctx, "Second argument must be numeric");
    else if (at == 0)
        bf_reply_header(ctx, b);
    else
        bf_reply_chunk(ctx, b, at > 0 ? (uint64_t)at - 1 : UINT64_MAX);
    key_close(&k);
    return REDIS_OK;
}

/* Why a header makes no filter, or NULL. */
static const char *bf_load_header(key *k, const char *bytes, size_t size)
{
    bf_filter *f = memory_new_value(sizeof *f);
    tamis_status status = TAMIS_NOMEM;

    if (f)
        status = redis_bloom_read_header(&f->bloom, memory_allocator(&f->memory),
                                         (const unsigned char *)bytes, size);
    if (!status) {
        key_set(k, bf_type, f);
        return NULL;
    }
    if (f)
        memory_free_value(f, sizeof *f);
    return status == TAMIS_NOMEM ? "ERR Insufficient memory to create filter"
                                 : "ERR received bad data";
}

/* The number of a chunk is one more than where it ends. */
static const char *bf_load_chunk(const bf_filter *f, long long at, const char *bytes, size_t size)
{
    uint64_t end = at > 0 ? (uint64_t)at - 1 : 0;
    size_t room = 0;
    unsigned char *array = size <= end ? redis_bloom_array(&f->bloom, end - size, &room) : NULL;

    if (!array)
        return "ERR invalid offset - no link found";
    if (size > room)
        return "ERR invalid chunk - Too big for current filter";
    memcpy(array, bytes, size);
    return NULL;
}

static const char *bf_load(key *k, long long at, const redis_string *data)
{
    size_t size;
    const char *bytes = redis.StringPtrLen(data, &size);

    if (k->holds == KEY_OTHER)
        return REPLY_WRONG_TYPE;
    if (k->holds == KEY_OURS)
        return bf_load_chunk(k->value, at, bytes, size);
    return at == 1 ? bf_load_header(k, bytes, size) : REPLY_NOT_FOUND;
}

static int bf_loadchunk(redis_ctx *ctx, redis_string **argv, int argc)
{
    const char *why;
    long long at;
    key k;

    if (argc != 4)
        return redis.WrongArity(ctx);
    if (redis.StringToLongLong(argv[2], &at) != REDIS_OK)
        return reply_error(ctx, "ERR Second argument must be numeric");
    k = key_write(ctx, argv[1], bf_type);
    why = bf_load(&k, at, argv[3]);
    if (why)
        reply_error(ctx, why);
    else {
        redis.ReplicateVerbatim(ctx);
        key_changed(&k, "bf.loadchunk");
        reply_ok(ctx);
    }
    key_close(&k);
    return REDIS_OK;
}

/* ---- The data type ------------------------------------------------------ */

enum { BF_ENCODING = 4 };

static void bf_save_link(redis_io *io, const redis_bloom_link *l)
{
    redis.SaveUnsigned(io, l->capacity);
    redis.SaveDouble(io, l->error);
    redis.SaveUnsigned(io, l->hashes);
    redis.SaveDouble(io, l->bits_per_item);
    redis.SaveUnsigned(io, l->bits);
    redis.SaveUnsigned(io, l->power);
    redis.SaveStringBuffer(io, (const char *)l->array, (size_t)l->bytes);
    redis.SaveUnsigned(io, l->size);
}

static void bf_rdb_save(redis_io *io, void *value)
{
    const redis_bloom *b = &((const bf_filter *)value)->bloom;

    redis.SaveUnsigned(io, b->size);
    redis.SaveUnsigned(io, b->n);
    redis.SaveUnsigned(io, b->options);
    redis.SaveUnsigned(io, b->growth);
    for (uint32_t i = 0; i < b->n; i++)
        bf_save_link(io, &b->links[i]);
}

/* A number that must fit in fewer bits than it was stored in; what does not is no valid number. */
static uint64_t bf_load_below(redis_io *io, uint64_t limit)
{
    uint64_t x = redis.LoadUnsigned(io);

    return x < limit ? x : limit;
}

/* Its numbers, and its bits as Redis gives them. */
static char *bf_load_link(redis_io *io, int encoding, redis_bloom_link *l)
{
    size_t size = 0;
    char *bits;

    *l = (redis_bloom_link){ .capacity = redis.LoadUnsigned(io) };
    l->error = redis.LoadDouble(io);
    l->hashes = (uint32_t)bf_load_below(io, UINT32_MAX);
    l->bits_per_item = redis.LoadDouble(io);
    if (encoding > 0) {
        l->bits = redis.LoadUnsigned(io);
        l->power = (uint8_t)bf_load_below(io, UINT8_MAX);
    }
    bits = redis.LoadStringBuffer(io, &size);
    l->bytes = size;
    if (encoding == 0)
        l->bits = l->bytes <= UINT64_MAX / 8 ? l->bytes * 8 : 0;
    l->size = redis.LoadUnsigned(io);
    return bits;
}

static bool bf_load_links(redis_io *io, int encoding, redis_bloom *b, uint64_t n)
{
    bool fine = true;

    for (uint64_t i = 0; i < n && fine; i++) {
        redis_bloom_link l;
        char *bits = bf_load_link(io, encoding, &l);

        fine = bits && !redis.IsIOError(io) && !redis_bloom_append(b, &l);
        if (fine)
            memcpy(b->links[i].array, bits, (size_t)l.bytes);
        if (bits)
            redis.Free(bits);
    }
    return fine;
}

static bool bf_load_filter(redis_io *io, int encoding, bf_filter *f)
{
    uint64_t size = redis.LoadUnsigned(io), n = redis.LoadUnsigned(io);
    uint64_t options = encoding >= 2 ? bf_load_below(io, UINT32_MAX) : 0;
    uint64_t growth = encoding >= 4 ? bf_load_below(io, UINT32_MAX) : 2;

    redis_bloom_begin(&f->bloom, memory_allocator(&f->memory), (uint32_t)options, (uint32_t)growth);
    if (bf_load_links(io, encoding, &f->bloom, n) && redis_bloom_is_whole(&f->bloom, size))
        return true;
    redis_bloom_clear(&f->bloom);
    return false;
}

static void *bf_rdb_load(redis_io *io, int encoding)
{
    bf_filter *f;

    memory_begin(NULL);
    if (encoding > BF_ENCODING)
        return NULL;
    f = memory_new_value(sizeof *f);
    if (!f || bf_load_filter(io, encoding, f))
        return f;
    redis.LogIOError(io, "warning", "a Bloom filter is damaged, or there is no memory for it");
    memory_free_value(f, sizeof *f);
    return NULL;
}

static void bf_aof_rewrite(redis_io *io, redis_string *name, void *value)
{
    const redis_bloom *b = &((const bf_filter *)value)->bloom;
    unsigned char header[REDIS_BLOOM_HEADER_MAX];
    const char *bytes;
    size_t size = 0;

    redis_bloom_write_header(b, header);
    redis.EmitAOF(io, "BF.LOADCHUNK", "slb", name, 1LL, header, redis_bloom_header_size(b));
    for (uint64_t at = 0; (bytes = bf_chunk(b, at, &size)); at += size)
        redis.EmitAOF(io, "BF.LOADCHUNK", "slb", name, (long long)(at + size + 1), bytes, size);
}

static void bf_digest(redis_digest *digest, void *value)
{
    const redis_bloom *b = &((const bf_filter *)value)->bloom;
    unsigned char header[REDIS_BLOOM_HEADER_MAX];

    redis_bloom_write_header(b, header);
    redis.DigestAddStringBuffer(digest, (const char *)header, redis_bloom_header_size(b));
    for (uint32_t i = 0; i < b->n; i++)
        redis.DigestAddStringBuffer(digest, (const char *)b->links[i].array,
                                    (size_t)b->links[i].bytes);
    redis.DigestEndSequence(digest);
}

static void *bf_copy(redis_string *from, redis_string *to, const void *value)
{
    bf_filter *f;

    (void)from;
    (void)to;
    memory_begin(NULL);
    f = memory_new_value(sizeof *f);
    if (!f)
        return NULL;
    if (!redis_bloom_copy(&f->bloom, memory_allocator(&f->memory),
                          &((const bf_filter *)value)->bloom))
        return f;
    memory_free_value(f, sizeof *f);
    return NULL;
}

static bool bf_load_type(redis_ctx *ctx)
{
    redis_type_methods methods = { .version = REDIS_TYPE_VERSION,
                                   .rdb_load = bf_rdb_load,
                                   .rdb_save = bf_rdb_save,
                                   .aof_rewrite = bf_aof_rewrite,
                                   .mem_usage = memory_usage,
                                   .digest = bf_digest,
                                   .free = bf_free,
                                   .free_effort = memory_free_effort,
                                   .copy = bf_copy };

    bf_type = redis.CreateDataType(ctx, "MBbloom--", BF_ENCODING, &methods);
    return bf_type != NULL;
}

/* ---- The table --------------------------------------------------------- */

static redis_arg RESERVE_ARGS[] = { ARG_KEY,
                                    ARG("error_rate", DOUBLE),
                                    ARG("capacity", INTEGER),
                                    ARG_OPTION("expansion", INTEGER, "EXPANSION"),
                                    ARG_WORD("nonscaling", "NONSCALING"),
                                    ARG_END };
static redis_arg ITEM_ARGS[] = { ARG_KEY, ARG("item", STRING), ARG_END };
static redis_arg ITEMS_ARGS[] = { ARG_KEY, ARG_MANY("item", STRING), ARG_END };
static redis_arg INSERT_ARGS[] = { ARG_KEY,
                                   ARG_OPTION("capacity", INTEGER, "CAPACITY"),
                                   ARG_OPTION("error", DOUBLE, "ERROR"),
                                   ARG_OPTION("expansion", INTEGER, "EXPANSION"),
                                   ARG_WORD("nocreate", "NOCREATE"),
                                   ARG_WORD("nonscaling", "NONSCALING"),
                                   ARG_MANY_AFTER("items", STRING, "ITEMS"),
                                   ARG_END };
static redis_arg INFO_FIELDS[] = { ARG_TOKEN("capacity", "CAPACITY"),   ARG_TOKEN("size", "SIZE"),
                                   ARG_TOKEN("filters", "FILTERS"),     ARG_TOKEN("items", "ITEMS"),
                                   ARG_TOKEN("expansion", "EXPANSION"), ARG_END };
static redis_arg INFO_ARGS[] = { ARG_KEY,
                                 { .name = "single_value",
                                   .type = REDIS_ARG_ONE_OF,
                                   .key_spec = -1,
                                   .flags = REDIS_ARG_OPTIONAL,
                                   .parts = INFO_FIELDS },
                                 ARG_END };
static redis_arg KEY_ARGS[] = { ARG_KEY, ARG_END };
static redis_arg SCANDUMP_ARGS[] = { ARG_KEY, ARG("iterator", INTEGER), ARG_END };
static redis_arg LOADCHUNK_ARGS[] = { ARG_KEY, ARG("iterator", INTEGER), ARG("data", STRING),
                                      ARG_END };

static const command COMMANDS[] = {
    { "bf.reserve", bf_reserve, "write deny-oom", -4, KEY_ADD, "Creates an empty Bloom filter",
      "O(1)", RESERVE_ARGS, NULL },
    { "bf.add", bf_add, "write deny-oom", 3, KEY_ADD,
      "Adds an item to a Bloom filter, which is created if there is none", "O(k)", ITEM_ARGS,
      NULL },
    { "bf.madd", bf_madd, "write deny-oom", -3, KEY_ADD,
      "Adds items to a Bloom filter, which is created if there is none", "O(k * n)", ITEMS_ARGS,
      NULL },
    { "bf.insert", bf_insert, "write deny-oom", -4, KEY_ADD,
      "Adds items to a Bloom filter, which is created as told if there is none", "O(k * n)",
      INSERT_ARGS, NULL },
    { "bf.exists", bf_exists, "readonly fast", 3, KEY_READ, "Is an item in a Bloom filter?", "O(k)",
      ITEM_ARGS, NULL },
    { "bf.mexists", bf_mexists, "readonly fast", -3, KEY_READ, "Which items are in a Bloom filter?",
      "O(k * n)", ITEMS_ARGS, NULL },
    { "bf.card", bf_card, "readonly fast", 2, KEY_READ,
      "The number of items that were new to a Bloom filter", "O(1)", KEY_ARGS, NULL },
    { "bf.info", bf_info, "readonly fast", -2, KEY_READ, "Sizes of a Bloom filter", "O(1)",
      INFO_ARGS, NULL },
    { "bf.scandump", bf_scandump, "readonly fast", 3, KEY_READ, "The next chunk of a Bloom filter",
      "O(n) bytes", SCANDUMP_ARGS, NULL },
    { "bf.loadchunk", bf_loadchunk, "write deny-oom", 4, KEY_ADD,
      "Restores a chunk of a Bloom filter", "O(n) bytes", LOADCHUNK_ARGS, NULL },
    { "bf.debug", bf_debug, "readonly fast", 2, KEY_READ, "Sizes of each part of a Bloom filter",
      "O(n) parts", KEY_ARGS, NULL },
    { .name = NULL },
};

const family bf_family = { .category = "bloom", .commands = COMMANDS, .load = bf_load_type };
