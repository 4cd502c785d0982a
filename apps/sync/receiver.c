/* receiver.c - the side that has the files as they were. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "byte_stream.h"
#include "delta.h"
#include "entry_message.h"
#include "exchange.h"
#include "key_set.h"
#include "patch_limit.h"
#include "recipe.h"
#include "sketch.h"
#include "term/array.h"
#include "term/message.h"
#include "term/progress.h"
#include "text/byte_order.h"

/* A file that comes. */
typedef struct incoming {
    const entry *entry;
    const entry *old; /* NULL: there is none, or it is empty */
    uint64_t number;
    bool is_compared, is_verified, has_failed, keeps_mode;
    file_how how;
    chunk_list list; /* of the old file, if it comes in chunks */
    coded steps;     /* of its recipe */
} incoming;

typedef struct receiver {
    sync_job *job;
    entry_list own;
    uint64_t *own_keys;
    entry_list coming; /* what differs */
    uint8_t *plans;    /* of each of these */
    bool *is_gone;     /* of each of one's own, if things are deleted */
    incoming *files;
    size_t n_files, n_compared;
    cutter cutter;
    unsigned scale;
    uint64_t n_there; /* chunks of files that come in chunks, as the other side says */
    double differ;    /* about how many of them do */
    buffer message;   /* that has the recipe */
    recipe recipe;
} receiver;

/* ---- Entries ----------------------------------------------------------- */

enum { ENTRY_NUMBERS = 64, BYTES_AN_ENTRY = 14 };

static double distance_to(const receiver *r, coded *c, const uint64_t *keys, size_t n,
                          size_t numbers, uint64_t *n_there)
{
    int64_t here[SKETCH_MOST], there[SKETCH_MOST];

    if (!sketch_read(c, there, numbers, n_there))
        job_no_sense(r->job, "a sketch");
    sketch_make(here, numbers, keys, n);
    double differ = sketch_distance(here, there, numbers);
    double surplus = fabs((double)*n_there - (double)n);
    return differ > surplus ? differ : surplus;
}

/* False: all entries will come. */
static bool find_differences(const receiver *r, const buffer *summary)
{
    coded c = job_coded(summary);
    uint64_t n_there;
    double differ = distance_to(r, &c, r->own_keys, r->own.n, ENTRY_NUMBERS, &n_there);
    double listed = (double)n_there * BYTES_AN_ENTRY;

    if (exchange_cost(differ) + differ / 2 * BYTES_AN_ENTRY > listed) {
        exchange_decline(r->job);
        return false;
    }
    exchange_tell(r->job, r->own_keys, r->own.n, differ, n_there);
    return true;
}

static void check_entries(const receiver *r)
{
    const entry_list *l = &r->coming;

    for (size_t i = 0; i < l->n; i++) {
        const entry *e = &l->all[i];
        bool is_root =
            !*e->name && (r->job->is_recursive || e->type == ENTRY_FILE) && e->type != ENTRY_LINK;
        if (!is_root && !entry_name_is_safe(e->name))
            line_refuse(r->job->line, "the name '%.100s' leads out of the folder", e->name);
        if (!is_root && !r->job->is_recursive)
            line_refuse(r->job->line, "more than one file came, and -r was not asked for");
        if (i > 0 && strcmp(l->all[i - 1].name, e->name) >= 0)
            line_refuse(r->job->line, "names came out of order");
    }
}

static void mark_gone(receiver *r, bool are_listed)
{
    if (!r->job->deletes)
        return;
    r->is_gone = array_new(r->own.n, sizeof *r->is_gone, "files");
    if (are_listed) {
        for (size_t i = 0; i < r->own.n; i++)
            r->is_gone[i] = !entry_find(&r->coming, r->own.all[i].name);
        return;
    }
    buffer message = job_receive_plain(r->job, PART_GONE, 8 * r->own.n);
    coded c = job_coded(&message);
    size_t n = message.size / 8;
    uint64_t *keys = array_new(n, sizeof *keys, "keys");
    for (size_t i = 0; i < n; i++)
        (void)coded_bytes(&c, &keys[i], 8);
    if (c.at < c.end)
        job_no_sense(r->job, "a list of keys");
    uint64_t *gone = key_set_of(keys, n);
    for (size_t i = 0; i < r->own.n; i++)
        r->is_gone[i] =
            key_set_has(gone, n, r->own_keys[i]) && !entry_find(&r->coming, r->own.all[i].name);
    free(gone);
    free(keys);
    buffer_free(&message);
}

