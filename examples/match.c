/* match.c - which of many fixed strings occur in a text, and where.
 *
 *     cc match.c -o match $(pkg-config --cflags --libs tamis) && ./match
 *
 * A pattern can only begin where its first eight bytes are in the text. So a filter holds these
 * eight bytes of each pattern, as a number: one load per position makes the key, and one call asks
 * for 512 positions at a time. What passes is looked up in the sorted patterns, and compared. The
 * filter is never wrong when it says no: no match is missed, and most of the text is never
 * compared with anything. `tamis match` does the same for patterns of all sizes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis.h>

enum { PATTERNS = 100000, WORDS = 200000, BATCH = 512, WINDOW = 8, ROOM = 40 };

static char patterns[PATTERNS][ROOM];

static uint64_t window_at(const char *at)
{
    uint64_t window;

    memcpy(&window, at, sizeof window);
    return window;
}

/* By the window as a number, then by the rest. */
static int compare(const void *left, const void *right)
{
    uint64_t a = window_at(left), b = window_at(right);

    return a != b ? (a < b ? -1 : 1) : strcmp(left, right);
}

static tamis_status make_filter(tamis **filter)
{
    tamis_spec spec = TAMIS_SPEC(.keys = PATTERNS, .fpr = 0.001, .hasher = { .hash = TAMIS_RAW });
    uint64_t *windows = malloc(PATTERNS * sizeof *windows);
    tamis_plan plan;
    tamis_status status = windows ? tamis_plan_kind(&plan, TAMIS_BLOCKED, &spec) : TAMIS_NOMEM;

    for (size_t i = 0; !status && i < PATTERNS; i++)
        windows[i] = window_at(patterns[i]);
    if (!status)
        status = tamis_build(filter, &plan, windows, PATTERNS, NULL);
    free(windows);
    return status;
}

/* How many patterns begin here. */
static size_t matches_at(const char *text)
{
    uint64_t window = window_at(text);
    size_t low = 0, high = PATTERNS, n = 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (window_at(patterns[middle]) < window)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < PATTERNS && window_at(patterns[low]) == window; low++)
        n += strncmp(patterns[low], text, strlen(patterns[low])) == 0;
    return n;
}

typedef struct findings {
    size_t passed, matches;
} findings;

/* WINDOW bytes more than `size` can be read. */
static findings find(const tamis *filter, const char *text, size_t size)
{
    uint64_t keys[BATCH], hits[BATCH / 64];
    findings found = { 0, 0 };

    for (size_t at = 0; at < size; at += BATCH) {
        size_t n = size - at < BATCH ? size - at : BATCH;

        for (size_t i = 0; i < n; i++)
            keys[i] = window_at(text + at + i);
        found.passed += tamis_has_many(filter, hits, keys, n);
        for (size_t i = 0; i < n; i++)
            if (hits[i / 64] >> i % 64 & 1)
                found.matches += matches_at(text + at + i);
    }
    return found;
}

/* Every hundredth word is a pattern. Returns how many those are. */
static size_t make_text(char *text, size_t room, size_t *size)
{
    size_t planted = 0;

    *size = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        unsigned account = i % 100 ? PATTERNS + i : i * 7 % PATTERNS;

        planted += i % 100 == 0;
        *size += (size_t)snprintf(text + *size, room - *size, "%u@mail.example.org ", account);
    }
    return planted;
}

int main(void)
{
    size_t room = (size_t)WORDS * ROOM + WINDOW, size;
    char *text = calloc(room, 1);
    tamis *filter = NULL;

    for (unsigned i = 0; i < PATTERNS; i++)
        snprintf(patterns[i], ROOM, " %u@mail.example.org ", i);
    qsort(patterns, PATTERNS, ROOM, compare);
    tamis_status status = text ? make_filter(&filter) : TAMIS_NOMEM;
    if (status) {
        fprintf(stderr, "match: %s\n", tamis_status_text(status));
        return 1;
    }
    text[0] = ' '; /* so that the first word has a blank before it, too */
    size_t planted = make_text(text + 1, room - WINDOW - 1, &size);
    findings found = find(filter, text, size + 1);
    printf("%zu bytes of text, %d patterns: %zu positions passed the filter, %zu matches\n",
           size + 1, PATTERNS, found.passed, found.matches);
    tamis_free(filter);
    free(text);
    return found.matches != planted;
}
