/* spell.c - a spelling checker: words in a filter, and suggestions that it confirms.
 *
 *     cc spell.c -o spell $(pkg-config --cflags --libs tamis) && ./spell
 *     ./spell /usr/share/dict/words 'Teh quick brwon fox'
 *
 * A ribbon filter holds the words in 20 bits each, whatever their length. A right word is never
 * called wrong. To correct one, all words that are one letter away are asked for in batches: some
 * hundreds of them, so that the rate, one in a million, makes a suggestion that is no word rare.
 * `tamis spell` does the same for the dictionaries of hunspell, with their rules. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis.h>

enum { LONGEST = 40, BATCH = 256 };

static const char *const FEW[] = { "a",    "brown", "dog", "fox",  "jumps", "lazy",
                                   "over", "quick", "the", "then", "they",  NULL };

/* ---- The filter -------------------------------------------------------- */

typedef struct keys {
    uint64_t *all;
    size_t n, room;
} keys;

static void add_word(keys *k, const char *word, size_t size)
{
    const tamis_hasher hasher = { .hash = TAMIS_FAST };

    if (k->n == k->room) {
        k->room = 2 * k->room + 1024;
        k->all = realloc(k->all, k->room * sizeof *k->all);
        if (!k->all)
            exit(1);
    }
    k->all[k->n++] = tamis_hasher_key(&hasher, word, size);
}

static void read_words(keys *k, const char *path)
{
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[256];

    for (size_t i = 0; !file && FEW[i]; i++)
        add_word(k, FEW[i], strlen(FEW[i]));
    while (file && fgets(line, sizeof line, file))
        add_word(k, line, strcspn(line, "\n"));
    if (file)
        fclose(file);
}

static tamis *make_filter(const char *path)
{
    keys k = { 0 };
    tamis_plan plan;
    tamis *filter = NULL;

    read_words(&k, path);
    tamis_spec spec = TAMIS_SPEC(.keys = k.n, .fpr = 1e-6);
    tamis_status status = tamis_plan_kind(&plan, TAMIS_RIBBON, &spec);
    if (!status)
        status = tamis_build(&filter, &plan, k.all, k.n, NULL);
    if (status)
        fprintf(stderr, "spell: %s\n", tamis_status_text(status));
    free(k.all);
    return filter;
}

/* ---- Suggestions ------------------------------------------------------- */

typedef struct tries {
    const tamis *filter;
    uint64_t keys[BATCH];
    char texts[BATCH][LONGEST + 2];
    size_t n;
} tries;

static void ask(tries *t)
{
    uint64_t hits[BATCH / 64];

    tamis_has_many(t->filter, hits, t->keys, t->n);
    for (size_t i = 0; i < t->n; i++)
        if (hits[i / 64] >> i % 64 & 1)
            printf(" %s", t->texts[i]);
    t->n = 0;
}

/* The word with `drop` letters at `at` replaced by some others. */
static void try_change(tries *t, const char *word, size_t at, size_t drop, const char *put)
{
    if (t->n == BATCH)
        ask(t);
    int size = snprintf(t->texts[t->n], sizeof t->texts[0], "%.*s%s%s", (int)at, word, put,
                        word + at + drop);
    t->keys[t->n] = tamis_key(t->filter, t->texts[t->n], (size_t)size);
    t->n++;
}

static void suggest(const tamis *filter, const char *word)
{
    static tries t;
    size_t size = strlen(word);

    t.filter = filter;
    for (size_t i = 0; i <= size; i++) {
        if (i + 1 < size)
            try_change(&t, word, i, 2, (char[]){ word[i + 1], word[i], 0 });
        if (i < size && word[i] != word[i + 1])
            try_change(&t, word, i, 1, "");
        for (char c = 'a'; c <= 'z'; c++) {
            try_change(&t, word, i, 0, (char[]){ c, 0 });
            if (i < size && c != word[i])
                try_change(&t, word, i, 1, (char[]){ c, 0 });
        }
    }
    ask(&t);
}

static void check(const tamis *filter, const char *text)
{
    while (*text) {
        char word[LONGEST];
        size_t size = 0;

        for (; isalpha((unsigned char)*text) && size + 1 < LONGEST; text++)
            word[size++] = (char)tolower((unsigned char)*text);
        word[size] = 0;
        text += size == 0;
        if (size == 0 || tamis_has(filter, tamis_key(filter, word, size)))
            continue;
        printf("%s:", word);
        suggest(filter, word);
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    tamis *filter = make_filter(argc > 1 ? argv[1] : NULL);

    if (!filter)
        return 1;
    check(filter, argc > 2 ? argv[2] : "Teh quick brwon fox jumps ovr the lazzy dog");
    tamis_free(filter);
    return 0;
}
