/* collection: many named filters in one file. What is put in comes out, readers keep what they
 * opened, damage stays where it is, and a look-up reads two pages and those of its filter. */
#include "os/collection.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/le.h"
#include "kinds.h"
#include "limited_allocator.h"

/* ---- Collections to work with ------------------------------------------ */

static const char *const PATH = "collection.tmp";

static tamis_editor *edit(unsigned flags)
{
    tamis_editor *e = NULL;

    assert_int_equal(tamis_editor_open(&e, PATH, flags, NULL), TAMIS_OK);
    return e;
}

static void save(tamis_editor *e)
{
    assert_int_equal(tamis_editor_save(e), TAMIS_OK);
    tamis_editor_free(e);
}

static tamis_collection *opened(void)
{
    tamis_collection *c = NULL;

    assert_int_equal(tamis_collection_open(&c, PATH, NULL), TAMIS_OK);
    return c;
}

static tamis *got(const tamis_collection *c, const char *name)
{
    tamis *f = NULL;

    assert_int_equal(tamis_collection_get(c, &f, name, NULL), TAMIS_OK);
    return f;
}

static tamis_collection_info info_of_collection(const tamis_collection *c)
{
    tamis_collection_info info;

    assert_int_equal(tamis_collection_get_info(c, &info), TAMIS_OK);
    return info;
}

/* Holds the numbers below n, and is told by its kind. */
static tamis *numbers(tamis_kind kind, uint64_t n)
{
    uint64_t *keys = array_of(n, sizeof *keys);
    tamis_plan plan = plan_for(kind, n, 0.01, 0);
    tamis *f = NULL;

    for (uint64_t i = 0; i < n; i++)
        keys[i] = i;
    assert_int_equal(tamis_build(&f, &plan, keys, n, NULL), TAMIS_OK);
    free(keys);
    return f;
}

static void put(tamis_editor *e, const char *name, tamis *f)
{
    assert_int_equal(tamis_editor_put(e, name, f), TAMIS_OK);
    tamis_free(f);
}

/* One filter of each kind that is made from keys, by its name. */
static void make_zoo(void)
{
    tamis_editor *e;

    unlink(PATH);
    e = edit(0);
    for (tamis_kind k = first_plain(); k; k = next_plain(k))
        put(e, tamis_kind_name(k), numbers(k, 500 + k));
    save(e);
}

static void assert_is_whole(const tamis_collection *c)
{
    assert_int_equal(tamis_collection_verify(c, NULL, NULL), TAMIS_OK);
}

/* ---- What is put in comes out ------------------------------------------ */

static void filters_come_out(void **state)
{
    uint64_t n = 0;

    (void)state;
    make_zoo();
    tamis_collection *c = opened();
    for (tamis_kind k = first_plain(); k; k = next_plain(k), n++) {
        tamis *f = got(c, tamis_kind_name(k)), *g = numbers(k, 500 + k);

        assert_true(same_image(f, g));
        assert_true(is_whole(f));
        for (uint64_t key = 0; key < 500; key++)
            assert_true(tamis_has(f, key));
        assert_int_equal(tamis_add(f, 1),
                         is_exact(k) || g->ops.add ? TAMIS_READONLY : TAMIS_CANNOT);
        tamis_free(f);
        tamis_free(g);
    }
    uint64_t offset = 7, size = 7;
    tamis *none = NULL;
    assert_int_equal(tamis_collection_find(c, &offset, &size, "okapi"), TAMIS_ABSENT);
    assert_true(offset == 7 && size == 7);
    assert_int_equal(tamis_collection_find(c, &offset, &size, "fuse"), TAMIS_OK);
    assert_int_equal(tamis_image_view(&none, c->map + offset, (size_t)size, NULL), TAMIS_OK);
    tamis_free(none);
    none = NULL;
    assert_int_equal(tamis_collection_get(c, &none, "okapi", NULL), TAMIS_ABSENT);
    assert_int_equal(tamis_collection_get(c, &none, "", NULL), TAMIS_ABSENT);
    assert_null(none);
    assert_int_equal(info_of_collection(c).filters, n);
    assert_is_whole(c);
    tamis_collection_free(c);
}

