/* budget_choose.c - one budget for filters of certain sizes: a knapsack with one choice for each.
 *
 *   minimise sum (w rate + price)   with   sum bytes <= budget
 *
 * A price for each byte takes the place of the budget: then every claim chooses for itself the size
 * that costs least, bytes included. The higher the price, the fewer bytes are chosen; the price at
 * which they just fit is found by halving an interval. What is chosen there is the best for the
 * bytes that it takes (Everett, 1963), and no choice within the budget can be better than
 *
 *   least = cost - price * bytes left over.
 *
 * budget_improve.c then looks for a use of the bytes left over. */
#include "advice/budget_choose.h"

#include "base/bits.h"

/* ---- The price of a byte ----------------------------------------------- */

/* The place of the cheapest size of a list, the smallest if there are several. */
static uint32_t budget_best_of(const tamis_size *list, const budget_range *r, double weight,
                               double price, double *cost)
{
    uint32_t best = r->at_high;

    *cost = weight * list[best].rate + price * (double)list[best].bytes;
    for (uint32_t i = best + 1; i <= r->at_low; i++) {
        double other = weight * list[i].rate + price * (double)list[i].bytes;
        if (other < *cost) {
            *cost = other;
            best = i;
        }
    }
    return best;
}

static uint32_t budget_best(const tamis_claim *c, budget_state *s, double price)
{
    double lowest = budget_cost(c, 0), cost;
    uint32_t best = 0;

    if (c->m) {
        s->kept.now = budget_best_of(c->kept, &s->kept, c->weight, price, &cost);
        best = cost < lowest ? 1 + (uint32_t)c->n + s->kept.now : best;
        lowest = fmin(cost, lowest);
    }
    if (c->n) {
        s->sizes.now = budget_best_of(c->sizes, &s->sizes, c->weight, price, &cost);
        best = cost + c->price < lowest ? 1 + s->sizes.now : best;
    }
    return best;
}

/* Bytes that are chosen at a price; 2^64 - 1 if there are more than that. */
static uint64_t budget_used_at(const budget_problem *p, double price)
{
    uint64_t used = p->closed_bytes;

    for (size_t i = 0; i < p->n_open; i++) {
        const tamis_claim *c = &p->claims[p->open[i]];
        budget_state *s = &p->states[p->open[i]];
        s->choice = budget_best(c, s, price);
        if (add_overflows(used, budget_bytes(c, s->choice), &used))
            return UINT64_MAX;
    }
    return used;
}

/* The price at hand becomes the low one, or the high one. Between prices at which a claim chooses
 * the same, it does so as well. */
static void budget_narrow(budget_problem *p, bool is_too_low)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->n_open; i++) {
        budget_state *s = &p->states[p->open[i]];
        *(is_too_low ? &s->sizes.at_low : &s->sizes.at_high) = s->sizes.now;
        *(is_too_low ? &s->kept.at_low : &s->kept.at_high) = s->kept.now;
        *(is_too_low ? &s->at_low : &s->at_high) = s->choice;
        if (s->at_low != s->at_high)
            p->open[kept++] = p->open[i];
        else
            p->closed_bytes += budget_bytes(&p->claims[p->open[i]], s->choice);
    }
    p->n_open = kept;
}

/* No byte is worth more than the highest cost, and none of less than 2^-300 of it matters. After so
 * many halvings, what is left of the interval is 2^-40 of the price. */
enum { EXPONENTS = 300, HALVINGS = 48 };

/* Sets the price, and each choice at it. False: even at the highest, too much is needed. */
static bool budget_find_price(budget_problem *p, double highest)
{
    double low = -EXPONENTS, high = 1;

    p->price = 0;
    if (budget_used_at(p, 0) <= p->bytes)
        return true;
    for (size_t i = 0; i < p->n; i++)
        p->states[i].at_low = p->states[i].choice;
    if (budget_used_at(p, highest * exp2(high)) > p->bytes)
        return false;
    budget_narrow(p, false);
    for (int i = 0; i < HALVINGS && p->n_open > 0; i++) {
        double middle = (low + high) / 2;
        bool is_too_low = budget_used_at(p, highest * exp2(middle)) > p->bytes;
        budget_narrow(p, is_too_low);
        *(is_too_low ? &low : &high) = middle;
    }
    p->price = highest * exp2(high);
    for (size_t i = 0; i < p->n_open; i++)
        p->states[p->open[i]].choice = p->states[p->open[i]].at_high;
    return true;
}

static uint64_t budget_used(const budget_problem *p)
{
    uint64_t used = 0;

    for (size_t i = 0; i < p->n; i++)
        used += budget_bytes(&p->claims[i], p->states[i].choice);
    return used;
}

