/* spec.c - what is wanted of a filter, and what a plan makes of it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spec.h"
#include "term/message.h"

void draw_secret(uint8_t secret[16])
{
    ssize_t got;

    do
        got = getrandom(secret, 16, 0);
    while (got < 0 && errno == EINTR);
    if (got != 16)
        die_errno("draw a secret from", "the kernel");
}

/* One line end may follow the digits. */
static bool parse_secret(uint8_t secret[16], const char *text, size_t size)
{
    static const uint8_t none[16];

    if (size == 16)
        memcpy(secret, text, 16);
    else if (strspn(text, "0123456789abcdefABCDEF") == 32 && strcmp(text + 32, "\n") <= 0)
        for (size_t i = 0; i < 16; i++)
            sscanf(text + 2 * i, "%2hhx", &secret[i]);
    else
        return false;
    return memcmp(secret, none, sizeof none) != 0;
}

/* As ssh does it: a file of one's own must be closed to others; who owns another knows better. */
void read_secret(uint8_t secret[16], const char *path)
{
    FILE *file = fopen(path, "re");
    char text[64] = "";
    struct stat s;

    if (!file || fstat(fileno(file), &s))
        die_errno("read", path);
    if (s.st_uid == getuid() && s.st_mode & 077)
        die(CODE_USAGE, "%s: others can read or write it, and a secret is for one: 'chmod 600' it",
            path);
    size_t size = fread(text, 1, sizeof text - 1, file);
    if (ferror(file))
        die_errno("read", path);
    fclose(file); /* only read */
    if (!parse_secret(secret, text, size))
        die(CODE_USAGE, "%s: a secret is 16 bytes or 32 hexadecimal digits, not all of them zero",
            path);
}

/* ---- Options ----------------------------------------------------------- */

const word_row hash_words[] = {
    { "fast", TAMIS_FAST, "for keys from people you trust" },
    { "keyed", TAMIS_KEYED, "with a secret, for keys from outsiders" },
    { "raw", TAMIS_RAW, "for integers, as they are" },
    { 0 },
};

void option_hash(void *into, const args *a)
{
    tamis_hasher *hasher = into;

    hasher->hash = (tamis_hash)args_word(a, hash_words);
    if (hasher->hash == TAMIS_KEYED)
        draw_secret(hasher->secret);
}

static void take_load(void *into, const args *a)
{
    tamis_spec *spec = into;

    spec->load = args_share(a, 0.01, 1);
    spec->can |= TAMIS_CAN_RESIZE;
}

static void take_grow(void *into, const args *a)
{
    tamis_spec *spec = into;

    (void)a;
    spec->can |= TAMIS_CAN_GROW;
}

static void check_growth(void *into, const args *a)
{
    const tamis_spec *spec = into;

    if (spec->grow_to && spec->grow_to < spec->keys)
        args_refuse(a, "--grow-to is less than --keys");
}

const option_row spec_options[] = {
    { 'n', "keys", "N", "how many keys it will hold: 1000, 1e9, 10M",
      TO_COUNT(tamis_spec, keys, 1, UINT64_MAX) },
    { 'p', "fpr", "P", "false positive rate, from 2^-64 to below 1: 0.001, 1% (default: 0.01)",
      TO_FPR(tamis_spec, fpr) },
    { 0, "max-bytes", "SIZE", "size it may have: 4096, 64K, 1G", TO_SIZE(tamis_spec, max_bytes) },
    { 0, "can", "LIST", "abilities it must have, such as add,remove",
      TO_ABILITIES(tamis_spec, can) },
    { 0, "value-bits", "B", "bits of a value, 1 to 32, in kinds that can get",
      TO_COUNT(tamis_spec, value_bits, 1, 32) },
    { 0, "counter-bits", "B", "bits of a counter, 1 to 16, in Bloom kinds that count (default: 4)",
      TO_COUNT(tamis_spec, counter_bits, 1, 16) },
    { 0, "bits", "M", "bits or counters, in all, of a Bloom filter",
      TO_COUNT(tamis_spec, bits, 1, UINT64_MAX) },
    { 0, "hashes", "K", "hashes of a Bloom filter, 1 to 64", TO_COUNT(tamis_spec, hashes, 1, 64) },
    { 0, "quotient-bits", "Q", "2^Q slots, in quotient filters",
      TO_COUNT(tamis_spec, quotient_bits, 1, 48) },
    { 0, "remainder-bits", "R", "bits that a slot keeps, as --tag-bits",
      TO_COUNT(tamis_spec, tag_bits, 1, 64) },
    { 0, "tag-bits", "B", "bits kept of a key, 1 to 64: its tag, remainder or fingerprint",
      TO_COUNT(tamis_spec, tag_bits, 1, 64) },
    { 0, "load", "L", "share of slots that the keys take, in kinds that can resize",
      .take = take_load },
    { 0, "grow", NULL, "make room when it is full, in kinds that can grow", .take = take_grow },
    { 0, "grow-to", "N", "plan for growth up to N keys, at the rate that -p asks for",
      TO_COUNT(tamis_spec, grow_to, 1, UINT64_MAX) },
    { 0, "error", "E", "how far counts may be too high, as a share of all adds, in sketches",
      TO_ERROR(tamis_spec, error) },
    { 0, "hash", "HASH", "how bytes become keys: fast (default), keyed or raw",
      TO_HASH(tamis_spec, hasher) },
    { .take = check_growth },
};

bool spec_has_room(const tamis_spec *spec)
{
    return spec->max_bytes || spec->bits || spec->quotient_bits;
}

double bits_per_key(const tamis_plan *p)
{
    return (double)p->bytes * 8 / (double)(p->capacity > 0 ? p->capacity : 1);
}