static bool count_names(void *ctx, const char *name, uint64_t offset, uint64_t size)
{
    tamis_kind kind;

    assert_true(tamis_kind_find(&kind, name));
    assert_true(offset % 64 == 0 && size > 256);
    return ++*(int *)ctx != 5;
}

static void names_are_listed(void **state)
{
    int n = 5, first = 0;

    (void)state;
    make_zoo();
    tamis_collection *c = opened();
    assert_int_equal(tamis_collection_list(c, count_names, &n), TAMIS_OK);
    assert_int_equal(n - 5, info_of_collection(c).filters);
    assert_int_equal(tamis_collection_list(c, count_names, &first), TAMIS_OK);
    assert_int_equal(first, 5);
    tamis_collection_free(c);
}

static void an_empty_one_is_one(void **state)
{
    tamis *none = NULL;

    (void)state;
    unlink(PATH);
    save(edit(0));
    tamis_collection *c = opened();
    assert_int_equal(info_of_collection(c).filters, 0);
    assert_int_equal(tamis_collection_get(c, &none, "x", NULL), TAMIS_ABSENT);
    assert_is_whole(c);
    tamis_collection_free(c);
}

static void same_changes_same_bytes(void **state)
{
    struct stat st;

    (void)state;
    make_zoo();
    assert_int_equal(stat(PATH, &st), 0);
    uint8_t *before = array_of((size_t)st.st_size, 1), *after = array_of((size_t)st.st_size, 1);
    int fd = open(PATH, O_RDONLY);
    assert_int_equal(pread(fd, before, (size_t)st.st_size, 0), st.st_size);
    close(fd);
    make_zoo();
    fd = open(PATH, O_RDONLY);
    assert_int_equal(pread(fd, after, (size_t)st.st_size, 0), st.st_size);
    assert_memory_equal(before, after, (size_t)st.st_size);
    close(fd);
    free(before);
    free(after);
}

/* ---- Names ------------------------------------------------------------- */

