/* spec.h - what is wanted of a filter, and what a plan makes of it. */
#ifndef TAMIS_CLI_FILTERS_SPEC_H
#define TAMIS_CLI_FILTERS_SPEC_H

#include "args/args.h"

extern const option_row spec_options[]; /* for a tamis_spec */
extern const word_row hash_words[];

/* Two of them, for commands that take no others. */
#define TO_ERROR(request, member) TO_SHARE(request, member, 1e-12, 0.5)
#define TO_HASH(request, member) \
    .take = option_hash, .words = hash_words, OPTION_MEMBER(tamis_hasher, request, member)

void option_hash(void *into, const args *a);

/* Whether it says how much room there is for keys, if not how many there are. */
bool spec_has_room(const tamis_spec *spec);

/* From the kernel. */
void draw_secret(uint8_t secret[16]);
/* From a file of 16 bytes or 32 hexadecimal digits, which nobody else can read. */
void read_secret(uint8_t secret[16], const char *path);

double bits_per_key(const tamis_plan *p);

#endif
