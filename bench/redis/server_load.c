/* server_load.c - tamis-bench-redis: load for a server with the module, and what it cost the
 * server.
 *
 *   tamis-bench-redis SOCKET speed KEYS ROUNDS   commands of 100 items, 16 at a time
 *   tamis-bench-redis SOCKET memory KEYS         bits per key of filters at 1 %
 *   tamis-bench-redis SOCKET wait KEYS           how long GET waits while filters are made
 *
 * bench/redis/run starts a server of its own, which also has the commands of nothing.c, and prints
 * what bench/results/redis.md shows. One connection sends the next commands before it reads the
 * replies to the last ones, so that the server always has something to do. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "tamis-bench-redis: %s: %s\n", what, why);
    exit(1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_until(double when)
{
    double left = when - now();

    if (left > 0)
        nanosleep(&(struct timespec){ .tv_sec = (time_t)left,
                                      .tv_nsec = (long)((left - (double)(time_t)left) * 1e9) },
                  NULL);
}

/* ---- A connection ------------------------------------------------------- */

typedef struct line {
    int fd;
    char in[1 << 16];
    size_t from, to; /* what was read and not yet taken */
} line;

static line *line_open(const char *path)
{
    struct sockaddr_un where = { .sun_family = AF_UNIX };
    line *l = calloc(1, sizeof *l);

    if (!l || strlen(path) >= sizeof where.sun_path)
        fail(path, "no such path");
    strcpy(where.sun_path, path);
    l->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (l->fd < 0 || connect(l->fd, (struct sockaddr *)&where, sizeof where))
        fail(path, strerror(errno));
    return l;
}

static void line_send(const line *l, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(l->fd, bytes, size);

        if (n <= 0)
            fail("write", strerror(errno));
        bytes += n;
        size -= (size_t)n;
    }
}

static char line_byte(line *l)
{
    if (l->from == l->to) {
        ssize_t n = read(l->fd, l->in, sizeof l->in);

        if (n <= 0)
            fail("read", n ? strerror(errno) : "the server is gone");
        l->from = 0;
        l->to = (size_t)n;
    }
    return l->in[l->from++];
}

/* The rest of a line, without its end. */
static void line_rest(line *l, char *text, size_t room)
{
    size_t n = 0;

    for (char c; (c = line_byte(l)) != '\n';)
        if (c != '\r' && n + 1 < room)
            text[n++] = c;
    text[n] = '\0';
}

/* One reply: the sum of its integers. Text is kept, if there is room for it. */
static int64_t line_reply(line *l, char *text, size_t room)
{
    char mark = line_byte(l), head[512];
    int64_t sum = 0, n;

    line_rest(l, head, sizeof head);
    n = strtoll(head, NULL, 10);
    if (mark == '-')
        fail("reply", head);
    if (mark == ':')
        return n;
    for (int64_t i = 0; mark == '*' && i < n; i++)
        sum += line_reply(l, text, room);
    for (int64_t i = 0; mark == '$' && i < n + 2; i++) {
        char c = line_byte(l);

        if ((size_t)i + 1 < room && i < n) {
            text[i] = c;
            text[i + 1] = '\0';
        }
    }
    return sum;
}

/* ---- Commands ---------------------------------------------------------- */

typedef struct text {
    char *bytes;
    size_t size, room;
} text;

static void text_add(text *t, const char *bytes, size_t size)
{
    if (t->room - t->size < size) {
        t->room = 2 * t->room + size;
        t->bytes = realloc(t->bytes, t->room);
        if (!t->bytes)
            fail("text", "no memory");
    }
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
}

static void text_word(text *t, const char *word, size_t size)
{
    char head[32];

    text_add(t, head, (size_t)snprintf(head, sizeof head, "$%zu\r\n", size));
    text_add(t, word, size);
    text_add(t, "\r\n", 2);
}

/* Words that are separated by blanks; `more` will follow. */
static void text_command(text *t, const char *words, size_t more)
{
    char head[32];
    size_t n = 1;

    for (const char *c = words; *c; c++)
        n += *c == ' ';
    text_add(t, head, (size_t)snprintf(head, sizeof head, "*%zu\r\n", n + more));
    for (size_t size; n-- > 0; words += size + 1) {
        size = strcspn(words, " ");
        text_word(t, words, size);
    }
}

