/* shared_map.c - several threads add to one mapped file, and a crash loses nothing that was synced.
 *
 *     cc shared_map.c -o shared_map $(pkg-config --cflags --libs tamis) -lpthread && ./shared_map
 *
 * A writable map changes the file itself. Its header says "dirty" from the first add to the next
 * tamis_sync(). Here a child process adds, syncs, adds more and is killed; the parent is told that
 * the file is dirty, recovers it, and finds every key of the sync. */
#define _POSIX_C_SOURCE 200809L /* with -std=c11, C libraries declare no more than C11 */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <tamis_file.h>
#include <unistd.h>

enum { THREADS = 4, KEYS_EACH = 25000, SYNCED = THREADS * KEYS_EACH };

static const char *const PATH = "shared.tamis";

static void check(tamis_status status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, PATH, tamis_status_text(status));
    exit(1);
}

/* The keys are integers, taken as they are. */
static void make_file(void)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 2 * SYNCED, .fpr = 0.01, .hasher.hash = TAMIS_RAW);
    tamis_plan plan;
    tamis *f;

    check(tamis_plan_kind(&plan, TAMIS_BLOCKED, &spec), "plan");
    check(tamis_new(&f, &plan, NULL), "new");
    check(tamis_save(f, PATH), "save");
    tamis_free(f);
}

/* ---- The writer -------------------------------------------------------- */

typedef struct share {
    tamis *f;
    uint64_t first;
} share;

static void *add_share(void *arg)
{
    const share *s = arg;
    static _Thread_local uint64_t keys[KEYS_EACH];

    size_t added;

    for (uint64_t i = 0; i < KEYS_EACH; i++)
        keys[i] = s->first + i;
    check(tamis_add_concurrent(s->f, &added, keys, KEYS_EACH), "add");
    return NULL;
}

static void add_from_threads(tamis *f, uint64_t first)
{
    pthread_t threads[THREADS];
    share shares[THREADS];

    for (int i = 0; i < THREADS; i++) {
        shares[i] = (share){ f, first + (uint64_t)i * KEYS_EACH };
        if (pthread_create(&threads[i], NULL, add_share, &shares[i]))
            exit(1);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void write_and_die(void)
{
    tamis *f;

    check(tamis_map(&f, PATH, TAMIS_MAP_WRITE, NULL), "map");
    add_from_threads(f, 0);
    check(tamis_sync(f), "sync");
    add_from_threads(f, SYNCED);
    raise(SIGKILL);
}

/* ---- Whoever comes after ----------------------------------------------- */

static uint64_t count_synced(const tamis *f)
{
    uint64_t found = 0;

    for (uint64_t key = 0; key < SYNCED; key++)
        found += tamis_has(f, key);
    return found;
}

int main(void)
{
    tamis *f;

    make_file();
    pid_t child = fork();
    if (child < 0)
        return 1;
    if (child == 0)
        write_and_die();
    waitpid(child, NULL, 0);

    tamis_status status = tamis_load(&f, PATH, NULL);
    printf("load: %s\n", tamis_status_text(status));
    check(tamis_map(&f, PATH, TAMIS_MAP_RECOVER, NULL), "recover");
    printf("recovered: %llu of %d synced keys are there\n", (unsigned long long)count_synced(f),
           (int)SYNCED);
    tamis_free(f);

    check(tamis_load(&f, PATH, NULL), "load");
    puts("load: whole again");
    tamis_free(f);
    return status == TAMIS_DIRTY ? 0 : 1;
}
