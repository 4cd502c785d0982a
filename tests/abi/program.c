/* program.c - what a program does with the structs that may grow, compiled with headers of an older
 * version and run with the library of today: all of it must work as it did. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis_advice.h>
#include <tamis_budget.h>
#include <tamis_disk.h>

enum { KEYS = 1000 };

static void expect(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "program: %s\n", what);
    exit(1);
}

/* ---- Filters ----------------------------------------------------------- */

static tamis_plan plan_of(tamis_kind kind)
{
    tamis_spec spec = TAMIS_SPEC(.keys = KEYS, .fpr = 0.01, .hasher = { .hash = TAMIS_RAW });
    tamis_plan plan;

    expect(tamis_plan_kind(&plan, kind, &spec) == TAMIS_OK, "a spec is refused");
    expect(tamis_plan_all(NULL, 0, &spec) > 1, "no kind meets a spec");
    return plan;
}

/* The struct lies before bytes that are not its own. */
static void look_at(const tamis *f)
{
    struct {
        tamis_info info;
        uint8_t behind[64];
    } s;

    memset(&s, 0xaa, sizeof s);
    s.info.size = sizeof s.info;
    tamis_get_info(f, &s.info);
    expect(s.info.size == sizeof s.info, "info has another size");
    expect(s.info.count == KEYS && s.info.plan.capacity >= KEYS, "info tells something else");
    for (size_t i = 0; i < sizeof s.behind; i++)
        expect(s.behind[i] == 0xaa, "info is written past its end");
}

static void fill(tamis *f)
{
    for (uint64_t key = 0; key < KEYS; key++)
        expect(tamis_add(f, key) == TAMIS_OK, "a key is refused");
    for (uint64_t key = 0; key < KEYS; key++)
        expect(tamis_has(f, key), "a key is lost");
    look_at(f);
}

static void use_filters(void)
{
    tamis_plan plan = plan_of(TAMIS_BLOOM);
    tamis *f;

    expect(tamis_new(&f, &plan, NULL) == TAMIS_OK, "no filter");
    fill(f);
    tamis_free(f);
}

/* ---- Builders and disk filters ----------------------------------------- */

static void use_files(const char *path)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 2 * KEYS, .fpr = 0.01, .hasher = { .hash = TAMIS_RAW });
    tamis_build_options build = TAMIS_BUILD_OPTIONS(.memory = 8 << 20, .threads = 2);
    tamis_disk_options options = TAMIS_DISK_OPTIONS(.memory = 1 << 20);
    uint64_t keys[KEYS], hits[(KEYS + 63) / 64];
    tamis_builder *b;
    tamis_disk *d;
    size_t added;

    for (uint64_t i = 0; i < KEYS; i++)
        keys[i] = i;
    expect(tamis_builder_new(&b, TAMIS_CQF, &spec, &build) == TAMIS_OK, "no builder");
    expect(tamis_builder_add_many(b, keys, KEYS) == TAMIS_OK, "a builder takes no keys");
    expect(tamis_builder_save(b, path, NULL) == TAMIS_OK, "a builder saves nothing");
    tamis_builder_free(b);
    expect(tamis_disk_open(&d, path, &options) == TAMIS_OK, "no disk filter");
    look_at(tamis_disk_file(d));
    expect(tamis_disk_add_many(d, &added, keys, KEYS) == TAMIS_OK, "it takes no keys");
    expect(tamis_disk_has_many(d, hits, keys, KEYS) == KEYS, "it loses keys");
    tamis_disk_free(d);
    expect(remove(path) == 0, "the file is not there");
}

/* ---- Advice ------------------------------------------------------------ */

static double stand_still(void *ctx)
{
    (void)ctx;
    return 0;
}

static void *no_memory(void *ctx, size_t size)
{
    (void)ctx;
    (void)size;
    return NULL;
}

static void drop_nothing(void *ctx, void *block, size_t size)
{
    (void)ctx;
    (void)block;
    (void)size;
}

static void use_advice(void)
{
    static const tamis_timing TIMING = { 4, 1 << 18, 1e-9, 1e-9, 1e-9, 1e-8, 1e-8 };
    static tamis_machine machine = { .size = sizeof machine, .hash = 1e-9, .kinds = 1 };
    const tamis_allocator nowhere = { no_memory, drop_nothing, NULL };
    tamis_spec spec = TAMIS_SPEC(.keys = KEYS, .fpr = 0.01);
    tamis_use use = TAMIS_USE(.queries = 1e9, .store_cost = 1, .machine = &machine);
    tamis_size sizes[TAMIS_SIZES_MAX];
    tamis_advice best;

    expect(tamis_calibrate(&machine, stand_still, NULL, &nowhere) == TAMIS_NOMEM,
           "a machine is refused");
    for (int i = 0; i < TAMIS_READS; i++)
        machine.reads[i] = 1e-9;
    machine.speeds[0] = (tamis_speed){ TAMIS_BLOOM, { TIMING, TIMING } };
    expect(tamis_advise(&best, 1, &spec, &use) == 2, "no advice");
    expect(best.plan.kind == TAMIS_BLOOM && best.total > 0, "other advice");
    expect(tamis_budget_sizes(sizes, TAMIS_BLOOM, &spec) > 10, "no sizes");
}

/* The file that is made, and removed. */
int main(int argc, char **argv)
{
    expect(argc == 2, "which file?");
    use_filters();
    use_files(argv[1]);
    use_advice();
    printf("%s\n", TAMIS_VERSION);
    return 0;
}
