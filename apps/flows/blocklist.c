/* blocklist.c - addresses and prefixes that packets should not come from or go to.
 *
 * An address is masked to each length of the list, from the longest. A filter of all prefixes says
 * of nearly every one that it is not listed; for the others the sorted list is searched. The same
 * addresses come again and again, so that the answers for the latest ones are kept. */
#include "blocklist.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "term/array.h"
#include "term/buffer.h"
#include "term/message.h"
#include "text/number.h"
#include "text/reader.h"

enum { LENGTHS_MAX = 129, ANSWER_BITS = 16, AHEAD = 8 };

/* What was found for an address. */
typedef struct answer {
    uint8_t address[ADDRESS_SIZE];
    uint32_t found; /* see code_of(); 0: none was asked for */
} answer;

enum { PREFIXES_MAX = (1 << 30) - 2 };

struct blocklist {
    buffer text; /* of prefixes, as they come; then sorted */
    prefix *prefixes;
    size_t n;
    tamis *filter;
    uint8_t lengths[2][LENGTHS_MAX]; /* of IPv4 and of IPv6, the longest first */
    size_t n_lengths[2];
    uint64_t packets, bytes;
    answer answers[1 << ANSWER_BITS];
};

/* ---- Reading ----------------------------------------------------------- */

typedef struct list_reader {
    blocklist *list;
    const char *path;
    uint64_t line;
} list_reader;

static unsigned bits_of(int version)
{
    return version == 6 ? 128 : 32;
}

static void mask(prefix *p, unsigned bits)
{
    unsigned whole = bits / 8, part = bits % 8;

    p->bits = (uint8_t)bits;
    if (part) {
        p->address[whole] &= (uint8_t) ~(0xFF >> part);
        whole++;
    }
    memset(p->address + whole, 0, ADDRESS_SIZE - whole);
}

/* Without its comment and the blanks around it. */
static char *trim(char *line)
{
    size_t size = strcspn(line, "#;");

    while (size > 0 && strchr(" \t\r", line[size - 1]))
        size--;
    line[size] = 0;
    return line + strspn(line, " \t");
}

static bool parse_prefix(prefix *p, char *text)
{
    char *slash = strchr(text, '/');
    size_t digits = slash ? strspn(slash + 1, "0123456789") : 0;
    uint64_t bits;

    *p = (prefix){ .version = strchr(text, ':') ? 6 : 4 };
    if (slash)
        *slash = 0;
    if (inet_pton(p->version == 6 ? AF_INET6 : AF_INET, text, p->address) != 1)
        return false;
    bits = bits_of(p->version);
    if (slash && (slash[1 + digits] || !number_integer(&bits, slash + 1, digits) ||
                  bits > bits_of(p->version)))
        return false;
    mask(p, (unsigned)bits);
    return true;
}

static void take_line(void *ctx, char *line, size_t size)
{
    list_reader *r = ctx;
    char shown[ADDRESS_TEXT];
    bool is_text = strlen(line) == size;
    char *text = trim(line);
    prefix p;

    r->line++;
    if (is_text && !*text)
        return;
    snprintf(shown, sizeof shown, "%s", text);
    if (!is_text || !parse_prefix(&p, text))
        die(CODE_USAGE,
            "flows: %s, line %" PRIu64 ": '%s' is no address or prefix; write it as 10.0.0.0/8 or "
            "2001:db8::1",
            r->path, r->line, shown);
    buffer_append(&r->list->text, &p, sizeof p);
}

/* ---- The list and its filter ------------------------------------------- */

/* By version, length and address: what is compared is in one piece. */
static int by_prefix(const void *a, const void *b)
{
    const prefix *x = a, *y = b;

    if (x->version != y->version)
        return x->version < y->version ? -1 : 1;
    if (x->bits != y->bits)
        return x->bits < y->bits ? -1 : 1;
    return memcmp(x->address, y->address, ADDRESS_SIZE);
}

