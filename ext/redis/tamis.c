/* tamis.c - the TAMIS commands: filters of every kind of the library. */
#include <math.h>
#include <stdio.h>

#include "build.h"
#include "families.h"
#include "filter_value.h"
#include "job.h"
#include "load.h"
#include "merge.h"
#include "reply.h"
#include "reserve.h"
#include "tamis_adapt.h"
#include "tamis_values.h"
#include "word_parse.h"

/* Items that are hashed before the first is looked for; half of what a byte counts. */
enum { ITEMS_BATCH = 128 };

/* Some of the items of a command. */
typedef struct items {
    uint64_t keys[ITEMS_BATCH];
    size_t n;
} items;

/* The next ones; where they are integers, that was checked before. */
static void items_take(items *some, const tamis_hasher *hasher, redis_string **words, size_t n)
{
    some->n = n < ITEMS_BATCH ? n : ITEMS_BATCH;
    for (size_t i = 0; i < some->n; i++)
        (void)filter_key(hasher, &some->keys[i], words[i]);
}

static const tamis_hasher *items_hasher(const filter *f)
{
    return &tamis_plan_of(f->tamis)->hasher;
}

/* Whether all have a key; replies if not. */
static bool items_check(redis_ctx *ctx, const filter *f, redis_string **words, size_t n)
{
    uint64_t ignored;

    for (size_t i = 0; i < n && items_hasher(f)->hash == TAMIS_RAW; i++)
        if (!filter_key(items_hasher(f), &ignored, words[i])) {
            reply_error(ctx, "ERR this filter takes integers only");
            return false;
        }
    return true;
}

/* Whether the filter has an ability; replies if not. One that queries others for its keys could add
 * the first items of a command, and not the next. */
static bool items_can(redis_ctx *ctx, const filter *f, unsigned ability)
{
    unsigned can = filter_can(f);

    if (!(can & ability))
        filter_reply_status(ctx, TAMIS_CANNOT);
    else if (can & TAMIS_CAN_ASK_KEYS && ability & (TAMIS_CAN_ADD | TAMIS_CAN_ADAPT) &&
             !memory_must_obey())
        reply_error(ctx, "ERR the keys of this filter are elsewhere: it can be queried here, not "
                         "added to");
    else
        return true;
    return false;
}

/* ---- Commands that change items ------------------------------------------- */

/* What a command does with some items: replies to each until one fails. *done tells how many were
 * replied to. */
typedef tamis_status items_work(redis_ctx *ctx, tamis *f, const items *some, size_t *done);

typedef struct manner {
    const char *event;
    unsigned ability;
    items_work *work;
} manner;

static size_t items_work_all(redis_ctx *ctx, filter *f, redis_string **words, size_t n,
                             const manner *how, tamis_status *status)
{
    size_t done = 0, some_done = 0;
    items some;

    for (*status = TAMIS_OK; done < n && !*status; done += some_done) {
        items_take(&some, items_hasher(f), words + done, n - done);
        *status = how->work(ctx, f->tamis, &some, &some_done);
    }
    return done;
}

/* Replicas do the same calls, fail where this server failed, and are equal byte by byte. Only what
 * memory was refused for may succeed there: they are told what became of the filter instead. */
static void items_replicate(key *k, const filter *f, tamis_status status, size_t done)
{
    if (status != TAMIS_NOMEM)
        redis.ReplicateVerbatim(k->ctx);
    else if (done > 0)
        filter_replicate(k, f);
}

/* Replies to what was done before a failure, then says why it ended. A server does not answer its
 * primary with an error for what failed there. */
static void items_change(key *k, filter *f, redis_string **words, size_t n, const manner *how,
                         bool is_array)
{
    tamis_status status;
    size_t done;

    if (is_array)
        redis.ReplyWithArray(k->ctx, REDIS_POSTPONED);
    done = items_work_all(k->ctx, f, words, n, how, &status);
    if (status && status != TAMIS_NOMEM && memory_must_obey())
        redis.ReplyWithNull(k->ctx);
    else if (status)
        filter_reply_status(k->ctx, status);
    if (is_array)
        redis.ReplySetArrayLength(k->ctx, (long)(status ? done + 1 : done));
    items_replicate(k, f, status, done);
    if (done > 0)
        key_changed(k, how->event);
}

