/* server.c - a double of Redis. */
#include "server.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of much that it is told it takes no notice. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum { ENTRIES = 64, COMMANDS = 128, SETTINGS = 32, TIMERS = 64, BLOCKED = 64, WORDS = 512 };
enum { US_PER_LOOK = 100, LAZY_EFFORT = 64 };

struct redis_string {
    unsigned holders;
    size_t size;
    char bytes[];
};

struct redis_type {
    redis_type_methods methods;
};

/* A key and what it holds. */
typedef struct entry {
    redis_string *name; /* NULL: free */
    int db, type;
    redis_type *of; /* and the value, of modules */
    void *value;
    redis_string **items; /* of collections */
    size_t n, room;
} entry;

struct redis_key {
    int db;
    redis_string *name;
    entry *entry; /* NULL: nothing is there */
    size_t at;    /* of a stream that is read: the next entry, and the end of them */
    size_t end;
    bool backwards, has_field;
};

struct redis_cursor {
    size_t at;
};

struct redis_blocked {
    server_client *client;
    redis_run *reply;
    redis_free_data *free;
    void *data;
    bool is_over;
};

/* A module takes the first word for a pointer to the function that finds the others. */
struct redis_ctx {
    int (*get)(const char *name, void *out);
    server_client *client;
    void *data;
};

struct redis_command {
    const char *name;
    redis_run *run;
};

typedef struct timer {
    uint64_t due_us;
    redis_timer_proc *run;
    void *data;
} timer;

typedef struct config {
    const char *name;
    redis_config_set *set;
    void *data;
} config;

struct redis_info {
    const char *field;
    uint64_t value;
};

struct redis_io {
    size_t size;
};

static struct {
    pthread_t thread;
    int flags;
    bool is_failing_over;
    uint64_t now_us, replicated;
    entry entries[ENTRIES];
    redis_command commands[COMMANDS];
    size_t n_commands;
    redis_type types[8];
    size_t n_types;
    config settings[SETTINGS];
    size_t n_settings;
    timer timers[TIMERS];
    size_t n_timers;
    redis_blocked *blocked[BLOCKED];
    size_t n_blocked;
    size_t strings; /* that are held */
    redis_info_func *info;
    redis_notified *notified;
    redis_event_proc *swapped;
} server = { .flags = REDIS_CTX_PRIMARY };

static void server_fail(const char *why, const char *what)
{
    fprintf(stderr, "the double of Redis: %s %s\n", why, what);
    abort();
}

/* At the top of all that only the thread of the server may call. */
static void server_here(const char *what)
{
    if (!pthread_equal(server.thread, pthread_self()))
        server_fail("a thread of the module called", what);
}
#define HERE() server_here(__func__)

/* ---- Memory, for any thread --------------------------------------------- */

/* Before each block, which stays aligned. */
typedef struct block {
    _Alignas(max_align_t) size_t size;
} block;

static atomic_size_t blocks, arrived;
static atomic_bool are_held;

static void wait_if_held(void)
{
    if (pthread_equal(pthread_self(), server.thread))
        return;
    atomic_fetch_add_explicit(&arrived, 1, memory_order_relaxed);
    while (atomic_load_explicit(&are_held, memory_order_relaxed))
        sched_yield();
}

void server_hold_threads(void)
{
    atomic_store_explicit(&arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&are_held, true, memory_order_relaxed);
}

void server_await_thread(void)
{
    while (!atomic_load_explicit(&arrived, memory_order_relaxed)) {
        server_turn();
        sched_yield();
    }
}

void server_let_threads_go(void)
{
    atomic_store_explicit(&are_held, false, memory_order_relaxed);
}

static void *memory_get(size_t size)
{
    block *b;

    wait_if_held();
    b = malloc(sizeof *b + size);
    if (!b)
        return NULL;
    b->size = size;
    atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
    return memset(b + 1, 0xa5, size);
}

/* What is read after it was freed is no filter. */
static void memory_put(void *p)
{
    block *b = p;

    if (!b)
        return;
    memset(b, 0x5a, b[-1].size);
    atomic_fetch_sub_explicit(&blocks, 1, memory_order_relaxed);
    free(b - 1);
}

