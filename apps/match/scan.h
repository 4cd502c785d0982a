/* scan.h - where the patterns of an index begin in a text. */
#ifndef TAMIS_APPS_MATCH_SCAN_H
#define TAMIS_APPS_MATCH_SCAN_H

#include "index.h"

typedef struct scan {
    const match_index *index;
    const char *text; /* WINDOW_MAX bytes more can be read */
    size_t size;
    size_t from, to; /* where matches may begin */
    /* Called for each place where patterns of a group begin, with the longest of them. Places come
     * in no order, but never one by more than SCAN_DISORDER before an earlier one. */
    void (*take)(struct scan *s, size_t place, uint32_t longest);
    void *ctx;
    size_t done_from, done_to; /* take() may set this: nothing more is wanted there */
} scan;

/* Positions that are looked at together. */
enum { SCAN_BLOCK = 256, SCAN_DISORDER = SCAN_BLOCK + OFFSET_MAX };

void scan_run(scan *s);

#endif
