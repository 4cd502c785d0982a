/* topk.c - the TOPK commands: the most frequent items of a stream, with the replies of RedisBloom.
 *
 * Its own data type has another name than RedisBloom's: what is in it is not the same. */
#include "families.h"
#include "key.h"
#include "memory.h"
#include "redis_topk.h"
#include "reply.h"
#include "restore.h"
#include "word.h"

static redis_type *topk_type;

typedef struct topk_sketch {
    memory memory;
    redis_topk topk;
} topk_sketch;

enum { TOPK_WIDTH = 8, TOPK_DEPTH = 7, TOPK_INCREMENT_MAX = 100000 };
static const double TOPK_DECAY = 0.9;

/* ---- Making ------------------------------------------------------------ */

static void topk_free(void *value)
{
    topk_sketch *s = value;

    redis_topk_clear(&s->topk);
    memory_free_value(s, sizeof *s);
}

static topk_sketch *topk_make(uint32_t k, uint32_t width, uint32_t depth, double decay)
{
    topk_sketch *s = memory_new_value(sizeof *s);

    if (s && redis_topk_init(&s->topk, memory_allocator(&s->memory), k, width, depth, decay)) {
        memory_free_value(s, sizeof *s);
        return NULL;
    }
    return s;
}

static bool topk_parse_size(const redis_string *word, uint64_t *n)
{
    return word_to_count(word, n) && *n > 0 && *n <= UINT32_MAX;
}

typedef struct topk_wish {
    uint64_t k, width, depth;
    double decay;
} topk_wish;

static const char *topk_parse(redis_string **argv, int argc, topk_wish *w)
{
    *w = (topk_wish){ .width = TOPK_WIDTH, .depth = TOPK_DEPTH, .decay = TOPK_DECAY };
    if (!topk_parse_size(argv[2], &w->k))
        return "TopK: invalid k";
    if (argc == 6 && !topk_parse_size(argv[3], &w->width))
        return "TopK: invalid width";
    if (argc == 6 && !topk_parse_size(argv[4], &w->depth))
        return "TopK: invalid depth";
    if (argc == 6 &&
        (redis.StringToDouble(argv[5], &w->decay) != REDIS_OK || !(w->decay > 0 && w->decay <= 1)))
        return "TopK: invalid decay value. must be '<= 1' & '> 0'";
    return NULL;
}

static const char *topk_create(key *k, const topk_wish *w)
{
    topk_sketch *s = NULL;

    if (k->holds != KEY_NOTHING)
        return "TopK: key already exists";
    if (redis_topk_has_size(w->k, w->width, w->depth, w->decay))
        s = topk_make((uint32_t)w->k, (uint32_t)w->width, (uint32_t)w->depth, w->decay);
    if (!s)
        return "TopK: insufficient memory";
    key_set(k, topk_type, s);
    return NULL;
}

static int topk_reserve(redis_ctx *ctx, redis_string **argv, int argc)
{
    topk_wish w;
    const char *why;
    key k;

    if (argc != 3 && argc != 6)
        return redis.WrongArity(ctx);
    why = topk_parse(argv, argc, &w);
    if (why)
        return reply_error(ctx, why);
    k = key_write(ctx, argv[1], topk_type);
    why = topk_create(&k, &w);
    if (why)
        reply_error(ctx, why);
    else {
        redis.ReplicateVerbatim(ctx);
        key_changed(&k, "topk.reserve");
        reply_ok(ctx);
    }
    key_close(&k);
    return REDIS_OK;
}

/* ---- Items ------------------------------------------------------------- */

/* The sketch of a command, or NULL after a reply that says why there is none. */
static redis_topk *topk_need(const key *k)
{
    if (k->holds == KEY_OURS)
        return &((topk_sketch *)k->value)->topk;
    reply_error(k->ctx, k->holds == KEY_OTHER ? REPLY_WRONG_TYPE : "TopK: key does not exist");
    return NULL;
}

static const char *topk_check_increments(redis_string **argv, int argc)
{
    uint64_t n;

    for (int i = 1; i < argc; i += 2)
        if (!word_to_count(argv[i], &n) || n > TOPK_INCREMENT_MAX)
            return "TopK: increment must be an integer greater or equal to 0 and smaller or equal "
                   "to 100,000";
    return NULL;
}

static bool topk_add_one(redis_ctx *ctx, redis_topk *t, const redis_string *word, uint64_t n)
{
    redis_topk_item expelled;
    size_t size;
    const char *item = redis.StringPtrLen(word, &size);

    if (redis_topk_add(t, item, size, n, &expelled)) {
        reply_error(ctx, "TopK: insufficient memory");
        return false;
    }
    if (expelled.bytes)
        redis.ReplyWithStringBuffer(ctx, expelled.bytes, expelled.size);
    else
        redis.ReplyWithNull(ctx);
    redis_topk_free_item(t, &expelled);
    return true;
}

