/* blocked_neon.c - the eight words of a block in two registers. Chosen on every 64-bit ARM. */
#include <arm_neon.h>

#include "bloom/blocked.h"
#include "bloom/group.h"

typedef struct {
    uint32x4_t low, high;
} mask;

static inline uint32x4_t bits_of(uint32_t x, const uint32_t *salts)
{
    uint32x4_t bit = vshrq_n_u32(vmulq_u32(vdupq_n_u32(x), vld1q_u32(salts)), 27);

    return vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(bit));
}

static inline mask mask_of(uint32_t x)
{
    return (mask){ bits_of(x, SALT), bits_of(x, SALT + 4) };
}

#define KERNEL_READS __attribute__((no_sanitize_thread))

KERNEL_READS static inline bool block_has(const block *b, uint32_t x)
{
    mask m = mask_of(x);
    uint32x4_t missing_low = vbicq_u32(m.low, vld1q_u32(b->word));
    uint32x4_t missing_high = vbicq_u32(m.high, vld1q_u32(b->word + 4));

    return vmaxvq_u32(vorrq_u32(missing_low, missing_high)) == 0;
}

static inline bool block_add(block *b, uint32_t x)
{
    mask m = mask_of(x);

    vst1q_u32(b->word, vorrq_u32(vld1q_u32(b->word), m.low));
    vst1q_u32(b->word + 4, vorrq_u32(vld1q_u32(b->word + 4), m.high));
    return true;
}

/* NEON has no 64-bit multiplication; the scalar one keeps up. */
static inline void place_group(group *g, const uint64_t *keys, uint64_t slots, uint64_t salt)
{
    place_each(g, 0, keys, slots, salt);
}

#include "bloom/blocked_many.h"

void tamis__blocked_use_neon(tamis_ops *ops)
{
    ops->has = has;
    ops->has_many = has_many;
    ops->add_many = add_many;
}
