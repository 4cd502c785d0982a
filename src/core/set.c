/* set.c - kinds whose builds take each key once.
 *
 * Where every copy of a key takes a slot, and has few places to be, a list with repeats would fill
 * a table early. Whether a key has come before is not to be asked of the filter, which would take
 * strangers for it and lose them when the other is removed: hashes are sorted instead. */
#include "core/set.h"

#include "base/hash.h"
#include "base/sort.h"

tamis_status tamis__set_add(tamis *f, uint64_t *hashes, size_t n)
{
    uint64_t salt = tamis__set_salt(f->salt);
    size_t distinct = tamis__sort_unique(hashes, n), added;

    for (size_t i = 0; i < distinct; i++)
        hashes[i] = unhash_key(hashes[i], salt);
    return tamis_add_many(f, &added, hashes, distinct);
}

tamis_status tamis__set_build(tamis *f, const uint64_t *keys, size_t n)
{
    uint64_t salt = tamis__set_salt(f->salt);
    uint64_t *hashes = tamis__scratch_new(f, n * sizeof *hashes + 1);

    if (!hashes)
        return TAMIS_NOMEM;
    for (size_t i = 0; i < n; i++)
        hashes[i] = hash_key(keys[i], salt);
    tamis_status status = tamis__set_add(f, hashes, n);
    tamis__scratch_free(f, hashes, n * sizeof *hashes + 1);
    return status;
}
