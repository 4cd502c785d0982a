/* spec.c - what is wanted of a filter, and what a plan makes of it. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "spec.h"
#include "term/message.h"
#include "text/nearest.h"

const option_row spec_options[] = {
    { 'n', "keys", "N", "how many keys it will hold: 1000, 1e9, 10M" },
    { 'p', "fpr", "P", "false positive rate, from 2^-64 to below 1: 0.001, 1% (default: 0.01)" },
    { OPTION_MAX_BYTES, "max-bytes", "B", "size it may have: 4096, 64K, 1G" },
    { OPTION_CAN, "can", "LIST", "abilities it must have, such as add,remove" },
    { OPTION_VALUE_BITS, "value-bits", "B", "bits of a value, 1 to 32, in kinds that can get" },
    { OPTION_COUNTER_BITS, "counter-bits", "B",
      "bits of a counter, 1 to 16, in Bloom kinds that count (default: 4)" },
    { OPTION_BITS, "bits", "M", "bits or counters, in all, of a Bloom filter" },
    { OPTION_HASHES, "hashes", "K", "hashes of a Bloom filter, 1 to 64" },
    { OPTION_QUOTIENT_BITS, "quotient-bits", "Q", "2^Q slots, in quotient filters" },
    { OPTION_REMAINDER_BITS, "remainder-bits", "R", "bits that a slot keeps, as --tag-bits" },
    { OPTION_TAG_BITS, "tag-bits", "B",
      "bits kept of a key, 1 to 64: its tag, remainder or fingerprint" },
    { OPTION_LOAD, "load", "L", "share of slots that the keys take, in kinds that can resize" },
    { OPTION_GROW, "grow", NULL, "make room when it is full, in kinds that can grow" },
    { OPTION_ERROR, "error", "E",
      "how far counts may be too high, as a share of all adds, in sketches" },
    { OPTION_HASH, "hash", "HASH", "how bytes become keys: fast (default), keyed or raw" },
    { 0 },
};

void draw_secret(uint8_t secret[16])
{
    ssize_t got;

    do
        got = getrandom(secret, 16, 0);
    while (got < 0 && errno == EINTR);
    if (got != 16)
        die_errno("draw a secret from", "the kernel");
}

static void choose_hash(tamis_hasher *hasher, const args *a)
{
    static const char *const names[] = {
        [TAMIS_FAST] = "fast", [TAMIS_KEYED] = "keyed", [TAMIS_RAW] = "raw"
    };
    int hash = TAMIS_RAW;

    while (hash >= 0 && strcmp(a->value, names[hash]))
        hash--;
    if (hash < 0)
        args_refuse(a, "--hash is fast, keyed or raw");
    hasher->hash = (tamis_hash)hash;
    if (hash == TAMIS_KEYED)
        draw_secret(hasher->secret);
}

void wish_option(wish *w, const args *a)
{
    switch (a->letter) {
    case 'n':
        w->spec.keys = args_count(a, 1, UINT64_MAX);
        break;
    case 'p':
        w->spec.fpr = args_fpr(a);
        break;
    case OPTION_MAX_BYTES:
        w->spec.max_bytes = args_bytes(a);
        break;
    case OPTION_CAN:
        w->spec.can |= args_abilities(a);
        break;
    case OPTION_LOAD:
        w->spec.load = args_load(a);
        w->spec.can |= TAMIS_CAN_RESIZE;
        break;
    case OPTION_GROW:
        w->spec.can |= TAMIS_CAN_GROW;
        break;
    case OPTION_ERROR:
        w->spec.error = args_error(a);
        break;
    case OPTION_VALUE_BITS:
        w->spec.value_bits = (uint32_t)args_count(a, 1, 32);
        break;
    case OPTION_COUNTER_BITS:
        w->spec.counter_bits = (uint32_t)args_count(a, 1, 16);
        break;
    case OPTION_BITS:
        w->spec.bits = args_count(a, 1, UINT64_MAX);
        break;
    case OPTION_HASHES:
        w->spec.hashes = (uint32_t)args_count(a, 1, 64);
        break;
    case OPTION_QUOTIENT_BITS:
        w->spec.quotient_bits = (uint32_t)args_count(a, 1, 48);
        break;
    case OPTION_REMAINDER_BITS:
    case OPTION_TAG_BITS:
        w->spec.tag_bits = (uint32_t)args_count(a, 1, 64);
        break;
    case OPTION_HASH:
        choose_hash(&w->spec.hasher, a);
        w->has_hash = true;
        break;
    }
}

static const char *kind_at(const void *ctx, size_t i)
{
    tamis_kind kind = tamis_kind_next(TAMIS_NO_KIND);

    (void)ctx;
    while (kind && i--)
        kind = tamis_kind_next(kind);
    return tamis_kind_name(kind);
}

tamis_kind args_kind(const args *a)
{
    char hint[HINT_SIZE];
    tamis_kind kind;

    if (!tamis_kind_find(&kind, a->value))
        die(CODE_USAGE, "%s: no kind is called '%s'; 'tamis kinds' lists them.%s", a->command->name,
            a->value, nearest_hint(hint, a->value, kind_at, NULL));
    return kind;
}

bool spec_has_room(const tamis_spec *spec)
{
    return spec->max_bytes || spec->bits || spec->quotient_bits;
}

double bits_per_key(const tamis_plan *p)
{
    return (double)p->bytes * 8 / (double)(p->capacity > 0 ? p->capacity : 1);
}
