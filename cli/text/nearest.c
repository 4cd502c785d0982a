/* nearest.c - the name that a mistyped word was meant to be. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "nearest.h"

/* No command, option or kind is longer. */
enum { NAME_MAX_SIZE = 24 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool is_exchange(const char *a, const char *b)
{
    return a[0] == b[-1] && a[-1] == b[0];
}

/* How many letters have to be changed, left out, put in, or exchanged with the next one to make one
 * word the other; row by row of the table of all their beginnings. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][NAME_MAX_SIZE + 1], *before = rows[0], *last = rows[1], *now = rows[2];

    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *oldest = before;

        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = last[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = least(now[j], 1 + least(last[j], now[j - 1]));
            if (i > 1 && j > 1 && is_exchange(a + i - 1, b + j - 1))
                now[j] = least(now[j], 1 + before[j - 2]);
        }
        before = last;
        last = now;
        now = oldest;
    }
    return last[m];
}

/* NULL if no name is near: so few letters wrong, missing, added or exchanged that no more than a
 * third of the word is. */
static const char *nearest(const char *word, name_list *at, const void *ctx)
{
    size_t size = strlen(word), wrong = size / 3 + 1;
    const char *best = NULL, *name;

    if (size < 2 || size > NAME_MAX_SIZE)
        return NULL;
    for (size_t i = 0; (name = at(ctx, i)); i++) {
        size_t length = strlen(name);
        size_t d = length > NAME_MAX_SIZE ? wrong : distance(word, size, name, length);

        if (d < wrong) {
            wrong = d;
            best = name;
        }
    }
    return best;
}

const char *nearest_hint(char hint[HINT_SIZE], const char *word, name_list *at, const void *ctx)
{
    const char *name = nearest(word, at, ctx);

    hint[0] = 0;
    if (name)
        snprintf(hint, HINT_SIZE, " Did you mean '%s'?", name);
    return hint;
}
