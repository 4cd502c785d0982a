/* flows.c - a stream of packets: how many flows, which have most, and what is blocked.
 *
 *     cc flows.c -o flows $(pkg-config --cflags --libs tamis) -lm && ./flows
 *
 * Three filters look at each packet. One of the flows that came: a flow that is not in it is new,
 * for certain. A sketch of packets by flow, which never counts too little: who may be among the
 * first is then counted by name. One of blocked prefixes in front of the sorted list: an address is
 * masked to each length that occurs, and nearly all of these need no search. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis.h>

enum { PACKETS = 2000000, FLOWS = 200000, SHOWN = 5, PREFIXES = 1000 };

typedef struct packet {
    uint32_t source, target;
    uint16_t ports[2];
    uint32_t flow; /* its number, which only the check at the end looks at */
} packet;

static void check(tamis_status status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "flows: %s: %s\n", what, tamis_status_text(status));
    exit(1);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* Flow r has packets in proportion to log(1 + 1 / r). */
static packet draw_packet(uint64_t i)
{
    double unit = (double)(mix(i * UINT64_C(0x9E3779B97F4A7C15)) >> 11) * 0x1p-53;
    uint32_t flow = (uint32_t)exp(unit * log(FLOWS + 1.0)) - 1;
    uint64_t h = mix(flow + UINT64_C(0x123456789));

    return (packet){ (uint32_t)h, (uint32_t)(h >> 32), { (uint16_t)(h >> 8), 443 }, flow };
}

static tamis *filter(tamis_kind kind, tamis_spec spec)
{
    tamis_plan plan;
    tamis *f;

    check(tamis_plan_kind(&plan, kind, &spec), "plan");
    check(tamis_new(&f, &plan, NULL), "new");
    return f;
}

/* ---- Blocked prefixes -------------------------------------------------- */

static uint64_t prefixes[PREFIXES]; /* length and address, sorted */

static uint64_t prefix_of(uint32_t address, unsigned bits)
{
    return (uint64_t)bits << 32 | (address & ~(UINT32_MAX >> bits));
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static bool is_blocked(const tamis *front, uint32_t address)
{
    for (unsigned bits = 24; bits >= 16; bits -= 8) {
        uint64_t key = prefix_of(address, bits);
        if (tamis_has(front, key) && bsearch(&key, prefixes, PREFIXES, sizeof key, ascending))
            return true;
    }
    return false;
}

/* ---- Those with most packets ------------------------------------------- */

typedef struct leader {
    uint64_t key, count; /* at most */
    uint32_t flow;
} leader;

/* The least of them makes way for a flow that the sketch says came more often. */
static void consider(leader *best, uint64_t key, uint64_t count, uint32_t flow)
{
    int least = 0;

    for (int i = 0; i < SHOWN; i++) {
        if (best[i].key == key) {
            best[i].count = count;
            return;
        }
        if (best[i].count < best[least].count)
            least = i;
    }
    if (count > best[least].count)
        best[least] = (leader){ key, count, flow };
}

int main(void)
{
    static unsigned truth[FLOWS];
    tamis *seen = filter(TAMIS_SCALABLE, (tamis_spec)TAMIS_SPEC(.keys = 100000, .fpr = 1e-4));
    tamis *sketch = filter(TAMIS_COUNTMIN, (tamis_spec)TAMIS_SPEC(.error = 1e-4, .fpr = 0.01));
    tamis *front = filter(TAMIS_BLOCKED, (tamis_spec)TAMIS_SPEC(.keys = PREFIXES, .fpr = 0.01,
                                                                .hasher.hash = TAMIS_RAW));
    leader best[SHOWN] = { { 0, 0, 0 } };
    size_t flows = 0, different = 0, blocked = 0;

    for (unsigned i = 0; i < PREFIXES; i++) {
        prefixes[i] = prefix_of((uint32_t)mix(i + 1), i % 2 ? 16 : 24);
        check(tamis_add(front, prefixes[i]), "add a prefix");
    }
    qsort(prefixes, PREFIXES, sizeof *prefixes, ascending);
    for (uint64_t i = 1; i <= PACKETS; i++) {
        packet p = draw_packet(i);
        uint64_t key = tamis_key(seen, &p, offsetof(packet, flow));
        if (!tamis_has(seen, key)) {
            check(tamis_add(seen, key), "add a flow");
            flows++;
        }
        check(tamis_add(sketch, key), "count a packet");
        consider(best, key, tamis_count(sketch, key), p.flow);
        blocked += is_blocked(front, p.source) || is_blocked(front, p.target);
        different += truth[p.flow]++ == 0;
    }

    printf("%d packets, %zu of them blocked; at least %zu flows, and %zu they are\n", PACKETS,
           blocked, flows, different);
    bool holds = flows <= different;
    for (int i = 0; i < SHOWN; i++) {
        printf("flow %u: at most %ju packets, and %u they are\n", best[i].flow,
               (uintmax_t)best[i].count, truth[best[i].flow]);
        holds = holds && best[i].count >= truth[best[i].flow];
    }
    tamis_free(seen);
    tamis_free(sketch);
    tamis_free(front);
    return holds ? 0 : 1;
}
