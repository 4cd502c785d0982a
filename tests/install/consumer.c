#include <stdio.h>
#include <tamis_builder.h>
#include <tamis_disk.h>
#include <tamis_file.h>
#include <tamis_pair.h>

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
    return !before && added && after ? 0 : 1;
}
