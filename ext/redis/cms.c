/* cms.c - the CMS commands: count-min sketches, compatible with RedisBloom. */
#include "families.h"
#include "key.h"
#include "redis_cms.h"
#include "reply.h"
#include "restore.h"
#include "word_parse.h"

static redis_type *cms_type;

static const value_type CMS_VALUE;

static const char CMS_MISSING[] = "CMS: key does not exist";

/* ---- Making ------------------------------------------------------------ */

/* NULL: there is no memory for it. */
static redis_cms *cms_make(uint64_t width, uint64_t depth)
{
    redis_cms *s = value_new(&CMS_VALUE);

    if (s && redis_cms_init(s, value_allocator(s), width, depth)) {
        value_drop(s);
        return NULL;
    }
    return s;
}

/* What replicas are told has no rounding in it. */
static void cms_create(key *k, uint64_t width, uint64_t depth)
{
    redis_cms *s;

    if (k->holds != KEY_NOTHING)
        reply_error(k->ctx, "CMS: key already exists");
    else if (!redis_cms_has_size(width, depth))
        reply_error(k->ctx, "CMS: invalid init arguments");
    else if (!(s = cms_make(width, depth)))
        reply_error(k->ctx, "CMS: Insufficient memory to create the key");
    else {
        key_set(k, cms_type, s);
        redis.Replicate(k->ctx, "CMS.INITBYDIM", "sll", k->name, (long long)width,
                        (long long)depth);
        key_changed(k, "cms.init");
        reply_ok(k->ctx);
    }
}

static int cms_init(redis_ctx *ctx, redis_string *name, uint64_t width, uint64_t depth)
{
    key k = key_write(ctx, name, cms_type);

    cms_create(&k, width, depth);
    key_close(&k);
    return REDIS_OK;
}

static int cms_initbydim(redis_ctx *ctx, redis_string **argv, int argc)
{
    uint64_t width, depth;

    (void)argc;
    if (!word_to_count(argv[2], &width) || !width)
        return reply_error(ctx, "CMS: invalid width");
    if (!word_to_count(argv[3], &depth) || !depth)
        return reply_error(ctx, "CMS: invalid depth");
    return cms_init(ctx, argv[1], width, depth);
}

static bool cms_is_share(const redis_string *word, double *share)
{
    return redis.StringToDouble(word, share) == REDIS_OK && *share > 0 && *share < 1;
}

static int cms_initbyprob(redis_ctx *ctx, redis_string **argv, int argc)
{
    double error, probability;
    uint64_t width, depth;

    (void)argc;
    if (!cms_is_share(argv[2], &error))
        return reply_error(ctx, "CMS: invalid overestimation value");
    if (!cms_is_share(argv[3], &probability))
        return reply_error(ctx, "CMS: invalid prob value");
    redis_cms_plan(error, probability, &width, &depth);
    return cms_init(ctx, argv[1], width, depth);
}

/* ---- Items ------------------------------------------------------------- */

/* Items stand every `step` words, up to a batch of them; their numbers follow them if it is 2. */
static size_t cms_take(redis_cms_item *items, redis_string **argv, int argc, int step)
{
    size_t n = 0;

    for (int i = 0; i < argc && n < REDIS_CMS_BATCH; i += step) {
        redis_cms_item *item = &items[n++];

        item->bytes = redis.StringPtrLen(argv[i], &item->size);
        if (step == 2)
            word_to_count(argv[i + 1], &item->n);
    }
    return n;
}

static const char *cms_check_numbers(redis_string **argv, int argc)
{
    long long n;

    for (int i = 1; i < argc; i += 2) {
        if (redis.StringToLongLong(argv[i], &n) != REDIS_OK)
            return "CMS: Cannot parse number";
        if (n < 0)
            return "CMS: Number cannot be negative";
    }
    return NULL;
}

static void cms_add_items(redis_ctx *ctx, redis_cms *s, redis_string **argv, int argc)
{
    redis_cms_item items[REDIS_CMS_BATCH];
    uint32_t estimates[REDIS_CMS_BATCH];

    redis.ReplyWithArray(ctx, argc / 2);
    for (size_t n; argc > 0; argv += 2 * n, argc -= (int)(2 * n)) {
        n = cms_take(items, argv, argc, 2);
        redis_cms_add(s, items, n, estimates);
        for (size_t i = 0; i < n; i++)
            if (estimates[i] == UINT32_MAX)
                reply_error(ctx, "CMS: INCRBY overflow");
            else
                reply_count(ctx, estimates[i]);
    }
}

static void cms_add_pairs(key *k, redis_string **argv, int argc)
{
    const char *why = cms_check_numbers(argv + 2, argc - 2);

    if (why) {
        reply_error(k->ctx, why);
        return;
    }
    cms_add_items(k->ctx, k->value, argv + 2, argc - 2);
    redis.ReplicateVerbatim(k->ctx);
    key_changed(k, "cms.incrby");
}

