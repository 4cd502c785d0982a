/* cmd_show.c - tamis show: a filter as a picture, and why it answers as it does. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "abilities.h"
#include "commands.h"
#include "lock.h"
#include "message.h"
#include "peeling.h"
#include "reader.h"
#include "scene.h"
#include "spec.h"
#include "store.h"
#include "subsets.h"
#include "toy.h"
#include "utf8.h"

typedef struct request {
    deed_type type;
    char *text; /* as it was given; `size` bytes, then a NUL */
    size_t size;
    char *label; /* the same for people: in one line, without what a terminal might obey */
    uint64_t key;
} request;

typedef struct showing {
    buffer requests;
    wish wish;
    tamis_kind toy_kind; /* TAMIS_NO_KIND: the filter is in a file */
    const char *table, *out, *svg;
    uint64_t most, width;
    bool each, steps, subsets, as_json;
    bool has_wish; /* the size of a toy was given */
    bool is_given; /* keys of a toy have given hashes */
    int colour;    /* 1: yes, 0: no, -1: on a terminal */
    toy toy;
    tamis *filter;
    show show;
} showing;

static request *requests_of(const showing *s, size_t *n)
{
    *n = s->requests.size / sizeof(request);
    return (void *)s->requests.bytes;
}

/* ---- What is asked for ------------------------------------------------- */

/* Controls of one byte, and those that UTF-8 writes with two. */
static size_t printable_size(const char *at)
{
    size_t size = utf8_size(at);
    unsigned char c = (unsigned char)at[0], d = (unsigned char)at[size > 1];

    return c < ' ' || c == 127 || (c == 0xC2 && d < 0xA0) ? 0 : size;
}

static char *label_of(const char *text, size_t size)
{
    buffer label = { 0 };

    for (const char *at = text, *end = text + size; at < end;) {
        size_t n = printable_size(at);
        buffer_append(&label, n ? at : "?", n ? n : 1);
        at += n ? n : utf8_size(at) ? utf8_size(at) : 1;
    }
    if (size == 0)
        buffer_append(&label, "''", 2);
    buffer_append(&label, "", 1);
    return label.bytes;
}

static void enter(showing *s, deed_type type, const char *text, size_t size)
{
    request r = { .type = type, .text = malloc(size + 1), .size = size };

    if (!r.text)
        die(CODE_MEMORY, "out of memory for the keys");
    memcpy(r.text, text, size);
    r.text[size] = 0;
    buffer_append(&s->requests, &r, sizeof r);
}

static void enter_line(void *ctx, char *line, size_t size)
{
    enter(ctx, DEED_ASK, line, size);
}

enum {
    OPTION_ADD = OPTION_AFTER_SPEC,
    OPTION_REMOVE,
    OPTION_TOY,
    OPTION_TABLE,
    OPTION_SUBSETS,
    OPTION_FIRST,
    OPTION_EACH,
    OPTION_STEPS,
    OPTION_ALL,
    OPTION_CELLS,
    OPTION_WIDTH,
    OPTION_COLOUR,
    OPTION_SVG,
    OPTION_JSON
};

static int colour_from(const args *a)
{
    static const char *const words[] = { "never", "always" };

    for (int i = 0; a->value && i < 2; i++)
        if (strcmp(a->value, words[i]) == 0)
            return i;
    if (a->value && strcmp(a->value, "auto") != 0)
        args_refuse(a, "--color is always, never or auto");
    return a->value ? -1 : 1;
}

static bool take_request(showing *s, const args *a)
{
    switch (a->letter) {
    case 'e':
        enter(s, DEED_ASK, a->value, strlen(a->value));
        return true;
    case 'f':
        reader_each_line(a->value, enter_line, s);
        return true;
    case OPTION_ADD:
        enter(s, DEED_ADD, a->value, strlen(a->value));
        return true;
    case OPTION_REMOVE:
        enter(s, DEED_REMOVE, a->value, strlen(a->value));
        return true;
    }
    return false;
}

static void take_option(showing *s, const args *a)
{
    switch (a->letter) {
    case OPTION_TOY:
        s->toy_kind = args_kind(a);
        break;
    case OPTION_TABLE:
        s->table = a->value;
        break;
    case OPTION_SUBSETS:
        s->subsets = true;
        break;
    case OPTION_FIRST:
        s->show.first = args_count(a, 0, 1000000);
        break;
    case OPTION_EACH:
        s->each = true;
        break;
    case OPTION_STEPS:
        s->steps = true;
        break;
    case OPTION_ALL:
        s->most = 0;
        break;
    case OPTION_CELLS:
        s->most = args_count(a, 1, UINT64_MAX);
        break;
    case OPTION_WIDTH:
        s->width = args_count(a, 20, 100000);
        break;
    case OPTION_COLOUR:
        s->colour = colour_from(a);
        break;
    case OPTION_SVG:
        s->svg = a->value;
        break;
    case OPTION_JSON:
        s->as_json = true;
        break;
    case 'o':
        s->out = a->value;
        break;
    default:
        wish_option(&s->wish, a);
        s->has_wish = true;
    }
}

