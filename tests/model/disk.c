/* disk.c - filters larger than memory hold what an exact multiset beside them holds, however often
 * they are flushed, closed and opened; what is refused changes nothing. No kind is named. */
#include <fcntl.h>
#include <sys/file.h>

#include "kinds.h"
#include "tamis_disk.h"

typedef struct world {
    tamis_disk *d;
    tamis_plan plan;
    uint64_t *keys;
    uint32_t *copies;
    size_t n;
    uint64_t total;
    rng r;
} world;

static tamis_disk *open_disk(uint64_t memory)
{
    const tamis_disk_options o = TAMIS_DISK_OPTIONS(.memory = memory);
    tamis_disk *d = NULL;

    assert_int_equal(tamis_disk_open(&d, temp_path(), &o), TAMIS_OK);
    return d;
}

static void make_file(const tamis_plan *plan)
{
    tamis *f = new_filter(plan);

    assert_int_equal(tamis_save(f, temp_path()), TAMIS_OK);
    tamis_free(f);
}

static tamis_plan disk_plan(tamis_kind kind, uint64_t keys, unsigned can)
{
    tamis_spec spec = spec_for(keys, can & TAMIS_CAN_GROW ? 0x1p-26 : 0x1p-20, 7);

    spec.can = can;
    return plan_of_spec(kind, spec);
}

static world world_of(tamis_kind kind, size_t n, unsigned can)
{
    world w = { .n = n, .r = rng_for(900 + (uint64_t)kind, n) };

    w.plan = disk_plan(kind, can & TAMIS_CAN_GROW ? 500 : 2 * n, can);
    w.keys = fresh_keys(&w.r, n);
    w.copies = array_of(n, sizeof *w.copies);
    make_file(&w.plan);
    w.d = open_disk(64 << 10);
    return w;
}

static void end(world *w)
{
    tamis_disk_free(w->d);
    unlink(temp_path());
    free(w->keys);
    free(w->copies);
}

static void take(world *w, const uint64_t *keys, size_t n)
{
    size_t added = 0;

    assert_int_equal(tamis_disk_add_many(w->d, &added, keys, n), TAMIS_OK);
    assert_int_equal(added, n);
}

/* ---- What must hold ---------------------------------------------------- */

/* Fingerprints are so long that two keys share one in a hundred runs or fewer. */
static void check(const world *w)
{
    uint64_t *hits = array_of(w->n / 64 + 1, sizeof *hits);
    uint64_t *counts = array_of(w->n, sizeof *counts);
    size_t told = tamis_disk_has_many(w->d, hits, w->keys, w->n), found = 0, more = 0;

    tamis_disk_count_many(w->d, counts, w->keys, w->n);
    for (size_t i = 0; i < w->n; i++) {
        bool hit = hits[i / 64] >> i % 64 & 1;

        found += hit;
        more += counts[i] > w->copies[i];
        assert_true(hit || !w->copies[i]);
        assert_int_equal(hit, counts[i] != 0);
        assert_true(counts[i] >= w->copies[i]);
    }
    assert_int_equal(told, found);
    assert_true(more <= 2);
    free(hits);
    free(counts);
}

static void assert_file_holds(const tamis *f)
{
    tamis *loaded = NULL;

    assert_int_equal(tamis_load(&loaded, temp_path(), NULL), TAMIS_OK);
    assert_true(same_image(loaded, f));
    tamis_free(loaded);
}

/* ---- Operations -------------------------------------------------------- */

enum { BATCH = 700 };

static size_t pick(world *w, size_t *index, uint64_t *keys, bool held)
{
    size_t n = rng_below(&w->r, BATCH + 1), used = 0;

    for (size_t i = 0; i < n; i++) {
        size_t at = rng_below(&w->r, w->n);

        if (held && !w->copies[at])
            continue;
        w->copies[at] -= held;
        index[used] = at;
        keys[used++] = w->keys[at];
    }
    return used;
}

static void op_add(world *w)
{
    size_t index[BATCH], n, added = 99;
    uint64_t keys[BATCH];

    n = pick(w, index, keys, false);
    assert_int_equal(tamis_disk_add_many(w->d, &added, keys, n), TAMIS_OK);
    assert_int_equal(added, n);
    for (size_t i = 0; i < n; i++)
        w->copies[index[i]]++;
    w->total += n;
}

static void op_remove(world *w)
{
    size_t index[BATCH], n;
    uint64_t keys[BATCH];

    n = pick(w, index, keys, true);
    assert_int_equal(tamis_disk_remove_many(w->d, keys, n), TAMIS_OK);
    w->total -= n;
}

