/* names.c - many names, each with a number: open addressing. */
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "term/array.h"
#include "term/message.h"

static const tamis_hasher HASHER = { .hash = TAMIS_FAST };

const char *names_at(const names *all, size_t i)
{
    return all->text.bytes + ((const uint64_t *)(const void *)all->starts.bytes)[i];
}

static uint32_t hash_of(const char *name)
{
    return (uint32_t)tamis_hasher_key(&HASHER, name, strlen(name));
}

static uint32_t number_in(uint64_t entry)
{
    return (uint32_t)entry;
}

/* Where the name is in the table, or the empty place where it would be. Where the hashes differ,
 * the names need not be looked at; without a name, the empty place. */
static size_t place_of(const names *all, const char *name, uint32_t hash)
{
    size_t at = hash & (all->table_size - 1);

    for (uint64_t entry; (entry = all->table[at]); at = (at + 1) & (all->table_size - 1))
        if (name && entry >> 32 == hash && strcmp(names_at(all, number_in(entry) - 1), name) == 0)
            break;
    return at;
}

static void grow(names *all)
{
    size_t before = all->table_size;
    uint64_t *old = all->table;

    all->table_size = before ? 2 * before : 1024;
    all->table = array_new(all->table_size, sizeof *all->table, "names");
    if (all->n > UINT32_MAX / 2)
        die(CODE_MEMORY, "out of memory for %zu names", all->n);
    for (size_t i = 0; i < before; i++)
        if (old[i])
            all->table[place_of(all, NULL, (uint32_t)(old[i] >> 32))] = old[i];
    free(old);
}

size_t names_enter(names *all, const char *name, bool *is_new)
{
    uint64_t start = all->text.size;
    uint32_t hash = hash_of(name);

    if (2 * all->n >= all->table_size)
        grow(all);
    size_t at = place_of(all, name, hash);
    *is_new = all->table[at] == 0;
    if (!*is_new)
        return number_in(all->table[at]) - 1;
    buffer_append(&all->text, name, strlen(name) + 1);
    buffer_append(&all->starts, &start, sizeof start);
    all->table[at] = (uint64_t)hash << 32 | ++all->n;
    return all->n - 1;
}

size_t names_find(const names *all, const char *name)
{
    uint64_t found = all->table_size ? all->table[place_of(all, name, hash_of(name))] : 0;

    return found ? number_in(found) - 1 : SIZE_MAX;
}

void names_free(names *all)
{
    buffer_free(&all->text);
    buffer_free(&all->starts);
    free(all->table);
    *all = (names){ 0 };
}
