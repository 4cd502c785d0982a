/* show_steps.h - from what is asked of a filter to the scenes that tell it. */
#ifndef TAMIS_APPS_SHOW_SHOW_STEPS_H
#define TAMIS_APPS_SHOW_SHOW_STEPS_H

#include "scene.h"

typedef struct request {
    deed_type type; /* DEED_ASK, DEED_ADD or DEED_REMOVE */
    char *text;     /* as it was given; `size` bytes, then a NUL */
    size_t size;
    char *label; /* the same for people: in one line, without what a terminal might obey */
    uint64_t key;
} request;

typedef struct showing {
    request *requests; /* in the order in which they are done */
    size_t n;
    buffer room;   /* of them */
    tamis *filter; /* changes with them */
    uint64_t most; /* cells that are drawn; 0: all */
    bool each;     /* a scene for each change */
    bool steps;    /* tell how it was made */
    show show;
} showing;

/* Copies the text. The key is made when the filter is there. */
void showing_enter(showing *s, deed_type type, const char *text, size_t size);
size_t showing_count(const showing *s, deed_type type);
void showing_make_label(request *r);

/* Does what is asked for, scene by scene. */
void showing_run(showing *s);
/* Whether a key was found, or none was asked for; and nothing that was to be removed was absent. */
bool showing_is_well(const showing *s);
tamis *showing_copy(const showing *s);
/* All of it, the filter too. */
void showing_free(showing *s);

#endif
