/* builder.c - a builder makes, byte for byte, what tamis_build() makes of the same keys and plan
 * (but for kinds that rearrange their slots, which only answer alike):
 * in memory or by a file, on any number of threads, in any order, with any number of repeats; and
 * whatever stops it, nothing is lost and nothing is left behind. */
#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "kinds.h"
#include "tamis_builder.h"

static bool adds(tamis_kind kind)
{
    return tamis_kind_can(kind) & TAMIS_CAN_ADD;
}

/* ---- Sets -------------------------------------------------------------- */

typedef struct set {
    uint64_t *keys;
    size_t n, distinct;
    uint64_t above; /* the largest key, plus one */
} set;

/* `n` keys, of which `distinct` differ: each of them comes once, then some again. */
static set set_of(tamis_kind kind, uint64_t round, size_t distinct, size_t n)
{
    rng r = rng_for(4000 + (uint64_t)kind, round);
    set s = { array_of(n, sizeof *s.keys), n, distinct, 0 };
    const bool in_order = is_indexed(kind);

    for (size_t i = 0; i < n; i++) {
        uint64_t key = in_order ? i : rng_next(&r);
        s.keys[i] = i < distinct ? key : s.keys[rng_below(&r, distinct)];
        s.above = s.keys[i] >= s.above ? s.keys[i] + 1 : s.above;
    }
    shuffle(&r, s.keys, n);
    return s;
}

/* The plan that the header promises; `announced` may be 0. */
static tamis_plan promised_plan(tamis_kind kind, const set *s, uint64_t announced)
{
    uint64_t keys = s->distinct > announced ? s->distinct : announced;

    if (adds(kind) && announced)
        keys = announced;
    else if (adds(kind))
        keys = is_indexed(kind)                            ? s->above
               : has_trait(kind, TAMIS_TRAIT_KEEPS_COPIES) ? s->n
                                                           : s->distinct;
    return plan_for(kind, keys ? keys : 1, 0.01, 5);
}

/* Where copies take room that no plan for distinct keys has, a quarter more is tried, up to all. */
static tamis *promised(tamis_kind kind, const set *s, uint64_t announced)
{
    tamis_plan plan = promised_plan(kind, s, announced);
    tamis *f = NULL;
    tamis_status status = tamis_build(&f, &plan, s->keys, s->n, NULL);

    while (status == TAMIS_FULL && !announced && plan.capacity < s->n) {
        uint64_t more = plan.capacity + plan.capacity / 4 + 1;
        plan = plan_for(kind, more < s->n ? more : s->n, 0.01, 5);
        status = tamis_build(&f, &plan, s->keys, s->n, NULL);
    }
    assert_int_equal(status, TAMIS_OK);
    return f;
}

/* ---- Builders ---------------------------------------------------------- */

static tamis_builder *new_builder(tamis_kind kind, uint64_t announced, const tamis_build_options *o)
{
    tamis_spec spec = spec_for(announced, 0.01, 5);
    tamis_builder *b = NULL;

    assert_int_equal(tamis_builder_new(&b, kind, &spec, o), TAMIS_OK);
    return b;
}

/* In pieces of uneven length, one key and none among them. */
static tamis_status feed(tamis_builder *b, const set *s)
{
    tamis_status status = TAMIS_OK;

    for (size_t at = 0, piece = 0; at < s->n && !status; at += piece) {
        piece = at % 3001 < s->n - at ? at % 3001 : s->n - at;
        status = tamis_builder_add_many(b, s->keys + at, piece);
        piece = piece ? piece : 1;
        if (!status && at % 3001 == 0)
            status = tamis_builder_add_many(b, s->keys + at, 1);
    }
    return status;
}

static tamis *finished(tamis_builder *b)
{
    tamis *f = NULL;

    assert_int_equal(tamis_builder_finish(&f, b), TAMIS_OK);
    tamis_builder_free(b);
    return f;
}

static tamis *saved(tamis_builder *b)
{
    tamis_plan plan;
    tamis *f = NULL;

    assert_int_equal(tamis_builder_save(b, temp_path(), &plan), TAMIS_OK);
    tamis_builder_free(b);
    assert_int_equal(tamis_load(&f, temp_path(), NULL), TAMIS_OK);
    assert_memory_equal(&plan, tamis_plan_of(f), sizeof plan);
    unlink(temp_path());
    return f;
}

