/* collection_member.h - filters of collections, which are called COLLECTION:NAME. */
#ifndef TAMIS_CLI_FILTERS_COLLECTION_MEMBER_H
#define TAMIS_CLI_FILTERS_COLLECTION_MEMBER_H

#include <limits.h>

#include "tamis_collection.h"

typedef struct member {
    char file[PATH_MAX];
    const char *name;
} member;

/* Whether there is no file at `path`, but a collection at the part of it before a colon. */
bool member_split(member *m, const char *path);
/* Borrows its pages. The collection stays open until the program ends. */
tamis *member_view(const member *m, const char *path);
/* Writes its image to a file, as it is, and returns that. */
int member_copy(const member *m, const char *path);

/* Whether the file is a collection: for messages. */
bool member_is_collection(const char *file);

#endif