/* Items stand every `step` words; their numbers follow them if it is 2. Returns how many words were
 * done: where memory ends, the last reply says so. */
static int topk_add_items(redis_ctx *ctx, redis_topk *t, redis_string **argv, int argc, int step)
{
    int i = 0;

    redis.ReplyWithArray(ctx, REDIS_POSTPONED);
    for (; i < argc; i += step) {
        uint64_t n = 1;

        if (step == 2)
            word_to_count(argv[i + 1], &n);
        if (!topk_add_one(ctx, t, argv[i], n))
            break;
    }
    redis.ReplySetArrayLength(ctx, i / step + (i < argc));
    return i;
}

static void topk_add_to(key *k, redis_topk *t, redis_string **argv, int argc, int step)
{
    int done = topk_add_items(k->ctx, t, argv, argc, step);

    if (done == 0)
        return;
    redis.Replicate(k->ctx, step == 2 ? "TOPK.INCRBY" : "TOPK.ADD", "sv", k->name, argv,
                    (size_t)done);
    key_changed(k, step == 2 ? "topk.incrby" : "topk.add");
}

static int topk_add(redis_ctx *ctx, redis_string **argv, int argc)
{
    redis_topk *t;
    key k;

    if (argc < 3)
        return redis.WrongArity(ctx);
    k = key_write(ctx, argv[1], topk_type);
    t = topk_need(&k);
    if (t)
        topk_add_to(&k, t, argv + 2, argc - 2, 1);
    key_close(&k);
    return REDIS_OK;
}

static int topk_incrby(redis_ctx *ctx, redis_string **argv, int argc)
{
    redis_topk *t;
    const char *why;
    key k;

    if (argc < 4 || argc % 2)
        return redis.WrongArity(ctx);
    k = key_write(ctx, argv[1], topk_type);
    t = topk_need(&k);
    why = t ? topk_check_increments(argv + 2, argc - 2) : NULL;
    if (why)
        reply_error(ctx, why);
    else if (t)
        topk_add_to(&k, t, argv + 2, argc - 2, 2);
    key_close(&k);
    return REDIS_OK;
}

/* What a command replies for each of its items. */
typedef void topk_tell(redis_ctx *ctx, const redis_topk *t, const char *item, size_t size);

static void topk_tell_listed(redis_ctx *ctx, const redis_topk *t, const char *item, size_t size)
{
    reply_bool(ctx, redis_topk_find(t, item, size) != NULL);
}

static void topk_tell_count(redis_ctx *ctx, const redis_topk *t, const char *item, size_t size)
{
    reply_count(ctx, redis_topk_count(t, item, size));
}

static int topk_tell_items(redis_ctx *ctx, redis_string **argv, int argc, topk_tell *tell)
{
    const redis_topk *t;
    key k;

    if (argc < 3)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], topk_type);
    t = topk_need(&k);
    if (t)
        redis.ReplyWithArray(ctx, argc - 2);
    for (int i = 2; t && i < argc; i++) {
        size_t size;
        const char *item = redis.StringPtrLen(argv[i], &size);

        tell(ctx, t, item, size);
    }
    key_close(&k);
    return REDIS_OK;
}

static int topk_query(redis_ctx *ctx, redis_string **argv, int argc)
{
    return topk_tell_items(ctx, argv, argc, topk_tell_listed);
}

static int topk_count(redis_ctx *ctx, redis_string **argv, int argc)
{
    return topk_tell_items(ctx, argv, argc, topk_tell_count);
}

/* ---- What there is ------------------------------------------------------ */

static void topk_reply_list(redis_ctx *ctx, const redis_topk *t, bool with_count)
{
    const redis_topk_item **sorted = redis.TryAlloc(t->n * sizeof *sorted + 1);

    if (!sorted) {
        reply_error(ctx, "TopK: insufficient memory");
        return;
    }
    redis_topk_sort(t, sorted);
    redis.ReplyWithArray(ctx, with_count ? 2 * (long)t->n : (long)t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        redis.ReplyWithStringBuffer(ctx, sorted[i]->bytes, sorted[i]->size);
        if (with_count)
            reply_count(ctx, sorted[i]->count);
    }
    redis.Free(sorted);
}