/* ---- Keys -------------------------------------------------------------- */

static void make_ordinary_key(const showing *s, request *r)
{
    key_format format = { .hasher = tamis_plan_of(s->filter)->hasher };

    if (key_make(&r->key, &format, (span){ r->text, r->size }))
        die(CODE_USAGE,
            "show: the key '%s' is not an integer from 0 to 18446744073709551615; this filter "
            "takes "
            "raw keys",
            r->label);
}

static void make_keys(showing *s)
{
    size_t n;
    request *r = requests_of(s, &n);

    for (size_t i = 0; i < n; i++) {
        const char *numbers;
        if (s->is_given && toy_split(r[i].text, &numbers))
            toy_define(&s->toy, r[i].text, numbers);
        r[i].label = label_of(r[i].text, s->is_given ? strlen(r[i].text) : r[i].size);
    }
    for (size_t i = 0; i < n; i++)
        if (s->is_given)
            r[i].key = toy_key(&s->toy, r[i].text);
        else
            make_ordinary_key(s, &r[i]);
}

/* ---- Toys -------------------------------------------------------------- */

static bool gives_hashes(const showing *s)
{
    size_t n;
    const request *r = requests_of(s, &n);
    bool gives = s->table != NULL;

    for (size_t i = 0; i < n && !gives; i++) {
        char *copy = strdup(r[i].text);
        const char *numbers;
        gives = copy && toy_split(copy, &numbers);
        free(copy);
    }
    return gives;
}

static uint64_t count_requests(const showing *s, deed_type type)
{
    size_t n;
    const request *r = requests_of(s, &n);
    uint64_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += r[i].type == type;
    return count;
}

static tamis_plan plan_toy(showing *s)
{
    tamis_spec *spec = &s->wish.spec;
    uint64_t adds = count_requests(s, DEED_ADD);
    bool is_indexed = (tamis_kind_can(s->toy_kind) & TAMIS_IS_INDEXED) != 0;
    tamis_plan plan;

    abilities_require(s->toy_kind, TAMIS_CAN_BUILD, "show");
    if (spec->keys == 0 && !spec_has_room(spec))
        spec->keys = adds > 8 ? adds : 8;
    if (is_indexed || (s->is_given && !s->wish.has_hash))
        spec->hasher.hash = TAMIS_RAW;
    tamis_status status = tamis_plan_kind(&plan, s->toy_kind, spec);
    if (status)
        die(status == TAMIS_RANGE ? CODE_LIMIT : CODE_USAGE,
            "show: there is no %s filter with these numbers: %s; see 'tamis help plan'",
            tamis_kind_name(s->toy_kind), tamis_status_text(status));
    return plan;
}

/* Kinds that take all keys at once have them from the start. */
static void fill_static_toy(showing *s)
{
    tamis_plan plan = *tamis_plan_of(s->filter);
    buffer keys = { 0 };
    size_t n;
    request *r = requests_of(s, &n);

    if (tamis_kind_can(plan.kind) & TAMIS_CAN_ADD)
        return;
    for (size_t i = 0; i < n; i++)
        if (r[i].type == DEED_ADD)
            buffer_append(&keys, &r[i].key, sizeof r[i].key);
    tamis_free(s->filter);
    s->filter = toy_filter(&plan, (const void *)keys.bytes, keys.size / sizeof(uint64_t));
    buffer_free(&keys);
}

static void make_toy(showing *s)
{
    s->is_given = gives_hashes(s);
    tamis_plan plan = plan_toy(s);
    s->filter = toy_filter(&plan, NULL, 0);
    if (s->is_given) {
        s->toy = (toy){ .spec = &s->wish.spec, .first = s->show.first };
        s->toy.empty = toy_filter(&plan, NULL, 0);
    }
    if (s->table)
        toy_read(&s->toy, s->table);
    make_keys(s);
    fill_static_toy(s);
    s->show.name = "toy";
    s->show.is_known = true;
    s->show.is_signed = s->toy.is_signed;
    s->show.with_keys = s->is_given && s->out;
}

