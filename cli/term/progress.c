/* progress.c - the bar. A terminal shows it after a second, ten times a second at most. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

enum { FIRST_MS = 1000, STEP_MS = 100, BAR_COLUMNS = 40 };

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int64_t due_ms; /* 0: not asked yet; -1: never */
static bool is_shown, is_chosen;

/* What the rate is worked out from: when the work began that has this total, and where. */
static struct {
    int64_t since_ms;
    uint64_t from, last, total;
} phase;

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool is_due(void)
{
    if (due_ms == 0)
        due_ms = is_chosen || isatty(STDERR_FILENO) ? now_ms() + FIRST_MS : -1;
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

static void follow(uint64_t done, uint64_t total)
{
    if (phase.since_ms == 0 || total != phase.total || done < phase.last) {
        phase.since_ms = now_ms();
        phase.from = done;
        phase.total = total;
    }
    phase.last = done;
}

/* Done per second; 0: not known yet. */
static double rate(uint64_t done)
{
    int64_t ms = now_ms() - phase.since_ms;

    return ms > 0 ? (double)(done - phase.from) * 1000 / (double)ms : 0;
}

static void put_bar(char *line, size_t size, uint64_t done, uint64_t total, const char *unit)
{
    char bar[BAR_COLUMNS + 1];
    double share = (double)done / (double)total, speed = rate(done);
    double left = done < total && speed > 0 ? (double)(total - done) / speed : 0;
    int full = (int)((share < 1 ? share : 1) * BAR_COLUMNS);

    memset(bar, '.', BAR_COLUMNS);
    memset(bar, '#', (size_t)full);
    bar[BAR_COLUMNS] = 0;
    snprintf(line, size, "\r[%s] %3.0f %% of %" PRIu64 " %s, %.3g/s, %.0f:%02.0f left\033[K", bar,
             share < 1 ? share * 100 : 100, total, unit, speed, floor(left / 60), fmod(left, 60));
}

static void draw(uint64_t done, uint64_t total, const char *unit)
{
    char line[160];

    if (total > 0)
        put_bar(line, sizeof line, done, total, unit);
    else
        snprintf(line, sizeof line, "\r%" PRIu64 " %s, %.3g/s\033[K", done, unit, rate(done));
    put(line);
    is_shown = true;
}

void progress_show(uint64_t done, uint64_t total, const char *unit)
{
    pthread_mutex_lock(&guard);
    follow(done, total);
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

void progress_choose(bool shown)
{
    is_chosen = shown;
    due_ms = shown ? 0 : -1;
}

static bool is_one_terminal(void)
{
    struct stat out, err;

    return isatty(STDOUT_FILENO) && fstat(STDOUT_FILENO, &out) == 0 &&
           fstat(STDERR_FILENO, &err) == 0 && out.st_rdev == err.st_rdev;
}

void progress_make_way(void)
{
    if (is_chosen || due_ms < 0 || !is_one_terminal())
        return;
    progress_erase();
    due_ms = -1;
}
