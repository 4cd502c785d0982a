/* module.h - what JavaScript sees beside the public headers: structs as arrays of numbers, keys as
 * bytes, and lists in place of functions that are called back.
 *
 * A module has one thread and serves one caller at a time, so it keeps what passes between the two
 * in variables: numbers, a spec's hasher, the plan made last. Numbers are doubles; those above 2^53
 * are rounded, which no plan that fits in such a module has. Strings end with NUL. */
#ifndef TAMIS_WEB_MODULE_H
#define TAMIS_WEB_MODULE_H

#include "tamis.h"
#include "tamis_adapt.h"
#include "tamis_explain.h"
#include "tamis_values.h"

/* ---- Names and numbers ------------------------------------------------- */

/* The fields of each struct in the order of the numbers, with a blank between two names. So there
 * is no second list of them elsewhere. */
TAMIS_API const char *web_spec_names(void);
TAMIS_API const char *web_plan_names(void);
TAMIS_API const char *web_info_names(void);
TAMIS_API double *web_numbers(void);

/* Abilities and status codes by their place in the header; NULL beyond the last. */
TAMIS_API const char *web_ability_name(unsigned i);
TAMIS_API unsigned web_ability_bit(unsigned i);
TAMIS_API const char *web_status_name(tamis_status status);

/* ---- Plans ------------------------------------------------------------- */

TAMIS_API void web_set_hasher(tamis_hash hash, uint64_t seed, const uint8_t secret[16]);
TAMIS_API const tamis_hasher *web_hasher(void);
/* The spec in web_numbers(), with that hasher, to the plan at web_planned(). */
TAMIS_API tamis_status web_plan(tamis_kind kind);
TAMIS_API const tamis_plan *web_planned(void);
/* Every plan that meets the spec; plan i is then made the one at web_planned(). */
TAMIS_API size_t web_plan_all(void);
TAMIS_API void web_plan_pick(size_t i);
/* To web_numbers(). */
TAMIS_API void web_plan_numbers(const tamis_plan *plan);
TAMIS_API const tamis_hasher *web_plan_hasher(const tamis_plan *plan);
TAMIS_API tamis_hash web_hasher_hash(const tamis_hasher *hasher);
TAMIS_API uint64_t web_hasher_seed(const tamis_hasher *hasher);
/* The note, or an empty text. */
TAMIS_API const char *web_info_numbers(const tamis *f);

/* ---- Keys as bytes ----------------------------------------------------- */

TAMIS_API bool web_has(const tamis *f, const void *data, size_t size);
/* The same of a filter of raw integers: the key in two halves. */
TAMIS_API bool web_has_integer(const tamis *f, uint32_t low, uint32_t high);
TAMIS_API tamis_status web_add(tamis *f, const void *data, size_t size, uint64_t times);
TAMIS_API tamis_status web_remove(tamis *f, const void *data, size_t size, uint64_t times);
TAMIS_API double web_count(const tamis *f, const void *data, size_t size);
/* The value, or -1. */
TAMIS_API bool web_get(const tamis *f, uint64_t *value, const void *data, size_t size);
TAMIS_API tamis_status web_put(tamis *f, const void *data, size_t size, uint64_t value);
TAMIS_API tamis_status web_adapt(tamis *f, const void *data, size_t size);
/* The keys of n texts that stand in `data` without a gap; text i ends at ends[i]. */
TAMIS_API void web_hash_many(const tamis_hasher *hasher, uint64_t *keys, const uint8_t *data,
                             const uint32_t *ends, size_t n);

/* ---- Lists ------------------------------------------------------------- */

/* How many different keys there are; sorts them. */
TAMIS_API size_t web_sort_unique(uint64_t *keys, size_t n);
/* As many pairs of key and count as there are, of which at most `max` are written. */
TAMIS_API tamis_status web_list(const tamis *f, uint64_t *pairs, size_t *n, size_t max);
/* All cells of a filter, and the steps of an answer; as many as there are, of which at most `max`
 * are written. JavaScript reads the structs where the compiler puts their fields; module.c holds it
 * to that. */
TAMIS_API tamis_status web_cells(const tamis *f, tamis_cell *cells, size_t *n, size_t max);
TAMIS_API size_t web_steps(const tamis *f, uint64_t key, tamis_step *steps, size_t max);
/* How a filter by peeling was made of these keys: each step with the cells of its key beside it. */
enum { WEB_MOST_TOUCHED = 8 };
typedef struct web_peel {
    tamis_peel step;
    tamis_cell cells[WEB_MOST_TOUCHED];
} web_peel;
TAMIS_API tamis_status web_peels(const tamis *f, const uint64_t *keys, size_t n_keys,
                                 web_peel *peels, size_t *n, size_t max);
/* Why an image is refused, in more words than its status; NULL if there are none. */
TAMIS_API const char *web_fault(const void *image, size_t size);

#endif
