/* read_once.c - another program writes to a mapped file, or to memory that a view is of, at any
 * moment of any call that makes something else of it. Sanitizers watch; and whatever comes out of a
 * success is whole, goes on as any other filter, and is what was there at one moment.
 *
 * The other program is a thread, which writes all the time. In each second round it sleeps, and the
 * same is done whenever the library asks for memory or gives a piece away: between two steps of a
 * call. No kind is named, and all calls are tried that a kind has.
 *
 * That is a race of this program, and the thread sanitizer would be right to say so: it does not
 * see this test. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "kinds.h"
#include "tamis_adapt.h"
#include "tamis_collection.h"
#include "tamis_disk.h"
#include "tamis_explain.h"
#include "tamis_pair.h"

enum { KEYS = 200, MORE = 40, WAYS = 5 };

/* ---- Who writes -------------------------------------------------------- */

enum order { ORDER_CHANGE, ORDER_RESTORE };

typedef struct shared {
    tamis_plan plan;
    image_bytes whole[2]; /* two filters of that plan */
    uint8_t *at;          /* one of them, or a damaged one: the file is mapped here */
    size_t size, payload; /* of the image; where its payload starts */
    char path[4096];
    pthread_mutex_t lock; /* guards what follows, and writing */
    pthread_cond_t changed;
    bool is_free, is_over; /* the thread may write; it is to end */
    rng r;
} shared;

/* A byte at a time, as any bytes may be seen half-written. */
static void shared_put(shared *s, size_t at, const uint8_t *bytes, size_t size)
{
    volatile uint8_t *to = s->at + at;

    for (size_t i = 0; i < size; i++)
        to[i] = bytes[i];
}

/* Noise, all ones, a few bits, all the same word; and now and then the header. */
static void shared_damage(shared *s, uint64_t way)
{
    volatile uint8_t *payload = s->at + s->payload;
    uint64_t same = rng_next(&s->r), size = s->plan.bytes;

    if (way == 0) {
        for (int i = 0; i < 3; i++)
            payload[rng_below(&s->r, size)] ^= (uint8_t)(1u << rng_below(&s->r, 8));
        return;
    }
    for (uint64_t i = 0; i < size; i++)
        payload[i] = (uint8_t)(way == 1 ? rng_next(&s->r) : way == 2 ? 0xff : same >> i % 8 * 8);
    if (way == WAYS - 1)
        s->at[rng_below(&s->r, 256)] ^= 1;
}

static void shared_change(shared *s, enum order order)
{
    const image_bytes *whole = &s->whole[rng_below(&s->r, 2)];
    uint64_t way = rng_below(&s->r, WAYS + 1);

    if (order == ORDER_RESTORE || way == WAYS)
        shared_put(s, 0, whole->at, whole->size);
    else
        shared_damage(s, way);
}

