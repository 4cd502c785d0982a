/* router.c - a table that is asked all the time and changes now and then.
 *
 *     cc router.c -o router $(pkg-config --cflags --libs tamis) -lpthread && ./router
 *
 * A router keeps the addresses that need care in a pair of filters: one that counts, so that
 * addresses can be withdrawn, and the plain one that packets are checked against, four times
 * smaller. Here two threads check packets for a while; then they do so again while addresses come
 * and go. Addresses that stay are found at every moment. */
#define _POSIX_C_SOURCE 200809L /* with -std=c11, C libraries declare no more than C11 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <tamis_pair.h>
#include <time.h>

enum { ADDRESSES = 1000000, CHANGING = 1000, PACKETS = 4096, THREADS = 2 };

static const double SECONDS = 0.5;

static void check(tamis_status status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "router: %s: %s\n", what, tamis_status_text(status));
    exit(1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static tamis_pair *make_table(void)
{
    tamis_spec spec =
        TAMIS_SPEC(.keys = ADDRESSES + CHANGING, .fpr = 0.01, .hasher.hash = TAMIS_RAW);
    tamis_plan plan;
    tamis_pair *table;

    check(tamis_plan_kind(&plan, TAMIS_COUNTING, &spec), "plan");
    check(tamis_pair_new(&table, &plan, NULL, NULL), "new");
    for (uint64_t i = 0; i < ADDRESSES; i++) {
        size_t added;
        check(tamis_pair_add_many(table, &added, &i, 1), "add");
    }
    return table;
}

/* ---- Packets ----------------------------------------------------------- */

typedef struct lane {
    const tamis *filter;
    uint64_t first; /* address of its packets, of which each is in the table */
    atomic_bool *is_over;
    uint64_t checked, missed;
} lane;

static void *forward(void *arg)
{
    lane *l = arg;
    uint64_t packets[PACKETS], hits[PACKETS / 64], next = l->first;

    while (!atomic_load(l->is_over)) {
        for (int i = 0; i < PACKETS; i++)
            packets[i] = next = (next * 48271 + 11) % ADDRESSES;
        l->missed += PACKETS - tamis_has_many(l->filter, hits, packets, PACKETS);
        l->checked += PACKETS;
    }
    return NULL;
}

/* ---- Changes ----------------------------------------------------------- */

/* A batch of addresses comes and goes, twenty times in a second; nothing changes if not asked to.
 */
static uint64_t change_for_a_while(tamis_pair *table, bool changes)
{
    uint64_t addresses[CHANGING], updates = 0;
    const struct timespec pause = { .tv_nsec = 50000000 };
    double end = now() + SECONDS;
    size_t done;

    for (uint64_t i = 0; i < CHANGING; i++)
        addresses[i] = ADDRESSES + i;
    while (now() < end) {
        if (changes) {
            check(tamis_pair_add_many(table, &done, addresses, CHANGING), "add");
            check(tamis_pair_remove_many(table, &done, addresses, CHANGING), "remove");
            updates += 2 * CHANGING;
        }
        nanosleep(&pause, NULL);
    }
    return updates;
}

static void run(tamis_pair *table, bool changes)
{
    pthread_t threads[THREADS];
    lane lanes[THREADS];
    atomic_bool is_over = false;
    uint64_t checked = 0, missed = 0;
    double start = now();

    for (int i = 0; i < THREADS; i++) {
        lanes[i] = (lane){ tamis_pair_plain(table), (uint64_t)i * 777, &is_over, 0, 0 };
        if (pthread_create(&threads[i], NULL, forward, &lanes[i]))
            exit(1);
    }
    uint64_t updates = change_for_a_while(table, changes);
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        checked += lanes[i].checked;
        missed += lanes[i].missed;
    }
    double seconds = now() - start;
    printf("%7llu updates: %6.1f million packets a second, %llu missed\n",
           (unsigned long long)updates, (double)checked / seconds * 1e-6,
           (unsigned long long)missed);
    if (missed)
        exit(1);
}

int main(void)
{
    tamis_pair *table = make_table();

    printf("counters %llu bytes, plain filter %llu bytes\n",
           (unsigned long long)tamis_plan_of(tamis_pair_counting(table))->bytes,
           (unsigned long long)tamis_plan_of(tamis_pair_plain(table))->bytes);
    run(table, false);
    run(table, true);
    tamis_pair_free(table);
    return 0;
}