/* The bytes, or, where they depend on which keys were added together, what is answered. */
static bool is_as_promised(const tamis *f, const tamis *expected, const set *s)
{
    if (!rearranges(f->plan.kind))
        return same_image(f, expected);
    for (size_t i = 0; i < s->n; i++)
        if (tamis_count(f, s->keys[i]) != tamis_count(expected, s->keys[i]))
            return false;
    return is_whole(f) && info_of(f).count == info_of(expected).count;
}

static void check_both(tamis_kind kind, const set *s, uint64_t announced,
                       const tamis_build_options *o)
{
    tamis *expected = promised(kind, s, announced);

    for (int save = 0; save <= 1; save++) {
        tamis_builder *b = new_builder(kind, announced, o);

        snprintf(law_at, sizeof law_at,
                 "%zu keys, %zu distinct, %llu announced, %llu bytes, %u threads, saved: %d", s->n,
                 s->distinct, (unsigned long long)announced, (unsigned long long)o->memory,
                 o->threads, save);
        assert_int_equal(feed(b, s), TAMIS_OK);
        tamis *f = save ? saved(b) : finished(b);
        assert_true(is_as_promised(f, expected, s));
        assert_true(is_whole(f));
        tamis_free(f);
    }
    tamis_free(expected);
}

/* ---- Equality ---------------------------------------------------------- */

static void a_builder_makes_what_build_makes(tamis_kind kind)
{
    const size_t sizes[] = { 0, 1, 2, 3, 100, 511, 512, 513, 6000 };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned threads = 0; threads <= 3; threads += 3) {
            const tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = threads);
            size_t n = sizes[i];
            set s = set_of(kind, i, n, n);

            check_both(kind, &s, 0, &o);
            check_both(kind, &s, n + n / 2 + 1, &o);
            free(s.keys);
        }
}

static void repeated_keys_count_once(tamis_kind kind)
{
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = 2);
    const size_t distinct[] = { 1, 2, 3000 };
    /* A table that has a slot for each copy goes past all of them for the next. */
    const size_t n = run_size(10000, 4000, 10000);

    for (size_t i = 0; i < 3; i++) {
        set s = set_of(kind, 20 + i, distinct[i], n);

        if (has_trait(kind, TAMIS_TRAIT_BUILDS_SETS)) {
            tamis *f = promised(kind, &s, 0);
            assert_int_equal(info_of(f).count, distinct[i]);
            tamis_free(f);
        }
        check_both(kind, &s, 0, &o);
        check_both(kind, &s, n, &o);
        free(s.keys);
    }
}

static void more_keys_than_announced_do_not_fit(tamis_kind kind)
{
    set s = set_of(kind, 31, 5000, 5000);

    for (int grows = 0; grows <= (tamis_kind_can(kind) & TAMIS_CAN_GROW ? 1 : 0); grows++) {
        tamis_spec spec = spec_for(100, 1e-6, 5);
        tamis_builder *b = NULL;
        tamis *f = NULL;

        spec.can = grows ? TAMIS_CAN_GROW : 0;
        assert_int_equal(tamis_builder_new(&b, kind, &spec, NULL), TAMIS_OK);
        tamis_status status = feed(b, &s);
        assert_int_equal(status ? status : tamis_builder_finish(&f, b),
                         grows ? TAMIS_OK : TAMIS_FULL);
        for (size_t i = 0; i < s.n && f; i++)
            assert_true(tamis_has(f, s.keys[i]));
        tamis_builder_free(b);
        tamis_free(f);
    }
    free(s.keys);
}

/* Static kinds make room for what came; others keep to the plan, or are full. */
static void more_keys_than_announced(tamis_kind kind)
{
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.threads = 2);
    set s = set_of(kind, 30, 5000, 5000);

    if (has_trait(kind, TAMIS_TRAIT_BUILDS_SETS) || counts_very_keys(kind))
        more_keys_than_announced_do_not_fit(kind);
    else
        check_both(kind, &s, 100, &o);
    free(s.keys);
}

/* Less than twice the memory that the keys take, so that they do not wait there; or, of filters
 * that take as much as that, the least that the header promises to be enough. Kinds that add have
 * room for the filter all the same; others have it because most keys are repeated. */
