/* sender.c - the side that has the files as they shall be. */
#include <stdlib.h>
#include <unistd.h>

#include "byte_stream.h"
#include "delta.h"
#include "entry_message.h"
#include "exchange.h"
#include "key_set.h"
#include "recipe.h"
#include "sketch.h"
#include "term/array.h"
#include "term/message.h"
#include "term/progress.h"
#include "text/byte_order.h"

/* Bytes that the receiver lacks, after so many chunks that it has. */
typedef struct span {
    uint64_t kept, offset, size;
} span;

/* A file that goes to the receiver. */
typedef struct outgoing {
    const entry *entry;
    uint64_t number; /* among the entries that were sent */
    bool is_compared, is_verified, is_same;
    file_how how;
    cuts cuts;        /* if it is compared */
    chunk_list list;  /* if it goes in chunks */
    buffer changes;   /* likewise: spans */
    buffer signature; /* if it goes by blocks */
} outgoing;

typedef struct sender {
    sync_job *job;
    entry_list entries; /* all there are */
    const entry **sent;
    size_t n_sent;
    outgoing *files;
    size_t n_files, n_compared;
    cutter cutter;
} sender;

/* ---- Entries ----------------------------------------------------------- */

/* Lists that are not much longer than a sketch are sent at once. */
enum { SHORT_LIST = 8, ENTRY_NUMBERS = 64 };

static void put_sketch(buffer *out, const uint64_t *keys, size_t n, size_t size)
{
    int64_t numbers[SKETCH_MOST];

    sketch_make(numbers, size, keys, n);
    sketch_write(out, numbers, size, n);
}

static void send_entries(const sender *s, char part)
{
    buffer message = { 0 };

    entry_write(&message, s->sent, s->n_sent);
    job_send(s->job, part, &message);
}

static void send_gone(const sender *s, const tamis_difference *d)
{
    size_t n;
    const uint64_t *there = tamis_difference_there(d, &n);
    buffer message = { 0 };

    for (size_t i = 0; i < n; i++)
        coded_put_bytes(&message, there[i], 8);
    job_send_plain(s->job, PART_GONE, &message);
}

/* Only those that the receiver lacks. */
static void choose_entries(sender *s, const tamis_difference *d, const uint64_t *keys)
{
    size_t n;
    const uint64_t *found = tamis_difference_here(d, &n);
    uint64_t *here = key_set_of(found, n);

    s->n_sent = 0;
    for (size_t i = 0; i < s->entries.n; i++)
        if (key_set_has(here, n, keys[i]))
            s->sent[s->n_sent++] = &s->entries.all[i];
    free(here);
}

static void tell_entries(sender *s, const uint64_t *keys)
{
    buffer summary = { 0 };

    put_sketch(&summary, keys, s->entries.n, ENTRY_NUMBERS);
    job_send_plain(s->job, PART_SUMMARY, &summary);
    tamis_difference *d = exchange_find(s->job, keys, s->entries.n);
    if (d)
        choose_entries(s, d, keys);
    send_entries(s, PART_ENTRIES);
    if (d && s->job->deletes)
        send_gone(s, d);
    tamis_difference_free(d);
}

static void send_list(sender *s)
{
    sync_job *job = s->job;

    s->entries = tree_list(&job->tree, job->is_recursive, true);
    if (s->entries.n == 0)
        die(CODE_IO, "cannot read %s: there is no such file or folder", job->tree.path);
    if (!job->is_recursive && s->entries.all[0].type == ENTRY_FOLDER)
        die(CODE_USAGE, "sync: %s is a folder; -r takes folders", job->tree.path);
    uint64_t *keys = job_entry_keys(job, &s->entries);
    s->sent = array_new(s->entries.n, sizeof *s->sent, "files");
    s->n_sent = s->entries.n;
    for (size_t i = 0; i < s->entries.n; i++)
        s->sent[i] = &s->entries.all[i];
    if (s->n_sent <= SHORT_LIST) {
        job_send_plain(job, PART_SUMMARY, &(buffer){ 0 });
        send_entries(s, PART_ENTRIES);
    } else {
        tell_entries(s, keys);
    }
    free(keys);
}

/* ---- The plan of the receiver ------------------------------------------ */

static void count_entry(const sender *s, const entry *e, uint64_t plan)
{
    static const char *const WHAT[] = { NULL, "changes", "makes", "makes", "changes", "changes" };

    if (plan == PLAN_NOTHING)
        return;
    job_show(s->job, WHAT[plan], e->name);
    if (plan == PLAN_MAKE || plan == PLAN_WHOLE)
        s->job->n_new++;
    else
        s->job->n_changed++;
}

