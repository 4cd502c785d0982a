/* families.h - every family of commands: a file and a line here. */
#ifndef TAMIS_REDIS_FAMILIES_H
#define TAMIS_REDIS_FAMILIES_H

#include "command.h"

#define FAMILIES(X) \
    X(bf)           \
    X(cf)           \
    X(cms)          \
    X(topk)         \
    X(tamis)

#define X(name) extern const family name##_family;
FAMILIES(X)
#undef X

#endif
