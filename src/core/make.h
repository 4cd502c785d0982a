/* make.h - the engine: filters that are made from all their keys at once.
 *
 *   keys in an array, or what a builder's spill holds        kinds that exclude have two lists
 *        |
 *        |  tamis__make_items(): a key becomes an item, the same way everywhere
 *        v
 *   list of items   | bucket 0 | bucket 1 | bucket 2 | ...   by leading bits of their hashes
 *        |
 *        |  units of whole buckets, shared out to workers; each has memory of its own:
 *        |
 *        |     collect ---> items of a part ---> solve() ---> the part
 *        |     (or deal)    in groups            scratch         |
 *        v                                                       v
 *   done, or TAMIS_FULL: again, a step larger              payload, or a file
 *
 * Parts are cut by the same leading bits as buckets: a part is made of whole buckets, or a bucket
 * holds whole parts. Workers come one after the other unless the host has threads.
 *
 * The core does not know where lists wait, what memory is allowed, who runs workers and where
 * parts go, unless that is memory: the host knows. tamis__make() has the simplest one. */
#ifndef TAMIS_CORE_MAKE_H
#define TAMIS_CORE_MAKE_H

#include "filter.h"

/* ---- From keys in memory ----------------------------------------------- */

/* What a filter is made of, in memory. */
typedef struct make_keys {
    const uint64_t *keys, *values; /* values: of kinds that take them, else NULL */
    size_t n;
    const uint64_t *excluded; /* of kinds that take others, else NULL */
    size_t m;
} make_keys;

/* Fills an empty filter. Its plan and payload become larger together if they must. */
tamis_status tamis__make(tamis *f, const make_keys *k);

/* ---- Lists of items ---------------------------------------------------- */

/* The items of n keys: their hashes, or entries if there are values. The only place where a key
 * becomes an item. */
void tamis__make_items(uint64_t *items, const tamis *f, const uint64_t *keys,
                       const uint64_t *values, size_t n);
/* The key with that hash. */
uint64_t tamis__make_key(const tamis *f, uint64_t hash);

/* Words that keys are hashed to before they go on: 2 KiB, which fit on a stack. */
enum { MAKE_BUFFER = 256 };

/* Where the reading of a list is. */
typedef struct make_cursor {
    size_t next, end; /* buckets that are left; the one before is being read, */
    uint64_t left;    /* and has that many items left */
    uint32_t chunk;   /* for the list's read() */
    bool has_failed;
} make_cursor;

typedef struct make_list {
    unsigned words;         /* of an item: 1, a hash; 2, a tamis_entry */
    unsigned bits;          /* there are 2^bits buckets */
    uint64_t n;             /* items */
    const uint64_t *starts; /* of buckets, and the end */

    /* One of three: keys as they were given, in one bucket; items in memory, bucket after bucket;
     * or a function that gives some of the c->left items of bucket c->next - 1, in *n how many, in
     * memory of its own or in `buffer`. NULL: it cannot. */
    const uint64_t *keys, *values;
    const uint64_t *items;
    const uint64_t *(*read)(const struct make_list *l, make_cursor *c, uint64_t *buffer, size_t *n);
    size_t chunk; /* items that read() needs a buffer for */
    const void *ctx;
} make_list;

/* ---- The engine -------------------------------------------------------- */

typedef struct make make;
typedef struct make_work make_work;

/* What the engine asks of its caller. Each function may be NULL. */
typedef struct make_host {
    void *ctx;
    unsigned threads; /* workers at most; 0 is 1 */
    /* do_unit() of each unit, by that many workers; absent: one after the other, by one. */
    tamis_status (*run)(make_work *w, unsigned workers);
    /* Bytes that may be taken beside the lists; absent: no limit. */
    uint64_t (*memory)(const make *m);
    /* Moves the lists out of memory; present: they may have many repeated items. */
    tamis_status (*unload)(make *m);
    /* Takes a part at that offset of the payload; absent: m->f has a payload. */
    tamis_status (*put)(const make *m, uint64_t offset, const void *part, size_t size);
} make_host;

struct make {
    tamis *f; /* empty */
    const make_host *host;
    make_list keys, others; /* others: of kinds that exclude; the same buckets */
    bool is_counted;        /* by tamis__make_count() */
    bool is_clean;          /* kinds that exclude: repeated items are dropped before solving */
    uint64_t count;         /* of distinct keys that were solved */
    uint64_t done, total;   /* items, for progress */
    /* Of each bucket: distinct keys; at most how many distinct keys and others; and how many of
     * them the rest is made of (enum tamis_stage). */
    uint64_t *distinct, *both, *rest;
};