static int topk_list(redis_ctx *ctx, redis_string **argv, int argc)
{
    const redis_topk *t;
    key k;

    if (argc != 2 && argc != 3)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], topk_type);
    t = topk_need(&k);
    if (t && argc == 3 && !word_is(argv[2], "WITHCOUNT"))
        reply_error(ctx, "WITHCOUNT keyword expected");
    else if (t)
        topk_reply_list(ctx, t, argc == 3);
    key_close(&k);
    return REDIS_OK;
}

static int topk_info(redis_ctx *ctx, redis_string **argv, int argc)
{
    const redis_topk *t;
    key k;

    if (argc != 2)
        return redis.WrongArity(ctx);
    k = key_read(ctx, argv[1], topk_type);
    t = topk_need(&k);
    if (t) {
        redis.ReplyWithMap(ctx, 4);
        reply_entry(ctx, "k", t->k);
        reply_entry(ctx, "width", t->width);
        reply_entry(ctx, "depth", t->depth);
        redis.ReplyWithSimpleString(ctx, "decay");
        redis.ReplyWithDouble(ctx, t->decay);
    }
    key_close(&k);
    return REDIS_OK;
}

/* ---- The data type ------------------------------------------------------ */

static const char TOPK_TYPE[] = "tamisTopK";

enum { TOPK_ENCODING = 0 };

static size_t topk_cells_size(const redis_topk *t)
{
    return (size_t)t->width * t->depth * sizeof *t->cells;
}

static void topk_rdb_save(redis_io *io, void *value)
{
    const redis_topk *t = &((const topk_sketch *)value)->topk;

    redis.SaveUnsigned(io, t->k);
    redis.SaveUnsigned(io, t->width);
    redis.SaveUnsigned(io, t->depth);
    redis.SaveDouble(io, t->decay);
    redis.SaveUnsigned(io, t->state);
    redis.SaveStringBuffer(io, (const char *)t->cells, topk_cells_size(t));
    redis.SaveUnsigned(io, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        redis.SaveUnsigned(io, t->items[i].count);
        redis.SaveStringBuffer(io, t->items[i].bytes, t->items[i].size);
    }
}

static bool topk_load_cells(redis_io *io, redis_topk *t)
{
    size_t size = 0;
    char *cells = redis.LoadStringBuffer(io, &size);
    bool fits = cells && size == topk_cells_size(t);

    if (fits)
        memcpy(t->cells, cells, size);
    if (cells)
        redis.Free(cells);
    return fits;
}

static bool topk_load_items(redis_io *io, redis_topk *t)
{
    uint64_t n = redis.LoadUnsigned(io);
    bool fine = n <= t->k;

    for (uint64_t i = 0; i < n && fine; i++) {
        uint64_t count = redis.LoadUnsigned(io);
        size_t size = 0;
        char *bytes = redis.LoadStringBuffer(io, &size);

        fine = bytes && !redis.IsIOError(io) && !redis_topk_append(t, bytes, size, count);
        if (bytes)
            redis.Free(bytes);
    }
    return fine && redis_topk_is_whole(t);
}

static topk_sketch *topk_load_sketch(redis_io *io)
{
    uint64_t k = redis.LoadUnsigned(io), width = redis.LoadUnsigned(io);
    uint64_t depth = redis.LoadUnsigned(io);
    double decay = redis.LoadDouble(io);
    uint64_t state = redis.LoadUnsigned(io);
    topk_sketch *s = NULL;

    if (!redis.IsIOError(io) && redis_topk_has_size(k, width, depth, decay))
        s = topk_make((uint32_t)k, (uint32_t)width, (uint32_t)depth, decay);
    if (!s)
        return NULL;
    s->topk.state = state;
    if (topk_load_cells(io, &s->topk) && topk_load_items(io, &s->topk))
        return s;
    topk_free(s);
    return NULL;
}

static void *topk_rdb_load(redis_io *io, int encoding)
{
    topk_sketch *s = NULL;

    memory_begin(NULL);
    if (encoding == TOPK_ENCODING)
        s = topk_load_sketch(io);
    if (!s)
        redis.LogIOError(io, "warning", "a top-k list is damaged, or there is no memory for it");
    return s;
}

/* No command writes cells: the sketch is restored whole. */
static void topk_aof_rewrite(redis_io *io, redis_string *name, void *value)
{
    restore_emit(io, name, topk_type, TOPK_TYPE, TOPK_ENCODING, value);
}

