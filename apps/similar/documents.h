/* documents.h - inputs to documents, each with the bits of its filter. */
#ifndef TAMIS_APPS_SIMILAR_DOCUMENTS_H
#define TAMIS_APPS_SIMILAR_DOCUMENTS_H

#include "args/args.h"
#include "shingle.h"

typedef enum document_unit {
    DOCUMENT_IS_FILE,
    DOCUMENT_IS_LINE,
    DOCUMENT_IS_SET,   /* a file whose lines are the elements */
    DOCUMENT_IS_FILTER /* a file with a filter */
} document_unit;

typedef struct document {
    char *name;
    uint64_t ones;    /* bits that are set */
    uint32_t *places; /* which; NULL: */
    uint8_t *bits;    /* all of them, as in the payload of a filter */
    uint64_t *keys;   /* in order, each once; NULL unless they are kept */
    size_t n_keys;
    bool is_binary;
} document;

typedef struct documents {
    document_unit unit;
    source *source;
    shingle_format shingles;
    uint64_t id_field; /* of lines: the column with their names; 0: they are numbered */
    bool keeps_keys;
    tamis_plan plan;     /* of every filter */
    uint64_t total_bits; /* of a filter */
    document *all;
    size_t n;
} documents;

/* The widest filters that are made unless a width is asked for: later they can be folded, but not
 * unfolded. */
enum { DOCUMENT_BITS_MAX = 1 << 16 };

/* All that the names lead to, folders and what is below them too. What cannot be read ends the
 * program. `bits` is a power of two; filters that were made before have their own. */
void documents_read(documents *d, char *const *names, uint64_t bits);
/* Leaves out documents that are binary, have no shingle, or whose filter is full; says so. */
void documents_drop(documents *d);
void documents_free(documents *d);

/* Makes all filters so many bits wide, a power of two, not above what they were. */
void documents_fold(documents *d, uint64_t bits);
/* Sets the bits of a document in a row that is clear. */
void document_fill(const documents *d, size_t i, uint8_t *row);

#endif