/* Counts distinct keys in m->distinct, and if wanted distinct keys and others in m->both. Returns
 * the sums: others are those that are no keys. */
tamis_status tamis__make_count(make *m, bool with_others, uint64_t *keys, uint64_t *others);

/* Solves m->f, which has a plan and, if the host takes no parts, a payload. Enlarges both until
 * there is room. After a failure f is of no use. */
tamis_status tamis__make_solve(make *m);

/* Of kinds in order: calls append() for each fingerprint, ascending, with its number of keys. */
typedef tamis_status make_append(void *ctx, uint64_t fingerprint, uint64_t count);
tamis_status tamis__make_ordered(make *m, make_append *append, void *ctx);

/* Of kinds that build sets: adds each key of m->keys once to m->f. */
tamis_status tamis__make_set(make *m);

/* As in base/parts.h, for a plan. */
unsigned tamis__make_part_bits(const tamis_plan *p);
uint64_t tamis__make_part_room(const tamis_plan *p);

/* Bytes that it takes to solve the largest part of that plan to be expected. */
uint64_t tamis__make_needs(const tamis_plan *p);

/* ---- Between the files of the engine ----------------------------------- */

/* One pass over all buckets: units of work, and the memory of a worker. */
struct make_work {
    make *m;
    tamis_status (*do_unit)(const make_work *w, size_t unit, unsigned worker);
    void (*set_sizes)(make_work *w); /* sets what follows up to `part` */
    size_t units;                    /* each is some whole buckets */
    unsigned most;                   /* workers at most; 0: as many as the host has */
    unsigned words;                  /* of an item that is collected */
    bool keeps_repeats;              /* else repeated items are dropped when room runs out */
    bool groups;                     /* items will be put in groups */
    size_t room;                     /* for items */
    uint64_t scratch, part;          /* bytes to solve with, and of a part that goes elsewhere */
    enum tamis_stage stage;
    void *ctx;

    uint64_t scratch_at, items_at, buffer_at, starts_at, needs; /* offsets; bytes in all */
    uint8_t *memory;
};

tamis_status tamis__make_run(make_work *w);
/* How many units whole parts are solved in. */
size_t tamis__make_units(const make *m);
/* Items of a unit, in all lists: how much is done when it is. */
uint64_t tamis__make_weight(const make_work *w, size_t unit);
/* The most that a unit has: of these counts of buckets or, if they are NULL, of items in the lists,
 * of which b may be NULL. */
uint64_t tamis__make_largest(const make_list *a, const make_list *b, const uint64_t *counts,
                             size_t units);
/* Room for the items of a unit: for all of them or, if those that differ are far fewer, for these
 * with so much to spare that dropping the others is rare. */
size_t tamis__make_room(const make_list *l, uint64_t all, uint64_t distinct);

/* Items whose hashes start with the same bits, in the memory of a worker: of a part, or of a
 * bucket. */
typedef struct make_part {
    const make_work *w;
    unsigned worker, bits;
    uint64_t number; /* the first `bits` bits */
    uint64_t value;  /* what hashes without a value get in an entry */
    bool is_sieved;  /* take only what passes the sieve of m->f */
    uint64_t *items;
    size_t n, room;
} make_part;

make_part tamis__make_part(const make_work *w, unsigned worker, uint64_t number, unsigned bits);
/* The next items of a list, or NULL: there are no more, or c->has_failed. */
const uint64_t *tamis__make_read(const make_list *l, make_cursor *c, uint64_t *buffer, size_t *n);
uint64_t *tamis__make_buffer(const make_part *p);
/* Adds those of a list that belong to the part. */
tamis_status tamis__make_collect(make_part *p, const make_list *l);
/* Sorts them and keeps one of each hash: of a key and another, the key. TAMIS_CONFLICT: one hash
 * has two values. */
tamis_status tamis__make_unique(make_part *p);
/* Puts them in the groups that solve() wants. */
void tamis__make_group(make_part *p);
/* Solves the part and puts it in its place. p->n becomes the number of distinct items. */
tamis_status tamis__make_solve_part(make_part *p);
/* Whether an item passes the sieve of m->f. */
bool tamis__make_passes(const make *m, uint64_t hash);

/* core/exclude.c: all stages of a plan, once. */
tamis_status tamis__make_excluding(make *m);

#endif