static void op_flush(world *w)
{
    assert_int_equal(tamis_disk_flush(w->d), TAMIS_OK);
    assert_int_equal(tamis_disk_file(w->d)->count, w->total);
    assert_true(is_whole(tamis_disk_file(w->d)));
}

static void op_reopen(world *w)
{
    op_flush(w);
    tamis_disk_free(w->d);
    w->d = open_disk((64 << 10) << rng_below(&w->r, 4));
}

static void run(world *w, int steps)
{
    for (int step = 0; step < steps; step++) {
        uint64_t what = rng_below(&w->r, 100);

        snprintf(law_at, sizeof law_at, "step %d, %llu copies", step, (unsigned long long)w->total);
        if (what < 3)
            op_flush(w);
        else if (what < 5)
            op_reopen(w);
        else if (what < 10)
            check(w);
        else if (w->total > w->n || (what < 45 && w->total > w->n / 2))
            op_remove(w);
        else
            op_add(w);
    }
    check(w);
    op_flush(w);
    check(w);
}

/* ---- Laws -------------------------------------------------------------- */

static int steps(void)
{
    return (int)run_size(300, 60, 20000);
}

static void it_holds_what_a_multiset_holds(tamis_kind kind)
{
    world w = world_of(kind, 60000, 0);

    run(&w, steps());
    end(&w);
}

static void it_grows_if_planned_so(tamis_kind kind)
{
    world w = world_of(kind, 60000, TAMIS_CAN_GROW);

    run(&w, steps());
    assert_true(tamis_disk_file(w.d)->plan.slots > w.plan.slots);
    end(&w);
}

/* The file is what a filter in memory would have saved. */
static void it_is_a_filter_like_any_other(tamis_kind kind)
{
    world w = world_of(kind, 30000, 0);
    tamis *f = filter_of(&w.plan, w.keys, w.n);

    for (size_t i = 0; i < w.n; i += 1000)
        take(&w, w.keys + i, 1000);
    assert_int_equal(tamis_disk_flush(w.d), TAMIS_OK);
    assert_file_holds(f);
    tamis_free(f);
    end(&w);
}

/* Whoever removes what was never there does no harm to what comes later. */
static void needless_removals_take_nothing_away(tamis_kind kind)
{
    world w = world_of(kind, 5000, 0);
    uint64_t hits[5000 / 64 + 1];

    assert_int_equal(tamis_disk_remove_many(w.d, w.keys, w.n), TAMIS_OK);
    take(&w, w.keys, w.n);
    assert_int_equal(tamis_disk_has_many(w.d, hits, w.keys, w.n), w.n);
    assert_int_equal(tamis_disk_flush(w.d), TAMIS_OK);
    assert_int_equal(tamis_disk_has_many(w.d, hits, w.keys, w.n), w.n);
    end(&w);
}

static void a_full_filter_takes_no_more(tamis_kind kind)
{
    tamis_plan plan = disk_plan(kind, 20000, 0);
    rng r = rng_for(950, (uint64_t)kind);
    uint64_t *keys = fresh_keys(&r, 40000), hits[40000 / 64 + 1];
    size_t added = 0;

    make_file(&plan);
    tamis_disk *d = open_disk(64 << 10);
    assert_int_equal(tamis_disk_add_many(d, &added, keys, 40000), TAMIS_FULL);
    assert_true(added >= plan.capacity);
    assert_int_equal(tamis_disk_has_many(d, hits, keys, added), added);
    assert_int_equal(tamis_disk_flush(d), TAMIS_OK);
    assert_int_equal(tamis_disk_has_many(d, hits, keys, added), added);
    assert_int_equal(tamis_disk_remove_many(d, keys, 1000), TAMIS_OK);
    assert_int_equal(tamis_disk_add_many(d, &added, keys + 20000, 500), TAMIS_OK);
    tamis_disk_free(d);
    unlink(temp_path());
    free(keys);
}

/* Of a key that is there as often as can be counted, not one more is taken. */
static void counts_do_not_wrap(tamis_kind kind)
{
    tamis_plan plan = disk_plan(kind, 1000, 0);
    tamis *f = new_filter(&plan);
    const uint64_t key = 42;
    uint64_t hit = 0;
    size_t added = 9;

    if (tamis_add_times(f, key, UINT64_MAX) == TAMIS_OK) {
        assert_int_equal(tamis_save(f, temp_path()), TAMIS_OK);
        tamis_disk *d = open_disk(64 << 10);
        assert_int_equal(tamis_disk_add_many(d, &added, &key, 1), TAMIS_RANGE);
        assert_int_equal(added, 0);
        assert_int_equal(tamis_disk_has_many(d, &hit, &key, 1), 1);
        tamis_disk_free(d);
        unlink(temp_path());
    }
    tamis_free(f);
}

