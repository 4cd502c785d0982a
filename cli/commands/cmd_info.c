/* cmd_info.c - tamis info: what a filter is and how full. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "filters/shape.h"
#include "filters/spec.h"
#include "filters/store.h"
#include "term/message.h"
#include "text/json.h"
#include "text/number.h"

typedef struct subject {
    const char *path;
    char note[TAMIS_NOTE_MAX + 1]; /* empty: there is none */
    tamis_info info;
    size_t image_bytes;
    bool is_counted; /* distinct keys are counted, not estimated */
    bool has_slots;
} subject;

static const struct hash_text {
    const char *name, *meaning;
} HASHES[] = {
    [TAMIS_FAST] = { "fast", "for trusted keys only" },
    [TAMIS_KEYED] = { "keyed", "the file holds the secret, keep it private" },
    [TAMIS_RAW] = { "raw", "keys are integers" },
};

static const struct hash_text *hash_of(const subject *s)
{
    return &HASHES[s->info.plan.hasher.hash];
}

/* Of kinds that count. */
static bool counts(const tamis_info *i)
{
    return (tamis_kind_can(i->plan.kind) & TAMIS_CAN_COUNT) != 0;
}

/* The number to compare with the plan, which is for distinct keys in kinds that count. */
static double planned_keys(const tamis_info *i)
{
    return counts(i) ? fmin(i->cardinality, (double)i->count) : (double)i->count;
}

static double slots_used(const tamis_info *i)
{
    return round(i->fill * (double)i->plan.slots);
}

/* Of that many keys or slots. A filter planned for no key counts as one planned for one key. */
static double percent_of_plan(const tamis_info *i, double used)
{
    return used / (double)(i->plan.capacity > 0 ? i->plan.capacity : 1) * 100;
}

/* By chance alone, the rate of a small filter is off by tens of per cent. */
static const double FAR_ABOVE = 2;
/* So much are estimates of a full filter off, about. */
static const double ESTIMATE = 1.01;

static const char *warning(const subject *s)
{
    /* The counts of a sketch are never too many: their error is a share of all adds. */
    if (s->info.plan.error > 0)
        return NULL;
    if (store_is_crowded(&s->info))
        return "it holds more keys than planned and its false positive rate is too high; build it "
               "with a larger -n";
    if (planned_keys(&s->info) > (s->is_counted ? 1 : ESTIMATE) * (double)s->info.plan.capacity)
        return "more keys were added than planned; build it with a larger -n";
    if (s->info.fpr > FAR_ABOVE * s->info.plan.fpr)
        return "its false positive rate is far above the planned one; build it again";
    return NULL;
}

static bool has_ceiling(const tamis_info *i)
{
    return i->plan.ceiling != UINT64_MAX;
}

static bool adapts(const tamis_info *i)
{
    return (tamis_kind_can(i->plan.kind) & TAMIS_CAN_ADAPT) != 0;
}

/* ---- Text -------------------------------------------------------------- */

static void print_note(const subject *s)
{
    time_t noted = (time_t)s->info.noted;
    struct tm *day = gmtime(&noted);
    char when[40] = "";

    if (!s->note[0])
        return;
    if (day)
        strftime(when, sizeof when, ", written %Y-%m-%d %H:%M:%S UTC", day);
    printf("note      %s%s\n", s->note, when);
}

/* Not all kinds that adapt can tell what they were asked: those that cannot have no error. */
static void print_adaptations(const tamis_info *i)
{
    printf("adapted   %" PRIu64 " places, %.4g bits per key\n", i->adaptations, i->adapted_bits);
    if (i->error > 0 && isinf(i->error))
        printf("queried   too many distinct keys to tell\n");
    else if (i->error > 0)
        printf("queried   %.0f distinct keys, estimated, standard error %.0f\n", i->queried,
               i->error);
}

/* Where counts of repeated keys take slots too, these are what the plan is for. In other kinds that
 * count, it is for distinct keys, however often they come. */
