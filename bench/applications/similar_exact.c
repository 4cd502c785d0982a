/* similar_exact.c - what people write who want to know which files are alike, in C and exactly.
 *
 *     similar_exact merge|lists|minhash X FILE...
 *
 * Prints each pair whose measure of Jaccard is at least X, of shingles of three words. Words are of
 * ASCII letters, digits and "_"; capitals are small letters.
 *  merge    the sorted shingles of two files go through side by side
 *  lists    each shingle has the list of its files, and the pairs of each list are counted
 *  minhash  128 smallest hashes of each file, by 128 hash functions: an estimate, for comparison */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 3, HASHES = 128 };

typedef struct file {
    const char *name;
    uint64_t *keys;
    size_t n;
} file;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static int compare(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return (a > b) - (a < b);
}

static void *room(size_t n, size_t size)
{
    void *memory = calloc(n + 1, size);

    if (!memory)
        exit(6);
    return memory;
}

static char *text_of(const char *name, size_t *size)
{
    FILE *in = fopen(name, "rb");
    char *text;

    if (!in || fseek(in, 0, SEEK_END))
        exit(3);
    *size = (size_t)ftell(in);
    rewind(in);
    text = room(*size, 1);
    if (fread(text, 1, *size, in) != *size)
        exit(3);
    fclose(in);
    return text;
}

/* A shingle is the mixed hashes of its words, or of as many as there are. */
static void take_word(file *f, uint64_t *words, size_t *n, uint64_t word)
{
    words[(*n)++ % K] = mix(word);
    if (*n >= K)
        f->keys[f->n++] = mix(words[(*n - 1) % K] + 3 * words[(*n - 2) % K] + 7 * words[*n % K]);
}

static file read_file(const char *name)
{
    size_t size, n = 0, kept = 0;
    char *text = text_of(name, &size);
    file f = { name, room(size / 2 + 2, sizeof(uint64_t)), 0 };
    uint64_t words[K] = { 0 }, word = 0;

    for (size_t i = 0; i <= size; i++) {
        int c = i < size ? (unsigned char)text[i] : ' ';

        if (isalnum(c) || c == '_')
            word = (word ^ (uint64_t)tolower(c)) * UINT64_C(0x100000001B3) + 1;
        else if (word) {
            take_word(&f, words, &n, word);
            word = 0;
        }
    }
    if (n > 0 && n < K)
        f.keys[f.n++] = mix(words[0] + 3 * words[1] + n);
    qsort(f.keys, f.n, sizeof *f.keys, compare);
    for (size_t i = 0; i < f.n; i++)
        if (kept == 0 || f.keys[i] != f.keys[kept - 1])
            f.keys[kept++] = f.keys[i];
    f.n = kept;
    free(text);
    return f;
}

static void tell(const file *a, const file *b, double value, double least)
{
    if (a->n && b->n && value >= least)
        printf("%.4f\t%s\t%s\n", value, a->name, b->name);
}

static double jaccard(const file *a, const file *b, size_t both)
{
    return (double)both / (double)(a->n + b->n - both);
}

static void merge(const file *f, size_t n, double least)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            size_t both = 0;

            for (size_t x = 0, y = 0; x < f[i].n && y < f[j].n;) {
                uint64_t a = f[i].keys[x], b = f[j].keys[y];

                both += a == b;
                x += a <= b;
                y += b <= a;
            }
            tell(&f[i], &f[j], jaccard(&f[i], &f[j], both), least);
        }
}

typedef struct entry {
    uint64_t key;
    uint32_t file;
} entry;

static int compare_entries(const void *x, const void *y)
{
    const entry *a = x, *b = y;

    return a->key != b->key ? (a->key > b->key) - (a->key < b->key)
                            : (a->file > b->file) - (a->file < b->file);
}

static void lists(const file *f, size_t n, double least)
{
    uint32_t *both = room(n * n / 2, sizeof *both);
    size_t total = 0, at = 0;

    for (size_t i = 0; i < n; i++)
        total += f[i].n;
    entry *all = room(total, sizeof *all);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < f[i].n; k++)
            all[at++] = (entry){ f[i].keys[k], (uint32_t)i };
    qsort(all, total, sizeof *all, compare_entries);
    for (size_t i = 0, end; i < total; i = end)
        for (end = i; end < total && all[end].key == all[i].key; end++) {
            size_t high = all[end].file;

            for (size_t j = i; j < end; j++)
                both[high * (high - 1) / 2 + all[j].file]++;
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            tell(&f[i], &f[j], jaccard(&f[i], &f[j], both[j * (j - 1) / 2 + i]), least);
}

static void minhash(const file *f, size_t n, double least)
{
    uint32_t(*least_of)[HASHES] = room(n, sizeof *least_of);

    memset(least_of, 0xFF, n * sizeof *least_of);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < f[i].n; k++)
            for (uint64_t h = 0; h < HASHES; h++) {
                uint32_t value = (uint32_t)(f[i].keys[k] * (2 * mix(h + 1) + 1) >> 32);

                least_of[i][h] = value < least_of[i][h] ? value : least_of[i][h];
            }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            unsigned same = 0;

            for (int h = 0; h < HASHES; h++)
                same += least_of[i][h] == least_of[j][h];
            tell(&f[i], &f[j], same / (double)HASHES, least);
        }
}

int main(int argc, char **argv)
{
    size_t n = argc > 3 ? (size_t)argc - 3 : 0;
    file *files = room(n, sizeof *files);

    if (n == 0)
        return 2;
    for (size_t i = 0; i < n; i++)
        files[i] = read_file(argv[3 + i]);
    if (strcmp(argv[1], "merge") == 0)
        merge(files, n, strtod(argv[2], NULL));
    else if (strcmp(argv[1], "lists") == 0)
        lists(files, n, strtod(argv[2], NULL));
    else
        minhash(files, n, strtod(argv[2], NULL));
    return 0;
}