static void add_file(sender *s, size_t i, uint64_t plan)
{
    s->files[s->n_files++] = (outgoing){ .entry = s->sent[i],
                                         .number = i,
                                         .is_compared = plan >= PLAN_COMPARE,
                                         .is_verified = plan == PLAN_VERIFY };
    s->n_compared += plan >= PLAN_COMPARE;
    s->job->bytes += s->sent[i]->size;
}

static void verify_contents(sender *s, coded *c)
{
    uint64_t there;

    for (size_t i = 0; i < s->n_files; i++) {
        outgoing *f = &s->files[i];
        if (!f->is_verified)
            continue;
        if (!coded_bytes(c, &there, 8))
            job_no_sense(s->job, "a plan");
        f->is_same = there == job_content(s->job, f->entry);
    }
}

static void hear_plan(sender *s)
{
    /* For each entry what is done and a hash; in a dry run, names follow. */
    buffer plan = job_receive(s->job, PART_PLAN, s->job->is_dry ? SIZE_MAX : 9 * s->n_sent);
    coded c = job_coded(&plan);

    s->files = array_new(s->n_sent, sizeof *s->files, "files");
    for (size_t i = 0; i < s->n_sent; i++) {
        uint64_t one;
        if (!coded_bytes(&c, &one, 1) || one > PLAN_VERIFY ||
            (one >= PLAN_WHOLE && s->sent[i]->type != ENTRY_FILE))
            job_no_sense(s->job, "a plan");
        count_entry(s, s->sent[i], one);
        if (one >= PLAN_WHOLE)
            add_file(s, i, one);
    }
    verify_contents(s, &c);
    job_hear_deleted(s->job, &c);
    buffer_free(&plan);
}

/* ---- Files that both have ---------------------------------------------- */

static unsigned choose_scale(const sender *s)
{
    uint64_t bytes = 0;
    unsigned scale = 0;

    for (size_t i = 0; i < s->n_files; i++)
        bytes += s->files[i].is_compared ? s->files[i].entry->size : 0;
    while (scale < 8 && bytes / CUTS_MEAN >> scale > 1 << 20)
        scale++;
    return scale;
}

static void put_sketches(sender *s, buffer *out, outgoing *f, unsigned scale)
{
    f->cuts = job_cuts(s->job, &s->cutter, f->entry);
    for (unsigned level = 0; level < CUTS_LEVELS; level++) {
        chunk_list l = cuts_level(&s->cutter, &f->cuts, level, f->number);
        put_sketch(out, l.keys, l.n, job_sketch_size(f->entry->size, scale));
        chunk_list_free(&l);
    }
}

/* Files that only changed their time are not sent. */
static void drop_same(sender *s, buffer *out)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_files; i++) {
        const outgoing f = s->files[i];
        if (f.is_verified)
            buffer_append(out, &(uint8_t){ f.is_same }, 1);
        if (!f.is_same)
            s->files[n++] = f;
        else
            s->job->bytes -= f.entry->size;
    }
    s->n_compared -= s->n_files - n;
    s->n_files = n;
}

static void send_sketches(sender *s)
{
    buffer message = { 0 };

    drop_same(s, &message);
    unsigned scale = choose_scale(s);
    s->cutter = cutter_new(s->job->secret, scale);
    coded_put_number(&message, scale);
    for (size_t i = 0; i < s->n_files; i++)
        if (s->files[i].is_compared)
            put_sketches(s, &message, &s->files[i], scale);
    job_send(s->job, PART_SKETCHES, &message);
}

static void hear_choice(sender *s)
{
    buffer choice = job_receive(s->job, PART_CHOICE, s->n_files);
    coded c = job_coded(&choice);

    for (size_t i = 0; i < s->n_files; i++) {
        outgoing *f = &s->files[i];
        uint64_t how;
        if (!f->is_compared)
            continue;
        if (!coded_bytes(&c, &how, 1) || how >= HOW_CHUNKS + CUTS_LEVELS)
            job_no_sense(s->job, "a choice");
        f->how = (file_how)how;
        if (how >= HOW_CHUNKS)
            f->list = cuts_level(&s->cutter, &f->cuts, (unsigned)how - HOW_CHUNKS, f->number);
        cuts_free(&f->cuts);
    }
    buffer_free(&choice);
}

