/* What cuckoo kinds tell of themselves, of filters that are known by hand. */
#include "core/plan.h"
#include "explain_text.h"
#include "kinds.h"
#include "tamis_adapt.h"

static tamis *shaped(tamis_kind kind, uint64_t slots, uint32_t width, uint32_t hashes)
{
    tamis_plan plan = plan_for(kind, 1, 0.1, 0);

    plan.capacity = 0;
    plan.slots = slots;
    plan.width = width;
    plan.hashes = hashes;
    assert_int_equal(tamis__plan_settle(&plan), TAMIS_OK);
    return new_filter(&plan);
}

/* The key of the lowest hash h for which h * of is that number, with 64 bits after the point. */
static uint64_t key_at(const tamis *f, uint64_t of, uint64_t whole, uint64_t part)
{
    return tamis_key_with_hash(f, divide_up(whole, part, of));
}

static void add(tamis *f, uint64_t key)
{
    assert_int_equal(tamis_add(f, key), TAMIS_OK);
    assert_true(is_whole(f));
}

/* ---- cuckoo ------------------------------------------------------------ */

/* Eleven windows; fingerprints of six bits. */
static uint64_t window_key(const tamis *f, uint64_t window, uint64_t fingerprint)
{
    return key_at(f, 11, window, fingerprint << 58);
}

static void windows_of_cuckoo(void **state)
{
    tamis *f = shaped(TAMIS_CUCKOO, 12, 8, 0);

    (void)state;
    add(f, window_key(f, 2, 0x15));
    add(f, window_key(f, 3, 0x2a));
    add(f, window_key(f, 2, 0x15));
    assert_cells(f, "slots 0: .2 15 2a . 15 .6\n"
                    "place 0: .2 0 0 . 2 .6\n"
                    "stash 0: .4\n"
                    "surplus class 0: .2\n"
                    "surplus 0: .2\n"
                    "surplus lost 0: 0");
    assert_steps(f, window_key(f, 3, 0x2a),
                 "hash 551745d1745d1746\n"
                 "fingerprint 2a\n"
                 "first window 3\n"
                 "second window 8\n"
                 "slot of the first window, slots 0/3 2a yes\n"
                 "which of its four places that is, place 0/3 0 yes\n"
                 "slot of the first window, slots 0/4 -:0 no\n"
                 "slot of the second window, slots 0/8 -:0 no\n"
                 "slot of the second window, slots 0/9 -:0 no\n"
                 "count 1\n"
                 "yes: its fingerprint is at one of its places");
    tamis_free(f);
}

/* ---- cuckoo-buckets ---------------------------------------------------- */

/* Four buckets; tags of eight bits. */
static uint64_t tag_key(const tamis *f, uint64_t bucket, uint64_t tag)
{
    return key_at(f, 4, bucket, (tag - 1) * (UINT64_MAX / 255) + 256);
}

static void buckets_of_cuckoo_buckets(void **state)
{
    tamis *f = shaped(TAMIS_CUCKOO_BUCKETS, 16, 8, 2);

    (void)state;
    for (uint64_t tag = 1; tag < 4; tag++)
        add(f, tag_key(f, 2, 0x10 + tag));
    assert_cells(f, "bucket 0: .4\n"
                    "bucket 1: 12 .3\n"
                    "bucket 2: 11 13 .2\n"
                    "bucket 3: .4\n"
                    "stash 0: .8\n"
                    "surplus class 0: .2\n"
                    "surplus 0: .2\n"
                    "surplus lost 0: 0");
    assert_steps(f, tag_key(f, 2, 0x12),
                 "hash 8444444444444485\n"
                 "tag 12\n"
                 "bucket 2\n"
                 "other bucket 1\n"
                 "tag in the bucket, bucket 2/0 11 no\n"
                 "tag in the bucket, bucket 2/1 13 no\n"
                 "tag in the bucket, bucket 2/2 -:0 no\n"
                 "tag in the bucket, bucket 2/3 -:0 no\n"
                 "tag in the other bucket, bucket 1/0 12 yes\n"
                 "tag in the other bucket, bucket 1/1 -:0 no\n"
                 "tag in the other bucket, bucket 1/2 -:0 no\n"
                 "tag in the other bucket, bucket 1/3 -:0 no\n"
                 "count 1\n"
                 "yes: one of its buckets has its tag");
    tamis_free(f);
}

/* ---- morton ------------------------------------------------------------ */

/* One block of 16 buckets and 36 slots; fingerprints of eight bits. */
static uint64_t bucket_key(const tamis *f, uint64_t bucket, uint64_t fingerprint)
{
    return key_at(f, 16, bucket, fingerprint << 56);
}

