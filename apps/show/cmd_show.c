/* cmd_show.c - tamis show: a filter as a picture, and why it answers as it does. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "commands.h"
#include "filters/spec.h"
#include "filters/store.h"
#include "show_steps.h"
#include "term/message.h"
#include "text/abilities.h"
#include "text/reader.h"
#include "toy_filter.h"

typedef struct display {
    showing it;
    tamis_spec spec;
    tamis_kind toy_kind; /* TAMIS_NO_KIND: the filter is in a file */
    const char *table, *out, *svg;
    uint64_t width;
    bool subsets, as_json;
    bool has_hash; /* how keys of a toy are hashed was given */
    bool is_given; /* keys of a toy have given hashes */
    enum { ON_TERMINAL, NEVER, ALWAYS } colour;
    toy toy;
} display;

/* ---- What is asked for ------------------------------------------------- */

static void ask_line(void *ctx, char *line, size_t size)
{
    showing_enter(ctx, DEED_ASK, line, size);
}

/* The row's `min` is what is done with the key. */
static void take_key(void *into, const args *a)
{
    display *s = into;

    showing_enter(&s->it, (deed_type)a->option->min, a->value, strlen(a->value));
}

static void take_lines(void *into, const args *a)
{
    display *s = into;

    reader_each_line(a->value, ask_line, &s->it);
}

static void take_colour(void *into, const args *a)
{
    static const word_row WHEN[] = {
        { "always", ALWAYS, NULL }, { "never", NEVER, NULL }, { "auto", ON_TERMINAL, NULL }, { 0 }
    };
    display *s = into;

    s->colour = a->value ? args_word(a, WHEN) : ALWAYS;
}

static void check_options(void *into, const args *a)
{
    display *s = into;
    bool has_wish = s->table || s->out || s->subsets || args_given_any(a, spec_options);

    s->has_hash = args_given(a, "hash");
    if (s->toy_kind == TAMIS_NO_KIND && has_wish)
        args_refuse(a, "--table, --subsets, -o and the size of a filter are for --toy KIND");
    if (s->subsets && (s->svg || s->as_json || s->out || showing_count(&s->it, DEED_ASK) < s->it.n))
        args_refuse(a, "--subsets takes KEYs, and makes a table of all their sets");
    if (s->svg && s->as_json)
        args_refuse(a, "--svg and --json cannot be used together");
    if (s->out)
        store_lock_target(s->out);
}

/* ---- Keys -------------------------------------------------------------- */

static void make_ordinary_key(const display *s, request *r)
{
    key_format format = { .hasher = tamis_plan_of(s->it.filter)->hasher };

    if (key_make(&r->key, &format, (span){ r->text, r->size }))
        die(CODE_USAGE,
            "show: the key '%s' is not an integer from 0 to 18446744073709551615; this filter "
            "takes raw keys",
            r->label);
}

static void make_keys(display *s)
{
    for (request *r = s->it.requests; r < s->it.requests + s->it.n; r++) {
        const char *numbers = s->is_given ? toy_numbers(r->text) : NULL;
        if (numbers) {
            r->text[numbers - r->text - 1] = 0;
            toy_define(&s->toy, r->text, numbers);
        }
        r->size = s->is_given ? strlen(r->text) : r->size;
        showing_make_label(r);
    }
    for (request *r = s->it.requests; r < s->it.requests + s->it.n; r++)
        if (s->is_given)
            r->key = toy_key(&s->toy, r->text);
        else
            make_ordinary_key(s, r);
}

/* ---- Toys -------------------------------------------------------------- */

static bool gives_hashes(const display *s)
{
    bool gives = s->table != NULL;

    for (size_t i = 0; i < s->it.n && !gives; i++)
        gives = toy_numbers(s->it.requests[i].text);
    return gives;
}

static tamis_plan plan_toy(display *s)
{
    tamis_spec *spec = &s->spec;
    uint64_t adds = showing_count(&s->it, DEED_ADD);
    bool is_indexed = (tamis_kind_can(s->toy_kind) & TAMIS_IS_INDEXED) != 0;
    tamis_plan plan;

    abilities_require(s->toy_kind, TAMIS_CAN_BUILD, "show");
    if (showing_count(&s->it, DEED_REMOVE) > 0)
        abilities_require(s->toy_kind, TAMIS_CAN_REMOVE, "show");
    if (spec->keys == 0 && !spec_has_room(spec))
        spec->keys = adds > 8 ? adds : 8;
    if (is_indexed || (s->is_given && !s->has_hash))
        spec->hasher.hash = TAMIS_RAW;
    tamis_status status = tamis_plan_kind(&plan, s->toy_kind, spec);
    if (status)
        die(status == TAMIS_RANGE ? CODE_LIMIT : CODE_USAGE,
            "show: there is no %s filter with these numbers: %s; see 'tamis help plan'",
            tamis_kind_name(s->toy_kind), tamis_status_text(status));
    return plan;
}

/* Kinds that take all keys at once have them from the start. */
static void fill_static_toy(display *s)
{
    tamis_plan plan = *tamis_plan_of(s->it.filter);
    buffer keys = { 0 };

    if (tamis_kind_can(plan.kind) & TAMIS_CAN_ADD)
        return;
    for (size_t i = 0; i < s->it.n; i++)
        if (s->it.requests[i].type == DEED_ADD)
            buffer_append(&keys, &s->it.requests[i].key, sizeof(uint64_t));
    tamis_free(s->it.filter);
    s->it.filter = toy_filter(&plan, (const void *)keys.bytes, keys.size / sizeof(uint64_t));
    buffer_free(&keys);
}