static void names_are_text(void **state)
{
    const char *const bad[] = { "", "a\nb", "a\tb", "\x7f", "\xff", "\xc3", "\xc2\x85" };
    const char *const good[] = { "a:b", "dir/file.parquet", "caf\xc3\xa9", " ", ".", "..", "-" };
    char longest[TAMIS_NAME_MAX + 2];
    tamis *f = numbers(TAMIS_BLOOM, 10);

    (void)state;
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    unlink(PATH);
    tamis_editor *e = edit(0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(tamis_editor_put(e, bad[i], f), TAMIS_RANGE);
    assert_int_equal(tamis_editor_put(e, longest, f), TAMIS_RANGE);
    assert_int_equal(tamis_editor_remove(e, longest), TAMIS_ABSENT);
    longest[TAMIS_NAME_MAX] = '\0';
    assert_int_equal(tamis_editor_put(e, longest, f), TAMIS_OK);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(tamis_editor_put(e, good[i], f), TAMIS_OK);
    save(e);
    tamis_collection *c = opened();
    tamis_free(got(c, longest));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        tamis_free(got(c, good[i]));
    assert_is_whole(c);
    tamis_collection_free(c);
    tamis_free(f);
}

/* ---- Changes ----------------------------------------------------------- */

/* A reader that opened before. */
static void assert_zoo(const tamis_collection *c)
{
    tamis *f = got(c, "bloom"), *g = got(c, "fuse");

    assert_int_equal(f->plan.kind, TAMIS_BLOOM);
    assert_int_equal(f->count, 500 + TAMIS_BLOOM);
    assert_int_equal(g->count, 500 + TAMIS_FUSE);
    assert_is_whole(c);
    tamis_free(f);
    tamis_free(g);
}

static void change_zoo(tamis_editor *e)
{
    put(e, "bloom", numbers(TAMIS_BLOCKED, 77));
    put(e, "okapi", numbers(TAMIS_XOR, 88));
    assert_int_equal(tamis_editor_remove(e, "fuse"), TAMIS_OK);
    assert_int_equal(tamis_editor_remove(e, "fuse"), TAMIS_ABSENT);
    assert_int_equal(tamis_editor_remove(e, "unicorn"), TAMIS_ABSENT);
}

static void assert_changed_zoo(const tamis_collection *c, uint64_t filters)
{
    tamis *f = got(c, "bloom"), *g = got(c, "okapi"), *none = NULL;

    assert_true(f->plan.kind == TAMIS_BLOCKED && f->count == 77);
    assert_true(g->plan.kind == TAMIS_XOR && g->count == 88);
    assert_int_equal(tamis_collection_get(c, &none, "fuse", NULL), TAMIS_ABSENT);
    assert_int_equal(info_of_collection(c).filters, filters);
    assert_is_whole(c);
    tamis_free(f);
    tamis_free(g);
}

static void readers_keep_what_they_opened(void **state)
{
    (void)state;
    make_zoo();
    tamis_collection *before = opened();
    uint64_t filters = info_of_collection(before).filters;
    tamis *f = got(before, "bloom");
    tamis_editor *e = edit(0);
    change_zoo(e);
    tamis_collection *meanwhile = opened();
    assert_zoo(meanwhile);
    save(e);
    tamis_collection *after = opened();
    assert_zoo(before);
    assert_zoo(meanwhile);
    assert_changed_zoo(after, filters);

    uint64_t bytes = info_of_collection(after).bytes;
    save(edit(TAMIS_EDIT_COMPACT));
    tamis_collection *compacted = opened();
    assert_changed_zoo(compacted, filters);
    assert_true(info_of_collection(compacted).bytes < bytes);
    /* What is left are the gaps before images. */
    assert_true(info_of_collection(compacted).used + 8 * COLLECTION_PAGE >=
                info_of_collection(compacted).bytes);
    assert_zoo(before);
    assert_changed_zoo(after, filters);
    assert_true(tamis_has(f, 1));
    tamis_free(f);
    tamis_collection_free(before);
    tamis_collection_free(meanwhile);
    tamis_collection_free(after);
    tamis_collection_free(compacted);
}

static void changes_and_compaction_at_once(void **state)
{
    (void)state;
    make_zoo();
    tamis_collection *before = opened(), *after;
    tamis_editor *e = edit(TAMIS_EDIT_COMPACT);
    change_zoo(e);
    assert_zoo(before);
    save(e);
    after = opened();
    assert_changed_zoo(after, info_of_collection(before).filters);
    tamis_collection_free(before);
    tamis_collection_free(after);
}

static void abandoned_edits_change_nothing(void **state)
{
    tamis_collection *c;

    (void)state;
    make_zoo();
    for (unsigned flags = 0; flags <= TAMIS_EDIT_COMPACT; flags++) {
        tamis_editor *e = edit(flags);
        change_zoo(e);
        /* More than the editor keeps in memory. */
        put(e, "large", numbers(TAMIS_BLOOM, 400000));
        tamis_editor_free(e);
        c = opened();
        assert_zoo(c);
        tamis_collection_free(c);
    }
    unlink(PATH);
    tamis_editor_free(edit(0));
    assert_int_equal(tamis_collection_open(&c, PATH, NULL), TAMIS_IO);
}

static void one_editor_at_a_time(void **state)
{
    tamis_editor *e, *other = NULL;

    (void)state;
    make_zoo();
    e = edit(0);
    assert_int_equal(tamis_editor_open(&other, PATH, 0, NULL), TAMIS_BUSY);
    assert_int_equal(tamis_editor_open(&other, PATH, TAMIS_EDIT_COMPACT, NULL), TAMIS_BUSY);
    save(e);
    e = edit(TAMIS_EDIT_COMPACT);
    assert_int_equal(tamis_editor_open(&other, PATH, 0, NULL), TAMIS_BUSY);
    save(e);
    assert_int_equal(tamis_editor_open(&other, PATH, 2, NULL), TAMIS_RANGE);
    /* Two that are about to make it. */
    unlink(PATH);
    e = edit(0);
    other = edit(0);
    put(e, "a", numbers(TAMIS_BLOOM, 10));
    save(e);
    assert_int_equal(tamis_editor_save(other), TAMIS_BUSY);
    assert_int_equal(tamis_editor_save(other), TAMIS_CANNOT);
    assert_int_equal(tamis_editor_remove(other, "a"), TAMIS_CANNOT);
    tamis_editor_free(other);
    /* One whose file has lost its name. */
    e = edit(0);
    assert_int_equal(unlink(PATH), 0);
    assert_int_equal(tamis_editor_save(e), TAMIS_BUSY);
    tamis_editor_free(e);
}

static void other_files_are_refused(void **state)
{
    tamis *f = numbers(TAMIS_BLOOM, 10);
    tamis_collection *c = NULL;
    tamis_editor *e = NULL;

    (void)state;
    assert_int_equal(tamis_save(f, PATH), TAMIS_OK);
    assert_int_equal(tamis_collection_open(&c, PATH, NULL), TAMIS_FOREIGN);
    assert_int_equal(tamis_editor_open(&e, PATH, 0, NULL), TAMIS_FOREIGN);
    assert_int_equal(tamis_collection_open(&c, ".", NULL), TAMIS_FOREIGN);
    assert_int_equal(tamis_collection_open(&c, "nowhere/at/all", NULL), TAMIS_IO);
    assert_int_equal(tamis_editor_open(&e, "nowhere/at/all", 0, NULL), TAMIS_IO);
    make_zoo();
    tamis_free(f);
    assert_int_equal(tamis_load(&f, PATH, NULL), TAMIS_FOREIGN);
}

static void secrets_are_private(void **state)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 10, .hasher = { .hash = TAMIS_KEYED, .secret = { 1 } });
    struct stat st;
    tamis_plan plan;

    (void)state;
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_BLOOM, &spec), TAMIS_OK);
    make_zoo();
    assert_int_equal(chmod(PATH, 0644), 0);
    for (unsigned flags = 0; flags <= TAMIS_EDIT_COMPACT; flags++) {
        tamis_editor *e = edit(flags);
        put(e, "keyed", new_filter(&plan));
        save(e);
        assert_int_equal(stat(PATH, &st), 0);
        assert_int_equal(st.st_mode & 0777, flags ? 0640 : 0600);
        /* Whoever shows it on purpose may go on doing so. */
        assert_int_equal(chmod(PATH, 0640), 0);
    }
}

