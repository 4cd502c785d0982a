/* sync_job.h - what both sides of tamis sync know of each other, and what they say. The sender has
 * the files as they shall be, the receiver as they were. Either may be the side that asks. */
#ifndef TAMIS_APPS_SYNC_SYNC_JOB_H
#define TAMIS_APPS_SYNC_SYNC_JOB_H

#include "cuts.h"
#include "files/tree.h"
#include "wire/connection.h"

enum {
    PART_REQUEST = 'Q',  /* what is asked for */
    PART_SUMMARY = 'E',  /* of the sender's entries: all of them, or a sketch */
    PART_SYMBOLS = 'S',  /* of keys of the receiver */
    PART_MORE = 'M',     /* how many symbols more are needed */
    PART_ENTRIES = 'L',  /* of the sender, that the receiver may lack */
    PART_GONE = 'G',     /* keys of entries that the sender lacks */
    PART_PLAN = 'P',     /* what the receiver does about each entry */
    PART_SKETCHES = 'K', /* of files that both have */
    PART_CHOICE = 'C',   /* how each of them is sent */
    PART_BLOCKS = 'B',   /* signatures */
    PART_RECIPE = 'R',   /* how files are made of chunks */
    PART_DATA = 'D',     /* bytes of files */
    PART_FAILED = 'F',   /* files that did not come out right */
    PART_DONE = 'Z',     /* the receiver has done all */
};

typedef enum sync_way { WAY_ANY, WAY_BLOCKS, WAY_CHUNKS } sync_way;

typedef struct sync_job {
    line *line;
    uint64_t offers; /* of the other side, and of this one */
    tree tree;
    size_t memory;       /* most that a message may take, with what is made of it */
    uint64_t limit_size; /* most that the files that come may have; 0: what growth.h says */
    bool is_watched;     /* progress is shown: on one side, if both are here */
    bool shows;          /* what a dry run would do */
    /* The request: */
    bool is_recursive, deletes, by_content, is_dry;
    sync_way way;
    uint8_t secret[16];
    /* The result: */
    uint64_t n_new, n_changed, n_deleted, n_again;
    uint64_t bytes; /* of files that are new or changed */
} sync_job;

tamis_hasher job_hasher(const sync_job *job);

/* What the receiver does about an entry. Hashes of files with PLAN_VERIFY follow the plans. */
typedef enum entry_plan {
    PLAN_NOTHING,
    PLAN_FACTS, /* mode and times */
    PLAN_MAKE,
    PLAN_WHOLE,   /* the file has to come */
    PLAN_COMPARE, /* what the old file lacks has to come */
    PLAN_VERIFY,  /* the same, unless its hash is right */
} entry_plan;

/* How a file comes; from HOW_CHUNKS on in chunks of that level. */
typedef enum file_how { HOW_WHOLE, HOW_BLOCKS, HOW_CHUNKS } file_how;

/* A file that came out wrong is tried again: by blocks, then by blocks with long hashes. */
enum { FILE_TRIES = 2 };

/* Blocks of an old file. `is_sure`: with hashes of full length. */
signature_spec job_blocks(uint64_t old_size, uint64_t new_size, bool is_sure);
/* How many numbers a sketch of that file has. */
size_t job_sketch_size(uint64_t size, unsigned scale);

/* A file of that side, to be closed. */
file_input job_open(sync_job *job, const entry *e);
/* What is in it, as chunks, or as a hash. */
cuts job_cuts(sync_job *job, const cutter *by, const entry *e);
uint64_t job_content(sync_job *job, const entry *e);
/* Of each entry. Sets entry.content of files, if contents are compared. */
uint64_t *job_entry_keys(sync_job *job, entry_list *l);

/* A message of one part, of any length. */
void job_send(const sync_job *job, char part, buffer *message);
void job_send_plain(const sync_job *job, char part, buffer *message);
/* No more than `most` bytes, and no more than the memory that there is. */
buffer job_receive(const sync_job *job, char part, size_t most);
buffer job_receive_plain(const sync_job *job, char part, size_t most);

coded job_coded(const buffer *message);
/* What came is no such thing. */
_Noreturn void job_no_sense(const sync_job *job, const char *what);

/* One line for each entry that is new, changed or deleted, in a dry run. */
void job_show(const sync_job *job, const char *what, const char *name);

/* Names of what is deleted follow the plan, in a dry run. */
void job_hear_deleted(sync_job *job, coded *c);

void sender_run(sync_job *job);
void receiver_run(sync_job *job);

#endif