static size_t memory_size(void *p)
{
    return ((block *)p)[-1].size;
}

/* ---- The thread that frees ------------------------------------------------ */

typedef struct garbage {
    struct garbage *next;
    void (*free)(void *value);
    void *value;
} garbage;

static pthread_mutex_t garbage_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t garbage_changed = PTHREAD_COND_INITIALIZER;
static garbage *garbage_first;
static bool garbage_is_freed = true;

static garbage *garbage_take(void)
{
    garbage *g;

    pthread_mutex_lock(&garbage_lock);
    garbage_is_freed = !garbage_first;
    if (garbage_is_freed)
        pthread_cond_broadcast(&garbage_changed);
    while (!garbage_first)
        pthread_cond_wait(&garbage_changed, &garbage_lock);
    g = garbage_first;
    garbage_first = g->next;
    garbage_is_freed = false;
    pthread_mutex_unlock(&garbage_lock);
    return g;
}

static void *garbage_free_all(void *unused)
{
    for (;;) {
        garbage *g = garbage_take();

        g->free(g->value);
        free(g);
    }
    return unused;
}

static void garbage_add(void (*free_value)(void *value), void *value)
{
    garbage *g = malloc(sizeof *g);

    pthread_mutex_lock(&garbage_lock);
    *g = (garbage){ garbage_first, free_value, value };
    garbage_first = g;
    pthread_cond_broadcast(&garbage_changed);
    pthread_mutex_unlock(&garbage_lock);
}

static void garbage_await(void)
{
    pthread_mutex_lock(&garbage_lock);
    while (garbage_first || !garbage_is_freed)
        pthread_cond_wait(&garbage_changed, &garbage_lock);
    pthread_mutex_unlock(&garbage_lock);
}

/* ---- Strings ----------------------------------------------------------- */

static redis_string *string_new(redis_ctx *ctx, const char *bytes, size_t size)
{
    redis_string *s = malloc(sizeof *s + size + 1);

    HERE();
    s->holders = 1;
    s->size = size;
    memcpy(s->bytes, bytes, size);
    s->bytes[size] = '\0';
    server.strings++;
    return s;
}

static redis_string *string_of(const char *text)
{
    return string_new(NULL, text, strlen(text));
}

static redis_string *string_hold(redis_ctx *ctx, redis_string *s)
{
    HERE();
    s->holders++;
    return s;
}

static void string_free(redis_ctx *ctx, redis_string *s)
{
    HERE();
    if (--s->holders > 0)
        return;
    server.strings--;
    free(s);
}

static const char *string_bytes(const redis_string *s, size_t *size)
{
    HERE();
    if (size)
        *size = s->size;
    return s->bytes;
}

static int string_compare(const redis_string *a, const redis_string *b)
{
    HERE();
    return strcmp(a->bytes, b->bytes);
}

static int string_to_number(const redis_string *s, long long *n)
{
    char *end;

    *n = strtoll(s->bytes, &end, 10);
    return s->size > 0 && !*end ? REDIS_OK : REDIS_ERR;
}

static int string_to_double(const redis_string *s, double *x)
{
    char *end;

    *x = strtod(s->bytes, &end);
    return s->size > 0 && !*end ? REDIS_OK : REDIS_ERR;
}

/* ---- Keys -------------------------------------------------------------- */

static entry *entry_find(int db, const char *name)
{
    for (entry *e = server.entries; e < server.entries + ENTRIES; e++)
        if (e->name && e->db == db && strcmp(e->name->bytes, name) == 0)
            return e;
    return NULL;
}

static entry *entry_new(int db, const char *name, int type)
{
    for (entry *e = server.entries; e < server.entries + ENTRIES; e++)
        if (!e->name) {
            *e = (entry){ .name = string_of(name), .db = db, .type = type };
            return e;
        }
    server_fail("there is no room for", name);
    return NULL;
}

/* As Redis does: what takes long is freed by another thread. */
static void entry_drop_value(entry *e)
{
    const redis_type_methods *m = &e->of->methods;

    if (m->free_effort && m->free_effort(e->name, e->value) > LAZY_EFFORT)
        garbage_add(m->free, e->value);
    else
        m->free(e->value);
}

