/* inventory.h - what a list or a folder holds, as lines.
 *
 * The lines of a list are its own. Those of a folder, which end with a NUL, are what is told apart
 * of each entry, a slash, and its name: "f1234@1700000000.0/src/main.c". */
#ifndef TAMIS_APPS_REPLICAS_INVENTORY_H
#define TAMIS_APPS_REPLICAS_INVENTORY_H

#include "files/tree.h"
#include "text/line_set.h"
#include "wire/connection.h"

/* What is told apart of the files of a folder, beside name, type and size. */
typedef enum inventory_facts { FACTS_TIME, FACTS_SIZE, FACTS_CONTENT } inventory_facts;

typedef struct inventory {
    const char *path;
    bool is_folder;
    inventory_facts facts;
    tree tree;          /* of a folder */
    entry_list entries; /* likewise */
    line_set set;
} inventory;

/* Reads a list, or lists a folder. A failure ends the program. */
void inventory_open(inventory *v, bool takes_packed);
/* Its lines under a secret, with the contents of files if these are compared: both sides call it at
 * the same time, and show that they are alive. False: two lines have the same key. */
bool inventory_index(inventory *v, const uint8_t secret[16], line *l);
void inventory_close(inventory *v);

/* Of a line without its end, the name. False: this is no line of an inventory. */
bool inventory_name(const inventory *v, span text, span *name);

#endif
