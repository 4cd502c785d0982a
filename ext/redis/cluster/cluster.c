/* cluster.c - slots, redirections, and servers that come and go. */
#define _POSIX_C_SOURCE 200809L

#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLOTS = 16384, NODES_MAX = 1024, WAIT_MS = 1000, LINE_SECONDS = 10 };

typedef struct node {
    char host[256];
    int port;
    redisContext *line; /* NULL: not connected */
    bool is_used;       /* in this round: something was sent */
    bool is_lost;       /* in this round: it cannot be reached */
    long long replicas; /* that have what was sent in this round */
} node;

struct cluster {
    node nodes[NODES_MAX];
    int n;
    int slots[SLOTS]; /* which node */
    bool is_stale;    /* the slots may be elsewhere by now */
    int teacher;      /* who is asked next where they are */
    char why[512];    /* what went wrong last */
};

static double cluster_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void cluster_pause(long ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* ---- Slots ------------------------------------------------------------- */

/* CRC16 of XMODEM, of what is between the first { and the next }, if anything is. */
unsigned cluster_slot(const char *key, size_t size)
{
    const char *open = memchr(key, '{', size);
    const char *close = open ? memchr(open, '}', size - (size_t)(open - key)) : NULL;
    unsigned crc = 0;

    if (close && close > open + 1) {
        key = open + 1;
        size = (size_t)(close - key);
    }
    for (size_t i = 0; i < size; i++) {
        crc ^= (unsigned)(unsigned char)key[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
    }
    return crc % SLOTS;
}

/* ---- Servers ----------------------------------------------------------- */

/* A server that is known, or one more. When there is no room: the first, which will redirect. */
static int cluster_node(cluster *c, const char *host, int port)
{
    int i = 0;

    while (i < c->n && (c->nodes[i].port != port || strcmp(c->nodes[i].host, host) != 0))
        i++;
    if (i == NODES_MAX)
        return 0;
    if (i == c->n) {
        c->nodes[i] = (node){ .port = port };
        snprintf(c->nodes[i].host, sizeof c->nodes[i].host, "%s", host);
        c->n++;
    }
    return i;
}

static void cluster_hang_up(node *n)
{
    if (n->line)
        redisFree(n->line);
    n->line = NULL;
}

/* Remembers why. */
static void cluster_lose(cluster *c, node *n)
{
    snprintf(c->why, sizeof c->why, "%s:%d: %s", n->host, n->port,
             n->line ? n->line->errstr : "no memory");
    cluster_hang_up(n);
    n->is_lost = true;
    c->is_stale = true;
}

static bool cluster_dial(cluster *c, node *n)
{
    if (n->line)
        return true;
    if (n->is_lost)
        return false;
    n->line = redisConnectWithTimeout(n->host, n->port, (struct timeval){ .tv_sec = 1 });
    if (n->line && !n->line->err) {
        redisSetTimeout(n->line, (struct timeval){ .tv_sec = LINE_SECONDS });
        return true;
    }
    cluster_lose(c, n);
    return false;
}

/* One row of CLUSTER SLOTS: first, last, [host, port, ...] of the primary, its replicas. */
static void cluster_take_range(cluster *c, const redisReply *row, const char *asked)
{
    const redisReply *primary = row->elements > 2 ? row->element[2] : NULL;
    const redisReply *host;
    int at;

    if (!primary || primary->elements < 2)
        return;
    host = primary->element[0];
    at = cluster_node(c, host->str && host->len ? host->str : asked,
                      (int)primary->element[1]->integer);
    for (long long s = row->element[0]->integer; s <= row->element[1]->integer; s++)
        if (s >= 0 && s < SLOTS)
            c->slots[s] = at;
}

/* A server that is no cluster has all slots. */
static bool cluster_learn_from(cluster *c, int at)
{
    char host[sizeof c->nodes[at].host];
    redisReply *r;
    bool known;

    if (!cluster_dial(c, &c->nodes[at]))
        return false;
    memcpy(host, c->nodes[at].host, sizeof host);
    r = redisCommand(c->nodes[at].line, "CLUSTER SLOTS");
    if (!r) {
        cluster_lose(c, &c->nodes[at]);
        return false;
    }
    known = r->type == REDIS_REPLY_ARRAY && r->elements > 0;
    for (size_t i = 0; known && i < r->elements; i++)
        cluster_take_range(c, r->element[i], host);
    if (r->type == REDIS_REPLY_ERROR && strstr(r->str, "cluster support disabled")) {
        known = true;
        for (int s = 0; s < SLOTS; s++)
            c->slots[s] = at;
    }
    freeReplyObject(r);
    return known;
}

/* Any server may be the one that is gone, or that does not know what the others do. */
static bool cluster_learn(cluster *c)
{
    for (int i = 0; i < c->n; i++) {
        c->teacher = (c->teacher + 1) % c->n;
        c->nodes[c->teacher].is_lost = false;
        if (cluster_learn_from(c, c->teacher)) {
            c->is_stale = false;
            return true;
        }
    }
    return false;
}

cluster *cluster_open(const char *host, int port)
{
    cluster *c = calloc(1, sizeof *c);

    if (!c) {
        fprintf(stderr, "no memory\n");
        return NULL;
    }
    cluster_node(c, host, port);
    if (cluster_learn(c))
        return c;
    fprintf(stderr, "no cluster: %s\n", c->why);
    cluster_close(c);
    return NULL;
}

void cluster_close(cluster *c)
{
    for (int i = 0; i < c->n; i++)
        cluster_hang_up(&c->nodes[i]);
    free(c);
}

const char *cluster_where(const cluster *c, unsigned slot, char text[300])
{
    const node *n = &c->nodes[c->slots[slot]];

    snprintf(text, 300, "%s:%d", n->host, n->port);
    return text;
}

/* ---- A round: everything is sent, then everything is received ---------------- */

static void cluster_send(cluster *c, request *r)
{
    node *n;

    r->node = r->asked >= 0 ? r->asked : c->slots[r->slot];
    n = &c->nodes[r->node];
    if (!cluster_dial(c, n))
        return;
    n->is_used = true;
    for (int i = 0; i <= r->must_exist; i++) {
        if (r->asked >= 0) /* holds for one command */
            redisAppendCommand(n->line, "ASKING");
        if (i < r->must_exist)
            redisAppendCommand(n->line, "EXISTS %b", r->words[r->key], r->sizes[r->key]);
        else
            redisAppendCommandArgv(n->line, r->n, r->words, r->sizes);
    }
}

/* The servers work at the same time: each has its commands before the first is listened to. */
static void cluster_flush(node *n, int replicas)
{
    int is_done = 0;

    if (replicas)
        redisAppendCommand(n->line, "WAIT %d %d", replicas, WAIT_MS);
    while (!is_done && redisBufferWrite(n->line, &is_done) == REDIS_OK)
        ;
}

static redisReply *cluster_reply(node *n)
{
    void *reply = NULL;

    return n->line && redisGetReply(n->line, &reply) == REDIS_OK ? reply : NULL;
}

/* An error goes before an answer; "no such key" is one. */
static redisReply *cluster_worse(redisReply *exists, redisReply *reply)
{
    if (exists && reply && reply->type != REDIS_REPLY_ERROR &&
        (exists->type == REDIS_REPLY_ERROR || exists->integer == 0)) {
        freeReplyObject(reply);
        return exists;
    }
    if (exists)
        freeReplyObject(exists);
    return reply;
}

static void cluster_receive(cluster *c, request *r)
{
    node *n = &c->nodes[r->node];
    redisReply *exists = NULL;

    r->reply = NULL;
    for (int i = 0; i <= r->must_exist; i++) {
        if (r->asked >= 0)
            freeReplyObject(cluster_reply(n));
        if (i < r->must_exist)
            exists = cluster_reply(n);
        else
            r->reply = cluster_worse(exists, cluster_reply(n));
    }
    r->asked = -1;
}

static void cluster_receive_replicas(cluster *c, node *n, int replicas)
{
    redisReply *r = replicas ? cluster_reply(n) : NULL;

    n->replicas = r && r->type == REDIS_REPLY_INTEGER ? r->integer : 0;
    if (r)
        freeReplyObject(r);
    if (n->line->err)
        cluster_lose(c, n);
    else if (n->replicas < replicas)
        snprintf(c->why, sizeof c->why, "%s:%d: %lld of %d replicas have it", n->host, n->port,
                 n->replicas, replicas);
}

/* ---- What a reply means ------------------------------------------------- */

static bool cluster_starts(const redisReply *r, const char *word)
{
    return r->type == REDIS_REPLY_ERROR && strncmp(r->str, word, strlen(word)) == 0;
}

/* "MOVED 3999 127.0.0.1:7101": the slot is there from now on. "ASK ...": this key, this time. */
static void cluster_follow(cluster *c, request *r, bool moved)
{
    char host[256];
    const char *address = strrchr(r->reply->str, ' ');
    const char *colon = address ? strrchr(address, ':') : NULL;
    int size = colon ? (int)(colon - address - 1) : 0;
    int at;

    if (!colon || size >= (int)sizeof host)
        return;
    snprintf(host, sizeof host, "%.*s", size, address + 1);
    at = cluster_node(c, size ? host : c->nodes[r->node].host, atoi(colon + 1));
    if (moved)
        c->slots[r->slot] = at;
    else
        r->asked = at;
}

/* Errors of a cluster that is busy with itself, which pass. */
static bool cluster_is_passing(const redisReply *r)
{
    static const char *const words[] = { "TRYAGAIN", "CLUSTERDOWN", "LOADING",
                                         "READONLY", "MASTERDOWN",  "NOREPLICAS" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (cluster_starts(r, words[i]))
            return true;
    return false;
}

static bool cluster_is_missing(const request *r)
{
    return r->must_exist &&
           (r->reply->type == REDIS_REPLY_INTEGER || cluster_starts(r->reply, "ERR not found"));
}

/* Whether a request is done. If not, its reply is gone, and it knows where to go next. */
static bool cluster_judge(cluster *c, request *r, int replicas)
{
    bool moved = r->reply && cluster_starts(r->reply, "MOVED ");
    bool asks = r->reply && cluster_starts(r->reply, "ASK ");

    if (!r->reply)
        c->is_stale = true;
    else if (moved || asks)
        cluster_follow(c, r, moved);
    else if (cluster_is_passing(r->reply) || cluster_is_missing(r)) {
        c->is_stale = true;
        snprintf(c->why, sizeof c->why, "%.*s: %.160s", (int)(r->sizes[r->key] % 80),
                 r->words[r->key], r->reply->str ? r->reply->str : "the key is not there");
    } else if (r->reply->type == REDIS_REPLY_ERROR || c->nodes[r->node].replicas >= replicas)
        return true;
    if (r->reply)
        freeReplyObject(r->reply);
    r->reply = NULL;
    return false;
}

/* How many are done now. */
static size_t cluster_round(cluster *c, request *requests, size_t n, int replicas)
{
    size_t done = 0;

    for (int i = 0; i < c->n; i++)
        c->nodes[i].is_used = c->nodes[i].is_lost = false;
    for (size_t i = 0; i < n; i++)
        if (!requests[i].is_done)
            cluster_send(c, &requests[i]);
    for (int i = 0; i < c->n; i++)
        if (c->nodes[i].is_used)
            cluster_flush(&c->nodes[i], replicas);
    for (size_t i = 0; i < n; i++)
        if (!requests[i].is_done)
            cluster_receive(c, &requests[i]);
    for (int i = 0; i < c->n; i++)
        if (c->nodes[i].is_used)
            cluster_receive_replicas(c, &c->nodes[i], replicas);
    for (size_t i = 0; i < n; i++)
        if (!requests[i].is_done)
            done += requests[i].is_done = cluster_judge(c, &requests[i], replicas);
    return done;
}

bool cluster_run(cluster *c, request *requests, size_t n, int replicas, double patience)
{
    double begin = cluster_now();
    bool has_told = false;
    size_t done, left = n;

    for (size_t i = 0; i < n; i++) {
        requests[i].slot =
            cluster_slot(requests[i].words[requests[i].key], requests[i].sizes[requests[i].key]);
        requests[i].asked = -1;
        requests[i].is_done = false;
        requests[i].reply = NULL;
    }
    for (;;) {
        done = cluster_round(c, requests, n, replicas);
        left -= done;
        if (!left)
            return true;
        if (!has_told && cluster_now() > begin + patience / 10) {
            fprintf(stderr, "waiting: %s\n", c->why);
            has_told = true;
        }
        if (cluster_now() > begin + patience) {
            fprintf(stderr, "given up after %g s: %s\n", patience, c->why);
            return false;
        }
        if (!done)
            cluster_pause(20);
        if (c->is_stale)
            (void)cluster_learn(c);
    }
}

void cluster_release(request *requests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (requests[i].reply)
            freeReplyObject(requests[i].reply);
        requests[i].reply = NULL;
    }
}
