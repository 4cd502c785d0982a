/* value.c - what all data types have in common. */
#include "value.h"

typedef struct value_head {
    memory memory;
    const value_type *type;
} value_head;

static value_head *value_head_of(const void *v)
{
    return (value_head *)v - 1;
}

void *value_new(const value_type *type)
{
    value_head *head = memory_new_value(sizeof *head + type->size);

    if (!head)
        return NULL;
    head->type = type;
    return head + 1;
}

tamis_allocator value_allocator(void *v)
{
    return memory_allocator(&value_head_of(v)->memory);
}

const value_type *value_type_of(const void *v)
{
    return value_head_of(v)->type;
}

size_t value_usage(const void *v)
{
    return value_head_of(v)->memory.used;
}

size_t value_free_effort(redis_string *name, const void *v)
{
    (void)name;
    return 1 + value_usage(v) / 4096;
}

void value_drop(void *v)
{
    memory_free_value(value_head_of(v), sizeof(value_head) + value_type_of(v)->size);
}

void value_free(void *v)
{
    value_type_of(v)->life.clear(v);
    value_drop(v);
}

void *value_load(redis_io *io, int encoding, const value_type *type)
{
    void *v = NULL;

    memory_begin(NULL);
    if (encoding <= type->encoding)
        v = value_new(type);
    if (v && type->life.load(io, encoding, v))
        return v;
    if (v)
        value_drop(v);
    redis.LogIOError(io, "warning", "%s is damaged, or there is no memory for it", type->what);
    return NULL;
}

static void *value_copy(redis_string *from, redis_string *to, const void *old)
{
    const value_type *type = value_type_of(old);
    void *v;

    (void)from;
    (void)to;
    memory_begin(NULL);
    v = value_new(type);
    if (!v || !type->life.copy(v, old))
        return v;
    value_drop(v);
    return NULL;
}

bool value_register(redis_ctx *ctx, const value_type *type,
                    void *(*load)(redis_io *io, int encoding))
{
    redis_type_methods methods = { .version = REDIS_TYPE_VERSION,
                                   .rdb_load = load,
                                   .rdb_save = type->output.save,
                                   .aof_rewrite = type->output.rewrite,
                                   .mem_usage = value_usage,
                                   .digest = type->output.digest,
                                   .free = type->life.free ? type->life.free : value_free,
                                   .free_effort = type->life.free_effort ? type->life.free_effort
                                                                         : value_free_effort,
                                   .copy = value_copy };

    *type->made = redis.CreateDataType(ctx, type->name, type->encoding, &methods);
    return *type->made != NULL;
}
