#include "tally.h"

#include <stdlib.h>
#include <string.h>

#include "fragments.h"
#include "term/array.h"
#include "term/message.h"

/* One of the lists, and what it makes of a chunk. */
typedef struct list {
    const tally_wish *wish;
    way way;
    tamis *sketch;
    top *top; /* NULL: it was not asked for */
    uint64_t weights[RELAY_CHUNK];
    top_line lines[RELAY_CHUNK];
} list;

/* What goes into the relay belongs to the thread that reads; each duty has its own part. */
struct tally {
    tally_wish wish;
    tally_total total;
    fragments fragments;
    relay *relay;
    list lists[WAYS];
    /* Flows: */
    distinct flows, recent; /* in all, and in the interval */
    interval now;
    uint64_t index; /* of the interval, from 1970 */
    uint64_t late;
    uint64_t keys[RELAY_CHUNK];
};

/* ---- Both ways --------------------------------------------------------- */

static bool is_answer(const flow *f)
{
    int order = memcmp(f->source, f->target, ADDRESS_SIZE);

    return order > 0 || (order == 0 && memcmp(f->source_port, f->target_port, 2) > 0);
}

/* The smaller end first. */
static flow folded(const flow *f)
{
    flow other = *f;

    if (!is_answer(f))
        return other;
    memcpy(other.source, f->target, ADDRESS_SIZE);
    memcpy(other.target, f->source, ADDRESS_SIZE);
    memcpy(other.source_port, f->target_port, sizeof other.source_port);
    memcpy(other.target_port, f->source_port, sizeof other.target_port);
    return other;
}

/* ---- Lists ------------------------------------------------------------- */

/* What the list tells apart, and nothing else. */
static flow part_of(const flow *f, way w)
{
    flow part = { .version = f->version };

    switch (w) {
    case WAY_SOURCE:
        memcpy(part.source, f->source, ADDRESS_SIZE);
        return part;
    case WAY_TARGET:
        memcpy(part.target, f->target, ADDRESS_SIZE);
        return part;
    case WAY_PORT:
        part.version = 0;
        part.protocol = f->protocol;
        memcpy(part.target_port, f->target_port, sizeof part.target_port);
        return part;
    default:
        return *f;
    }
}

typedef struct keeper {
    const packet *packets;
    const list *list;
    tally_kept kept;
} keeper;

static span text_at(void *ctx, uint64_t at)
{
    keeper *k = ctx;
    const packet *p = &k->packets[at];

    k->kept.flow = part_of(&p->flow, k->list->way);
    if (k->list->way == WAY_FLOW && k->list->wish->both_ways)
        k->kept.flow = folded(&p->flow);
    for (int i = 0; i < 8; i++)
        k->kept.time[i] = (uint8_t)(p->time >> (56 - 8 * i));
    return (span){ (const char *)&k->kept, sizeof k->kept };
}

uint64_t tally_time(const tally_kept *k)
{
    uint64_t time = 0;

    for (int i = 0; i < 8; i++)
        time = time << 8 | k->time[i];
    return time;
}

/* Addresses of both versions may have the same bytes. */
static uint64_t address_key(const list *l, const uint8_t *address, uint8_t version)
{
    return tamis_hasher_key(&l->wish->seen.hasher, address, ADDRESS_SIZE) + version;
}

static uint64_t key_of(const list *l, const relay_chunk *chunk, size_t i)
{
    const flow *f = &chunk->packets[i].flow;

    switch (l->way) {
    case WAY_SOURCE:
        return address_key(l, f->source, f->version);
    case WAY_TARGET:
        return address_key(l, f->target, f->version);
    case WAY_PORT:
        return flow_port(f->target_port) << 8 | f->protocol;
    default:
        return chunk->keys[i];
    }
}

static void take_list(void *ctx, const relay_chunk *chunk)
{
    list *l = ctx;
    keeper k = { .packets = chunk->packets, .list = l };
    top_chunk lines = { .lines = l->lines, .text = text_at, .ctx = &k };

    for (size_t i = 0; i < chunk->n; i++) {
        const packet *p = &chunk->packets[i];
        if (!p->flow.version || (l->way == WAY_PORT && !p->has_ports))
            continue;
        l->weights[lines.n] = p->bytes;
        l->lines[lines.n++] = (top_line){ key_of(l, chunk, i), i };
    }
    if (l->wish->by_bytes)
        lines.weights = l->weights;
    top_take(l->top, &lines);
}

/* ---- Intervals --------------------------------------------------------- */

static void close_interval(tally *t)
{
    if (t->now.packets > 0) {
        t->now.flows = t->recent.count;
        t->now.start = t->index * t->wish.window;
        t->wish.print(t->wish.ctx, &t->now);
    }
    t->now = (interval){ 0 };
    distinct_reset(&t->recent);
}

static void take_keys(tally *t, const uint64_t *keys, size_t n)
{
    t->now.fresh += distinct_take(&t->flows, keys, n);
    if (t->wish.window)
        distinct_take(&t->recent, keys, n);
}

