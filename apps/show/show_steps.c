/* show_steps.c - from what is asked of a filter to the scenes that tell it. */
#include <stdlib.h>
#include <string.h>

#include "show_steps.h"
#include "term/array.h"
#include "term/message.h"
#include "term/unicode.h"

/* ---- Requests ---------------------------------------------------------- */

void showing_make_label(request *r)
{
    r->label = r->size > 0 ? array_text(r->text, r->size) : array_text("''", 2);
    if (r->size > 0)
        r->label[unicode_clean(r->label, r->size)] = 0;
}

void showing_enter(showing *s, deed_type type, const char *text, size_t size)
{
    request r = { .type = type, .text = array_text(text, size), .size = size };

    buffer_append(&s->room, &r, sizeof r);
    s->requests = (void *)s->room.bytes;
    s->n++;
}

size_t showing_count(const showing *s, deed_type type)
{
    size_t count = 0;

    for (size_t i = 0; i < s->n; i++)
        count += s->requests[i].type == type;
    return count;
}

tamis *showing_copy(const showing *s)
{
    tamis *copy;
    tamis_status status = tamis_clone(&copy, s->filter, NULL);

    if (status)
        die_status("copy", s->show.name, status);
    return copy;
}

/* ---- Scenes ------------------------------------------------------------ */

static uint64_t keys_in(const tamis *f)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f, &info);
    return info.count;
}

static unsigned abilities_of(const showing *s)
{
    return tamis_kind_can(tamis_plan_of(s->filter)->kind);
}

static deed do_request(showing *s, const request *r)
{
    deed d = { .type = r->type, .label = r->label };

    if (r->type == DEED_REMOVE)
        d.status = tamis_remove(s->filter, r->key);
    else if (!(abilities_of(s) & TAMIS_CAN_ADD))
        d.type = DEED_BUILD;
    else
        d.status = tamis_add(s->filter, r->key);
    if (d.status && d.status != TAMIS_ABSENT)
        die_status("change", s->show.name, d.status);
    d.keys = keys_in(s->filter);
    return d;
}

/* Whether it is a key of a toy after the first `end` requests; what is built has all from the
 * start. Exact kinds are sets, and forget a key whole. Others keep copies. */
static bool is_there(const showing *s, const char *text, size_t end)
{
    size_t copies = 0;
    const request *r = s->requests;
    bool is_set = (abilities_of(s) & TAMIS_IS_EXACT) != 0;

    end = abilities_of(s) & TAMIS_CAN_ADD ? end : s->n;
    for (size_t i = 0; i < end; i++) {
        if (r[i].type == DEED_ASK || strcmp(r[i].text, text) != 0)
            continue;
        if (r[i].type == DEED_ADD)
            copies = is_set ? 1 : copies + 1;
        else
            copies -= copies > 0;
    }
    return copies > 0;
}

static bool is_first(const showing *s, size_t at)
{
    const request *r = s->requests;
    size_t i = 0;

    while (i < at && (r[i].type != DEED_ADD || strcmp(r[i].text, r[at].text) != 0))
        i++;
    return i == at;
}

static void say_of(const showing *s, scene *now, size_t at, bool is_asked)
{
    const request *r = &s->requests[at];
    explanation e = explanation_of(s->filter, r->key, r->label);

    e.is_asked = is_asked;
    e.is_mistake = s->show.is_known && e.found != is_there(s, r->text, at);
    buffer_append(&now->said, &e, sizeof e);
}

/* Of a toy it is known what was added: each key once. */
static void find_present(const showing *s, scene *now, size_t end)
{
    const request *r = s->requests;

    for (size_t i = 0; s->show.is_known && i < end; i++)
        if (r[i].type == DEED_ADD && is_first(s, i) && is_there(s, r[i].text, end)) {
            explanation e = explanation_of(s->filter, r[i].key, r[i].label);
            buffer_append(&now->present, &e, sizeof e);
        }
}

static bool take_member(void *ctx, uint64_t key, uint64_t count)
{
    (void)count;
    buffer_append(ctx, &key, sizeof key);
    return true;
}

/* Only few are told, and only where they are what was given. */
enum { MEMBERS_MOST = 32 };

static void find_members(const showing *s, scene *now)
{
    const tamis_plan *plan = tamis_plan_of(s->filter);
    unsigned wanted = TAMIS_IS_EXACT | TAMIS_CAN_LIST;
    bool lists = (tamis_kind_can(plan->kind) & wanted) == wanted && plan->hasher.hash == TAMIS_RAW;

    if (lists && keys_in(s->filter) <= MEMBERS_MOST &&
        tamis_list(s->filter, take_member, &now->members))
        now->members.size = 0;
}