static void print_keys(const subject *s)
{
    const tamis_info *i = &s->info;
    const char *how = s->is_counted ? "" : ", estimated";
    char share[40];

    snprintf(share, sizeof share, ", %.2f %% of the plan",
             percent_of_plan(i, counts(i) && s->has_slots ? slots_used(i) : planned_keys(i)));
    printf("planned   %" PRIu64 " %s, false positive rate %.4g\n", i->plan.capacity,
           !counts(i)     ? "keys"
           : s->has_slots ? "slots for keys and counts"
                          : "distinct keys",
           i->plan.fpr);
    printf("holds     %" PRIu64 " keys", i->count);
    if (counts(i) && s->has_slots)
        printf(" in %.0f slots", slots_used(i));
    printf("%s\n", counts(i) && !s->has_slots ? "" : share);
    printf("distinct  %.0f%s%s\n", i->cardinality, how, counts(i) && !s->has_slots ? share : "");
}

static void print_text(const subject *s)
{
    const tamis_info *i = &s->info;
    const tamis_plan *p = &i->plan;

    printf("file      %s\n", s->path);
    printf("kind      %s: %s\n", tamis_kind_name(p->kind), tamis_kind_summary(p->kind));
    print_keys(s);
    printf("fill      %.2f %%%s\n", i->fill * 100, s->has_slots ? " of the slots" : "");
    printf("rate now  %.4g\n", i->fpr);
    if (has_ceiling(i))
        printf("saturated %" PRIu64 " counters, at %" PRIu64 "\n", i->saturated, p->ceiling);
    if (p->error > 0)
        printf("error     %.4g of all adds: counts are up to %.0f too high\n", p->error,
               floor(p->error * (double)i->count));
    if (adapts(i))
        print_adaptations(i);
    printf("bytes     %" PRIu64 ", %.3f bits per planned key\n", p->bytes, bits_per_key(p));
    printf("image     %zu bytes\n", s->image_bytes);
    printf("hash      %s, seed %" PRIu64 ": %s\n", hash_of(s)->name, p->hasher.seed,
           hash_of(s)->meaning);
    printf("shape     ");
    shape_print(p);
    putchar('\n');
    print_note(s);
    if (warning(s))
        printf("warning   %s\n", warning(s));
}

/* ---- JSON -------------------------------------------------------------- */

static void print_plan_json(json *j, const subject *s)
{
    const tamis_plan *p = &s->info.plan;

    json_open(j, "plan", '{');
    json_count(j, "keys", p->capacity);
    json_real(j, "fpr", p->fpr);
    if (p->error > 0)
        json_real(j, "error", p->error);
    json_count(j, "bytes", p->bytes);
    json_real(j, "bits_per_key", bits_per_key(p));
    shape_json(j, "shape", p);
    json_text(j, "hash", hash_of(s)->name);
    json_count(j, "seed", p->hasher.seed);
    json_close(j, '}');
}

/* Too many to tell is null. */
static void print_adaptations_json(json *j, const tamis_info *i)
{
    json_count(j, "adaptations", i->adaptations);
    json_real(j, "adapted_bits_per_key", i->adapted_bits);
    if (i->error == 0)
        return;
    json_real(j, "queried", isinf(i->error) ? INFINITY : i->queried);
    json_real(j, "queried_error", i->error);
}