/* Claims for which two sizes are equally good take the larger one, while there are bytes left. */
static uint64_t budget_break_ties(const budget_problem *p, uint64_t left)
{
    for (size_t i = 0; i < p->n_open; i++) {
        const tamis_claim *c = &p->claims[p->open[i]];
        budget_state *s = &p->states[p->open[i]];
        uint64_t more = budget_bytes(c, s->at_low) - budget_bytes(c, s->at_high);
        double loss = budget_full_cost(p, c, s->at_low) - budget_full_cost(p, c, s->at_high);
        if (more <= left && loss <= 0x1p-38 * p->price * (double)more) {
            s->choice = s->at_low;
            left -= more;
        }
    }
    return left;
}

/* ---- All of it --------------------------------------------------------- */

/* The highest value that a byte may have; below 0 if a claim has an impossible number. */
static double budget_highest(const tamis_claim *claims, size_t n)
{
    double highest = 0;

    for (size_t i = 0; i < n; i++) {
        const tamis_claim *c = &claims[i];
        if (!(c->weight >= 0 && c->weight < INFINITY && c->price >= 0 && c->price < INFINITY) ||
            c->n > INT32_MAX || c->m > INT32_MAX || (c->needed && c->n + c->m == 0))
            return -1;
        highest = fmax(highest, c->weight + c->price);
    }
    return highest < INFINITY ? highest : -1;
}

/* All sizes are multiples of something, and so is what can be used. Not worth the time if there are
 * many claims: what is left over is then of no account. */
static uint64_t budget_divisor(const budget_problem *p)
{
    enum { FEW = 1 << 12 };
    uint64_t divisor = 0;

    for (size_t i = 0; i < p->n && p->n <= FEW && divisor != 1; i++)
        for (uint32_t choice = 1; choice <= p->claims[i].n + p->claims[i].m; choice++)
            for (uint64_t b = budget_bytes(&p->claims[i], choice); b;) {
                uint64_t rest = divisor % b;
                divisor = b;
                b = rest;
            }
    return divisor ? divisor : 1;
}

static double budget_sum(const budget_problem *p)
{
    double sum = 0;

    for (size_t i = 0; i < p->n; i++)
        sum += budget_cost(&p->claims[i], p->states[i].choice);
    return sum;
}

static void budget_start(budget_problem *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const tamis_claim *c = &p->claims[i];
        p->states[i] = (budget_state){ .sizes.at_low = c->n ? (uint32_t)c->n - 1 : 0,
                                       .kept.at_low = c->m ? (uint32_t)c->m - 1 : 0 };
        p->open[i] = (uint32_t)i;
    }
    p->n_open = p->n;
}

static void budget_tell(const budget_problem *p)
{
    for (size_t i = 0; i < p->n; i++) {
        tamis_claim *c = &p->claims[i];
        c->size = budget_size(c, p->states[i].choice);
        c->is_kept = p->states[i].choice > c->n;
    }
}

static tamis_status budget_solve(tamis_budget *result, budget_problem *p, double highest)
{
    bool is_proven = true;
    double least;

    budget_start(p);
    if (!budget_find_price(p, highest))
        return TAMIS_RANGE;
    least = budget_sum(p);
    if (p->price > 0) {
        uint64_t divisor = budget_divisor(p);
        uint64_t left = p->bytes / divisor * divisor - budget_used(p);
        least = fmax(least - p->price * (double)left, 0);
        tamis_status status = tamis__budget_improve(p, budget_break_ties(p, left), &is_proven);
        if (status)
            return status;
    }
    *result = (tamis_budget){ .bytes = budget_used(p), .cost = budget_sum(p) };
    result->least = is_proven ? result->cost : fmin(least, result->cost);
    budget_tell(p);
    return TAMIS_OK;
}

tamis_status tamis_budget_choose(tamis_budget *result, tamis_claim *claims, size_t n,
                                 uint64_t bytes, const tamis_allocator *a)
{
    const tamis_allocator *from = a ? a : &tamis__default_allocator;
    budget_problem p = { .claims = claims, .n = n, .bytes = bytes, .alloc = from };
    double highest = budget_highest(claims, n);

    const size_t each = sizeof *p.states + sizeof *p.open;

    if (highest < 0 || n > INT32_MAX || n > SIZE_MAX / each - 1)
        return TAMIS_RANGE;
    size_t size = (n + 1) * each;
    p.states = from->alloc(from->ctx, size);
    if (!p.states)
        return TAMIS_NOMEM;
    p.open = (uint32_t *)(p.states + n);
    tamis_status status = budget_solve(result, &p, highest);
    from->free(from->ctx, p.states, size);
    return status;
}
