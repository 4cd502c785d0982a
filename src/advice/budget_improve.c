/* budget_improve.c - the best use of the bytes that are left over when each claim has chosen.
 *
 * Against its choice at the price of a byte, another size of a claim has a loss, which is not
 * negative. What a set of such moves costs in the end is its losses, and the price of the bytes
 * that stay unused. So only moves whose loss is below the price of the bytes left over can be of
 * use, and so can sets of them: these are few, for all the sizes that there are.
 *
 * Claims are taken one after the other, those with a move of a low loss first. A list of states
 * tells what can be reached with the claims so far: bytes, and losses. Of two states, one is of no
 * use if it takes more bytes and costs more; nor is one whose losses alone are more than the best
 * full set costs. When all claims are done, the best that was seen is the best there is. If the
 * list gets too long, states are dropped from it, and the best that was seen is only good.
 *
 * Pisinger: A Minimal Algorithm for the Multiple-Choice Knapsack Problem, 1995. */
#include <string.h>

#include "advice/budget_choose.h"
#include "base/sort.h"

/* ---- Moves ------------------------------------------------------------- */

/* A pair of words to base/sort.h: bits of numbers that are not negative are in order as they are.
 */
typedef struct budget_move {
    uint64_t loss_bits, claim;
} budget_move;

/* 8 MiB, and less than a second. */
enum {
    MOST_MOVES = 1 << 16,
    MOST_STATES = 1 << 15,
    MOST_STEPS = 1 << 18,
    MOST_WORK = 1 << 27,
    MAGNITUDES = 64,
};

static double budget_loss(const budget_problem *p, size_t claim, uint32_t choice)
{
    const tamis_claim *c = &p->claims[claim];
    double loss = budget_full_cost(p, c, choice) - budget_full_cost(p, c, p->states[claim].choice);

    return loss > 0 ? loss : 0;
}

/* What the cheapest size of a list costs, but for the one at `skipped`. */
static double budget_cheapest(const tamis_size *list, size_t n, size_t skipped, double weight,
                              double price)
{
    double lowest = INFINITY;

    for (size_t i = 0; i < n; i++) {
        double cost = weight * list[i].rate + price * (double)list[i].bytes;
        lowest = cost < lowest && i != skipped ? cost : lowest;
    }
    return lowest;
}

/* The lowest loss of a claim's moves. */
static double budget_lowest_loss(const budget_problem *p, size_t claim)
{
    const tamis_claim *c = &p->claims[claim];
    size_t now = p->states[claim].choice;
    double built = budget_cheapest(c->sizes, c->n, now - 1, c->weight, p->price) + c->price;
    double kept = budget_cheapest(c->kept, c->m, now - 1 - c->n, c->weight, p->price);
    double lowest = fmin(fmin(built, kept), now ? budget_cost(c, 0) : INFINITY);

    return fmax(lowest - budget_full_cost(p, c, (uint32_t)now), 0);
}

static int budget_magnitude(double loss, double below)
{
    return loss > 0 ? (int)fmin(log2(below / loss), MAGNITUDES - 1) : MAGNITUDES - 1;
}

/* Claims with a loss below that, in order: as many as there is room for, those with the lowest
 * losses. *are_all: there are no others. */
static size_t budget_collect(budget_move *moves, const budget_problem *p, double below,
                             bool *are_all)
{
    size_t counts[MAGNITUDES] = { 0 }, total = 0, n = 0;
    int magnitude = MAGNITUDES;

    for (size_t i = 0; i < p->n; i++) {
        double loss = budget_lowest_loss(p, i);
        counts[loss < below ? budget_magnitude(loss, below) : 0] += loss < below;
    }
    while (magnitude > 0 && total + counts[magnitude - 1] <= MOST_MOVES)
        total += counts[--magnitude];
    *are_all = magnitude == 0;
    for (size_t i = 0; i < p->n && n < MOST_MOVES; i++) {
        double loss = budget_lowest_loss(p, i);
        if (!(loss < below) || budget_magnitude(loss, below) < magnitude)
            continue;
        moves[n].claim = i;
        memcpy(&moves[n++].loss_bits, &loss, sizeof loss);
    }
    tamis__sort_pairs(moves, n);
    return n;
}

