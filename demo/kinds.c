/* kinds.c - a spelling checker with every kind of filter.
 *
 *     tamis-demo-kinds WORDS TEXT FOLDER
 *
 * Each kind holds the words of a dictionary at a false positive rate of 1 %. A word of the text
 * that a filter does not have is not in the dictionary; one misspelled word in a hundred is not
 * noticed. The rate is measured on random strings that are not words, and the filters are left in
 * FOLDER.
 *
 * Kinds that are indexed take small integers only: for them a word stands for its hash modulo a
 * hundred times the number of words, so that they have the same rate as the others. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tamis_file.h"

static const double FPR = 0.01;

enum { STRANGERS = 1000000, LOOKUPS = 1 << 20, ROUNDS = 9, LONGEST = 64 };

typedef struct word {
    const char *at;
    size_t size;
} word;

typedef struct words {
    word *at;
    size_t n;
} words;

typedef struct result {
    tamis_plan plan;
    double planned, measured, ns;
    size_t file_size;
    words missed; /* misspelled words that the filter lets through */
} result;

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "tamis-demo-kinds: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static void *need(void *block)
{
    if (!block)
        die("memory", strerror(ENOMEM));
    return block;
}

static void check(tamis_status status, const char *what)
{
    if (status)
        die(what, tamis_status_text(status));
}

/* ---- Words ------------------------------------------------------------- */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t size = 0, room = 1 << 20;
    char *text = need(malloc(room));

    if (!file)
        die(path, strerror(errno));
    while ((size += fread(text + size, 1, room - size, file)) == room)
        text = need(realloc(text, room *= 2));
    text[size] = '\0';
    fclose(file);
    return text;
}

static void append(words *list, word w)
{
    if ((list->n & (list->n - 1)) == 0)
        list->at = need(realloc(list->at, (list->n ? 2 * list->n : 1) * sizeof w));
    list->at[list->n++] = w;
}

static words lines_of(const char *text)
{
    words lines = { 0 };

    for (size_t size; *text; text += size + (text[size] == '\n')) {
        size = strcspn(text, "\n");
        append(&lines, (word){ text, size });
    }
    return lines;
}

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '\'';
}

static words words_of(const char *text)
{
    words found = { 0 };
    size_t size;

    for (; *text; text += size ? size : 1) {
        for (size = 0; is_letter(text[size]); size++)
            ;
        if (size > 0 && size < LONGEST)
            append(&found, (word){ text, size });
    }
    return found;
}

static int compare(const void *a, const void *b)
{
    const word *v = a, *w = b;
    int order = memcmp(v->at, w->at, v->size < w->size ? v->size : w->size);

    return order ? order : (v->size > w->size) - (v->size < w->size);
}

static bool is_in(const words *sorted, word w)
{
    return bsearch(&w, sorted->at, sorted->n, sizeof w, compare) != NULL;
}

/* The first word of a sentence may be in the dictionary in lower case. */
static word in_lower_case(char room[LONGEST], word w)
{
    for (size_t i = 0; i < w.size; i++)
        room[i] = (char)tolower((unsigned char)w.at[i]);
    return (word){ room, w.size };
}

static bool is_listed(const words *dictionary, word w)
{
    char room[LONGEST];

    return is_in(dictionary, w) || is_in(dictionary, in_lower_case(room, w));
}

static words misspelled(const words *dictionary, const words *text)
{
    words found = { 0 };

    for (size_t i = 0; i < text->n; i++)
        if (!is_listed(dictionary, text->at[i]))
            append(&found, text->at[i]);
    return found;
}

/* splitmix64: any sequence would do, as long as it is the same in every run. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);

    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* Eight to eleven letters: so many possible strings that hardly any comes twice. */
static word random_string(char room[12], uint64_t *state)
{
    uint64_t x = next_random(state);
    size_t size = 8 + x % 4;

    x /= 4;
    for (size_t i = 0; i < size; i++, x /= 26)
        room[i] = (char)('a' + x % 26);
    return (word){ room, size };
}

static words strangers(const words *dictionary)
{
    words found = { 0 };
    uint64_t state = 0;
    char(*rooms)[12] = need(calloc(STRANGERS, sizeof *rooms));

    while (found.n < STRANGERS) {
        word w = random_string(rooms[found.n], &state);
        if (!is_listed(dictionary, w))
            append(&found, w);
    }
    return found;
}

/* ---- Filters ----------------------------------------------------------- */

