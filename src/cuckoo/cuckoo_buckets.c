/* cuckoo_buckets.c - cuckoo filter: buckets of four tags, two buckets for each key.
 *
 * A key's tag is in one of two buckets, and from a bucket and a tag the other bucket is known
 * (cuckoo/buckets.h). So tags can make room for each other without their keys, and tables may be
 * 95 % full (cuckoo/buckets_change.h). A lookup reads two lines, compares eight tags, and takes a
 * stranger for a key with probability
 *
 *   1 - (1 - 8 / (slots (2^w - 1)))^n,   about 8 load 2^-w
 *
 * Copies of a key take slots in the same two buckets. There are eight; counts stop at seven, and
 * such a key stays for good, so that no remove ever loses one that was not counted.
 *
 * Payload: plan.slots / 4 buckets of four tags of plan.width = w bits, one behind the other; then
 * the stash. plan.hashes is 2. Zeros are the empty filter.
 *
 * Fan, Andersen, Kaminsky, Mitzenmacher: Cuckoo Filter: Practically Better Than Bloom, 2014.
 * Breslow, Jayasena: Morton Filters, 2018. Wang, Zhou, Shi, Qian: Vacuum Filters, 2019. */
#include "cuckoo/buckets_plain.h"

#include "cuckoo/buckets_many.h"

#include "base/cpu.h"
#include "cuckoo/buckets_kind.h"

void tamis__cuckoo_buckets_use_avx2(tamis_ops *ops);

static void for_cpu(tamis *f, unsigned cpu)
{
    use_kernels(&f->ops);
#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX2)
        tamis__cuckoo_buckets_use_avx2(&f->ops);
#endif
    (void)cpu;
}

const tamis_ops tamis__cuckoo_buckets = {
    .traits = TAMIS_TRAIT_BUILDS_SETS,
    .plan = plan,
    .bytes = bytes,
    .rate = rate,
    .limits = limits,
    .for_cpu = for_cpu,
    .verify = verify,
    .measure = measure,
    .has = has,
    .count = count_key,
    .add = add_key,
    .remove = remove_key,
    .touch = touch,
    .has_many = has_many,
    .count_many = count_many,
    .add_many = add_many,
    .remove_many = remove_many,
};
