/* toy_filter.c - keys with given hashes. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "term/message.h"
#include "text/reader.h"
#include "toy_filter.h"

enum { NUMBERS_MAX = 64 };

typedef struct numbers {
    uint64_t at[NUMBERS_MAX];
    size_t n;
} numbers;

tamis *toy_filter(const tamis_plan *plan, const uint64_t *keys, size_t n)
{
    tamis *f = NULL;
    bool adds = (tamis_kind_can(plan->kind) & TAMIS_CAN_ADD) != 0;
    tamis_status status = adds ? tamis_new(&f, plan, NULL) : tamis_build(&f, plan, keys, n, NULL);

    for (size_t i = 0; adds && !status && i < n; i++)
        status = tamis_add(f, keys[i]);
    if (status)
        die_status("build", "the toy", status);
    return f;
}

/* ---- What was typed ---------------------------------------------------- */

static const char SEPARATORS[] = ", \t\r";

const char *toy_numbers(const char *word)
{
    const char *equals = strrchr(word, '=');

    if (!equals || equals == word || !isdigit((unsigned char)equals[1 + (equals[1] == '-')]))
        return NULL;
    return equals + 1;
}

static _Noreturn void refuse(const char *name, const char *given, const char *why)
{
    die(CODE_USAGE, "show: %s=%s: %s", name, given, why);
}

/* Below 0 they are two's complements of what a filter keeps of a key. */
static uint64_t number_from(toy *t, const char *name, const char *given, const char *digits)
{
    unsigned spare = 64 - (t->spec->tag_bits ? t->spec->tag_bits : 64);
    bool is_negative = *digits == '-';
    char *end;

    errno = 0;
    uint64_t value = strtoull(digits + is_negative, &end, 10);
    if (end == digits + is_negative || errno || strcspn(end, SEPARATORS) ||
        digits[is_negative] == '-')
        refuse(name, given, "give whole numbers with commas between them");
    if (!is_negative)
        return value;
    if (spare == 0 || value > UINT64_C(1) << (63 - spare))
        refuse(name, given, "a number below 0 has no more bits than --remainder-bits tells");
    t->is_signed = true;
    return (0 - value) << spare >> spare;
}

static numbers parse(toy *t, const char *name, const char *given)
{
    numbers all = { 0 };

    for (const char *at = given; *(at += strspn(at, SEPARATORS)); at += strcspn(at, SEPARATORS)) {
        if (all.n == NUMBERS_MAX)
            refuse(name, given, "these are too many numbers");
        all.at[all.n++] = number_from(t, name, given, at);
    }
    if (all.n == 0)
        refuse(name, given, "give the numbers that it hashes to");
    return all;
}

/* ---- What a filter makes of a key -------------------------------------- */

/* Numbers that are told before the first cell is read, without the hash; and the cells. */
typedef struct places {
    numbers before, cells;
    size_t steps;
} places;

static bool take_step(void *ctx, const tamis_step *step)
{
    places *p = ctx;
    numbers *to = step->type == TAMIS_STEP_CELL ? &p->cells : &p->before;

    if (p->steps++ == 0 || step->type == TAMIS_STEP_ANSWER || to->n == NUMBERS_MAX)
        return true;
    if (step->type == TAMIS_STEP_CELL)
        to->at[to->n++] = step->cell.index;
    else if (p->cells.n == 0)
        to->at[to->n++] = step->value;
    return true;
}

static places places_of(const tamis *f, uint64_t key)
{
    places p = { 0 };

    tamis_explain(f, key, take_step, &p);
    return p;
}

static bool ends_with(const numbers *all, const numbers *end)
{
    return all->n >= end->n &&
           memcmp(all->at + all->n - end->n, end->at, end->n * sizeof *end->at) == 0;
}

/* All cells, or the numbers just before them. */
static bool fits(const tamis *f, uint64_t key, const numbers *given, const numbers *cells)
{
    places p = places_of(f, key);

    return ends_with(&p.before, given) || (p.cells.n == cells->n && ends_with(&p.cells, cells));
}

