/* scene.h - what `tamis show` tells: pictures of a filter, one after the other, with what was done
 * before each and what is said of keys after it. */
#ifndef TAMIS_APPS_SHOW_SCENE_H
#define TAMIS_APPS_SHOW_SCENE_H

#include "picture.h"

typedef enum deed_type { DEED_ASK, DEED_ADD, DEED_REMOVE, DEED_BUILD } deed_type;

/* A change, and what became of it. */
typedef struct deed {
    deed_type type;
    const char *label; /* of the key */
    tamis_status status;
    uint64_t keys; /* in the filter, afterwards */
} deed;

typedef struct scene {
    buffer deeds; /* deed: since the picture before */
    picture picture;
    bool has_changes; /* the last row of the picture is what the deeds changed: so many cells */
    size_t changes;
    buffer said;    /* explanation: of keys that are asked for, or were changed */
    buffer present; /* explanation: of keys that were added, if these are known */
    buffer steps;   /* sentences with a NUL each: how it was made */
    buffer members; /* uint64_t: of sets that give back their keys */
} scene;

typedef struct show {
    const char *name; /* of the filter */
    const tamis_plan *plan;
    uint64_t first;
    bool is_signed;
    bool is_known;  /* what was added to it */
    bool with_keys; /* the number of a key is told, as its name does not give it */
    buffer scenes;
} show;

const char *scene_deed_name(deed_type type); /* "add", "remove", "build" */

/* Sentences, which are the same in text and in pictures. Those of deeds, of which one may tell
 * several, and of answers have `end` after each. */
void scene_put_deeds(buffer *to, const scene *now, bool together, const char *end);
void scene_put_answer(buffer *to, const show *s, const explanation *e, const char *end);
void scene_put_step(buffer *to, const show *s, const scene *now, const tamis_step *step);
/* How many cells changed, which are not drawn, what an exact set holds: a line, or none. */
void scene_put_changes(buffer *to, const scene *now);
void scene_put_rest(buffer *to, const scene *now);
void scene_put_members(buffer *to, const scene *now);
bool scene_has_rest(const scene *now);

/* How a filter by peeling was made: sentences with a NUL each. TAMIS_CANNOT: the kind is not made
 * this way. TAMIS_ABSENT: these are not its keys. */
tamis_status scene_tell_peeling(buffer *sentences, const tamis *f, const picture *p,
                                const named_key *keys, size_t n);
/* A line for each of the 2^n sets: its keys, its cells, the answer for each key, with a star if
 * that is a false positive. */
enum { SUBSETS_KEYS_MAX = 10 };
void scene_print_subsets(const tamis_plan *plan, const named_key *keys, size_t n);

/* `width` is that of the terminal. */
void scene_print(const show *s, unsigned width, bool in_colour);
void scene_json(const show *s);
void scene_svg(const show *s, const char *path);

#endif