/* However much the file may grow, what waits does not. */
static void what_waits_keeps_to_its_memory(tamis_kind kind)
{
    enum { KEYS = 300000 };
    tamis_plan plan = disk_plan(kind, 500, TAMIS_CAN_GROW);
    rng r = rng_for(960, (uint64_t)kind);
    uint64_t *keys = fresh_keys(&r, KEYS);
    size_t added;

    make_file(&plan);
    tamis_disk *d = open_disk(64 << 10);
    assert_int_equal(tamis_disk_add_many(d, &added, keys, KEYS), TAMIS_OK);
    assert_true(tamis_disk_file(d)->count >= KEYS - 40000);
    tamis_disk_free(d);
    unlink(temp_path());
    free(keys);
}

/* What was taken fits, even where a file that grows comes to its end. */
static void all_that_was_taken_can_be_flushed(tamis_kind kind)
{
    tamis_spec spec = spec_for(1000, 0.1, 7);
    rng r = rng_for(970, (uint64_t)kind);
    uint64_t *keys = fresh_keys(&r, 100000);
    size_t added = 0;
    tamis_plan plan;

    spec.can = TAMIS_CAN_GROW;
    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    make_file(&plan);
    tamis_disk *d = open_disk(1 << 20);
    assert_int_equal(tamis_disk_add_many(d, &added, keys, 100000), TAMIS_FULL);
    assert_true(added >= 1000);
    assert_int_equal(tamis_disk_flush(d), TAMIS_OK);
    assert_int_equal(tamis_disk_file(d)->count, added);
    tamis_disk_free(d);
    unlink(temp_path());
    free(keys);
}

/* ---- Crowds ------------------------------------------------------------ */

/* A kind to study looks through a crowd slot by slot: it gets fewer keys. */
static size_t crowd(tamis_kind kind)
{
    bool is_slow = tamis_kind_can(kind) & TAMIS_IS_TO_STUDY;

    return run_size(is_slow ? 10000 : 50000, is_slow ? 4000 : 10000, is_slow ? 50000 : 400000);
}

/* Keys whose hashes start with these bits, as strangers who know the seed would choose them: one
 * part of the filter fills up long before the rest. */
static uint64_t *crowd_of(const tamis_plan *plan, uint64_t stream, unsigned bits)
{
    rng r = rng_for(980 + (uint64_t)plan->kind, stream);
    uint64_t *keys = fresh_keys(&r, crowd(plan->kind)), salt = salt_of_seed(plan->hasher.seed);

    for (size_t i = 0; i < crowd(plan->kind); i++)
        keys[i] = unhash_key(hash_key(keys[i], salt) >> bits, salt);
    return keys;
}

/* Whatever was taken is there after the flush, which does not refuse it. */
static void check_promise(const tamis_plan *plan, const uint64_t *keys, size_t n)
{
    uint64_t *hits = array_of(n / 64 + 1, sizeof *hits);
    size_t piece = 997, total = 0, added = 0;
    tamis_status status = TAMIS_OK;

    make_file(plan);
    tamis_disk *d = open_disk(64 << 10 | crowd(plan->kind) * 5 / 2);
    for (; !status && total < n; total += added)
        status =
            tamis_disk_add_many(d, &added, keys + total, n - total < piece ? n - total : piece);
    assert_true(status == TAMIS_OK || status == TAMIS_FULL);
    assert_int_equal(tamis_disk_has_many(d, hits, keys, total), total);
    assert_int_equal(tamis_disk_flush(d), TAMIS_OK);
    assert_int_equal(tamis_disk_file(d)->count, total);
    assert_true(is_whole(tamis_disk_file(d)));
    assert_int_equal(tamis_disk_has_many(d, hits, keys, total), total);
    tamis_disk_free(d);
    unlink(temp_path());
    free(hits);
}

static void crowds_are_refused_before_the_flush(tamis_kind kind)
{
    tamis_plan plan = disk_plan(kind, crowd(kind) * 5 / 8, 0);

    for (unsigned bits = 0; bits < 4; bits++) {
        uint64_t *keys = crowd_of(&plan, bits, bits);
        check_promise(&plan, keys, crowd(kind));
        free(keys);
    }
}

