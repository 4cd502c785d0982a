/* byte_order.h - numbers with the lowest byte first, on any machine and at any alignment. */
#ifndef TAMIS_CLI_TEXT_BYTE_ORDER_H
#define TAMIS_CLI_TEXT_BYTE_ORDER_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t le32(const void *p)
{
    uint32_t x;

    memcpy(&x, p, sizeof x);
    return le32toh(x);
}

static inline uint64_t le64(const void *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
    return le64toh(x);
}

static inline void put_le32(void *p, uint32_t x)
{
    x = htole32(x);
    memcpy(p, &x, sizeof x);
}

static inline void put_le64(void *p, uint64_t x)
{
    x = htole64(x);
    memcpy(p, &x, sizeof x);
}

#endif