static void keys_that_do_not_fit_go_to_a_file(tamis_kind kind)
{
    const size_t n = run_size(280000, 280000, 700000), distinct = adds(kind) ? n : n / 4;
    /* A table that has a slot for each copy is no place for so many of one key. */
    const size_t few = tamis_kind_can(kind) & (TAMIS_CAN_COUNT | TAMIS_CAN_REMOVE) ? n / 50 : 1;
    set s = set_of(kind, 40, distinct, n), same = set_of(kind, 41, few, n);
    const uint64_t filter = adds(kind) ? plan_for(kind, n + 10000, 0.01, 5).bytes : 0;
    const uint64_t least = filter + (1 << 20), memory = least > 15 * n ? least : 15 * n;

    for (unsigned threads = is_sanitized() ? 4 : 1; threads <= 4; threads += 3) {
        const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = memory, .threads = threads);

        check_both(kind, &s, 0, &o);
        if (threads == 1 && !is_long_run())
            continue;
        check_both(kind, &same, 0, &o);
        check_both(kind, &s, distinct + 10000, &o);
    }
    free(s.keys);
    free(same.keys);
}

static tamis *built_within(tamis_kind kind, const set *s, double fpr, uint64_t memory, bool save)
{
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = memory);
    tamis_spec spec = spec_for(0, fpr, 5);
    tamis_builder *b = NULL;

    assert_int_equal(tamis_builder_new(&b, kind, &spec, &o), TAMIS_OK);
    assert_int_equal(feed(b, s), TAMIS_OK);
    return save ? saved(b) : finished(b);
}

static void check_within(tamis_kind kind, const set *s, double fpr, uint64_t memory)
{
    tamis *expected = built_within(kind, s, fpr, 0, false);

    for (int save = 0; save <= 1; save++) {
        tamis *f = built_within(kind, s, fpr, memory, save);
        assert_true(is_as_promised(f, expected, s));
        tamis_free(f);
    }
    tamis_free(expected);
}

/* One key comes so often that its copies alone take twice the memory. */
static void a_hot_key_takes_no_memory(tamis_kind kind)
{
    const size_t copies = (8 << 20) / sizeof(uint64_t);
    set s = set_of(kind, 42, 1000, copies + 1000);

    /* A table that has a slot for each copy takes more than that itself. */
    if (!has_trait(kind, TAMIS_TRAIT_KEEPS_COPIES)) {
        for (size_t i = 0; i < s.n; i++)
            s.keys[i] = i % 1024 ? s.keys[0] : s.keys[i];
        check_within(kind, &s, 0.01, 4 << 20);
    }
    free(s.keys);
}

/* Beside a filter with long fingerprints and the buffers of the file, 1 MiB, there is less room
 * than one 256th of the keys takes. */
static void any_number_of_keys_fits_beside_the_filter(tamis_kind kind)
{
    set s = set_of(kind, 43, 1000000, 1000000);
    const uint64_t filter = plan_for(kind, s.n, 1e-9, 5).bytes;

    check_within(kind, &s, 1e-9, filter + (1 << 20) + (28 << 10));
    free(s.keys);
}

/* ---- What stops it ----------------------------------------------------- */

typedef struct patience {
    uint64_t calls, left, last, total;
} patience;

static bool wait_patiently(void *ctx, uint64_t done, uint64_t total)
{
    patience *p = ctx;

    assert_true(done >= p->last && total >= p->total && done <= total);
    p->last = done;
    p->total = total;
    p->calls++;
    return p->left-- > 0;
}

/* Stopped at each moment in turn, then let through: the same filter, and the old file until then.
 */
static void a_builder_that_was_stopped_goes_on(tamis_kind kind)
{
    set s = set_of(kind, 50, 16000, 20000);
    tamis *expected = promised(kind, &s, 0), *f = NULL;
    patience p = { 0 };
    const tamis_build_options o =
        TAMIS_BUILD_OPTIONS(.threads = 2, .progress = wait_patiently, .ctx = &p);
    tamis_builder *b = new_builder(kind, 0, &o);
    tamis_status status;

    assert_int_equal(feed(b, &s), TAMIS_OK);
    uint64_t stops = 0;
    for (;; stops++) {
        p = (patience){ .left = stops };
        status = stops % 2 ? tamis_builder_save(b, temp_path(), NULL) : tamis_builder_finish(&f, b);
        if (status != TAMIS_STOPPED)
            break;
        assert_null(f);
        assert_int_equal(access(temp_path(), F_OK), -1);
    }
    assert_int_equal(status, TAMIS_OK);
    assert_true(stops > 0);
    assert_int_equal(p.last, p.total);
    if (!f) {
        assert_int_equal(tamis_load(&f, temp_path(), NULL), TAMIS_OK);
        unlink(temp_path());
    }
    assert_true(is_as_promised(f, expected, &s));
    tamis_builder_free(b);
    tamis_free(f);
    tamis_free(expected);
    free(s.keys);
}

