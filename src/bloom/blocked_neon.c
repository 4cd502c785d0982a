/* blocked_neon.c - the blocked filter with a block in two registers. Chosen on every 64-bit ARM. */
#include <arm_neon.h>

#include "bloom/split_block.h"

#define ONE_BLOCK_READS __attribute__((no_sanitize_thread))

/* The bits of x in four words. */
static inline uint32x4_t blocked_neon_mask(uint32_t x, const uint32_t *salts)
{
    uint32x4_t bit = vshrq_n_u32(vmulq_u32(vdupq_n_u32(x), vld1q_u32(salts)), 27);

    return vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(bit));
}

ONE_BLOCK_READS static inline bool blocked_neon_block_has(const split_block *b, uint32_t x)
{
    uint32x4_t low = vbicq_u32(blocked_neon_mask(x, SPLIT_SALT), vld1q_u32(b->word));
    uint32x4_t high = vbicq_u32(blocked_neon_mask(x, SPLIT_SALT + 4), vld1q_u32(b->word + 4));

    return vmaxvq_u32(vorrq_u32(low, high)) == 0;
}

static inline bool blocked_neon_block_add(split_block *b, uint32_t x, uint64_t *counted)
{
    for (int i = 0; i < SPLIT_WORDS; i += 4) {
        uint32x4_t mask = blocked_neon_mask(x, SPLIT_SALT + i);
        vst1q_u32(b->word + i, vorrq_u32(vld1q_u32(b->word + i), mask));
    }
    ++*counted;
    return true;
}

#define one_block_name(function) blocked_neon_##function
#define ONE_BLOCK split_block
#define ONE_BLOCK_HAS blocked_neon_block_has
#define ONE_BLOCK_ADD blocked_neon_block_add
#include "bloom/one_block_template.h"

void tamis__blocked_use_neon(tamis_ops *ops)
{
    blocked_neon_use(ops);
}
