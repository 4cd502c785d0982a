/* collection.c - kill -9 at random moments while a collection is changed: it opens, it is whole,
 * and holds what the last save that was acknowledged left, or what the next one would have.
 *
 * The child makes generation 1, 2, 3, ...: generation g has the names g - 7 to g, and every fifth
 * one is compacted. It says through a pipe which are saved. It is killed after a random time, and
 * the next child goes on from there. Readers that were there all the time see what they opened. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "killed.h"
#include "tamis_collection.h"

enum { KEPT = 8, KEYS = 300, COMPACT_EVERY = 5 };

static char path[64];
static int failed, checks;

static void expect(bool holds, const char *what, int round)
{
    checks++;
    if (holds)
        return;
    failed++;
    fprintf(stderr, "FAILED: %s (kill %d)\n", what, round);
}

/* Holds the keys g * KEYS and up. */
static tamis *filter_of(uint64_t g)
{
    tamis_spec spec = TAMIS_SPEC(.keys = KEYS, .hasher = { .hash = TAMIS_RAW });
    tamis_plan plan;
    tamis *f;

    if (tamis_plan_kind(&plan, TAMIS_BLOCKED, &spec) || tamis_new(&f, &plan, NULL))
        _exit(2);
    for (uint64_t i = 0; i < KEYS; i++)
        if (tamis_add(f, g * KEYS + i))
            _exit(2);
    return f;
}

/* ---- The child --------------------------------------------------------- */

static void make_generation(uint64_t g)
{
    tamis_editor *e;
    tamis *f = filter_of(g);
    char name[24];

    if (tamis_editor_open(&e, path, g % COMPACT_EVERY ? 0 : TAMIS_EDIT_COMPACT, NULL))
        _exit(3);
    snprintf(name, sizeof name, "%llu", (unsigned long long)g);
    if (tamis_editor_put(e, name, f))
        _exit(4);
    snprintf(name, sizeof name, "%llu", (unsigned long long)(g - KEPT));
    tamis_status removed = g > KEPT ? tamis_editor_remove(e, name) : TAMIS_OK;
    /* A child that was killed may have got so far already. */
    if ((removed && removed != TAMIS_ABSENT) || tamis_editor_save(e))
        _exit(5);
    tamis_editor_free(e);
    tamis_free(f);
}

static void change_after(uint64_t g, int out)
{
    for (;;) {
        make_generation(++g);
        if (write(out, &g, sizeof g) != sizeof g)
            _exit(6);
    }
}

/* ---- The parent -------------------------------------------------------- */

static bool holds_generation(const tamis_collection *c, uint64_t g)
{
    char name[24];
    bool holds = true;
    tamis *f;

    snprintf(name, sizeof name, "%llu", (unsigned long long)g);
    if (tamis_collection_get(c, &f, name, NULL))
        return false;
    for (uint64_t i = 0; i < KEYS; i++)
        holds &= tamis_has(f, g * KEYS + i);
    tamis_free(f);
    return holds;
}

/* Of generation g: all of its names, and no other. */
static bool is_generation(const tamis_collection *c, uint64_t g)
{
    tamis_collection_info info;
    bool holds =
        tamis_collection_get_info(c, &info) == TAMIS_OK && info.filters == (g < KEPT ? g : KEPT);

    for (uint64_t i = g < KEPT ? 1 : g - KEPT + 1; i <= g; i++)
        holds &= holds_generation(c, i);
    return holds;
}

static tamis_collection *look(uint64_t saved, int round)
{
    tamis_collection *c = NULL;
    tamis_status status = tamis_collection_open(&c, path, NULL);

    expect(status == TAMIS_OK || saved == 0, "it does not open", round);
    if (status)
        return NULL;
    expect(tamis_collection_verify(c, NULL, NULL) == TAMIS_OK, "it is damaged", round);
    expect(is_generation(c, saved) || is_generation(c, saved + 1), "a change is lost", round);
    return c;
}

int main(void)
{
    const int kills = getenv("TAMIS_LONG") ? 2000 : getenv("TAMIS_SANITIZED") ? 60 : 150;
    uint64_t saved = 0, held = 0, random = 1;
    tamis_collection *reader = NULL;

    snprintf(path, sizeof path, "collection-%ld.tmp", (long)getpid());
    for (int round = 0; round < kills; round++) {
        int status;

        random = mix64(random + 1);
        saved = killed_after(random % 12000, change_after, saved, &status);
        expect(WIFSIGNALED(status), "the child ended by itself", round);
        if (reader)
            expect(is_generation(reader, held), "a reader lost what it opened", round);
        tamis_collection *now = look(saved, round);
        /* Every tenth reader stays for ten rounds. */
        if (now && round % 10 == 0) {
            tamis_collection_free(reader);
            reader = now;
            held = is_generation(now, saved) ? saved : saved + 1;
        } else {
            tamis_collection_free(now);
        }
    }
    tamis_collection_free(reader);
    unlink(path);
    printf("%d checks, %d failed, %llu generations\n", checks, failed, (unsigned long long)saved);
    return failed || checks == 0;
}
