#include <stdio.h>
#include <string.h>
#include <tamis_builder.h>
#include <tamis_disk.h>
#include <tamis_file.h>
#include <tamis_pair.h>
#include <tamis_shared.h>

#if TAMIS_VERSION_NUMBER < 100
#error "older than the first release"
#endif

static bool versions_agree(void)
{
    char text[40];

    snprintf(text, sizeof text, "%d.%d.%d", TAMIS_VERSION_MAJOR, TAMIS_VERSION_MINOR,
             TAMIS_VERSION_PATCH);
    return strcmp(text, TAMIS_VERSION) == 0 && strcmp(text, tamis_version()) == 0;
}

int main(void)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 1000, .fpr = 0.01);
    tamis_plan plan;
    tamis *f;

    if (tamis_plan_kind(&plan, TAMIS_BLOOM, &spec) || tamis_new(&f, &plan, NULL))
        return 1;
    uint64_t key = tamis_key(f, "hello", 5);
    bool before = tamis_has(f, key), added = tamis_add(f, key) == TAMIS_OK;
    bool after = tamis_has(f, key);
    tamis_free(f);
    printf("%s\n", tamis_version());
    return !before && added && after && versions_agree() ? 0 : 1;
}