/* Of a toy, the keys that were added; of a file, those that are asked for. */
static void tell_peeling(const showing *s, scene *now)
{
    buffer keys = { 0 };

    for (size_t i = 0; i < s->n; i++)
        if (s->requests[i].type == (s->show.is_known ? DEED_ADD : DEED_ASK)) {
            named_key key = { s->requests[i].label, s->requests[i].key };
            buffer_append(&keys, &key, sizeof key);
        }
    tamis_status status =
        scene_tell_peeling(&now->steps, s->filter, &now->picture, (const void *)keys.bytes,
                           keys.size / sizeof(named_key));
    if (status == TAMIS_CANNOT)
        die(CODE_USAGE, "%s: %s filters are not made by peeling, so that there are no --steps",
            s->show.name, tamis_kind_name(tamis_plan_of(s->filter)->kind));
    if (status)
        die_status("explain", s->show.name, status);
    buffer_free(&keys);
}

/* The picture, and a row for each key that is asked for, or that alone was changed. */
static void draw(showing *s, scene *now, const tamis *before)
{
    picture p = picture_of(s->filter, s->most, &now->said);
    bool is_one = now->said.size == sizeof(explanation);

    p.first = s->show.first;
    p.is_signed = s->show.is_signed;
    p.with_blanks = s->most == 0;
    picture_mark_owners(&p, &now->present);
    for (const explanation *e = NULL; (e = buffer_next(&now->said, e, sizeof *e));)
        if (e->is_asked || is_one)
            picture_mark_reads(&p, e);
    if (before) {
        picture old = picture_of(before, s->most, &now->said);
        now->changes = picture_mark_changes(&p, &old);
        now->has_changes = true;
        picture_free(&old);
    }
    now->picture = p;
    find_members(s, now);
    if (s->steps)
        tell_peeling(s, now);
}

/* Requests of this kind, from `at` on; of changes only one if each is shown. */
static size_t run_of(const showing *s, size_t at, bool asks)
{
    size_t from = at;

    while (at < s->n && (s->requests[at].type == DEED_ASK) == asks &&
           (asks || !s->each || at == from))
        at++;
    return at;
}

static void add_scene(showing *s, const scene *now)
{
    buffer_append(&s->show.scenes, now, sizeof *now);
}

/* Of a file, first what is there before anything changes. */
static void show_before(showing *s)
{
    size_t changes = run_of(s, 0, false);
    scene now = { 0 };

    for (size_t i = 0; i < changes; i++)
        say_of(s, &now, i, false);
    draw(s, &now, NULL);
    add_scene(s, &now);
}

static size_t show_next(showing *s, size_t at)
{
    size_t changes = run_of(s, at, false), asks = run_of(s, changes, true);
    tamis *before = NULL;
    scene now = { 0 };

    if (changes > at && s->show.scenes.size > 0)
        before = showing_copy(s);
    for (size_t i = at; i < changes; i++) {
        deed d = do_request(s, &s->requests[i]);
        buffer_append(&now.deeds, &d, sizeof d);
    }
    for (size_t i = at; i < asks; i++)
        say_of(s, &now, i, i >= changes);
    find_present(s, &now, asks);
    draw(s, &now, before);
    tamis_free(before);
    add_scene(s, &now);
    return asks;
}

void showing_run(showing *s)
{
    size_t at = 0;

    s->show.plan = tamis_plan_of(s->filter);
    if (!s->show.is_known && s->n > 0 && s->requests[0].type != DEED_ASK)
        show_before(s);
    do
        at = show_next(s, at);
    while (at < s->n);
}

bool showing_is_well(const showing *s)
{
    size_t asked = 0, found = 0;

    for (const scene *now = NULL; (now = buffer_next(&s->show.scenes, now, sizeof *now));) {
        for (const explanation *e = NULL; (e = buffer_next(&now->said, e, sizeof *e));) {
            asked += e->is_asked;
            found += e->is_asked && e->found;
        }
        for (const deed *d = NULL; (d = buffer_next(&now->deeds, d, sizeof *d));)
            if (d->status)
                return false;
    }
    return asked == 0 || found > 0;
}

static void free_explanations(buffer *all)
{
    for (explanation *e = NULL; (e = buffer_next(all, e, sizeof *e));)
        explanation_free(e);
    buffer_free(all);
}

static void free_scene(scene *s)
{
    free_explanations(&s->said);
    free_explanations(&s->present);
    buffer_free(&s->steps);
    buffer_free(&s->members);
    buffer_free(&s->deeds);
    picture_free(&s->picture);
}

void showing_free(showing *s)
{
    for (scene *now = NULL; (now = buffer_next(&s->show.scenes, now, sizeof *now));)
        free_scene(now);
    buffer_free(&s->show.scenes);
    for (size_t i = 0; i < s->n; i++) {
        free(s->requests[i].text);
        free(s->requests[i].label);
    }
    buffer_free(&s->room);
    tamis_free(s->filter);
}