/* A signature as rdiff has it, but for its header, which follows from the sizes. */
static void take_signature(sender *s, coded *c, outgoing *f, bool is_sure)
{
    uint64_t old_size;

    if (!coded_number(c, &old_size) || old_size > INT64_MAX)
        job_no_sense(s->job, "a signature");
    signature_spec spec = job_blocks(old_size, f->entry->size, is_sure);
    uint64_t blocks = old_size / spec.block + (old_size % spec.block > 0);
    uint64_t size = blocks * (4 + spec.strong);
    const uint32_t header[] = { spec.format, spec.block, spec.strong };
    if (size > (uint64_t)(c->end - c->at))
        job_no_sense(s->job, "a signature");
    f->how = HOW_BLOCKS;
    f->signature.size = 0;
    for (int i = 0; i < 3; i++)
        coded_put_bytes(&f->signature, __builtin_bswap32(header[i]), 4);
    buffer_append(&f->signature, c->at, (size_t)size);
    c->at += size;
}

static bool any_goes(const sender *s, bool by_chunks)
{
    for (size_t i = 0; i < s->n_files; i++)
        if (by_chunks ? s->files[i].how >= HOW_CHUNKS : s->files[i].how == HOW_BLOCKS)
            return true;
    return false;
}

static void hear_signatures(sender *s)
{
    if (!any_goes(s, false))
        return;
    buffer message = job_receive_plain(s->job, PART_BLOCKS, SIZE_MAX);
    coded c = job_coded(&message);
    for (size_t i = 0; i < s->n_files; i++)
        if (s->files[i].how == HOW_BLOCKS)
            take_signature(s, &c, &s->files[i], false);
    if (c.at < c.end)
        job_no_sense(s->job, "a signature");
    buffer_free(&message);
}

/* ---- Recipes ----------------------------------------------------------- */

static void find_spans(outgoing *f, const uint64_t *fresh, size_t n)
{
    const chunk_list *l = &f->list;
    span now = { 0 };

    for (size_t i = 0; i < l->n; i++) {
        bool is_fresh = key_set_has(fresh, n, l->keys[i]);
        if (!is_fresh && now.size > 0) {
            buffer_append(&f->changes, &now, sizeof now);
            now = (span){ .offset = now.offset + now.size };
        }
        now.kept += !is_fresh;
        *(is_fresh ? &now.size : &now.offset) += l->sizes[i];
    }
    if (now.size > 0)
        buffer_append(&f->changes, &now, sizeof now);
}

static void put_recipe(buffer *out, const outgoing *f)
{
    coded_put_number(out, f->changes.size / sizeof(span));
    for (const span *one = NULL; (one = buffer_next(&f->changes, one, sizeof *one));) {
        coded_put_number(out, one->kept);
        coded_put_number(out, one->size);
    }
}

static void tell_recipes(sender *s)
{
    buffer keys = { 0 }, message = { 0 };
    size_t n_here, n;

    if (!any_goes(s, true))
        return;
    for (size_t i = 0; i < s->n_files; i++)
        chunk_list_keys(&s->files[i].list, &keys);
    n_here = keys.size / sizeof(uint64_t);
    tamis_difference *d = exchange_find(s->job, (const void *)keys.bytes, n_here);
    if (!d)
        job_no_sense(s->job, "a message without symbols");
    const uint64_t *there = tamis_difference_there(d, &n);
    recipe_put_gone(&message, there, n, n_here);
    const uint64_t *found = tamis_difference_here(d, &n);
    uint64_t *fresh = key_set_of(found, n);
    for (size_t i = 0; i < s->n_files; i++)
        if (s->files[i].how >= HOW_CHUNKS) {
            find_spans(&s->files[i], fresh, n);
            put_recipe(&message, &s->files[i]);
        }
    job_send(s->job, PART_RECIPE, &message);
    tamis_difference_free(d);
    free(fresh);
    buffer_free(&keys);
}

/* ---- Bytes ------------------------------------------------------------- */

static void pour_span(pour *to, const file_input *in, const span *one)
{
    static _Thread_local char bytes[1 << 16];

    for (uint64_t done = 0; done < one->size;) {
        uint64_t left = one->size - done;
        size_t got =
            file_read(in->fd, in->path, bytes, left < sizeof bytes ? (size_t)left : sizeof bytes,
                      one->offset + done);
        if (got == 0)
            die(CODE_IO, "%s became shorter while it was sent", in->path);
        pour_write(to, bytes, got);
        done += got;
    }
}