static int cms_incrby(redis_ctx *ctx, redis_string **argv, int argc)
{
    return argc % 2 ? redis.WrongArity(ctx)
                    : key_run(ctx, argv, argc, &CMS_VALUE, OPEN_WRITE, cms_add_pairs);
}

static void cms_reply_estimates(key *k, redis_string **argv, int argc)
{
    redis_cms_item items[REDIS_CMS_BATCH];
    uint32_t estimates[REDIS_CMS_BATCH];

    argv += 2;
    argc -= 2;
    redis.ReplyWithArray(k->ctx, argc);
    for (size_t n; argc > 0; argv += n, argc -= (int)n) {
        n = cms_take(items, argv, argc, 1);
        redis_cms_ask(k->value, items, n, estimates);
        for (size_t i = 0; i < n; i++)
            reply_count(k->ctx, estimates[i]);
    }
}

static int cms_query(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &CMS_VALUE, OPEN_READ, cms_reply_estimates);
}

static void cms_reply_info(key *k, redis_string **argv, int argc)
{
    const redis_cms *s = k->value;

    (void)argv;
    (void)argc;
    redis.ReplyWithMap(k->ctx, 3);
    reply_entry(k->ctx, "width", s->width);
    reply_entry(k->ctx, "depth", s->depth);
    reply_entry(k->ctx, "count", s->count);
}

static int cms_info(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &CMS_VALUE, OPEN_READ, cms_reply_info);
}

/* ---- CMS.MERGE --------------------------------------------------------- */

/* CMS.MERGE dest n src... [WEIGHTS w...] */
static const char *cms_check_merge(redis_string **argv, int argc)
{
    long long keys, weight;

    if (redis.StringToLongLong(argv[2], &keys) != REDIS_OK)
        return "CMS: invalid numkeys";
    if (keys <= 0)
        return "CMS: Number of keys must be positive";
    if (keys > argc - 3)
        return "CMS: wrong number of keys";
    argv += 3 + keys;
    argc -= 3 + (int)keys;
    if (argc > 0 && !word_is(argv[0], "WEIGHTS"))
        return "CMS: wrong number of keys";
    if (argc > 0 && argc - 1 != keys)
        return "CMS: wrong number of keys/weights";
    for (int i = 1; i < argc; i++)
        if (redis.StringToLongLong(argv[i], &weight) != REDIS_OK)
            return "CMS: invalid weight value";
    return NULL;
}

/* Sources of a merge; each stays open until all are read. */
typedef struct cms_merge {
    size_t n, opened;
    key *keys;
    const redis_cms **from;
    long long *weights;
} cms_merge;

static bool cms_merge_begin(cms_merge *m, size_t n)
{
    *m = (cms_merge){ .n = n };
    m->keys = redis.TryAlloc(n * sizeof *m->keys);
    m->from = redis.TryAlloc(n * sizeof *m->from);
    m->weights = redis.TryAlloc(n * sizeof *m->weights);
    return m->keys && m->from && m->weights;
}

static void cms_merge_end(cms_merge *m)
{
    while (m->opened > 0)
        key_close(&m->keys[--m->opened]);
    redis.Free(m->keys);
    redis.Free(m->from);
    redis.Free(m->weights);
}

/* Why not, or NULL. */
static const char *cms_merge_open(cms_merge *m, redis_ctx *ctx, const redis_cms *to,
                                  redis_string **names, bool weighted)
{
    for (size_t i = 0; i < m->n; i++) {
        key k = m->keys[m->opened++] = key_read(ctx, names[i], cms_type);
        const redis_cms *s = k.value;

        if (k.holds != KEY_OURS)
            return k.holds == KEY_OTHER ? REPLY_WRONG_TYPE : CMS_MISSING;
        if (s->width != to->width || s->depth != to->depth)
            return "CMS: width/depth is not equal";
        m->from[i] = s;
        m->weights[i] = 1;
        if (weighted)
            redis.StringToLongLong(names[m->n + 1 + i], &m->weights[i]);
    }
    return NULL;
}

static void cms_merge_into(key *k, redis_string **names, size_t n, bool weighted)
{
    cms_merge m;
    const char *why = "CMS: Insufficient memory";

    if (cms_merge_begin(&m, n))
        why = cms_merge_open(&m, k->ctx, k->value, names, weighted);
    if (!why && !redis_cms_merge(k->value, m.from, m.weights, n))
        why = "CMS: MERGE overflow";
    cms_merge_end(&m);
    key_end(k, why, "cms.merge");
}

static void cms_merge_sources(key *k, redis_string **argv, int argc)
{
    uint64_t n = 0;

    word_to_count(argv[2], &n);
    cms_merge_into(k, argv + 3, (size_t)n, (uint64_t)argc > 3 + n);
}

static redis_key_spec MERGE_KEYS[] = { KEY_AT(1, REDIS_KEY_RW | REDIS_KEY_UPDATE),
                                       KEYS_COUNTED_AT(2, KEY_READ), KEYS_END };

static int cms_merge_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    const char *why;

    if (command_reports_keys(ctx, MERGE_KEYS, argv, argc))
        return REDIS_OK;
    why = cms_check_merge(argv, argc);
    return why ? reply_error(ctx, why)
               : key_run(ctx, argv, argc, &CMS_VALUE, OPEN_WRITE, cms_merge_sources);
}

