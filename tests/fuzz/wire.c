/* wire.c - fuzzer: bytes as they come over a line.
 *
 * input: a mode, a number of low bits and the size of a piece (one byte each), then bytes that are
 * a greeting and a frame, or coded numbers, which come in pieces of that size. What is read is
 * written again, and must be the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "../../cli/wire/frame.h"
#include "../../cli/wire/rice.h"
#include "cost.h"
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SETTINGS = 3 };

/* ---- Frames ------------------------------------------------------------ */

static void check_greeting(const uint8_t *bytes)
{
    uint8_t own[FRAME_GREETING];
    unsigned version = frame_version(bytes);

    frame_greeting(own);
    MUST(frame_version(own) == FRAME_VERSION);
    MUST((version == FRAME_VERSION) == (memcmp(own, bytes, sizeof own) == 0));
}

/* A frame that the sender made, with each bit changed in turn, is not whole. */
static void check_frame(const uint8_t *body, size_t size, uint64_t number)
{
    uint8_t header[FRAME_HEADER];
    size_t said;
    char part;

    frame_seal(header, 'Q', number, body, size);
    MUST(frame_open(header, &part, &said) && part == 'Q' && said == size);
    MUST(frame_is_whole(header, number, body));
    MUST(!frame_is_whole(header, number + 1, body));
    for (unsigned bit = 24; bit < 8 * FRAME_HEADER; bit++) {
        header[bit / 8] ^= (uint8_t)(1 << bit % 8);
        MUST(!frame_is_whole(header, number, body));
        header[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void read_frames(const uint8_t *at, size_t size)
{
    size_t body;
    char part;

    if (size < FRAME_GREETING + FRAME_HEADER)
        return;
    check_greeting(at);
    at += FRAME_GREETING;
    size -= FRAME_GREETING + FRAME_HEADER;
    if (frame_open(at, &part, &body) && body <= size)
        (void)frame_is_whole(at, 0, at + FRAME_HEADER);
    check_frame(at + FRAME_HEADER, size, at[0]);
}

/* ---- Coded numbers ----------------------------------------------------- */

typedef struct pieces {
    const uint8_t *at;
    size_t left, size;
} pieces;

static bool next_piece(void *ctx, const uint8_t **bytes, size_t *size)
{
    pieces *p = ctx;

    *bytes = p->at;
    *size = p->left < p->size ? p->left : p->size;
    p->at += *size;
    p->left -= *size;
    return *size > 0;
}

/* All numbers, and the bytes that they make. */
static void read_numbers(const uint8_t *at, size_t size, unsigned low, size_t piece, uint64_t most)
{
    pieces p = { at, size, piece };
    rice_reader r = { .low = low, .more = next_piece, .ctx = &p };
    rice_writer w = { .low = low };
    uint64_t number;
    size_t n = 0;

    while (rice_get(&r, &number, most)) {
        MUST(number <= most);
        rice_put(&w, number);
        n++;
    }
    size_t whole = w.out.size;
    rice_end(&w);
    MUST(whole <= size && (whole == 0 || memcmp(w.out.bytes, at, whole) == 0));
    MUST(n <= 8 * size);
    buffer_free(&w.out);
}

/* What is written again, in a buffer that grows. */
static const cost_law COST = { .memory = 1 << 12, .memory_times = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned low = size > 1 ? data[1] % 63 : 0;

    if (size < SETTINGS)
        return 0;
    cost_begin();
    if (data[0] & 1)
        read_frames(data + SETTINGS, size - SETTINGS);
    else
        read_numbers(data + SETTINGS, size - SETTINGS, low, data[2] + 1u,
                     data[0] & 2 ? (UINT64_C(3) << low) / 2 : UINT64_MAX >> (64 - low - 1));
    cost_check("wire", &COST, size);
    return 0;
}
