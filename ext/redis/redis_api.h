/* redis_api.h - what this module uses of Redis, in declarations of our own.
 *
 * A module gets one pointer from the server: the first word of the context that OnLoad is called
 * with is a function that finds any other by its name. So no header of Redis is needed, and one
 * build loads on every server that has what REDIS_API_NEEDED lists. Functions of
 * REDIS_API_OPTIONAL came later than 7.0: a pointer is NULL where the server has none.
 *
 * The server's names are kept, so that its documentation can be searched for them:
 * RedisModule_OpenKey() is redis.OpenKey(). Layouts and numbers are those of API version 1. */
#ifndef TAMIS_REDIS_API_H
#define TAMIS_REDIS_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct redis_ctx redis_ctx;
typedef struct redis_string redis_string;
typedef struct redis_key redis_key;
typedef struct redis_type redis_type;
typedef struct redis_io redis_io;
typedef struct redis_digest redis_digest;
typedef struct redis_info redis_info;
typedef struct redis_command redis_command;
typedef struct redis_blocked redis_blocked;
typedef struct redis_reply redis_reply;
typedef struct redis_cursor redis_cursor;

enum { REDIS_OK = 0, REDIS_ERR = 1, REDIS_API_VERSION = 1 };

/* ---- Flags ------------------------------------------------------------- */

enum { REDIS_READ = 1 << 0, REDIS_WRITE = 1 << 1 };

/* What KeyType() answers. */
enum {
    REDIS_KEY_EMPTY,
    REDIS_KEY_STRING,
    REDIS_KEY_LIST,
    REDIS_KEY_HASH,
    REDIS_KEY_SET,
    REDIS_KEY_ZSET,
    REDIS_KEY_MODULE,
    REDIS_KEY_STREAM
};

/* Of SetModuleOptions(): a load that fails is told to us, and does not end the server; that a key
 * changed is told by us; a replica may load a data set beside the one it serves. */
enum {
    REDIS_HANDLES_IO_ERRORS = 1 << 0,
    REDIS_SIGNALS_CHANGES = 1 << 1,
    REDIS_HANDLES_ASYNC_LOAD = 1 << 2
};

/* Of GetContextFlags(). */
enum {
    REDIS_CTX_PRIMARY = 1 << 2,
    REDIS_CTX_REPLICA = 1 << 3,
    REDIS_CTX_CLUSTER = 1 << 5,
    REDIS_CTX_REPLICATED = 1 << 12,
    REDIS_CTX_LOADING = 1 << 13,
    REDIS_CTX_DENY_BLOCKING = 1 << 21,
    REDIS_CTX_RESP3 = 1 << 22
};

enum {
    REDIS_NOTIFY_GENERIC = 1 << 2,
    REDIS_NOTIFY_LIST = 1 << 4,
    REDIS_NOTIFY_EXPIRED = 1 << 8,
    REDIS_NOTIFY_EVICTED = 1 << 9,
    REDIS_NOTIFY_MODULE = 1 << 13
};

/* Of StreamIteratorStart(). */
enum { REDIS_STREAM_AFTER_FIRST = 1 << 0, REDIS_STREAM_BACKWARDS = 1 << 1 };

typedef struct redis_stream_id {
    uint64_t ms, number;
} redis_stream_id;

/* The length of an array that is told after its elements. */
enum { REDIS_POSTPONED = -1 };

/* ---- What COMMAND DOCS and key specs are made of ------------------------ */

typedef enum redis_arg_type {
    REDIS_ARG_STRING,
    REDIS_ARG_INTEGER,
    REDIS_ARG_DOUBLE,
    REDIS_ARG_KEY,
    REDIS_ARG_PATTERN,
    REDIS_ARG_TIME,
    REDIS_ARG_TOKEN, /* a word and nothing else */
    REDIS_ARG_ONE_OF,
    REDIS_ARG_BLOCK
} redis_arg_type;

enum { REDIS_ARG_OPTIONAL = 1 << 0, REDIS_ARG_MULTIPLE = 1 << 1 };

typedef struct redis_arg {
    const char *name; /* NULL ends an array */
    redis_arg_type type;
    int key_spec; /* of a key: which of the specs it is */
    const char *token;
    const char *summary;
    const char *since;
    int flags;
    const char *deprecated_since;
    struct redis_arg *parts; /* of one-of and block */
} redis_arg;

