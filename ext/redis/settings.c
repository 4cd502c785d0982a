/* settings.c - one row for each setting. Every one is text to Redis: it has no settings with a
 * fraction, and its own checks of numbers would answer in other words than ours. */
#include "settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "word_parse.h"

enum { SETTINGS_GIB = 1 << 30, SETTINGS_EXPANSION_MAX = 32768 };

settings_values settings = {
    .bf_error_rate = 0.01,
    .bf_initial_size = 100,
    .bf_expansion_factor = 2,
    .cf_bucket_size = 2,
    .cf_initial_size = 1024,
    .cf_max_iterations = 20,
    .cf_expansion_factor = 1,
    .cf_max_expansions = 32,
};

typedef struct setting {
    const char *name, *old_name;
    enum { SETTING_COUNT, SETTING_BYTES, SETTING_RATE } kind;
    void *value; /* a double if it is a rate, else an atomic uint64_t */
    uint64_t least, most;
} setting;

static setting SETTINGS[] = {
    { "bf-error-rate", "ERROR_RATE", SETTING_RATE, &settings.bf_error_rate, 0, 1 },
    { "bf-initial-size", "INITIAL_SIZE", SETTING_COUNT, &settings.bf_initial_size, 1,
      SETTINGS_GIB },
    { "bf-expansion-factor", NULL, SETTING_COUNT, &settings.bf_expansion_factor, 0,
      SETTINGS_EXPANSION_MAX },
    { "cf-initial-size", NULL, SETTING_COUNT, &settings.cf_initial_size, 2, SETTINGS_GIB },
    { "cf-bucket-size", NULL, SETTING_COUNT, &settings.cf_bucket_size, 1, 255 },
    { "cf-max-iterations", NULL, SETTING_COUNT, &settings.cf_max_iterations, 1, 65535 },
    { "cf-expansion-factor", NULL, SETTING_COUNT, &settings.cf_expansion_factor, 0,
      SETTINGS_EXPANSION_MAX },
    { "cf-max-expansions", "CF_MAX_EXPANSIONS", SETTING_COUNT, &settings.cf_max_expansions, 1,
      65536 },
    { "max-object-bytes", NULL, SETTING_BYTES, &settings.max_object_bytes, 0, INT64_MAX },
    { "max-bytes", NULL, SETTING_BYTES, &settings.max_bytes, 0, INT64_MAX },
};

enum { SETTINGS_N = sizeof SETTINGS / sizeof *SETTINGS, SETTINGS_TEXT = 128 };

/* ---- From text and back ------------------------------------------------- */

/* "kb" and the like after a number, as in redis.conf; 0 if it is no unit. */
static uint64_t settings_unit(const char *text)
{
    const struct {
        const char *name;
        uint64_t bytes;
    } units[] = { { "", 1 },        { "b", 1 },        { "k", 1000 },       { "kb", 1 << 10 },
                  { "m", 1000000 }, { "mb", 1 << 20 }, { "g", 1000000000 }, { "gb", 1 << 30 } };

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp(text, units[i].name) == 0)
            return units[i].bytes;
    return 0;
}

/* Digits and, of bytes, a unit. */
static bool settings_count(const setting *s, const char *text, uint64_t *n)
{
    char *end;
    uint64_t unit;

    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *n = strtoull(text, &end, 10);
    unit = s->kind == SETTING_BYTES ? settings_unit(end) : end[0] == '\0';
    return !errno && unit && !__builtin_mul_overflow(*n, unit, n);
}

typedef enum settings_fault {
    SETTINGS_FINE,
    SETTINGS_NO_NUMBER,
    SETTINGS_OUT_OF_RANGE
} settings_fault;

static settings_fault settings_set_rate(const setting *s, const char *text)
{
    char *end;
    double rate = strtod(text, &end);

    if (end == text || *end)
        return SETTINGS_NO_NUMBER;
    if (!(rate > (double)s->least && rate < (double)s->most))
        return SETTINGS_OUT_OF_RANGE;
    *(double *)s->value = rate;
    return SETTINGS_FINE;
}

/* A bucket has room for no more than half of the smallest filter. */
static bool settings_agree(const setting *s, uint64_t n)
{
    if (s->value == &settings.cf_bucket_size)
        return n <= settings.cf_initial_size / 2;
    return s->value != &settings.cf_initial_size || n >= 2 * settings.cf_bucket_size;
}

