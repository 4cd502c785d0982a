/* cost.h - what an input costs: how much memory is held at a time, and how many bytes are written.
 *
 * The cost law. Whatever a peer or a file says, memory and bytes written, to files and to the other
 * side together, stay below
 *
 *     own + times * received
 *
 * `received` counts bytes as they came over the line, frames with their headers, or as they stand
 * in the file. `own` depends on what this side has and allows, and not on the input.
 *
 * Own memory of a side of a conversation, 42 MiB, is the sum of these:
 *
 * - A line: two buffers of a frame, 2^18 bytes, which grow by half. 1 MiB.
 * - Where zstd unpacks, a window of 2^PACKED_WINDOW bytes, 8 MiB, and 1 MiB around it. Twice, as
 * the stream of files may be open beside a message. 18 MiB.
 * - COST_MEMORY, 4 MiB, which fuzzers give for --memory. A compressed message and what is made of
 * it may take all of it. Buffers grow by half and are moved, so that for a moment 2.5 times that
 * are held; two messages live at once. 20 MiB.
 * - What this side has, some thousand bytes, and arrays over it. 3 MiB.
 *
 * Times of its memory, 40: a message that is not compressed takes 2.5 times its size while its
 * buffer grows. Symbols take 120 bytes for 13. The blocks of a signature, of five bytes at least,
 * take up to 4 slots of 24 bytes and 16 bytes of bits each, and all of it the times of a buffer.
 *
 * Own bytes written, 4 MiB: COST_WRITTEN, which fuzzers give for --limit-size, once and for two
 * more tries of a file that is wrong, and what is sent of the own set. An answer takes less than 40
 * times its question.
 *
 * So an input that grows by more than that is found where it is an example of some KiB: its size
 * does not have to be reached. malloc() and its like count, and the library's own pages, as they
 * are asked for: memory that is never touched counts as well. */
#ifndef TAMIS_TESTS_FUZZ_COST_H
#define TAMIS_TESTS_FUZZ_COST_H

#include <stdint.h>

/* For --memory and --limit-size. */
enum { COST_MEMORY = 4 << 20, COST_WRITTEN = 1 << 20 };

typedef struct cost_law {
    uint64_t memory, memory_times; /* own, times */
    uint64_t written, written_times;
} cost_law;

/* Of a side of a conversation. */
extern const cost_law COST_OF_TALK;

/* Counts from here on. */
void cost_begin(void);
/* Aborts if more was held at a time, or written, since the last cost_begin(). */
void cost_check(const char *what, const cost_law *law, uint64_t received);

uint64_t cost_memory(void);
uint64_t cost_written(void);

#endif