static int items_command(redis_ctx *ctx, redis_string **argv, int argc, const manner *how,
                         bool is_array)
{
    size_t n = (size_t)argc - 2;
    key k = key_write(ctx, argv[1], filter_type);
    filter *f = filter_to_change(&k);

    if (f && items_can(ctx, f, how->ability) && items_check(ctx, f, argv + 2, n))
        items_change(&k, f, argv + 2, n, how, is_array);
    key_close(&k);
    return REDIS_OK;
}

/* ---- Adding ------------------------------------------------------------ */

static bool items_hit(const uint64_t *hits, size_t i)
{
    return hits[i / 64] >> i % 64 & 1;
}

/* Marks items that came earlier in the same batch. The table has twice the room for them. */
static void items_mark_repeats(const items *some, uint64_t *hits)
{
    uint8_t table[2 * ITEMS_BATCH] = { 0 }; /* one more than an item; 0: free */

    for (size_t i = 0; i < some->n; i++) {
        uint64_t at = some->keys[i] * UINT64_C(0x9e3779b97f4a7c15) >> 56;

        if (items_hit(hits, i))
            continue;
        while (table[at] && some->keys[table[at] - 1] != some->keys[i])
            at = (at + 1) % (2 * ITEMS_BATCH);
        if (table[at])
            hits[i / 64] |= UINT64_C(1) << i % 64;
        else
            table[at] = (uint8_t)(i + 1);
    }
}

static tamis_status items_add(redis_ctx *ctx, tamis *f, const items *some, size_t *done)
{
    uint64_t hits[ITEMS_BATCH / 64];
    tamis_status status;

    tamis_has_many(f, hits, some->keys, some->n);
    items_mark_repeats(some, hits);
    status = tamis_add_many(f, done, some->keys, some->n);
    for (size_t i = 0; i < *done; i++)
        reply_bool(ctx, !items_hit(hits, i));
    return status;
}

static const manner ADDING = { "tamis.add", TAMIS_CAN_ADD, items_add };

static int tamis_add_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    return items_command(ctx, argv, argc, &ADDING, false);
}

static int tamis_madd_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    return items_command(ctx, argv, argc, &ADDING, true);
}

/* ---- Removing and adapting ------------------------------------------------ */

/* What is not found is not removed: it could only be another item. */
static tamis_status items_remove(redis_ctx *ctx, tamis *f, const items *some, size_t *done)
{
    uint64_t hits[ITEMS_BATCH / 64];

    tamis_has_many(f, hits, some->keys, some->n);
    for (*done = 0; *done < some->n; ++*done) {
        tamis_status status =
            items_hit(hits, *done) ? tamis_remove(f, some->keys[*done]) : TAMIS_ABSENT;

        if (status && status != TAMIS_ABSENT)
            return status;
        reply_bool(ctx, status == TAMIS_OK);
    }
    return TAMIS_OK;
}

static int tamis_remove_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    static const manner how = { "tamis.remove", TAMIS_CAN_REMOVE, items_remove };

    return items_command(ctx, argv, argc, &how, true);
}

/* 1: it is taken back. 0: it was not found. -1: the filter holds it. */
static tamis_status items_adapt(redis_ctx *ctx, tamis *f, const items *some, size_t *done)
{
    uint64_t hits[ITEMS_BATCH / 64];

    tamis_has_many(f, hits, some->keys, some->n);
    for (*done = 0; *done < some->n; ++*done) {
        tamis_status status = tamis_adapt(f, some->keys[*done]);

        if (status && status != TAMIS_PRESENT)
            return status;
        redis.ReplyWithLongLong(ctx, status ? -1 : items_hit(hits, *done));
    }
    return TAMIS_OK;
}

static int tamis_adapt_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    static const manner how = { "tamis.adapt", TAMIS_CAN_ADAPT, items_adapt };

    return items_command(ctx, argv, argc, &how, true);
}

/* ---- Asking ------------------------------------------------------------ */

/* Replies for some items; f is NULL for a key that is not there. */
typedef void items_tell(redis_ctx *ctx, const tamis *f, const items *some);

static int items_ask(redis_ctx *ctx, redis_string **argv, int argc, bool is_array, unsigned ability,
                     items_tell *tell)
{
    size_t n = (size_t)argc - 2;
    bool replied;
    key k = key_read(ctx, argv[1], filter_type);
    filter *f = filter_maybe(&k, &replied);
    items some;

    if (!replied &&
        (!f || ((!ability || items_can(ctx, f, ability)) && items_check(ctx, f, argv + 2, n)))) {
        if (is_array)
            redis.ReplyWithArray(ctx, (long)n);
        for (size_t at = 0; at < n; at += some.n) {
            some.n = n - at < ITEMS_BATCH ? n - at : ITEMS_BATCH;
            if (f)
                items_take(&some, items_hasher(f), argv + 2 + at, n - at);
            tell(ctx, f ? f->tamis : NULL, &some);
        }
    }
    key_close(&k);
    return REDIS_OK;
}

