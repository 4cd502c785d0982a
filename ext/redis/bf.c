/* bf.c - the BF commands: scalable Bloom filters, compatible with RedisBloom. */
#include <inttypes.h>
#include <stdio.h>

#include "dump.h"
#include "families.h"
#include "key.h"
#include "redis_bloom.h"
#include "reply.h"
#include "settings.h"
#include "value.h"
#include "word_parse.h"

static redis_type *bf_type;

static const value_type BF_VALUE;

/* NULL: the key holds nothing, or something else. */
static redis_bloom *bf_of(const key *k)
{
    return k->holds == KEY_OURS ? k->value : NULL;
}

/* ---- Making ------------------------------------------------------------ */

typedef struct bf_options {
    double error;
    uint64_t capacity, expansion;
    bool fixed;
} bf_options;

static bf_options bf_default(void)
{
    return (bf_options){ .error = settings.bf_error_rate,
                         .capacity = settings.bf_initial_size,
                         .expansion = settings.bf_expansion_factor };
}

static tamis_status bf_make(redis_bloom **out, const bf_options *o)
{
    redis_bloom *f = value_new(&BF_VALUE);
    tamis_status status;

    if (!f)
        return TAMIS_NOMEM;
    status = redis_bloom_init(f, value_allocator(f), o->error, o->capacity, (uint32_t)o->expansion,
                              o->fixed);
    if (status)
        value_drop(f);
    else
        *out = f;
    return status;
}

/* Replaces nothing: the key is empty. */
static bool bf_create(key *k, const bf_options *o)
{
    redis_bloom *f;
    tamis_status status = bf_make(&f, o);

    if (status) {
        reply_error(k->ctx, status == TAMIS_NOMEM ? "ERR Insufficient memory to create filter"
                                                  : "ERR could not create filter");
        return false;
    }
    key_set(k, bf_type, f);
    return true;
}

/* What replicas are told: what was done here, with no setting of theirs in it. */
static void bf_replicate(key *k, const bf_options *created, redis_string **items, int n)
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

typedef struct bf_limits {
    const char *not_a_number, *out_of_range;
    long long least, most;
} bf_limits;

static const bf_limits BF_CAPACITY = { "ERR bad capacity",
                                       "ERR capacity must be in the range [1, 1073741824]", 1,
                                       1 << 30 };
static const bf_limits BF_EXPANSION = { "ERR bad expansion",
                                        "ERR expansion must be in the range [0, 32768]", 0, 32768 };

static const char *bf_parse_number(const redis_string *word, const bf_limits *limits, uint64_t *to)
{
    long long n;

    if (redis.StringToLongLong(word, &n) != REDIS_OK)
        return limits->not_a_number;
    if (n < limits->least || n > limits->most)
        return limits->out_of_range;
    *to = (uint64_t)n;
    return NULL;
}

/* The words after the capacity. */
static const char *bf_parse_words(redis_string **argv, int argc, bf_options *o)
{
    const char *why = NULL;
    bool expands = false;

    for (int i = 0; i < argc && !why; i++)
        if (word_is(argv[i], "NONSCALING"))
            o->fixed = true;
        else if (!word_is(argv[i], "EXPANSION"))
            why = "Unknown argument received";
        else if (++i == argc)
            why = "ERR no expansion";
        else {
            why = bf_parse_number(argv[i], &BF_EXPANSION, &o->expansion);
            expands = o->expansion > 0;
        }
    if (!why && o->fixed && expands)
        return "Nonscaling filters cannot expand";
    return why;
}

static const char *bf_parse(redis_string **argv, int argc, bf_options *o)
{
    const char *why = bf_parse_rate(argv[2], &o->error);

    if (!why)
        why = bf_parse_number(argv[3], &BF_CAPACITY, &o->capacity);
    return why ? why : bf_parse_words(argv + 4, argc - 4, o);
}

static void bf_reserve_at(key *k, redis_string **argv, int argc)
{
    bf_options o = bf_default();
    const char *why = bf_parse(argv, argc, &o);

    if (!why)
        why = key_refuse_new(k);
    if (why) {
        reply_error(k->ctx, why);
    } else if (bf_create(k, &o)) {
        bf_replicate(k, &o, NULL, 0);
        key_changed(k, "bf.reserve");
        reply_ok(k->ctx);
    }
}

