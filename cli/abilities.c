/* abilities.c - TAMIS_CAN_ and TAMIS_IS_ flags by name. */
#include <stdio.h>
#include <string.h>

#include "abilities.h"
#include "buffer.h"
#include "message.h"

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

static const char *name_of(unsigned bit)
{
    const ability *a = abilities;

    while (a->bit != bit)
        a++;
    return a->name;
}

void abilities_require(tamis_kind kind, unsigned bit, const char *path)
{
    buffer able = { 0 };

    if (tamis_kind_can(kind) & bit)
        return;
    for (tamis_kind k = tamis_kind_next(TAMIS_NO_KIND); k; k = tamis_kind_next(k))
        if (tamis_kind_can(k) & bit) {
            buffer_append(&able, able.size ? ", " : "", able.size ? 2 : 0);
            buffer_append(&able, tamis_kind_name(k), strlen(tamis_kind_name(k)));
        }
    buffer_append(&able, "", 1);
    die(CODE_USAGE, "%s: %s filters cannot %s; these kinds can: %s", path, tamis_kind_name(kind),
        name_of(bit), *able.bytes ? able.bytes : "none");
}
