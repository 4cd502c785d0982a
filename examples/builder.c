/* builder.c - a filter of more keys than fit in memory, and nobody knows how many they are.
 *
 *     cc builder.c -o builder $(pkg-config --cflags --libs tamis) && ./builder
 *
 * Lines of the standard input would do as well: here, keys are made up. */
#include <stdio.h>
#include <tamis_builder.h>

enum { KEYS = 1000000, PIECE = 1000 };

static const char PATH[] = "people.tamis";

static uint64_t key_of(const tamis_hasher *hasher, unsigned i)
{
    char text[40];
    int size = snprintf(text, sizeof text, "user%u@example.org", i);

    return tamis_hasher_key(hasher, text, (size_t)size);
}

/* Several threads could do this at the same time. */
static tamis_status feed(tamis_builder *b, const tamis_hasher *hasher)
{
    uint64_t keys[PIECE];
    tamis_status status = TAMIS_OK;

    for (unsigned at = 0; at < KEYS && !status; at += PIECE) {
        for (unsigned i = 0; i < PIECE; i++)
            keys[i] = key_of(hasher, at + i);
        status = tamis_builder_add_many(b, keys, PIECE);
    }
    return status;
}

/* True goes on; a program that was told to stop returns false. */
static bool show(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    if (total)
        printf("\r%3.0f %%", 100.0 * (double)done / (double)total);
    return true;
}

static tamis_status build(tamis_plan *plan, const tamis_spec *spec)
{
    const tamis_build_options options =
        TAMIS_BUILD_OPTIONS(.memory = 64 << 20, .threads = 2, .progress = show);
    tamis_builder *b;
    tamis_status status = tamis_builder_new(&b, TAMIS_FUSE, spec, &options);

    if (status)
        return status;
    status = feed(b, &spec->hasher);
    if (!status)
        status = tamis_builder_save(b, PATH, plan);
    tamis_builder_free(b);
    printf("\n");
    return status;
}

int main(void)
{
    const tamis_spec spec = TAMIS_SPEC(.fpr = 0.004);
    tamis_plan plan;
    tamis *f;
    tamis_status status = build(&plan, &spec);

    if (!status)
        status = tamis_map(&f, PATH, 0, NULL);
    if (status) {
        fprintf(stderr, "%s: %s\n", PATH, tamis_status_text(status));
        return 1;
    }
    printf("%llu keys, %.2f bits each\n", (unsigned long long)plan.capacity,
           8.0 * (double)plan.bytes / (double)plan.capacity);
    printf("user7: %s\n", tamis_has(f, key_of(&spec.hasher, 7)) ? "probably there" : "not there");
    tamis_free(f);
    return 0;
}