static int bf_reserve(redis_ctx *ctx, redis_string **argv, int argc)
{
    if (argc > 7)
        return redis.WrongArity(ctx);
    return key_run(ctx, argv, argc, &BF_VALUE, OPEN_ANY, bf_reserve_at);
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

static void bf_reply_found(key *k, redis_string **items, int n)
{
    const redis_bloom *b = bf_of(k);
    redis_bloom_hash hashes[REDIS_BLOOM_BATCH];
    bool found[REDIS_BLOOM_BATCH] = { false };

    while (n > 0) {
        size_t batch = n < REDIS_BLOOM_BATCH ? (size_t)n : REDIS_BLOOM_BATCH;

        if (b) {
            bf_hash(b, hashes, items, n);
            redis_bloom_has_many(b, found, hashes, batch);
        }
        for (size_t i = 0; i < batch; i++)
            reply_bool(k->ctx, found[i]);
        items += batch;
        n -= (int)batch;
    }
}

/* Of a key that is no filter, lookups find nothing: scripts rely on it. */
static void bf_reply_one_found(key *k, redis_string **argv, int argc)
{
    bf_reply_found(k, argv + 2, argc - 2);
}

static int bf_exists(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &BF_VALUE, OPEN_NOTHING | OPEN_OTHER, bf_reply_one_found);
}

static void bf_reply_all_found(key *k, redis_string **argv, int argc)
{
    redis.ReplyWithArray(k->ctx, argc - 2);
    bf_reply_found(k, argv + 2, argc - 2);
}

static int bf_mexists(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &BF_VALUE, OPEN_NOTHING | OPEN_OTHER, bf_reply_all_found);
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

static void bf_add_to(key *k, const bf_options *created, redis_string **items, int n, bool is_array)
{
    redis_bloom *f = k->value;
    uint64_t before = f->size;
    int in;

    if (is_array)
        redis.ReplyWithArray(k->ctx, REDIS_POSTPONED);
    in = bf_add_items(k->ctx, f, items, n);
    if (is_array)
        redis.ReplySetArrayLength(k->ctx, in < n ? in + 1 : n);
    if (created || in < n)
        bf_replicate(k, created, items, in);
    else
        redis.ReplicateVerbatim(k->ctx);
    if (created || f->size > before)
        key_changed(k, "bf.add");
}

/* Makes a filter if there is none. */
static void bf_add_or_create(key *k, const bf_options *o, redis_string **items, int n,
                             bool is_array)
{
    bool is_new = k->holds == KEY_NOTHING;

    if (!is_new || bf_create(k, o))
        bf_add_to(k, is_new ? o : NULL, items, n, is_array);
}

static void bf_add_one(key *k, redis_string **argv, int argc)
{
    bf_options o = bf_default();

    bf_add_or_create(k, &o, argv + 2, argc - 2, false);
}

static void bf_add_all(key *k, redis_string **argv, int argc)
{
    bf_options o = bf_default();

    bf_add_or_create(k, &o, argv + 2, argc - 2, true);
}

static int bf_add(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &BF_VALUE, OPEN_WRITE | OPEN_NOTHING, bf_add_one);
}

static int bf_madd(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &BF_VALUE, OPEN_WRITE | OPEN_NOTHING, bf_add_all);
}

/* ---- BF.INSERT --------------------------------------------------------- */

typedef struct bf_insert_words {
    bf_options options;
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
        return w->options.fixed = true;
    if (word_is(argv[0], "CAPACITY"))
        *why = value && bf_parse_number(value, &BF_CAPACITY, &w->options.capacity) ? "Bad capacity"
                                                                                   : NULL;
    else if (word_is(argv[0], "ERROR"))
        *why = value && bf_parse_rate(value, &w->options.error) ? "Bad error rate" : NULL;
    else if (word_is(argv[0], "EXPANSION"))
        *why = value && bf_parse_number(value, &BF_EXPANSION, &w->options.expansion)
                   ? "Bad expansion"
                   : NULL;
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
    bf_insert_words w = { .options = bf_default() };
    const char *why;
    key k;

    if (!bf_insert_parse(ctx, argv, argc, &w))
        return REDIS_OK;
    k = key_write(ctx, argv[1], bf_type);
    why = key_refuse_add(&k, w.must_exist);
    if (why)
        reply_error(ctx, why);
    else
        bf_add_or_create(&k, &w.options, argv + w.items, argc - w.items, true);
    key_close(&k);
    return REDIS_OK;
}

/* ---- What there is ------------------------------------------------------ */

static void bf_reply_card(key *k, redis_string **argv, int argc)
{
    const redis_bloom *b = bf_of(k);

    (void)argv;
    (void)argc;
    reply_count(k->ctx, b ? b->size : 0);
}

static int bf_card(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &BF_VALUE, OPEN_NOTHING, bf_reply_card);
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

