/* blocked_avx512.c - as with AVX2, and keys are hashed eight at a time. In filters that fit in the
 * second cache, where hashing is half of the work, batches take 0.75 of the time; in larger ones
 * the memory decides. */
#include "base/cpu.h"
#include "bloom/split_block.h"

#define one_block_name(function) blocked_avx512_##function
#define ONE_BLOCK split_block
#define ONE_BLOCK_HAS split_block_has_avx2
#define ONE_BLOCK_ADD split_block_add_avx2
#define ONE_BLOCK_READS __attribute__((no_sanitize_thread))
#include "bloom/one_block_template.h"

/* At this pace, near lines that come from the third cache wait for each other: 3.4 ns a key where
 * far ones take 2.4. */
enum { BLOCKED_NEAR_BYTES = 1 << 20 };

void tamis__blocked_use_avx512(tamis *f, unsigned cpu)
{
    f->is_far = cpu & TAMIS_CPU_FAR && f->plan.bytes > BLOCKED_NEAR_BYTES;
    blocked_avx512_use(&f->ops);
}
