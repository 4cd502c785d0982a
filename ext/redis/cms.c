/* cms.c - the CMS commands: count-min sketches, compatible with RedisBloom. */
#include "families.h"
#include "key.h"
#include "memory.h"
#include "redis_cms.h"
#include "reply.h"
#include "restore.h"
#include "word.h"

static redis_type *cms_type;

typedef struct cms_sketch {
    memory memory;
    redis_cms cms;
} cms_sketch;

static const char CMS_MISSING[] = "CMS: key does not exist";

/* ---- Making ------------------------------------------------------------ */

static void cms_free(void *value)
{
    cms_sketch *s = value;

    redis_cms_clear(&s->cms);
    memory_free_value(s, sizeof *s);
}

/* NULL: there is no memory for it. */
static cms_sketch *cms_make(uint64_t width, uint64_t depth)
{
    cms_sketch *s = memory_new_value(sizeof *s);

    if (s && redis_cms_init(&s->cms, memory_allocator(&s->memory), width, depth)) {
        memory_free_value(s, sizeof *s);
        return NULL;
    }
    return s;
}

/* What replicas are told has no rounding in it. */
static void cms_create(key *k, uint64_t width, uint64_t depth)
{
    cms_sketch *s;

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

    if (argc != 4)
        return redis.WrongArity(ctx);
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

    if (argc != 4)
        return redis.WrongArity(ctx);
    if (!cms_is_share(argv[2], &error))
        return reply_error(ctx, "CMS: invalid overestimation value");
    if (!cms_is_share(argv[3], &probability))
        return reply_error(ctx, "CMS: invalid prob value");
    redis_cms_plan(error, probability, &width, &depth);
    return cms_init(ctx, argv[1], width, depth);
}

/* ---- Items ------------------------------------------------------------- */

/* The sketch of a command, or NULL after a reply that says why there is none. */
static redis_cms *cms_need(const key *k)
{
    if (k->holds == KEY_OURS)
        return &((cms_sketch *)k->value)->cms;
    reply_error(k->ctx, k->holds == KEY_OTHER ? REPLY_WRONG_TYPE : CMS_MISSING);
    return NULL;
}

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

static int cms_incrby(redis_ctx *ctx, redis_string **argv, int argc)
{
    redis_cms *s;
    const char *why;
    key k;

    if (argc < 4 || argc % 2)
        return redis.WrongArity(ctx);
    k = key_write(ctx, argv[1], cms_type);
    s = cms_need(&k);
    why = s ? cms_check_numbers(argv + 2, argc - 2) : NULL;
    if (why)
        reply_error(ctx, why);
    else if (s) {
        cms_add_items(ctx, s, argv + 2, argc - 2);
        redis.ReplicateVerbatim(ctx);
        key_changed(&k, "cms.incrby");
    }
    key_close(&k);
    return REDIS_OK;
}

static void cms_reply_estimates(redis_ctx *ctx, const redis_cms *s, redis_string **argv, int argc)
{
    redis_cms_item items[REDIS_CMS_BATCH];
    uint32_t estimates[REDIS_CMS_BATCH];

    redis.ReplyWithArray(ctx, argc);
    for (size_t n; argc > 0; argv += n, argc -= (int)n) {
        n = cms_take(items, argv, argc, 1);
        redis_cms_ask(s, items, n, estimates);
        for (size_t i = 0; i < n; i++)
            reply_count(ctx, estimates[i]);
    }
}

static int cms_query(redis_ctx *ctx, redis_string **argv, int argc)
{
    const redis_cms *s;
    key k;

    if (argc < 3)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], cms_type);
    s = cms_need(&k);
    if (s)
        cms_reply_estimates(ctx, s, argv + 2, argc - 2);
    key_close(&k);
    return REDIS_OK;
}

static int cms_info(redis_ctx *ctx, redis_string **argv, int argc)
{
    const redis_cms *s;
    key k;

    if (argc != 2)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], cms_type);
    s = cms_need(&k);
    if (s) {
        redis.ReplyWithMap(ctx, 3);
        reply_entry(ctx, "width", s->width);
        reply_entry(ctx, "depth", s->depth);
        reply_entry(ctx, "count", s->count);
    }
    key_close(&k);
    return REDIS_OK;
}