static void sort_prefixes(blocklist *b)
{
    size_t all = b->text.size / sizeof *b->prefixes;

    b->prefixes = (void *)b->text.bytes;
    if (all > 0)
        qsort(b->prefixes, all, sizeof *b->prefixes, by_prefix);
    for (size_t i = 0; i < all; i++)
        if (b->n == 0 || by_prefix(&b->prefixes[b->n - 1], &b->prefixes[i]) != 0)
            b->prefixes[b->n++] = b->prefixes[i];
}

static void find_lengths(blocklist *b)
{
    for (size_t i = b->n; i-- > 0;) {
        const prefix *p = &b->prefixes[i];
        size_t of = p->version == 6, n = b->n_lengths[of];

        if (n == 0 || b->lengths[of][n - 1] != p->bits)
            b->lengths[of][b->n_lengths[of]++] = p->bits;
    }
}

/* A prefix of IPv4 fits in a key, whatever bits follow it; the filter scatters them. */
static uint64_t ipv4_key(uint32_t address, unsigned bits)
{
    uint32_t kept = bits ? address >> (32 - bits) : 0;

    return (uint64_t)bits << 32 | kept;
}

static uint32_t ipv4_number(const uint8_t *address)
{
    return (uint32_t)address[0] << 24 | (uint32_t)address[1] << 16 | (uint32_t)address[2] << 8 |
           address[3];
}

static uint64_t key_of(const prefix *p)
{
    static const tamis_hasher hasher = { .hash = TAMIS_FAST };

    if (p->version == 6)
        return tamis_hasher_key(&hasher, p, offsetof(prefix, version));
    return ipv4_key(ipv4_number(p->address), p->bits);
}

static void fill_filter(blocklist *b)
{
    /* So rare that the searches in vain take no time. */
    tamis_spec spec =
        TAMIS_SPEC(.keys = b->n ? b->n : 1, .fpr = 1.0 / 256, .hasher.hash = TAMIS_RAW);
    tamis_plan plan;
    tamis_status status = tamis_plan_kind(&plan, TAMIS_BLOCKED, &spec);

    if (!status)
        status = tamis_new(&b->filter, &plan, NULL);
    for (size_t i = 0; i < b->n && !status; i++)
        status = tamis_add(b->filter, key_of(&b->prefixes[i]));
    if (status)
        die_status("make", "a filter of the prefixes", status);
}

blocklist *blocklist_read(const char *const *paths, size_t n)
{
    blocklist *b = array_new(1, sizeof *b, "a list of prefixes");

    for (size_t i = 0; i < n; i++) {
        list_reader r = { .list = b, .path = paths[i] };
        reader_each_line(paths[i], take_line, &r);
    }
    sort_prefixes(b);
    if (b->n > PREFIXES_MAX)
        die(CODE_LIMIT, "flows: more than %d prefixes to block; give fewer", PREFIXES_MAX);
    find_lengths(b);
    fill_filter(b);
    return b;
}

void blocklist_free(blocklist *b)
{
    if (!b)
        return;
    tamis_free(b->filter);
    buffer_free(&b->text);
    free(b);
}

/* ---- Addresses --------------------------------------------------------- */

/* Keys of the address at each length. */
static void keys_at(const blocklist *b, uint64_t *keys, const uint8_t *address, uint8_t version)
{
    const uint8_t *lengths = b->lengths[version == 6];
    size_t n = b->n_lengths[version == 6];
    prefix p = { .version = version };

    memcpy(p.address, address, ADDRESS_SIZE);
    uint32_t number = ipv4_number(address);
    for (size_t i = 0; i < n && version == 4; i++)
        keys[i] = ipv4_key(number, lengths[i]);
    for (size_t i = 0; i < n && version == 6; i++) {
        mask(&p, lengths[i]);
        keys[i] = key_of(&p);
    }
}

