/* topk.c - the TOPK commands: the most frequent items of a stream, with the replies of RedisBloom.
 *
 * Its own data type has another name than RedisBloom's: what is in it is not the same. */
#include "families.h"
#include "key.h"
#include "redis_topk.h"
#include "reply.h"
#include "restore.h"
#include "word_parse.h"

static redis_type *topk_type;

static const value_type TOPK_VALUE;

enum { TOPK_WIDTH = 8, TOPK_DEPTH = 7, TOPK_INCREMENT_MAX = 100000 };
static const double TOPK_DECAY = 0.9;

/* ---- Making ------------------------------------------------------------ */

typedef struct topk_options {
    uint64_t k, width, depth;
    double decay;
} topk_options;

static redis_topk *topk_make(const topk_options *o)
{
    redis_topk *s = value_new(&TOPK_VALUE);

    if (s && redis_topk_init(s, value_allocator(s), (uint32_t)o->k, (uint32_t)o->width,
                             (uint32_t)o->depth, o->decay)) {
        value_drop(s);
        return NULL;
    }
    return s;
}

static bool topk_parse_size(const redis_string *word, uint64_t *n)
{
    return word_to_count(word, n) && *n > 0 && *n <= UINT32_MAX;
}

static const char *topk_parse(redis_string **argv, int argc, topk_options *w)
{
    *w = (topk_options){ .width = TOPK_WIDTH, .depth = TOPK_DEPTH, .decay = TOPK_DECAY };
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

static const char *topk_create(key *k, const topk_options *w)
{
    redis_topk *s = NULL;

    if (k->holds != KEY_NOTHING)
        return "TopK: key already exists";
    if (redis_topk_has_size(w->k, w->width, w->depth, w->decay))
        s = topk_make(w);
    if (!s)
        return "TopK: insufficient memory";
    key_set(k, topk_type, s);
    return NULL;
}

static int topk_reserve(redis_ctx *ctx, redis_string **argv, int argc)
{
    topk_options w;
    const char *why;
    key k;

    if (argc != 3 && argc != 6)
        return redis.WrongArity(ctx);
    why = topk_parse(argv, argc, &w);
    if (why)
        return reply_error(ctx, why);
    k = key_write(ctx, argv[1], topk_type);
    why = topk_create(&k, &w);
    key_end(&k, why, "topk.reserve");
    key_close(&k);
    return REDIS_OK;
}

/* ---- Items ------------------------------------------------------------- */

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

static void topk_add_to(key *k, redis_string **argv, int argc, int step)
{
    int done = topk_add_items(k->ctx, k->value, argv, argc, step);

    if (done == 0)
        return;
    redis.Replicate(k->ctx, step == 2 ? "TOPK.INCRBY" : "TOPK.ADD", "sv", k->name, argv,
                    (size_t)done);
    key_changed(k, step == 2 ? "topk.incrby" : "topk.add");
}

static void topk_add_once(key *k, redis_string **argv, int argc)
{
    topk_add_to(k, argv + 2, argc - 2, 1);
}

static void topk_add_pairs(key *k, redis_string **argv, int argc)
{
    const char *why = topk_check_increments(argv + 2, argc - 2);

    if (why)
        reply_error(k->ctx, why);
    else
        topk_add_to(k, argv + 2, argc - 2, 2);
}

static int topk_add(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &TOPK_VALUE, OPEN_WRITE, topk_add_once);
}

static int topk_incrby(redis_ctx *ctx, redis_string **argv, int argc)
{
    return argc % 2 ? redis.WrongArity(ctx)
                    : key_run(ctx, argv, argc, &TOPK_VALUE, OPEN_WRITE, topk_add_pairs);
}

static void topk_reply_listed(key *k, redis_string **argv, int argc)
{
    redis.ReplyWithArray(k->ctx, argc - 2);
    for (int i = 2; i < argc; i++) {
        size_t size;
        const char *item = redis.StringPtrLen(argv[i], &size);

        reply_bool(k->ctx, redis_topk_find(k->value, item, size) != NULL);
    }
}

static int topk_query(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &TOPK_VALUE, OPEN_READ, topk_reply_listed);
}

static void topk_reply_counts(key *k, redis_string **argv, int argc)
{
    redis.ReplyWithArray(k->ctx, argc - 2);
    for (int i = 2; i < argc; i++) {
        size_t size;
        const char *item = redis.StringPtrLen(argv[i], &size);

        reply_count(k->ctx, redis_topk_count(k->value, item, size));
    }
}

static int topk_count(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &TOPK_VALUE, OPEN_READ, topk_reply_counts);
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

static void topk_reply_sorted(key *k, redis_string **argv, int argc)
{
    if (argc == 3 && !word_is(argv[2], "WITHCOUNT"))
        reply_error(k->ctx, "WITHCOUNT keyword expected");
    else
        topk_reply_list(k->ctx, k->value, argc == 3);
}

static int topk_list(redis_ctx *ctx, redis_string **argv, int argc)
{
    return argc > 3 ? redis.WrongArity(ctx)
                    : key_run(ctx, argv, argc, &TOPK_VALUE, OPEN_READ, topk_reply_sorted);
}

