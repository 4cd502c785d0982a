/* shape.c - what the numbers of a plan are called.
 *
 * A plan has three numbers, and each kind has its own use for them (docs/format.md, "Kinds"). Some
 * have two in one. A kind that is not listed here shows them as they are. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "shape.h"

typedef enum number { SLOTS, WIDTH, HASHES } number;

typedef struct trait {
    const char *name; /* NULL in the last */
    number number;
    uint32_t over, below; /* number / over % below; 0: all of it */
} trait;

enum { TRAITS_MAX = 5 };

typedef struct shape {
    tamis_kind kind;
    trait traits[TRAITS_MAX];
} shape;

#define WHOLE(name, number) \
    {                       \
        name, number, 0, 0  \
    }
#define LOW(name, number, below) \
    {                            \
        name, number, 0, below   \
    }
#define HIGH(name, number, over) \
    {                            \
        name, number, over, 0    \
    }

#define OF_FUSE                                                                                 \
    {                                                                                           \
        WHOLE("slots per part", SLOTS), WHOLE("bits per slot", WIDTH),                          \
            LOW("log2 slots per block", HASHES, 16), HIGH("log2 blocks per window", HASHES, 16) \
    }

#define OF_SPECTRAL                                              \
    {                                                            \
        WHOLE("counters per row", SLOTS), WHOLE("rows", HASHES), \
            WHOLE("lines for high counts", WIDTH)                \
    }

static const shape shapes[] = {
    { TAMIS_NO_KIND, { WHOLE("slots", SLOTS), WHOLE("width", WIDTH), WHOLE("hashes", HASHES) } },
    { TAMIS_BITMAP, { WHOLE("bits", SLOTS) } },
    { TAMIS_HASHSET, { WHOLE("slots", SLOTS), WHOLE("bits per slot", WIDTH) } },
    { TAMIS_HASHMAP, { WHOLE("slots", SLOTS), WHOLE("bits per slot", WIDTH) } },
    { TAMIS_BLOOM, { WHOLE("bits", SLOTS), WHOLE("probes", HASHES) } },
    { TAMIS_PARTITIONED, { WHOLE("bits per row", SLOTS), WHOLE("rows", HASHES) } },
    { TAMIS_BLOCKED, { WHOLE("blocks of 256 bits", SLOTS), WHOLE("probes", HASHES) } },
    { TAMIS_XOR,
      { WHOLE("slots per part", SLOTS), WHOLE("bits per slot", WIDTH), WHOLE("probes", HASHES) } },
    { TAMIS_XORPLUS,
      { WHOLE("slots per part", SLOTS), WHOLE("bits per slot", WIDTH), WHOLE("probes", HASHES) } },
    { TAMIS_FUSE, OF_FUSE },
    { TAMIS_FUSE4, OF_FUSE },
    { TAMIS_FUSE5, OF_FUSE },
    { TAMIS_RIBBON,
      { WHOLE("keys per part", SLOTS), WHOLE("bits per fingerprint", WIDTH),
        LOW("levels", HASHES, 256), HIGH("changes of hash", HASHES, 256) } },
    { TAMIS_GCS,
      { WHOLE("cells per bucket", SLOTS), WHOLE("bits per rest", WIDTH),
        WHOLE("lines per part", HASHES) } },
    { TAMIS_CASCADE,
      { WHOLE("keys in the sieve", SLOTS), LOW("bits of the sieve", WIDTH, 256),
        HIGH("changes of hash", WIDTH, 256), WHOLE("others that pass per 65536 keys", HASHES) } },
    { TAMIS_MAP,
      { WHOLE("keys per part", SLOTS), WHOLE("bits per value", WIDTH),
        LOW("bits per fingerprint", HASHES, 256), HIGH("changes of hash", HASHES, 256) } },
    { TAMIS_QUOTIENT, { WHOLE("slots", SLOTS), WHOLE("bits per remainder", WIDTH) } },
    { TAMIS_CQF, { WHOLE("slots", SLOTS), WHOLE("bits per remainder", WIDTH) } },
    { TAMIS_AQF, { WHOLE("slots", SLOTS), WHOLE("bits per remainder", WIDTH) } },
    { TAMIS_CUCKOO, { WHOLE("slots", SLOTS), WHOLE("bits per slot", WIDTH) } },
    { TAMIS_CUCKOO_BUCKETS, { WHOLE("slots", SLOTS), WHOLE("bits per tag", WIDTH) } },
    { TAMIS_MORTON,
      { WHOLE("blocks", SLOTS), WHOLE("bits per fingerprint", WIDTH),
        LOW("buckets per block", HASHES, 256), HIGH("doublings", HASHES, 256) } },
    { TAMIS_ALEPH,
      { WHOLE("slots", SLOTS), WHOLE("bits per remainder", WIDTH), LOW("doublings", HASHES, 256),
        HIGH("narrow sizes", HASHES, 256) } },
    { TAMIS_COUNTING,
      { WHOLE("counters", SLOTS), WHOLE("bits per counter", WIDTH), WHOLE("probes", HASHES) } },
    { TAMIS_COUNTING_BLOCKED,
      { WHOLE("lines of 128 counters", SLOTS), WHOLE("bits per counter", WIDTH),
        WHOLE("probes", HASHES) } },
    { TAMIS_SPECTRAL, OF_SPECTRAL },
    { TAMIS_SPECTRAL_MI, OF_SPECTRAL },
    { TAMIS_SPECTRAL_RM, OF_SPECTRAL },
    { TAMIS_COUNTMIN,
      { WHOLE("counters per row", SLOTS), WHOLE("bits per counter", WIDTH),
        WHOLE("rows", HASHES) } },
    { TAMIS_COMPRESSED,
      { WHOLE("bits", SLOTS), WHOLE("probes", HASHES), WHOLE("coded words", WIDTH) } },
    { TAMIS_SCALABLE,
      { WHOLE("blocks in the first stage", SLOTS), WHOLE("stages", HASHES),
        WHOLE("256ths of a bit of the rate", WIDTH) } },
    { TAMIS_WINDOW,
      { WHOLE("blocks", SLOTS), WHOLE("generations", WIDTH), WHOLE("probes", HASHES) } },
    { TAMIS_ACF,
      { WHOLE("cells per table", SLOTS), WHOLE("bits per cell", HASHES),
        WHOLE("doublings", WIDTH) } },
};

static const trait *traits_of(tamis_kind kind)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].kind == kind)
            return shapes[i].traits;
    return shapes[0].traits;
}

static uint64_t value_of(const trait *t, const tamis_plan *p)
{
    uint64_t value = t->number == SLOTS ? p->slots : t->number == WIDTH ? p->width : p->hashes;

    value /= t->over ? t->over : 1;
    return t->below ? value % t->below : value;
}

void shape_print(const tamis_plan *plan)
{
    const trait *first = traits_of(plan->kind);

    for (const trait *t = first; t->name; t++)
        printf("%s%" PRIu64 " %s", t > first ? ", " : "", value_of(t, plan), t->name);
}

void shape_json(json *j, const char *name, const tamis_plan *plan)
{
    json_open(j, name, '{');
    for (const trait *t = traits_of(plan->kind); t->name; t++) {
        char member[40];

        snprintf(member, sizeof member, "%s", t->name);
        for (char *blank; (blank = strchr(member, ' '));)
            *blank = '_';
        json_count(j, member, value_of(t, plan));
    }
    json_close(j, '}');
}
