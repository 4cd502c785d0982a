/* tree.h - a file, or a folder and all below it. Names are those of entries: nothing outside is
 * touched, whatever links there are. */
#ifndef TAMIS_CLI_FILES_TREE_H
#define TAMIS_CLI_FILES_TREE_H

#include "entry.h"
#include "replace.h"
#include "term/buffer.h"

/* A folder on the way to an entry. */
typedef struct tree_step {
    size_t end; /* of its name, in the way */
    int fd;     /* -1: closed meanwhile */
} tree_step;

typedef struct tree {
    const char *path;
    int fd;      /* of the folder; -1: it is a file, or nothing */
    buffer way;  /* name of the folder of the entry that was used last */
    buffer step; /* tree_step: each folder of that name */
} tree;

tree tree_open(const char *path);
void tree_close(tree *t);

/* All that is there; what is neither file, folder nor link is left out, and said if `says`. Nothing
 * is there: an empty list. */
entry_list tree_list(tree *t, bool is_recursive, bool says);

/* What messages call an entry; valid until the next call. */
const char *tree_name(const tree *t, const char *name);
/* A file for reading; it was one when it was listed. */
int tree_read(tree *t, const entry *e);

/* Below, an existing thing of another type is replaced; a folder that is not empty only if
 * `may_delete`. */
void tree_make_folder(tree *t, const entry *e, bool may_delete);
void tree_make_link(tree *t, const entry *e, bool may_delete);
replacement *tree_begin_file(tree *t, const entry *e, bool may_delete);
/* Mode and times as the entry has them. `keeps_mode`: times only. */
void tree_set_facts(tree *t, const entry *e, bool keeps_mode);
void tree_delete(tree *t, const entry *e);
/* All that was changed below is on the disk. */
void tree_sync(const tree *t);

#endif