/* A delta is cut into pieces, each with its size before it; one of no size is the end. */
static bool pour_piece(void *to, const void *bytes, size_t size)
{
    buffer head = { 0 };

    if (size > 0) {
        coded_put_number(&head, size);
        pour_write(to, head.bytes, head.size);
        pour_write(to, bytes, size);
        buffer_free(&head);
    }
    return true;
}

static void pour_delta(const sender *s, pour *to, file_input in, const outgoing *f)
{
    coded c = job_coded(&f->signature);
    block_signature *signature;
    tamis_status status = signature_load(&signature, coded_next, &c, 0, NULL);

    if (status)
        job_no_sense(s->job, "a signature");
    status = delta_make(signature, file_next, &in, pour_piece, to, NULL);
    if (status)
        die_status("read", in.path, status);
    pour_write(to, "", 1);
    signature_free(signature);
}

static void pour_file(const sender *s, pour *to, const outgoing *f)
{
    tamis_hasher by = job_hasher(s->job);
    file_input in = job_open(s->job, f->entry);
    uint8_t check[8];

    if (f->how == HOW_WHOLE)
        pour_span(to, &in, &(span){ .size = f->entry->size });
    else if (f->how == HOW_BLOCKS)
        pour_delta(s, to, in, f);
    for (const span *one = NULL; (one = buffer_next(&f->changes, one, sizeof *one));)
        pour_span(to, &in, one);
    put_le64(check, file_check(in, &by));
    pour_write(to, check, sizeof check);
    close(in.fd); /* only read */
}

static uint64_t bytes_to_pour(const outgoing *f)
{
    uint64_t bytes = 0;

    for (const span *one = NULL; (one = buffer_next(&f->changes, one, sizeof *one));)
        bytes += one->size;
    return f->how >= HOW_CHUNKS ? bytes : f->entry->size;
}

static void send_files(const sender *s)
{
    uint64_t expected = 0, done = 0;

    for (size_t i = 0; i < s->n_files; i++)
        expected += bytes_to_pour(&s->files[i]);
    pour *to = pour_begin(s->job, expected);
    for (size_t i = 0; i < s->n_files; i++) {
        pour_file(s, to, &s->files[i]);
        done += bytes_to_pour(&s->files[i]);
        if (s->job->is_watched)
            progress_show(done, expected, "bytes");
    }
    pour_end(to);
}

/* ---- Second try -------------------------------------------------------- */

static void free_file(outgoing *f)
{
    cuts_free(&f->cuts);
    chunk_list_free(&f->list);
    buffer_free(&f->signature);
    buffer_free(&f->changes);
}

/* Keeps the files that failed, which go by blocks now, with long hashes if they did before. False:
 * none did. */
static bool hear_failed(sender *s)
{
    buffer message = job_receive_plain(s->job, PART_FAILED, SIZE_MAX);
    coded c = job_coded(&message);
    size_t n = 0;

    for (size_t i = 0; i < s->n_files; i++) {
        coded peek = c;
        uint64_t number;
        if (c.at < c.end && !coded_number(&peek, &number))
            job_no_sense(s->job, "a list of files");
        bool is_sure = s->files[i].how == HOW_BLOCKS;
        outgoing f = { .entry = s->files[i].entry, .number = s->files[i].number };
        free_file(&s->files[i]);
        if (c.at == c.end || number != f.number)
            continue;
        c = peek;
        take_signature(s, &c, &f, is_sure);
        s->files[n++] = f;
    }
    if (c.at < c.end)
        job_no_sense(s->job, "a list of files");
    buffer_free(&message);
    s->n_files = n;
    return n > 0;
}

static void send_changes(sender *s)
{
    if (s->n_compared > 0)
        send_sketches(s);
    if (s->n_compared > 0) {
        hear_choice(s);
        hear_signatures(s);
        tell_recipes(s);
    }
    if (s->n_files == 0)
        return;
    for (int tries = 0;; tries++) {
        send_files(s);
        if (!hear_failed(s))
            return;
        if (tries == FILE_TRIES)
            job_no_sense(s->job, "a list of files");
        s->job->n_again += s->n_files;
    }
}

void sender_run(sync_job *job)
{
    sender s = { .job = job };

    send_list(&s);
    hear_plan(&s);
    if (!job->is_dry)
        send_changes(&s);
    /* The receiver says that all is done. */
    line_expect(job->line, PART_DONE);
    free(s.files);
    free(s.sent);
    entry_free(&s.entries);
}