static void items_tell_found(redis_ctx *ctx, const tamis *f, const items *some)
{
    uint64_t hits[ITEMS_BATCH / 64] = { 0 };

    if (f)
        tamis_has_many(f, hits, some->keys, some->n);
    for (size_t i = 0; i < some->n; i++)
        reply_bool(ctx, items_hit(hits, i));
}

static void items_tell_counts(redis_ctx *ctx, const tamis *f, const items *some)
{
    uint64_t counts[ITEMS_BATCH] = { 0 };

    if (f)
        tamis_count_many(f, counts, some->keys, some->n);
    for (size_t i = 0; i < some->n; i++)
        reply_count(ctx, counts[i]);
}

static int tamis_exists_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    return items_ask(ctx, argv, argc, false, 0, items_tell_found);
}

static int tamis_mexists_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    return items_ask(ctx, argv, argc, true, 0, items_tell_found);
}

static int tamis_count_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    return items_ask(ctx, argv, argc, true, TAMIS_CAN_COUNT, items_tell_counts);
}

/* Integers of the protocol have a sign: larger values are text. */
static void items_tell_value(redis_ctx *ctx, uint64_t value)
{
    char text[24];

    if (value <= INT64_MAX) {
        reply_count(ctx, value);
        return;
    }
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    redis.ReplyWithCString(ctx, text);
}

/* The value of each, or nothing. */
static void items_tell_values(redis_ctx *ctx, const tamis *f, const items *some)
{
    uint64_t values[ITEMS_BATCH], hits[ITEMS_BATCH / 64] = { 0 };

    if (f)
        tamis_get_many(f, values, hits, some->keys, some->n);
    for (size_t i = 0; i < some->n; i++)
        if (items_hit(hits, i))
            items_tell_value(ctx, values[i]);
        else
            redis.ReplyWithNull(ctx);
}

static int tamis_get_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    return items_ask(ctx, argv, argc, true, TAMIS_CAN_GET, items_tell_values);
}

/* ---- Keys with values ---------------------------------------------------- */

/* All items and values are checked before the first goes in. */
static bool pairs_check(redis_ctx *ctx, const filter *f, redis_string **words, size_t n)
{
    uint64_t value;

    for (size_t i = 0; i < n; i++) {
        if (!items_check(ctx, f, words + 2 * i, 1))
            return false;
        if (!word_to_number(words[2 * i + 1], &value)) {
            reply_error(ctx, "ERR a value is no integer from 0 on");
            return false;
        }
    }
    return true;
}

static tamis_status pairs_put(filter *f, redis_string **words, size_t n, size_t *done)
{
    tamis_status status = TAMIS_OK;
    uint64_t item = 0, value = 0;

    for (*done = 0; *done < n && !status; *done += !status) {
        (void)filter_key(items_hasher(f), &item, words[2 * *done]);
        (void)word_to_number(words[2 * *done + 1], &value);
        status = tamis_put(f->tamis, item, value);
    }
    return status;
}

/* Replies how many pairs went in, or why not all did; those before it stay. */
static int tamis_put_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    size_t n = ((size_t)argc - 2) / 2, done;
    tamis_status status;
    filter *f;
    key k;

    if (argc % 2)
        return redis.WrongArity(ctx);
    k = key_write(ctx, argv[1], filter_type);
    f = filter_to_change(&k);
    if (f && items_can(ctx, f, TAMIS_CAN_PUT) && pairs_check(ctx, f, argv + 2, n)) {
        status = pairs_put(f, argv + 2, n, &done);
        if (status)
            filter_reply_status(ctx, status);
        else
            reply_count(ctx, done);
        items_replicate(&k, f, status, done);
        if (done > 0)
            key_changed(&k, "tamis.put");
    }
    key_close(&k);
    return REDIS_OK;
}

/* ---- Forgetting -------------------------------------------------------- */