static void make_toy(display *s)
{
    s->is_given = gives_hashes(s);
    tamis_plan plan = plan_toy(s);
    s->it.filter = toy_filter(&plan, NULL, 0);
    if (s->is_given) {
        s->toy = (toy){ .spec = &s->spec, .first = s->it.show.first };
        s->toy.empty = toy_filter(&plan, NULL, 0);
    }
    if (s->table)
        toy_read(&s->toy, s->table);
    make_keys(s);
    fill_static_toy(s);
    s->it.show.name = "toy";
    s->it.show.is_known = true;
    s->it.show.is_signed = s->toy.is_signed;
    s->it.show.with_keys = s->is_given && s->out;
}

/* ---- Filters of files -------------------------------------------------- */

static void open_file(display *s, const char *path)
{
    tamis *loaded = store_load(path);
    tamis_kind kind = tamis_plan_of(loaded)->kind;

    s->it.show.name = path;
    s->it.filter = loaded;
    if (showing_count(&s->it, DEED_ADD) > 0)
        abilities_require(kind, TAMIS_CAN_ADD, path);
    if (showing_count(&s->it, DEED_REMOVE) > 0)
        abilities_require(kind, TAMIS_CAN_REMOVE, path);
    if (showing_count(&s->it, DEED_ADD) + showing_count(&s->it, DEED_REMOVE) > 0) {
        abilities_require_own_keys(tamis_plan_of(loaded), path);
        s->it.filter = showing_copy(&s->it);
        tamis_free(loaded);
    }
    make_keys(s);
}

/* ---- Command ----------------------------------------------------------- */

static unsigned terminal_width(const display *s)
{
    struct winsize size;

    if (s->width > 0)
        return (unsigned)s->width;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return 80;
}

static bool is_in_colour(const display *s)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

    if (s->colour != ON_TERMINAL)
        return s->colour == ALWAYS;
    return isatty(STDOUT_FILENO) && !(no && *no) && !(terminal && strcmp(terminal, "dumb") == 0);
}

static void tell_subsets(const display *s)
{
    named_key keys[SUBSETS_KEYS_MAX];
    size_t n = s->it.n;

    if (n > SUBSETS_KEYS_MAX)
        die(CODE_USAGE, "show: --subsets takes %d KEYs at most", SUBSETS_KEYS_MAX);
    for (size_t i = 0; i < n; i++)
        keys[i] = (named_key){ s->it.requests[i].label, s->it.requests[i].key };
    scene_print_subsets(tamis_plan_of(s->it.filter), keys, n);
}

static void tell(display *s)
{
    showing_run(&s->it);
    if (s->svg)
        scene_svg(&s->it.show, s->svg);
    else if (s->as_json)
        scene_json(&s->it.show);
    else
        scene_print(&s->it.show, terminal_width(s), is_in_colour(s));
    if (s->out)
        store_save(s->it.filter, s->out);
}

static int run(args *a)
{
    display s = { .it.most = 256, .spec = TAMIS_SPEC(.keys = 0) };

    args_read(a, &s);
    char **operands = args_operands(a, s.toy_kind ? 0 : 1, SIZE_MAX, "the FILE of a filter");
    for (char **key = operands + !s.toy_kind; *key; key++)
        showing_enter(&s.it, DEED_ASK, *key, strlen(*key));

    if (s.toy_kind)
        make_toy(&s);
    else
        open_file(&s, operands[0]);
    if (s.subsets)
        tell_subsets(&s);
    else
        tell(&s);
    int code = showing_is_well(&s.it) ? CODE_OK : CODE_NOTHING;
    toy_free(&s.toy);
    showing_free(&s.it);
    return code;
}

static const option_row options[] = {
    { 'e', "key", "KEY", "ask for KEY, as for one after FILE", .take = take_key, .min = DEED_ASK },
    { 0, "keys-from", "FILE", "ask for each line of FILE, - for standard input",
      .take = take_lines },
    { 0, "add", "KEY", "show what adding KEY changes, but not in the file", .take = take_key,
      .min = DEED_ADD },
    { 0, "remove", "KEY", "show what removing KEY changes, but not in the file", .take = take_key,
      .min = DEED_REMOVE },
    { 0, "each", NULL, "a picture after each --add and --remove, not only the last",
      TO_FLAG(display, it.each) },
    { 0, "steps", NULL, "how a toy by peeling is made, or a FILE of these KEYs",
      TO_FLAG(display, it.steps) },
    { 0, "cells", "N", "draw N cells of a larger filter (default: 256)",
      TO_COUNT(display, it.most, 1, UINT64_MAX) },
    { 0, "all", NULL, "draw all cells", TO_CONSTANT(display, it.most, 0) },
    { 0, "first", "N", "what the first cell is called (default: 0)",
      TO_COUNT(display, it.show.first, 0, 1000000) },
    { 0, "width", "N", "columns of text (default: those of the terminal, or 80)",
      TO_COUNT(display, width, 20, 100000) },
    { 0, "color", "[=WHEN]", "colours: always, never or auto (on a terminal)",
      .take = take_colour },
    { 0, "svg", "OUT", "write it as a picture, - for standard output", TO_TEXT(display, svg) },
    { 0, "json", NULL, "print it as JSON", TO_FLAG(display, as_json) },
    { 0, "toy", "KIND", "show a new filter of that kind, in place of one in a FILE",
      TO_KIND(display, toy_kind) },
    { 0, "table", "FILE", "names of a toy and the numbers that they hash to",
      TO_TEXT(display, table) },
    { 0, "subsets", NULL, "all sets of the KEYs, and what a toy answers for each KEY",
      TO_FLAG(display, subsets) },
    { 'o', "output", "OUT", "save the toy", TO_TEXT(display, out) },
    OPTIONS(spec_options, display, spec),
    { .take = check_options },
};

const command cmd_show = { "show", help_show, options, .run = run };
