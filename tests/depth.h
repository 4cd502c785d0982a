/* depth.h - how much stack a call takes.
 *
 * A call runs on a thread whose stack was painted, and the paint tells how deep it went. What a
 * thread that does nothing takes is not counted, nor is the dynamic linker: tests are linked so
 * that it finds all functions at the start. Numbers are those of an optimising compiler. With
 * TAMIS_STACK in the environment, all are printed. */
#ifndef TAMIS_TESTS_DEPTH_H
#define TAMIS_TESTS_DEPTH_H

#include <pthread.h>
#include <sys/mman.h>

#include "check.h"

enum { DEPTH_MOST = 16 << 10, DEPTH_STACK = 512 << 10, DEPTH_PAINT = 0xa5 };

typedef struct {
    void (*call)(void *ctx);
    void *ctx;
} depth_errand;

static uint8_t *depth_stack;
static size_t depth_base; /* of a call that does nothing */

static void *depth_run(void *arg)
{
    const depth_errand *e = arg;

    e->call(e->ctx);
    return NULL;
}

static size_t depth_of(void (*call)(void *ctx), void *ctx)
{
    pthread_attr_t attributes;
    pthread_t thread;
    depth_errand e = { call, ctx };
    size_t at = 0;

    memset(depth_stack, DEPTH_PAINT, DEPTH_STACK);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, depth_stack, DEPTH_STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, depth_run, &e), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    while (at < DEPTH_STACK && depth_stack[at] == DEPTH_PAINT)
        at++;
    return DEPTH_STACK - at;
}

/* Whether a call takes more than the library promises for each. */
static bool is_deep(const char *name, void (*call)(void *ctx), void *ctx)
{
    size_t depth = depth_of(call, ctx) - depth_base;

    if (getenv("TAMIS_STACK"))
        print_message("%s %zu\n", name, depth);
    if (depth > DEPTH_MOST)
        print_error("%s takes %zu bytes of stack\n", name, depth);
    return depth > DEPTH_MOST;
}

typedef struct depth_row {
    const char *name;
    void (*call)(void *ctx);
} depth_row;

static size_t count_deep(const char *of, const depth_row *rows, size_t n, void *ctx)
{
    size_t deep = 0;

    for (size_t i = 0; i < n; i++) {
        char name[512];

        snprintf(name, sizeof name, "%s: %s", of, rows[i].name);
        deep += is_deep(name, rows[i].call, ctx);
    }
    return deep;
}

static void depth_of_nothing(void *ctx)
{
    (void)ctx;
}

/* False: nothing can be measured in this build. */
static bool depth_begin(void)
{
#ifndef __OPTIMIZE__
    return false;
#endif
    if (is_sanitized())
        return false;
    depth_stack =
        mmap(NULL, DEPTH_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(depth_stack != MAP_FAILED);
    depth_base = depth_of(depth_of_nothing, NULL);
    return true;
}

static void depth_end(void)
{
    munmap(depth_stack, DEPTH_STACK);
}

#endif