static void bf_reply_info(key *k, redis_string **argv, int argc)
{
    bf_field fields[BF_FIELDS];

    bf_fields(bf_of(k), fields);
    if (argc == 3)
        bf_reply_one(k->ctx, fields, argv[2]);
    else
        bf_reply_all(k->ctx, fields);
}

static int bf_info(redis_ctx *ctx, redis_string **argv, int argc)
{
    if (argc > 3)
        return redis.WrongArity(ctx);
    return key_run(ctx, argv, argc, &BF_VALUE, OPEN_READ, bf_reply_info);
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

static void bf_reply_debug(key *k, redis_string **argv, int argc)
{
    const redis_bloom *b = bf_of(k);
    char text[32];

    (void)argv;
    (void)argc;
    redis.ReplyWithArray(k->ctx, (long)b->n + 1);
    snprintf(text, sizeof text, "size:%" PRIu64, b->size);
    redis.ReplyWithCString(k->ctx, text);
    for (uint32_t i = 0; i < b->n; i++)
        bf_reply_link(k->ctx, b, &b->links[i]);
}

static int bf_debug(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &BF_VALUE, OPEN_READ, bf_reply_debug);
}

/* ---- Dumps ------------------------------------------------------------- */

static size_t bf_write_header(const void *v, unsigned char *header)
{
    const redis_bloom *b = v;

    redis_bloom_write_header(b, header);
    return redis_bloom_header_size(b);
}

static unsigned char *bf_array(const void *v, uint64_t offset, size_t *size)
{
    return redis_bloom_array(v, offset, size);
}

static const dump_type BF_DUMP = { "BF.LOADCHUNK", REDIS_BLOOM_HEADER_MAX, bf_write_header,
                                   bf_array };

static void bf_reply_header(redis_ctx *ctx, const void *v)
{
    unsigned char header[REDIS_BLOOM_HEADER_MAX];
    size_t size = bf_write_header(v, header);

    redis.ReplyWithArray(ctx, 2);
    reply_count(ctx, 1);
    redis.ReplyWithStringBuffer(ctx, (const char *)header, size);
}

static void bf_reply_piece(redis_ctx *ctx, const void *v, uint64_t offset)
{
    size_t size = 0;
    const char *bytes = dump_piece(&BF_DUMP, v, offset, &size);

    redis.ReplyWithArray(ctx, 2);
    reply_count(ctx, bytes ? offset + size + 1 : 0);
    redis.ReplyWithStringBuffer(ctx, bytes ? bytes : "", bytes ? size : 0);
}

static void bf_reply_dump(key *k, redis_string **argv, int argc)
{
    long long at;

    (void)argc;
    if (redis.StringToLongLong(argv[2], &at) != REDIS_OK)
        reply_error(k->ctx, "Second argument must be numeric");
    else if (at == 0)
        bf_reply_header(k->ctx, k->value);
    else
        bf_reply_piece(k->ctx, k->value, at > 0 ? (uint64_t)at - 1 : UINT64_MAX);
}

static int bf_scandump(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &BF_VALUE, OPEN_READ, bf_reply_dump);
}

/* Why a header makes no filter, or NULL. */
static const char *bf_load_header(key *k, const char *bytes, size_t size)
{
    redis_bloom *f = value_new(&BF_VALUE);
    tamis_status status = TAMIS_NOMEM;

    if (f)
        status = redis_bloom_read_header(f, value_allocator(f), (const unsigned char *)bytes, size);
    if (!status) {
        key_set(k, bf_type, f);
        return NULL;
    }
    if (f)
        value_drop(f);
    return status == TAMIS_NOMEM ? "ERR Insufficient memory to create filter"
                                 : "ERR received bad data";
}

static const char *bf_load_piece(const void *v, long long at, const char *bytes, size_t size)
{
    switch (dump_take(&BF_DUMP, v, at > 0 ? (uint64_t)at - 1 : 0, bytes, size)) {
    case DUMP_NOWHERE:
        return "ERR invalid offset - no link found";
    case DUMP_TOO_LARGE:
        return "ERR invalid chunk - Too big for current filter";
    default:
        return NULL;
    }
}

static const char *bf_load(key *k, long long at, const redis_string *data)
{
    size_t size;
    const char *bytes = redis.StringPtrLen(data, &size);

    if (k->holds == KEY_OTHER)
        return REPLY_WRONG_TYPE;
    if (k->holds == KEY_OURS)
        return bf_load_piece(k->value, at, bytes, size);
    return at == 1 ? bf_load_header(k, bytes, size) : REPLY_NOT_FOUND;
}

