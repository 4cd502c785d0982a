/* redis_dump.c - fuzzer: bytes as a dump of the BF and CF commands.
 *
 * input: which of the two (one byte), the size of the header (two bytes), the header, and bytes
 * that fill the arrays and name items. A header is refused, or makes a filter in which what was
 * added is found; the header of that is the same again, and all memory comes back. */
#include <string.h>

#include "../limited_allocator.h"
#include "exercise.h"
#include "redis_bloom.h"
#include "redis_cuckoo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY = 1 << 16, ITEMS = 40, TABLES = 40 };

typedef struct input {
    const uint8_t *header, *rest;
    size_t header_size, rest_size;
} input;

static void fill(const input *in, unsigned char *array, size_t size)
{
    for (size_t i = 0; i < size && in->rest_size; i++)
        array[i] = in->rest[i % in->rest_size];
}

/* ---- Bloom ------------------------------------------------------------- */

static void exercise_bloom(redis_bloom *b, const input *in)
{
    unsigned char *array;
    size_t size = 0, done;

    for (uint64_t at = 0; (array = redis_bloom_array(b, at, &size)); at += size)
        fill(in, array, size);
    for (size_t i = 0; i < in->rest_size && i < ITEMS; i++) {
        redis_bloom_hash h = redis_bloom_hash_of(b, in->rest, i + 1);
        bool answer;

        if (redis_bloom_add_many(b, &answer, &done, &h, 1))
            break;
        redis_bloom_has_many(b, &answer, &h, 1);
        MUST(answer);
    }
}

static void try_bloom(const input *in)
{
    limited_allocator p = { .limit = MEMORY };
    unsigned char header[REDIS_BLOOM_HEADER_MAX];
    redis_bloom b;

    if (redis_bloom_read_header(&b, allocator_of(&p), in->header, in->header_size) == TAMIS_OK) {
        MUST(redis_bloom_header_size(&b) == in->header_size);
        redis_bloom_write_header(&b, header);
        MUST(memcmp(header, in->header, in->header_size) == 0);
        exercise_bloom(&b, in);
        redis_bloom_clear(&b);
    }
    MUST(p.live == 0);
}

/* ---- Cuckoo ------------------------------------------------------------ */

static void exercise_cuckoo(redis_cuckoo *c, const input *in)
{
    unsigned char *slots;
    size_t size = 0;

    for (uint64_t at = 0; (slots = redis_cuckoo_array(c, at, &size)); at += size)
        fill(in, slots, size);
    for (size_t i = 0; i < in->rest_size && i < ITEMS; i++) {
        redis_cuckoo_hash h = redis_cuckoo_hash_of(in->rest, i + 1);
        uint64_t before = redis_cuckoo_count(c, h);

        if (in->rest[i] % 3 == 0)
            MUST(redis_cuckoo_remove(c, h) == (before > 0));
        else if (redis_cuckoo_add(c, h, TABLES) == TAMIS_OK)
            MUST(redis_cuckoo_count(c, h) > 0);
        else
            MUST(redis_cuckoo_count(c, h) == before);
    }
    redis_cuckoo_compact(c);
}

static void try_cuckoo(const input *in)
{
    limited_allocator p = { .limit = MEMORY };
    unsigned char header[REDIS_CUCKOO_HEADER_SIZE];
    redis_cuckoo_header h;
    redis_cuckoo c;

    if (in->header_size != sizeof header)
        return;
    h = redis_cuckoo_read_header(in->header);
    if (redis_cuckoo_make(&c, allocator_of(&p), &h) == TAMIS_OK) {
        redis_cuckoo_write_header(&c, header);
        MUST(memcmp(header, in->header, sizeof header) == 0);
        exercise_cuckoo(&c, in);
        redis_cuckoo_clear(&c);
    }
    MUST(p.live == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in;

    if (size < 3)
        return 0;
    in.header_size = data[1] | (size_t)data[2] << 8;
    if (in.header_size > size - 3)
        return 0;
    in.header = data + 3;
    in.rest = in.header + in.header_size;
    in.rest_size = size - 3 - in.header_size;
    if (data[0] & 1)
        try_cuckoo(&in);
    else
        try_bloom(&in);
    return 0;
}