/* What an entry takes beside its bytes, while it is listed, planned and made. */
enum { ENTRY_MEMORY = sizeof(entry) + sizeof(incoming) + 16 };

/* A few bytes unpack to a great many, and each five of these may be an entry. */
static void read_entries(receiver *r)
{
    buffer list = job_receive(r->job, PART_ENTRIES, SIZE_MAX);
    size_t n = entry_count(list.bytes, list.size);

    if (n > (r->job->memory - list.size) / ENTRY_MEMORY)
        line_refuse(r->job->line,
                    "a list of %zu files takes more than %zu bytes, which is larger than --memory "
                    "allows",
                    n, r->job->memory);
    if (!entry_read(&r->coming, &list))
        job_no_sense(r->job, "a list of files");
}

static void hear_entries(receiver *r)
{
    sync_job *job = r->job;
    buffer summary = job_receive_plain(job, PART_SUMMARY, sketch_most(ENTRY_NUMBERS));

    r->own = tree_list(&job->tree, job->is_recursive, false);
    r->own_keys = job_entry_keys(job, &r->own);
    bool are_listed = summary.size == 0 || !find_differences(r, &summary);
    read_entries(r);
    check_entries(r);
    mark_gone(r, are_listed);
    buffer_free(&summary);
}

/* ---- The plan ---------------------------------------------------------- */