static void blocks_of_morton(void **state)
{
    tamis *f = shaped(TAMIS_MORTON, 1, 8, 16);

    (void)state;
    add(f, bucket_key(f, 4, 0xe));
    add(f, bucket_key(f, 2, 0xd));
    add(f, bucket_key(f, 0, 0xa));
    add(f, bucket_key(f, 2, 0xc));
    add(f, bucket_key(f, 2, 0xb));
    assert_cells(f, "fullness 0: 1 0 3 0 1 0 0 0 0 0 0 0 0 0 0 0\n"
                    "overflow 0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                    "block 0: a b c:c c:d e .31\n"
                    "surplus class 0: .2\n"
                    "surplus 0: .2\n"
                    "surplus lost 0: 0");
    assert_steps(f, bucket_key(f, 2, 0x77),
                 "hash 2770000000000000\n"
                 "fingerprint 77\n"
                 "block 0\n"
                 "bucket 2\n"
                 "fullness of the bucket, fullness 0/2 3 yes\n"
                 "slot of the bucket, block 0/1 b no\n"
                 "slot of the bucket, block 0/2 c:c no\n"
                 "slot of the bucket, block 0/3 c:d no\n"
                 "overflow bit of the bucket, overflow 0/2 0 no\n"
                 "count 0\n"
                 "no: its bucket has others, if any, and none was turned away from there");
    add(f, bucket_key(f, 2, 0x77));
    assert_steps(f, bucket_key(f, 2, 0x77),
                 "hash 2770000000000000\n"
                 "fingerprint 77\n"
                 "block 0\n"
                 "bucket 2\n"
                 "fullness of the bucket, fullness 0/2 3 yes\n"
                 "slot of the bucket, block 0/1 b no\n"
                 "slot of the bucket, block 0/2 c:c no\n"
                 "slot of the bucket, block 0/3 c:d no\n"
                 "overflow bit of the bucket, overflow 0/2 1 yes\n"
                 "other block 0\n"
                 "other bucket b\n"
                 "fullness of the bucket, fullness 0/11 1 yes\n"
                 "slot of the bucket, block 0/5 77 yes\n"
                 "count 1\n"
                 "yes: one of its buckets has its fingerprint");
    tamis_free(f);
}

/* ---- acf --------------------------------------------------------------- */

/* One that is taken for a key of the filter. */
static uint64_t stranger_of(const tamis *f)
{
    rng r = rng_for(19, 2);
    uint64_t key;

    do
        key = rng_next(&r);
    while (!tamis_has(f, key) || tamis_count(f, key));
    return key;
}

/* Twelve cells of nine bits. A stranger that is found and told of makes the cell take the other
 * fingerprint of its key. */
static void tables_of_acf(void **state)
{
    tamis *f = shaped(TAMIS_ACF, 3, 0, 9);

    (void)state;
    add(f, tamis_key_with_hash(f, UINT64_C(1) << 60));
    assert_cells(f, "table 0: 3f .2\n"
                    "table 1: .3\n"
                    "table 2: .3\n"
                    "table 3: .3\n"
                    "selector 0: 0 .2\n"
                    "selector 1: .3\n"
                    "selector 2: .3\n"
                    "selector 3: .3\n"
                    "key hash 0: 1000000000000000 .2\n"
                    "key hash 1: .3\n"
                    "key hash 2: .3\n"
                    "key hash 3: .3\n"
                    "copies 0: 1 .2\n"
                    "copies 1: .3\n"
                    "copies 2: .3\n"
                    "copies 3: .3");
    assert_steps(f, tamis_key_with_hash(f, UINT64_C(1) << 60),
                 "hash 1000000000000000\n"
                 "fingerprint of selector 0 3f\n"
                 "fingerprint of selector 1 45\n"
                 "selector of the cell, selector 0/0 0 yes\n"
                 "cell of the table, table 0/0 3f yes\n"
                 "cell of the table, table 1/0 -:0 no\n"
                 "cell of the table, table 2/2 -:0 no\n"
                 "cell of the table, table 3/0 -:0 no\n"
                 "count 1\n"
                 "yes: one of its cells has its fingerprint");
    assert_int_equal(tamis_adapt(f, stranger_of(f)), TAMIS_OK);
    assert_cells(f, "table 0: 45 .2\n"
                    "table 1: .3\n"
                    "table 2: .3\n"
                    "table 3: .3\n"
                    "selector 0: 1 .2\n"
                    "selector 1: .3\n"
                    "selector 2: .3\n"
                    "selector 3: .3\n"
                    "key hash 0: 1000000000000000 .2\n"
                    "key hash 1: .3\n"
                    "key hash 2: .3\n"
                    "key hash 3: .3\n"
                    "copies 0: 1 .2\n"
                    "copies 1: .3\n"
                    "copies 2: .3\n"
                    "copies 3: .3");
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_of_cuckoo),
        cmocka_unit_test(buckets_of_cuckoo_buckets),
        cmocka_unit_test(blocks_of_morton),
        cmocka_unit_test(tables_of_acf),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