/* ---- The search -------------------------------------------------------- */

/* Three cells of 200 are found in less: a second or two. */
enum { TRIES = 1 << 23 };

/* Fingerprints of quotient filters are the first bits of the hash. */
static uint64_t key_by_fingerprint(const toy *t, const numbers *given)
{
    unsigned q = t->spec->quotient_bits, r = t->spec->tag_bits;
    bool is_one = given->n == 2 && q > 0 && r > 0 && q + r <= 64 && given->at[0] >> q == 0 &&
                  (r == 64 || given->at[1] >> r == 0);

    if (!is_one)
        return 0;
    return tamis_key_with_hash(t->empty, (given->at[0] << r | given->at[1]) << (64 - q - r));
}

/* How many numbers may be given: those of a key that reads no cell twice. */
static places places_of_most(const tamis *f)
{
    places most = places_of(f, 0);

    for (uint64_t key = 1; key < 64; key++) {
        places p = places_of(f, key);
        most = p.cells.n > most.cells.n ? p : most;
    }
    return most;
}

static bool take_last(void *ctx, const tamis_cell *cell)
{
    uint64_t *last = ctx;

    *last = cell->index > *last ? cell->index : *last;
    return true;
}

static void check_cells(const toy *t, const char *name, const char *text, const numbers *cells)
{
    uint64_t last = 0;

    if (tamis_visit_cells(t->empty, take_last, &last))
        return;
    for (size_t i = 0; i < cells->n; i++)
        if (cells->at[i] > last)
            die(CODE_USAGE, "show: %s=%s: cells are called %" PRIu64 " to %" PRIu64, name, text,
                t->first, t->first + last);
}

static uint64_t search(toy *t, const char *name, const char *text)
{
    numbers given = parse(t, name, text), cells = given;
    places some = places_of_most(t->empty);

    for (size_t i = 0; i < cells.n; i++)
        cells.at[i] -= t->first;
    uint64_t key = key_by_fingerprint(t, &given);
    if (fits(t->empty, key, &given, &cells))
        return key;
    if (given.n != some.cells.n && given.n > some.before.n)
        die(CODE_USAGE, "show: %s=%s: a key of this filter reads %zu cells, so give %zu numbers",
            name, text, some.cells.n, some.cells.n);
    if (given.n == some.cells.n)
        check_cells(t, name, text, &cells);
    for (key = 1; key < TRIES; key++)
        if (fits(t->empty, key, &given, &cells))
            return key;
    die(CODE_LIMIT, "show: %s=%s: %d keys were tried and none hashes so; take fewer cells", name,
        text, TRIES);
}

/* ---- Names ------------------------------------------------------------- */

void toy_define(toy *t, const char *name, const char *given)
{
    bool is_new;
    size_t i = names_enter(&t->names, name, &is_new);
    uint64_t key = search(t, name, given);

    if (is_new)
        buffer_append(&t->keys, &key, sizeof key);
    else if (key != toy_key(t, name))
        refuse(names_at(&t->names, i), given, "it has other numbers already");
}

static void define_line(toy *t, char *line)
{
    char *name = line + strspn(line, SEPARATORS), *end = name + strcspn(name, ", \t\r=");

    if (*name == 0 || *name == '#')
        return;
    char *given = *end ? end + 1 : end;
    *end = 0;
    toy_define(t, name, given);
}

static void take_line(void *ctx, char *line, size_t size)
{
    (void)size;
    define_line(ctx, line);
}

void toy_read(toy *t, const char *path)
{
    reader_each_line(path, take_line, t);
}

uint64_t toy_key(const toy *t, const char *name)
{
    size_t i = names_find(&t->names, name);

    if (i == SIZE_MAX)
        die(CODE_USAGE, "show: no hash is given for '%s'; write %s=P,P,... or give a --table", name,
            name);
    return ((const uint64_t *)(const void *)t->keys.bytes)[i];
}

void toy_free(toy *t)
{
    names_free(&t->names);
    buffer_free(&t->keys);
    tamis_free(t->empty);
}
