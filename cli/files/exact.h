/* exact.h - which lines came before, without mistakes: in memory, and beyond it on disk. */
#ifndef TAMIS_CLI_FILES_EXACT_H
#define TAMIS_CLI_FILES_EXACT_H

#include "text/keys.h"

typedef struct exact exact;

typedef struct exact_line {
    uint64_t hash[2]; /* of the key, with two secrets */
    bool has_key;     /* without one it is always new */
    span text;        /* all of it, with its end */
    span key;         /* if texts are compared */
} exact_line;

typedef enum exact_answer { EXACT_NEW, EXACT_SEEN, EXACT_WAITS } exact_answer;

/* Lines are the same if their keys are or, unless `by_text`, if both hashes are. Takes `memory`
 * bytes at most; 0: as many as it needs. */
exact *exact_open(uint64_t memory, bool by_text);
/* EXACT_WAITS: there is no room to remember it. It waits in a file, as all that follow and were not
 * seen: lines keep their order. */
exact_answer exact_look(exact *e, const exact_line *line);
/* After the last line: the next of those that wait and are new, valid until the next call; false:
 * there are no more. Adds to *seen how many were not. */
bool exact_next(exact *e, span *text, uint64_t *seen);
void exact_close(exact *e);

#endif
