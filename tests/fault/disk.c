/* disk.c - kill -9 at random moments while keys go to a filter on disk: it opens, and every key
 * that a flush has acknowledged is there.
 *
 * The child adds keys 0, 1, 2, ... in batches, flushes after each, and says through a pipe how many
 * are safe. It is killed after a random time, from a start to well into its flushes; the next child
 * goes on from what the file holds. Keys that no flush acknowledged may or may not be there. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "killed.h"
#include "tamis_disk.h"

enum { BATCH = 2000, MOST_KEYS = 100000 };

static char path[64];
static int failed, checks;

static void expect(bool holds, const char *what, tamis_kind kind, int round)
{
    checks++;
    if (holds)
        return;
    failed++;
    fprintf(stderr, "FAILED: %s: %s (kill %d)\n", tamis_kind_name(kind), what, round);
}

/* ---- The child --------------------------------------------------------- */

static void add_from(uint64_t next, int out)
{
    const tamis_disk_options o = TAMIS_DISK_OPTIONS(.memory = 64 << 10);
    tamis_disk *d;
    uint64_t keys[BATCH];
    size_t added;

    if (tamis_disk_open(&d, path, &o))
        _exit(3);
    for (;; next += BATCH) {
        for (uint64_t i = 0; i < BATCH; i++)
            keys[i] = next + i;
        if (tamis_disk_add_many(d, &added, keys, BATCH) || tamis_disk_flush(d))
            _exit(4);
        uint64_t safe = next + BATCH;
        if (write(out, &safe, sizeof safe) != sizeof safe)
            _exit(5);
    }
}

/* ---- The parent -------------------------------------------------------- */

static uint64_t missing_of(const tamis *f, uint64_t safe)
{
    uint64_t missing = 0;

    for (uint64_t key = 0; key < safe; key++)
        missing += !tamis_has(f, key);
    return missing;
}

static void check_file(tamis_kind kind, uint64_t safe, int round)
{
    tamis *f = NULL;

    expect(tamis_load(&f, path, NULL) == TAMIS_OK, "it does not open", kind, round);
    if (!f)
        return;
    expect(tamis_verify(f, NULL, NULL) == TAMIS_OK, "it is damaged", kind, round);
    expect(missing_of(f, safe) == 0, "an acknowledged key is lost", kind, round);
    tamis_free(f);
}

static void make_file(tamis_kind kind)
{
    const tamis_spec spec = TAMIS_SPEC(.keys = 20000, .fpr = 0x1p-16, .can = TAMIS_CAN_GROW,
                                       .hasher = { .hash = TAMIS_RAW });
    tamis_plan plan;
    tamis *f;

    if (tamis_plan_kind(&plan, kind, &spec) || tamis_new(&f, &plan, NULL) || tamis_save(f, path))
        exit(2);
    tamis_free(f);
}

static void check_kind(tamis_kind kind)
{
    const int kills = getenv("TAMIS_LONG") ? 200 : getenv("TAMIS_SANITIZED") ? 40 : 80;
    uint64_t safe = 0, random = kind;

    make_file(kind);
    for (int round = 0; round < kills; round++) {
        int status;

        random = mix64(random + 1);
        safe = killed_after(random % 30000, add_from, safe, &status);
        expect(WIFSIGNALED(status), "the child ended by itself", kind, round);
        check_file(kind, safe, round);
        if (safe > MOST_KEYS) {
            make_file(kind);
            safe = 0;
        }
    }
    unlink(path);
}

int main(void)
{
    snprintf(path, sizeof path, "disk-%ld.tamis", (long)getpid());
    for (tamis_kind kind = tamis_kind_next(TAMIS_NO_KIND); kind; kind = tamis_kind_next(kind))
        if (tamis_kind_can(kind) & TAMIS_CAN_RESIZE && !(tamis_kind_can(kind) & TAMIS_CAN_ADAPT))
            check_kind(kind);
    printf("%d checks, %d failed\n", checks, failed);
    return failed != 0;
}
