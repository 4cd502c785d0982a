/* tables.h - hash tables as lectures have them: five ways to deal with keys of one home. */
#ifndef TAMIS_APPS_LAB_TABLES_H
#define TAMIS_APPS_LAB_TABLES_H

#include "args/args.h"

typedef enum tables_way {
    TABLES_CHAINING,
    TABLES_LINEAR,
    TABLES_QUADRATIC,
    TABLES_DOUBLE,
    TABLES_ROBIN_HOOD,
    TABLES_N
} tables_way;

/* Names, and what becomes of a key whose home is taken. */
extern const word_row tables_ways[TABLES_N + 1];

/* Keys are known by their number; the home is hash % slots. */
typedef struct tables_entry {
    uint64_t key, hash, value;
    bool is_used;
    bool is_gone; /* removed: a search goes on, as there may be more behind */
    size_t next;  /* of a list: the number of the next entry + 1; 0: it ends */
} tables_entry;

typedef struct tables {
    tables_way way;
    size_t slots, n;
    tables_entry *entries; /* of chaining: all, in no order, `slots` of them at most */
    size_t *heads;         /* of chaining: as next */
    size_t free;           /* of chaining: as next, of those that are not used */
} tables;

tables tables_new(tables_way way, size_t slots);
void tables_free(tables *t);

/* Where a key is, and what it took to find that out. */
typedef struct tables_place {
    bool found;
    size_t slot;   /* if it is found; of chaining, its home */
    size_t probes; /* entries and empty slots that were looked at; of chaining, entries alone */
    tables_entry *entry;
} tables_place;

tables_place tables_get(const tables *t, uint64_t key, uint64_t hash);
/* A new key, or another value for one that is there. False: there is no room for it. */
bool tables_put(tables *t, uint64_t key, uint64_t hash, uint64_t value);
bool tables_remove(tables *t, uint64_t key, uint64_t hash);
/* The entry that is the next one in use from *at on, which moves on; NULL: there is no more. */
const tables_entry *tables_next(const tables *t, size_t *at);

#endif
