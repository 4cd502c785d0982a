/* unpack.h - compressed inputs, known by their first bytes. */
#ifndef TAMIS_CLI_TEXT_UNPACK_H
#define TAMIS_CLI_TEXT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

/* One way to compress. */
typedef struct packing packing;

/* What the first bytes of an input say; NULL: it is not compressed. If more bytes could change the
 * answer, *is_open is true. */
const packing *unpack_find(const char *bytes, size_t size, bool *is_open);

/* Bytes in and out. Both pointers and sizes move on as bytes are taken and put. */
typedef struct unpack_step {
    const char *in;
    size_t in_size;
    bool is_last; /* nothing comes after `in` */
    char *out;
    size_t out_size;
} unpack_step;

typedef struct unpacker unpacker;

/* NULL: this program cannot read it, and *why tells the remedy. */
unpacker *unpack_open(const packing *p, const char **why);
void unpack_close(unpacker *u); /* NULL is fine */
/* Takes and puts what it can; NULL, or what is wrong. Takes all input before it asks for more. Once
 * it was told that nothing comes, it puts something or has come to the end. */
const char *unpack_some(unpacker *u, unpack_step *s);

#endif