static const char SECRET[] = "moon river, moon";

static bool shows_secret(int fd)
{
    struct stat st;

    assert_int_equal(fstat(fd, &st), 0);
    uint8_t *all = array_of((size_t)st.st_size, 1);
    assert_int_equal(pread(fd, all, (size_t)st.st_size, 0), st.st_size);
    bool is_there = memmem(all, (size_t)st.st_size, SECRET, 16) != NULL;
    free(all);
    return is_there;
}

/* Between two of the public ones, the first of which is more than the editor keeps in memory. */
static tamis_editor *edit_with_secret(unsigned flags)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 10, .hasher = { .hash = TAMIS_KEYED });
    tamis_editor *e = edit(flags);
    tamis_plan plan;

    memcpy(spec.hasher.secret, SECRET, 16);
    assert_int_equal(tamis_plan_kind(&plan, TAMIS_BLOOM, &spec), TAMIS_OK);
    put(e, "large", numbers(TAMIS_BLOOM, 400000));
    put(e, "keyed", new_filter(&plan));
    put(e, "keyed too", new_filter(&plan));
    put(e, "public", numbers(TAMIS_BLOOM, 3000));
    return e;
}

static void assert_mode(mode_t mode)
{
    struct stat st;

    assert_int_equal(stat(PATH, &st), 0);
    assert_int_equal(st.st_mode & 0777, mode);
}

