/* recipe.c - how files are made of chunks of old ones and of new bytes. */
#include <math.h>
#include <stdlib.h>

#include "key_set.h"
#include "recipe.h"
#include "term/array.h"

/* As few bytes of a key as tell n from all others, but for one time in 2^10: the check of the file
 * notices. */
static unsigned start_size(size_t n, size_t others)
{
    double bits = log2((double)n + 1) + log2((double)others + (double)n + 1) + 10;

    return bits < 64 ? (unsigned)ceil(bits / 8) : 8;
}

void recipe_put_gone(buffer *out, const uint64_t *keys, size_t n, size_t others)
{
    uint64_t *gone = key_set_of(keys, n);
    unsigned size = start_size(n, others);

    coded_put_number(out, n);
    coded_put_number(out, size);
    for (size_t i = 0; i < n; i++)
        coded_put_bytes(out, gone[i] >> (64 - 8 * size), size);
    free(gone);
}

/* ---- Reading ----------------------------------------------------------- */

static bool read_gone(recipe *r, coded *c, size_t most)
{
    uint64_t n, size;

    if (!coded_number(c, &n) || !coded_number(c, &size) || size == 0 || size > 8 ||
        n > (uint64_t)(c->end - c->at) / size || n > most)
        return false;
    uint64_t *gone = array_new((size_t)n, sizeof *gone, "keys");
    r->n_gone = (size_t)n;
    r->shift = 64 - 8 * (unsigned)size;
    for (size_t i = 0; i < r->n_gone; i++)
        (void)coded_bytes(c, &gone[i], (unsigned)size);
    r->gone = key_set_of(gone, r->n_gone);
    free(gone);
    return true;
}

bool recipe_next(coded *steps, uint64_t *kept, uint64_t *fresh)
{
    return coded_number(steps, kept) && coded_number(steps, fresh);
}

static bool read_steps(coded *file, coded *c)
{
    uint64_t n, kept, fresh;

    if (!coded_number(c, &n))
        return false;
    file->at = c->at;
    for (; n > 0; n--)
        if (!recipe_next(c, &kept, &fresh))
            return false;
    file->end = c->at;
    return true;
}

bool recipe_read(recipe *r, const void *bytes, size_t size, size_t n_files, size_t n_chunks)
{
    coded c = coded_of(bytes, size);

    *r = (recipe){ .files = array_new(n_files, sizeof *r->files, "files") };
    bool is_good = size > 0 && read_gone(r, &c, n_chunks);
    for (size_t i = 0; i < n_files && is_good; i++)
        is_good = read_steps(&r->files[i], &c);
    return is_good && c.at == c.end;
}

bool recipe_lacks(const recipe *r, uint64_t key)
{
    return key_set_has(r->gone, r->n_gone, key >> r->shift);
}

void recipe_free(recipe *r)
{
    free(r->gone);
    free(r->files);
    *r = (recipe){ 0 };
}