/* ---- The data type ------------------------------------------------------ */

enum { CMS_ENCODING = 0 };

static void cms_save_value(redis_io *io, void *value)
{
    const redis_cms *s = value;

    redis.SaveUnsigned(io, s->width);
    redis.SaveUnsigned(io, s->depth);
    redis.SaveUnsigned(io, s->count);
    redis.SaveStringBuffer(io, (const char *)s->cells, redis_cms_bytes(s));
}

static bool cms_load_value(redis_io *io, int encoding, void *v)
{
    redis_cms *s = v;
    uint64_t width = redis.LoadUnsigned(io), depth = redis.LoadUnsigned(io);
    uint64_t count = redis.LoadUnsigned(io);
    size_t size = 0;
    char *cells = redis.LoadStringBuffer(io, &size);
    bool fine = cells && !redis.IsIOError(io) && redis_cms_has_size(width, depth) &&
                count <= INT64_MAX && size == width * depth * sizeof(uint32_t) &&
                !redis_cms_init(s, value_allocator(v), width, depth);

    (void)encoding;
    if (fine) {
        memcpy(s->cells, cells, size);
        s->count = count;
    }
    if (cells)
        redis.Free(cells);
    return fine;
}

static void *cms_rdb_load(redis_io *io, int encoding)
{
    return value_load(io, encoding, &CMS_VALUE);
}

/* No command writes cells: a rewritten file restores it whole. */
static void cms_rewrite(redis_io *io, redis_string *name, void *v)
{
    restore_emit(io, name, v);
}

static void cms_digest(redis_digest *digest, void *value)
{
    const redis_cms *s = value;

    redis.DigestAddLongLong(digest, (long long)s->width);
    redis.DigestAddLongLong(digest, (long long)s->depth);
    redis.DigestAddLongLong(digest, (long long)s->count);
    redis.DigestAddStringBuffer(digest, (const char *)s->cells, redis_cms_bytes(s));
    redis.DigestEndSequence(digest);
}

static tamis_status cms_copy(void *v, const void *from)
{
    const redis_cms *s = from;
    redis_cms *made = v;
    tamis_status status = redis_cms_init(made, value_allocator(v), s->width, s->depth);

    if (status)
        return status;
    memcpy(made->cells, s->cells, redis_cms_bytes(s));
    made->count = s->count;
    return TAMIS_OK;
}

static void cms_clear(void *v)
{
    redis_cms_clear(v);
}

static const value_type CMS_VALUE = VALUE_TYPE(cms, "CMSk-TYPE", CMS_ENCODING, sizeof(redis_cms),
                                               "a count-min sketch", CMS_MISSING, NULL);

/* ---- The table --------------------------------------------------------- */

static redis_arg BYDIM_ARGS[] = { ARG_KEY, ARG("width", INTEGER), ARG("depth", INTEGER), ARG_END };
static redis_arg BYPROB_ARGS[] = { ARG_KEY, ARG("error", DOUBLE), ARG("probability", DOUBLE),
                                   ARG_END };
static redis_arg MERGE_ARGS[] = {
    { .name = "destination", .type = REDIS_ARG_KEY },
    ARG("numKeys", INTEGER),
    { .name = "source", .type = REDIS_ARG_KEY, .key_spec = 1, .flags = REDIS_ARG_MULTIPLE },
    { .name = "weight",
      .type = REDIS_ARG_INTEGER,
      .key_spec = -1,
      .token = "WEIGHTS",
      .flags = REDIS_ARG_OPTIONAL | REDIS_ARG_MULTIPLE },
    ARG_END
};

static const command COMMANDS[] = {
    { "cms.initbydim", cms_initbydim, "write deny-oom", 4, KEY_ADD,
      "Creates a count-min sketch of so many cells and rows", "O(n) cells", BYDIM_ARGS, NULL },
    { "cms.initbyprob", cms_initbyprob, "write deny-oom", 4, KEY_ADD,
      "Creates a count-min sketch with this error and probability of more", "O(n) cells",
      BYPROB_ARGS, NULL },
    { "cms.incrby", cms_incrby, "write deny-oom", -4, KEY_CHANGE, "Counts items", "O(n) items",
      args_pairs, NULL },
    { "cms.query", cms_query, "readonly", -3, KEY_READ, "How often did items come?", "O(n) items",
      args_items, NULL },
    { "cms.merge", cms_merge_command, "write deny-oom", -4, KEY_CHANGE,
      "Overwrites a sketch with the weighted sum of others", "O(n) cells of all sketches",
      MERGE_ARGS, MERGE_KEYS },
    { "cms.info", cms_info, "readonly", 2, KEY_READ, "Sizes of a count-min sketch", "O(1)",
      args_key, NULL },
    { .name = NULL },
};

const family cms_family = {
    .category = "cms", .commands = COMMANDS, .type = &CMS_VALUE, .load = cms_rdb_load
};