static void entry_delete(entry *e)
{
    if (e->type == REDIS_KEY_MODULE)
        entry_drop_value(e);
    for (size_t i = 0; i < e->n; i++)
        string_free(NULL, e->items[i]);
    free(e->items);
    string_free(NULL, e->name);
    e->name = NULL;
}

static void entry_push(entry *e, const char *item)
{
    if (e->n == e->room) {
        e->room = 2 * e->room + 16;
        e->items = realloc(e->items, e->room * sizeof *e->items);
    }
    e->items[e->n++] = string_of(item);
}

static redis_key *key_open_at(redis_ctx *ctx, redis_string *name, int mode)
{
    redis_key *k;
    entry *e = entry_find(ctx->client->db, name->bytes);

    HERE();
    if (!e && !(mode & REDIS_WRITE))
        return NULL;
    k = malloc(sizeof *k);
    *k = (redis_key){ .db = ctx->client->db, .name = name, .entry = e };
    return k;
}

static void key_close_it(redis_key *k)
{
    HERE();
    free(k);
}

static int key_type(redis_key *k)
{
    HERE();
    return k && k->entry ? k->entry->type : REDIS_KEY_EMPTY;
}

static size_t key_length(redis_key *k)
{
    HERE();
    return k && k->entry ? k->entry->n : 0;
}

static int key_set_value(redis_key *k, redis_type *type, void *value)
{
    HERE();
    if (k->entry)
        entry_delete(k->entry);
    k->entry = entry_new(k->db, k->name->bytes, REDIS_KEY_MODULE);
    k->entry->of = type;
    k->entry->value = value;
    return REDIS_OK;
}

static redis_type *key_value_type(redis_key *k)
{
    HERE();
    return k && k->entry && k->entry->type == REDIS_KEY_MODULE ? k->entry->of : NULL;
}

static void *key_value(redis_key *k)
{
    HERE();
    return k->entry->value;
}

/* ---- Collections ------------------------------------------------------- */

static redis_cursor *scan_new(void)
{
    HERE();
    return calloc(1, sizeof(redis_cursor));
}

static void scan_free(redis_cursor *c)
{
    HERE();
    free(c);
}

/* A few at a time. */
static int scan_key(redis_key *k, redis_cursor *c, redis_scan_func *take, void *data)
{
    HERE();
    for (size_t i = 0; i < 10 && c->at < k->entry->n; i++, c->at++)
        take(k, k->entry->items[c->at],
             k->entry->type == REDIS_KEY_HASH ? k->entry->items[c->at] : NULL, data);
    return c->at < k->entry->n;
}

static redis_string *list_get(redis_key *k, long at)
{
    HERE();
    return (size_t)at < k->entry->n ? string_hold(NULL, k->entry->items[at]) : NULL;
}

/* Entries of a stream have the IDs 1 to n. */
static int stream_start(redis_key *k, int flags, redis_stream_id *first, redis_stream_id *last)
{
    HERE();
    k->at = first ? first->ms - !(flags & REDIS_STREAM_AFTER_FIRST) : 0;
    k->end = last ? last->ms : k->entry->n;
    k->backwards = flags & REDIS_STREAM_BACKWARDS;
    return k->at < k->end ? REDIS_OK : REDIS_ERR;
}

static int stream_stop(redis_key *k)
{
    HERE();
    return REDIS_OK;
}

static int stream_next(redis_key *k, redis_stream_id *id, long *fields)
{
    HERE();
    if (k->at >= k->end)
        return REDIS_ERR;
    *id = (redis_stream_id){ .ms = k->backwards ? k->end-- : ++k->at };
    *fields = 1;
    k->has_field = true;
    return REDIS_OK;
}

static int stream_next_field(redis_key *k, redis_string **field, redis_string **value)
{
    HERE();
    if (!k->has_field)
        return REDIS_ERR;
    k->has_field = false;
    *field = string_of("field");
    *value = string_hold(NULL, k->entry->items[k->at - 1]);
    return REDIS_OK;
}

/* ---- Replies ----------------------------------------------------------- */

