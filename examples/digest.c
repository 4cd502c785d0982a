/* digest.c - peers tell each other what they have, each by a filter.
 *
 *     cc digest.c -o digest $(pkg-config --cflags --libs tamis) && ./digest
 *
 * Three caches have 20,000 pages each. Each makes a filter of their addresses and gives it to the
 * others, as bytes: its digest. Then a cache that lacks a page knows whom to ask. Nobody is asked
 * in vain but by mistake, at the rate of the filters; a page that some peer has is never
 * overlooked. */
#include <stdio.h>
#include <stdlib.h>
#include <tamis.h>

enum { PEERS = 3, PAGES = 20000, ASKED = 60000 };

static void check(tamis_status status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "digest: %s: %s\n", what, tamis_status_text(status));
    exit(1);
}

/* Page number i of the web. */
static size_t address(char url[64], int i)
{
    return (size_t)snprintf(url, 64, "http://www%d.example/page/%d", i % 97, i);
}

/* Half of what a peer has, the next one has too. */
static int has_page(int peer, int i)
{
    return i >= peer * PAGES / 2 && i < peer * PAGES / 2 + PAGES;
}

/* ---- A peer ------------------------------------------------------------ */

typedef struct bytes {
    void *at;
    size_t size;
} bytes;

/* All peers have the same plan, so that their filters can be merged as well. */
static bytes make_digest(const tamis_plan *plan, int peer)
{
    tamis *f;
    bytes b;
    char url[64];

    check(tamis_new(&f, plan, NULL), "new");
    for (int i = peer * PAGES / 2; has_page(peer, i); i++)
        check(tamis_add(f, tamis_key(f, url, address(url, i))), "add");
    b.size = tamis_image_size(f);
    b.at = malloc(b.size);
    if (!b.at)
        exit(1);
    check(tamis_image_write(f, b.at, b.size), "write");
    tamis_free(f);
    return b;
}

/* ---- The cache --------------------------------------------------------- */

/* Every byte of a digest is checked: it came from somebody else. */
static tamis *take_digest(bytes b)
{
    tamis *f;

    check(tamis_image_read(&f, b.at, b.size, NULL), "read");
    free(b.at);
    return f;
}

static double cardinality(const tamis *f)
{
    tamis_info info;

    tamis_get_info(f, &info);
    return info.cardinality;
}

/* What two peers have in common, from their filters alone. */
static double in_common(const tamis *a, const tamis *b)
{
    tamis *both;

    check(tamis_clone(&both, a, NULL), "clone");
    check(tamis_combine(both, TAMIS_MERGE, b), "merge");
    double either = cardinality(both);
    tamis_free(both);
    return cardinality(a) + cardinality(b) - either;
}

int main(void)
{
    tamis_spec spec = TAMIS_SPEC(.keys = PAGES, .fpr = 0.01);
    tamis *peers[PEERS];
    int found = 0, vain = 0, missed = 0;
    tamis_plan plan;
    char url[64];

    check(tamis_plan_kind(&plan, TAMIS_BLOOM, &spec), "plan");
    for (int peer = 0; peer < PEERS; peer++) {
        bytes b = make_digest(&plan, peer);

        printf("peer %d: %d pages, a digest of %zu bytes\n", peer, (int)PAGES, b.size);
        peers[peer] = take_digest(b);
    }
    for (int i = 0; i < ASKED; i++)
        for (int peer = 0; peer < PEERS; peer++) {
            int says = tamis_has(peers[peer], tamis_key(peers[peer], url, address(url, i)));

            found += says && has_page(peer, i);
            vain += says && !has_page(peer, i);
            missed += !says && has_page(peer, i);
        }
    printf("%d pages found at a peer, %d asked for in vain, %d overlooked\n", found, vain, missed);
    printf("peers 0 and 1 have about %.0f pages in common\n", in_common(peers[0], peers[1]));
    for (int peer = 0; peer < PEERS; peer++)
        tamis_free(peers[peer]);
    return missed > 0 || found != PEERS * PAGES;
}