/* What a command does to a key, and to the value there. */
enum {
    REDIS_KEY_RO = 1 << 0,
    REDIS_KEY_RW = 1 << 1,
    REDIS_KEY_OW = 1 << 2,
    REDIS_KEY_ACCESS = 1 << 4,
    REDIS_KEY_UPDATE = 1 << 5,
    REDIS_KEY_INSERT = 1 << 6,
    REDIS_KEY_DELETE = 1 << 7
};

typedef enum redis_search {
    REDIS_SEARCH_END,
    REDIS_SEARCH_UNKNOWN,
    REDIS_SEARCH_INDEX,
    REDIS_SEARCH_WORD
} redis_search;

typedef enum redis_find {
    REDIS_FIND_ONE,
    REDIS_FIND_UNKNOWN,
    REDIS_FIND_RANGE,
    REDIS_FIND_NUMBER
} redis_find;

/* Where keys are among the words of a command. */
typedef struct redis_key_spec {
    const char *notes;
    uint64_t flags;
    redis_search search; /* 0 ends an array */
    union {
        struct {
            int at;
        } index;
        struct {
            const char *word;
            int from;
        } keyword;
    } begin;
    redis_find find;
    union {
        struct {
            int last, step, limit; /* last is counted from the first; -1: to the end */
        } range;
        struct {
            int number, first, step; /* where the number of keys is, and the first of them */
        } number;
    } keys;
} redis_key_spec;

typedef struct redis_history {
    const char *since, *changes;
} redis_history;

typedef struct redis_info_version {
    int version;
    size_t history_size, key_spec_size, arg_size;
} redis_info_version;

typedef struct redis_command_info {
    const redis_info_version *version;
    const char *summary, *complexity, *since;
    redis_history *history;
    const char *tips;
    int arity; /* with the name; negative: at least so many */
    redis_key_spec *key_specs;
    redis_arg *args;
} redis_command_info;

/* ---- Callbacks --------------------------------------------------------- */

typedef int redis_run(redis_ctx *ctx, redis_string **argv, int argc);
typedef void redis_timer_proc(redis_ctx *ctx, void *data);
typedef void redis_free_data(redis_ctx *ctx, void *data);
typedef void redis_info_func(redis_info *info, int for_crash);
typedef void redis_scan_func(redis_key *key, redis_string *field, redis_string *value, void *data);

/* Of SubscribeToServerEvent(). */
enum { REDIS_EVENT_SWAPDB = 11 };

typedef struct redis_event {
    uint64_t id, version;
} redis_event;

/* What comes with it. */
typedef struct redis_swapdb {
    uint64_t version;
    int32_t first, second;
} redis_swapdb;

typedef void redis_event_proc(redis_ctx *ctx, redis_event event, uint64_t part, void *data);
typedef int redis_notified(redis_ctx *ctx, int type, const char *event, redis_string *name);

typedef redis_string *redis_config_get(const char *name, void *data);
typedef int redis_config_set(const char *name, redis_string *value, void *data, redis_string **why);
typedef int redis_config_apply(redis_ctx *ctx, void *data, redis_string **why);

enum { REDIS_TYPE_VERSION = 4 };