static int reply_text(redis_ctx *ctx, const char *text)
{
    server_client *c = ctx->client;
    int n;

    HERE();
    if (c->is_gone)
        return REDIS_OK;
    n = snprintf(c->reply + c->used, sizeof c->reply - c->used, "%s ", text);
    if (n < 0 || (size_t)n >= sizeof c->reply - c->used)
        server_fail("there is no room for the reply", text);
    c->used += (size_t)n;
    return REDIS_OK;
}

static int reply_number(redis_ctx *ctx, long long n)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", n);
    return reply_text(ctx, text);
}

static int reply_double(redis_ctx *ctx, double x)
{
    char text[32];

    snprintf(text, sizeof text, "%g", x);
    return reply_text(ctx, text);
}

static int reply_yes_or_no(redis_ctx *ctx, int yes)
{
    return reply_number(ctx, yes);
}

static int reply_null(redis_ctx *ctx)
{
    return reply_text(ctx, "nothing");
}

static int reply_bytes(redis_ctx *ctx, const char *bytes, size_t size)
{
    server_client *c = ctx->client;

    HERE();
    c->bytes = realloc(c->bytes, size);
    c->size = size;
    memcpy(c->bytes, bytes, size);
    return reply_text(ctx, "bytes");
}

static int reply_length(redis_ctx *ctx, long n)
{
    HERE();
    return REDIS_OK;
}

static void reply_set_length(redis_ctx *ctx, long n)
{
    HERE();
}

/* ---- Clients that wait, and timers ------------------------------------------ */

static redis_blocked *client_block(redis_ctx *ctx, redis_run *reply, redis_run *timeout,
                                   redis_free_data *free_data, long long ms)
{
    redis_blocked *b = malloc(sizeof *b);

    HERE();
    if (server.n_blocked == BLOCKED)
        server_fail("too many clients are", "blocked");
    *b = (redis_blocked){ .client = ctx->client, .reply = reply, .free = free_data };
    ctx->client->is_blocked = true;
    server.blocked[server.n_blocked++] = b;
    return b;
}

static int client_unblock(redis_blocked *b, void *data)
{
    HERE();
    b->data = data;
    b->is_over = true;
    return REDIS_OK;
}

static void *client_data(redis_ctx *ctx)
{
    HERE();
    return ctx->data;
}

static uint64_t timer_new(redis_ctx *ctx, long long ms, redis_timer_proc *run, void *data)
{
    HERE();
    if (server.n_timers == TIMERS)
        server_fail("there are too many", "timers");
    server.timers[server.n_timers++] = (timer){ server.now_us + (uint64_t)ms * 1000, run, data };
    return server.n_timers;
}

static uint64_t clock_us(void)
{
    HERE();
    return server.now_us += US_PER_LOOK;
}

static long long clock_ms(void)
{
    HERE();
    return (long long)(server.now_us / 1000);
}

/* ---- The rest ---------------------------------------------------------- */

static int module_is_busy(const char *name)
{
    return 0;
}

static void module_name(redis_ctx *ctx, const char *name, int version, int api)
{
}

static void module_options(redis_ctx *ctx, int options)
{
}

static int command_new(redis_ctx *ctx, const char *name, redis_run *run, const char *flags,
                       int first, int last, int step)
{
    if (server.n_commands == COMMANDS)
        server_fail("there is no room for the command", name);
    server.commands[server.n_commands++] = (redis_command){ name, run };
    return REDIS_OK;
}

static redis_command *command_find(redis_ctx *ctx, const char *name)
{
    for (redis_command *c = server.commands; c < server.commands + server.n_commands; c++)
        if (strcasecmp(c->name, name) == 0)
            return c;
    return NULL;
}

static int command_info(redis_command *c, const redis_command_info *info)
{
    return REDIS_OK;
}

static int keys_are_asked_for(redis_ctx *ctx)
{
    return 0;
}

static int config_new(redis_ctx *ctx, const char *name, const char *initial, unsigned flags,
                      redis_config_get *get, redis_config_set *set, redis_config_apply *apply,
                      void *data)
{
    server.settings[server.n_settings++] = (config){ name, set, data };
    return REDIS_OK;
}

