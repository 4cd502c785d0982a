/* join.c - orders of known customers: a filter in front of an exact join.
 *
 *     cc join.c -o join $(pkg-config --cflags --libs tamis)
 *     ./join customers.tsv orders.tsv
 *
 * Both files have lines of 4095 bytes at most: a key, a TAB and some text. The small file, where no
 * key comes twice, is sorted in memory. Lines of the large one are read, and forgotten at once if
 * the filter says that their key is not in the small file: most are not even looked for. The others
 * are searched for, so that what is printed is exact. Without arguments, it makes up both. */
#define _POSIX_C_SOURCE 200809L /* with -std=c11, C libraries declare no more than C11 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis.h>

enum { CUSTOMERS = 1000, ORDERS = 100000, LINE = 4096 };

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "join: %s: %s\n", what, why);
    exit(1);
}

/* ---- The small file ---------------------------------------------------- */

typedef struct table {
    char **lines; /* sorted by their keys */
    size_t n, room;
    tamis *filter;
} table;

static size_t key_size(const char *line)
{
    return strcspn(line, "\t\n");
}

static int compare(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    size_t nx = key_size(x), ny = key_size(y);
    int order = memcmp(x, y, nx < ny ? nx : ny);

    return order ? order : (nx > ny) - (nx < ny);
}

static void table_read(table *t, FILE *file)
{
    char line[LINE];

    while (fgets(line, sizeof line, file)) {
        if (t->n == t->room) {
            t->room = t->room ? 2 * t->room : 64;
            t->lines = realloc(t->lines, t->room * sizeof *t->lines);
        }
        if (!t->lines || !(t->lines[t->n++] = strdup(line)))
            die("the table", "out of memory");
    }
    qsort(t->lines, t->n, sizeof *t->lines, compare);
}

/* One in a hundred of the other keys passes, for about ten bits each. */
static void table_filter(table *t)
{
    tamis_spec spec = TAMIS_SPEC(.keys = t->n ? t->n : 1, .fpr = 0.01);
    tamis_plan plan;
    tamis_status status;

    if ((status = tamis_plan_kind(&plan, TAMIS_BLOCKED, &spec)) ||
        (status = tamis_new(&t->filter, &plan, NULL)))
        die("the filter", tamis_status_text(status));
    for (size_t i = 0; i < t->n; i++)
        if ((status =
                 tamis_add(t->filter, tamis_key(t->filter, t->lines[i], key_size(t->lines[i])))))
            die("the filter", tamis_status_text(status));
}

static void table_free(table *t)
{
    while (t->n > 0)
        free(t->lines[--t->n]);
    free(t->lines);
    tamis_free(t->filter);
}

/* ---- The large file ---------------------------------------------------- */

static void join(const table *t, FILE *file)
{
    char line[LINE], *at = line, **found;
    unsigned long rows = 0, dropped = 0, in_vain = 0;

    for (; fgets(line, sizeof line, file); rows++) {
        if (!tamis_has(t->filter, tamis_key(t->filter, line, key_size(line)))) {
            dropped++;
            continue;
        }
        found = bsearch(&at, t->lines, t->n, sizeof *t->lines, compare);
        in_vain += !found;
        if (found)
            printf("%.*s%s", (int)strcspn(line, "\n"), line, *found + key_size(*found));
    }
    fprintf(stderr, "%lu rows: %lu dropped by the filter, %lu searched for in vain, %lu found\n",
            rows, dropped, in_vain, rows - dropped - in_vain);
}

/* ---- Files ------------------------------------------------------------- */

/* `n` lines, of every step-th customer. */
static FILE *made_up(const char *text, unsigned n, unsigned step)
{
    FILE *file = tmpfile();

    if (!file)
        die("made-up lines", "no file can be made");
    for (unsigned i = 0; i < n; i++)
        fprintf(file, "customer-%u\t%s %u\n", i * step, text, i);
    rewind(file);
    return file;
}

static FILE *opened(const char *path)
{
    FILE *file = fopen(path, "r");

    if (!file)
        die(path, "cannot be read");
    return file;
}

int main(int argc, char **argv)
{
    bool is_given = argc == 3;
    FILE *small = is_given ? opened(argv[1]) : made_up("city", CUSTOMERS, 100);
    FILE *large = is_given ? opened(argv[2]) : made_up("order", ORDERS, 1);
    table t = { 0 };

    table_read(&t, small);
    table_filter(&t);
    join(&t, large);
    table_free(&t);
    fclose(small);
    fclose(large);
    return 0;
}