/* ---- Filters of files -------------------------------------------------- */

static tamis *copy_of(const showing *s)
{
    tamis *copy;
    tamis_status status = tamis_clone(&copy, s->filter, NULL);

    if (status)
        die_status("copy", s->show.name, status);
    return copy;
}

static void open_file(showing *s, const char *path)
{
    tamis *loaded = store_load(path);
    tamis_kind kind = tamis_plan_of(loaded)->kind;

    s->show.name = path;
    s->filter = loaded;
    if (count_requests(s, DEED_ADD) > 0)
        abilities_require(kind, TAMIS_CAN_ADD, path);
    if (count_requests(s, DEED_REMOVE) > 0)
        abilities_require(kind, TAMIS_CAN_REMOVE, path);
    if (count_requests(s, DEED_ADD) + count_requests(s, DEED_REMOVE) > 0) {
        abilities_require_own_keys(tamis_plan_of(loaded), path);
        s->filter = copy_of(s);
        tamis_free(loaded);
    }
    make_keys(s);
}

/* ---- Scenes ------------------------------------------------------------ */

static uint64_t keys_in(const tamis *f)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f, &info);
    return info.count;
}

static deed do_request(showing *s, const request *r)
{
    bool is_static = !(tamis_kind_can(tamis_plan_of(s->filter)->kind) & TAMIS_CAN_ADD);
    deed d = { .type = r->type, .label = r->label };

    if (r->type == DEED_REMOVE)
        d.status = tamis_remove(s->filter, r->key);
    else if (is_static)
        d.type = DEED_BUILD;
    else
        d.status = tamis_add(s->filter, r->key);
    if (d.status && d.status != TAMIS_ABSENT)
        die_status("change", s->show.name, d.status);
    d.keys = keys_in(s->filter);
    return d;
}

/* How often it was added and not removed, by the first `end` requests. */
static int64_t times_there(const showing *s, const char *label, size_t end)
{
    size_t n;
    const request *r = requests_of(s, &n);
    int64_t times = 0;

    for (size_t i = 0; i < end; i++)
        if (strcmp(r[i].label, label) == 0)
            times += r[i].type == DEED_ADD ? 1 : r[i].type == DEED_REMOVE ? -1 : 0;
    return times;
}

static void say_of(const showing *s, scene *now, size_t at, bool is_asked)
{
    size_t n;
    const request *r = requests_of(s, &n) + at;
    explanation e = explanation_of(s->filter, r->key, r->label);

    e.is_asked = is_asked;
    e.is_mistake = s->show.is_known && e.found != (times_there(s, r->label, at) > 0);
    buffer_append(&now->said, &e, sizeof e);
}

