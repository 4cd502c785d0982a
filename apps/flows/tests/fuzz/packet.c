/* packet.c - fuzzer: bytes as a captured packet.
 *
 * input: the link (one byte), then the packet. Every shorter capture of it must tell the same flow,
 * or that it is truncated; nothing is read beyond its end, and texts fit where they are written. */
#include <string.h>

#include "../../fragments.h"
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const int LINKS[] = { 1, 0, 12, 108, 113, 228, 229, 276 };

enum { N_LINKS = sizeof LINKS / sizeof *LINKS, CUTS = 200 };

static packet parse(int link, const uint8_t *bytes, size_t size)
{
    packet p = { .time = 7, .bytes = 1500 };

    /* A block of its own, so that a sanitizer sees the first byte read past it. */
    uint8_t *copy = malloc(size ? size : 1);
    MUST(copy);
    if (size)
        memcpy(copy, bytes, size);
    packet_parse(&p, link, copy, size);
    free(copy);
    MUST(p.time == 7 && p.bytes == 1500);
    return p;
}

static void hold_together(const packet *p)
{
    static const flow none;

    MUST(p->flow.version == 0 || p->flow.version == 4 || p->flow.version == 6);
    MUST(p->flow.version || memcmp(&p->flow, &none, sizeof none) == 0);
    MUST(!p->has_ports || (p->flow.version && !p->is_truncated && !p->is_stray));
    MUST(!p->is_stray || p->is_fragment);
}

static void write_texts(const packet *p)
{
    char text[FLOW_TEXT];

    if (!p->flow.version)
        return;
    flow_text(text, &p->flow, true);
    MUST(strlen(text) < FLOW_TEXT);
    port_text(text, &p->flow);
    MUST(strlen(text) < FLOW_TEXT);
}

static void compare(const packet *whole, const packet *cut)
{
    hold_together(cut);
    MUST(cut->is_truncated || !whole->is_truncated);
    if (cut->flow.version)
        MUST(memcmp(cut->flow.source, whole->flow.source, 2 * ADDRESS_SIZE) == 0);
    if (!cut->is_truncated)
        MUST(memcmp(&cut->flow, &whole->flow, sizeof cut->flow) == 0 && cut->id == whole->id);
}

/* A stray fragment takes the flow of its first, and nothing of any other packet. */
static void follow(const packet *whole)
{
    static fragments known;
    packet first = *whole, stray = *whole;

    if (!whole->is_fragment || whole->is_truncated)
        return;
    first.is_stray = false;
    stray.is_stray = true;
    memset(&known, 0, sizeof known);
    fragments_follow(&known, &stray);
    MUST(stray.is_stray);
    fragments_follow(&known, &first);
    fragments_follow(&known, &stray);
    MUST(!stray.is_stray && memcmp(&stray.flow, &first.flow, sizeof first.flow) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    int link = LINKS[data[0] % N_LINKS];
    packet whole = parse(link, data + 1, size - 1);

    hold_together(&whole);
    write_texts(&whole);
    follow(&whole);
    for (size_t n = 0; n < size - 1 && n < CUTS; n++) {
        packet cut = parse(link, data + 1, n);
        compare(&whole, &cut);
    }
    return 0;
}