/* Copies of keys may take more room than was planned: then the work starts again. */
static void progress_never_falls(tamis_kind kind)
{
    for (size_t distinct = 250; distinct <= 16000; distinct *= 4) {
        set s = set_of(kind, 51, distinct, 20000);
        patience p = { .left = UINT64_MAX };
        const tamis_build_options o =
            TAMIS_BUILD_OPTIONS(.threads = 2, .progress = wait_patiently, .ctx = &p);
        tamis_builder *b = new_builder(kind, 0, &o);

        assert_int_equal(feed(b, &s), TAMIS_OK);
        tamis_free(finished(b));
        assert_true(p.calls > 0);
        assert_int_equal(p.last, p.total);
        free(s.keys);
    }
}

static void keys_may_come_after_a_failure(tamis_kind kind)
{
    set s = set_of(kind, 60, 3000, 3000), first = s;
    tamis *expected = promised(kind, &s, 0);
    tamis_builder *b = new_builder(kind, 0, NULL);

    first.n = 1000;
    assert_int_equal(feed(b, &first), TAMIS_OK);
    assert_int_equal(tamis_builder_save(b, "/nowhere/at/all.tamis", NULL), TAMIS_IO);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(tamis_builder_add_many(b, s.keys + 1000, 2000), TAMIS_OK);
    tamis *f = finished(b);
    assert_true(is_as_promised(f, expected, &s));
    tamis_free(f);
    tamis_free(expected);
    free(s.keys);
}

static void a_spent_builder_is_of_no_use(tamis_kind kind)
{
    const uint64_t key = 1;
    tamis_builder *b = new_builder(kind, 10, NULL);
    tamis *f = NULL, *none = NULL;

    assert_int_equal(tamis_builder_add_many(b, &key, 1), TAMIS_OK);
    assert_int_equal(tamis_builder_finish(&f, b), TAMIS_OK);
    assert_int_equal(tamis_builder_add_many(b, &key, 1), TAMIS_CANNOT);
    assert_int_equal(tamis_builder_finish(&none, b), TAMIS_CANNOT);
    assert_int_equal(tamis_builder_save(b, temp_path(), NULL), TAMIS_CANNOT);
    assert_null(none);
    assert_true(tamis_has(f, key));
    tamis_builder_free(b);
    tamis_free(f);
}

/* A limit on file sizes stands for a full disk: a page of it is written, then no more. */
static void a_full_disk_is_told(tamis_kind kind)
{
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = 4 << 20);
    set s = set_of(kind, 70, 400000, 400000);
    struct rlimit before, low;
    tamis_builder *b = new_builder(kind, 0, &o);
    tamis *f = NULL;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    low = (struct rlimit){ 1 << 20, before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    tamis_status status = feed(b, &s);
    int error = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, TAMIS_IO);
    assert_int_equal(error, EFBIG);
    /* Half of the keys are no set, for the reason that was told. */
    errno = 0;
    assert_int_equal(tamis_builder_finish(&f, b), TAMIS_IO);
    assert_int_equal(errno, EFBIG);
    errno = 0;
    assert_int_equal(tamis_builder_save(b, temp_path(), NULL), TAMIS_IO);
    assert_int_equal(errno, EFBIG);
    errno = 0;
    assert_int_equal(feed(b, &s), TAMIS_IO);
    assert_int_equal(errno, EFBIG);
    assert_int_equal(access(temp_path(), F_OK), -1);
    tamis_builder_free(b);
    free(s.keys);
}

