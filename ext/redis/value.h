/* value.h - the data types: what Redis keeps under a key, and how it is saved, copied and freed.
 *
 * A type is one row. A value of it is a struct of its own, before which lies a head, where all
 * memory of the value is counted. */
#ifndef TAMIS_REDIS_VALUE_H
#define TAMIS_REDIS_VALUE_H

#include "counted_memory.h"

typedef struct value_type value_type;

/* How a value comes and goes. */
typedef struct value_life {
    /* These two fill a value of zeros. Where they fail, they leave no memory in it. */
    bool (*load)(redis_io *io, int encoding, void *v);
    tamis_status (*copy)(void *v, const void *from);
    void (*clear)(void *v); /* gives back all memory but that of the struct */
    void (*free)(void *v);  /* NULL: clear() and the struct */
    size_t (*free_effort)(redis_string *name, const void *v); /* NULL: that of its memory */
} value_life;

/* How it is told to others: RDB files, files of commands, digests. */
typedef struct value_output {
    void (*save)(redis_io *io, void *v);
    void (*rewrite)(redis_io *io, redis_string *name, void *v);
    void (*digest)(redis_digest *digest, void *v);
} value_output;

struct value_type {
    redis_type **made;
    const char *name; /* nine characters; files hold it */
    int encoding;     /* the newest that load() reads, and what save() writes */
    size_t size;
    const char *what;    /* for the log: "a Bloom filter" */
    const char *missing; /* the reply to a command that needs a value, where there is none */
    value_life life;
    value_output output;
};

/* The row of a type with functions of these names: bf_load_value(), bf_copy() and so on. */
#define VALUE_TYPE(f, name, encoding, size, what, missing, effort) \
    {                                                              \
        &f##_type, name, encoding, size, what, missing,            \
            { f##_load_value, f##_copy, f##_clear, NULL, effort }, \
        {                                                          \
            f##_save_value, f##_rewrite, f##_digest                \
        }                                                          \
    }

/* A value of zeros, or NULL; and the allocator for what is in it. */
void *value_new(const value_type *type);
tamis_allocator value_allocator(void *v);
const value_type *value_type_of(const void *v);
/* Two methods: MEMORY USAGE, and how long it takes to free, in pages. From a few dozen on, the
 * server frees in a thread. */
size_t value_usage(const void *v);
size_t value_free_effort(redis_string *name, const void *v);
void value_free(void *v);
/* Frees the struct alone. */
void value_drop(void *v);

/* The method rdb_load of a type: Redis does not say to it which one is meant. */
void *value_load(redis_io *io, int encoding, const value_type *type);

/* Tells the server of the type, of which `load` is that method. */
bool value_register(redis_ctx *ctx, const value_type *type,
                    void *(*load)(redis_io *io, int encoding));

#endif
