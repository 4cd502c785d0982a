/* lab.h - experiments: each is one command with a table, a CSV and a picture.
 *
 * An experiment is a file of this folder and a line in LAB_EXPERIMENTS. Its options are rows for a
 * struct that begins with a lab. Its run() gets that struct, puts rows into the table, points into
 * charts and says in notes what is seen; the frame prints and writes all of it. The same seed gives
 * the same output, but for times.
 */
#ifndef TAMIS_APPS_LAB_LAB_H
#define TAMIS_APPS_LAB_LAB_H

#include <help_texts.h>

#include "args/args.h"
#include "chance.h"
#include "chart.h"
#include "term/array.h"
#include "term/message.h"

/* All of them, in the order of the list and of the report. */
#define LAB_EXPERIMENTS(X) \
    X(hash)                \
    X(fpr)                 \
    X(poisson)             \
    X(counting)            \
    X(quotient)            \
    X(cuckoo)              \
    X(table)               \
    X(spectral)            \
    X(adapt)               \
    X(compare)

typedef struct experiment {
    const char *name;
    const char *help;          /* as that of a command */
    tamis_kind kinds[5];       /* that it needs; TAMIS_NO_KIND follows the last */
    const option_row *options; /* its own, for the request */
    void *request;             /* a struct that begins with a lab, and holds the defaults */
    void (*run)(void *request);
} experiment;

/* The experiment of a file: its `options` and its `run`, a request that is called as it is, with
 * defaults, and the kinds that it needs. */
#define LAB_EXPERIMENT(of, needs, ...)                             \
    const experiment lab_##of = { .name = #of,                     \
                                  .help = help_lab_##of,           \
                                  .kinds = needs,                  \
                                  .options = options,              \
                                  .request = &(of){ __VA_ARGS__ }, \
                                  .run = run }
#define LAB_NEEDS(...) \
    {                  \
        __VA_ARGS__    \
    }

#define LAB_X(name) extern const experiment lab_##name;
LAB_EXPERIMENTS(LAB_X)
#undef LAB_X

/* ---- Options ----------------------------------------------------------- */

extern const option_row lab_options[]; /* of every experiment */

typedef struct lab_result lab_result;

/* A run. What it prints and draws goes to the result. */
typedef struct lab {
    uint64_t seed;
    bool is_quick; /* a run of a fraction of a second is wanted */
    /* The rest belongs to the frame. */
    bool as_json, with_times;
    const char *csv, *svg;
    const args *args;
    const experiment *experiment;
    lab_result *result;
} lab;

/* What was chosen or, if that is 0, the default: `quick` if a quick run is wanted. */
uint64_t lab_choice(const lab *l, uint64_t chosen, uint64_t usual, uint64_t quick);

/* ---- Random numbers and keys ------------------------------------------- */

typedef struct lab_random {
    uint64_t state;
} lab_random;

/* A stream of its own for each purpose. */
lab_random lab_stream(const lab *l, uint64_t purpose);
/* One stream never gives a number twice, so that these are keys, and strangers to earlier ones. */
uint64_t lab_draw(lab_random *r);
/* 0 .. n - 1; the bias, n / 2^64, is of no matter here. */
uint64_t lab_draw_below(lab_random *r, uint64_t n);
/* From 0 to below 1. */
double lab_draw_unit(lab_random *r);
uint64_t lab_draw_poisson(lab_random *r, double mean);
/* Zipf's law: rank i, from 0 to n - 1, comes in proportion to (i + 1)^-power. */
typedef struct lab_zipf {
    double *sums; /* of the shares of all ranks up to each; to be freed */
    size_t n;
} lab_zipf;

lab_zipf lab_zipf_new(uint64_t n, double power);
size_t lab_draw_zipf(const lab_zipf *z, lab_random *r);
/* To be freed. */
uint64_t *lab_draw_keys(lab_random *r, uint64_t n);

/* ---- Filters: what goes wrong ends the program ------------------------- */

/* For keys that are 64-bit numbers, and with the seed of the run; plan.hasher.seed may be changed.
 */
tamis_plan lab_plan(const lab *l, tamis_kind kind, const tamis_spec *spec);
tamis *lab_new(const lab *l, const tamis_plan *plan);
/* All keys are added, or it is built of them if the kind takes them in no other way. */
tamis *lab_filter(const lab *l, const tamis_plan *plan, const uint64_t *keys, uint64_t n);
/* The false positive rate of the filter as it is. */
double lab_rate(const tamis *f);
/* How many of n new keys of the stream are found. */
uint64_t lab_count_hits(const tamis *f, lab_random *r, uint64_t n);
/* Nanoseconds of processor time so far. */
double lab_clock(void);

/* ---- Results ----------------------------------------------------------- */

typedef enum lab_cell_type { CELL_TEXT, CELL_COUNT, CELL_REAL, CELL_INSIDE } lab_cell_type;

typedef struct lab_cell {
    lab_cell_type type;
    bool is_none; /* "-" */
    uint64_t count;
    double real;
    char text[48]; /* as the table shows it */
} lab_cell;

lab_cell lab_text(const char *text);
lab_cell lab_format(const char *format, ...) LIKE_PRINTF(1, 2);
lab_cell lab_count(uint64_t value);
lab_cell lab_real(double value); /* NAN: none */
lab_cell lab_none(void);
/* "yes" or "no": whether what was measured lies in the bounds of theory. The frame counts them. */
lab_cell lab_inside(chance_range range, double value);
/* Four cells: the bounds of theory, what was measured, and whether it lies inside. */
#define LAB_BOUNDS(range, value) \
    lab_real((range).low), lab_real((range).high), lab_real(value), lab_inside(range, value)

/* Words in lower case, before the first row. A time, which differs from run to run, has a star
 * after its name, and is shown only with --time. */
void lab_columns(const lab *l, const char *names);
void lab_row(const lab *l, const lab_cell *cells, size_t n);
#define LAB_ROW(l, ...)                             \
    lab_row((l), (const lab_cell[]){ __VA_ARGS__ }, \
            sizeof((const lab_cell[]){ __VA_ARGS__ }) / sizeof(lab_cell))

/* A paragraph that says what is seen, printed below the table. */
void lab_note(const lab *l, const char *format, ...) LIKE_PRINTF(2, 3);

enum { LAB_CHARTS_MAX = 6 };

/* A panel of the picture, below those before. Texts are to outlive the run. */
chart *lab_chart(const lab *l, const char *title, const char *x, const char *y);

/* ---- The frame --------------------------------------------------------- */

/* NULL if there is none. Those whose kinds were left out of the library are not there. */
const experiment *lab_find(const char *name);
const experiment *lab_at(size_t i);
/* Runs it with the options of `a`, and prints and writes what was asked for. */
void lab_run(const experiment *e, args *a);
/* Runs all of them, and writes their files and index.html in a folder, which is made if it is not
 * there. */
void lab_run_all(const char *folder, uint64_t seed, bool is_quick);

#endif