/* A packet that comes late stays in the interval at hand: earlier ones are closed. */
static bool begins_interval(tally *t, const packet *p)
{
    uint64_t index = t->wish.window ? p->time / t->wish.window : 0;
    bool begins = index > t->index;

    t->late += index < t->index;
    return begins;
}

/* Flows are counted in pieces that are within one interval. */
static void take_flows(void *ctx, const relay_chunk *chunk)
{
    tally *t = ctx;
    size_t n_keys = 0;

    for (size_t i = 0; i < chunk->n; i++) {
        const packet *p = &chunk->packets[i];
        if (begins_interval(t, p)) {
            take_keys(t, t->keys, n_keys);
            n_keys = 0;
            close_interval(t);
            t->index = p->time / t->wish.window;
        }
        t->now.packets++;
        t->now.bytes += p->bytes;
        if (p->flow.version)
            t->keys[n_keys++] = chunk->keys[i];
    }
    take_keys(t, t->keys, n_keys);
}

/* ---- Packets ----------------------------------------------------------- */

static void take_totals(tally_total *s, const packet *p)
{
    s->packets++;
    s->bytes += p->bytes;
    s->first = p->time < s->first ? p->time : s->first;
    s->last = p->time > s->last ? p->time : s->last;
    s->ipv4 += p->flow.version == 4;
    s->ipv6 += p->flow.version == 6;
    s->other += p->flow.version == 0;
    s->fragments += p->is_fragment;
    s->strays += p->is_stray;
    s->truncated += p->is_truncated;
}

static uint64_t flow_key(const tally *t, const flow *f)
{
    flow one;

    if (t->wish.both_ways) {
        one = folded(f);
        f = &one;
    }
    return tamis_hasher_key(&t->wish.seen.hasher, f, sizeof *f);
}

relay_chunk *tally_room(tally *t)
{
    return relay_room(t->relay);
}

void tally_take(tally *t)
{
    relay_chunk *chunk = relay_room(t->relay);

    for (size_t i = 0; i < chunk->n; i++) {
        packet *p = &chunk->packets[i];
        if (p->is_fragment)
            fragments_follow(&t->fragments, p);
        take_totals(&t->total, p);
        chunk->keys[i] = flow_key(t, &p->flow);
    }
    relay_send(t->relay);
}

static void take_blocked(void *ctx, const relay_chunk *chunk)
{
    blocklist_take(ctx, chunk->packets, chunk->n);
}

/* ---- Begin and end ----------------------------------------------------- */

static void begin_list(tally *t, way w)
{
    list *l = &t->lists[w];
    tamis_plan plan;
    tamis_status status = tamis_plan_kind(&plan, TAMIS_COUNTMIN, &t->wish.sketch);

    if (status)
        die(CODE_LIMIT, "flows: no sketch is as exact as --error %g; give a larger one",
            t->wish.sketch.error);
    status = tamis_new(&l->sketch, &plan, NULL);
    if (status)
        die(CODE_MEMORY, "out of memory for a sketch of %" PRIu64 " bytes; give a larger --error",
            plan.bytes);
    l->wish = &t->wish;
    l->way = w;
    l->top = top_new(l->sketch, t->wish.room);
}

static void begin_duties(tally *t)
{
    relay_duty duties[RELAY_DUTIES_MAX];
    size_t n = 0;

    duties[n++] = (relay_duty){ take_flows, t };
    if (t->wish.blocked)
        duties[n++] = (relay_duty){ take_blocked, t->wish.blocked };
    for (int w = 0; w < WAYS; w++)
        if (t->lists[w].top)
            duties[n++] = (relay_duty){ take_list, &t->lists[w] };
    t->relay = relay_new(duties, n, t->wish.threads);
}

tally *tally_new(const tally_wish *wish)
{
    tally *t = array_new(1, sizeof *t, "counters");

    t->wish = *wish;
    t->total.first = UINT64_MAX;
    distinct_begin(&t->flows, &wish->seen);
    if (wish->window)
        distinct_begin(&t->recent, &wish->seen);
    for (int w = 0; w < WAYS; w++)
        if (wish->ways[w])
            begin_list(t, (way)w);
    begin_duties(t);
    return t;
}

void tally_end(tally *t)
{
    relay_end(t->relay);
    t->total.late = t->late;
    if (t->wish.window)
        close_interval(t);
}

void tally_free(tally *t)
{
    for (int w = 0; w < WAYS; w++)
        if (t->lists[w].top) {
            top_free(t->lists[w].top);
            tamis_free(t->lists[w].sketch);
        }
    distinct_end(&t->flows);
    if (t->wish.window)
        distinct_end(&t->recent);
    free(t);
}

/* ---- Results ----------------------------------------------------------- */

const tally_total *tally_sum(const tally *t)
{
    return &t->total;
}

/* Each flow has a packet. */
distinct_bounds tally_flows(tally *t)
{
    distinct_bounds flows = distinct_tell(&t->flows);
    uint64_t packets = t->total.ipv4 + t->total.ipv6;

    flows.most = flows.most < packets ? flows.most : packets;
    return flows;
}

top *tally_top(const tally *t, way w)
{
    return t->lists[w].top;
}