static bool is_indexed(tamis_kind kind)
{
    return tamis_kind_can(kind) & TAMIS_IS_INDEXED;
}

static tamis_status plan_kind(tamis_plan *plan, tamis_kind kind, size_t n)
{
    tamis_spec spec = TAMIS_SPEC(.keys = n, .fpr = FPR);

    if (is_indexed(kind)) {
        spec.keys = (uint64_t)((double)n / FPR);
        spec.hasher.hash = TAMIS_RAW;
    }
    return tamis_plan_kind(plan, kind, &spec);
}

/* For an indexed kind: the probability that the integer of an absent string is that of some word.
 */
static double planned_rate(const tamis_plan *plan, size_t n)
{
    if (!is_indexed(plan->kind))
        return plan->fpr;
    return -expm1((double)n * log1p(-1 / (double)plan->capacity));
}

static uint64_t key_of(const tamis_plan *plan, word w)
{
    const tamis_hasher fast = { .hash = TAMIS_FAST };

    if (!is_indexed(plan->kind))
        return tamis_hasher_key(&plan->hasher, w.at, w.size);
    return tamis_hasher_key(&fast, w.at, w.size) % plan->capacity;
}

static uint64_t *keys_of(const tamis_plan *plan, const words *list)
{
    uint64_t *keys = need(malloc((list->n ? list->n : 1) * sizeof *keys));

    for (size_t i = 0; i < list->n; i++)
        keys[i] = key_of(plan, list->at[i]);
    return keys;
}

static size_t count_hits(const tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t *hits = need(malloc((n / 64 + 1) * sizeof *hits));
    size_t found = tamis_has_many(f, hits, keys, n);

    free(hits);
    return found;
}

static bool has_word(const tamis *f, word w)
{
    const tamis_plan *plan = tamis_plan_of(f);
    char room[LONGEST];

    return tamis_has(f, key_of(plan, w)) || tamis_has(f, key_of(plan, in_lower_case(room, w)));
}

static words let_through(const tamis *f, const words *mistakes)
{
    words found = { 0 };

    for (size_t i = 0; i < mistakes->n; i++)
        if (has_word(f, mistakes->at[i]))
            append(&found, mistakes->at[i]);
    return found;
}

/* ---- Time -------------------------------------------------------------- */

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Every other key is in the filter. */
static uint64_t *mixed_keys(const uint64_t *in, size_t n, const uint64_t *out)
{
    uint64_t *keys = need(malloc(LOOKUPS * sizeof *keys));

    for (size_t i = 0; i < LOOKUPS; i += 2) {
        keys[i] = in[i / 2 % n];
        keys[i + 1] = out[i / 2 % STRANGERS];
    }
    return keys;
}

/* The best of several rounds: whatever made the others slower was not the lookup. No round begins
 * after a second. */
static double time_lookups(const tamis *f, const uint64_t *keys)
{
    double best = INFINITY, begin = now_ns();

    for (int i = 0; i < ROUNDS && now_ns() - begin < 1e9; i++) {
        double start = now_ns();
        count_hits(f, keys, LOOKUPS);
        best = fmin(best, now_ns() - start);
    }
    return best / LOOKUPS;
}

/* ---- One kind after another -------------------------------------------- */

static void save(const tamis *f, const char *folder)
{
    const char *name = tamis_kind_name(tamis_plan_of(f)->kind);
    char path[4096];

    snprintf(path, sizeof path, "%s/%s.tamis", folder, name);
    check(tamis_save(f, path), path);
}

static void try_kind(result *r, const char *folder, const words *dictionary, const words *others,
                     const words *mistakes)
{
    uint64_t *in = keys_of(&r->plan, dictionary), *out = keys_of(&r->plan, others);
    uint64_t *mixed = mixed_keys(in, dictionary->n, out);
    const char *name = tamis_kind_name(r->plan.kind);
    tamis *f;

    check(tamis_build(&f, &r->plan, in, dictionary->n, NULL), name);
    if (count_hits(f, in, dictionary->n) != dictionary->n)
        die(name, "a word that was added is not found");
    r->planned = planned_rate(&r->plan, dictionary->n);
    r->measured = (double)count_hits(f, out, others->n) / (double)others->n;
    r->ns = time_lookups(f, mixed);
    r->missed = let_through(f, mistakes);
    r->file_size = tamis_image_size(f);
    save(f, folder);
    tamis_free(f);
    free(in);
    free(out);
    free(mixed);
}

