/* answers.c - a cache that forgets what was not wanted for longest.
 *
 * Entries are in a ring, the latest first, and in chains by their hash. A key is known by two
 * hashes with secrets: 128 bits that nobody can choose, in place of its text. */
#include "answers.h"

#include <stdlib.h>

#include "filters/spec.h"
#include "term/array.h"

enum { NOTHING = 0 }; /* entry 0 is the head of the ring, and ends chains */

typedef struct entry {
    uint64_t hash[2];
    uint32_t before, after; /* in the ring */
    uint32_t chained;
    bool found;
} entry;

struct answers {
    tamis_hasher hashers[2];
    entry *entries;
    uint32_t *chains;
    uint64_t mask;      /* of chains */
    uint32_t n, most;   /* entries in use, and at most */
    uint64_t wanted[2]; /* hashes of the key at hand */
};

answers *answers_new(uint64_t n)
{
    answers *all = array_new(1, sizeof *all, "answers");
    uint64_t chains = 1;

    while (chains < n)
        chains *= 2;
    all->most = (uint32_t)n;
    all->mask = chains - 1;
    all->entries = array_new((size_t)n + 1, sizeof *all->entries, "answers");
    all->chains = array_new((size_t)chains, sizeof *all->chains, "answers");
    for (int i = 0; i < 2; i++) {
        all->hashers[i].hash = TAMIS_KEYED;
        draw_secret(all->hashers[i].secret);
    }
    return all;
}

void answers_free(answers *all)
{
    if (!all)
        return;
    free(all->entries);
    free(all->chains);
    free(all);
}

static void link_first(answers *all, uint32_t i)
{
    entry *e = all->entries;

    e[i].before = NOTHING;
    e[i].after = e[NOTHING].after;
    e[e[NOTHING].after].before = i;
    e[NOTHING].after = i;
}

static void unlink_entry(answers *all, uint32_t i)
{
    entry *e = all->entries;

    e[e[i].before].after = e[i].after;
    e[e[i].after].before = e[i].before;
}

static uint32_t *chain_of(answers *all, uint64_t hash)
{
    return &all->chains[hash & all->mask];
}

bool answers_get(answers *all, span key, bool *found)
{
    entry *e = all->entries;

    for (int i = 0; i < 2; i++)
        all->wanted[i] = tamis_hasher_key(&all->hashers[i], key.at, key.size);
    uint32_t i = *chain_of(all, all->wanted[0]);
    while (i && !(e[i].hash[0] == all->wanted[0] && e[i].hash[1] == all->wanted[1]))
        i = e[i].chained;
    if (i == NOTHING)
        return false;
    unlink_entry(all, i);
    link_first(all, i);
    *found = e[i].found;
    return true;
}

/* The last of the ring, out of its chain. */
static uint32_t forget_last(answers *all)
{
    entry *e = all->entries;
    uint32_t last = e[NOTHING].before, *link = chain_of(all, e[last].hash[0]);

    while (*link != last)
        link = &e[*link].chained;
    *link = e[last].chained;
    unlink_entry(all, last);
    return last;
}

void answers_put(answers *all, bool found)
{
    uint32_t i = all->n < all->most ? ++all->n : forget_last(all);
    uint32_t *chain = chain_of(all, all->wanted[0]);
    entry *e = &all->entries[i];

    e->hash[0] = all->wanted[0];
    e->hash[1] = all->wanted[1];
    e->found = found;
    e->chained = *chain;
    *chain = i;
    link_first(all, i);
}