/* Items of 16 bytes, as redis-benchmark has. */
enum { ITEM_SIZE = 16 };

static void text_item(text *t, uint64_t number)
{
    char item[ITEM_SIZE + 1] = "key:000000000000";

    for (int at = ITEM_SIZE; number > 0; number /= 10)
        item[--at] = (char)('0' + number % 10);
    text_word(t, item, ITEM_SIZE);
}

static int64_t ask(line *l, const char *words, char *said, size_t room)
{
    text t = { .bytes = NULL };

    text_command(&t, words, 0);
    line_send(l, t.bytes, t.size);
    free(t.bytes);
    return line_reply(l, said, room);
}

static int64_t tell(line *l, const char *words)
{
    return ask(l, words, NULL, 0);
}

/* CPU seconds of the thread that reads commands. */
static double server_cpu(line *l)
{
    static const char *const fields[] = { "used_cpu_user_main_thread:",
                                          "used_cpu_sys_main_thread:" };
    char info[4096] = "";
    double sum = 0;

    ask(l, "INFO cpu", info, sizeof info);
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(info, fields[i]);

        sum += at ? strtod(at + strlen(fields[i]), NULL) : 0;
    }
    return sum;
}

/* ---- Load -------------------------------------------------------------- */

enum { PIPELINE = 16 };

typedef struct workload {
    const char *name;
    const char *before; /* a command, or NULL; %s is the number of keys */
    const char *words;
    unsigned items;   /* in a command; 0: one, after which comes a value */
    bool are_strange; /* items that were never added */
    bool is_found;    /* every item has to be */
} workload;

static const workload WORKLOADS[] = {
    { "`SET`", "FLUSHALL", "SET", 0, false, false },
    { "`SADD` x 100", "FLUSHALL", "SADD k", 100, false, false },
    { "nothing x 100, replies `OK`", "FLUSHALL", "NOTHING.OK k", 100, false, false },
    { "nothing x 100, replies 100 times", NULL, "NOTHING.ARRAY k", 100, false, false },
    { "`BF.MADD` x 100", "BF.RESERVE k 0.01 %s", "BF.MADD k", 100, false, false },
    { "`BF.MEXISTS` x 100, present", NULL, "BF.MEXISTS k", 100, false, true },
    { "`BF.MEXISTS` x 100, absent", NULL, "BF.MEXISTS k", 100, true, false },
    { "`CF.INSERT` x 100", "CF.RESERVE c %s BUCKETSIZE 4", "CF.INSERT c ITEMS", 100, false, false },
    { "`CF.MEXISTS` x 100, present", NULL, "CF.MEXISTS c", 100, false, true },
    { "`TAMIS.MADD` x 100, blocked", "TAMIS.RESERVE t blocked CAPACITY %s", "TAMIS.MADD t", 100,
      false, false },
    { "`TAMIS.MEXISTS` x 100, present", NULL, "TAMIS.MEXISTS t", 100, false, true },
    { "`TAMIS.MEXISTS` x 100, absent", NULL, "TAMIS.MEXISTS t", 100, true, false },
};

enum { WORKLOADS_N = sizeof WORKLOADS / sizeof *WORKLOADS, ROUNDS_MAX = 15 };

static unsigned workload_items(const workload *w)
{
    return w->items ? w->items : 1;
}

/* The next commands of a pipeline, from a key on. */
static void workload_fill(const workload *w, text *t, uint64_t at)
{
    t->size = 0;
    for (int i = 0; i < PIPELINE; i++) {
        text_command(t, w->words, w->items ? w->items : 2);
        for (unsigned k = 0; k < workload_items(w); k++)
            text_item(t, at++ + (w->are_strange ? UINT64_C(500000000000) : 0));
        if (!w->items)
            text_word(t, "1", 1);
    }
}

static int64_t workload_replies(line *l)
{
    int64_t sum = 0;

    for (int i = 0; i < PIPELINE; i++)
        sum += line_reply(l, NULL, 0);
    return sum;
}

/* Sends about n items; how many were sent, and the sum of the replies. */
static uint64_t workload_run(const workload *w, line *l, uint64_t n, int64_t *sum)
{
    const uint64_t step = (uint64_t)PIPELINE * workload_items(w);
    text t = { .bytes = NULL };
    uint64_t at = 0;

    *sum = 0;
    for (; at < n; at += step) {
        workload_fill(w, &t, at);
        line_send(l, t.bytes, t.size);
        if (at > 0)
            *sum += workload_replies(l);
    }
    *sum += workload_replies(l);
    free(t.bytes);
    return at;
}

