/* replicas.c - are two copies of a set equal? Filters are exchanged instead of names.
 *
 *     cc replicas.c -o replicas $(pkg-config --cflags --libs tamis) && ./replicas
 *
 * Sums of hashes tell whether two sets are equal, in 8 bytes. If they are not, each side sends a
 * filter of its names. A name that is not in the filter of the other side is missing there, for
 * certain; one that is missing passes by mistake with the rate of the filter. So this is repeated
 * with another seed, until the sums of all names that are left agree. */
#include <stdio.h>
#include <stdlib.h>
#include <tamis.h>

enum { NAMES = 50000, ROUNDS_MOST = 20 };

static const double RATE = 1.0 / 16;

static void check(tamis_status status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "replicas: %s: %s\n", what, tamis_status_text(status));
    exit(1);
}

typedef struct replica {
    uint64_t keys[NAMES]; /* of names; those found to be missing on the other side are gone */
    size_t n;
    size_t missing; /* there */
} replica;

/* The first lacks every 500th name, the second others, every 1,000th. */
static void fill(replica *r, int every, int hole)
{
    tamis_hasher by = { .hash = TAMIS_KEYED, .secret = "drawn at random" };
    char name[64];

    for (int i = 0; i < NAMES; i++)
        if (i % every != hole)
            r->keys[r->n++] = tamis_hasher_key(
                &by, name, (size_t)snprintf(name, sizeof name, "photos/%d.jpg", i));
}

/* Sums of 64-bit hashes are equal by accident once in 2^64 times. They must not be the keys of the
 * filters, or a mistake of these would not show. */
static uint64_t sum(const replica *r)
{
    tamis_hasher by = { .hash = TAMIS_KEYED, .secret = "and another one" };
    uint64_t total = 0;

    for (size_t i = 0; i < r->n; i++)
        total += tamis_hasher_key(&by, &r->keys[i], sizeof r->keys[i]);
    return total;
}

/* As it would be sent: its size is what crosses the line. */
static tamis *make_filter(const replica *r, uint64_t seed, size_t *sent)
{
    tamis_spec spec =
        TAMIS_SPEC(.keys = r->n, .fpr = RATE, .hasher = { .hash = TAMIS_RAW, .seed = seed });
    tamis_plan plan;
    tamis *f;

    check(tamis_plan_kind(&plan, TAMIS_RIBBON, &spec), "plan");
    check(tamis_build(&f, &plan, r->keys, r->n, NULL), "build");
    *sent += tamis_image_size(f);
    return f;
}

/* Names that the other side lacks are found, and leave the set. */
static void sift(replica *r, const tamis *there)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->n; i++)
        if (tamis_has(there, r->keys[i]))
            r->keys[kept++] = r->keys[i];
    r->missing += r->n - kept;
    r->n = kept;
}

int main(void)
{
    static replica a, b;
    size_t sent = 0;
    int round = 0;

    fill(&a, 500, 7);
    fill(&b, 1000, 9);
    while (sum(&a) != sum(&b) && round < ROUNDS_MOST) {
        tamis *of_a = make_filter(&a, (uint64_t)++round, &sent);
        tamis *of_b = make_filter(&b, (uint64_t)round, &sent);

        sift(&a, of_b);
        sift(&b, of_a);
        printf("round %d: %zu only here, %zu only there, %zu bytes so far\n", round, a.missing,
               b.missing, sent);
        tamis_free(of_a);
        tamis_free(of_b);
    }
    printf("%zu names are the same; the chance that something was overlooked is %.1e\n", a.n,
           (round + 1) * 5.4e-20);
    return a.n != b.n || a.missing != NAMES / 1000 || b.missing != NAMES / 500;
}