static int config_load(redis_ctx *ctx)
{
    return REDIS_OK;
}

static int info_register(redis_ctx *ctx, redis_info_func *info)
{
    server.info = info;
    return REDIS_OK;
}

static int info_section(redis_info *info, const char *name)
{
    return REDIS_OK;
}

static int info_text(redis_info *info, const char *field, const char *value)
{
    return REDIS_OK;
}

static int info_number(redis_info *info, const char *field, unsigned long long value)
{
    HERE();
    if (strcmp(info->field, field) == 0)
        info->value = value;
    return REDIS_OK;
}

static int context_flags(redis_ctx *ctx)
{
    HERE();
    return server.flags;
}

static void log_line(redis_ctx *ctx, const char *level, const char *format, ...)
{
    server_fail(level, format);
}

static int wrong_arity(redis_ctx *ctx)
{
    return reply_text(ctx, "ERR wrong number of arguments");
}

static int nobody_is_told(redis_ctx *ctx, redis_string *name)
{
    HERE();
    return REDIS_OK;
}

static int event_notify(redis_ctx *ctx, int type, const char *event, redis_string *name)
{
    HERE();
    return REDIS_OK;
}

static int replicate_verbatim(redis_ctx *ctx)
{
    HERE();
    server.replicated++;
    return REDIS_OK;
}

static int replicate(redis_ctx *ctx, const char *command, const char *format, ...)
{
    return replicate_verbatim(ctx);
}

static redis_type *type_new(redis_ctx *ctx, const char *name, int encoding,
                            redis_type_methods *methods)
{
    server.types[server.n_types] = (redis_type){ *methods };
    return &server.types[server.n_types++];
}

static void io_number(redis_io *io, uint64_t n)
{
    HERE();
    io->size += sizeof n;
}

static void io_bytes(redis_io *io, const char *bytes, size_t size)
{
    HERE();
    io->size += size;
}

static void random_bytes(unsigned char *to, size_t size)
{
    HERE();
    memset(to, 7, size);
}

static int no_traffic(void)
{
    HERE();
    return server.is_failing_over;
}

static int selected_db(redis_ctx *ctx)
{
    HERE();
    return ctx->client->db;
}

static int events_of_keys(redis_ctx *ctx, int types, redis_notified *notified)
{
    HERE();
    server.notified = notified;
    return REDIS_OK;
}

static int events_of_server(redis_ctx *ctx, redis_event event, redis_event_proc *proc)
{
    HERE();
    if (event.id == REDIS_EVENT_SWAPDB)
        server.swapped = proc;
    return REDIS_OK;
}

/* ---- Functions by their names --------------------------------------------- */

