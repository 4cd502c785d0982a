/* make.h - the engine: filters that are made from all their keys at once.
 *
 *   keys in an array, or what a builder holds                kinds that exclude have two lists
 *        |
 *        |  tamis__make_items(): a key becomes an item, a hash or a tamis_entry
 *        v
 *   list of items   | bucket 0 | bucket 1 | bucket 2 | ...   by leading bits of their hashes
 *        |
 *        |  units of whole buckets, shared out to workers; each has memory of its own:
 *        |
 *        |     collect ----> items of a part ----> solve() ----> the part
 *        |     or deal       in groups             scratch          |
 *        v                                                          v
 *   done, or TAMIS_FULL: again, a step larger                 payload, or a file
 *
 * Parts are cut by the same leading bits as buckets: a part is made of whole buckets, or a bucket
 * of whole parts.
 *
 *   make.c             units of work; counting, solving, enlarging
 *   make_arrays.c      keys in an array
 *   make_items.c       lists, and the items of a part
 *   make_excluding.c   kinds that tell keys from excluded ones
 *   make_sorted.c      kinds in order, and kinds that build sets
 *
 * Where lists wait, how much memory may be taken, who runs workers and where parts go: the host
 * knows. Without one, all is in memory, and one worker does all units. */
#ifndef TAMIS_CORE_MAKE_H
#define TAMIS_CORE_MAKE_H

#include "filter.h"

/* ---- From keys in memory ----------------------------------------------- */

typedef struct make_host make_host;

typedef struct make_keys {
    const uint64_t *keys, *values; /* values: of kinds that take them, else NULL */
    size_t n;
    const uint64_t *excluded; /* of kinds that take excluded keys, else NULL */
    size_t m;
    const make_host *host; /* that runs workers; NULL: none */
} make_keys;

/* A filter of these keys. Its plan and payload become larger together if they must. `with` is the
 * trait of what comes with keys, values or excluded keys, or 0; TAMIS_CANNOT: the kind has another.
 */
tamis_status tamis__make(tamis **out, const tamis_plan *plan, const make_keys *k, unsigned with,
                         const tamis_allocator *a);

/* ---- Items ------------------------------------------------------------- */

/* The items of n keys: entries, if there are values. The only place where keys become items. */
void tamis__make_items(uint64_t *items, const tamis *f, const uint64_t *keys,
                       const uint64_t *values, size_t n);
/* The key with that hash. */
uint64_t tamis__make_key(const tamis *f, uint64_t hash);

/* Words of items that keys are turned into at a time: 2 KiB, which fit on a stack. */
enum { MAKE_BUFFER = 256 };

/* Where the reading of a list is. It starts with next and end, and zeros. */
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
     * or a function that returns some of the c->left items of bucket c->next - 1, in memory of its
     * own or in `buffer`, and sets *n to how many; NULL: it cannot. */
    const uint64_t *keys, *values;
    const uint64_t *items;
    const uint64_t *(*read)(const struct make_list *l, make_cursor *c, uint64_t *buffer, size_t *n);
    size_t chunk;    /* items that read() needs a buffer for */
    const void *ctx; /* for read(); of keys, the filter */
} make_list;

/* The next items of a list, or NULL: there are no more, or c->has_failed. */
const uint64_t *tamis__make_read(const make_list *l, make_cursor *c, uint64_t *buffer, size_t *n);

/* ---- The engine -------------------------------------------------------- */

typedef struct make make;
typedef struct make_work make_work;

/* What the engine asks of its caller. Each function may be absent. */
struct make_host {
    void *ctx;
    unsigned threads; /* workers at most; 0 is 1 */
    /* w->do_unit() of each unit, by that many workers; absent: by one. */
    tamis_status (*run)(make_work *w, unsigned workers);
    /* Bytes that may be taken beside the lists; absent: no limit. */
    uint64_t (*memory)(const make *m);
    /* Moves the lists out of memory, and sets them anew; absent: there is nowhere to go. */
    tamis_status (*unload)(make *m);
    /* Takes a part, at an offset of the payload; absent: m->f has a payload. */
    tamis_status (*put)(const make *m, uint64_t offset, const void *part, size_t size);
};

struct make {
    tamis *f; /* empty */
    const make_host *host;
    make_list keys, excluded; /* excluded: of kinds that exclude, else zeros; the same buckets */
    bool is_counted;          /* by tamis__make_count() */
    bool is_clean;            /* repeated items are to be dropped before solving */
    uint64_t count;           /* distinct keys that were solved */
    uint64_t done, total;     /* items, for progress */
    /* Of each bucket: distinct keys; distinct keys and excluded ones, at most; and how many of them
     * the rest is made of (enum tamis_stage). */
    uint64_t *distinct, *both, *rest;
};

/* Sets m->distinct and, if wanted, m->both. *keys and *excluded are the sums: an excluded key that
 * is a key, too, is a key. */
tamis_status tamis__make_count(make *m, bool with_excluded, uint64_t *keys, uint64_t *excluded);

/* Fills m->f, which has a plan and, unless the host takes parts, a payload. Enlarges both until
 * there is room. After a failure f is of no use. */
tamis_status tamis__make_solve(make *m);