/* The longest prefix that holds the address; NULL: it is not listed. */
static prefix *search(const blocklist *b, const uint8_t *address, uint8_t version)
{
    uint64_t keys[LENGTHS_MAX], hits[LENGTHS_MAX / 64 + 1];
    const uint8_t *lengths = b->lengths[version == 6];
    size_t n = b->n_lengths[version == 6];
    prefix p = { .version = version }, *found = NULL;

    if (n == 0)
        return NULL;
    keys_at(b, keys, address, version);
    if (tamis_has_many(b->filter, hits, keys, n) == 0)
        return NULL;
    memcpy(p.address, address, ADDRESS_SIZE);
    for (size_t i = 0; i < n && !found; i++)
        if (hits[i / 64] >> i % 64 & 1) {
            mask(&p, lengths[i]);
            found = bsearch(&p, b->prefixes, b->n, sizeof p, by_prefix);
        }
    return found;
}

/* 2^64 divided by the golden ratio, and an odd number like it, scatter both halves. */
static answer *answer_for(blocklist *b, const uint8_t *address)
{
    uint64_t half[2];

    memcpy(half, address, sizeof half);
    uint64_t mixed =
        half[0] * UINT64_C(0x9E3779B97F4A7C15) + half[1] * UINT64_C(0xC2B2AE3D27D4EB4F);
    return &b->answers[mixed >> (64 - ANSWER_BITS)];
}

/* The number of the prefix from 2, or 1 if there is none; and the version in the last bit. */
static uint32_t code_of(const blocklist *b, const prefix *found, uint8_t version)
{
    return (found ? (uint32_t)(found - b->prefixes) + 2 : 1) << 1 | (version == 6);
}

static prefix *find(blocklist *b, const uint8_t *address, uint8_t version)
{
    answer *a = answer_for(b, address);
    bool is_known = a->found && (a->found & 1) == (version == 6) &&
                    memcmp(a->address, address, ADDRESS_SIZE) == 0;

    if (!is_known) {
        memcpy(a->address, address, ADDRESS_SIZE);
        a->found = code_of(b, search(b, address, version), version);
    }
    return a->found >> 1 > 1 ? &b->prefixes[(a->found >> 1) - 2] : NULL;
}

static void take_packet(blocklist *b, const packet *p)
{
    prefix *from = find(b, p->flow.source, p->flow.version);
    prefix *to = find(b, p->flow.target, p->flow.version);

    if (!from && !to)
        return;
    b->packets++;
    b->bytes += p->bytes;
    if (from) {
        from->from++;
        from->packets++;
        from->bytes += p->bytes;
    }
    if (to) {
        to->to++;
        to->packets += to != from;
        to->bytes += to != from ? p->bytes : 0;
    }
}

void blocklist_take(blocklist *b, const packet *packets, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            __builtin_prefetch(answer_for(b, packets[i + AHEAD].flow.source));
            __builtin_prefetch(answer_for(b, packets[i + AHEAD].flow.target));
        }
        if (packets[i].flow.version)
            take_packet(b, &packets[i]);
    }
}

/* ---- Results ----------------------------------------------------------- */

blocked blocklist_total(const blocklist *b)
{
    return (blocked){ b->packets, b->bytes, b->n };
}

static int by_packets(const void *a, const void *b)
{
    const prefix *x = a, *y = b;

    if (x->packets != y->packets)
        return x->packets > y->packets ? -1 : 1;
    return by_prefix(a, b);
}

const prefix *blocklist_rank(blocklist *b, size_t *n)
{
    if (b->n > 0)
        qsort(b->prefixes, b->n, sizeof *b->prefixes, by_packets);
    for (*n = 0; *n < b->n && b->prefixes[*n].packets > 0;)
        ++*n;
    return b->prefixes;
}

void prefix_text(char *text, const prefix *p)
{
    address_text(text, p->address, p->version);
    if (p->bits < bits_of(p->version))
        snprintf(text + strlen(text), 5, "/%u", p->bits);
}
