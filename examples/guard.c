/* guard.c - a filter in front of a slow store.
 *
 *     cc guard.c -o guard $(pkg-config --cflags --libs tamis)
 *     ./guard /usr/share/dict/words sieve seive
 *
 * The store is a text file that is read from its start at every lookup. Every lookup has one of
 * three outcomes, and only the last one costs what the filter was meant to save:
 *
 *   the filter says no                    certain; the store is not read
 *   it says yes, and the store has it     the store would have been read anyway
 *   it says yes, and the store has not    a false positive: read in vain, still answered right */
#define _POSIX_C_SOURCE 200809L /* with -std=c11, C libraries declare no more than C11 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis.h>

typedef enum { STOPPED, FOUND, IN_VAIN, OUTCOMES } outcome;

static const char *const MEANING[OUTCOMES] = {
    "no, store not read",
    "yes, store has it",
    "no, store read in vain",
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "guard: %s\n", what);
    exit(1);
}

/* ---- The slow store ---------------------------------------------------- */

/* Calls visit for each line, without its end, until that returns true: then so does this. */
typedef bool visitor(void *ctx, const char *line);

static bool read_store(const char *path, visitor *visit, void *ctx)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    bool stopped = false;

    if (!file)
        die("cannot open the store");
    while (!stopped && getline(&line, &room, file) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        stopped = visit(ctx, line);
    }
    free(line);
    fclose(file);
    return stopped;
}

static bool is_wanted(void *ctx, const char *line)
{
    return strcmp(ctx, line) == 0;
}

static bool store_has(const char *path, char *word)
{
    return read_store(path, is_wanted, word);
}

/* ---- The guard --------------------------------------------------------- */

static bool count_line(void *ctx, const char *line)
{
    (void)line;
    ++*(uint64_t *)ctx;
    return false;
}

static bool add_line(void *ctx, const char *line)
{
    tamis *f = ctx;

    if (tamis_add(f, tamis_key(f, line, strlen(line))))
        die("cannot add");
    return false;
}

static tamis *guard_for(const char *path)
{
    tamis_spec spec = TAMIS_SPEC(.fpr = 0.01);
    tamis_plan plan;
    tamis *f;

    read_store(path, count_line, &spec.keys);
    if (tamis_plan_kind(&plan, TAMIS_BLOCKED, &spec) || tamis_new(&f, &plan, NULL))
        die("cannot make the filter");
    read_store(path, add_line, f);
    return f;
}

static outcome look_up(const tamis *guard, const char *path, char *word)
{
    if (!tamis_has(guard, tamis_key(guard, word, strlen(word))))
        return STOPPED;
    return store_has(path, word) ? FOUND : IN_VAIN;
}

/* ---- A thousand words that are none ------------------------------------ */

static void tally_absent(const tamis *guard, const char *path)
{
    unsigned tally[OUTCOMES] = { 0 };

    for (int i = 0; i < 1000; i++) {
        char word[32];
        snprintf(word, sizeof word, "no-such-word-%d", i);
        tally[look_up(guard, path, word)]++;
    }
    puts("1000 words that are not there:");
    for (int i = 0; i < OUTCOMES; i++)
        printf("  %4u  %s\n", tally[i], MEANING[i]);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        die("give the file of the store, then words to look up");
    tamis *guard = guard_for(argv[1]);
    for (int i = 2; i < argc; i++)
        printf("%s: %s\n", argv[i], MEANING[look_up(guard, argv[1], argv[i])]);
    tally_absent(guard, argv[1]);
    tamis_free(guard);
    return 0;
}