static bool has_same_time(const entry *a, const entry *b)
{
    return a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

static bool has_same_content(const receiver *r, const entry *a, const entry *b)
{
    return a->size == b->size &&
           (r->job->by_content ? a->content == b->content : has_same_time(a, b));
}

static entry_plan plan_for(const receiver *r, const entry *e, const entry *old)
{
    if (!old || old->type != e->type)
        return e->type == ENTRY_FILE ? PLAN_WHOLE : PLAN_MAKE;
    if (e->type == ENTRY_LINK && strcmp(e->target, old->target) != 0)
        return PLAN_MAKE;
    if (e->type == ENTRY_FILE && !has_same_content(r, e, old))
        return old->size == 0 || e->size == 0 ? PLAN_WHOLE
               : old->size != e->size         ? PLAN_COMPARE
                                              : PLAN_VERIFY;
    bool keeps_mode = !r->job->is_recursive;
    return (e->mode == old->mode || keeps_mode) && has_same_time(e, old) ? PLAN_NOTHING
                                                                         : PLAN_FACTS;
}

static void count_entry(sync_job *job, const entry *e, bool is_new)
{
    job_show(job, is_new ? "makes" : "changes", e->name);
    *(is_new ? &job->n_new : &job->n_changed) += 1;
}

static void plan_entry(receiver *r, size_t i)
{
    const entry *e = &r->coming.all[i];
    const entry *old = entry_find(&r->own, e->name);
    entry_plan plan = plan_for(r, e, old);

    r->plans[i] = (uint8_t)plan;
    if (plan != PLAN_NOTHING)
        count_entry(r->job, e, plan == PLAN_MAKE || plan == PLAN_WHOLE);
    if (plan < PLAN_WHOLE)
        return;
    bool is_file = old && old->type == ENTRY_FILE && old->size > 0;
    r->files[r->n_files++] = (incoming){
        .entry = e,
        .old = is_file ? old : NULL,
        .number = i,
        .is_compared = plan >= PLAN_COMPARE,
        .is_verified = plan == PLAN_VERIFY,
        .keeps_mode = old && !r->job->is_recursive,
    };
    r->n_compared += plan >= PLAN_COMPARE;
    r->job->bytes += e->size;
}

/* What is made takes that on most disks, however small it is. */
enum { MADE_LEAST = 4096 };

/* Sizes are what the other side says; what it sends does not go beyond them. */
static void check_sizes(const receiver *r)
{
    uint64_t most = r->job->limit_size, all = 0;

    for (size_t i = 0; i < r->coming.n && most > 0; i++) {
        const entry *e = &r->coming.all[i];
        bool is_made = r->plans[i] == PLAN_MAKE || r->plans[i] >= PLAN_WHOLE;
        uint64_t size = e->size > MADE_LEAST ? e->size : MADE_LEAST;
        all += is_made ? size : 0; /* each is below 2^63, and so is the sum before */
        if (all > most)
            line_refuse(r->job->line,
                        "files of more than %" PRIu64 " bytes would come; --limit-size allows more",
                        most);
    }
}

static void make_plan(receiver *r)
{
    buffer message = { 0 };

    r->plans = array_new(r->coming.n, 1, "files");
    r->files = array_new(r->coming.n, sizeof *r->files, "files");
    for (size_t i = 0; i < r->coming.n; i++)
        plan_entry(r, i);
    check_sizes(r);
    buffer_append(&message, r->plans, r->coming.n);
    for (size_t i = 0; i < r->n_files; i++)
        if (r->files[i].is_verified)
            coded_put_bytes(&message, job_content(r->job, r->files[i].old), 8);
    for (size_t i = 0; i < r->own.n && r->is_gone; i++)
        if (r->is_gone[i]) {
            r->job->n_deleted++;
            const char *name = r->own.all[i].name;
            job_show(r->job, "deletes", name);
            buffer_append(&message, name, r->job->is_dry ? strlen(name) + 1 : 0);
        }
    job_send(r->job, PART_PLAN, &message);
}

/* ---- How files come ---------------------------------------------------- */

/* Bytes that go over the line, as far as sketches can tell. Text takes a quarter of its size. */
enum { SQUEEZE = 4, BYTES_A_STEP = 8 };

typedef struct estimate {
    chunk_list list; /* of the old file */
    uint64_t n_there;
    double differ, fresh_bytes, cost;
} estimate;

static estimate estimate_chunks(const receiver *r, const incoming *f, chunk_list list,
                                coded *sketches)
{
    size_t numbers = job_sketch_size(f->entry->size, r->scale);
    double size = (double)f->entry->size;
    uint64_t n_new;
    double differ = distance_to(r, sketches, list.keys, list.n, numbers, &n_new);
    double fresh = (differ + (double)n_new - (double)list.n) / 2;
    double bytes = n_new ? fmin(fresh * size / (double)n_new, size) : 0;

    return (estimate){ list, n_new, differ, bytes,
                       exchange_cost(differ) + BYTES_A_STEP * differ / 2 + bytes / SQUEEZE };
}

/* Each place that differs costs a block, where it costs one of the smallest chunks. */
static double cost_of_blocks(const incoming *f, const estimate *smallest, unsigned scale)
{
    signature_spec spec = job_blocks(f->old->size, f->entry->size, false);
    double hashes = (double)(f->old->size / spec.block + 1) * (4 + spec.strong);
    double more = smallest->differ / 2 * ((double)spec.block - (double)(CUTS_MEAN << scale));

    return hashes + fmin(smallest->fresh_bytes + more, (double)f->entry->size) / SQUEEZE;
}

/* How much larger than the old file the new one may be, if what is told of the old one shall pay:
 * in chunks, and in bytes. Beyond that the file comes whole. All numbers of the new one are what
 * the other side says, and symbols are made and sent by them, and the old file copied. */
enum { CHUNKS_TIMES = 8, CHUNKS_MORE = 64, BYTES_MORE = 1 << 16 };

static bool pays_by_chunks(const estimate *e)
{
    return e->differ <= (double)CHUNKS_TIMES * (double)e->list.n + CHUNKS_MORE;
}

static bool pays_by_blocks(const incoming *f)
{
    return f->entry->size <= BYTES_MORE ||
           (f->entry->size - BYTES_MORE) / GROWTH_TIMES <= f->old->size;
}

static file_how cheapest(const receiver *r, const incoming *f, const estimate *chunks)
{
    double whole = (double)f->entry->size / SQUEEZE,
           cost = r->job->way == WAY_ANY ? whole : INFINITY;
    file_how how = HOW_WHOLE;

    for (unsigned i = 0; i < CUTS_LEVELS && r->job->way != WAY_BLOCKS; i++)
        if (chunks[i].cost < cost && pays_by_chunks(&chunks[i])) {
            how = HOW_CHUNKS + i;
            cost = chunks[i].cost;
        }
    if (r->job->way == WAY_CHUNKS || !pays_by_blocks(f))
        return how;
    return cost_of_blocks(f, &chunks[0], r->scale) < cost ? HOW_BLOCKS : how;
}

static void choose_how(receiver *r, incoming *f, coded *sketches)
{
    estimate chunks[CUTS_LEVELS];
    cuts own = job_cuts(r->job, &r->cutter, f->old);

    for (unsigned i = 0; i < CUTS_LEVELS; i++)
        chunks[i] = estimate_chunks(r, f, cuts_level(&r->cutter, &own, i, f->number), sketches);
    f->how = cheapest(r, f, chunks);
    for (unsigned i = 0; i < CUTS_LEVELS; i++)
        if (f->how == HOW_CHUNKS + i) {
            f->list = chunks[i].list;
            r->n_there += chunks[i].n_there;
            r->differ += chunks[i].differ;
        } else {
            chunk_list_free(&chunks[i].list);
        }
    cuts_free(&own);
}

/* As rdiff has it, without the header. */
static void put_signature(const receiver *r, buffer *out, const incoming *f, bool is_sure)
{
    uint64_t old_size = f->old ? f->old->size : 0;
    signature_spec spec = job_blocks(old_size, f->entry->size, is_sure);
    buffer signature = { 0 };
    enum { HEADER = 12 };

    coded_put_number(out, old_size);
    if (!f->old)
        return;
    file_input in = job_open(r->job, f->old);
    tamis_status status = signature_make(&spec, file_next, &in, buffer_sink, &signature, NULL);
    if (status)
        die_status("read", in.path, status);
    if (in.at < old_size)
        die(CODE_IO, "%s became shorter while it was read", in.path);
    buffer_append(out, signature.bytes + HEADER, signature.size - HEADER);
    buffer_free(&signature);
    close(in.fd); /* only read */
}

static void tell_signatures(const receiver *r)
{
    buffer message = { 0 };

    for (size_t i = 0; i < r->n_files; i++)
        if (r->files[i].how == HOW_BLOCKS)
            put_signature(r, &message, &r->files[i], false);
    if (message.size > 0)
        job_send_plain(r->job, PART_BLOCKS, &message);
}

/* Of these only modes and times change. */
static void drop_same(receiver *r, coded *c)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_files; i++) {
        const incoming f = r->files[i];
        uint64_t is_same = 0;
        if (f.is_verified && (!coded_bytes(c, &is_same, 1) || is_same > 1))
            job_no_sense(r->job, "a sketch");
        if (is_same) {
            r->plans[f.number] = PLAN_FACTS;
            r->job->bytes -= f.entry->size;
        } else {
            r->files[n++] = f;
        }
    }
    r->n_files = n;
}