static void a_missing_folder_is_told(tamis_kind kind)
{
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = 4 << 20, .dir = "/nowhere/at/all");
    set s = set_of(kind, 80, 400000, 400000);
    tamis_builder *b = new_builder(kind, 0, &o);

    assert_int_equal(feed(b, &s), TAMIS_IO);
    assert_int_equal(errno, ENOENT);
    tamis_builder_free(b);
    free(s.keys);
}

static size_t files_in(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* Neither while keys wait there nor after. */
static void the_file_has_no_name(tamis_kind kind)
{
    const char *dir = temp_path();
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = 4 << 20, .dir = dir);
    set s = set_of(kind, 90, 400000, 400000);
    size_t open_before = files_in("/proc/self/fd");

    rmdir(dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    tamis_builder *b = new_builder(kind, 0, &o);
    assert_int_equal(feed(b, &s), TAMIS_OK);
    assert_int_equal(files_in("/proc/self/fd"), open_before + 1);
    assert_int_equal(files_in(dir), 2);
    tamis_builder_free(b);
    assert_int_equal(files_in("/proc/self/fd"), open_before);
    assert_int_equal(rmdir(dir), 0);
    free(s.keys);
}

/* ---- Memory ------------------------------------------------------------ */

static uint64_t address_space(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu", &pages), 1);
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* One attempt, with no more than `more` bytes of addresses besides those in use. */
static tamis_status build_within(tamis_kind kind, const set *s, uint64_t more, tamis **out)
{
    const tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = 4 << 20);
    tamis_spec spec = spec_for(0, 0.01, 5);
    struct rlimit before, low;
    tamis_builder *b = NULL;

    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    low = (struct rlimit){ address_space() + more, before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_AS, &low), 0);
    tamis_status status = tamis_builder_new(&b, kind, &spec, &o);
    if (!status)
        status = feed(b, s);
    if (!status)
        status = tamis_builder_finish(out, b);
    tamis_builder_free(b);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    return status;
}

static void memory_that_is_refused_is_told(tamis_kind kind)
{
    /* A sanitizer needs terabytes of addresses for itself. */
    if (is_sanitized())
        skip();
    set s = set_of(kind, 100, 20000, is_sketch(kind) ? 40000 : 300000);
    tamis *expected = promised(kind, &s, 0), *f = NULL;
    uint64_t more = 0, step = expected->plan.bytes / 16 + (64 << 10);
    tamis_status status;

    while ((status = build_within(kind, &s, more, &f)) == TAMIS_NOMEM) {
        assert_null(f);
        more += step;
    }
    assert_int_equal(status, TAMIS_OK);
    assert_true(more > 0);
    assert_true(is_as_promised(f, expected, &s));
    tamis_free(f);
    tamis_free(expected);
    free(s.keys);
}

/* What does not fit in the memory allowed is refused, and fits in more. Ordered kinds need none of
 * the filter in memory if it is saved. */
static void too_little_memory_is_told(tamis_kind kind)
{
    set s = set_of(kind, 110, 1600000, 1600000);
    tamis_spec spec = spec_for(0, 1e-6, 5);
    tamis_build_options o = TAMIS_BUILD_OPTIONS(.memory = 1);
    tamis_builder *b = NULL;

    assert_int_equal(tamis_builder_new(&b, kind, &spec, &o), TAMIS_NOMEM);
    assert_null(b);
    if (!is_indexed(kind)) {
        o.memory = 4 << 20;
        assert_int_equal(tamis_builder_new(&b, kind, &spec, &o), TAMIS_OK);
        assert_int_equal(feed(b, &s), TAMIS_OK);
        if (tamis_kind_can(kind) & TAMIS_CAN_RESIZE) {
            tamis *f = NULL;
            assert_int_equal(tamis_builder_finish(&f, b), TAMIS_NOMEM);
            tamis_free(saved(b));
        } else {
            assert_int_equal(tamis_builder_save(b, temp_path(), NULL), TAMIS_NOMEM);
            assert_int_equal(access(temp_path(), F_OK), -1);
            tamis_builder_free(b);
        }
    }
    free(s.keys);
}

/* ---- Arguments --------------------------------------------------------- */

