/* cluster.h - commands to the servers of a Redis Cluster, in pipelines, wherever their keys are.
 *
 * hiredis speaks to one server. Here is what a cluster asks of its clients beside: to know which
 * server has a slot, to follow keys that move, and to come back when a server is lost. It works
 * with one server that is no cluster, too. */
#ifndef TAMIS_REDIS_CLUSTER_H
#define TAMIS_REDIS_CLUSTER_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cluster cluster;

/* A command about a key. What it points to is there until it is done. */
typedef struct request {
    const char **words;
    const size_t *sizes;
    int n;
    int key;         /* which word */
    bool must_exist; /* a key that is missing is one that is not here yet: it is asked for again */
    redisReply *reply;

    /* for cluster.c */
    unsigned slot;
    int node, asked; /* asked: the node that has the key while its slot moves, or -1 */
    bool is_done;
} request;

/* Through one of its servers. NULL after a message. */
cluster *cluster_open(const char *host, int port);
void cluster_close(cluster *c);

/* Sends all, and waits for all replies, which cluster_release() frees. An error of a command is a
 * reply like others. With `replicas`, a reply means that so many have the change, too: commands may
 * be sent again until they do, so they must be such that twice is as good as once.
 *
 * False, after a message: no reply to some for as long as `patience` says, in seconds. After a
 * tenth of that, a message says what it waits for. */
bool cluster_run(cluster *c, request *requests, size_t n, int replicas, double patience);
void cluster_release(request *requests, size_t n);

/* Which slot a key is in, and "host:port" of the server that has it as far as is known. */
unsigned cluster_slot(const char *key, size_t size);
const char *cluster_where(const cluster *c, unsigned slot, char text[300]);

#endif
