/* whitelist.c - one mapped filter, asked by several processes, and kept up to date.
 *
 *     cc whitelist.c -o whitelist $(pkg-config --cflags --libs tamis) && ./whitelist
 *
 * The large filter is built once and mapped by everybody: its pages are in memory once, however
 * many processes ask. It never changes. What came since then is in a small second filter, which is
 * made anew each time, and what went is in a short exact list, which is asked first: so an address
 * that was taken off is refused for certain. A million addresses here; a billion take the same
 * steps. */
#define _POSIX_C_SOURCE 200809L /* with -std=c11, C libraries declare no more than C11 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <tamis_builder.h>
#include <unistd.h>

enum { LISTED = 1000000, ADDED = 1000, GONE = 10, PROCESSES = 4 };

static const char *const BASE = "whitelist.tamis", *const TODAY = "today.tamis";

static void check(tamis_status status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %s\n", what, tamis_status_text(status));
    exit(1);
}

static size_t address(char text[64], int i)
{
    return (size_t)snprintf(text, 64, "user%d@mail%d.example", i, i % 1000);
}

/* ---- Who publishes it -------------------------------------------------- */

/* Of addresses first .. first + n - 1. */
static void publish(const char *path, int first, int n)
{
    tamis_spec spec = TAMIS_SPEC(.fpr = 0.004);
    tamis_build_options options = TAMIS_BUILD_OPTIONS(.memory = 64 << 20);
    tamis_builder *b;
    char text[64];

    check(tamis_builder_new(&b, TAMIS_FUSE, &spec, &options), "build");
    for (int i = first; i < first + n; i++) {
        uint64_t key = tamis_hasher_key(&spec.hasher, text, address(text, i));

        check(tamis_builder_add_many(b, &key, 1), "add");
    }
    check(tamis_builder_save(b, path, NULL), path);
    tamis_builder_free(b);
}

/* ---- Who asks ---------------------------------------------------------- */

typedef struct whitelist {
    tamis *base, *today;
    uint64_t gone[GONE]; /* keys that were taken off */
} whitelist;

static void open_list(whitelist *w)
{
    char text[64];

    check(tamis_map(&w->base, BASE, 0, NULL), BASE);
    check(tamis_map(&w->today, TODAY, 0, NULL), TODAY);
    for (int i = 0; i < GONE; i++)
        w->gone[i] = tamis_key(w->base, text, address(text, 1000 * i));
}

static bool allows(const whitelist *w, const char *text, size_t size)
{
    uint64_t key = tamis_key(w->base, text, size);

    for (int i = 0; i < GONE; i++)
        if (w->gone[i] == key)
            return false;
    return tamis_has(w->base, key) || tamis_has(w->today, key);
}

/* One of the processes: its share of all addresses, and as many that nobody listed. */
static int answer(int process)
{
    int refused = 0, wrong = 0;
    whitelist w;
    char text[64];

    open_list(&w);
    for (int i = process; i < LISTED + ADDED; i += PROCESSES) {
        refused += !allows(&w, text, address(text, i));
        wrong += allows(&w, text, address(text, i + 2 * LISTED));
    }
    printf("process %d: refused %d of %d listed, let %d of as many others pass\n", process, refused,
           (LISTED + ADDED) / PROCESSES, wrong);
    /* A share of those that are gone, and about 0.8 % of others: two filters, 1/256 each. */
    return fflush(stdout) || refused > GONE || wrong > (LISTED + ADDED) / PROCESSES / 64;
}

int main(void)
{
    int failed = 0, status;

    publish(BASE, 0, LISTED);
    publish(TODAY, LISTED, ADDED);
    for (int i = 0; i < PROCESSES; i++) {
        pid_t child = fork();

        if (child < 0)
            return 1;
        if (child == 0)
            _exit(answer(i));
    }
    while (wait(&status) > 0)
        failed |= status;
    return failed != 0;
}
