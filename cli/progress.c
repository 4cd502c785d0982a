/* progress.c - the bar. A terminal shows it after a second, ten times a second at most. */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

enum { FIRST_MS = 1000, STEP_MS = 100, BAR_COLUMNS = 40 };

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int64_t due_ms; /* 0: not asked yet; -1: never */
static bool is_shown;

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool is_due(void)
{
    if (due_ms == 0)
        due_ms = isatty(STDERR_FILENO) ? now_ms() + FIRST_MS : -1;
    if (due_ms < 0 || now_ms() < due_ms)
        return false;
    due_ms = now_ms() + STEP_MS;
    return true;
}

static void put(const char *text)
{
    /* If the bar cannot be drawn, the work goes on without it. */
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        due_ms = -1;
}

static void draw(uint64_t done, uint64_t total, const char *unit)
{
    char line[160], bar[BAR_COLUMNS + 1];
    double share = total > 0 ? (double)done / (double)total : 0;
    int full = (int)((share < 1 ? share : 1) * BAR_COLUMNS);

    memset(bar, '.', BAR_COLUMNS);
    memset(bar, '#', (size_t)full);
    bar[BAR_COLUMNS] = 0;
    if (total > 0)
        snprintf(line, sizeof line, "\r[%s] %3.0f %% of %" PRIu64 " %s\033[K", bar,
                 share < 1 ? share * 100 : 100, total, unit);
    else
        snprintf(line, sizeof line, "\r%" PRIu64 " %s\033[K", done, unit);
    put(line);
    is_shown = true;
}

void progress_show(uint64_t done, uint64_t total, const char *unit)
{
    pthread_mutex_lock(&guard);
    if (is_due())
        draw(done, total, unit);
    pthread_mutex_unlock(&guard);
}

void progress_erase(void)
{
    pthread_mutex_lock(&guard);
    if (is_shown)
        put("\r\033[K");
    is_shown = false;
    pthread_mutex_unlock(&guard);
}