/* A new collection, and one that is compacted by the way. */
static void secrets_are_private_from_the_start(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags <= TAMIS_EDIT_COMPACT; flags++) {
        if (flags)
            make_zoo();
        assert_int_equal(flags ? chmod(PATH, 0644) : unlink(PATH), 0);
        save(edit_with_secret(flags));
        assert_mode(0600);
    }
}

/* Nothing of it is to be seen before it is saved: not in the mode, and not in the file, which
 * others may have open. */
static void secrets_wait_for_the_save(void **state)
{
    (void)state;
    make_zoo();
    assert_int_equal(chmod(PATH, 0644), 0);
    int fd = open(PATH, O_RDONLY);
    for (int saves = 0; saves < 2; saves++) {
        tamis_editor *e = edit_with_secret(0), *other = NULL;
        assert_mode(0644);
        assert_int_equal(tamis_editor_open(&other, PATH, 0, NULL), TAMIS_BUSY);
        assert_int_equal(saves ? tamis_editor_save(e) : TAMIS_OK, TAMIS_OK);
        tamis_editor_free(e);
        assert_false(shows_secret(fd));
        assert_mode(saves ? 0600 : 0644);
        tamis_collection *c = opened();
        assert_zoo(c);
        tamis_collection_free(c);
    }
    close(fd);
    tamis_collection *c = opened();
    tamis *large = got(c, "large"), *public = got(c, "public");
    assert_true(tamis_has(large, 399999) && tamis_has(public, 2999));
    tamis_free(large);
    tamis_free(public);
    tamis_collection_free(c);
}

/* ---- Damage ------------------------------------------------------------ */

typedef struct faults {
    int n, unnamed;
    char name[TAMIS_NAME_MAX + 1];
} faults;

static void take_fault(void *ctx, const char *name, const char *why, uint64_t offset, uint64_t size)
{
    faults *f = ctx;

    assert_true(*why && offset + size >= offset);
    f->n++;
    f->unnamed += !name;
    if (name)
        strcpy(f->name, name);
}

static void flip(uint64_t offset)
{
    int fd = open(PATH, O_RDWR);
    uint8_t byte;

    assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
    byte = (uint8_t)(byte ^ 1u << offset % 8);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
    close(fd);
}

/* Every filter but one is as it was. */
static void assert_others_are_whole(const tamis_collection *c, const char *damaged)
{
    for (tamis_kind k = first_plain(); k; k = next_plain(k)) {
        if (strcmp(tamis_kind_name(k), damaged) == 0)
            continue;
        tamis *f = got(c, tamis_kind_name(k));
        assert_true(is_whole(f));
        tamis_free(f);
    }
}

typedef struct place {
    uint64_t offset, size;
} place;

static bool find_fuse(void *ctx, const char *name, uint64_t offset, uint64_t size)
{
    if (strcmp(name, "fuse") == 0)
        *(place *)ctx = (place){ offset, size };
    return true;
}

static void damage_stays_where_it_is(void **state)
{
    place fuse = { 0 };

    (void)state;
    make_zoo();
    tamis_collection *c = opened();
    assert_int_equal(tamis_collection_list(c, find_fuse, &fuse), TAMIS_OK);
    for (uint64_t at = fuse.offset; at < fuse.offset + fuse.size; at += run_size(7, 31, 1)) {
        faults found = { 0 };
        tamis *f = NULL;

        flip(at);
        assert_int_equal(tamis_collection_verify(c, take_fault, &found), TAMIS_CORRUPT);
        assert_true(found.n > 0 && found.unnamed == 0 && strcmp(found.name, "fuse") == 0);
        assert_others_are_whole(c, "fuse");
        /* The header is checked at once, the rest when it is asked for. */
        tamis_status status = tamis_collection_get(c, &f, "fuse", NULL);
        assert_true(status == TAMIS_OK || at < fuse.offset + 256);
        assert_true(status != TAMIS_OK || !is_whole(f));
        if (status == TAMIS_OK)
            tamis_free(f);
        flip(at);
    }
    assert_is_whole(c);
    tamis_collection_free(c);
}