/* The number of keys where %s stands. */
static void spell(char words[128], const char *pattern, const char *keys)
{
    const char *hole = strstr(pattern, "%s");
    size_t head = hole ? (size_t)(hole - pattern) : strlen(pattern);

    if (hole)
        snprintf(words, 128, "%.*s%.0f%s", (int)head, pattern, strtod(keys, NULL), hole + 2);
    else
        snprintf(words, 128, "%s", pattern);
}

typedef struct cost {
    double wall, cpu; /* nanoseconds for an item */
} cost;

static cost workload_time(const workload *w, line *l, const char *keys)
{
    uint64_t n = (uint64_t)strtod(keys, NULL), sent;
    char before[128];
    double wall, cpu;
    int64_t sum;

    if (w->before) {
        spell(before, w->before, keys);
        tell(l, before);
    }
    cpu = server_cpu(l);
    wall = now();
    sent = workload_run(w, l, n, &sum);
    wall = now() - wall;
    cpu = server_cpu(l) - cpu;
    if (w->is_found && sum != (int64_t)sent)
        fail(w->name, "an item was not found");
    return (cost){ wall * 1e9 / (double)sent, cpu * 1e9 / (double)sent };
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare);
    return x[n / 2];
}

static void speed(line *l, const char *keys, int rounds)
{
    double wall[WORKLOADS_N][ROUNDS_MAX], cpu[WORKLOADS_N][ROUNDS_MAX], medians[WORKLOADS_N];

    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < WORKLOADS_N; i++) {
            cost c = workload_time(&WORKLOADS[i], l, keys);

            wall[i][r] = c.wall;
            cpu[i][r] = c.cpu;
        }
    for (int i = 0; i < WORKLOADS_N; i++)
        medians[i] = median(cpu[i], (size_t)rounds);
    printf("| %s keys | million keys per second | ns per key, CPU of the server | "
           "times `OK` | times 100 replies |\n|---|---:|---:|---:|---:|\n",
           keys);
    for (int i = 0; i < WORKLOADS_N; i++)
        printf("| %s | %.2f | %.0f | %.2f | %.2f |\n", WORKLOADS[i].name,
               1e3 / median(wall[i], (size_t)rounds), medians[i], medians[i] / medians[2],
               medians[i] / medians[3]);
    tell(l, "FLUSHALL");
}

/* ---- Memory ------------------------------------------------------------ */

typedef struct holding {
    const char *reserve; /* or NULL: the first add makes it */
    const char *add;
} holding;

static const holding HOLDINGS[] = {
    { "BF.RESERVE k 0.01 %s", "BF.MADD k" },
    { "BF.RESERVE k 0.01 %s NONSCALING", "BF.MADD k" },
    { NULL, "BF.MADD k" },
    { "CF.RESERVE k %s BUCKETSIZE 4", "CF.INSERT k ITEMS" },
    { "TAMIS.RESERVE k bloom CAPACITY %s", "TAMIS.MADD k" },
    { "TAMIS.RESERVE k blocked CAPACITY %s", "TAMIS.MADD k" },
    { "TAMIS.RESERVE k cqf CAPACITY %s GROW", "TAMIS.MADD k" },
    { "TAMIS.RESERVE k morton CAPACITY %s GROW", "TAMIS.MADD k" },
    { "TAMIS.RESERVE k scalable CAPACITY %s", "TAMIS.MADD k" },
    { "TAMIS.RESERVE k scalable GROW", "TAMIS.MADD k" },
    { "TAMIS.RESERVE k aleph GROW", "TAMIS.MADD k" },
};

/* Of a family, by the first letter of the command that adds. */
static const char *holding_ask(const holding *h)
{
    return h->add[0] == 'B'   ? "BF.MEXISTS k"
           : h->add[0] == 'C' ? "CF.MEXISTS k"
                              : "TAMIS.MEXISTS k";
}

