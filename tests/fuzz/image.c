/* image.c - fuzzer: any bytes as an image, read and viewed, then used in every way.
 *
 * The bytes are tried as they are, then once more with all checksums made right, so that what lies
 * behind them is reached as well. */
#include <stdlib.h>
#include <string.h>

#include "exercise.h"
#include "seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const uint8_t *image, size_t size)
{
    tamis *f;

    if (tamis_image_read(&f, image, size, NULL) == TAMIS_OK) {
        MUST(tamis_verify(f, NULL, NULL) == TAMIS_OK);
        exercise_writing_image(f);
        exercise_writing(f);
        tamis_free(f);
    }
    if (tamis_image_view(&f, image, size, NULL) == TAMIS_OK) {
        exercise_view(f);
        tamis_free(f);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return use_as_is_and_sealed(data, size, use, seal);
}
