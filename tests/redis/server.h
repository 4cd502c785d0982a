/* server.h - a double of Redis, for tests that are its thread.
 *
 * It finds the functions of the module's interface by their names, holds keys, runs commands, and
 * does between them what waits for that: timers, and replies to clients that were blocked. Large
 * values are freed by a thread of its own, as Redis frees them. Its clock stands still but for
 * server_turn(), and for each look at the microseconds, so that slices end at the same place in
 * every run.
 *
 * Threads of the module may call the allocator and nothing else: what they call besides ends the
 * program. */
#ifndef TAMIS_TESTS_REDIS_SERVER_H
#define TAMIS_TESTS_REDIS_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "redis_api.h"

/* Who sends commands. It stays where it is while one of them blocks it. */
typedef struct server_client {
    int db;
    bool is_gone; /* it has closed the connection: nobody hears the reply */
    bool is_blocked;
    char reply[4096]; /* to the last command: words, with a space after each */
    size_t used;
    char *bytes; /* the last string in it, which may hold any bytes; or NULL */
    size_t size;
} server_client;

/* Loads the module; once in a program. */
void server_start(void);
/* Deletes all keys, and waits until they are freed. */
void server_flush(void);
/* Blocks of the module's memory and strings that it holds. */
size_t server_left(void);

/* What GetContextFlags() says from now on: REDIS_CTX_PRIMARY at first. */
void server_set_flags(int flags);
/* Whether AvoidReplicaTraffic() asks for no writes. */
void server_set_failover(bool is_under_way);

/* Words with one space between them, of a format as printf() has it. */
void server_ask(server_client *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool server_replied(const server_client *c, const char *text);
void server_forget_reply(server_client *c);

/* A millisecond passes. */
void server_turn(void);

/* A collection of the numbers from 0 to n - 1; of a hash, each with itself as value. */
void server_collect(const char *name, int type, size_t n);
/* One more item, at the end. */
void server_push(const char *name, const char *item);
void server_swap(int first, int second);
bool server_has(const char *name);

/* The methods of the data type. */
size_t server_save(const char *name);
void server_copy(const char *from, const char *to);
size_t server_usage(const char *name);

void server_config(const char *name, const char *value);
uint64_t server_info(const char *field);
/* Commands that replicas were told of. */
uint64_t server_replicated(void);

/* While they are held, threads of the module wait in the allocator. Neither waiting nor going on
 * puts what they do in any order with what this thread does, as far as ThreadSanitizer can tell. */
void server_hold_threads(void);
void server_await_thread(void);
void server_let_threads_go(void);

#endif