/* What is missing here, no test needs: it is NULL. */
static const redis_functions FUNCTIONS = {
    .TryAlloc = memory_get,
    .Free = memory_put,
    .MallocSize = memory_size,
    .IsModuleNameBusy = module_is_busy,
    .SetModuleAttribs = module_name,
    .SetModuleOptions = module_options,
    .CreateCommand = command_new,
    .GetCommand = command_find,
    .SetCommandInfo = command_info,
    .IsKeysPositionRequest = keys_are_asked_for,
    .RegisterStringConfig = config_new,
    .LoadConfigs = config_load,
    .RegisterInfoFunc = info_register,
    .InfoAddSection = info_section,
    .InfoAddFieldCString = info_text,
    .InfoAddFieldULongLong = info_number,
    .GetContextFlags = context_flags,
    .Log = log_line,
    .WrongArity = wrong_arity,
    .ReplyWithLongLong = reply_number,
    .ReplyWithDouble = reply_double,
    .ReplyWithBool = reply_yes_or_no,
    .ReplyWithNull = reply_null,
    .ReplyWithError = reply_text,
    .ReplyWithSimpleString = reply_text,
    .ReplyWithCString = reply_text,
    .ReplyWithStringBuffer = reply_bytes,
    .ReplyWithArray = reply_length,
    .ReplyWithMap = reply_length,
    .ReplySetArrayLength = reply_set_length,
    .StringPtrLen = string_bytes,
    .StringToLongLong = string_to_number,
    .StringToDouble = string_to_double,
    .CreateString = string_new,
    .HoldString = string_hold,
    .FreeString = string_free,
    .OpenKey = key_open_at,
    .CloseKey = key_close_it,
    .KeyType = key_type,
    .ValueLength = key_length,
    .SignalModifiedKey = nobody_is_told,
    .NotifyKeyspaceEvent = event_notify,
    .ReplicateVerbatim = replicate_verbatim,
    .Replicate = replicate,
    .CreateDataType = type_new,
    .ModuleTypeSetValue = key_set_value,
    .ModuleTypeGetType = key_value_type,
    .ModuleTypeGetValue = key_value,
    .SaveUnsigned = io_number,
    .SaveStringBuffer = io_bytes,
    .GetRandomBytes = random_bytes,
    .Milliseconds = clock_ms,
    .MonotonicMicroseconds = clock_us,
    .AvoidReplicaTraffic = no_traffic,
    .GetSelectedDb = selected_db,
    .StringCompare = string_compare,
    .CreateTimer = timer_new,
    .BlockClient = client_block,
    .UnblockClient = client_unblock,
    .GetBlockedClientPrivateData = client_data,
    .ScanCursorCreate = scan_new,
    .ScanCursorDestroy = scan_free,
    .ScanKey = scan_key,
    .ListGet = list_get,
    .StreamIteratorStart = stream_start,
    .StreamIteratorStop = stream_stop,
    .StreamIteratorNextID = stream_next,
    .StreamIteratorNextField = stream_next_field,
    .SubscribeToKeyspaceEvents = events_of_keys,
    .SubscribeToServerEvent = events_of_server,
};