/* By hand, or because a primary says so: then it says how often, and at what time. */
static int tamis_turn_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    uint64_t turns = 1, at = (uint64_t)redis.Milliseconds();
    tamis_status status;
    filter *f;
    key k;

    if (argc != 2 && argc != 4)
        return redis.WrongArity(ctx);
    if (argc == 4 && (!word_to_count(argv[2], &turns) || !word_to_count(argv[3], &at)))
        return reply_error(ctx, "ERR bad number or time of turns");
    k = key_write(ctx, argv[1], filter_type);
    f = filter_to_change(&k);
    if (f && items_can(ctx, f, TAMIS_CAN_ROTATE)) {
        status = filter_turn(f, turns, at);
        if (status)
            filter_reply_status(ctx, status);
        else {
            redis.Replicate(ctx, "TAMIS.TURN", "sll", k.name, (long long)turns, (long long)at);
            key_changed(&k, "tamis.turn");
            reply_ok(ctx);
        }
    }
    key_close(&k);
    return REDIS_OK;
}

/* ---- What there is ------------------------------------------------------ */

static int tamis_card_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    tamis_info info = { .size = sizeof info };
    bool replied;
    key k = key_read(ctx, argv[1], filter_type);
    const filter *f = filter_maybe(&k, &replied);

    (void)argc;
    if (f)
        tamis_get_info(f->tamis, &info);
    if (!replied)
        reply_count(ctx, info.cardinality < 0x1p63 ? (uint64_t)llround(info.cardinality)
                                                   : (uint64_t)INT64_MAX);
    key_close(&k);
    return REDIS_OK;
}

static void info_text(redis_ctx *ctx, const char *name, const char *text)
{
    redis.ReplyWithSimpleString(ctx, name);
    redis.ReplyWithCString(ctx, text);
}

static void info_number(redis_ctx *ctx, const char *name, double number)
{
    redis.ReplyWithSimpleString(ctx, name);
    redis.ReplyWithDouble(ctx, number);
}

static void info_abilities(redis_ctx *ctx, unsigned can)
{
    redis.ReplyWithSimpleString(ctx, "abilities");
    redis.ReplyWithArray(ctx, __builtin_popcount(can));
#define TAMIS_X(constant, bit, name, meaning) \
    if (can & (bit))                          \
        redis.ReplyWithCString(ctx, name);
    TAMIS_ABILITIES(TAMIS_X)
#undef TAMIS_X
}

static void info_reply(redis_ctx *ctx, const filter *f)
{
    static const char *const hashes[] = {
        [TAMIS_FAST] = "fast", [TAMIS_KEYED] = "keyed", [TAMIS_RAW] = "raw"
    };
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f->tamis, &info);
    redis.ReplyWithMap(ctx, 14);
    info_text(ctx, "kind", tamis_kind_name(info.plan.kind));
    reply_entry(ctx, "capacity", info.plan.capacity);
    info_number(ctx, "keys", info.cardinality);
    reply_entry(ctx, "count", info.count);
    reply_entry(ctx, "bytes", info.plan.bytes);
    reply_entry(ctx, "memory", value_usage(f));
    info_number(ctx, "error", info.plan.fpr);
    info_number(ctx, "error now", info.fpr);
    info_number(ctx, "fill", info.fill);
    info_text(ctx, "hash", hashes[info.plan.hasher.hash]);
    reply_entry(ctx, "grows", (filter_can(f) & TAMIS_CAN_GROW) != 0);
    reply_entry(ctx, "adaptations", info.adaptations);
    reply_entry(ctx, "window", f->window_ms);
    info_abilities(ctx, filter_can(f));
}

static int tamis_info_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    key k = key_read(ctx, argv[1], filter_type);
    const filter *f = filter_of(&k);

    (void)argc;
    if (f)
        info_reply(ctx, f);
    key_close(&k);
    return REDIS_OK;
}

/* ---- The table --------------------------------------------------------- */

static redis_arg PAIR_PARTS[] = { ARG("item", STRING), ARG("value", INTEGER), ARG_END };
static redis_arg PUT_ARGS[] = { ARG_KEY, ARG_OF("pair", BLOCK, REDIS_ARG_MULTIPLE, PAIR_PARTS),
                                ARG_END };
static redis_arg RESERVE_ARGS[] = { ARG_KEY, ARG("kind", STRING), ARG_MANY("option", STRING),
                                    ARG_END };
static redis_arg DUMP_ARGS[] = { ARG_KEY, ARG("offset", INTEGER), ARG_END };
static redis_arg LOAD_ARGS[] = { ARG_KEY,
                                 ARG("offset", INTEGER),
                                 ARG("total", INTEGER),
                                 ARG("data", STRING),
                                 ARG_OPTION("window", INTEGER, "WINDOW"),
                                 ARG_OPTION("since", INTEGER, "SINCE"),
                                 ARG_END };
