/* sync_job.c - what both sides compute in the same way. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "entry_message.h"
#include "sketch.h"
#include "sync_job.h"
#include "term/array.h"
#include "term/unicode.h"
#include "wire/packed_message.h"

tamis_hasher job_hasher(const sync_job *job)
{
    tamis_hasher h = { .hash = TAMIS_KEYED };

    memcpy(h.secret, job->secret, sizeof h.secret);
    return h;
}

enum { LEAST_BLOCK = 700, MOST_BLOCK = 1 << 17, ROLLING_BITS = 32, SURE_BITS = 40, STRONG = 32 };

/* Any byte of the new file may start a block that looks like one of the old file: hashes are long
 * enough for that to happen in one file of 2^40. */
signature_spec job_blocks(uint64_t old_size, uint64_t new_size, bool is_sure)
{
    uint32_t block = (uint32_t)sqrt((double)old_size);

    block = block < LEAST_BLOCK ? LEAST_BLOCK : block > MOST_BLOCK ? MOST_BLOCK : block;
    double bits = log2((double)new_size + 1) + log2((double)(old_size / block) + 1) + SURE_BITS -
                  ROLLING_BITS;
    uint32_t strong = (uint32_t)ceil(bits / 8);
    return (signature_spec){ SIGNATURE_RABIN_BLAKE2, block,
                             is_sure || strong > STRONG ? STRONG : strong };
}

enum { LEAST_SKETCH = 8, CHUNKS_A_NUMBER = 16 };

size_t job_sketch_size(uint64_t size, unsigned scale)
{
    uint64_t n = size / ((uint64_t)CUTS_MEAN << scale) / CHUNKS_A_NUMBER;

    return n < LEAST_SKETCH ? LEAST_SKETCH : n > SKETCH_MOST ? SKETCH_MOST : (size_t)n;
}

file_input job_open(sync_job *job, const entry *e)
{
    return (file_input){ tree_read(&job->tree, e), tree_name(&job->tree, e->name), 0, e->size };
}

cuts job_cuts(sync_job *job, const cutter *by, const entry *e)
{
    file_input in = job_open(job, e);
    cuts all = cuts_of(by, &in);

    close(in.fd); /* only read */
    return all;
}

uint64_t job_content(sync_job *job, const entry *e)
{
    tamis_hasher by = job_hasher(job);
    file_input in = job_open(job, e);
    uint64_t check = file_check(in, &by);

    close(in.fd); /* only read */
    line_breathe(job->line);
    return check;
}

uint64_t *job_entry_keys(sync_job *job, entry_list *l)
{
    uint64_t *keys = array_new(l->n, sizeof *keys, "keys");
    tamis_hasher by = job_hasher(job);

    for (size_t i = 0; i < l->n; i++) {
        if (job->by_content && l->all[i].type == ENTRY_FILE)
            l->all[i].content = job_content(job, &l->all[i]);
        keys[i] = entry_key(&l->all[i], &by);
    }
    return keys;
}

/* ---- Dry runs ---------------------------------------------------------- */

void job_show(const sync_job *job, const char *what, const char *name)
{
    if (!job->shows)
        return;
    char text[PATH_MAX + 1];
    snprintf(text, sizeof text, "%s", *name ? name : ".");
    printf("%-7s  %.*s\n", what, (int)unicode_clean(text, strlen(text)), text);
}

void job_hear_deleted(sync_job *job, coded *c)
{
    const uint8_t *end;

    while (c->at < c->end && (end = memchr(c->at, 0, (size_t)(c->end - c->at)))) {
        job_show(job, "deletes", (const char *)c->at);
        job->n_deleted++;
        c->at = end + 1;
    }
    if (c->at < c->end)
        job_no_sense(job, "a plan");
}

/* ---- Messages ---------------------------------------------------------- */

void job_send(const sync_job *job, char part, buffer *message)
{
    packed_put(job->line, part, message, job->offers);
}

void job_send_plain(const sync_job *job, char part, buffer *message)
{
    packed_put(job->line, part, message, 0);
}

buffer job_receive(const sync_job *job, char part, size_t most)
{
    buffer message = { 0 };

    packed_receive(job->line, part, &message, most < job->memory ? most : job->memory);
    return message;
}

buffer job_receive_plain(const sync_job *job, char part, size_t most)
{
    buffer message = { 0 };

    packed_receive_plain(job->line, part, &message, most < job->memory ? most : job->memory);
    return message;
}

coded job_coded(const buffer *message)
{
    return coded_of(message->bytes, message->size);
}

void job_no_sense(const sync_job *job, const char *what)
{
    line_refuse(job->line, "%s that came makes no sense", what);
}