/* Bytes that come of the files of both sides. */
static size_t sketches_most(const receiver *r)
{
    size_t most = 1; /* the scale */

    for (size_t i = 0; i < r->n_files; i++) {
        const incoming *f = &r->files[i];
        most += f->is_verified;
        most += f->is_compared ? CUTS_LEVELS * sketch_most(job_sketch_size(f->entry->size, 0)) : 0;
    }
    return most;
}

static void choose_all(receiver *r)
{
    buffer sketches = job_receive(r->job, PART_SKETCHES, sketches_most(r)), choice = { 0 };
    coded c = job_coded(&sketches);
    uint64_t scale;

    drop_same(r, &c);
    if (!coded_number(&c, &scale) || scale > 8)
        job_no_sense(r->job, "a sketch");
    r->scale = (unsigned)scale;
    r->cutter = cutter_new(r->job->secret, r->scale);
    for (size_t i = 0; i < r->n_files; i++) {
        incoming *f = &r->files[i];
        if (!f->is_compared)
            continue;
        choose_how(r, f, &c);
        buffer_append(&choice, &(uint8_t){ (uint8_t)f->how }, 1);
    }
    if (c.at < c.end)
        job_no_sense(r->job, "a sketch");
    if (choice.size > 0)
        job_send(r->job, PART_CHOICE, &choice);
    buffer_free(&sketches);
}

/* ---- Recipes ----------------------------------------------------------- */

static void hear_recipes(receiver *r)
{
    size_t n_files = 0, n = 0;
    buffer keys = { 0 };

    for (size_t i = 0; i < r->n_files; i++) {
        chunk_list_keys(&r->files[i].list, &keys);
        n_files += r->files[i].how >= HOW_CHUNKS;
    }
    if (n_files > 0) {
        size_t n_here = keys.size / sizeof(uint64_t);
        exchange_tell(r->job, (const void *)keys.bytes, n_here, r->differ, r->n_there);
        r->message = job_receive(r->job, PART_RECIPE, SIZE_MAX);
        if (!recipe_read(&r->recipe, r->message.bytes, r->message.size, n_files, n_here))
            job_no_sense(r->job, "a recipe");
    }
    for (size_t i = 0; i < r->n_files; i++)
        if (r->files[i].how >= HOW_CHUNKS)
            r->files[i].steps = r->recipe.files[n++];
    buffer_free(&keys);
}