static void topk_digest(redis_digest *digest, void *value)
{
    const redis_topk *t = &((const topk_sketch *)value)->topk;

    redis.DigestAddLongLong(digest, t->k);
    redis.DigestAddLongLong(digest, (long long)t->state);
    redis.DigestAddStringBuffer(digest, (const char *)&t->decay, sizeof t->decay);
    redis.DigestAddStringBuffer(digest, (const char *)t->cells, topk_cells_size(t));
    for (uint32_t i = 0; i < t->n; i++) {
        redis.DigestAddStringBuffer(digest, t->items[i].bytes, t->items[i].size);
        redis.DigestAddLongLong(digest, (long long)t->items[i].count);
    }
    redis.DigestEndSequence(digest);
}

static size_t topk_free_effort(redis_string *name, const void *value)
{
    return memory_free_effort(name, value) + ((const topk_sketch *)value)->topk.n;
}

static void *topk_copy(redis_string *from, redis_string *to, const void *value)
{
    const redis_topk *t = &((const topk_sketch *)value)->topk;
    topk_sketch *s;

    (void)from;
    (void)to;
    memory_begin(NULL);
    s = topk_make(t->k, t->width, t->depth, t->decay);
    if (!s)
        return NULL;
    s->topk.state = t->state;
    memcpy(s->topk.cells, t->cells, topk_cells_size(t));
    for (uint32_t i = 0; i < t->n; i++)
        if (redis_topk_append(&s->topk, t->items[i].bytes, t->items[i].size, t->items[i].count)) {
            topk_free(s);
            return NULL;
        }
    return s;
}

static bool topk_load_type(redis_ctx *ctx)
{
    redis_type_methods methods = { .version = REDIS_TYPE_VERSION,
                                   .rdb_load = topk_rdb_load,
                                   .rdb_save = topk_rdb_save,
                                   .aof_rewrite = topk_aof_rewrite,
                                   .mem_usage = memory_usage,
                                   .digest = topk_digest,
                                   .free = topk_free,
                                   .free_effort = topk_free_effort,
                                   .copy = topk_copy };

    topk_type = redis.CreateDataType(ctx, TOPK_TYPE, TOPK_ENCODING, &methods);
    return topk_type != NULL;
}

/* ---- The table --------------------------------------------------------- */

static redis_arg SHAPE_ARGS[] = { ARG("width", INTEGER), ARG("depth", INTEGER),
                                  ARG("decay", DOUBLE), ARG_END };
static redis_arg RESERVE_ARGS[] = { ARG_KEY,
                                    ARG("topk", INTEGER),
                                    { .name = "params",
                                      .type = REDIS_ARG_BLOCK,
                                      .key_spec = -1,
                                      .flags = REDIS_ARG_OPTIONAL,
                                      .parts = SHAPE_ARGS },
                                    ARG_END };
static redis_arg ITEMS_ARGS[] = { ARG_KEY, ARG_MANY("items", STRING), ARG_END };
static redis_arg PAIR_ARGS[] = { ARG("item", STRING), ARG("increment", INTEGER), ARG_END };
static redis_arg INCRBY_ARGS[] = { ARG_KEY,
                                   { .name = "items",
                                     .type = REDIS_ARG_BLOCK,
                                     .key_spec = -1,
                                     .flags = REDIS_ARG_MULTIPLE,
                                     .parts = PAIR_ARGS },
                                   ARG_END };
static redis_arg LIST_ARGS[] = { ARG_KEY, ARG_WORD("withcount", "WITHCOUNT"), ARG_END };
static redis_arg KEY_ARGS[] = { ARG_KEY, ARG_END };

static const command COMMANDS[] = {
    { "topk.reserve", topk_reserve, "write deny-oom", -3, KEY_ADD,
      "Creates an empty list of the k most frequent items", "O(n) cells", RESERVE_ARGS, NULL },
    { "topk.add", topk_add, "write deny-oom", -3, KEY_CHANGE,
      "Counts items, and tells which left the list", "O(n * k) items", ITEMS_ARGS, NULL },
    { "topk.incrby", topk_incrby, "write deny-oom", -4, KEY_CHANGE,
      "Counts items several times, and tells which left the list", "O(n * k) items", INCRBY_ARGS,
      NULL },
    { "topk.query", topk_query, "readonly", -3, KEY_READ, "Which items are in the list?",
      "O(n * k) items", ITEMS_ARGS, NULL },
    { "topk.count", topk_count, "readonly", -3, KEY_READ, "About how often did items come?",
      "O(n * k) items", ITEMS_ARGS, NULL },
    { "topk.list", topk_list, "readonly", -2, KEY_READ, "The most frequent items, in order",
      "O(k log k)", LIST_ARGS, NULL },
    { "topk.info", topk_info, "readonly", 2, KEY_READ, "Sizes of a list", "O(1)", KEY_ARGS, NULL },
    { .name = NULL },
};

const family topk_family = { .category = "topk", .commands = COMMANDS, .load = topk_load_type };
