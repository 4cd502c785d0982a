/* sync.c - fuzzer: what the sides of `tamis sync` tell each other, as bytes.
 *
 * input: a mode and a number of files or of numbers (one byte each), then bytes that are a list of
 * entries, a sketch or a recipe. What is read is written again, and must say the same. */
#include <stdlib.h>
#include <string.h>

#include "../../entry_message.h"
#include "../../recipe.h"
#include "../../sketch.h"
#include "cost.h"
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SETTINGS = 2 };

/* ---- Entries ----------------------------------------------------------- */

/* A name that is safe has only parts that stay below. */
static void check_name(const char *name)
{
    if (!entry_name_is_safe(name))
        return;
    MUST(name[0] && name[0] != '/' && !strstr(name, "//"));
    MUST(name[strlen(name) - 1] != '/');
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        size_t size = strcspn(part, "/");
        MUST(!(size == 1 && part[0] == '.') && !(size == 2 && memcmp(part, "..", 2) == 0));
    }
}

static bool is_same(const entry *a, const entry *b)
{
    return strcmp(a->name, b->name) == 0 && a->type == b->type && a->mode == b->mode &&
           a->seconds == b->seconds && a->nanoseconds == b->nanoseconds && a->size == b->size &&
           a->content == b->content && (a->type != ENTRY_LINK || strcmp(a->target, b->target) == 0);
}

static void write_entries(buffer *out, const entry_list *l)
{
    const entry **all = calloc(l->n + 1, sizeof *all);

    MUST(all);
    for (size_t i = 0; i < l->n; i++)
        all[i] = &l->all[i];
    entry_write(out, all, l->n);
    free(all);
}

static void read_entries(const uint8_t *bytes, size_t size)
{
    entry_list l = { 0 }, again = { 0 };
    buffer in = { 0 }, out = { 0 };
    size_t n = entry_count(bytes, size);

    buffer_append(&in, bytes, size);
    if (entry_read(&l, &in)) {
        MUST(l.n == n);
        write_entries(&out, &l);
        MUST(entry_read(&again, &out) && again.n == l.n);
        for (size_t i = 0; i < l.n; i++)
            MUST(is_same(&l.all[i], &again.all[i]));
    }
    for (size_t i = 0; i < l.n && l.all[i].name; i++)
        check_name(l.all[i].name);
    MUST(l.n == n && n <= size / 4);
    entry_free(&l);
    entry_free(&again);
}

/* ---- Sketches and recipes ---------------------------------------------- */

static void read_sketch(coded c, size_t n)
{
    int64_t numbers[SKETCH_MOST], again[SKETCH_MOST];
    uint64_t n_keys, n_again;
    buffer out = { 0 };

    if (!sketch_read(&c, numbers, n, &n_keys))
        return;
    sketch_write(&out, numbers, n, n_keys);
    coded own = { (const uint8_t *)out.bytes, (const uint8_t *)out.bytes + out.size };
    MUST(sketch_read(&own, again, n, &n_again) && own.at == own.end && n_again == n_keys);
    MUST(memcmp(numbers, again, n * sizeof *numbers) == 0);
    MUST(sketch_distance(numbers, again, n) < 1);
    buffer_free(&out);
}

static void read_recipe(const uint8_t *bytes, size_t size, size_t n_files)
{
    recipe r;
    uint64_t kept, fresh, steps = 0;

    if (recipe_read(&r, bytes, size, n_files, 1000)) {
        for (size_t i = 0; i < r.n_gone; i++)
            MUST(recipe_lacks(&r, r.gone[i] << r.shift));
        for (size_t i = 0; i < n_files; i++)
            for (coded c = r.files[i]; recipe_next(&c, &kept, &fresh);)
                steps++;
        MUST(steps <= size);
    }
    recipe_free(&r);
}

/* A list is a copy of its bytes, an entry of 56 bytes for each four of them, and all of it again
 * for the list that is written of it, in a buffer that grows. Of a recipe, the steps of each file
 * and a thousand keys, twice. */
static const cost_law COST = { .memory = 1 << 16, .memory_times = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS)
        return 0;
    size_t received = size;
    cost_begin();
    const uint8_t *bytes = data + SETTINGS;
    size -= SETTINGS;
    if (data[0] % 3 == 0)
        read_entries(bytes, size);
    else if (data[0] % 3 == 1)
        read_sketch((coded){ bytes, bytes + size }, 1 + data[1] % SKETCH_MOST);
    else
        read_recipe(bytes, size, data[1]);
    cost_check("sync", &COST, received);
    return 0;
}