static void bad_wishes_are_refused_at_once(tamis_kind kind)
{
    tamis_spec spec = spec_for(0, 0.01, 5);
    tamis_builder *b = NULL;

    assert_int_equal(tamis_builder_new(&b, TAMIS_NO_KIND, &spec, NULL), TAMIS_RANGE);
    spec.fpr = 2;
    assert_int_equal(tamis_builder_new(&b, kind, &spec, NULL), TAMIS_RANGE);
    spec.fpr = 0.01;
    spec.can = UINT32_MAX;
    assert_int_equal(tamis_builder_new(&b, kind, &spec, NULL), TAMIS_CANNOT);
    assert_null(b);
    tamis_builder_free(NULL);
}

/* As many keys as fit; more bytes than that are refused when the keys are known. */
static void a_limit_on_bytes_is_kept(tamis_kind kind)
{
    const uint64_t most = 32768; /* enough for kinds that hold each key and its count */
    tamis_spec spec = spec_for(0, 0, 5);
    tamis_builder *b = NULL;
    set s = set_of(kind, 120, 1000, 1000);

    spec.max_bytes = most;
    assert_int_equal(tamis_builder_new(&b, kind, &spec, NULL), TAMIS_OK);
    assert_int_equal(feed(b, &s), TAMIS_OK);
    tamis *f = finished(b);
    assert_true(tamis_plan_of(f)->bytes <= most);
    for (size_t i = 0; i < s.n; i++)
        assert_true(tamis_has(f, s.keys[i]));
    tamis_free(f);
    spec.fpr = 0.001;
    spec.max_bytes = 64;
    b = NULL;
    if (tamis_builder_new(&b, kind, &spec, NULL) == TAMIS_OK) {
        assert_int_equal(feed(b, &s), TAMIS_OK);
        assert_int_equal(tamis_builder_finish(&f, b), TAMIS_RANGE);
        tamis_builder_free(b);
    }
    free(s.keys);
}

int main(int argc, char **argv)
{
    const law laws[] = {
        { "a builder makes what build makes", a_builder_makes_what_build_makes,
          .can = TAMIS_CAN_BUILD },
        { "repeated keys count once", repeated_keys_count_once, .can = TAMIS_CAN_BUILD },
        { "more keys than announced", more_keys_than_announced,
          .cannot = TAMIS_IS_EXACT | TAMIS_IS_INDEXED | TAMIS_CAN_RESIZE },
        { "more keys than announced do not fit", more_keys_than_announced_do_not_fit,
          .can = TAMIS_CAN_RESIZE },
        { "keys that do not fit go to a file", keys_that_do_not_fit_go_to_a_file,
          .can = TAMIS_CAN_BUILD, .of_files = true },
        { "a hot key takes no memory", a_hot_key_takes_no_memory, .can = TAMIS_CAN_BUILD,
          .of_files = true },
        { "any number of keys fits beside the filter", any_number_of_keys_fits_beside_the_filter,
          .can = TAMIS_CAN_BUILD | TAMIS_CAN_RESIZE },
        { "a builder that was stopped goes on", a_builder_that_was_stopped_goes_on,
          .can = TAMIS_CAN_BUILD, .of_files = true },
        { "progress never falls", progress_never_falls, .can = TAMIS_CAN_BUILD | TAMIS_CAN_RESIZE },
        { "keys may come after a failure", keys_may_come_after_a_failure, .can = TAMIS_CAN_BUILD },
        { "a spent builder is of no use", a_spent_builder_is_of_no_use, .can = TAMIS_CAN_BUILD },
        { "a full disk is told", a_full_disk_is_told, .can = TAMIS_CAN_BUILD, .of_files = true },
        { "a missing folder is told", a_missing_folder_is_told, .can = TAMIS_CAN_BUILD,
          .of_files = true },
        { "the file has no name", the_file_has_no_name, .can = TAMIS_CAN_BUILD, .of_files = true },
        { "memory that is refused is told", memory_that_is_refused_is_told, .can = TAMIS_CAN_BUILD,
          .of_files = true },
        { "too little memory is told", too_little_memory_is_told, .can = TAMIS_CAN_BUILD,
          .of_files = true },
        { "bad wishes are refused at once", bad_wishes_are_refused_at_once,
          .can = TAMIS_CAN_BUILD },
        { "a limit on bytes is kept", a_limit_on_bytes_is_kept, .can = TAMIS_CAN_BUILD },
    };

    /* What a law has freed is no room for the next: large blocks go back to the system. */
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    test_begin(argc, argv);
    return check_laws(laws, sizeof laws / sizeof *laws);
}