static void memory_row(line *l, const holding *h, const char *keys)
{
    const workload add = { "add", h->reserve, h->add, 100, false, false };
    const workload absent = { "ask", NULL, holding_ask(h), 100, true, false };
    char words[128];
    uint64_t asked;
    int64_t found;

    tell(l, "FLUSHALL");
    workload_time(&add, l, keys);
    asked = workload_run(&absent, l, 1000000, &found);
    spell(words, h->reserve ? h->reserve : h->add, keys);
    printf("| `%s` | %.2f | %.2f %% |\n", words,
           8.0 * (double)tell(l, "MEMORY USAGE k") / strtod(keys, NULL),
           100.0 * (double)found / (double)asked);
}

static void memory(line *l, const char *keys)
{
    printf("| made by | bits per key, `MEMORY USAGE` | false positives |\n|---|---:|---:|\n");
    for (size_t i = 0; i < sizeof HOLDINGS / sizeof *HOLDINGS; i++)
        memory_row(l, &HOLDINGS[i], keys);
    tell(l, "FLUSHALL");
}

/* ---- Waiting ----------------------------------------------------------- */

/* Requests go out by the clock, not when the last one was answered: what waits behind a slow one
 * has waited, too. */
static const double PERIOD = 200e-6;

enum { SAMPLES_MAX = 1 << 20 };

static double samples[SAMPLES_MAX];

static bool is_readable(const line *l)
{
    struct pollfd p = { .fd = l->fd, .events = POLLIN };

    return l->from < l->to || poll(&p, 1, 0) > 0;
}

/* GETs from one client until another has its reply, or for so long. */
static size_t wait_samples(line *l, const line *other, double seconds)
{
    double start = now();
    size_t n = 0;

    while (n < SAMPLES_MAX && (other ? !is_readable(other) : now() - start < seconds)) {
        double due = start + (double)n * PERIOD;

        sleep_until(due);
        tell(l, "GET text");
        samples[n++] = now() - due;
    }
    return n;
}

static void wait_row(const char *name, size_t n, double seconds)
{
    qsort(samples, n, sizeof *samples, compare);
    printf("| %s | %.2f | %zu | %.2f | %.2f | %.2f |\n", name, seconds, n, samples[n / 2] * 1e3,
           samples[n - n / 100 - 1] * 1e3, samples[n - 1] * 1e3);
}

static void wait_during(line *l, line *other, const char *words, const char *name)
{
    text t = { .bytes = NULL };
    double start = now();
    size_t n;

    text_command(&t, words, 0);
    line_send(other, t.bytes, t.size);
    free(t.bytes);
    n = wait_samples(l, other, 0);
    line_reply(other, NULL, 0);
    wait_row(name, n, now() - start);
}

static void wait_for(line *l, line *other, const char *keys)
{
    static const workload sadd = { "SADD", "FLUSHALL", "SADD k", 100, false, false };
    char words[128];

    workload_time(&sadd, l, keys);
    tell(l, "SET text value");
    printf("| `GET` of another client, %s keys | seconds | asked | median, ms | p99, ms | "
           "longest, ms |\n|---|---:|---:|---:|---:|---:|\n",
           keys);
    wait_row("nothing else", wait_samples(l, NULL, 3), 3);
    wait_during(l, other, "TAMIS.BUILD f fuse FROM SET k", "`TAMIS.BUILD` of a set, fuse");
    wait_during(l, other, "TAMIS.BUILD r ribbon FROM SET k", "`TAMIS.BUILD` of a set, ribbon");
    snprintf(words, sizeof words, "TAMIS.RESERVE a blocked CAPACITY %.0f", 10 * strtod(keys, NULL));
    tell(l, words);
    tell(l, "TAMIS.RESERVE b LIKE a");
    wait_during(l, other, "TAMIS.MERGE c 2 a b", "`TAMIS.MERGE`, 10 times the keys");
    tell(l, "FLUSHALL");
}

int main(int argc, char **argv)
{
    line *l;

    if (argc < 4) {
        fputs("usage: tamis-bench-redis SOCKET speed KEYS ROUNDS | memory KEYS | wait KEYS\n",
              stderr);
        return 2;
    }
    l = line_open(argv[1]);
    if (!strcmp(argv[2], "speed")) {
        int rounds = argc > 4 ? atoi(argv[4]) : 1;

        speed(l, argv[3], rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds);
    } else if (!strcmp(argv[2], "memory"))
        memory(l, argv[3]);
    else
        wait_for(l, line_open(argv[1]), argv[3]);
    return 0;
}
