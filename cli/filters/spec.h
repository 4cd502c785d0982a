/* spec.h - what is wanted of a filter, and what a plan makes of it. */
#ifndef TAMIS_CLI_FILTERS_SPEC_H
#define TAMIS_CLI_FILTERS_SPEC_H

#include "args/args.h"

enum {
    OPTION_CAN = OPTION_OWN,
    OPTION_MAX_BYTES,
    OPTION_HASH,
    OPTION_VALUE_BITS,
    OPTION_COUNTER_BITS,
    OPTION_LOAD,
    OPTION_GROW,
    OPTION_ERROR,
    OPTION_BITS,
    OPTION_HASHES,
    OPTION_QUOTIENT_BITS,
    OPTION_REMAINDER_BITS,
    OPTION_TAG_BITS,
    OPTION_AFTER_SPEC
};

extern const option_row spec_options[];

typedef struct wish {
    tamis_spec spec;
    bool has_hash; /* --hash was given */
} wish;

/* Takes one of spec_options. */
void wish_option(wish *w, const args *a);

/* Whether it says how much room there is for keys, if not how many there are. */
bool spec_has_room(const tamis_spec *spec);

/* The kind that the option at hand names. */
tamis_kind args_kind(const args *a);

/* From the kernel. */
void draw_secret(uint8_t secret[16]);

double bits_per_key(const tamis_plan *p);

#endif