/* ---- CMS.MERGE --------------------------------------------------------- */

/* CMS.MERGE dest n src... [WEIGHTS w...] */
static const char *cms_check_merge(redis_string **argv, int argc, size_t *n)
{
    long long keys, weight;

    if (redis.StringToLongLong(argv[2], &keys) != REDIS_OK)
        return "CMS: invalid numkeys";
    if (keys <= 0)
        return "CMS: Number of keys must be positive";
    if (keys > argc - 3)
        return "CMS: wrong number of keys";
    *n = (size_t)keys;
    argv += 3 + *n;
    argc -= 3 + (int)*n;
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
        const cms_sketch *s = k.value;

        if (k.holds != KEY_OURS)
            return k.holds == KEY_OTHER ? REPLY_WRONG_TYPE : CMS_MISSING;
        if (s->cms.width != to->width || s->cms.depth != to->depth)
            return "CMS: width/depth is not equal";
        m->from[i] = &s->cms;
        m->weights[i] = 1;
        if (weighted)
            redis.StringToLongLong(names[m->n + 1 + i], &m->weights[i]);
    }
    return NULL;
}

static void cms_merge_into(key *k, redis_cms *to, redis_string **names, size_t n, bool weighted)
{
    cms_merge m;
    const char *why = "CMS: Insufficient memory";

    if (cms_merge_begin(&m, n))
        why = cms_merge_open(&m, k->ctx, to, names, weighted);
    if (!why && !redis_cms_merge(to, m.from, m.weights, n))
        why = "CMS: MERGE overflow";
    cms_merge_end(&m);
    if (why) {
        reply_error(k->ctx, why);
        return;
    }
    redis.ReplicateVerbatim(k->ctx);
    key_changed(k, "cms.merge");
    reply_ok(k->ctx);
}

static redis_key_spec MERGE_KEYS[] = {
    { .flags = REDIS_KEY_RW | REDIS_KEY_UPDATE,
      .search = REDIS_SEARCH_INDEX,
      .begin.index.at = 1,
      .find = REDIS_FIND_ONE },
    { .flags = KEY_READ,
      .search = REDIS_SEARCH_INDEX,
      .begin.index.at = 2,
      .find = REDIS_FIND_NUMBER,
      .keys.number = { 0, 1, 1 } },
    { .search = REDIS_SEARCH_END },
};

static int cms_merge_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    redis_cms *to;
    const char *why;
    size_t n;
    key k;

    if (command_reports_keys(ctx, MERGE_KEYS, argv, argc))
        return REDIS_OK;
    if (argc < 4)
        return redis.WrongArity(ctx);
    why = cms_check_merge(argv, argc, &n);
    if (why)
        return reply_error(ctx, why);
    k = key_write(ctx, argv[1], cms_type);
    to = cms_need(&k);
    if (to)
        cms_merge_into(&k, to, argv + 3, n, (size_t)argc > 3 + n);
    key_close(&k);
    return REDIS_OK;
}

/* ---- The data type ------------------------------------------------------ */

static const char CMS_TYPE[] = "CMSk-TYPE";

enum { CMS_ENCODING = 0 };

static void cms_rdb_save(redis_io *io, void *value)
{
    const redis_cms *s = &((const cms_sketch *)value)->cms;

    redis.SaveUnsigned(io, s->width);
    redis.SaveUnsigned(io, s->depth);
    redis.SaveUnsigned(io, s->count);
    redis.SaveStringBuffer(io, (const char *)s->cells, redis_cms_bytes(s));
}

static cms_sketch *cms_load_sketch(redis_io *io)
{
    uint64_t width = redis.LoadUnsigned(io), depth = redis.LoadUnsigned(io);
    uint64_t count = redis.LoadUnsigned(io);
    cms_sketch *s = NULL;
    size_t size = 0;
    char *cells = redis.LoadStringBuffer(io, &size);

    if (cells && !redis.IsIOError(io) && redis_cms_has_size(width, depth) && count <= INT64_MAX &&
        size == width * depth * sizeof(uint32_t))
        s = cms_make(width, depth);
    if (s) {
        memcpy(s->cms.cells, cells, size);
        s->cms.count = count;
    }
    if (cells)
        redis.Free(cells);
    return s;
}

