/* token.h - the words of a line. */
#ifndef TAMIS_APPS_SPELL_TOKEN_H
#define TAMIS_APPS_SPELL_TOKEN_H

#include "dictionary.h"

typedef struct tokens {
    const dictionary *d;
    const char *at, *end;
    const char *piece, *piece_end; /* the latest address or path, or what might have been one */
    bool is_address;
} tokens;

tokens tokens_of(const dictionary *d, const char *line, size_t size);
/* False: there are no more. Words of addresses and paths are passed over. */
bool token_next(tokens *t, span *token);
/* Letters from the start of a line to a place in it. */
size_t token_place(const char *line, const char *at);

#endif
