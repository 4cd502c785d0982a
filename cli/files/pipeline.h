/* pipeline.h - inputs to batches of keys, on several threads, with results in input order. */
#ifndef TAMIS_CLI_FILES_PIPELINE_H
#define TAMIS_CLI_FILES_PIPELINE_H

#include "term/buffer.h"
#include "text/keys.h"

enum { THREADS_MAX = 256 };

/* Where keys come from. */
typedef struct source {
    key_format format;
    char *const *names; /* of inputs; NULL ends them */
    unsigned threads;
    bool takes_packed;       /* compressed inputs are read as they are */
    const char *field_names; /* of --field, if one is no number: inputs have a header */
    const char *value_name;  /* of --values-field, likewise */
    size_t line_max;         /* as in the reader */
    size_t overlap;          /* of chunks that are not lines but any bytes; 0: they are lines */
} source;

/* A chunk of lines on its way through. */
typedef struct job {
    buffer text;
    batch batch;       /* the current one of its lines */
    buffer out;        /* what take_batch leaves for finish_chunk */
    uint64_t selected; /* lines, likewise */
    uint64_t turn;     /* its place among the chunks */
    const char *input; /* its name, and its place among the inputs */
    uint64_t input_number;
    uint64_t start;    /* where the chunk begins in it */
    bool is_last;      /* with overlap: nothing of it follows */
    bool has_header;   /* one was before the chunk; it counts as a line, */
    bool shows_header; /* and is the first of all */
    uint64_t lines, keyless;
    key_fault fault;
    int error;       /* errno if its input could not be read; there is no text then */
    const char *why; /* in place of errno */
} job;

typedef struct pipeline {
    /* Called for each batch, by any thread, in any order. */
    void (*take_batch)(void *ctx, job *j);
    /* In its place, for those who split chunks themselves: called for each, and sets j->lines. */
    void (*take_chunk)(void *ctx, job *j);
    /* Called for each chunk after its batches, one at a time and in input order. May be NULL. */
    void (*finish_chunk)(void *ctx, job *j);
    /* Called with the header of the first input before its first chunk is finished, if inputs have
     * one. May be NULL. */
    void (*take_header)(void *ctx, const char *line, size_t size);
    /* Called for an input that could not be read to its end, with the line that lacks its own, for
     * those who can say more about it than the reader. May be NULL. */
    void (*refuse_text)(void *ctx, const job *j);
    void *ctx;
} pipeline;

/* A take_batch that keeps the keys for finish_chunk, and how to get at them there. */
void pipeline_keep_keys(void *ctx, job *j);
const uint64_t *pipeline_kept_keys(const job *j, size_t *n);

/* Sends all inputs through. Bad input ends the program. With one thread, the caller does all work.
 * Returns how many lines there were, and warns of those without the field. */
uint64_t pipeline_run(const pipeline *p, source *s);

/* Memory of the program, and of what each thread reads and hashes. */
uint64_t source_own_memory(const source *s);
/* What is left for the rest of --memory, at least `least`, or the program ends; 0: as much as it
 * takes. */
uint64_t source_memory(const source *s, uint64_t memory, uint64_t least);

#endif
