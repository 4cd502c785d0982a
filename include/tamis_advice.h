/* tamis_advice.h - which filter, at which rate, and is it worth it? Needs no operating system.
 *
 * A filter stands before a store: a disk, a network, a database. Without it, every query costs a
 * lookup there. With it, every query costs a lookup in the filter; those of members, and the share
 * fpr of the others, still go to the store. The filter has to be built, and takes memory:
 *
 *   without   queries * store
 *   with      queries * (probe + (members + (1 - members) * fpr) * store)
 *             + builds * keys * build + GiB * memory
 *
 * A lower rate saves lookups in the store and takes more memory, so that there is a best one.
 * docs/choosing.md has the theory, `tamis plan` the command. */
#ifndef TAMIS_ADVICE_H
#define TAMIS_ADVICE_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The speed of a machine -------------------------------------------- */

/* Of filters of half a million keys that were measured. Times are in seconds. */
typedef struct tamis_timing {
    double bits;                      /* log2(1 / rate) */
    double bytes;                     /* of the filter */
    double build;                     /* for a key */
    double absent, present;           /* a lookup of such a key, with the filter in the cache */
    double absent_cold, present_cold; /* with the filter in memory */
} tamis_timing;

/* Of a kind at a high rate and at a low one. */
typedef struct tamis_speed {
    tamis_kind   kind;
    tamis_timing at[2];
} tamis_speed;

enum { TAMIS_READS = 7, TAMIS_SPEEDS_MAX = 64 };

typedef struct tamis_machine {
    size_t      size; /* of this struct, set by the caller: later versions may add fields */
    double      hash; /* a key of 24 bytes */
    double      reads[TAMIS_READS]; /* a random line of tables of 2^15, 2^17, ... 2^27 bytes */
    uint64_t    kinds;              /* that were measured: so many of speeds */
    tamis_speed speeds[TAMIS_SPEEDS_MAX];
} tamis_machine;

/* Seconds since some moment. CPU time of the thread is best. */
typedef double tamis_clock(void *ctx);

/* Measures how fast this machine is, in a few seconds and 200 MiB of memory: all kinds that are
 * made from keys alone. */
TAMIS_API tamis_status tamis_calibrate(tamis_machine *machine, tamis_clock *clock, void *ctx,
                                       const tamis_allocator *a) TAMIS_CHECKED;

/* ---- Advice ------------------------------------------------------------ */

/* How a filter will be used, and what things cost, in any one unit: seconds, or money. All numbers
 * are 0 or more, and 10^18 at most. */
typedef struct tamis_use {
    size_t size;                  /* of this struct: later versions may add fields */
    double queries;               /* in the time that costs are counted for */
    double member_share;          /* of these queries, 0 .. 1 */
    double store_cost;            /* of a lookup in the store */
    double memory_cost;           /* of a GiB for that time; 0: memory has no price */
    double builds;                /* of the filter, in that time */
    double probe_cost;            /* of a lookup in a filter, whatever its kind, */
    double build_cost;            /* and of a key, when it is built; or, if both are 0, those of */
    const tamis_machine *machine; /* in seconds; may be NULL */
} tamis_use;

/* An initializer: tamis_use use = TAMIS_USE(.queries = 1e6, .store_cost = 1e-3); */
#define TAMIS_USE(...)                         \
    {                                          \
        .size = sizeof(tamis_use), __VA_ARGS__ \
    }

/* An option, and what it costs. */
typedef struct tamis_advice {
    tamis_plan plan;   /* its kind is TAMIS_NO_KIND: no filter */
    double     total;  /* the sum of these: */
    double     probes; /* lookups in the filter */
    double     found;  /* lookups in the store that find a member; without a filter, all */
    double     wrong;  /* lookups in the store because of a false positive */
    double     builds, memory;
    /* The option is better than no filter if a lookup in the store costs more than this, and if
     * fewer of the queries are of members; both 0 if there is no filter. */
    double worth_from, worth_below;
} tamis_advice;

/* One option for each kind that meets the spec, and no filter at all: the best first. Returns how
 * many there are; fills at most `max`. 0: a number makes no sense.
 *
 * Where spec.fpr or geometry asks for a rate, that is taken. Else, if memory has a price or
 * spec.max_bytes bounds it, each kind has the rate at which the total is least. If there is
 * neither, the rate is 1 %, and of filters that are worth it a percent less memory counts as much
 * as a percent less of what a filter of just that rate would cost. Kinds that rotate, those for
 * small integers, those to study and, if use.machine is asked, those that it did not measure are no
 * options; kinds of the first three sorts are if spec.can asks for them. */
TAMIS_API size_t tamis_advise(tamis_advice *advice, size_t max, const tamis_spec *spec,
                              const tamis_use *use);

#ifdef __cplusplus
}
#endif

#endif
