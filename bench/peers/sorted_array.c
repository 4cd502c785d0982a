/* sorted_array.c - the exact set without a library: a sorted array, searched without branches.
 *
 * It stands for all exact sets, so it is fast: a radix sort, huge pages, and groups of searches
 * side by side in has(). Every search takes the same number of steps, so that the cache misses of a
 * group overlap. */
#include "../bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GROUP = 16, HUGE_PAGE = 2 << 20 };

typedef struct sorted {
    uint64_t *keys;
    size_t n;
    bool mapped;
} sorted;

/* ---- Memory ------------------------------------------------------------ */

static uint64_t *take(size_t n)
{
    size_t size = n * sizeof(uint64_t), pages = (size + HUGE_PAGE - 1) / HUGE_PAGE;
    uint64_t *keys = size < HUGE_PAGE ? malloc(size) : aligned_alloc(HUGE_PAGE, pages * HUGE_PAGE);

    if (keys && size >= HUGE_PAGE)
        madvise(keys, size, MADV_HUGEPAGE);
    return keys;
}

static sorted *wrap(uint64_t *keys, size_t n, bool mapped)
{
    sorted *s = malloc(sizeof(*s));

    if (s)
        *s = (sorted){ .keys = keys, .n = n, .mapped = mapped };
    return s;
}

static void drop(void *self)
{
    sorted *s = self;

    if (s->mapped)
        munmap(s->keys, s->n * sizeof(uint64_t));
    else
        free(s->keys);
    free(s);
}

static size_t bytes(const void *self)
{
    return ((const sorted *)self)->n * sizeof(uint64_t);
}

/* ---- Sorting ----------------------------------------------------------- */

static void sort_by_byte(uint64_t *to, const uint64_t *from, size_t n, int shift)
{
    size_t start[256] = { 0 }, sum = 0;

    for (size_t i = 0; i < n; i++)
        start[from[i] >> shift & 0xff]++;
    for (int byte = 0; byte < 256; byte++) {
        size_t count = start[byte];
        start[byte] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[start[from[i] >> shift & 0xff]++] = from[i];
}

/* Eight passes: the last one ends where the first began. */
static void sort(uint64_t *keys, uint64_t *scratch, size_t n)
{
    for (int shift = 0; shift < 64; shift += 16) {
        sort_by_byte(scratch, keys, n, shift);
        sort_by_byte(keys, scratch, n, shift + 8);
    }
}

static void *make(const bench_subject *subject, const bench_case *c, const uint64_t *keys, size_t n)
{
    uint64_t *own = n ? take(n) : NULL, *scratch = n ? take(n) : NULL;
    sorted *s = own && scratch ? wrap(own, n, false) : NULL;

    (void)subject;
    (void)c;
    if (s) {
        memcpy(own, keys, n * sizeof(*keys));
        sort(own, scratch, n);
    } else {
        free(own);
    }
    free(scratch);
    return s;
}

/* ---- Search ------------------------------------------------------------ */

/* `half` or 0, by arithmetic: a branch would be wrong every other time. */
static size_t step(const uint64_t *from, size_t half, uint64_t key)
{
    return half & -(size_t)(from[half - 1] < key);
}

static bool has_one(const void *self, uint64_t key)
{
    const sorted *s = self;
    const uint64_t *at = s->keys;

    for (size_t left = s->n, half; left > 1; left -= half) {
        half = left / 2;
        at += step(at, half, key);
    }
    return *at == key;
}

#include "../lone_template.h"

static uint64_t has_group(const sorted *s, const uint64_t *keys)
{
    const uint64_t *at[GROUP];
    uint64_t found = 0;

    for (int i = 0; i < GROUP; i++)
        at[i] = s->keys;
    for (size_t left = s->n, half; left > 1; left -= half) {
        half = left / 2;
        for (int i = 0; i < GROUP; i++)
            at[i] += step(at[i], half, keys[i]);
    }
    for (int i = 0; i < GROUP; i++)
        found |= (uint64_t)(*at[i] == keys[i]) << i;
    return found;
}

static size_t has(const void *self, uint64_t *hits, const uint64_t *keys, size_t n)
{
    size_t i = 0, count = 0;

    memset(hits, 0, (n + 63) / 64 * sizeof(*hits));
    for (; i + GROUP <= n; i += GROUP)
        hits[i / 64] |= has_group(self, keys + i) << i % 64;
    for (; i < n; i++)
        hits[i / 64] |= (uint64_t)has_one(self, keys[i]) << i % 64;
    for (size_t word = 0; word < (n + 63) / 64; word++)
        count += (size_t)__builtin_popcountll(hits[word]);
    return count;
}

/* ---- Files ------------------------------------------------------------- */

static bool save(const void *self, const char *path)
{
    const sorted *s = self;
    FILE *file = fopen(path, "wb");

    if (!file)
        return false;
    bool written = fwrite(s->keys, sizeof(*s->keys), s->n, file) == s->n;
    return fclose(file) == 0 && written;
}

static void *map(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return NULL;
    size_t size = fstat(fd, &st) == 0 ? (size_t)st.st_size : 0;
    void *keys = size ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    if (keys == MAP_FAILED)
        return NULL;
    sorted *s = wrap(keys, size / sizeof(uint64_t), true);
    if (!s)
        munmap(keys, size);
    return s;
}

/* ---- Table ------------------------------------------------------------- */

static const bench_subject array = {
    .name = "sorted-array",
    .library = "plain C",
    .exact = true,
    .make = make,
    .has = has,
    .bytes = bytes,
    .drop = drop,
    .builds_at_once = true,
    .has_each = has_each,
    .has_chain = has_chain,
    .save = save,
    .map = map,
};

extern const bench_subject *const bench_peer_sorted[];
const bench_subject *const bench_peer_sorted[] = { &array, NULL };