/* What a data type can do. free() may run in another thread than the rest. */
typedef struct redis_type_methods {
    uint64_t version;
    void *(*rdb_load)(redis_io *io, int encver);
    void (*rdb_save)(redis_io *io, void *value);
    void (*aof_rewrite)(redis_io *io, redis_string *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(redis_digest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(redis_io *io, int encver, int when);
    void (*aux_save)(redis_io *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(redis_string *key, const void *value);
    void (*unlink)(redis_string *key, const void *value);
    void *(*copy)(redis_string *from, redis_string *to, const void *value);
    int (*defrag)(void *ctx, redis_string *key, void **value);
    size_t (*mem_usage2)(void *ctx, const void *value, size_t samples);
    size_t (*free_effort2)(void *ctx, const void *value);
    void (*unlink2)(void *ctx, const void *value);
    void *(*copy2)(void *ctx, const void *value);
} redis_type_methods;

/* ---- Functions --------------------------------------------------------- */

/* Name, what it returns, what it takes. */
#define REDIS_API_NEEDED(X)                                                                      \
    X(TryAlloc, void *, (size_t size))                                                           \
    X(Free, void, (void *block))                                                                 \
    X(MallocSize, size_t, (void *block))                                                         \
    X(IsModuleNameBusy, int, (const char *name))                                                 \
    X(SetModuleAttribs, void, (redis_ctx *, const char *name, int version, int api))             \
    X(SetModuleOptions, void, (redis_ctx *, int options))                                        \
    X(CreateCommand, int,                                                                        \
      (redis_ctx *, const char *name, redis_run *, const char *flags, int first, int last,       \
       int step))                                                                                \
    X(GetCommand, redis_command *, (redis_ctx *, const char *name))                              \
    X(SetCommandInfo, int, (redis_command *, const redis_command_info *))                        \
    X(IsKeysPositionRequest, int, (redis_ctx *))                                                 \
    X(KeyAtPosWithFlags, void, (redis_ctx *, int at, int flags))                                 \
    X(RegisterStringConfig, int,                                                                 \
      (redis_ctx *, const char *name, const char *initial, unsigned flags, redis_config_get *,   \
       redis_config_set *, redis_config_apply *, void *data))                                    \
    X(LoadConfigs, int, (redis_ctx *))                                                           \
    X(RegisterInfoFunc, int, (redis_ctx *, redis_info_func *))                                   \
    X(InfoAddSection, int, (redis_info *, const char *name))                                     \
    X(InfoAddFieldCString, int, (redis_info *, const char *field, const char *value))            \
    X(InfoAddFieldULongLong, int, (redis_info *, const char *field, unsigned long long value))   \
    X(Call, redis_reply *, (redis_ctx *, const char *command, const char *format, ...))          \
    X(FreeCallReply, void, (redis_reply *))                                                      \
    X(GetContextFlags, int, (redis_ctx *))                                                       \
    X(Log, void, (redis_ctx *, const char *level, const char *format, ...))                      \
    X(WrongArity, int, (redis_ctx *))                                                            \
    X(ReplyWithLongLong, int, (redis_ctx *, long long))                                          \
    X(ReplyWithDouble, int, (redis_ctx *, double))                                               \
    X(ReplyWithBool, int, (redis_ctx *, int))                                                    \
    X(ReplyWithNull, int, (redis_ctx *))                                                         \
    X(ReplyWithError, int, (redis_ctx *, const char *text))                                      \
    X(ReplyWithSimpleString, int, (redis_ctx *, const char *text))                               \
    X(ReplyWithCString, int, (redis_ctx *, const char *text))                                    \
    X(ReplyWithStringBuffer, int, (redis_ctx *, const char *bytes, size_t size))                 \
    X(ReplyWithString, int, (redis_ctx *, redis_string *))                                       \
    X(ReplyWithArray, int, (redis_ctx *, long n))                                                \
    X(ReplyWithMap, int, (redis_ctx *, long n))                                                  \
    X(ReplySetArrayLength, void, (redis_ctx *, long n))                                          \
    X(StringPtrLen, const char *, (const redis_string *, size_t *size))                          \
    X(StringToLongLong, int, (const redis_string *, long long *))                                \
    X(StringToDouble, int, (const redis_string *, double *))                                     \
    X(CreateString, redis_string *, (redis_ctx *, const char *bytes, size_t size))               \
    X(CreateStringPrintf, redis_string *, (redis_ctx *, const char *format, ...))                \
    X(HoldString, redis_string *, (redis_ctx *, redis_string *))                                 \
    X(FreeString, void, (redis_ctx *, redis_string *))                                           \
    X(OpenKey, redis_key *, (redis_ctx *, redis_string * name, int mode))                        \
    X(CloseKey, void, (redis_key *))                                                             \
    X(KeyType, int, (redis_key *))                                                               \
    X(ValueLength, size_t, (redis_key *))                                                        \
    X(DeleteKey, int, (redis_key *))                                                             \
    X(SignalModifiedKey, int, (redis_ctx *, redis_string * name))                                \
    X(NotifyKeyspaceEvent, int, (redis_ctx *, int type, const char *event, redis_string *name))  \
    X(ReplicateVerbatim, int, (redis_ctx *))                                                     \
    X(Replicate, int, (redis_ctx *, const char *command, const char *format, ...))               \
    X(CreateDataType, redis_type *,                                                              \
      (redis_ctx *, const char *name, int encver, redis_type_methods *))                         \
    X(ModuleTypeSetValue, int, (redis_key *, redis_type *, void *value))                         \
    X(ModuleTypeReplaceValue, int, (redis_key *, redis_type *, void *value, void **old))         \
    X(ModuleTypeGetType, redis_type *, (redis_key *))                                            \
    X(ModuleTypeGetValue, void *, (redis_key *))                                                 \
    X(IsIOError, int, (redis_io *))                                                              \
    X(LogIOError, void, (redis_io *, const char *level, const char *format, ...))                \
    X(SaveUnsigned, void, (redis_io *, uint64_t))                                                \
    X(LoadUnsigned, uint64_t, (redis_io *))                                                      \
    X(SaveDouble, void, (redis_io *, double))                                                    \
    X(LoadDouble, double, (redis_io *))                                                          \
    X(SaveStringBuffer, void, (redis_io *, const char *bytes, size_t size))                      \
    X(LoadStringBuffer, char *, (redis_io *, size_t * size))                                     \
    X(SaveDataTypeToString, redis_string *, (redis_ctx *, void *value, const redis_type *))      \
    X(EmitAOF, void, (redis_io *, const char *command, const char *format, ...))                 \
    X(DigestAddStringBuffer, void, (redis_digest *, const char *bytes, size_t size))             \
    X(DigestAddLongLong, void, (redis_digest *, long long))                                      \
    X(DigestEndSequence, void, (redis_digest *))                                                 \
    X(GetRandomBytes, void, (unsigned char *to, size_t size))                                    \
    X(Milliseconds, long long, (void))                                                           \
    X(MonotonicMicroseconds, uint64_t, (void))                                                   \
    X(AvoidReplicaTraffic, int, (void))                                                          \
    X(GetSelectedDb, int, (redis_ctx *))                                                         \
    X(StringCompare, int, (const redis_string *, const redis_string *))                          \
    X(CreateTimer, uint64_t, (redis_ctx *, long long ms, redis_timer_proc *, void *data))        \
    X(BlockClient, redis_blocked *,                                                              \
      (redis_ctx *, redis_run * reply, redis_run * timeout, redis_free_data *, long long ms))    \
    X(UnblockClient, int, (redis_blocked *, void *data))                                         \
    X(GetBlockedClientPrivateData, void *, (redis_ctx *))                                        \
    X(ScanCursorCreate, redis_cursor *, (void))                                                  \
    X(ScanCursorDestroy, void, (redis_cursor *))                                                 \
    X(ScanKey, int, (redis_key *, redis_cursor *, redis_scan_func *, void *data))                \
    X(ListGet, redis_string *, (redis_key *, long index))                                        \
    X(StreamIteratorStart, int,                                                                  \
      (redis_key *, int flags, redis_stream_id *first, redis_stream_id *last))                   \
    X(StreamIteratorStop, int, (redis_key *))                                                    \
    X(StreamIteratorNextID, int, (redis_key *, redis_stream_id *, long *fields))                 \
    X(StreamIteratorNextField, int, (redis_key *, redis_string * *field, redis_string * *value)) \
    X(SubscribeToKeyspaceEvents, int, (redis_ctx *, int types, redis_notified *))                \
    X(SubscribeToServerEvent, int, (redis_ctx *, redis_event, redis_event_proc *))

#define REDIS_API_OPTIONAL(X)                               \
    X(AddACLCategory, int, (redis_ctx *, const char *name)) \
    X(SetCommandACLCategories, int, (redis_command *, const char *names))

/* The server's functions, by the names of its documentation. */
typedef struct redis_functions {
#define X(name, result, takes) result(*name) takes;
    REDIS_API_NEEDED(X) REDIS_API_OPTIONAL(X)
#undef X
} redis_functions;

extern redis_functions redis;

/* Finds them all. False if the server is too old; the module must not go on then. */
bool redis_api_find(redis_ctx *ctx);

#endif