/* ---- States ------------------------------------------------------------ */

/* A move that led to a state, and the step before it; step 0 is the start. */
typedef struct budget_step {
    uint32_t before, claim, choice;
} budget_step;

typedef struct budget_reach {
    int64_t bytes; /* more than at the start */
    double loss;
    uint32_t before; /* the last step, */
    uint32_t choice; /* and that of the claim at hand, which is no step yet; UINT32_MAX: none */
} budget_reach;

typedef struct budget_list {
    budget_reach *at; /* bytes rise, costs fall */
    size_t n;
} budget_list;

typedef struct budget_search {
    const budget_problem *p;
    int64_t left;
    budget_list now, next, merged; /* before the claim at hand; with it; and room for more */
    budget_step *steps;
    uint32_t n_steps;
    uint64_t work;
    double lowest; /* what the best full set costs, */
    uint32_t best; /* and its last step */
    bool is_full;  /* states were dropped */
} budget_search;

/* Cost in the end, but for what is the same for all states. */
static double budget_reach_cost(const budget_search *s, const budget_reach *r)
{
    return r->loss - s->p->price * (double)r->bytes;
}

static void budget_append(budget_search *s, budget_list *list, const budget_reach *r)
{
    if (list->n && budget_reach_cost(s, r) >= budget_reach_cost(s, &list->at[list->n - 1]))
        return;
    if (!(r->loss < s->lowest))
        return;
    if (list->n == MOST_STATES)
        s->is_full = true;
    else
        list->at[list->n++] = *r;
}

/* Adds to `next` what one move makes of each state of `now`. */
static void budget_merge(budget_search *s, size_t claim, uint32_t choice)
{
    const tamis_claim *c = &s->p->claims[claim];
    int64_t more = (int64_t)(budget_bytes(c, choice) - budget_bytes(c, s->p->states[claim].choice));
    double loss = budget_loss(s->p, claim, choice);
    budget_list *merged = &s->merged, swap = s->next;
    size_t i = 0;

    merged->n = 0;
    for (size_t j = 0; j < s->now.n; j++) {
        budget_reach moved = s->now.at[j];
        moved.bytes += more;
        moved.loss += loss;
        moved.choice = choice;
        while (i < s->next.n && s->next.at[i].bytes <= moved.bytes)
            budget_append(s, merged, &s->next.at[i++]);
        budget_append(s, merged, &moved);
    }
    while (i < s->next.n)
        budget_append(s, merged, &s->next.at[i++]);
    s->work += s->now.n + s->next.n;
    s->next = *merged;
    *merged = swap;
}

/* Makes steps of the moves of the claim at hand, and looks for a full set that is better. */
static void budget_take_steps(budget_search *s, size_t claim)
{
    for (size_t i = 0; i < s->next.n; i++) {
        budget_reach *r = &s->next.at[i];
        if (r->choice == UINT32_MAX)
            continue;
        if (s->n_steps == MOST_STEPS)
            return;
        s->steps[s->n_steps] = (budget_step){ r->before, (uint32_t)claim, r->choice };
        r->before = s->n_steps++;
        r->choice = UINT32_MAX;
        double cost = r->loss + s->p->price * (double)(s->left - r->bytes);
        if (r->bytes <= s->left && cost < s->lowest * (1 - 1e-12)) {
            s->lowest = cost;
            s->best = r->before;
        }
    }
}

static void budget_take_claim(budget_search *s, size_t claim)
{
    const tamis_claim *c = &s->p->claims[claim];
    budget_list swap = s->now;

    memcpy(s->next.at, s->now.at, s->now.n * sizeof *s->now.at);
    s->next.n = s->now.n;
    for (uint32_t choice = 0; choice <= c->n + c->m; choice++)
        if (choice != s->p->states[claim].choice && budget_loss(s->p, claim, choice) < s->lowest)
            budget_merge(s, claim, choice);
    budget_take_steps(s, claim);
    s->now = s->next;
    s->next = swap;
}

/* ---- The search -------------------------------------------------------- */