/* Kinds in order: calls append() for each fingerprint, ascending, with its number of keys. */
typedef tamis_status make_append(void *ctx, uint64_t fingerprint, uint64_t count);
tamis_status tamis__make_ordered(make *m, make_append *append, void *ctx);

/* Kinds that build sets: adds each key once to m->f. */
tamis_status tamis__make_set(make *m);

/* Bits of the number of parts that filters of this plan have, and keys that a part has room for. */
unsigned tamis__make_part_bits(const tamis_plan *p);
uint64_t tamis__make_part_room(const tamis_plan *p);
/* Bytes that it takes to solve such a part. */
uint64_t tamis__make_needs(const tamis_plan *p);

/* ---- Units of work ----------------------------------------------------- */

/* What a worker needs for a unit. */
typedef struct make_sizes {
    uint64_t room;          /* for items */
    uint64_t scratch, part; /* bytes for solve(), and for a part that goes elsewhere */
} make_sizes;

/* Works out what that is, in a team of w->team. */
typedef make_sizes make_size(const make_work *w);

/* One pass over all buckets, and the memory of each worker. */
struct make_work {
    make *m;
    tamis_status (*do_unit)(const make_work *w, size_t unit, unsigned worker);
    make_size *size;    /* absent: nothing */
    size_t units;       /* each is some whole buckets */
    unsigned most;      /* workers; 0: as many as the host has */
    unsigned words;     /* of an item that is collected */
    bool keeps_repeats; /* else repeated items are dropped when room runs out */
    bool has_groups;    /* items are put in groups */
    bool is_shared;     /* units are pieces of one that is being worked on, and do not fail */
    enum tamis_stage stage;
    void *ctx;
    unsigned team; /* workers that share a unit, 1 if they have units of their own */
    make_sizes sizes;

    uint64_t scratch_at, items_at, buffer_at, starts_at, needs; /* offsets; bytes of a worker */
    uint8_t *memory;                                            /* of all workers */
};

/* Items of so many buckets; no list has none. */
static inline uint64_t make_between(const make_list *l, size_t from, size_t to)
{
    return l && l->starts ? l->starts[to] - l->starts[from] : 0;
}

static inline bool make_excludes(const make *m)
{
    return m->f->ops.traits & TAMIS_TRAIT_TAKES_EXCLUDED;
}

tamis_status tamis__make_run(make_work *w);
/* Does pieces of work, by so many workers: the run() of a team whose ctx is a make. */
void tamis__make_share(const tamis_team *t, tamis_piece *do_piece, void *ctx, size_t pieces);
/* Items of a unit: how much is done when it is. */
uint64_t tamis__make_weight(const make_work *w, size_t unit);

/* The most that a unit has of these counts of buckets; NULL: of items of the lists, of which b may
 * be NULL, too. */
uint64_t tamis__make_largest(const make_list *a, const make_list *b, const uint64_t *counts,
                             size_t units);
/* Room for the items of a unit: for all of them or, if those that differ are far fewer, for these
 * with so much to spare that dropping the others is rare. */
uint64_t tamis__make_room(const make_list *l, uint64_t all, uint64_t distinct);

/* ---- Parts ------------------------------------------------------------- */

/* Items whose hashes start with the same bits, in the memory of a worker. */
typedef struct make_part {
    const make_work *w;
    tamis_team team; /* that shares it */
    unsigned bits;
    uint64_t number; /* the first `bits` bits */
    uint64_t value;  /* what hashes get in an entry; of kinds in order, a count */
    bool is_sieved;  /* only what passes the sieve of m->f belongs to it */
    uint8_t *memory; /* of the worker */
    uint64_t *items, *buffer;
    size_t n;
} make_part;

make_part tamis__make_part(const make_work *w, unsigned worker, uint64_t number, unsigned bits);
/* Where in a list the items of the part are. */
make_cursor tamis__make_start(const make_part *p, const make_list *l);
/* Adds those of a list that belong to the part. */
tamis_status tamis__make_collect(make_part *p, const make_list *l);
/* Sorts them and keeps one of each hash: of a key and another, the key; of kinds in order, with the
 * sum of the counts. TAMIS_CONFLICT: a key has two values. */
tamis_status tamis__make_unique(make_part *p);
/* Puts them in the groups that solve() wants. */
void tamis__make_group(make_part *p);
/* Collect and group, or deal from memory straight to the groups. */
tamis_status tamis__make_load(make_part *p, const make_list *l);
/* Puts a list of keys in 2^bits buckets: `to` has room for the items, starts[] for a number for
 * each bucket and one more, counts[] for one of each bucket in each piece. */
void tamis__make_deal(const tamis_team *t, make_list *l, unsigned bits, uint64_t *to,
                      uint64_t *starts, size_t *counts);
/* Pieces that a team makes of a list: workers that are done early take more. */
size_t tamis__make_pieces(unsigned workers);
/* Whether an item passes the sieve of f. */
bool tamis__make_passes(const tamis *f, uint64_t hash);

/* Solves all parts, once. */
tamis_status tamis__make_solve_stage(make *m, enum tamis_stage stage, unsigned words,
                                     make_size *size);
/* Kinds that exclude: the items of a part for a stage; all stages, once. */
tamis_status tamis__make_load_both(make_part *p);
tamis_status tamis__make_excluding(make *m);

#endif