static void print_json(json *j, const subject *s)
{
    json_open(j, NULL, '{');
    json_text(j, "file", s->path);
    json_text(j, "kind", tamis_kind_name(s->info.plan.kind));
    json_abilities(j, "abilities", tamis_plan_can(&s->info.plan));
    print_plan_json(j, s);
    json_count(j, "keys", s->info.count);
    json_real(j, "distinct", s->info.cardinality);
    if (counts(&s->info) && s->has_slots)
        json_real(j, "slots_used", slots_used(&s->info));
    json_real(j, "fill", s->info.fill);
    json_real(j, "fpr", s->info.fpr);
    if (has_ceiling(&s->info))
        json_count(j, "saturated", s->info.saturated);
    if (adapts(&s->info))
        print_adaptations_json(j, &s->info);
    json_count(j, "image_bytes", s->image_bytes);
    if (s->note[0]) {
        json_text(j, "note", s->note);
        json_count(j, "noted", s->info.noted);
    }
    json_open(j, "warnings", '[');
    if (warning(s))
        json_text(j, NULL, warning(s));
    json_close(j, ']');
    json_close(j, '}');
}

/* ---- Reading ----------------------------------------------------------- */

/* Kinds that do not add were built from all keys at once, which were counted then. Kinds that adapt
 * tell all their keys apart. */
static bool counts_distinct(tamis_kind kind)
{
    unsigned can = tamis_kind_can(kind);

    return can & (TAMIS_IS_EXACT | TAMIS_CAN_ADAPT) || !(can & TAMIS_CAN_ADD);
}

static tamis_status study(subject *s, const stored *from)
{
    tamis *f;
    tamis_status status = tamis_load(&f, from->path, NULL);

    if (status)
        return status;
    s->path = from->name;
    s->info.size = sizeof s->info;
    tamis_get_info(f, &s->info);
    s->image_bytes = tamis_image_size(f);
    strcpy(s->note, s->info.note);
    s->is_counted = counts_distinct(s->info.plan.kind);
    s->has_slots = (tamis_kind_can(s->info.plan.kind) & TAMIS_CAN_RESIZE) != 0;
    tamis_free(f);
    return TAMIS_OK;
}

/* ---- Notes ------------------------------------------------------------- */

/* So that the same work gives the same file, a build system may set the time. */
static uint64_t time_of_notes(void)
{
    const char *fixed = getenv("SOURCE_DATE_EPOCH");
    uint64_t seconds;

    return fixed && number_integer(&seconds, fixed, strlen(fixed)) ? seconds : (uint64_t)time(NULL);
}

static void set_note(const char *path, const char *text)
{
    tamis *f = store_load_locked(path);

    if (tamis_set_note(f, text, time_of_notes()))
        die(CODE_USAGE,
            "info: --set-note takes a line of UTF-8 without control characters, of at most %d "
            "bytes",
            TAMIS_NOTE_MAX);
    store_save(f, path);
    tamis_free(f);
}

/* ---- Command ----------------------------------------------------------- */

/* If a file cannot be read, the others are shown all the same. */
static int print_all(char **paths, json *j)
{
    int code = CODE_OK;

    for (char **path = paths; *path; path++) {
        subject s;
        stored from = store_open(*path);
        tamis_status status = study(&s, &from);

        if (status) {
            code = store_report("read", &from, status);
            continue;
        }
        if (j)
            print_json(j, &s);
        else {
            printf("%s", path > paths ? "\n" : "");
            print_text(&s);
        }
    }
    return code;
}

typedef struct request {
    bool as_json;
    const char *note; /* to write, or NULL */
} request;

static int run(args *a)
{
    request r = { 0 };
    json j = { 0 };
    char **paths;
    int code;

    args_read(a, &r);
    paths = args_operands(a, 1, SIZE_MAX, "the FILE of a filter");
    for (char **path = paths; r.note && *path; path++)
        set_note(*path, r.note);
    if (!r.as_json)
        return print_all(paths, NULL);
    json_open(&j, NULL, '[');
    code = print_all(paths, &j);
    json_close(&j, ']');
    return code;
}

static const option_row options[] = {
    { 0, "json", NULL, "print JSON: an array with one object per FILE", TO_FLAG(request, as_json) },
    { 0, "set-note", "TEXT", "write a note into each FILE first; '' removes it",
      TO_TEXT(request, note) },
    { 0 },
};

const command cmd_info = { "info", help_info, options, .run = run };