/* Long counts take several slots each, so that chance spreads them less evenly than keys. */
static void counts_are_refused_before_the_flush(tamis_kind kind)
{
    enum { COPIES = 40 };
    tamis_spec spec = spec_for(crowd(kind) * 7 / 20, 0.2, 7);
    tamis_plan plan;

    assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
    uint64_t *keys = crowd_of(&plan, 9, 1),
             *copies = array_of(crowd(kind) * COPIES, sizeof *copies);
    for (size_t i = 0; i < crowd(kind) * COPIES; i++)
        copies[i] = keys[i / COPIES];
    check_promise(&plan, copies, crowd(kind) * COPIES);
    free(keys);
    free(copies);
}

/* A file that grows does so wherever keys crowd, and as far as fingerprints go. */
static void crowds_make_it_grow(tamis_kind kind)
{
    tamis_spec spec = spec_for(crowd(kind) * 3 / 20, 0.01, 7);
    tamis_plan plan;

    spec.can = TAMIS_CAN_GROW;
    for (unsigned bits = 0; bits < 5; bits++) {
        assert_int_equal(tamis_plan_kind(&plan, kind, &spec), TAMIS_OK);
        uint64_t *keys = crowd_of(&plan, 20 + bits, bits);
        check_promise(&plan, keys, crowd(kind));
        free(keys);
    }
}

/* ---- Refusals ---------------------------------------------------------- */

static bool refuse(void *ctx, uint64_t done, uint64_t total)
{
    assert_true(done <= total);
    return --*(int *)ctx > 0;
}

static void a_flush_that_is_stopped_changes_nothing(tamis_kind kind)
{
    world w = world_of(kind, 3000, 0);
    int patience = 0;
    const tamis_disk_options o =
        TAMIS_DISK_OPTIONS(.memory = 1 << 20, .progress = refuse, .ctx = &patience);
    uint64_t hits[3000 / 64 + 1];

    tamis_disk_free(w.d);
    assert_int_equal(tamis_disk_open(&w.d, temp_path(), &o), TAMIS_OK);
    take(&w, w.keys, w.n);
    assert_int_equal(tamis_disk_flush(w.d), TAMIS_STOPPED);
    assert_int_equal(tamis_disk_file(w.d)->count, 0);
    assert_int_equal(tamis_disk_has_many(w.d, hits, w.keys, w.n), w.n);
    patience = 1 << 20;
    assert_int_equal(tamis_disk_flush(w.d), TAMIS_OK);
    assert_int_equal(tamis_disk_file(w.d)->count, w.n);
    end(&w);
}

static void one_program_at_a_time(tamis_kind kind)
{
    world w = world_of(kind, 100, 0);
    tamis_disk *second = NULL;
    tamis *reader = NULL;

    assert_int_equal(tamis_disk_open(&second, temp_path(), NULL), TAMIS_BUSY);
    assert_null(second);
    assert_int_equal(tamis_load(&reader, temp_path(), NULL), TAMIS_OK);
    tamis_free(reader);
    /* Nor has another the file that a flush puts there. */
    take(&w, w.keys, w.n);
    assert_int_equal(tamis_disk_flush(w.d), TAMIS_OK);
    assert_int_equal(tamis_disk_open(&second, temp_path(), NULL), TAMIS_BUSY);
    end(&w);
}

/* A file that somebody put under the name meanwhile is not overwritten. */
static void a_file_that_was_replaced_stays(tamis_kind kind)
{
    world w = world_of(kind, 100, 0);
    tamis *other = filter_of(&w.plan, w.keys, 7);

    take(&w, w.keys, w.n);
    assert_int_equal(tamis_save(other, temp_path()), TAMIS_OK);
    assert_int_equal(tamis_disk_flush(w.d), TAMIS_BUSY);
    assert_file_holds(other);
    tamis_free(other);
    end(&w);
}

static void damage_is_not_copied(tamis_kind kind)
{
    world w = world_of(kind, 3000, 0);
    uint8_t byte = 0xa5;
    int fd = open(temp_path(), O_WRONLY);

    take(&w, w.keys, w.n);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)tamis_image_size(tamis_disk_file(w.d)) / 2), 1);
    assert_int_equal(tamis_disk_flush(w.d), TAMIS_CORRUPT);
    close(fd);
    end(&w);
}

