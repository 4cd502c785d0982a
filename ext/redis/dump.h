/* dump.h - filters that are numbers and a row of byte arrays: how they leave and enter in pieces,
 * by SCANDUMP and LOADCHUNK, by the file of commands, and into digests.
 *
 * A dump is a header with the numbers, and then all arrays, one after the other. Its pieces have
 * numbers: 1 is the header, and any other is one more than where the piece ends. */
#ifndef TAMIS_REDIS_DUMP_H
#define TAMIS_REDIS_DUMP_H

#include "command.h"

/* Arguments of the two commands. */
extern redis_arg args_scandump[], args_loadchunk[];

/* No piece is longer. RedisBloom's are as long. */
enum { DUMP_PIECE_MAX = 16 << 20 };

typedef struct dump_type {
    const char *load; /* the command that takes a piece */
    size_t header_max;
    /* Returns how long the header is. */
    size_t (*write_header)(const void *v, unsigned char *header);
    /* The bytes from `offset` of all arrays on, up to the end of that array; NULL if there are
     * none.
     */
    unsigned char *(*array)(const void *v, uint64_t offset, size_t *size);
} dump_type;

/* The bytes of the piece that starts at `offset`, or NULL. */
const char *dump_piece(const dump_type *type, const void *v, uint64_t offset, size_t *size);

typedef enum dump_fit { DUMP_FITS, DUMP_NOWHERE, DUMP_TOO_LARGE } dump_fit;

/* Takes the piece that ends at `end`, if it is within one array. */
dump_fit dump_take(const dump_type *type, const void *v, uint64_t end, const char *bytes,
                   size_t size);

/* Two methods of a data type. */
void dump_rewrite(const dump_type *type, redis_io *io, redis_string *name, const void *v);
void dump_digest(const dump_type *type, redis_digest *digest, const void *v);

#endif
