/* blocked_avx2.c - the eight words of a block in one register. Chosen wherever it runs: a query is
 * then bound by the one line that it reads. */
#include "bloom/group_avx2.h"
#include "bloom/split_avx2.h"

#include "bloom/blocked_many.h"

void tamis__blocked_use_avx2(tamis_ops *ops)
{
    ops->has = has;
    ops->has_many = has_many;
    ops->add_many = add_many;
}
