/* shingle.h - a text as the set of its shingles: every K words, or characters, that follow each
 * other. */
#ifndef TAMIS_APPS_SIMILAR_SHINGLE_H
#define TAMIS_APPS_SIMILAR_SHINGLE_H

#include <stdbool.h>

#include "term/buffer.h"
#include "text/keys.h"

enum { SHINGLE_MAX = 64, SHINGLE_WORD_MAX = 1024, SHINGLE_KEYS = 1024 };

typedef struct shingle_format {
    unsigned k;
    bool of_words; /* else of characters */
    bool keeps_case;
    tamis_hasher hasher;
} shingle_format;

/* Called with keys as they come, at most SHINGLE_KEYS at a time. */
typedef void shingle_take(void *ctx, const uint64_t *keys, size_t n);

typedef struct shingler {
    const shingle_format *format;
    shingle_take *take;
    void *ctx;
    buffer text;                /* as it is hashed: folded, one blank between words */
    size_t starts[SHINGLE_MAX]; /* of the latest words or characters */
    uint64_t n;                 /* of these in the document so far */
    bool is_open;               /* a word has begun, or a blank is due */
    char ascii[128];            /* what each becomes in a word; 0: it ends one */
    size_t waiting;
    uint64_t keys[SHINGLE_KEYS];
} shingler;

void shingle_begin(shingler *s);
/* More text of the document, which ends between characters. */
void shingle_text(shingler *s, span text);
/* The last shingle; a document of fewer than K words or characters is one. */
void shingle_end(shingler *s);
/* A key of its own, for sets that have elements and no text. */
void shingle_key(shingler *s, uint64_t key);

#endif