/* ---- Bytes ------------------------------------------------------------- */

/* A file that is being made. What goes wrong here is not the fault of the other side: hashes may
 * be equal by chance. The check tells, and the file is tried again. */
typedef struct making {
    receiver *r;
    const incoming *f;
    drain *from;
    replacement *to;
    int old; /* -1: none */
    uint64_t size;
    uint64_t piece; /* left of a delta */
    bool has_ended;
} making;

static bool put(void *ctx, const void *bytes, size_t size)
{
    making *m = ctx;

    if (size > m->f->entry->size - m->size)
        return false;
    m->size += size;
    return replace_write(m->to, bytes, size);
}

/* Bytes from the line; they are taken even if the file has become too long. */
static void put_fresh(making *m, uint64_t size)
{
    static _Thread_local char bytes[1 << 16];

    for (size_t n; size > 0; size -= n) {
        n = size < sizeof bytes ? (size_t)size : sizeof bytes;
        drain_read(m->from, bytes, n);
        (void)put(m, bytes, n);
    }
}

static bool read_old(void *ctx, void *bytes, size_t size, uint64_t offset)
{
    const making *m = ctx;
    const char *path = tree_name(&m->r->job->tree, m->f->entry->name);

    return file_read_all(m->old, path, bytes, size, offset);
}

static void put_old(making *m, uint64_t offset, uint64_t size)
{
    static _Thread_local char bytes[1 << 16];

    for (size_t n; size > 0; size -= n, offset += n) {
        n = size < sizeof bytes ? (size_t)size : sizeof bytes;
        if (!read_old(m, bytes, n, offset) || !put(m, bytes, n))
            return;
    }
}

/* Where one is in the old file. */
typedef struct place {
    size_t i;
    uint64_t offset;
} place;

/* The next chunks that are still there; fewer, if there are no more. */
static void put_kept(making *m, place *at, uint64_t n)
{
    const chunk_list *l = &m->f->list;

    for (; n > 0 && at->i < l->n; at->i++) {
        if (!recipe_lacks(&m->r->recipe, l->keys[at->i])) {
            put_old(m, at->offset, l->sizes[at->i]);
            n--;
        }
        at->offset += l->sizes[at->i];
    }
}

static void put_chunks(making *m)
{
    coded steps = m->f->steps;
    place at = { 0 };
    uint64_t kept, fresh;

    while (recipe_next(&steps, &kept, &fresh)) {
        put_kept(m, &at, kept);
        put_fresh(m, fresh);
    }
    put_kept(m, &at, UINT64_MAX);
}

static uint64_t next_size(making *m)
{
    uint64_t size = 0;
    uint8_t byte;
    unsigned shift = 0;

    do {
        drain_read(m->from, &byte, 1);
        if (shift > 56)
            job_no_sense(m->r->job, "a delta");
        size |= (uint64_t)(byte & 127) << shift;
        shift += 7;
    } while (byte & 128);
    return size;
}

static size_t next_of_delta(void *ctx, void *bytes, size_t size)
{
    making *m = ctx;

    if (m->piece == 0 && !m->has_ended)
        m->has_ended = (m->piece = next_size(m)) == 0;
    size_t n = m->piece < size ? (size_t)m->piece : size;
    drain_read(m->from, bytes, n);
    m->piece -= n;
    return n;
}

static void put_delta(making *m)
{
    char rest[4096];
    uint64_t old_size = m->f->old ? m->f->old->size : 0;
    tamis_status status = delta_apply(next_of_delta, m, read_old, m, old_size, put, m);

    if (status && status != TAMIS_IO)
        job_no_sense(m->r->job, "a delta");
    while (next_of_delta(m, rest, sizeof rest) > 0)
        continue;
}

static void make_file(receiver *r, drain *from, incoming *f)
{
    sync_job *job = r->job;
    tamis_hasher by = job_hasher(job);
    making m = { .r = r, .f = f, .from = from, .old = f->old ? tree_read(&job->tree, f->old) : -1 };
    uint8_t check[8];

    m.to = tree_begin_file(&job->tree, f->entry, job->deletes);
    if (f->how == HOW_WHOLE)
        put_fresh(&m, f->entry->size);
    else if (f->how == HOW_BLOCKS)
        put_delta(&m);
    else
        put_chunks(&m);
    drain_read(from, check, sizeof check);
    file_input made = { replace_fd(m.to), tree_name(&job->tree, f->entry->name), 0, m.size };
    f->has_failed = m.size != f->entry->size || file_check(made, &by) != le64(check);
    if (f->has_failed) {
        replace_forget(m.to);
    } else {
        /* One by one, many small files would wait for the disk: a folder is synced as a whole. */
        (job->is_recursive ? replace_end_soon : replace_end)(m.to);
        tree_set_facts(&job->tree, f->entry, f->keeps_mode);
    }
    if (m.old >= 0)
        close(m.old); /* only read */
}

