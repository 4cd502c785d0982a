/* info.h - what a filter tells of itself, as a value. */
#ifndef TAMIS_TESTS_INFO_H
#define TAMIS_TESTS_INFO_H

#include "tamis.h"

static inline tamis_info info_of(const tamis *f)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f, &info);
    return info;
}

#endif