/* Of a toy it is known what was added: each key once. */
static void find_present(const showing *s, scene *now, size_t end)
{
    size_t n;
    const request *r = requests_of(s, &n);

    for (size_t i = 0; s->show.is_known && i < end; i++)
        if (times_there(s, r[i].label, i) == 0 && r[i].type == DEED_ADD &&
            times_there(s, r[i].label, end) > 0) {
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
    size_t n;
    const request *r = requests_of(s, &n);
    tamis_kind kind = tamis_plan_of(s->filter)->kind;
    buffer keys = { 0 };

    for (size_t i = 0; i < n; i++)
        if (r[i].type == (s->toy_kind ? DEED_ADD : DEED_ASK)) {
            peeled_key key = { r[i].label, r[i].key };
            buffer_append(&keys, &key, sizeof key);
        }
    tamis_status status = peeling_tell(&now->steps, s->filter, &now->picture,
                                       (const void *)keys.bytes, keys.size / sizeof(peeled_key));
    if (status == TAMIS_CANNOT)
        die(CODE_USAGE, "%s: %s filters are not made by peeling, so that there are no --steps",
            s->show.name, tamis_kind_name(kind));
    if (status)
        die_status("explain", s->show.name, status);
    buffer_free(&keys);
}

/* The picture, and a row for each key that is asked for, or that alone was changed. */
static void draw(showing *s, scene *now, const tamis *before)
{
    const explanation *present = (const void *)now->present.bytes;
    size_t n;
    const explanation *said = scene_said(now, &n);
    picture p = picture_of(s->filter, s->most, said, n);

    p.first = s->show.first;
    p.is_signed = s->show.is_signed;
    p.with_blanks = s->most == 0;
    picture_mark_owners(&p, present, now->present.size / sizeof *present);
    for (size_t i = 0; i < n; i++)
        if (said[i].is_asked || n == 1)
            picture_mark_reads(&p, &said[i]);
    if (before) {
        picture old = picture_of(before, s->most, said, n);
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
    size_t n, from = at;
    const request *r = requests_of(s, &n);

    while (at < n && (r[at].type == DEED_ASK) == asks && (asks || !s->each || at == from))
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
    size_t n, n_scenes, changes = run_of(s, at, false), asks = run_of(s, changes, true);
    const request *r = requests_of(s, &n);
    tamis *before = NULL;
    scene now = { 0 };

    show_scenes(&s->show, &n_scenes);
    if (changes > at && n_scenes > 0)
        before = copy_of(s);
    for (size_t i = at; i < changes; i++) {
        deed d = do_request(s, &r[i]);
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

static void show_all(showing *s)
{
    size_t n, at = 0;
    const request *r = requests_of(s, &n);

    s->show.plan = tamis_plan_of(s->filter);
    if (!s->toy_kind && n > 0 && r[0].type != DEED_ASK)
        show_before(s);
    do
        at = show_next(s, at);
    while (at < n);
}

/* ---- Command ----------------------------------------------------------- */

static unsigned terminal_width(const showing *s)
{
    struct winsize size;

    if (s->width > 0)
        return (unsigned)s->width;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return 80;
}

static bool is_in_colour(const showing *s)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

    if (s->colour >= 0)
        return s->colour != 0;
    return isatty(STDOUT_FILENO) && !(no && *no) && !(terminal && strcmp(terminal, "dumb") == 0);
}

static void tell_subsets(const showing *s)
{
    subset_key keys[SUBSETS_KEYS_MAX];
    size_t n;
    const request *r = requests_of(s, &n);

    if (n > SUBSETS_KEYS_MAX)
        die(CODE_USAGE, "show: --subsets takes %d KEYs at most", SUBSETS_KEYS_MAX);
    for (size_t i = 0; i < n; i++)
        keys[i] = (subset_key){ r[i].label, r[i].key };
    subsets_print(tamis_plan_of(s->filter), keys, n);
}

static void tell(showing *s)
{
    show_all(s);
    if (s->svg)
        scene_svg(&s->show, s->svg);
    else if (s->as_json)
        scene_json(&s->show);
    else
        scene_print(&s->show, terminal_width(s), is_in_colour(s));
    if (s->out)
        store_save(s->filter, s->out);
}

/* Whether a key was found, or none was asked for; and nothing that was to be removed is absent. */
static bool is_well(const showing *s)
{
    size_t n, m, asked = 0, found = 0, absent = 0;
    const scene *scenes = show_scenes(&s->show, &n);

    for (size_t i = 0; i < n; i++) {
        const explanation *said = scene_said(&scenes[i], &m);
        for (size_t j = 0; j < m; j++) {
            asked += said[j].is_asked;
            found += said[j].is_asked && said[j].found;
        }
        const deed *deeds = scene_deeds(&scenes[i], &m);
        for (size_t j = 0; j < m; j++)
            absent += deeds[j].status != TAMIS_OK;
    }
    return absent == 0 && (asked == 0 || found > 0);
}

static void free_explanations(buffer *all)
{
    explanation *e = (void *)all->bytes;

    for (size_t i = 0; i < all->size / sizeof *e; i++)
        explanation_free(&e[i]);
    buffer_free(all);
}

static void free_scenes(const show *s)
{
    size_t n;
    scene *scenes = (void *)s->scenes.bytes;

    show_scenes(s, &n);
    for (size_t i = 0; i < n; i++) {
        free_explanations(&scenes[i].said);
        free_explanations(&scenes[i].present);
        buffer_free(&scenes[i].steps);
        buffer_free(&scenes[i].members);
        buffer_free(&scenes[i].deeds);
        picture_free(&scenes[i].picture);
    }
}

static void end(showing *s)
{
    size_t n;
    request *r = requests_of(s, &n);

    free_scenes(&s->show);
    buffer_free(&s->show.scenes);
    for (size_t i = 0; i < n; i++) {
        free(r[i].text);
        free(r[i].label);
    }
    buffer_free(&s->requests);
    toy_free(&s->toy);
    tamis_free(s->filter);
}

static void check_options(const showing *s, const args *a)
{
    bool is_toy = s->toy_kind != TAMIS_NO_KIND;

    if (!is_toy && (s->table || s->out || s->subsets || s->has_wish))
        args_refuse(a, "--table, --subsets, -o and the size of a filter are for --toy KIND");
    if (s->subsets && (s->svg || s->as_json || s->out ||
                       count_requests(s, DEED_ASK) * sizeof(request) < s->requests.size))
        args_refuse(a, "--subsets takes KEYs, and makes a table of all their sets");
    if (s->svg && s->as_json)
        args_refuse(a, "--svg and --json cannot be used together");
    if (s->out) {
        store_check_target(s->out);
        lock_output(s->out);
    }
}

static int run(args *a)
{
    showing s = { .wish.spec = TAMIS_SPEC(.keys = 0), .most = 256, .colour = -1 };

    while (args_next(a) != -1)
        if (!take_request(&s, a))
            take_option(&s, a);
    check_options(&s, a);
    char **operands = args_operands(a, s.toy_kind ? 0 : 1, SIZE_MAX, "the FILE of a filter");
    for (char **key = operands + !s.toy_kind; *key; key++)
        enter(&s, DEED_ASK, *key, strlen(*key));

    if (s.toy_kind)
        make_toy(&s);
    else
        open_file(&s, operands[0]);
    if (s.subsets)
        tell_subsets(&s);
    else
        tell(&s);
    int code = is_well(&s) ? CODE_OK : CODE_NOTHING;
    end(&s);
    return code;
}

static const option_row options[] = {
    { 'e', "key", "KEY", "ask for KEY, as for one after FILE" },
    { 'f', "keys-from", "FILE", "ask for each line of FILE, - for standard input" },
    { OPTION_ADD, "add", "KEY", "show what adding KEY changes, but not in the file" },
    { OPTION_REMOVE, "remove", "KEY", "show what removing KEY changes, but not in the file" },
    { OPTION_EACH, "each", NULL, "a picture after each --add and --remove, not after the last" },
    { OPTION_STEPS, "steps", NULL, "how a toy by peeling is made, or a FILE of these KEYs" },
    { OPTION_CELLS, "cells", "N", "draw N cells of a larger filter (default: 256)" },
    { OPTION_ALL, "all", NULL, "draw all cells" },
    { OPTION_FIRST, "first", "N", "what the first cell is called (default: 0)" },
    { OPTION_WIDTH, "width", "N", "columns of text (default: those of the terminal, or 80)" },
    { OPTION_COLOUR, "color", "[=WHEN]", "colours: always, never or auto (on a terminal)" },
    { OPTION_SVG, "svg", "OUT", "write it as a picture, - for standard output" },
    { OPTION_JSON, "json", NULL, "print it as JSON" },
    { OPTION_TOY, "toy", "KIND", "show a new filter of that kind, in place of one in a FILE" },
    { OPTION_TABLE, "table", "FILE", "names of a toy and the numbers that they hash to" },
    { OPTION_SUBSETS, "subsets", NULL,
      "all sets of the KEYs, and what a toy answers for each KEY" },
    { 'o', "output", "OUT", "save the toy" },
    { 0 },
};

const command cmd_show = {
    .name = "show",
    .operands = "[OPTION]... {FILE | --toy KIND} [KEY]...",
    .summary = "draw a small filter, and explain its answers",
    .about =
        "Draws what a filter holds, array by array: bits, counters, slots with their marks, an\n"
        "empty cell as '.'. Of a larger filter, it draws the first cells or, if there is a KEY,\n"
        "those around what is read for it. For each KEY it tells what is worked out, which cells\n"
        "are read, and why the answer is as it is. In a row of its own, '^' is below the cells\n"
        "that speak for the key, and 'x' below those that speak against it.\n"
        "\n"
        "With --add and --remove it draws the filter before and after; '*' is below the cells\n"
        "that have changed. The file stays as it is. FILE may be COLLECTION:NAME.\n"
        "\n"
        "With --toy, a new filter of that KIND takes the place of the one in FILE, as large as\n"
        "--keys, --bits or --quotient-bits tell. If the examples of a lecture say where a key\n"
        "hashes to, NAME=P,P,... or a line 'NAME P P ...' of a --table gives that in place of a\n"
        "KEY: the cells that it reads, or the last numbers worked out before any is read, such\n"
        "as quotient and remainder. The filter is a real one: a key is searched that hashes so.\n"
        "That ends, with a message, after eight million keys. A toy that is saved with -o takes\n"
        "these keys, which are integers and printed beside the names. --add, --remove and --key\n"
        "are done in the order in which they come, and KEYs at last.",
    .options = { options, spec_options },
    .when_ok = "a KEY is there, or none was asked for",
    .when_nothing = "no KEY is there, or one to be removed is not",
    .example = "  printf '%s\\n' red green | tamis build -k bloom --bits 24 --hashes 3 -o c.tamis\n"
               "  tamis show c.tamis red",
    .run = run,
};