/* One of the two slots of the last generation may be damaged: the other tells the same. */
static void damaged_headers_are_told(void **state)
{
    (void)state;
    make_zoo();
    save(edit(0));
    for (unsigned slot = 0; slot < COLLECTION_SLOTS; slot++)
        for (uint64_t at = 0; at < COLLECTION_SLOT_SIZE; at++) {
            faults found = { 0 };

            flip(512 * (1 + slot) + at);
            tamis_collection *c = opened();
            assert_int_equal(c->slot.generation, 2);
            assert_others_are_whole(c, "");
            assert_int_equal(tamis_collection_verify(c, take_fault, &found), TAMIS_CORRUPT);
            assert_int_equal(found.unnamed, 1);
            tamis_collection_free(c);
            flip(512 * (1 + slot) + at);
        }
    for (uint64_t at = 0; at < COLLECTION_PAGE; at += at < 20 ? 1 : 509) {
        tamis_collection *c = NULL;

        flip(at);
        tamis_status status = tamis_collection_open(&c, PATH, NULL);
        assert_true(status || tamis_collection_verify(c, NULL, NULL) == TAMIS_CORRUPT ||
                    (at >= 8 && at < 12));
        tamis_collection_free(c);
        flip(at);
    }
}

static void damaged_directories_are_told(void **state)
{
    (void)state;
    make_zoo();
    tamis_collection *c = opened();
    for (uint64_t at = 0; at < COLLECTION_PAGE; at += run_size(5, 61, 1)) {
        faults found = { 0 };
        tamis_editor *e = NULL;
        tamis *f = NULL;
        int n = 5;

        flip(c->slot.directory + at);
        assert_int_equal(tamis_collection_get(c, &f, "fuse", NULL), TAMIS_CORRUPT);
        assert_int_equal(tamis_collection_get(c, &f, "okapi", NULL), TAMIS_CORRUPT);
        assert_int_equal(tamis_collection_list(c, count_names, &n), TAMIS_CORRUPT);
        assert_int_equal(tamis_collection_verify(c, take_fault, &found), TAMIS_CORRUPT);
        assert_true(found.unnamed > 0);
        /* Names that cannot be read must not be forgotten. */
        assert_int_equal(tamis_editor_open(&e, PATH, 0, NULL), TAMIS_CORRUPT);
        assert_int_equal(tamis_editor_open(&e, PATH, TAMIS_EDIT_COMPACT, NULL), TAMIS_CORRUPT);
        flip(c->slot.directory + at);
    }
    assert_is_whole(c);
    tamis_collection_free(c);
}

static void short_files_are_refused(void **state)
{
    struct stat st;

    (void)state;
    make_zoo();
    assert_int_equal(stat(PATH, &st), 0);
    for (off_t size = st.st_size - 1; size >= 0; size -= size > 8192 ? 997 : 61) {
        tamis_collection *c = NULL;

        assert_int_equal(truncate(PATH, size), 0);
        tamis_status status = tamis_collection_open(&c, PATH, NULL);
        assert_true(status == TAMIS_CORRUPT || (size < 4 && status == TAMIS_FOREIGN));
    }
}

static void damaged_filters_are_compacted(void **state)
{
    place fuse = { 0 };
    tamis *f = NULL;

    (void)state;
    make_zoo();
    tamis_collection *c = opened();
    assert_int_equal(tamis_collection_list(c, find_fuse, &fuse), TAMIS_OK);
    tamis_collection_free(c);
    flip(fuse.offset + 20);
    save(edit(TAMIS_EDIT_COMPACT));
    c = opened();
    assert_others_are_whole(c, "fuse");
    assert_int_equal(tamis_collection_get(c, &f, "fuse", NULL), TAMIS_CORRUPT);
    tamis_collection_free(c);
}

