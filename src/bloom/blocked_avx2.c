/* blocked_avx2.c - the blocked filter with a block in one register. Chosen wherever it runs: a
 * query is then bound by the one line that it reads. */
#include "bloom/split_block.h"

#define one_block_name(function) blocked_avx2_##function
#define ONE_BLOCK split_block
#define ONE_BLOCK_HAS split_block_has_avx2
#define ONE_BLOCK_ADD split_block_add_avx2
#define ONE_BLOCK_READS __attribute__((no_sanitize_thread))
#include "bloom/one_block_template.h"

void tamis__blocked_use_avx2(tamis_ops *ops)
{
    blocked_avx2_use(ops);
}
