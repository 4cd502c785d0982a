/* abilities.c - TAMIS_CAN_ and TAMIS_IS_ flags by name. */
#include <stdio.h>
#include <string.h>

#include "abilities.h"
#include "term/buffer.h"
#include "term/message.h"

const ability abilities[] = {
#define TAMIS_X(constant, bit, name, meaning) { bit, name, meaning },
    TAMIS_ABILITIES(TAMIS_X)
#undef TAMIS_X
        { 0, NULL, NULL },
};

static unsigned find(const char *name, size_t size)
{
    for (const ability *a = abilities; a->name; a++)
        if (strlen(a->name) == size && memcmp(a->name, name, size) == 0)
            return a->bit;
    return 0;
}

bool abilities_parse(unsigned *out, const char *names)
{
    unsigned all = 0;

    for (;;) {
        size_t size = strcspn(names, ",");
        unsigned bit = find(names, size);

        if (!bit)
            return false;
        all |= bit;
        if (!names[size])
            break;
        names += size + 1;
    }
    *out = all;
    return true;
}

void abilities_print(unsigned can)
{
    const char *comma = "";

    for (const ability *a = abilities; a->name; a++)
        if (can & a->bit) {
            printf("%s%s", comma, a->name);
            comma = ",";
        }
}

static void append_word(buffer *list, const char *between, const char *word)
{
    if (list->size)
        buffer_append(list, between, strlen(between));
    buffer_append(list, word, strlen(word));
}

void abilities_require(tamis_kind kind, unsigned bits, const char *path)
{
    buffer what = { 0 }, able = { 0 };

    if ((tamis_kind_can(kind) & bits) == bits)
        return;
    for (const ability *a = abilities; a->name; a++)
        if (bits & a->bit)
            append_word(&what, " and ", a->name);
    for (tamis_kind k = tamis_kind_next(TAMIS_NO_KIND); k; k = tamis_kind_next(k))
        if ((tamis_kind_can(k) & bits) == bits)
            append_word(&able, ", ", tamis_kind_name(k));
    buffer_append(&what, "", 1);
    buffer_append(&able, "", 1);
    die(CODE_USAGE, "%s: %s filters cannot %s; these kinds can: %s", path, tamis_kind_name(kind),
        what.bytes, *able.bytes ? able.bytes : "none");
}

void abilities_require_own_keys(const tamis_plan *plan, const char *path)
{
    if (plan->flags & TAMIS_PLAN_ASKS_KEYS)
        die(CODE_USAGE,
            "%s: its keys are in a store that only the program that made it can ask; change it "
            "with that program",
            path);
}