/* ---- Names that share an image ----------------------------------------- */

enum { SHARERS = 3000 };

static void make_many(size_t n)
{
    tamis *f = numbers(TAMIS_PARTITIONED, 20);
    tamis_editor *e;
    char name[48];

    unlink(PATH);
    e = edit(0);
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "block-%zu.parquet", i);
        assert_int_equal(tamis_editor_put(e, name, f), TAMIS_OK);
    }
    save(e);
    tamis_free(f);
}

/* All names of a page get one image. */
static void share_image(const tamis_collection *c, int fd, uint64_t number, const place *image)
{
    uint64_t at = c->slot.directory + number * COLLECTION_PAGE;
    uint8_t page[COLLECTION_PAGE], *entry = page + COLLECTION_FIRST_ENTRY;

    assert_int_equal(pread(fd, page, sizeof page, (off_t)at), sizeof page);
    for (unsigned n = le16(page + 8); n > 0; n--) {
        put_le64(entry, image->offset);
        put_le64(entry + 8, image->size);
        entry += COLLECTION_ENTRY_SIZE + entry[16];
    }
    put_le64(page, tamis__collection_sum(page, number));
    assert_int_equal(pwrite(fd, page, sizeof page, (off_t)at), sizeof page);
}

static bool find_largest(void *ctx, const char *name, uint64_t offset, uint64_t size)
{
    place *largest = ctx;

    (void)name;
    if (size > largest->size)
        *largest = (place){ offset, size };
    return true;
}

/* To compact it would write it a thousand times. */
static void shared_images_are_refused(void **state)
{
    place largest = { 0 };
    faults found = { 0 };
    tamis_collection_info info;
    tamis_editor *e = NULL;
    tamis *f = numbers(TAMIS_BLOOM, 20000), *got = NULL;

    (void)state;
    make_many(SHARERS);
    e = edit(0);
    assert_int_equal(tamis_editor_put(e, "large", f), TAMIS_OK);
    save(e);
    tamis_collection *c = opened();
    assert_int_equal(tamis_collection_list(c, find_largest, &largest), TAMIS_OK);
    int fd = open(PATH, O_RDWR);
    for (uint64_t i = 0; i < c->slot.pages; i++)
        share_image(c, fd, i, &largest);
    close(fd);
    assert_int_equal(tamis_collection_verify(c, take_fault, &found), TAMIS_CORRUPT);
    /* As many as would fit are taken for what they say. */
    assert_true(found.n > SHARERS * 9 / 10 && found.unnamed == 0);
    assert_int_equal(tamis_collection_get_info(c, &info), TAMIS_CORRUPT);
    assert_int_equal(tamis_editor_open(&e, PATH, TAMIS_EDIT_COMPACT, NULL), TAMIS_CORRUPT);
    assert_int_equal(tamis_editor_open(&e, PATH, 0, NULL), TAMIS_CORRUPT);
    /* Who looks for one name gets it. */
    assert_int_equal(tamis_collection_get(c, &got, "block-7.parquet", NULL), TAMIS_OK);
    assert_true(tamis_has(got, 7));
    tamis_free(got);
    tamis_free(f);
    tamis_collection_free(c);
}

/* ---- Memory ------------------------------------------------------------ */

static tamis_status edit_within(limited_allocator *p, unsigned flags)
{
    tamis_allocator a = allocator_of(p);
    tamis *f = numbers(TAMIS_BLOOM, 100);
    tamis_editor *e = NULL;
    tamis_status status = tamis_editor_open(&e, PATH, flags, &a);
    char name[16];

    for (int i = 0; i < 300 && !status; i++) {
        snprintf(name, sizeof name, "%d", i);
        status = tamis_editor_put(e, name, f);
    }
    if (!status)
        status = tamis_editor_save(e);
    tamis_editor_free(e);
    tamis_free(f);
    assert_int_equal(p->live, 0);
    return status;
}