static void *cms_rdb_load(redis_io *io, int encoding)
{
    cms_sketch *s = NULL;

    memory_begin(NULL);
    if (encoding == CMS_ENCODING)
        s = cms_load_sketch(io);
    if (!s)
        redis.LogIOError(io, "warning",
                         "a count-min sketch is damaged, or there is no memory for it");
    return s;
}

/* No command writes cells: the sketch is restored whole. */
static void cms_aof_rewrite(redis_io *io, redis_string *name, void *value)
{
    restore_emit(io, name, cms_type, CMS_TYPE, CMS_ENCODING, value);
}

static void cms_digest(redis_digest *digest, void *value)
{
    const redis_cms *s = &((const cms_sketch *)value)->cms;

    redis.DigestAddLongLong(digest, (long long)s->width);
    redis.DigestAddLongLong(digest, (long long)s->depth);
    redis.DigestAddLongLong(digest, (long long)s->count);
    redis.DigestAddStringBuffer(digest, (const char *)s->cells, redis_cms_bytes(s));
    redis.DigestEndSequence(digest);
}

static void *cms_copy(redis_string *from, redis_string *to, const void *value)
{
    const redis_cms *s = &((const cms_sketch *)value)->cms;
    cms_sketch *made;

    (void)from;
    (void)to;
    memory_begin(NULL);
    made = cms_make(s->width, s->depth);
    if (made) {
        memcpy(made->cms.cells, s->cells, redis_cms_bytes(s));
        made->cms.count = s->count;
    }
    return made;
}

static bool cms_load_type(redis_ctx *ctx)
{
    redis_type_methods methods = { .version = REDIS_TYPE_VERSION,
                                   .rdb_load = cms_rdb_load,
                                   .rdb_save = cms_rdb_save,
                                   .aof_rewrite = cms_aof_rewrite,
                                   .mem_usage = memory_usage,
                                   .digest = cms_digest,
                                   .free = cms_free,
                                   .free_effort = memory_free_effort,
                                   .copy = cms_copy };

    cms_type = redis.CreateDataType(ctx, CMS_TYPE, CMS_ENCODING, &methods);
    return cms_type != NULL;
}

/* ---- The table --------------------------------------------------------- */

static redis_arg BYDIM_ARGS[] = { ARG_KEY, ARG("width", INTEGER), ARG("depth", INTEGER), ARG_END };
static redis_arg BYPROB_ARGS[] = { ARG_KEY, ARG("error", DOUBLE), ARG("probability", DOUBLE),
                                   ARG_END };
static redis_arg PAIR_ARGS[] = { ARG("item", STRING), ARG("increment", INTEGER), ARG_END };
static redis_arg INCRBY_ARGS[] = { ARG_KEY,
                                   { .name = "items",
                                     .type = REDIS_ARG_BLOCK,
                                     .key_spec = -1,
                                     .flags = REDIS_ARG_MULTIPLE,
                                     .parts = PAIR_ARGS },
                                   ARG_END };
static redis_arg QUERY_ARGS[] = { ARG_KEY, ARG_MANY("item", STRING), ARG_END };
static redis_arg INFO_ARGS[] = { ARG_KEY, ARG_END };
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
      INCRBY_ARGS, NULL },
    { "cms.query", cms_query, "readonly", -3, KEY_READ, "How often did items come?", "O(n) items",
      QUERY_ARGS, NULL },
    { "cms.merge", cms_merge_command, "write deny-oom", -4, KEY_CHANGE,
      "Overwrites a sketch with the weighted sum of others", "O(n) cells of all sketches",
      MERGE_ARGS, MERGE_KEYS },
    { "cms.info", cms_info, "readonly", 2, KEY_READ, "Sizes of a count-min sketch", "O(1)",
      INFO_ARGS, NULL },
    { .name = NULL },
};

const family cms_family = { .category = "cms", .commands = COMMANDS, .load = cms_load_type };
