/* entry.h - what a folder holds, as a list. */
#ifndef TAMIS_CLI_FILES_ENTRY_H
#define TAMIS_CLI_FILES_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum entry_type { ENTRY_FILE, ENTRY_FOLDER, ENTRY_LINK } entry_type;

typedef struct entry {
    char *name; /* parts between slashes, below the folder that is synced; "" is itself */
    entry_type type;
    unsigned mode;   /* nine bits: who may read, write and execute */
    int64_t seconds; /* when it was changed last */
    uint32_t nanoseconds;
    uint64_t size;    /* of a file */
    char *target;     /* of a link; else NULL */
    uint64_t content; /* hash of a file, if contents are compared; else 0 */
} entry;

typedef struct entry_list {
    entry *all;
    size_t n;
    char *text; /* names and targets of a list that was read; NULL: each has a block of its own */
} entry_list;

/* Its name and target are the list's own from now on. Not of a list that was read. */
void entry_add(entry_list *l, entry e);
/* By name, so that folders come before what is in them. */
void entry_sort(entry_list *l);
/* Of a sorted list; NULL: there is none. */
entry *entry_find(const entry_list *l, const char *name);
void entry_free(entry_list *l);

#endif