static bool budget_has_step(const budget_search *s, size_t claim)
{
    for (uint32_t i = 1; i < s->n_steps; i++)
        if (s->steps[i].claim == claim)
            return true;
    return false;
}

/* The move of a claim that saves more than that, and most, in so many bytes. */
static double budget_best_move(const budget_search *s, size_t claim, uint64_t left, double saved,
                               budget_step *best)
{
    const tamis_claim *c = &s->p->claims[claim];
    uint32_t now = s->p->states[claim].choice;
    uint64_t most = budget_bytes(c, now) + left;

    for (uint32_t choice = 1; choice <= c->n + c->m; choice++) {
        double saves = budget_cost(c, now) - budget_cost(c, choice);
        if (saves > saved && budget_bytes(c, choice) <= most) {
            *best = (budget_step){ s->n_steps - 1, (uint32_t)claim, choice };
            saved = saves;
        }
    }
    return saved;
}

/* A good set to start from: the move that saves most, again and again. */
static void budget_fill(budget_search *s, const budget_move *moves, size_t n)
{
    enum { MOST_ROUNDS = 16 };
    uint64_t left = (uint64_t)s->left;

    for (int round = 0; round < MOST_ROUNDS; round++) {
        budget_step best;
        double saved = 0;
        for (size_t i = 0; i < n; i++)
            if (!budget_has_step(s, (size_t)moves[i].claim))
                saved = budget_best_move(s, (size_t)moves[i].claim, left, saved, &best);
        if (saved == 0)
            return;
        const tamis_claim *c = &s->p->claims[best.claim];
        left -= budget_bytes(c, best.choice) - budget_bytes(c, s->p->states[best.claim].choice);
        s->lowest -= saved;
        s->best = s->n_steps++;
        s->steps[s->best] = best;
    }
}

/* Half of the states, if there are so many that the next claim would find no room. */
static void budget_thin(budget_search *s)
{
    size_t kept = 0;

    if (s->now.n <= MOST_STATES / 2)
        return;
    for (size_t i = 0; i < s->now.n; i += 2)
        s->now.at[kept++] = s->now.at[i];
    s->now.n = kept;
    s->is_full = true;
}

/* False: there was too much to do. */
static bool budget_search_all(budget_search *s, const budget_move *moves, size_t n)
{
    s->now.at[0] = (budget_reach){ .choice = UINT32_MAX };
    s->now.n = 1;
    for (size_t i = 0; i < n; i++) {
        if (s->work > MOST_WORK || s->n_steps == MOST_STEPS)
            return false;
        budget_thin(s);
        budget_take_claim(s, (size_t)moves[i].claim);
    }
    return !s->is_full;
}

static void budget_apply(budget_search *s, budget_state *states)
{
    for (uint32_t at = s->best; at != 0; at = s->steps[at].before)
        states[s->steps[at].claim].choice = s->steps[at].choice;
}

/* ---- Memory ------------------------------------------------------------ */

typedef struct budget_room {
    budget_move moves[MOST_MOVES];
    budget_reach states[3][MOST_STATES];
    budget_step steps[MOST_STEPS];
} budget_room;

tamis_status tamis__budget_improve(budget_problem *p, uint64_t left, bool *is_proven)
{
    const tamis_allocator *a = p->alloc;
    budget_room *room = left ? a->alloc(a->ctx, sizeof *room) : NULL;
    bool are_all = true;

    *is_proven = left == 0;
    if (!room)
        return left ? TAMIS_NOMEM : TAMIS_OK;
    budget_search s = { .p = p,
                        .left = (int64_t)left,
                        .now.at = room->states[0],
                        .next.at = room->states[1],
                        .merged.at = room->states[2],
                        .steps = room->steps,
                        .n_steps = 1,
                        .lowest = p->price * (double)left };
    size_t n = budget_collect(room->moves, p, s.lowest, &are_all);
    budget_fill(&s, room->moves, n);
    *is_proven = budget_search_all(&s, room->moves, n) && are_all;
    budget_apply(&s, p->states);
    a->free(a->ctx, room, sizeof *room);
    return TAMIS_OK;
}
