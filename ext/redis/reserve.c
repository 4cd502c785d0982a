/* reserve.c - TAMIS.RESERVE: an empty filter of any kind that takes keys one by one. */
#include "reserve.h"

#include <stdio.h>

#include "reply.h"
#include "word_parse.h"

/* ---- Words to numbers ---------------------------------------------------- */

typedef enum reserve_type { RESERVE_COUNT, RESERVE_SMALL, RESERVE_SHARE } reserve_type;

/* A number of tamis_spec; what is outside of what a kind can do, the library says. */
typedef struct reserve_option {
    const char *word;
    reserve_type type;
    size_t at;
} reserve_option;

static const reserve_option RESERVE_OPTIONS[] = {
    { "CAPACITY", RESERVE_COUNT, offsetof(tamis_spec, keys) },
    { "ERROR", RESERVE_SHARE, offsetof(tamis_spec, fpr) },
    { "MAXBYTES", RESERVE_COUNT, offsetof(tamis_spec, max_bytes) },
    { "LOAD", RESERVE_SHARE, offsetof(tamis_spec, load) },
    { "VALUEBITS", RESERVE_SMALL, offsetof(tamis_spec, value_bits) },
    { "COUNTERBITS", RESERVE_SMALL, offsetof(tamis_spec, counter_bits) },
    { "COUNTERROR", RESERVE_SHARE, offsetof(tamis_spec, error) },
    { "UNIVERSE", RESERVE_COUNT, offsetof(tamis_spec, universe) },
    { "BITS", RESERVE_COUNT, offsetof(tamis_spec, bits) },
    { "HASHES", RESERVE_SMALL, offsetof(tamis_spec, hashes) },
    { "QUOTIENTBITS", RESERVE_SMALL, offsetof(tamis_spec, quotient_bits) },
    { "TAGBITS", RESERVE_SMALL, offsetof(tamis_spec, tag_bits) },
    { "SEED", RESERVE_COUNT, offsetof(tamis_spec, hasher.seed) },
};

enum { RESERVE_OPTIONS_N = sizeof RESERVE_OPTIONS / sizeof *RESERVE_OPTIONS };

/* A zero would ask for nothing: only a seed may be one. */
static bool reserve_number(const reserve_option *o, tamis_spec *spec, const redis_string *word)
{
    char *field = (char *)spec + o->at;
    double share;
    uint64_t n;

    if (o->type == RESERVE_SHARE) {
        if (redis.StringToDouble(word, &share) != REDIS_OK || !(share > 0 && share < 1))
            return false;
        memcpy(field, &share, sizeof share);
        return true;
    }
    if (!word_to_number(word, &n) || (n == 0 && o->at != offsetof(tamis_spec, hasher.seed)))
        return false;
    if (o->type == RESERVE_COUNT)
        memcpy(field, &n, sizeof n);
    else if (n <= 64)
        memcpy(field, &(uint32_t){ (uint32_t)n }, sizeof(uint32_t));
    return o->type == RESERVE_COUNT || n <= 64;
}

static bool reserve_can(tamis_spec *spec, const redis_string *word)
{
#define TAMIS_X(constant, bit, name, meaning) \
    if (word_is(word, name)) {                \
        spec->can |= bit;                     \
        return true;                          \
    }
    TAMIS_ABILITIES(TAMIS_X)
#undef TAMIS_X
    return false;
}

static bool reserve_hash(reserve_wish *w, const redis_string *word)
{
    static const char *const names[] = {
        [TAMIS_FAST] = "fast", [TAMIS_KEYED] = "keyed", [TAMIS_RAW] = "raw"
    };

    for (int i = 0; i < 3; i++)
        if (word_is(word, names[i])) {
            w->spec.hasher.hash = (tamis_hash)i;
            w->has_hash = true;
            return true;
        }
    return false;
}

static int reserve_digit(char c)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;

    if (!at)
        return -1;
    return at - digits < 16 ? (int)(at - digits) : (int)(at - digits - 6);
}

/* Not all zeros, or the hash would not be keyed. */
static bool reserve_secret(reserve_wish *w, const redis_string *word)
{
    size_t size;
    const char *text = redis.StringPtrLen(word, &size);
    uint8_t *secret = w->spec.hasher.secret, any = 0;

    if (size != 2 * sizeof w->spec.hasher.secret)
        return false;
    for (size_t i = 0; i < size; i += 2) {
        int high = reserve_digit(text[i]), low = reserve_digit(text[i + 1]);

        if (high < 0 || low < 0)
            return false;
        secret[i / 2] = (uint8_t)(high << 4 | low);
        any |= secret[i / 2];
    }
    w->has_secret = true;
    return any != 0;
}

static bool reserve_ms(const redis_string *word, uint64_t *ms)
{
    return word_to_count(word, ms) && *ms > 0;
}