static void topk_reply_info(key *k, redis_string **argv, int argc)
{
    const redis_topk *t = k->value;

    (void)argv;
    (void)argc;
    redis.ReplyWithMap(k->ctx, 4);
    reply_entry(k->ctx, "k", t->k);
    reply_entry(k->ctx, "width", t->width);
    reply_entry(k->ctx, "depth", t->depth);
    redis.ReplyWithSimpleString(k->ctx, "decay");
    redis.ReplyWithDouble(k->ctx, t->decay);
}

static int topk_info(redis_ctx *ctx, redis_string **argv, int argc)
{
    return key_run(ctx, argv, argc, &TOPK_VALUE, OPEN_READ, topk_reply_info);
}

/* ---- The data type ------------------------------------------------------ */

enum { TOPK_ENCODING = 0 };

static size_t topk_cells_size(const redis_topk *t)
{
    return (size_t)t->width * t->depth * sizeof *t->cells;
}

static void topk_save_value(redis_io *io, void *value)
{
    const redis_topk *t = value;

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

static bool topk_load_value(redis_io *io, int encoding, void *v)
{
    redis_topk *t = v;
    uint64_t k = redis.LoadUnsigned(io), width = redis.LoadUnsigned(io);
    uint64_t depth = redis.LoadUnsigned(io);
    double decay = redis.LoadDouble(io);
    uint64_t state = redis.LoadUnsigned(io);

    (void)encoding;
    if (redis.IsIOError(io) || !redis_topk_has_size(k, width, depth, decay) ||
        redis_topk_init(t, value_allocator(v), (uint32_t)k, (uint32_t)width, (uint32_t)depth,
                        decay))
        return false;
    t->state = state;
    if (topk_load_cells(io, t) && topk_load_items(io, t))
        return true;
    redis_topk_clear(t);
    return false;
}

static void *topk_rdb_load(redis_io *io, int encoding)
{
    return value_load(io, encoding, &TOPK_VALUE);
}

/* No command writes cells: a rewritten file restores it whole. */
static void topk_rewrite(redis_io *io, redis_string *name, void *v)
{
    restore_emit(io, name, v);
}

static void topk_digest(redis_digest *digest, void *value)
{
    const redis_topk *t = value;

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
    return value_free_effort(name, value) + ((const redis_topk *)value)->n;
}

static tamis_status topk_copy(void *v, const void *from)
{
    const redis_topk *t = from;
    redis_topk *made = v;
    tamis_status status =
        redis_topk_init(made, value_allocator(v), t->k, t->width, t->depth, t->decay);

    if (status)
        return status;
    made->state = t->state;
    memcpy(made->cells, t->cells, topk_cells_size(t));
    for (uint32_t i = 0; i < t->n && !status; i++)
        status = redis_topk_append(made, t->items[i].bytes, t->items[i].size, t->items[i].count);
    if (status)
        redis_topk_clear(made);
    return status;
}

static void topk_clear(void *v)
{
    redis_topk_clear(v);
}

static const value_type TOPK_VALUE =
    VALUE_TYPE(topk, "tamisTopK", TOPK_ENCODING, sizeof(redis_topk), "a top-k list",
               "TopK: key does not exist", topk_free_effort);

/* ---- The table --------------------------------------------------------- */

static redis_arg SHAPE_ARGS[] = { ARG("width", INTEGER), ARG("depth", INTEGER),
                                  ARG("decay", DOUBLE), ARG_END };
static redis_arg RESERVE_ARGS[] = { ARG_KEY, ARG("topk", INTEGER),
                                    ARG_OF("params", BLOCK, REDIS_ARG_OPTIONAL, SHAPE_ARGS),
                                    ARG_END };
static redis_arg LIST_ARGS[] = { ARG_KEY, ARG_WORD("withcount", "WITHCOUNT"), ARG_END };

static const command COMMANDS[] = {
    { "topk.reserve", topk_reserve, "write deny-oom", -3, KEY_ADD,
      "Creates an empty list of the k most frequent items", "O(n) cells", RESERVE_ARGS, NULL },
    { "topk.add", topk_add, "write deny-oom", -3, KEY_CHANGE,
      "Counts items, and tells which left the list", "O(n * k) items", args_items, NULL },
    { "topk.incrby", topk_incrby, "write deny-oom", -4, KEY_CHANGE,
      "Counts items several times, and tells which left the list", "O(n * k) items", args_pairs,
      NULL },
    { "topk.query", topk_query, "readonly", -3, KEY_READ, "Which items are in the list?",
      "O(n * k) items", args_items, NULL },
    { "topk.count", topk_count, "readonly", -3, KEY_READ, "About how often did items come?",
      "O(n * k) items", args_items, NULL },
    { "topk.list", topk_list, "readonly", -2, KEY_READ, "The most frequent items, in order",
      "O(k log k)", LIST_ARGS, NULL },
    { "topk.info", topk_info, "readonly", 2, KEY_READ, "Sizes of a list", "O(1)", args_key, NULL },
    { .name = NULL },
};

const family topk_family = {
    .category = "topk", .commands = COMMANDS, .type = &TOPK_VALUE, .load = topk_rdb_load
};
