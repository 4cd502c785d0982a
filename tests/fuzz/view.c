/* view.c - fuzzer: any payload, and any geometry, under a header with right checksums.
 *
 * input: kind, keys, rate, what to overwrite (one byte each), then, when asked for, the numbers
 * that go over slots, width, hashes and count, then the payload, repeated or cut to its length. */
#include <stdlib.h>
#include <string.h>

#include "exercise.h"
#include "seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CAPACITY_AT = 56, SLOTS_AT = 72, WIDTH_AT = 80, HASHES_AT = 84, COUNT_AT = 88 };

typedef struct {
    const uint8_t *at;
    size_t size;
} input;

/* Zeros once the input has ended. */
static uint64_t take(input *in, int size)
{
    uint64_t x = 0;

    for (int i = 0; i < size && in->size; i++, in->at++, in->size--)
        x |= (uint64_t)*in->at << (8 * i);
    return x;
}

/* Round and round the list: every byte names a kind, whatever their number. */
static tamis_kind take_kind(input *in)
{
    tamis_kind kind = tamis_kind_next(TAMIS_NO_KIND);

    for (uint64_t steps = take(in, 1); steps; steps--) {
        kind = tamis_kind_next(kind);
        if (!kind)
            kind = tamis_kind_next(kind);
    }
    return kind;
}

static tamis *empty_filter(input *in)
{
    tamis_kind kind = take_kind(in);
    tamis_spec spec = TAMIS_SPEC(.keys = take(in, 1) % 48, .hasher.hash = TAMIS_RAW);
    tamis_plan plan;
    tamis *f;

    if (tamis_kind_can(kind) & TAMIS_CAN_GET)
        spec.value_bits = (uint32_t)(take(in, 1) % 32 + 1);
    if (tamis_kind_can(kind) & TAMIS_CAN_EXCLUDE)
        spec.universe = spec.keys + take(in, 1);
    spec.fpr = tamis_kind_can(kind) & TAMIS_IS_EXACT ? 0 : 0.4 / (double)(take(in, 1) + 1);
    if (tamis_plan_kind(&plan, kind, &spec) || tamis_new(&f, &plan, NULL))
        return NULL;
    return f;
}

static void overwrite_numbers(uint8_t *image, input *in)
{
    uint64_t which = take(in, 1);

    if (which & 1)
        seal_put(image + SLOTS_AT, 8, take(in, 8));
    if (which & 2)
        seal_put(image + WIDTH_AT, 4, take(in, 4));
    if (which & 4)
        seal_put(image + HASHES_AT, 4, take(in, 4));
    if (which & 8)
        seal_put(image + COUNT_AT, 8, take(in, 8));
    if (which & 16)
        seal_put(image + CAPACITY_AT, 8, take(in, 8));
}

static void overwrite_payload(uint8_t *image, const input *in)
{
    uint64_t offset = seal_number(image + SEAL_TABLE + SEAL_OFFSET, 8);
    uint64_t length = seal_number(image + SEAL_TABLE + SEAL_LENGTH, 8);

    for (uint64_t i = 0; in->size && i < length; i++)
        image[offset + i] = in->at[i % in->size];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = { data, size };
    tamis *empty = empty_filter(&in), *f;
    void *image = NULL;

    if (!empty)
        return 0;
    size_t image_size = tamis_image_size(empty);
    MUST(!posix_memalign(&image, 64, image_size));
    MUST(tamis_image_write(empty, image, image_size) == TAMIS_OK);
    tamis_free(empty);
    overwrite_numbers(image, &in);
    overwrite_payload(image, &in);
    seal(image, image_size);
    if (tamis_image_view(&f, image, image_size, NULL) == TAMIS_OK) {
        exercise_view(f);
        tamis_free(f);
    }
    free(image);
    return 0;
}