/* Options that are no number of the spec. True if this is one; *good tells of its value. */
static bool reserve_other(reserve_wish *w, redis_string **argv, bool *good)
{
    if (word_is(argv[0], "CAN"))
        *good = reserve_can(&w->spec, argv[1]);
    else if (word_is(argv[0], "HASH"))
        *good = reserve_hash(w, argv[1]);
    else if (word_is(argv[0], "SECRET"))
        *good = reserve_secret(w, argv[1]);
    else if (word_is(argv[0], "WINDOW"))
        *good = reserve_ms(argv[1], &w->window_ms);
    else if (word_is(argv[0], "SINCE"))
        *good = reserve_ms(argv[1], &w->since_ms);
    else
        return false;
    return true;
}

static const reserve_option *reserve_find(const redis_string *word)
{
    for (int i = 0; i < RESERVE_OPTIONS_N; i++)
        if (word_is(word, RESERVE_OPTIONS[i].word))
            return &RESERVE_OPTIONS[i];
    return NULL;
}

/* Whatever the word holds, the reply is one line. */
static bool reserve_complain(redis_ctx *ctx, const char *what, const redis_string *word)
{
    char text[128];

    snprintf(text, sizeof text, "ERR %s '%.64s'", what, redis.StringPtrLen(word, NULL));
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    reply_error(ctx, text);
    return false;
}

static bool reserve_list_kinds(redis_ctx *ctx)
{
    char text[1024] = "ERR unknown kind; there are";
    size_t n = strlen(text);

    for (tamis_kind kind = 0; (kind = tamis_kind_next(kind)) && n < sizeof text;)
        n += (size_t)snprintf(text + n, sizeof text - n, " %s", tamis_kind_name(kind));
    reply_error(ctx, text);
    return false;
}

/* How many words it took; 0 after a reply. */
static int reserve_option_at(redis_ctx *ctx, reserve_wish *w, redis_string **argv, int argc)
{
    const reserve_option *o = reserve_find(argv[0]);
    bool good = false;

    if (word_is(argv[0], "GROW")) {
        w->spec.can |= TAMIS_CAN_GROW;
        return 1;
    }
    if (argc < 2) {
        reserve_complain(ctx, "unknown option, or one without its value:", argv[0]);
        return 0;
    }
    if (o)
        good = reserve_number(o, &w->spec, argv[1]);
    else if (!reserve_other(w, argv, &good)) {
        reserve_complain(ctx, "unknown option", argv[0]);
        return 0;
    }
    if (!good)
        reserve_complain(ctx, "bad value for", argv[0]);
    return good ? 2 : 0;
}

/* ---- The hash ---------------------------------------------------------- */

/* Strangers cannot choose items that collide, unless somebody asks for another hash. */
static void reserve_choose_hash(reserve_wish *w)
{
    if (!w->has_hash)
        w->spec.hasher.hash = tamis_kind_can(w->kind) & TAMIS_IS_INDEXED ? TAMIS_RAW : TAMIS_KEYED;
    if (w->spec.hasher.hash == TAMIS_KEYED && !w->has_secret)
        redis.GetRandomBytes(w->spec.hasher.secret, sizeof w->spec.hasher.secret);
}

/* A filter that queries others for its keys could take none here. Servers of an earlier version
 * made some, and what a primary or a file says is done. */
static const char *reserve_asks(unsigned can)
{
    return can & TAMIS_CAN_ASK_KEYS && !memory_must_obey()
               ? "ERR ask-keys needs a store of all keys, which no command can query; without it "
                 "the "
                 "filter holds them itself"
               : NULL;
}

/* What does not go together. */
static const char *reserve_conflict(const reserve_wish *w)
{
    if (w->has_secret && w->spec.hasher.hash != TAMIS_KEYED)
        return "ERR only keyed hashing has a SECRET";
    if (w->window_ms && !(tamis_kind_can(w->kind) & TAMIS_CAN_ROTATE))
        return "ERR this kind cannot forget by time: WINDOW is for kinds that rotate";
    if (w->since_ms && !w->window_ms)
        return "ERR SINCE is for filters with a WINDOW";
    return reserve_asks(w->spec.can);
}

bool reserve_parse(redis_ctx *ctx, reserve_wish *w, const redis_string *kind, redis_string **argv,
                   int argc)
{
    const char *why;

    memory_begin(ctx);
    *w = (reserve_wish){ .spec = TAMIS_SPEC(.keys = 0) };
    if (!tamis_kind_find(&w->kind, redis.StringPtrLen(kind, NULL)))
        return reserve_list_kinds(ctx);
    for (int at = 0, took; at < argc; at += took) {
        took = reserve_option_at(ctx, w, argv + at, argc - at);
        if (!took)
            return false;
    }
    reserve_choose_hash(w);
    why = reserve_conflict(w);
    if (why)
        reply_error(ctx, why);
    return !why;
}

/* ---- TAMIS.RESERVE ------------------------------------------------------ */

/* A filter that grows may begin small. */
enum { RESERVE_FIRST_CAPACITY = 1024 };

