/* flips.c - no damage to an image goes unnoticed, and none is dangerous.
 *
 * For each golden image: every proper prefix, every single flipped bit, bytes appended, zeroed
 * pages and random smears. Reading must refuse each; viewing and verifying, between them, as well;
 * and a view whose payload is damaged must still answer every call without harm: one in
 * sixteen is asked, and all in the long run (TAMIS_LONG=1). */
#include "../fuzz/exercise.h"
#include "choose.h"
#include "golden.h"

static const size_t SMALL = 8192; /* above, flips are sampled: the time is quadratic */
static const uint64_t SEED = 20261115;

static bool is_quick; /* a sanitizer is at work; the plain run does it all */
static bool is_long;
static unsigned views;
static uint64_t random_state;

/* splitmix64 */
static uint64_t next_random(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- One damaged image ------------------------------------------------- */

static bool view_is_refused(bytes image)
{
    tamis *f;

    if (tamis_image_view(&f, image.at, image.size, NULL) != TAMIS_OK)
        return true;
    bool refused = tamis_verify(f, NULL, NULL) == TAMIS_CORRUPT;
    if (views++ % 16 == 0 || is_long)
        exercise_view(f);
    tamis_free(f);
    return refused;
}

static bool read_is_refused(bytes image)
{
    tamis *f;

    if (tamis_image_read(&f, image.at, image.size, NULL) != TAMIS_OK)
        return true;
    tamis_free(f);
    return false;
}

static void check_refused(bytes image, const char *path, const char *what, size_t where)
{
    expect(read_is_refused(image), "%s: read accepts it with %s %zu", path, what, where);
    expect(view_is_refused(image), "%s: view accepts it with %s %zu", path, what, where);
}

/* ---- Kinds of damage --------------------------------------------------- */

static void check_prefixes(const char *path, bytes image)
{
    size_t step = image.size > SMALL ? 61 : is_quick ? 7 : 1;

    for (size_t size = 0; size < image.size; size += step) {
        bytes prefix = bytes_copy(image.at, size);
        check_refused(prefix, path, "only bytes", size);
        free(prefix.at);
    }
    bytes all_but_one = bytes_copy(image.at, image.size - 1);
    check_refused(all_but_one, path, "only bytes", image.size - 1);
    free(all_but_one.at);
}

static void check_appended(const char *path, bytes image)
{
    static const size_t MORE[] = { 1, 7, 8, 64, 4096 };

    for (int i = 0; i < 10; i++) {
        bytes longer = bytes_new(image.size + MORE[i / 2]);
        memset(longer.at, i % 2 ? 0xff : 0, longer.size);
        memcpy(longer.at, image.at, image.size);
        check_refused(longer, path, "bytes appended:", MORE[i / 2]);
        free(longer.at);
    }
}

static void flip_bit(const char *path, bytes image, size_t bit)
{
    image.at[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    check_refused(image, path, "flipped bit", bit);
    image.at[bit / 8] ^= (uint8_t)(1u << (bit % 8));
}

static void check_flips(const char *path, bytes image)
{
    size_t bits = 8 * image.size;

    if (image.size <= SMALL) {
        for (size_t bit = 0; bit < bits; bit += is_quick ? 11 : 1)
            flip_bit(path, image, bit);
        return;
    }
    for (size_t bit = 0; bit < 8 * 256; bit += is_quick ? 11 : 1)
        flip_bit(path, image, bit);
    for (int i = 0; i < (is_quick ? 100 : 2000); i++)
        flip_bit(path, image, next_random() % bits);
    for (size_t bit = bits - 64; bit < bits; bit++)
        flip_bit(path, image, bit);
}

static void smear(bytes image)
{
    size_t n = 2 + next_random() % 30, at = next_random() % image.size;

    for (size_t i = 0; i < n; i++, at = (at + next_random() % 5) % image.size)
        image.at[at] = (uint8_t)next_random();
}

static void check_smears(const char *path, bytes image)
{
    bytes copy = bytes_copy(image.at, image.size);

    for (size_t i = 0; i < (is_quick ? 50 : is_long ? 2000 : 300); i++) {
        memcpy(copy.at, image.at, image.size);
        smear(copy);
        if (memcmp(copy.at, image.at, image.size))
            check_refused(copy, path, "smear", i);
    }
    free(copy.at);
}

/* What file systems leave after a power cut: whole pages, or all that follows, of zeros. */
static void check_zeroed(const char *path, bytes image)
{
    bytes copy = bytes_copy(image.at, image.size);

    for (size_t page = image.size > SMALL ? 4096 : 64, at = 0; at < image.size; at += page) {
        size_t end = at + page < image.size ? at + page : image.size;
        memset(copy.at + at, 0, end - at);
        if (memcmp(copy.at, image.at, image.size))
            check_refused(copy, path, "a page of zeros at", at);
        memset(copy.at + at, 0, image.size - at);
        if (memcmp(copy.at, image.at, image.size))
            check_refused(copy, path, "zeros from", at);
        memcpy(copy.at + at, image.at + at, image.size - at);
    }
    free(copy.at);
}

static void check_file(const char *path)
{
    bytes image = read_whole(path);

    random_state = SEED;
    check_prefixes(path, image);
    check_appended(path, image);
    check_flips(path, image);
    check_smears(path, image);
    check_zeroed(path, image);
    free(image.at);
}

int main(int argc, char **argv)
{
    char folder[4000];

    if (argc < 2)
        die("usage: flips ROOT [IMAGE]", argv[0]);
    is_quick = getenv("TAMIS_SANITIZED") != NULL;
    is_long = getenv("TAMIS_LONG") != NULL;
    join(folder, sizeof folder, argv[1], "tests/golden/good");
    if (argc > 2)
        check_file(argv[2]);
    else
        expect(each_file(folder, ".tamis", check_file) > 0, "%s is empty", folder);
    if (failures)
        fprintf(stderr, "seed %llu; to replay: %s %s IMAGE\n", (unsigned long long)SEED, argv[0],
                argv[1]);
    return verdict("golden/flips");
}
