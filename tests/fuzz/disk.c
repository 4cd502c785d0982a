/* disk.c - fuzzer: bytes as a program of operations on a filter larger than memory, beside an exact
 * model; and as damage to its file, at any moment.
 *
 * input: kind, keys planned, rate, seed (one byte each), then instructions of two bytes: what, and
 * a number. Checked while the file is whole: no key is lost, and what was taken can be flushed.
 * Once it is damaged, every answer will do that comes without harm. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "exercise.h"
#include "tamis_disk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { UNIVERSE = 64, MAX_STEPS = 60, MEMORY = 64 << 10 };

typedef struct {
    tamis_disk *d;
    char path[256];
    unsigned times[UNIVERSE];
    uint64_t total;
    bool damaged;
} world;

/* ---- Model against filter ---------------------------------------------- */

static void check(const world *w)
{
    uint64_t keys[UNIVERSE], hits[1], counts[UNIVERSE];

    for (unsigned i = 0; i < UNIVERSE; i++)
        keys[i] = i;
    size_t found = tamis_disk_has_many(w->d, hits, keys, UNIVERSE);
    tamis_disk_count_many(w->d, counts, keys, UNIVERSE);
    for (unsigned i = 0; i < UNIVERSE; i++) {
        bool hit = hits[0] >> i & 1;
        found -= hit;
        MUST(w->damaged || hit == (counts[i] > 0));
        MUST(w->damaged || counts[i] >= w->times[i]);
    }
    MUST(found == 0);
}

static void run_flush(world *w)
{
    tamis_status status = tamis_disk_flush(w->d);

    if (w->damaged)
        return;
    MUST(status == TAMIS_OK);
    MUST(info_of(tamis_disk_file(w->d)).count == w->total);
    MUST(tamis_verify(tamis_disk_file(w->d), NULL, NULL) == TAMIS_OK);
}

/* ---- Instructions ------------------------------------------------------ */

/* As many copies as it says, of neighbours or of one key. */
static void run_add(world *w, uint64_t first, size_t n, unsigned step)
{
    uint64_t keys[256];
    size_t added = 0;

    for (size_t i = 0; i < n; i++)
        keys[i] = (first + step * i) % UNIVERSE;
    tamis_status status = tamis_disk_add_many(w->d, &added, keys, n);
    MUST(added <= n && (status == TAMIS_OK) == (added == n));
    MUST(w->damaged || status == TAMIS_OK || status == TAMIS_FULL);
    for (size_t i = 0; i < added; i++)
        w->times[keys[i]]++;
    w->total += added;
}

static void run_remove(world *w, uint64_t first, size_t n)
{
    uint64_t keys[256];
    size_t held = 0, removed = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t key = (first + i) % UNIVERSE;
        if (!w->times[key])
            continue;
        w->times[key]--;
        keys[held++] = key;
    }
    tamis_status status = tamis_disk_remove_keys(w->d, &removed, keys, held);
    MUST(w->damaged || status == TAMIS_OK);
    MUST(removed <= held && (status == TAMIS_OK) == (removed == held));
    w->total -= held;
}

/* What is left of a header may be none. */
static bool run_reopen(world *w)
{
    const tamis_disk_options o = TAMIS_DISK_OPTIONS(.memory = MEMORY);

    run_flush(w);
    tamis_disk_free(w->d);
    w->d = NULL;
    tamis_status status = tamis_disk_open(&w->d, w->path, &o);
    MUST(w->damaged || status == TAMIS_OK);
    return status == TAMIS_OK;
}

/* A bit, anywhere but where the file would become shorter: nobody may do that. */
static void run_damage(world *w, unsigned where)
{
    off_t size = (off_t)tamis_image_size(tamis_disk_file(w->d)), at = size * where / 256;
    int fd = open(w->path, O_RDWR);
    uint8_t byte;

    MUST(fd >= 0 && pread(fd, &byte, 1, at) == 1);
    byte ^= (uint8_t)(1u << where % 8);
    MUST(pwrite(fd, &byte, 1, at) == 1);
    close(fd);
    w->damaged = true;
}

static bool run_step(world *w, uint8_t what, uint8_t number)
{
    switch (what % 8) {
    case 0:
    case 1:
        run_add(w, number, what / 8u, 1);
        break;
    case 2:
        run_add(w, number, 8 * (what / 8u), 0);
        break;
    case 3:
        run_remove(w, number, what / 8u);
        break;
    case 4:
        run_flush(w);
        break;
    case 5:
        return run_reopen(w);
    case 6:
        check(w);
        break;
    default:
        /* Rare, or all would be damaged. */
        if (what > 0xf0)
            run_damage(w, number);
        break;
    }
    return true;
}

/* ---- Program ----------------------------------------------------------- */

static bool make_file(world *w, const uint8_t *data)
{
    tamis_spec spec = TAMIS_SPEC(.keys = data[1] + 1u, .fpr = 0.4 / (data[2] + 1),
                                 .hasher = { TAMIS_RAW, data[3], { 0 } },
                                 .can = data[3] & 1 ? TAMIS_CAN_GROW : 0);
    tamis_kind kind = data[0] & 1 ? TAMIS_QUOTIENT : TAMIS_CQF;
    tamis_plan plan;
    tamis *f;

    if (tamis_plan_kind(&plan, kind, &spec) || tamis_new(&f, &plan, NULL))
        return false;
    const char *dir = getenv("TMPDIR");
    snprintf(w->path, sizeof w->path, "%s/tamis-fuzz-XXXXXX", dir ? dir : "/tmp");
    int fd = mkstemp(w->path);
    MUST(fd >= 0 && close(fd) == 0);
    MUST(tamis_save(f, w->path) == TAMIS_OK);
    tamis_free(f);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const tamis_disk_options o = TAMIS_DISK_OPTIONS(.memory = MEMORY);
    world w = { .d = NULL };

    if (size < 4 || !make_file(&w, data))
        return 0;
    MUST(tamis_disk_open(&w.d, w.path, &o) == TAMIS_OK);
    for (size_t i = 4; i + 1 < size && i < 2 * MAX_STEPS; i += 2)
        if (!run_step(&w, data[i], data[i + 1]))
            break;
    if (w.d)
        check(&w);
    tamis_disk_free(w.d);
    unlink(w.path);
    return 0;
}