static void print_words(const words *list)
{
    for (size_t i = 0; i < list->n; i++)
        printf(" %.*s", (int)list->at[i].size, list->at[i].at);
    putchar('\n');
}

static void print_row(const result *r, size_t n, const words *mistakes)
{
    printf("%-16s%c%9.2f %11.4f%% %11.4f%% %10.1f %11zu %6zu of %zu\n",
           tamis_kind_name(r->plan.kind), is_indexed(r->plan.kind) ? '*' : ' ',
           8 * (double)r->plan.bytes / (double)n, 100 * r->planned, 100 * r->measured, r->ns,
           r->file_size, mistakes->n - r->missed.n, mistakes->n);
    if (r->missed.n) {
        printf("    let through:");
        print_words(&r->missed);
    }
}

/* The smallest filter that takes further words and words as they are. */
static bool is_better(const tamis_plan *plan, const tamis_plan *best)
{
    return !is_indexed(plan->kind) && tamis_kind_can(plan->kind) & TAMIS_CAN_ADD &&
           (best->kind == TAMIS_NO_KIND || plan->bytes < best->bytes);
}

/* Returns the plan to go on with. */
static tamis_plan try_all(const char *folder, const words *dictionary, const words *others,
                          const words *mistakes)
{
    tamis_plan best = { .kind = TAMIS_NO_KIND };
    tamis_kind kind = TAMIS_NO_KIND;

    while ((kind = tamis_kind_next(kind)) != TAMIS_NO_KIND) {
        result r = { 0 };
        /* A list of words is all there is. */
        if (!(tamis_kind_can(kind) & TAMIS_CAN_BUILD))
            continue;
        tamis_status status = plan_kind(&r.plan, kind, dictionary->n);
        if (status) {
            printf("%-16s  no filter: %s\n", tamis_kind_name(kind), tamis_status_text(status));
            continue;
        }
        try_kind(&r, folder, dictionary, others, mistakes);
        print_row(&r, dictionary->n, mistakes);
        if (is_better(&r.plan, &best))
            best = r.plan;
        free(r.missed.at);
    }
    return best;
}

/* ---- What is said ------------------------------------------------------ */

static void print_start(char **argv, size_t n, const words *text, const words *mistakes)
{
    printf("tamis %s: %s (%zu words) checked against %s (%zu words)\n\n", tamis_version(), argv[2],
           text->n, argv[1], n);
    printf("Misspelled:");
    print_words(mistakes);
    printf("\n%-17s%9s %12s %12s %10s %11s  %s\n", "kind", "bits/key", "planned fpr",
           "measured fpr", "ns/lookup", "file size", "mistakes found");
}

static void print_end(char **argv, size_t n, const char *name)
{
    const char *slash = strrchr(argv[0], '/');
    int size = slash ? (int)(slash - argv[0] + 1) : 0;
    const char *in = argv[0], *text = argv[2], *folder = argv[3];

    printf("\n* takes integers only: a word is its hash modulo %.0f\n", (double)n / FPR);
    printf("Measured on %d random strings that are not words; looked up %d at a time.\n", STRANGERS,
           LOOKUPS);
    printf("\nThe filters are in %s. Try next:\n\n", folder);
    printf("    %.*stamis info %s/%s.tamis\n", size, in, folder, name);
    printf("    tr A-Z a-z < %s | tr -cs a-z '\\n' | %.*stamis query -v %s/%s.tamis\n", text, size,
           in, folder, name);
    printf("    echo seive | %.*stamis add %s/%s.tamis\n", size, in, folder, name);
    printf("    %.*stamis verify %s/*.tamis\n", size, in, folder);
    printf("    %.*stamis plan --keys 1000000 --fpr 0.001\n", size, in);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        die("usage", "tamis-demo-kinds WORDS TEXT FOLDER");
    char *list = read_file(argv[1]), *prose = read_file(argv[2]);
    words dictionary = lines_of(list), text = words_of(prose);

    if (dictionary.n == 0)
        die(argv[1], "no words");
    qsort(dictionary.at, dictionary.n, sizeof(word), compare);
    words others = strangers(&dictionary), mistakes = misspelled(&dictionary, &text);
    print_start(argv, dictionary.n, &text, &mistakes);
    tamis_plan best = try_all(argv[3], &dictionary, &others, &mistakes);
    if (best.kind != TAMIS_NO_KIND)
        print_end(argv, dictionary.n, tamis_kind_name(best.kind));
    return EXIT_SUCCESS;
}
