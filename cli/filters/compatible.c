/* compatible.c - filters that should be alike and are not. */
#include <string.h>

#include "compatible.h"
#include "term/message.h"

static bool has_same_secret(const tamis_hasher *a, const tamis_hasher *b)
{
    return memcmp(a->secret, b->secret, sizeof a->secret) == 0;
}

bool makes_same_keys(const tamis_hasher *a, const tamis_hasher *b)
{
    if (a->hash != b->hash)
        return false;
    return a->hash == TAMIS_RAW || (a->hash == TAMIS_FAST && a->seed == b->seed) ||
           (a->hash == TAMIS_KEYED && has_same_secret(a, b));
}

static const char *difference(const tamis_plan *a, const tamis_plan *b)
{
    if (a->kind != b->kind)
        return "kind; build both with the same --kind";
    if (a->hasher.hash != b->hasher.hash)
        return "hash; build both with the same --hash";
    if (!has_same_secret(&a->hasher, &b->hasher))
        return "secret; build one with --like the other, or both with one --secret-file";
    if (a->hasher.seed != b->hasher.seed)
        return "seed; build both with the same --seed";
    return "size; build both with the same --keys and --fpr";
}

void refuse_pair(const char *command, const char *first, const tamis_plan *a, const char *other,
                 const tamis_plan *b)
{
    die(CODE_USAGE, "%s: %s and %s differ in %s", command, first, other, difference(a, b));
}