static redis_arg MERGE_ARGS[] = {
    ARG_KEY,
    ARG("numkeys", INTEGER),
    { .name = "source", .type = REDIS_ARG_KEY, .key_spec = 1, .flags = REDIS_ARG_MULTIPLE },
    ARG_END
};
static redis_arg BUILD_ARGS[] = { ARG_KEY,
                                  ARG("kind", STRING),
                                  ARG_TOKEN("from", "FROM"),
                                  ARG("type", STRING),
                                  { .name = "source", .type = REDIS_ARG_KEY, .key_spec = 1 },
                                  ARG_OPTION("field", STRING, "FIELD"),
                                  ARG_MANY("option", STRING),
                                  ARG_END };
static redis_arg TURN_ARGS[] = { ARG_KEY, ARG_OPTION("turns", INTEGER, NULL),
                                 ARG_OPTION("time", INTEGER, NULL), ARG_END };

static const command COMMANDS[] = {
    { "tamis.reserve", reserve_command, "write deny-oom", -3, KEY_ADD,
      "Creates an empty filter of a kind", "O(bytes)", RESERVE_ARGS, reserve_keys },
    { "tamis.add", tamis_add_command, "write deny-oom fast", 3, KEY_ADD, "Adds an item to a filter",
      "O(1)", args_item, NULL },
    { "tamis.madd", tamis_madd_command, "write deny-oom fast", -3, KEY_ADD,
      "Adds items to a filter", "O(n)", args_items, NULL },
    { "tamis.exists", tamis_exists_command, "readonly fast", 3, KEY_READ, "Is an item in a filter?",
      "O(1)", args_item, NULL },
    { "tamis.mexists", tamis_mexists_command, "readonly fast", -3, KEY_READ,
      "Which items are in a filter?", "O(n)", args_items, NULL },
    { "tamis.remove", tamis_remove_command, "write fast", -3, KEY_REMOVE,
      "Removes one copy of each item", "O(n)", args_items, NULL },
    { "tamis.count", tamis_count_command, "readonly fast", -3, KEY_READ,
      "How often items were added", "O(n)", args_items, NULL },
    { "tamis.put", tamis_put_command, "write deny-oom", -4, KEY_ADD,
      "Gives items their values, in kinds that hold some", "O(n)", PUT_ARGS, NULL },
    { "tamis.get", tamis_get_command, "readonly fast", -3, KEY_READ, "The values of items", "O(n)",
      args_items, NULL },
    { "tamis.adapt", tamis_adapt_command, "write deny-oom", -3, KEY_CHANGE,
      "Takes back items that were found but are not in the set", "O(n)", args_items, NULL },
    { "tamis.turn", tamis_turn_command, "write", -2, KEY_CHANGE,
      "Forgets the oldest items of a window", "O(bytes)", TURN_ARGS, NULL },
    { "tamis.card", tamis_card_command, "readonly", 2, KEY_READ,
      "How many different items a filter holds, an estimate", "O(bytes)", args_key, NULL },
    { "tamis.info", tamis_info_command, "readonly", 2, KEY_READ,
      "What a filter is, holds and can do", "O(bytes)", args_key, NULL },
    { "tamis.dump", load_dump_command, "readonly", 3, KEY_READ,
      "The next chunk of a filter's image", "O(bytes)", DUMP_ARGS, NULL },
    { "tamis.load", load_command, "write deny-oom", -5, KEY_ADD,
      "Takes a chunk of an image; after the last one, the key holds the filter", "O(bytes)",
      LOAD_ARGS, NULL },
    { "tamis.merge", merge_command, "write deny-oom", -4, KEY_REPLACE,
      "Makes a filter of all that is in others", "O(bytes)", MERGE_ARGS, merge_keys },
    { "tamis.intersect", merge_intersect_command, "write deny-oom", -4, KEY_REPLACE,
      "Makes a filter of what is in each of others", "O(bytes)", MERGE_ARGS, merge_keys },
    { "tamis.build", build_command, "write deny-oom", -6, KEY_REPLACE,
      "Makes a filter of all that is in a collection, in the background", "O(n)", BUILD_ARGS,
      build_keys },
    { .name = NULL },
};

static void tamis_tell(redis_info *info)
{
    load_tell(info);
    job_tell(info);
}

const family tamis_family = { .category = "tamis",
                              .commands = COMMANDS,
                              .type = &FILTER_VALUE,
                              .load = filter_rdb_load,
                              .tell = tamis_tell };