static void memory_runs_out_cleanly(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags <= TAMIS_EDIT_COMPACT; flags++)
        for (uint64_t limit = 0;; limit = limit * 21 / 20 + 100) {
            limited_allocator p = { .limit = limit };

            make_zoo();
            tamis_status status = edit_within(&p, flags);
            tamis_collection *c = opened();
            assert_is_whole(c);
            if (status)
                assert_zoo(c);
            tamis_collection_free(c);
            if (status == TAMIS_OK)
                break;
            assert_int_equal(status, TAMIS_NOMEM);
            limit = limit < 260000 ? 260000 : limit;
        }
}

/* ---- Pages ------------------------------------------------------------- */

static uint8_t *guarded;
static size_t guarded_size;
static volatile sig_atomic_t touched;

/* Each page is counted when it is first read. */
static void on_touch(int signal, siginfo_t *info, void *context)
{
    uint8_t *at = (uint8_t *)info->si_addr;

    (void)signal;
    (void)context;
    if (at < guarded || at >= guarded + guarded_size)
        _exit(99);
    touched++;
    mprotect(guarded + (size_t)(at - guarded) / 4096 * 4096, 4096, PROT_READ);
}

static void guard(const tamis_collection *c)
{
    struct sigaction action = { .sa_sigaction = on_touch, .sa_flags = SA_SIGINFO };

    guarded = (uint8_t *)(uintptr_t)c->map;
    guarded_size = (size_t)c->slot.end;
    touched = 0;
    assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
    assert_int_equal(mprotect(guarded, guarded_size, PROT_NONE), 0);
}

/* Opening reads the header, by one call. A look-up reads a page of the directory, and what it asks
 * of its filter. */
static void lookups_read_two_pages(void **state)
{
    const size_t n = run_size(100000, 20000, 1000000);
    rng r = rng_for(1, 0);
    char name[32];

    (void)state;
    make_many(n);
    tamis_collection *c = opened();
    assert_int_equal(info_of_collection(c).filters, n);
    for (int round = 0; round < 200; round++) {
        tamis *f;

        snprintf(name, sizeof name, "block-%" PRIu64 ".parquet", rng_below(&r, n));
        guard(c);
        f = got(c, name);
        uint64_t offset = (uint64_t)(f->image - c->map), end = offset + f->image_size;
        int own = (int)((end - 1) / 4096 - offset / 4096 + 1);
        assert_true(tamis_has(f, 7));
        assert_true(touched <= 1 + own);
        tamis_free(f);
        guard(c);
        assert_int_equal(tamis_collection_get(c, &f, "block-x", NULL), TAMIS_ABSENT);
        assert_int_equal(touched, 1);
    }
    signal(SIGSEGV, SIG_DFL);
    assert_int_equal(mprotect(guarded, guarded_size, PROT_READ), 0);
    tamis_collection_free(c);
    unlink(PATH);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_come_out),
        cmocka_unit_test(names_are_listed),
        cmocka_unit_test(an_empty_one_is_one),
        cmocka_unit_test(same_changes_same_bytes),
        cmocka_unit_test(names_are_text),
        cmocka_unit_test(readers_keep_what_they_opened),
        cmocka_unit_test(changes_and_compaction_at_once),
        cmocka_unit_test(abandoned_edits_change_nothing),
        cmocka_unit_test(one_editor_at_a_time),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(secrets_are_private),
        cmocka_unit_test(secrets_are_private_from_the_start),
        cmocka_unit_test(secrets_wait_for_the_save),
        cmocka_unit_test(damage_stays_where_it_is),
        cmocka_unit_test(damaged_headers_are_told),
        cmocka_unit_test(damaged_directories_are_told),
        cmocka_unit_test(short_files_are_refused),
        cmocka_unit_test(damaged_filters_are_compacted),
        cmocka_unit_test(shared_images_are_refused),
        cmocka_unit_test(memory_runs_out_cleanly),
        cmocka_unit_test(lookups_read_two_pages),
    };

    int failed = check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
    unlink(PATH);
    return failed;
}