static void scribble(int fd, uint8_t *kept, size_t size, off_t at)
{
    rng r = rng_for(990, size);
    uint8_t byte[1];

    assert_int_equal(pread(fd, kept, size, at), (ssize_t)size);
    for (size_t i = 0; i < size; i++) {
        byte[0] = (uint8_t)rng_next(&r);
        assert_int_equal(pwrite(fd, byte, 1, at + (off_t)i), 1);
    }
}

/* What it has written itself is not checked again, yet may have been changed by others since: then
 * it is told by the order of what is read. */
static void later_damage_is_not_copied(tamis_kind kind)
{
    enum { BYTES = 2000 };
    world w = world_of(kind, 3000, 0);
    uint8_t kept[BYTES];

    take(&w, w.keys, w.n / 2);
    assert_int_equal(tamis_disk_flush(w.d), TAMIS_OK);
    take(&w, w.keys + w.n / 2, w.n / 2);
    int fd = open(temp_path(), O_RDWR);
    off_t middle = (off_t)tamis_image_size(tamis_disk_file(w.d)) / 2;
    scribble(fd, kept, BYTES, middle);
    assert_int_equal(tamis_disk_flush(w.d), TAMIS_CORRUPT);
    assert_int_equal(pwrite(fd, kept, BYTES, middle), BYTES);
    assert_int_equal(tamis_disk_flush(w.d), TAMIS_OK);
    assert_int_equal(tamis_disk_file(w.d)->count, w.n);
    assert_true(is_whole(tamis_disk_file(w.d)));
    close(fd);
    end(&w);
}

static void other_kinds_are_refused(tamis_kind kind)
{
    tamis_plan plan = plan_for(kind, 100, 0.01, 1);
    tamis *f = filter_of(&plan, NULL, 0);
    tamis_disk *d = NULL;

    assert_int_equal(tamis_save(f, temp_path()), TAMIS_OK);
    assert_int_equal(tamis_disk_open(&d, temp_path(), NULL), TAMIS_CANNOT);
    assert_null(d);
    tamis_free(f);
    unlink(temp_path());
}

static void bad_wishes_are_refused(tamis_kind kind)
{
    const tamis_disk_options little = TAMIS_DISK_OPTIONS(.memory = 1000);
    tamis_plan plan = plan_for(kind, 100, 0.01, 1);
    tamis_disk *d = NULL;

    assert_int_equal(tamis_disk_open(&d, "/nowhere/at/all.tamis", NULL), TAMIS_IO);
    make_file(&plan);
    assert_int_equal(tamis_disk_open(&d, temp_path(), &little), TAMIS_NOMEM);
    assert_null(d);
    unlink(temp_path());
    tamis_disk_free(NULL);
}

/* Kinds that can be on a disk. */
#define DISK .can = TAMIS_CAN_RESIZE | TAMIS_CAN_ADD | TAMIS_CAN_REMOVE, .cannot = TAMIS_CAN_ADAPT

int main(int argc, char **argv)
{
    const law laws[] = {
        { "it holds what a multiset holds", it_holds_what_a_multiset_holds, DISK },
        { "it grows if planned so", it_grows_if_planned_so, DISK },
        { "it is a filter like any other", it_is_a_filter_like_any_other, DISK },
        { "needless removals take nothing away", needless_removals_take_nothing_away, DISK },
        { "a full filter takes no more", a_full_filter_takes_no_more, DISK },
        { "counts do not wrap", counts_do_not_wrap, DISK },
        { "what waits keeps to its memory", what_waits_keeps_to_its_memory, DISK },
        { "all that was taken can be flushed", all_that_was_taken_can_be_flushed, DISK },
        { "crowds are refused before the flush", crowds_are_refused_before_the_flush, DISK },
        { "counts are refused before the flush", counts_are_refused_before_the_flush, DISK },
        { "crowds make it grow", crowds_make_it_grow, DISK },
        { "a flush that is stopped changes nothing", a_flush_that_is_stopped_changes_nothing,
          DISK },
        { "one program at a time", one_program_at_a_time, DISK },
        { "a file that was replaced stays", a_file_that_was_replaced_stays, DISK },
        { "damage is not copied", damage_is_not_copied, DISK },
        { "later damage is not copied", later_damage_is_not_copied, DISK },
        { "other kinds are refused", other_kinds_are_refused, .cannot = TAMIS_CAN_RESIZE },
        { "other kinds are refused", other_kinds_are_refused, .can = TAMIS_CAN_ADAPT },
        { "bad wishes are refused", bad_wishes_are_refused, DISK },
    };

    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