static void bf_take_piece(key *k, redis_string **argv, int argc)
{
    const char *why = "ERR Second argument must be numeric";
    long long at;

    (void)argc;
    if (redis.StringToLongLong(argv[2], &at) == REDIS_OK)
        why = bf_load(k, at, argv[3]);
    key_end(k, why, "bf.loadchunk");
}

static int bf_loadchunk(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &BF_VALUE, OPEN_ANY, bf_take_piece);
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

static void bf_save_value(redis_io *io, void *value)
{
    const redis_bloom *b = value;

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

static bool bf_load_value(redis_io *io, int encoding, void *v)
{
    redis_bloom *b = v;
    uint64_t size = redis.LoadUnsigned(io), n = redis.LoadUnsigned(io);
    uint64_t options = encoding >= 2 ? bf_load_below(io, UINT32_MAX) : 0;
    uint64_t growth = encoding >= 4 ? bf_load_below(io, UINT32_MAX) : 2;

    redis_bloom_begin(b, value_allocator(v), (uint32_t)options, (uint32_t)growth);
    if (bf_load_links(io, encoding, b, n) && redis_bloom_is_whole(b, size))
        return true;
    redis_bloom_clear(b);
    return false;
}

static void *bf_rdb_load(redis_io *io, int encoding)
{
    return value_load(io, encoding, &BF_VALUE);
}

static void bf_rewrite(redis_io *io, redis_string *name, void *v)
{
    dump_rewrite(&BF_DUMP, io, name, v);
}

static void bf_digest(redis_digest *digest, void *v)
{
    dump_digest(&BF_DUMP, digest, v);
}

static tamis_status bf_copy(void *v, const void *from)
{
    return redis_bloom_copy(v, value_allocator(v), from);
}

static void bf_clear(void *v)
{
    redis_bloom_clear(v);
}

static const value_type BF_VALUE = VALUE_TYPE(bf, "MBbloom--", BF_ENCODING, sizeof(redis_bloom),
                                              "a Bloom filter", REPLY_NOT_FOUND, NULL);

/* ---- The table --------------------------------------------------------- */

static redis_arg RESERVE_ARGS[] = { ARG_KEY,
                                    ARG("error_rate", DOUBLE),
                                    ARG("capacity", INTEGER),
                                    ARG_OPTION("expansion", INTEGER, "EXPANSION"),
                                    ARG_WORD("nonscaling", "NONSCALING"),
                                    ARG_END };
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
                                 ARG_OF("single_value", ONE_OF, REDIS_ARG_OPTIONAL, INFO_FIELDS),
                                 ARG_END };

static const command COMMANDS[] = {
    { "bf.reserve", bf_reserve, "write deny-oom", -4, KEY_ADD, "Creates an empty Bloom filter",
      "O(1)", RESERVE_ARGS, NULL },
    { "bf.add", bf_add, "write deny-oom", 3, KEY_ADD,
      "Adds an item to a Bloom filter, which is created if there is none", "O(k)", args_item,
      NULL },
    { "bf.madd", bf_madd, "write deny-oom", -3, KEY_ADD,
      "Adds items to a Bloom filter, which is created if there is none", "O(k * n)", args_items,
      NULL },
    { "bf.insert", bf_insert, "write deny-oom", -4, KEY_ADD,
      "Adds items to a Bloom filter, which is created as told if there is none", "O(k * n)",
      INSERT_ARGS, NULL },
    { "bf.exists", bf_exists, "readonly fast", 3, KEY_READ, "Is an item in a Bloom filter?", "O(k)",
      args_item, NULL },
    { "bf.mexists", bf_mexists, "readonly fast", -3, KEY_READ, "Which items are in a Bloom filter?",
      "O(k * n)", args_items, NULL },
    { "bf.card", bf_card, "readonly fast", 2, KEY_READ,
      "The number of items that were new to a Bloom filter", "O(1)", args_key, NULL },
    { "bf.info", bf_info, "readonly fast", -2, KEY_READ, "Sizes of a Bloom filter", "O(1)",
      INFO_ARGS, NULL },
    { "bf.scandump", bf_scandump, "readonly fast", 3, KEY_READ, "The next chunk of a Bloom filter",
      "O(n) bytes", args_scandump, NULL },
    { "bf.loadchunk", bf_loadchunk, "write deny-oom", 4, KEY_ADD,
      "Restores a chunk of a Bloom filter", "O(n) bytes", args_loadchunk, NULL },
    { "bf.debug", bf_debug, "readonly fast", 2, KEY_READ, "Sizes of each part of a Bloom filter",
      "O(n) parts", args_key, NULL },
    { .name = NULL },
};

const family bf_family = {
    .category = "bloom", .commands = COMMANDS, .type = &BF_VALUE, .load = bf_rdb_load
};