static void *shared_write(void *arg)
{
    shared *s = arg;
    volatile unsigned pause = 0;

    pthread_mutex_lock(&s->lock);
    for (enum order next = ORDER_CHANGE; !s->is_over; next = !next) {
        if (!s->is_free) {
            pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        shared_change(s, next);
        unsigned spins = 1u << rng_below(&s->r, 15);
        pthread_mutex_unlock(&s->lock);
        for (pause = 0; pause < spins; pause++)
            continue;
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void let_go(shared *s, bool is_free, bool is_over)
{
    pthread_mutex_lock(&s->lock);
    s->is_free = is_free;
    s->is_over = is_over;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void restore(shared *s)
{
    pthread_mutex_lock(&s->lock);
    shared_change(s, ORDER_RESTORE);
    pthread_mutex_unlock(&s->lock);
}

/* ---- Between two steps of a call --------------------------------------- */

static void step(shared *s)
{
    pthread_mutex_lock(&s->lock);
    if (!s->is_free)
        shared_change(s, ORDER_CHANGE);
    pthread_mutex_unlock(&s->lock);
}

static void *take_a_step(void *ctx, size_t size)
{
    step(ctx);
    return aligned_alloc(64, round_up(size, 64));
}

static void give_back(void *ctx, void *block, size_t size)
{
    (void)ctx, (void)size;
    free(block);
}

static tamis_allocator allocator_of(shared *s)
{
    return (tamis_allocator){ take_a_step, give_back, s };
}

/* ---- Filters ----------------------------------------------------------- */

static bool can(tamis_kind kind, unsigned bit)
{
    return tamis_kind_can(kind) & bit;
}

static tamis *filled(const tamis_plan *plan, uint64_t first)
{
    uint64_t keys[KEYS], others[KEYS], values[KEYS];
    tamis *f = NULL;

    for (uint64_t i = 0; i < KEYS; i++) {
        keys[i] = first + i;
        others[i] = first + KEYS + i;
        values[i] = i % 32;
    }
    const uint64_t *beside = can(plan->kind, TAMIS_CAN_GET) ? values : others;
    assert_int_equal(build_any(&f, plan, keys, beside, KEYS, NULL), TAMIS_OK);
    return f;
}

/* A static filter takes a step more room if it has to: both get that. */
static void fill_both(shared *s)
{
    tamis *f = filled(&s->plan, 0), *g = filled(&s->plan, KEYS / 2);

    assert_int_equal(f->plan.bytes, g->plan.bytes);
    s->plan = f->plan;
    s->whole[0] = image_of(f);
    s->whole[1] = image_of(g);
    assert_int_equal(s->whole[0].size, s->whole[1].size);
    tamis_free(f);
    tamis_free(g);
}

static void share(shared *s, tamis_kind kind)
{
    *s = (shared){ .plan = plan_of_sums(kind, 2 * KEYS, 0.01, 3),
                   .lock = PTHREAD_MUTEX_INITIALIZER,
                   .changed = PTHREAD_COND_INITIALIZER,
                   .r = rng_for(3400, kind) };
    fill_both(s);
    s->size = s->whole[0].size;
    s->payload = s->plan.bytes < 65536 ? 256 : 4096;
    snprintf(s->path, sizeof s->path, "%s", temp_path());
}

/* A file that is mapped by both. */
static void put_file(shared *s)
{
    int fd = open(s->path, O_RDWR | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0 && write(fd, s->whole[0].at, s->size) == (ssize_t)s->size);
    s->at = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(s->at != MAP_FAILED);
    close(fd);
}

static void drop_file(shared *s)
{
    munmap(s->at, s->size);
    unlink(s->path);
}

static bool is_one_of_both(const shared *s, const tamis *f)
{
    return is_image_of(&s->whole[0], f) || is_image_of(&s->whole[1], f);
}

/* Keys that were added are found, and may be removed. */
static void use(tamis *f)
{
    uint64_t keys[MORE];
    size_t added = 0, removed;

    assert_true(is_whole(f));
    for (uint64_t i = 0; i < MORE; i++)
        keys[i] = KEYS + 7 * i;
    if (can(f->plan.kind, TAMIS_CAN_ADD))
        (void)!tamis_add_many(f, &added, keys, MORE);
    for (size_t i = 0; i < MORE && can(f->plan.kind, TAMIS_CAN_PUT); i++)
        added += tamis_put(f, keys[i], i) == TAMIS_OK;
    for (size_t i = 0; i < added; i++)
        assert_true(tamis_has(f, keys[i]));
    if (can(f->plan.kind, TAMIS_CAN_REMOVE))
        assert_int_equal(tamis_remove_many(f, &removed, keys, added), TAMIS_OK);
    assert_true(is_whole(f));
    tamis_free(f);
}

/* ---- Calls ------------------------------------------------------------- */

/* What a call makes of f, a view or map, or of the bytes themselves; NULL if it is of no kind that
 * can do that, or has failed. */
typedef tamis *maker(shared *s, const tamis *f);

static void expect_failure(tamis_status status)
{
    assert_true(status == TAMIS_CORRUPT || status == TAMIS_BUSY || status == TAMIS_DIRTY ||
                status == TAMIS_FOREIGN || status == TAMIS_NEWER || status == TAMIS_CANNOT ||
                status == TAMIS_FULL || status == TAMIS_ABSENT || status == TAMIS_MISMATCH ||
                status == TAMIS_RANGE || status == TAMIS_IO);
}

static tamis *handed_out(tamis *made, tamis_status status)
{
    if (!status)
        return made;
    expect_failure(status);
    return NULL;
}

/* All that was copied is what was there. */
static tamis *copied(const shared *s, tamis *made, tamis_status status)
{
    assert_true(status || is_one_of_both(s, made));
    return handed_out(made, status);
}

static tamis *by_clone(shared *s, const tamis *f)
{
    const tamis_allocator a = allocator_of(s);
    tamis *made = NULL;
    tamis_status status = tamis_clone(&made, f, &a);

    return copied(s, made, status);
}

static tamis *by_fold(shared *s, const tamis *f)
{
    const tamis_allocator a = allocator_of(s);
    tamis *made = NULL;
    tamis_status status = TAMIS_RANGE;

    for (uint64_t by = 2; by <= 5 && status == TAMIS_RANGE; by++)
        status = tamis_fold(&made, f, by, &a);
    return handed_out(made, status);
}

static tamis *by_shrink(shared *s, const tamis *f)
{
    const tamis_allocator a = allocator_of(s);
    tamis *made = NULL;
    tamis_status status = tamis_shrink(&made, f, f->plan.bytes * 2 / 3, &a);

    return handed_out(made, status);
}

/* To each kind there is a way to, in turn. */
static tamis *by_convert(shared *s, const tamis *f)
{
    const tamis_allocator a = allocator_of(s);
    tamis *made = NULL;
    tamis_status status = TAMIS_CANNOT;

    for (tamis_kind to = first_kind(); to && status == TAMIS_CANNOT; to = tamis_kind_next(to))
        status = tamis_convert(&made, to, f, &a);
    return handed_out(made, status);
}

static tamis *by_combine(shared *s, const tamis *f, tamis_operation op)
{
    const tamis_allocator a = allocator_of(s);
    tamis *to = NULL;

    assert_int_equal(tamis_image_read(&to, s->whole[op == TAMIS_MERGE].at, s->size, &a), TAMIS_OK);
    restore(s);
    tamis_status status = tamis_combine(to, op, f);
    if (!status)
        return to;
    assert_true(is_one_of_both(s, to));
    tamis_free(to);
    return handed_out(NULL, status);
}

static tamis *by_merge(shared *s, const tamis *f)
{
    return by_combine(s, f, TAMIS_MERGE);
}

static tamis *by_intersect(shared *s, const tamis *f)
{
    return by_combine(s, f, TAMIS_INTERSECT);
}

static tamis *by_subtract(shared *s, const tamis *f)
{
    return by_combine(s, f, TAMIS_SUBTRACT);
}

static tamis *by_merge_many(shared *s, const tamis *f)
{
    const tamis_allocator a = allocator_of(s);
    const tamis *all[] = { f, f, f };
    tamis *made = NULL;
    tamis_status status = tamis_merge_many(&made, all, 3, &a);

    return handed_out(made, status);
}

static tamis *by_image_write(shared *s, const tamis *f)
{
    uint8_t *image = malloc(s->size);
    tamis *made = NULL;
    tamis_status status = tamis_image_write(f, image, s->size);

    if (!status)
        assert_int_equal(tamis_image_read(&made, image, s->size, NULL), TAMIS_OK);
    free(image);
    return copied(s, made, status);
}

typedef struct collecting {
    shared *s;
    uint8_t *image;
    size_t size;
} collecting;

static bool collect(void *ctx, const void *piece, size_t size)
{
    collecting *c = ctx;

    assert_true(size <= c->s->size - c->size);
    memcpy(c->image + c->size, piece, size);
    c->size += size;
    step(c->s);
    return true;
}

static tamis *by_image_send(shared *s, const tamis *f)
{
    collecting c = { .s = s, .image = malloc(s->size) };
    tamis *made = NULL;
    tamis_status status = tamis_image_send(f, collect, &c);

    if (!status)
        assert_int_equal(tamis_image_read(&made, c.image, c.size, NULL), TAMIS_OK);
    free(c.image);
    return copied(s, made, status);
}

static tamis *by_image_read(shared *s, const tamis *f)
{
    const tamis_allocator a = allocator_of(s);
    tamis *made = NULL;
    tamis_status status = tamis_image_read(&made, s->at, s->size, &a);

    (void)f;
    return copied(s, made, status);
}

/* Of a view of what may be a view of something else by now, if it could be had. */
static tamis *copy_of_view(shared *s, tamis *const *view, tamis_status status)
{
    const tamis_allocator a = allocator_of(s);
    tamis *made = NULL;

    if (status)
        return handed_out(NULL, status);
    status = tamis_clone(&made, *view, &a);
    tamis_free(*view);
    return copied(s, made, status);
}

static tamis *by_view(shared *s, const tamis *f)
{
    const tamis_allocator a = allocator_of(s);
    tamis *view = NULL;

    (void)f;
    return copy_of_view(s, &view, tamis_image_view(&view, s->at, s->size, &a));
}

/* Calls that only read: what they answer is of no matter. */
static bool visit_key(void *ctx, uint64_t key, uint64_t count)
{
    (void)key, (void)count;
    return --*(size_t *)ctx > 0;
}

static bool visit_cell(void *ctx, const tamis_cell *cell)
{
    (void)cell;
    return --*(size_t *)ctx > 0;
}

static bool visit_step(void *ctx, const tamis_step *step)
{
    (void)step;
    return --*(size_t *)ctx > 0;
}

static tamis *by_reading(shared *s, const tamis *f)
{
    uint64_t keys[2 * KEYS], hits[2 * KEYS / 64 + 1], counts[2 * KEYS], product = 0;
    size_t left = 10 * KEYS, cells = 10 * KEYS, steps = 1000;
    const tamis *others[] = { f };

    for (uint64_t i = 0; i < 2 * KEYS; i++)
        keys[i] = i;
    (void)!tamis_has_many(f, hits, keys, 2 * KEYS);
    tamis_count_many(f, counts, keys, 2 * KEYS);
    (void)!tamis_get_many(f, counts, hits, keys, 2 * KEYS);
    (void)!tamis_list(f, visit_key, &left);
    (void)!tamis_list_values(f, visit_key, &left);
    (void)!tamis_visit_cells(f, visit_cell, &cells);
    (void)!tamis_explain(f, rng_below(&s->r, 2 * KEYS), visit_step, &steps);
    (void)!tamis_dot(f, &product, others[0]);
    (void)!tamis_verify(f, NULL, NULL);
    (void)info_of(f);
    return NULL;
}

/* ---- Calls on files ---------------------------------------------------- */

static tamis *loaded_from(const shared *s, const char *path, tamis_status status)
{
    tamis *made = NULL;

    if (!status)
        assert_int_equal(tamis_load(&made, path, NULL), TAMIS_OK);
    unlink(path);
    return copied(s, made, status);
}

static tamis *by_save(shared *s, const tamis *f)
{
    char path[5000];

    snprintf(path, sizeof path, "%s.saved", s->path);
    return loaded_from(s, path, tamis_save(f, path));
}

static tamis *by_load(shared *s, const tamis *f)
{
    const tamis_allocator a = allocator_of(s);
    tamis *made = NULL;
    tamis_status status = tamis_load(&made, s->path, &a);

    (void)f;
    return copied(s, made, status);
}

static tamis *by_map(shared *s, const tamis *f)
{
    const tamis_allocator a = allocator_of(s);
    tamis *map = NULL;

    (void)f;
    return copy_of_view(s, &map, tamis_map(&map, s->path, 0, &a));
}

/* The lock keeps out those who ask for it. */
static tamis *by_writable_map(shared *s, const tamis *f)
{
    const tamis_allocator a = allocator_of(s);
    uint64_t keys[] = { 1, 2, 3 };
    tamis *map, *made = NULL;
    size_t added;
    tamis_status status = tamis_map(&map, s->path, TAMIS_MAP_WRITE, &a);

    (void)f;
    if (status)
        return handed_out(NULL, status);
    (void)!tamis_add_many(map, &added, keys, 3);
    status = tamis_clone(&made, map, &a);
    (void)!tamis_sync(map);
    tamis_free(map);
    return handed_out(made, status);
}

static tamis *by_pair(shared *s, const tamis *f)
{
    const tamis_allocator a = allocator_of(s);
    uint64_t keys[] = { 1, 2, 3 };
    tamis_pair *p;
    tamis *made = NULL;
    size_t n;
    tamis_status status = tamis_pair_open(&p, s->path, &a, &a);

    (void)f;
    if (status)
        return handed_out(NULL, status);
    (void)!tamis_pair_add_many(p, &n, keys, 3);
    (void)!tamis_pair_remove_many(p, &n, keys, n);
    assert_true(is_whole(tamis_pair_plain(p)));
    assert_int_equal(tamis_clone(&made, tamis_pair_counting(p), NULL), TAMIS_OK);
    tamis_pair_free(p);
    return made;
}

static tamis *by_editor(shared *s, const tamis *f)
{
    const tamis_allocator a = allocator_of(s);
    tamis_editor *e;
    tamis_collection *c;
    tamis *view, *made = NULL;
    char path[5000];

    snprintf(path, sizeof path, "%s.collection", s->path);
    assert_int_equal(tamis_editor_open(&e, path, 0, &a), TAMIS_OK);
    restore(s);
    tamis_status status = tamis_editor_put(e, "it", f);
    if (!status) {
        assert_int_equal(tamis_editor_save(e), TAMIS_OK);
        assert_int_equal(tamis_collection_open(&c, path, NULL), TAMIS_OK);
        assert_int_equal(tamis_collection_verify(c, NULL, NULL), TAMIS_OK);
        assert_int_equal(tamis_collection_get(c, &view, "it", NULL), TAMIS_OK);
        assert_int_equal(tamis_clone(&made, view, NULL), TAMIS_OK);
        tamis_free(view);
        tamis_collection_free(c);
    }
    tamis_editor_free(e);
    unlink(path);
    return copied(s, made, status);
}

/* The file is another one after that. */
static tamis *by_disk(shared *s, const tamis *f)
{
    const tamis_allocator a = allocator_of(s);
    const tamis_disk_options o = TAMIS_DISK_OPTIONS(.memory = 1 << 16, .alloc = &a);
    uint64_t keys[] = { 1, 2, 3, 5000, 6000 };
    tamis_disk *d;
    tamis *made = NULL;
    size_t added;
    tamis_status status = tamis_disk_open(&d, s->path, &o);

    (void)f;
    if (status)
        return handed_out(NULL, status);
    status = tamis_disk_add_many(d, &added, keys, 5);
    if (!status)
        status = tamis_disk_remove_many(d, keys, 2);
    if (!status)
        status = tamis_disk_flush(d);
    tamis_disk_free(d);
    if (!status)
        assert_int_equal(tamis_load(&made, s->path, NULL), TAMIS_OK);
    let_go(s, false, false);
    drop_file(s);
    put_file(s);
    return handed_out(made, status);
}

/* ---- The law ----------------------------------------------------------- */

typedef struct call {
    const char *name;
    maker *make;
    unsigned can;
} call;

static const call CALLS[] = {
    { "clone", by_clone, 0 },
    { "fold", by_fold, TAMIS_CAN_FOLD },
    { "shrink", by_shrink, TAMIS_CAN_FOLD },
    { "convert", by_convert, TAMIS_CAN_CONVERT },
    { "merge", by_merge, TAMIS_CAN_MERGE },
    { "intersect", by_intersect, TAMIS_CAN_INTERSECT },
    { "subtract", by_subtract, TAMIS_CAN_INTERSECT | TAMIS_CAN_REMOVE },
    { "merge_many", by_merge_many, TAMIS_CAN_MERGE | TAMIS_CAN_RESIZE },
    { "image_write", by_image_write, 0 },
    { "image_send", by_image_send, 0 },
    { "image_read", by_image_read, 0 },
    { "image_view", by_view, 0 },
    { "reading", by_reading, 0 },
    { "load", by_load, 0 },
    { "map", by_map, 0 },
    { "pair", by_pair, TAMIS_CAN_CONVERT | TAMIS_CAN_REMOVE },
    { NULL, NULL, 0 },
};

/* They wait for the disk. */
static const call CALLS_OF_FILES[] = {
    { "save", by_save, 0 },
    { "editor_put", by_editor, 0 },
    { "writable map", by_writable_map, TAMIS_CAN_READ_WHILE_ADD },
    { "disk", by_disk, TAMIS_CAN_RESIZE },
    { NULL, NULL, 0 },
};

/* Each second round nobody writes but between the steps. Half of the views are of a map. */
static void try_call(shared *s, const call *c, size_t rounds)
{
    for (size_t i = 0; i < rounds; i++) {
        tamis *f = NULL;

        restore(s);
        assert_int_equal(i / 2 % 2 ? tamis_map(&f, s->path, 0, NULL)
                                   : tamis_image_view(&f, s->at, s->size, NULL),
                         TAMIS_OK);
        let_go(s, i % 2, false);
        tamis *made = c->make(s, f);
        let_go(s, false, false);
        if (made)
            use(made);
        tamis_free(f);
    }
}

/* Where an assertion fails, the thread goes on: with what is its own. */
static void try_calls(tamis_kind kind, const call *c, size_t rounds)
{
    shared *s = array_of(1, sizeof *s);
    pthread_t writer;

    share(s, kind);
    put_file(s);
    assert_int_equal(pthread_create(&writer, NULL, shared_write, s), 0);
    for (; c->name; c++) {
        snprintf(law_at, sizeof law_at, "call %s", c->name);
        if ((tamis_kind_can(kind) & c->can) == c->can)
            try_call(s, c, rounds);
    }
    let_go(s, false, true);
    pthread_join(writer, NULL);
    drop_file(s);
    free_bytes(&s->whole[0]);
    free_bytes(&s->whole[1]);
    free(s);
}

static void nothing_is_read_twice(tamis_kind kind)
{
    try_calls(kind, CALLS, run_size(100, 60, 4000));
}

static void nothing_is_read_twice_on_its_way_to_a_file(tamis_kind kind)
{
    try_calls(kind, CALLS_OF_FILES, run_size(8, 8, 400));
}

int main(int argc, char **argv)
{
    const law laws[] = { { "nothing is read twice", nothing_is_read_twice, .can = 0 } };
    const law laws_of_files[] = { { "nothing is read twice on its way to a file",
                                    nothing_is_read_twice_on_its_way_to_a_file,
                                    .can = TAMIS_CAN_BUILD, .of_files = true } };

    test_begin(argc, argv);
    return check_laws_of_all(laws, 1) + check_laws(laws_of_files, 1);
}