static int find_function(const char *name, void *out)
{
#define X(function, result, takes)                                   \
    if (strcmp(name, "RedisModule_" #function) == 0) {               \
        memcpy(out, &FUNCTIONS.function, sizeof FUNCTIONS.function); \
        return REDIS_OK;                                             \
    }
    REDIS_API_NEEDED(X)
#undef X
    return REDIS_ERR;
}

/* ---- For tests --------------------------------------------------------- */

int RedisModule_OnLoad(redis_ctx *ctx, redis_string **argv, int argc);

static server_client nobody;

static redis_ctx context_of(server_client *c)
{
    return (redis_ctx){ .get = find_function, .client = c };
}

void server_start(void)
{
    redis_ctx ctx = context_of(&nobody);
    pthread_t freeing;

    server.thread = pthread_self();
    if (RedisModule_OnLoad(&ctx, NULL, 0) != REDIS_OK ||
        pthread_create(&freeing, NULL, garbage_free_all, NULL))
        server_fail("the module is not", "loaded");
    pthread_detach(freeing);
}

void server_flush(void)
{
    for (entry *e = server.entries; e < server.entries + ENTRIES; e++)
        if (e->name)
            entry_delete(e);
    garbage_await();
}

size_t server_left(void)
{
    return atomic_load(&blocks) + server.strings;
}

void server_set_flags(int flags)
{
    server.flags = flags;
}

void server_set_failover(bool is_under_way)
{
    server.is_failing_over = is_under_way;
}

/* ---- Commands ---------------------------------------------------------- */

static void run_command(server_client *c, redis_string **words, int n)
{
    redis_ctx ctx = context_of(c);
    const redis_command *command = command_find(&ctx, words[0]->bytes);
    entry *e = n > 1 ? entry_find(c->db, words[1]->bytes) : NULL;

    if (command)
        command->run(&ctx, words, n);
    else if (strcmp(words[0]->bytes, "UNLINK") != 0)
        server_fail("there is no command", words[0]->bytes);
    else if (e)
        entry_delete(e);
}

void server_ask(server_client *c, const char *format, ...)
{
    char line[4096], *at = line;
    redis_string *words[WORDS];
    va_list values;
    int n = 0;

    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    if (c->is_blocked)
        server_fail("a client does not wait for its reply:", line);
    server_forget_reply(c);
    for (char *word; (word = strsep(&at, " ")) && n < WORDS;)
        words[n++] = string_of(word);
    run_command(c, words, n);
    while (n-- > 0)
        string_free(NULL, words[n]);
}

bool server_replied(const server_client *c, const char *text)
{
    return c->used > 0 && strncmp(c->reply, text, c->used - 1) == 0 && !text[c->used - 1];
}

void server_forget_reply(server_client *c)
{
    free(c->bytes);
    c->bytes = NULL;
    c->size = c->used = 0;
    c->reply[0] = '\0';
}

/* ---- Turns ------------------------------------------------------------- */

static void run_timers(void)
{
    redis_ctx ctx = context_of(&nobody);

    for (size_t i = 0, n = server.n_timers; i < n;) {
        timer t = server.timers[i];

        if (t.due_us > server.now_us) {
            i++;
            continue;
        }
        memmove(server.timers + i, server.timers + i + 1,
                (--server.n_timers - i) * sizeof *server.timers);
        n--;
        t.run(&ctx, t.data);
    }
}

static void reply_to(redis_blocked *b)
{
    redis_ctx ctx = context_of(b->client);

    ctx.data = b->data;
    if (!b->client->is_gone)
        b->reply(&ctx, NULL, 0);
    b->client->is_blocked = false;
    b->free(&ctx, b->data);
    free(b);
}

static void reply_to_blocked(void)
{
    for (size_t i = 0; i < server.n_blocked;)
        if (server.blocked[i]->is_over) {
            redis_blocked *b = server.blocked[i];

            server.blocked[i] = server.blocked[--server.n_blocked];
            reply_to(b);
        } else
            i++;
}

void server_turn(void)
{
    server.now_us += 1000;
    run_timers();
    reply_to_blocked();
}

/* ---- Keys and what happens to them ------------------------------------------ */

void server_collect(const char *name, int type, size_t n)
{
    entry *e = entry_new(0, name, type);
    char item[24];

    for (size_t i = 0; i < n; i++) {
        snprintf(item, sizeof item, "%zu", i);
        entry_push(e, item);
    }
}

void server_push(const char *name, const char *item)
{
    redis_ctx ctx = context_of(&nobody);
    entry *e = entry_find(0, name);

    entry_push(e, item);
    if (server.notified && e->type == REDIS_KEY_LIST)
        server.notified(&ctx, REDIS_NOTIFY_LIST, "rpush", e->name);
}

void server_swap(int first, int second)
{
    redis_ctx ctx = context_of(&nobody);
    redis_swapdb swap = { .version = 1, .first = first, .second = second };

    for (entry *e = server.entries; e < server.entries + ENTRIES; e++)
        if (e->db == first || e->db == second)
            e->db = first + second - e->db;
    if (server.swapped)
        server.swapped(&ctx, (redis_event){ REDIS_EVENT_SWAPDB, 1 }, 0, &swap);
}

bool server_has(const char *name)
{
    return entry_find(0, name) != NULL;
}

size_t server_save(const char *name)
{
    const entry *e = entry_find(0, name);
    redis_io io = { 0 };

    e->of->methods.rdb_save(&io, e->value);
    return io.size;
}

void server_copy(const char *from, const char *to)
{
    const entry *e = entry_find(0, from);
    entry *old = entry_find(0, to), *made;
    void *value = e->of->methods.copy(e->name, e->name, e->value);

    if (!value)
        server_fail("there is no copy of", from);
    made = entry_new(0, to, REDIS_KEY_MODULE);
    made->of = e->of;
    made->value = value;
    if (old)
        entry_delete(old);
}

size_t server_usage(const char *name)
{
    const entry *e = entry_find(0, name);

    return e->of->methods.mem_usage(e->value);
}

void server_config(const char *name, const char *value)
{
    redis_string *s = string_of(value), *why = NULL;

    for (size_t i = 0; i < server.n_settings; i++)
        if (strcmp(server.settings[i].name, name) == 0 &&
            server.settings[i].set(name, s, server.settings[i].data, &why) != REDIS_OK)
            server_fail("the module refused", value);
    string_free(NULL, s);
}

uint64_t server_info(const char *field)
{
    redis_info info = { .field = field };

    server.info(&info, 0);
    return info.value;
}

uint64_t server_replicated(void)
{
    return server.replicated;
}
