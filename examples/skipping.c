/* skipping.c - which blocks of a table need not be read? One filter for each, in one file.
 *
 *     cc skipping.c -o skipping $(pkg-config --cflags --libs tamis)
 *     ./skipping blocks.tms
 *
 * A table of orders is stored in blocks. Recent blocks are asked far more often than old ones, so
 * that memory for their filters is shared by that (tamis_budget.h), and the filters are kept in one
 * collection (tamis_collection.h). A query for a customer then reads only the blocks whose filter
 * does not say no. */
#include <stdio.h>
#include <stdlib.h>
#include <tamis_budget.h>
#include <tamis_collection.h>

enum { BLOCKS = 50, CUSTOMERS = 2000 }; /* in each block */

static _Noreturn void die(const char *what, tamis_status status)
{
    fprintf(stderr, "skipping: %s: %s\n", what, tamis_status_text(status));
    exit(1);
}

/* The i-th customer of a block: some number that is in no other block. */
static uint64_t customer(unsigned block, unsigned i)
{
    return (uint64_t)block * 1000003 + i;
}

static void name_of(char name[16], unsigned block)
{
    snprintf(name, 16, "block-%02u", block);
}

/* ---- A plan ------------------------------------------------------------ */

/* Bytes for each block, 0 for none. Block 0 is the latest; block i is asked 1 / (i + 1) as often.
 */
static void plan(uint64_t bytes[BLOCKS], uint64_t total)
{
    tamis_spec spec = TAMIS_SPEC(.keys = CUSTOMERS, .hasher.hash = TAMIS_RAW);
    tamis_size sizes[TAMIS_SIZES_MAX]; /* all blocks have as many customers, and so one list */
    size_t n = tamis_budget_sizes(sizes, TAMIS_PARTITIONED, &spec);
    tamis_claim claims[BLOCKS] = { 0 };
    tamis_budget result;

    for (unsigned i = 0; i < BLOCKS; i++) {
        claims[i].weight = 1.0 / (i + 1);
        claims[i].sizes = sizes;
        claims[i].n = n;
    }
    tamis_status status = tamis_budget_choose(&result, claims, BLOCKS, total, NULL);
    if (status)
        die("plan", status);
    for (unsigned i = 0; i < BLOCKS; i++)
        bytes[i] = claims[i].size ? claims[i].size->bytes : 0;
    printf("latest block %llu bytes, oldest %llu, all %llu\n", (unsigned long long)bytes[0],
           (unsigned long long)bytes[BLOCKS - 1], (unsigned long long)result.bytes);
}

/* ---- The collection ---------------------------------------------------- */

static tamis *filter_of(unsigned block, uint64_t bytes)
{
    tamis_spec spec = TAMIS_SPEC(.keys = CUSTOMERS, .max_bytes = bytes, .hasher.hash = TAMIS_RAW);
    uint64_t keys[CUSTOMERS];
    tamis_plan how;
    tamis *f;

    for (unsigned i = 0; i < CUSTOMERS; i++)
        keys[i] = customer(block, i);
    tamis_status status = tamis_plan_kind(&how, TAMIS_PARTITIONED, &spec);
    if (!status)
        status = tamis_build(&f, &how, keys, CUSTOMERS, NULL);
    if (status)
        die("build", status);
    return f;
}

static void write_all(const char *path, const uint64_t bytes[BLOCKS])
{
    tamis_editor *e;
    char name[16];
    tamis_status status = tamis_editor_open(&e, path, 0, NULL);

    for (unsigned i = 0; i < BLOCKS && !status; i++) {
        if (bytes[i] == 0)
            continue;
        tamis *f = filter_of(i, bytes[i]);
        name_of(name, i);
        status = tamis_editor_put(e, name, f);
        tamis_free(f);
    }
    if (!status)
        status = tamis_editor_save(e);
    if (status)
        die(path, status);
    tamis_editor_free(e);
}

/* ---- Queries ----------------------------------------------------------- */

/* A block without a filter has to be read; and so has one whose filter is damaged. */
static unsigned blocks_to_read(const tamis_collection *c, uint64_t who)
{
    unsigned n = 0;
    char name[16];
    tamis *f;

    for (unsigned i = 0; i < BLOCKS; i++) {
        name_of(name, i);
        if (tamis_collection_get(c, &f, name, NULL)) {
            n++;
            continue;
        }
        n += tamis_has(f, who);
        tamis_free(f);
    }
    return n;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "blocks.tms";
    uint64_t bytes[BLOCKS];
    tamis_collection *c;
    unsigned reads = 0;

    plan(bytes, BLOCKS * CUSTOMERS); /* eight bits per customer */
    write_all(path, bytes);
    tamis_status status = tamis_collection_open(&c, path, NULL);
    if (status)
        die(path, status);
    for (unsigned i = 0; i < 100; i++)
        reads += blocks_to_read(c, customer(i % BLOCKS, i));
    printf("100 customers: %u blocks read instead of %d\n", reads, 100 * BLOCKS);
    tamis_collection_free(c);
    return 0;
}
