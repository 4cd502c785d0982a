/* runs_writer.h - writes to an empty table from the lowest quotient and remainder on, without
 * moving anything. The two words that are written to stay in hand until it goes on to others. */
#ifndef TAMIS_QUOTIENT_RUNS_WRITER_H
#define TAMIS_QUOTIENT_RUNS_WRITER_H

#include "quotient/runs_change.h"

typedef struct runs_writer {
    runs_table t;
    uint64_t after; /* the quotient written last, and one */
    uint64_t i;     /* the slot after it */
    bool is_around; /* the end of the table was reached: from now on, things have to be moved */
    uint8_t *home, *block;   /* of the quotient, and of the slot */
    uint64_t occupied, ends; /* in hand: of home, and of block */
} runs_writer;

/* Goes on where another one was. */
static inline runs_writer runs_writer_at(runs_table t, uint64_t after, uint64_t i, bool is_around)
{
    uint8_t *block = runs_home(t, i ? i - 1 : 0);

    return (runs_writer){
        t, after, i, is_around, block, block, runs_occupied(block), runs_ends(block)
    };
}

/* What is in hand is put where it belongs. */
static inline void runs_writer_put_down(const runs_writer *w)
{
    put_le64(w->home, w->occupied);
    put_le64(w->block + RUNS_ENDS, w->ends);
}

/* The table is whole again. */
static inline void runs_writer_end(const runs_writer *w)
{
    uint64_t offset = 0;

    if (w->is_around)
        return;
    runs_writer_put_down(w);
    for (uint64_t k = 0; k < w->t.blocks; k++) {
        runs_block(w->t, k)[RUNS_OFFSET] = offset < RUNS_FAR ? (uint8_t)offset : RUNS_FAR;
        offset = runs_offset_after(w->t, k, offset);
    }
}

static inline bool runs_writer_fits(const runs_writer *w, uint64_t q, unsigned n)
{
    return !w->is_around && (w->i > q ? w->i : q) + n <= w->t.slots;
}

/* One slot more for the run of q, without a branch on whether it is the first. There is room before
 * the end. */
static inline void runs_writer_add(runs_writer *w, uint64_t q, uint32_t x)
{
    uint64_t i = w->i > q ? w->i : q, is_next = w->after == q + 1;
    uint8_t *home = runs_home(w->t, q), *block = runs_home(w->t, i);
    unsigned j = i % RUNS_BLOCK;

    if (home != w->home) {
        put_le64(w->home, w->occupied);
        w->home = home;
        w->occupied = runs_occupied(home);
    }
    w->occupied |= UINT64_C(1) << q % RUNS_BLOCK;
    /* The slot before is no end any more. */
    w->ends &= ~(is_next << (i - 1) % RUNS_BLOCK);
    if (block != w->block) {
        put_le64(w->block + RUNS_ENDS, w->ends);
        w->block = block;
        w->ends = runs_ends(block);
    }
    w->ends |= UINT64_C(1) << j;
    packed_put(block + RUNS_SLOTS, j, w->t.width, x);
    w->after = q + 1;
    w->i = i + 1;
}

/* Adds n slots to the run of q. Runs that go around the end push those at the start aside. */
static inline runs_writer runs_writer_put(runs_writer w, uint64_t q, const uint32_t *x, unsigned n)
{
    if (runs_writer_fits(&w, q, n)) {
        for (unsigned k = 0; k < n; k++)
            runs_writer_add(&w, q, x[k]);
        return w;
    }
    runs_writer_end(&w);
    w.is_around = true;
    runs_run r = runs_find(w.t, q);
    for (unsigned k = 0; k < n; k++) {
        runs_open_slot(w.t, q, &r, r.end);
        runs_put_slot(w.t, r.end - 1, x[k]);
    }
    return w;
}

#endif
