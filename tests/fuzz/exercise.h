/* exercise.h - every call on a filter that may hold any bytes: none may crash, hang or leak.
 *
 * What is checked beside is what must hold even so: a batch answers as single calls do, and a
 * read-only filter refuses to change. */
#ifndef TAMIS_TESTS_EXERCISE_H
#define TAMIS_TESTS_EXERCISE_H

#include <stdio.h>
#include <stdlib.h>

#include "info.h"
#include "tamis_adapt.h"
#include "tamis_explain.h"
#include "tamis_values.h"

/* A crash is what a fuzzer reports, and what a test driver cannot miss. */
#define MUST(condition) ((condition) ? (void)0 : exercise_failed(#condition, __FILE__, __LINE__))

__attribute__((noreturn)) static inline void exercise_failed(const char *what, const char *file,
                                                             int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

enum { EXERCISE_KEYS = 70 };

/* Small numbers for indexed kinds, then the ends of the range, then any. */
static inline uint64_t exercise_key(unsigned i)
{
    if (i < 32)
        return i;
    return i < 36 ? UINT64_MAX - (i - 32) : i * UINT64_C(0x9e3779b97f4a7c15);
}

static inline void exercise_batch(const tamis *f)
{
    uint64_t keys[EXERCISE_KEYS], hits[(EXERCISE_KEYS + 63) / 64];
    uint64_t values[EXERCISE_KEYS], value;
    size_t n = 0;

    for (unsigned i = 0; i < EXERCISE_KEYS; i++)
        keys[i] = exercise_key(i);
    size_t got = tamis_get_many(f, values, hits, keys, EXERCISE_KEYS);
    size_t reported = tamis_has_many(f, hits, keys, EXERCISE_KEYS);
    for (unsigned i = 0; i < EXERCISE_KEYS; i++) {
        bool hit = hits[i / 64] >> (i % 64) & 1;
        MUST(hit == tamis_has(f, keys[i]));
        MUST(hit == tamis_get(f, &value, keys[i]) && value == values[i]);
        n += hit;
    }
    MUST(reported == n && got == n);
}

static inline void exercise_counts(const tamis *f)
{
    uint64_t keys[EXERCISE_KEYS], counts[EXERCISE_KEYS], product;

    for (unsigned i = 0; i < EXERCISE_KEYS; i++)
        keys[i] = exercise_key(i);
    tamis_count_many(f, counts, keys, EXERCISE_KEYS);
    /* Who holds the keys themselves counts none for a stranger that is found. */
    bool may_differ = tamis_kind_can(tamis_plan_of(f)->kind) & TAMIS_CAN_ADAPT;
    for (unsigned i = 0; i < EXERCISE_KEYS; i++) {
        MUST(counts[i] == tamis_count(f, keys[i]));
        MUST(counts[i] > 0 ? tamis_has(f, keys[i]) : may_differ || !tamis_has(f, keys[i]));
    }
    (void)!tamis_dot(f, &product, f);
}

static inline bool exercise_visit(void *ctx, uint64_t key, uint64_t count)
{
    uint64_t *visits = ctx;

    (void)key;
    (void)count;
    return ++*visits < 100000;
}

static inline void exercise_report(void *ctx, const char *why, uint64_t offset, uint64_t size)
{
    unsigned *reports = ctx;

    MUST(why && *why && offset <= UINT64_MAX - size);
    ++*reports;
}

static inline bool exercise_cell(void *ctx, const tamis_cell *cell)
{
    uint64_t *visits = ctx;

    MUST(cell->array && cell->bits >= 1 && cell->bits <= 64);
    MUST(cell->bits == 64 || cell->value >> cell->bits == 0);
    return ++*visits < 10000;
}

static inline bool exercise_step(void *ctx, const tamis_step *step)
{
    uint64_t *visits = ctx;

    MUST(step->text && *step->text);
    return step->type != TAMIS_STEP_CELL || exercise_cell(visits, &step->cell);
}

static inline void exercise_telling(const tamis *f)
{
    uint64_t visits = 0;

    (void)!tamis_visit_cells(f, exercise_cell, &visits);
    for (unsigned i = 0; i < EXERCISE_KEYS; i += 3) {
        visits = 0;
        MUST(tamis_explain(f, exercise_key(i), exercise_step, &visits) ==
             tamis_has(f, exercise_key(i)));
    }
}

static inline void exercise_reading(const tamis *f)
{
    uint64_t visits = 0;
    unsigned reports = 0;

    exercise_batch(f);
    exercise_counts(f);
    exercise_telling(f);
    tamis_info info = info_of(f);
    MUST(info.fpr >= 0 && info.fpr <= 1 && info.fill >= 0 && info.fill <= 1);
    MUST(info.cardinality >= 0);
    (void)!tamis_list(f, exercise_visit, &visits);
    visits = 0;
    (void)!tamis_list_values(f, exercise_visit, &visits);
    tamis_status whole = tamis_verify(f, exercise_report, &reports);
    MUST(whole == TAMIS_OK || reports > 0);
    (void)tamis_key(f, "exercise", 8);
}

static inline void exercise_refusal(tamis *f)
{
    uint64_t key = 1;
    size_t added = 7;

    MUST(tamis_add(f, 1) != TAMIS_OK);
    MUST(tamis_put(f, 1, 1) != TAMIS_OK);
    MUST(tamis_put_many(f, &added, &key, &key, 1) != TAMIS_OK);
    MUST(tamis_remove(f, 1) != TAMIS_OK);
    MUST(tamis_add_many(f, &added, &key, 1) != TAMIS_OK);
    MUST(tamis_add_concurrent(f, &added, &key, 1) != TAMIS_OK);
    MUST(tamis_add_times(f, 1, 2) != TAMIS_OK);
    MUST(tamis_remove_times(f, 1, 2) != TAMIS_OK);
    MUST(tamis_remove_many(f, &added, &key, 1) != TAMIS_OK);
    MUST(tamis_resize(f, tamis_plan_of(f)->capacity) != TAMIS_OK);
    MUST(tamis_combine(f, TAMIS_MERGE, f) != TAMIS_OK);
    MUST(tamis_combine(f, TAMIS_INTERSECT, f) != TAMIS_OK);
    MUST(tamis_adapt(f, 1) != TAMIS_OK);
    MUST(tamis_forget_adaptations(f) != TAMIS_OK);
}

/* A filter that was accepted may be changed in every way. */
static inline void exercise_writing(tamis *f)
{
    uint64_t keys[8], value;
    size_t added;

    for (unsigned i = 0; i < 8; i++)
        keys[i] = exercise_key(5 * i + 1);
    for (unsigned i = 0; i < EXERCISE_KEYS; i += 3)
        MUST(tamis_put(f, exercise_key(i), i) != TAMIS_OK ||
             (tamis_get(f, &value, exercise_key(i)) && value == i));
    (void)!tamis_put_many(f, &added, keys, keys, 8);
    for (unsigned i = 0; i < EXERCISE_KEYS; i += 3)
        MUST(tamis_add(f, exercise_key(i)) != TAMIS_OK || tamis_has(f, exercise_key(i)));
    (void)!tamis_add_many(f, &added, keys, 8);
    (void)!tamis_add_concurrent(f, &added, keys, 8);
    for (unsigned i = 0; i < EXERCISE_KEYS; i += 2)
        (void)!tamis_remove(f, exercise_key(i));
    for (unsigned i = 0; i < EXERCISE_KEYS; i += 5)
        (void)!tamis_add_times(f, exercise_key(i), UINT64_C(1) << i % 64);
    for (unsigned i = 0; i < EXERCISE_KEYS; i += 3)
        (void)!tamis_remove_times(f, exercise_key(i), tamis_count(f, exercise_key(i)));
    (void)!tamis_remove_many(f, &added, keys, 8);
    for (unsigned i = 0; i < EXERCISE_KEYS; i++)
        (void)!tamis_adapt(f, exercise_key(i));
    exercise_reading(f);
    (void)!tamis_forget_adaptations(f);
}

enum { EXERCISE_MOST_KEYS = 1 << 16 };

/* A size of a hostile image may be any; the work done on it here is not. */
static inline void exercise_sizes(tamis *f)
{
    uint64_t keys = tamis_plan_of(f)->capacity;

    if (keys > EXERCISE_MOST_KEYS)
        return;
    (void)!tamis_resize(f, 2 * keys + 1);
    exercise_writing(f);
    (void)!tamis_resize(f, keys / 3);
    exercise_reading(f);
}

/* The image of a filter, read back, is the same filter; a damaged one has none. */
static inline void exercise_writing_image(const tamis *f)
{
    size_t size = tamis_image_size(f);
    void *buf = malloc(size);
    tamis *again;

    MUST(buf);
    tamis_status whole = tamis_verify(f, NULL, NULL);
    MUST(tamis_image_write(f, buf, size) == whole);
    if (whole == TAMIS_OK) {
        MUST(tamis_image_read(&again, buf, size, NULL) == TAMIS_OK);
        MUST(tamis_image_size(again) == size);
        exercise_writing(again);
        tamis_free(again);
    }
    free(buf);
}

/* What is made from a filter of any bytes: a copy, a smaller one, a union. */
static inline void exercise_making(const tamis *f)
{
    tamis *made;

    if (tamis_clone(&made, f, NULL) == TAMIS_OK) {
        (void)!tamis_combine(made, TAMIS_MERGE, f);
        (void)!tamis_combine(made, TAMIS_INTERSECT, f);
        exercise_writing(made);
        exercise_sizes(made);
        tamis_free(made);
    }
    const tamis *const both[] = { f, f };
    if (tamis_plan_of(f)->capacity <= EXERCISE_MOST_KEYS &&
        tamis_merge_many(&made, both, 2, NULL) == TAMIS_OK) {
        exercise_writing(made);
        tamis_free(made);
    }
    for (uint64_t by = 2; by < 4; by++)
        if (tamis_fold(&made, f, by, NULL) == TAMIS_OK) {
            exercise_writing(made);
            tamis_free(made);
        }
    if (tamis_shrink(&made, f, tamis_plan_of(f)->bytes / 2, NULL) == TAMIS_OK) {
        exercise_writing(made);
        tamis_free(made);
    }
    for (tamis_kind to = tamis_kind_next(TAMIS_NO_KIND); to; to = tamis_kind_next(to))
        if (tamis_convert(&made, to, f, NULL) == TAMIS_OK) {
            exercise_writing(made);
            tamis_free(made);
        }
    if (tamis_new(&made, tamis_plan_of(f), NULL) == TAMIS_OK) {
        (void)!tamis_combine(made, TAMIS_MERGE, f);
        exercise_writing(made);
        tamis_free(made);
    }
    exercise_writing_image(f);
}

static inline void exercise_view(tamis *f)
{
    exercise_reading(f);
    exercise_refusal(f);
    exercise_making(f);
}

#endif