/* Says why there is no such filter, or makes the plan. */
static bool reserve_plan(redis_ctx *ctx, reserve_wish *w, tamis_plan *plan)
{
    tamis_spec *spec = &w->spec;
    bool is_sized =
        spec->keys || spec->max_bytes || spec->bits || spec->quotient_bits || spec->error > 0;
    tamis_status status;

    if (!(tamis_kind_can(w->kind) & (TAMIS_CAN_ADD | TAMIS_CAN_PUT))) {
        reply_error(ctx, "ERR this kind is made from all its keys at once: use TAMIS.BUILD");
        return false;
    }
    if (!is_sized)
        spec->keys = RESERVE_FIRST_CAPACITY;
    status = tamis_plan_kind(plan, w->kind, spec);
    if (!status && !is_sized && !(tamis_plan_can(plan) & TAMIS_CAN_GROW)) {
        reply_error(ctx, "ERR say how many keys it will hold: CAPACITY n");
        return false;
    }
    if (status)
        filter_reply_status(ctx, status);
    return !status;
}

static bool reserve_make(key *k, const tamis_plan *plan, const reserve_wish *w)
{
    filter *f = filter_new();
    tamis_status status = TAMIS_NOMEM;

    if (f) {
        tamis_allocator a = value_allocator(f);

        status = tamis_new(&f->tamis, plan, &a);
    }
    if (status) {
        filter_drop(f);
        filter_reply_status(k->ctx, status);
        return false;
    }
    f->window_ms = w->window_ms;
    if (w->window_ms)
        f->turned_ms = w->since_ms ? w->since_ms : (uint64_t)redis.Milliseconds();
    key_set(k, filter_type, f);
    return true;
}

/* The command as it came, and after it what was drawn and read off the clock here. */
static void reserve_replicate(key *k, const reserve_wish *w, redis_string **argv, int argc)
{
    char secret[2 * sizeof w->spec.hasher.secret + 1] = "";
    size_t n = (size_t)argc - 1;
    bool drawn = w->spec.hasher.hash == TAMIS_KEYED && !w->has_secret;
    bool timed = w->window_ms && !w->since_ms;
    long long since = (long long)((const filter *)k->value)->turned_ms;

    for (size_t i = 0; i < sizeof w->spec.hasher.secret; i++)
        snprintf(secret + 2 * i, 3, "%02x", w->spec.hasher.secret[i]);
    if (drawn && timed)
        redis.Replicate(k->ctx, "TAMIS.RESERVE", "vcccl", argv + 1, n, "SECRET", secret, "SINCE",
                        since);
    else if (drawn)
        redis.Replicate(k->ctx, "TAMIS.RESERVE", "vcc", argv + 1, n, "SECRET", secret);
    else if (timed)
        redis.Replicate(k->ctx, "TAMIS.RESERVE", "vcl", argv + 1, n, "SINCE", since);
    else
        redis.ReplicateVerbatim(k->ctx);
}

/* Of the plan of another filter, with its secret: the two can be merged. */
static bool reserve_like(redis_ctx *ctx, redis_string **argv, int argc, reserve_wish *w,
                         tamis_plan *plan)
{
    const char *why = NULL;
    key k;
    filter *f;

    memory_begin(ctx);
    *w = (reserve_wish){ .has_secret = true };
    if (argc != 4 &&
        !(argc == 6 && word_is(argv[4], "SINCE") && reserve_ms(argv[5], &w->since_ms))) {
        redis.WrongArity(ctx);
        return false;
    }
    k = key_read(ctx, argv[3], filter_type);
    f = filter_of(&k);
    if (f) {
        *plan = *tamis_plan_of(f->tamis);
        w->window_ms = f->window_ms;
        why = reserve_asks(filter_can(f));
    }
    if (why)
        reply_error(ctx, why);
    key_close(&k);
    return f && !why;
}

redis_key_spec reserve_keys[] = {
    { .flags = KEY_ADD, .search = REDIS_SEARCH_INDEX, .begin.index.at = 1, .find = REDIS_FIND_ONE },
    { .flags = KEY_READ,
      .search = REDIS_SEARCH_WORD,
      .begin.keyword = { "LIKE", 2 },
      .find = REDIS_FIND_ONE },
    { .search = REDIS_SEARCH_END },
};

int reserve_command(redis_ctx *ctx, redis_string **argv, int argc)
{
    reserve_wish w;
    tamis_plan plan;
    bool planned;
    key k;

    if (command_reports_keys(ctx, reserve_keys, argv, argc))
        return REDIS_OK;
    if (argc >= 4 && word_is(argv[2], "LIKE"))
        planned = reserve_like(ctx, argv, argc, &w, &plan);
    else
        planned =
            reserve_parse(ctx, &w, argv[2], argv + 3, argc - 3) && reserve_plan(ctx, &w, &plan);
    if (!planned)
        return REDIS_OK;
    k = key_write(ctx, argv[1], filter_type);
    if (k.holds == KEY_OTHER)
        reply_error(ctx, REPLY_WRONG_TYPE);
    else if (k.holds == KEY_OURS)
        reply_error(ctx, REPLY_EXISTS);
    else if (reserve_make(&k, &plan, &w)) {
        reserve_replicate(&k, &w, argv, argc);
        key_changed(&k, "tamis.reserve");
        reply_ok(ctx);
    }
    key_close(&k);
    return REDIS_OK;
}