static void make_files(receiver *r)
{
    drain *from = drain_begin(r->job);

    for (size_t i = 0; i < r->n_files; i++) {
        make_file(r, from, &r->files[i]);
        if (r->job->is_watched)
            progress_show(i + 1, r->n_files, "files");
    }
    drain_end(from);
}

/* Keeps the files that failed, and asks for them by blocks; with long hashes, if that failed. */
static bool ask_again(receiver *r)
{
    buffer message = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < r->n_files; i++) {
        incoming f = r->files[i];
        chunk_list_free(&f.list);
        if (!f.has_failed)
            continue;
        f.old = f.old && pays_by_blocks(&f) ? f.old : NULL;
        coded_put_number(&message, f.number);
        put_signature(r, &message, &f, f.how == HOW_BLOCKS);
        f.how = HOW_BLOCKS;
        r->files[n++] = f;
    }
    r->n_files = n;
    job_send_plain(r->job, PART_FAILED, &message);
    return n > 0;
}

static void receive_files(receiver *r)
{
    if (r->n_compared > 0) {
        choose_all(r);
        tell_signatures(r);
        hear_recipes(r);
    }
    if (r->n_files == 0)
        return;
    for (int tries = 0;; tries++) {
        make_files(r);
        for (size_t i = 0; i < r->n_files && tries == FILE_TRIES; i++)
            if (r->files[i].has_failed)
                line_refuse(r->job->line, "%s came out wrong again: it changes, or hashes lie",
                            tree_name(&r->job->tree, r->files[i].entry->name));
        if (!ask_again(r))
            return;
        r->job->n_again += r->n_files;
    }
}

/* ---- Everything else --------------------------------------------------- */

static void make_folders(receiver *r)
{
    for (size_t i = 0; i < r->coming.n; i++)
        if (r->coming.all[i].type == ENTRY_FOLDER && r->plans[i] == PLAN_MAKE)
            tree_make_folder(&r->job->tree, &r->coming.all[i], r->job->deletes);
}

static void delete_gone(receiver *r)
{
    for (size_t i = r->own.n; i-- > 0 && r->is_gone;)
        if (r->is_gone[i] && *r->own.all[i].name)
            tree_delete(&r->job->tree, &r->own.all[i]);
}

/* A folder that did not change itself has another time now, if something in it changed. */
static void restore_times(receiver *r)
{
    for (size_t i = 0; i < r->own.n; i++) {
        const entry *e = &r->own.all[i];
        bool is_gone = r->is_gone && r->is_gone[i];
        if (e->type == ENTRY_FOLDER && !is_gone && !entry_find(&r->coming, e->name))
            tree_set_facts(&r->job->tree, e, true);
    }
}

/* Times of folders last: they change with what is in them. */
static void finish_entries(receiver *r)
{
    for (size_t i = r->coming.n; i-- > 0;) {
        const entry *e = &r->coming.all[i];
        if (e->type == ENTRY_LINK && r->plans[i] == PLAN_MAKE)
            tree_make_link(&r->job->tree, e, r->job->deletes);
        if (r->plans[i] == PLAN_FACTS || r->plans[i] == PLAN_MAKE)
            tree_set_facts(&r->job->tree, e, !r->job->is_recursive);
    }
}

void receiver_run(sync_job *job)
{
    receiver r = { .job = job };

    hear_entries(&r);
    make_plan(&r);
    if (!job->is_dry) {
        make_folders(&r);
        receive_files(&r);
        delete_gone(&r);
        finish_entries(&r);
        if (job->n_new + job->n_changed + job->n_deleted > 0)
            restore_times(&r);
        if (job->bytes > 0)
            tree_sync(&job->tree);
    }
    line_send(job->line, PART_DONE, NULL, 0);
    recipe_free(&r.recipe);
    buffer_free(&r.message);
    free(r.files);
    free(r.plans);
    free(r.is_gone);
    free(r.own_keys);
    entry_free(&r.own);
    entry_free(&r.coming);
}