static settings_fault settings_set(const setting *s, const char *text)
{
    uint64_t n;

    if (s->kind == SETTING_RATE)
        return settings_set_rate(s, text);
    if (!settings_count(s, text, &n))
        return SETTINGS_NO_NUMBER;
    if (n < s->least || n > s->most || !settings_agree(s, n))
        return SETTINGS_OUT_OF_RANGE;
    *(_Atomic uint64_t *)s->value = n;
    return SETTINGS_FINE;
}

/* The shortest text that is read as the same number. */
static void settings_rate_text(double rate, char text[SETTINGS_TEXT])
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, SETTINGS_TEXT, "%.*g", digits, rate);
        if (strtod(text, NULL) == rate)
            return;
    }
}

static void settings_text(const setting *s, char text[SETTINGS_TEXT])
{
    if (s->kind == SETTING_RATE)
        settings_rate_text(*(const double *)s->value, text);
    else
        snprintf(text, SETTINGS_TEXT, "%" PRIu64, *(_Atomic uint64_t *)s->value);
}

static void settings_why(const setting *s, settings_fault fault, char text[SETTINGS_TEXT])
{
    unsigned long long least = s->least, most = s->most;

    if (s->value == &settings.cf_bucket_size && settings.cf_initial_size / 2 < most)
        most = settings.cf_initial_size / 2;
    if (s->value == &settings.cf_initial_size)
        least = 2 * settings.cf_bucket_size;
    if (fault == SETTINGS_NO_NUMBER)
        snprintf(text, SETTINGS_TEXT, "Invalid value for `%s`", s->name);
    else if (s->kind == SETTING_RATE)
        snprintf(text, SETTINGS_TEXT, "Value for `%s` must be in the range (%f, %f)", s->name,
                 (double)least, (double)most);
    else
        snprintf(text, SETTINGS_TEXT, "Value for `%s` must be in the range [%llu, %llu]", s->name,
                 least, most);
}

/* ---- CONFIG GET and SET -------------------------------------------------- */

/* Redis takes no copy of what it gets: each setting has a string that is replaced. */
static redis_string *settings_shown[SETTINGS_N];

static redis_string *settings_on_get(const char *name, void *data)
{
    setting *s = data;
    redis_string **shown = &settings_shown[s - SETTINGS];
    char text[SETTINGS_TEXT];

    (void)name;
    if (*shown)
        redis.FreeString(NULL, *shown);
    settings_text(s, text);
    *shown = redis.CreateString(NULL, text, strlen(text));
    return *shown;
}

static int settings_on_set(const char *name, redis_string *value, void *data, redis_string **why)
{
    const setting *s = data;
    char text[SETTINGS_TEXT];
    settings_fault fault = settings_set(s, redis.StringPtrLen(value, NULL));

    (void)name;
    if (fault == SETTINGS_FINE)
        return REDIS_OK;
    settings_why(s, fault, text);
    *why = redis.CreateString(NULL, text, strlen(text));
    return REDIS_ERR;
}

/* ---- Loading ------------------------------------------------------------ */

static const setting *settings_find(const redis_string *name)
{
    for (size_t i = 0; i < SETTINGS_N; i++)
        if (word_is(name, SETTINGS[i].name) ||
            (SETTINGS[i].old_name && word_is(name, SETTINGS[i].old_name)))
            return &SETTINGS[i];
    return NULL;
}

static bool settings_take_pair(redis_ctx *ctx, const redis_string *name, const redis_string *value)
{
    const setting *s = settings_find(name);
    char text[SETTINGS_TEXT];
    settings_fault fault;

    if (!s) {
        redis.Log(ctx, "warning", "no setting is called %s", redis.StringPtrLen(name, NULL));
        return false;
    }
    fault = settings_set(s, redis.StringPtrLen(value, NULL));
    if (fault == SETTINGS_FINE)
        return true;
    settings_why(s, fault, text);
    redis.Log(ctx, "warning", "%s", text);
    return false;
}

/* What was given as words is the initial value then, and redis.conf may say another. */
bool settings_load(redis_ctx *ctx, redis_string **argv, int argc)
{
    char text[SETTINGS_TEXT];

    if (argc % 2) {
        redis.Log(ctx, "warning", "settings come in pairs of a name and a value");
        return false;
    }
    for (int i = 0; i < argc; i += 2)
        if (!settings_take_pair(ctx, argv[i], argv[i + 1]))
            return false;
    for (size_t i = 0; i < SETTINGS_N; i++) {
        settings_text(&SETTINGS[i], text);
        if (redis.RegisterStringConfig(ctx, SETTINGS[i].name, text, 0, settings_on_get,
                                       settings_on_set, NULL, &SETTINGS[i]) != REDIS_OK)
            return false;
    }
    return redis.LoadConfigs(ctx) == REDIS_OK;
}
