/* entry_message.c - entries of a folder as a message.
 *
 * How many, and whether there are hashes; then all names, types and modes, sizes, times, hashes,
 * targets of links: one kind after the other, so that what is alike stands together. Times of files
 * that came together are alike: each is told from the one before. */
#include <limits.h>
#include <string.h>

#include "entry_message.h"
#include "term/array.h"
#include "wire/coded.h"

uint64_t entry_key(const entry *e, const tamis_hasher *by)
{
    const uint64_t facts[] = { tamis_hasher_key(by, e->name, strlen(e->name)),
                               e->target ? tamis_hasher_key(by, e->target, strlen(e->target)) : 0,
                               (uint64_t)e->type << 32 | e->mode,
                               e->size,
                               e->content,
                               e->content ? 0 : (uint64_t)e->seconds,
                               e->content ? 0 : e->nanoseconds };

    return tamis_hasher_key(by, facts, sizeof facts);
}

/* ---- Names ------------------------------------------------------------- */

static bool part_is_safe(const char *part, size_t size)
{
    return size > 0 && size <= NAME_MAX && !(size <= 2 && strspn(part, ".") >= size);
}

bool entry_name_is_safe(const char *name)
{
    if (strlen(name) >= PATH_MAX)
        return false;
    for (;;) {
        size_t size = strcspn(name, "/");
        if (!part_is_safe(name, size))
            return false;
        if (!name[size])
            return true;
        name += size + 1;
    }
}

/* ---- Bytes ------------------------------------------------------------- */

static void put_text(buffer *out, const char *text)
{
    buffer_append(out, text, strlen(text) + 1);
}

void entry_write(buffer *out, const entry *const *entries, size_t n)
{
    int64_t before = 0;
    bool has_contents = false;

    for (size_t i = 0; i < n; i++)
        has_contents = has_contents || entries[i]->content;
    coded_put_number(out, (uint64_t)n << 1 | has_contents);
    for (size_t i = 0; i < n; i++)
        put_text(out, entries[i]->name);
    for (size_t i = 0; i < n; i++)
        coded_put_number(out, (uint64_t)entries[i]->type << 9 | entries[i]->mode);
    for (size_t i = 0; i < n; i++)
        if (entries[i]->type == ENTRY_FILE)
            coded_put_number(out, entries[i]->size);
    for (size_t i = 0; i < n; i++) {
        coded_put_signed(out, (int64_t)((uint64_t)entries[i]->seconds - (uint64_t)before));
        before = entries[i]->seconds;
    }
    for (size_t i = 0; i < n; i++)
        coded_put_number(out, entries[i]->nanoseconds);
    for (size_t i = 0; i < n && has_contents; i++)
        coded_put_bytes(out, entries[i]->content, 8);
    for (size_t i = 0; i < n; i++)
        if (entries[i]->type == ENTRY_LINK)
            put_text(out, entries[i]->target);
}

/* The next text, where it is. NULL: it has no end, or is too long. */
static char *take_text(coded *c)
{
    size_t left = (size_t)(c->end - c->at), most = left < PATH_MAX ? left : PATH_MAX;
    const uint8_t *text = c->at, *end = left ? memchr(text, 0, most) : NULL;

    c->at = end ? end + 1 : c->at;
    return end ? (char *)(uintptr_t)text : NULL;
}

static bool take_names(coded *c, entry *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(e[i].name = take_text(c)))
            return false;
    return true;
}

static bool take_modes(coded *c, entry *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t both;
        if (!coded_number(c, &both) || both >> 9 > ENTRY_LINK)
            return false;
        e[i].type = (entry_type)(both >> 9);
        e[i].mode = both & 0777;
    }
    return true;
}

static bool take_sizes(coded *c, entry *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (e[i].type == ENTRY_FILE && (!coded_number(c, &e[i].size) || e[i].size > INT64_MAX))
            return false;
    return true;
}

static bool take_times(coded *c, entry *e, size_t n)
{
    int64_t before = 0, step;
    uint64_t number;

    for (size_t i = 0; i < n; i++) {
        if (!coded_signed(c, &step))
            return false;
        before = e[i].seconds = (int64_t)((uint64_t)before + (uint64_t)step);
    }
    for (size_t i = 0; i < n; i++) {
        if (!coded_number(c, &number) || number >= 1000000000)
            return false;
        e[i].nanoseconds = (uint32_t)number;
    }
    return true;
}

static bool take_contents(coded *c, entry *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!coded_bytes(c, &e[i].content, 8))
            return false;
    return true;
}

static bool take_targets(coded *c, entry *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (e[i].type == ENTRY_LINK && !(e[i].target = take_text(c)))
            return false;
    return true;
}

/* The end of a name, its type and mode, and two numbers of its time. */
enum { ENTRY_LEAST = 4 };

static bool take_head(coded *c, size_t *n, bool *has_contents)
{
    uint64_t head;
    bool is_good = coded_number(c, &head) && head >> 1 <= (uint64_t)(c->end - c->at) / ENTRY_LEAST;

    *n = is_good ? (size_t)(head >> 1) : 0;
    *has_contents = is_good && head & 1;
    return is_good;
}

size_t entry_count(const void *bytes, size_t size)
{
    coded c = coded_of(bytes, size);
    bool has_contents;
    size_t n;

    return size > 0 && take_head(&c, &n, &has_contents) ? n : 0;
}

bool entry_read(entry_list *l, buffer *bytes)
{
    coded c = coded_of(bytes->bytes, bytes->size);
    bool has_contents;
    size_t n;

    *l = (entry_list){ .text = bytes->bytes };
    *bytes = (buffer){ 0 };
    if (c.at == c.end || !take_head(&c, &n, &has_contents))
        return false;
    l->all = array_new(n, sizeof *l->all, "files");
    l->n = n;
    return take_names(&c, l->all, n) && take_modes(&c, l->all, n) && take_sizes(&c, l->all, n) &&
           take_times(&c, l->all, n) && (!has_contents || take_contents(&c, l->all, n)) &&
           take_targets(&c, l->all, n) && c.at == c.end;
}
