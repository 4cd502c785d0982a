/* similar.c - how alike are two texts? Told by filters of a few kilobytes.
 *
 *     cc similar.c -o similar $(pkg-config --cflags --libs tamis) -lm
 *     ./similar one.txt two.txt three.txt
 *
 * A text is the set of its shingles, every three words in a row. Each set becomes a Bloom filter
 * with one hash, all of one plan. The union of two filters is the filter of the union, so that the
 * estimates of three sizes tell what two texts have in common. 'tamis similar' does this for
 * thousands of documents, and apps/similar/similar.md says where the bar comes from. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis.h>

enum { BITS = 1 << 16, K = 3, WORD_MAX = 64 };

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "similar: %s: %s\n", what, why);
    exit(1);
}

static tamis *new_filter(void)
{
    tamis_spec spec = TAMIS_SPEC(.keys = BITS, .bits = BITS, .hashes = 1);
    tamis_plan plan;
    tamis *f;
    tamis_status status = tamis_plan_kind(&plan, TAMIS_BLOOM, &spec);

    if (!status)
        status = tamis_new(&f, &plan, NULL);
    if (status)
        die("new", tamis_status_text(status));
    return f;
}

/* ---- A text ------------------------------------------------------------ */

/* Letters and digits in a row, in small letters; false at the end. */
static bool next_word(FILE *in, char word[WORD_MAX])
{
    size_t n = 0;
    int c = getc(in);

    while (c != EOF && !isalnum(c))
        c = getc(in);
    for (; c != EOF && isalnum(c); c = getc(in))
        if (n < WORD_MAX - 1)
            word[n++] = (char)tolower(c);
    word[n] = 0;
    return n > 0;
}

static void add(tamis *f, char words[K][WORD_MAX])
{
    char shingle[K * WORD_MAX];
    int size = snprintf(shingle, sizeof shingle, "%s %s %s", words[0], words[1], words[2]);

    if (tamis_add(f, tamis_key(f, shingle, (size_t)size)))
        die("add", "no more keys");
}

static tamis *read_text(const char *path)
{
    char words[K][WORD_MAX];
    FILE *in = fopen(path, "r");
    tamis *f = new_filter();
    size_t n = 0;

    if (!in)
        die(path, "it cannot be read");
    while (next_word(in, words[K - 1])) {
        if (++n >= K)
            add(f, words);
        memmove(words[0], words[1], sizeof words - sizeof words[0]);
    }
    fclose(in);
    return f;
}

/* ---- Two texts --------------------------------------------------------- */

/* -m ln(1 - ones / m), with one hash. */
static double keys_of(const tamis *f)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f, &info);
    return info.cardinality;
}

static double keys_of_either(const tamis *f, const tamis *g)
{
    tamis *both;

    if (tamis_clone(&both, f, NULL) || tamis_combine(both, TAMIS_MERGE, g))
        die("merge", "out of memory");
    double keys = keys_of(both);
    tamis_free(both);
    return keys;
}

/* Of the estimate of a set of n keys. */
static double variance(double n)
{
    return BITS * (expm1(n / BITS) - n / BITS);
}

static void compare(const tamis *f, const tamis *g, const char *one, const char *other)
{
    double a = keys_of(f), b = keys_of(g), either = keys_of_either(f, g);
    double both = a + b - either > 0 ? a + b - either : 0;

    if (either == 0) {
        printf("%s and %s have no shingle\n", one, other);
        return;
    }
    double jaccard = both / either;
    double square = (1 + jaccard) * (1 + jaccard) * variance(either) -
                    (1 + 2 * jaccard) * (variance(a) + variance(b)) + 2 * variance(both);
    double bar = 1.96 * sqrt(square > 0 ? square : 0) / either + 0.5 / either;
    printf("%.4f +- %.4f  %s %s, with %.0f and %.0f shingles\n", jaccard, bar, one, other, a, b);
}

int main(int argc, char **argv)
{
    tamis **texts = calloc((size_t)argc, sizeof(tamis *));

    if (argc < 3 || !texts)
        die("usage", "similar FILE FILE...");
    for (int i = 1; i < argc; i++)
        texts[i] = read_text(argv[i]);
    for (int i = 1; i < argc; i++)
        for (int j = i + 1; j < argc; j++)
            compare(texts[i], texts[j], argv[i], argv[j]);
    for (int i = 1; i < argc; i++)
        tamis_free(texts[i]);
    free(texts);
    return 0;
}
