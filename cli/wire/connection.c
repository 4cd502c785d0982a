/* connection.c - a conversation with another tamis. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"
#include "frame.h"
#include "term/array.h"
#include "text/byte_order.h"

/* Parts that every conversation has. */
enum { PART_HELLO = 'H', PART_ALIVE = '.', PART_REFUSED = '!' };

enum { LETTERS = 128, PIECE = 4096, SEND_AT = 1 << 16, BREATH_SECONDS = 5 };

struct line {
    int in, out;
    const char *other;
    line_limits limits;
    buffer waiting;  /* to be sent */
    buffer incoming; /* the frame that came last */
    uint64_t frames_sent, frames_received;
    uint64_t sent[LETTERS], received[LETTERS]; /* bytes by part; the greeting is of PART_HELLO */
    uint64_t bytes;
    time_t spoke;                   /* when something was sent last */
    void (*broken_pipe)(int which); /* what the signal did before */
};

line *line_open(int in, int out, const char *other, const line_limits *limits)
{
    line *l = array_new(1, sizeof *l, "line");

    l->in = in;
    l->out = out;
    l->other = other;
    l->limits = *limits;
    l->spoke = time(NULL);
    l->broken_pipe = signal(SIGPIPE, SIG_IGN);
    return l;
}

/* ---- Bytes ------------------------------------------------------------- */

static void count_bytes(line *l, uint64_t *of_part, size_t size)
{
    *of_part += size;
    l->bytes += size;
    if (l->limits.bytes && l->bytes > l->limits.bytes)
        die(CODE_IO,
            "%s: more than %" PRIu64 " bytes would cross the line; --limit-bytes allows more",
            l->other, l->limits.bytes);
}

static void wait_until(line *l, int fd, short events)
{
    struct pollfd p = { .fd = fd, .events = events };
    int ready;

    do
        ready = poll(&p, 1, (int)l->limits.seconds * 1000);
    while (ready < 0 && errno == EINTR);
    if (ready < 0)
        die_errno("wait for", l->other);
    if (ready == 0)
        die(CODE_IO, "%s: silent for %u seconds; --timeout allows more", l->other,
            l->limits.seconds);
}

/* False at the end of the line. */
static bool read_all(line *l, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        wait_until(l, l->in, POLLIN);
        ssize_t got = read(l->in, (char *)bytes + done, size - done);
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            die_errno("hear", l->other);
        if (got == 0)
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool receive_frame(line *l, line_frame *f);
static void hear_greeting(line *l);

/* The other side is gone: perhaps it said why before it left. */
static _Noreturn void hear_last_words(line *l)
{
    line_frame f;

    if (l->received[PART_HELLO] == 0)
        hear_greeting(l);
    while (receive_frame(l, &f))
        continue;
    die(CODE_IO, "%s closed the line after %" PRIu64 " bytes", l->other, line_received(l));
}

/* So many bytes do not block a pipe that is ready; a socket is asked not to block. */
static ssize_t write_some(int fd, const void *bytes, size_t size)
{
    ssize_t put = send(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (put < 0 && errno == ENOTSOCK)
        put = write(fd, bytes, size < PIECE ? size : PIECE);
    return put;
}

static void send_waiting(line *l)
{
    for (size_t done = 0; done < l->waiting.size;) {
        wait_until(l, l->out, POLLOUT);
        ssize_t put = write_some(l->out, l->waiting.bytes + done, l->waiting.size - done);
        if (put < 0 && (errno == EPIPE || errno == ECONNRESET))
            hear_last_words(l);
        if (put < 0 && errno != EINTR && errno != EAGAIN)
            die_errno("speak to", l->other);
        done += put > 0 ? (size_t)put : 0;
    }
    l->waiting.size = 0;
    l->spoke = time(NULL);
}

/* ---- Frames ------------------------------------------------------------ */

static void send_frame(line *l, char part, const void *bytes, size_t size)
{
    uint8_t header[FRAME_HEADER];

    frame_seal(header, part, l->frames_sent++, bytes, size);
    buffer_append(&l->waiting, header, sizeof header);
    buffer_append(&l->waiting, bytes, size);
    count_bytes(l, &l->sent[(uint8_t)part], sizeof header + size);
    if (l->waiting.size >= SEND_AT)
        send_waiting(l);
}

void line_send(line *l, char part, const void *bytes, size_t size)
{
    do {
        size_t piece = size < FRAME_MOST ? size : FRAME_MOST;

        send_frame(l, part, bytes, piece);
        size -= piece;
        if (size > 0) /* nothing may be NULL */
            bytes = (const char *)bytes + piece;
    } while (size > 0);
}

void line_put(line *l, char part, buffer *body)
{
    line_send(l, part, body->bytes, body->size);
    buffer_free(body);
}

static _Noreturn void line_is_cut(const line *l)
{
    die(CODE_IO, "%s: the line was cut in the middle of a message, after %" PRIu64 " bytes",
        l->other, line_received(l));
}

static _Noreturn void line_is_damaged(const line *l)
{
    die(CODE_CORRUPT, "%s: what came after %" PRIu64 " bytes is damaged", l->other,
        line_received(l));
}

/* False at the end of the line. */
static bool receive_frame(line *l, line_frame *f)
{
    uint8_t header[FRAME_HEADER];

    if (!read_all(l, header, 1))
        return false;
    if (!read_all(l, header + 1, sizeof header - 1))
        line_is_cut(l);
    if (!frame_open(header, &f->part, &f->size))
        line_is_damaged(l);
    l->incoming.size = 0;
    buffer_reserve(&l->incoming, f->size + 1);
    if (!read_all(l, l->incoming.bytes, f->size))
        line_is_cut(l);
    if (!frame_is_whole(header, l->frames_received++, l->incoming.bytes))
        line_is_damaged(l);
    count_bytes(l, &l->received[(uint8_t)f->part], sizeof header + f->size);
    l->incoming.bytes[f->size] = 0;
    f->body = (const uint8_t *)l->incoming.bytes;
    if (f->part == PART_REFUSED)
        die(CODE_CORRUPT, "%s gave up: %s", l->other, l->incoming.bytes);
    return true;
}

line_frame line_receive(line *l)
{
    line_frame f;

    send_waiting(l);
    do
        if (!receive_frame(l, &f))
            hear_last_words(l);
    while (f.part == PART_ALIVE);
    return f;
}

line_frame line_expect(line *l, char part)
{
    line_frame f = line_receive(l);

    if (f.part != part)
        line_refuse(l, "a message of part '%c' came where '%c' was due", f.part, part);
    return f;
}

const uint8_t *line_expect_bytes(line *l, char part, size_t size)
{
    line_frame f = line_expect(l, part);

    if (f.size != size)
        line_refuse(l, "a message of part '%c' has %zu bytes, not %zu", part, f.size, size);
    return f.body;
}

void line_flush(line *l)
{
    send_waiting(l);
}

void line_breathe(line *l)
{
    if (time(NULL) - l->spoke < BREATH_SECONDS)
        return;
    line_send(l, PART_ALIVE, NULL, 0);
    send_waiting(l);
}

void line_refuse(line *l, const char *format, ...)
{
    char why[256];
    va_list values;

    va_start(values, format);
    vsnprintf(why, sizeof why, format, values);
    va_end(values);
    line_send(l, PART_REFUSED, why, strlen(why));
    write_some(l->out, l->waiting.bytes, l->waiting.size);
    die(CODE_CORRUPT, "%s: %s", l->other, why);
}

void line_close(line *l)
{
    send_waiting(l);
    buffer_free(&l->waiting);
    buffer_free(&l->incoming);
    close(l->out); /* of a pipe or a socket, it tells nothing */
    if (l->in != l->out)
        close(l->in); /* only read */
    signal(SIGPIPE, l->broken_pipe);
}

void line_free(line *l)
{
    free(l);
}

/* ---- Greetings --------------------------------------------------------- */

static void hear_greeting(line *l)
{
    uint8_t bytes[FRAME_GREETING];
    size_t n = 0;

    while (n < sizeof bytes && read_all(l, bytes + n, 1))
        n++;
    count_bytes(l, &l->received[PART_HELLO], n);
    if (n == 0)
        die(CODE_IO, "%s closed the line before it said anything", l->other);
    if (n < sizeof bytes || frame_version(bytes) == 0)
        die(CODE_CORRUPT, "%s does not speak as tamis does: it began with '%.*s'", l->other, (int)n,
            (const char *)bytes);
    if (frame_version(bytes) != FRAME_VERSION)
        die(CODE_CORRUPT,
            "%s speaks version %u of the protocol, this program version %d; both sides need the "
            "same tamis",
            l->other, frame_version(bytes), FRAME_VERSION);
}

typedef struct hello {
    char job[16];
    uint8_t asks;
    uint8_t offers[8];
} hello;

static void check_hello(line *l, const hello *here, const hello *there)
{
    if (memcmp(there->job, here->job, sizeof here->job) != 0)
        line_refuse(l, "one side runs 'tamis %.15s', the other 'tamis %.15s'", there->job,
                    here->job);
    if (there->asks == here->asks)
        line_refuse(l, here->asks ? "both sides ask; one has to --serve or --listen"
                                  : "both sides serve; one has to ask, with --via or --connect");
}

uint64_t line_greet(line *l, const char *job, bool asks, uint64_t offers)
{
    uint8_t greeting[FRAME_GREETING];
    hello here = { .asks = asks }, there;

    snprintf(here.job, sizeof here.job, "%s", job);
    put_le64(here.offers, offers);
    frame_greeting(greeting);
    buffer_append(&l->waiting, greeting, sizeof greeting);
    count_bytes(l, &l->sent[PART_HELLO], sizeof greeting);
    line_send(l, PART_HELLO, &here, sizeof here);
    send_waiting(l);
    hear_greeting(l);
    memcpy(&there, line_expect_bytes(l, PART_HELLO, sizeof there), sizeof there);
    check_hello(l, &here, &there);
    return le64(there.offers);
}

/* ---- Counts ------------------------------------------------------------ */

static uint64_t sum_of(const uint64_t counts[LETTERS])
{
    uint64_t sum = 0;

    for (int i = 0; i < LETTERS; i++)
        sum += counts[i];
    return sum;
}

uint64_t line_sent(const line *l)
{
    return sum_of(l->sent);
}

uint64_t line_received(const line *l)
{
    return sum_of(l->received);
}

uint64_t line_sent_of(const line *l, char part)
{
    return l->sent[(uint8_t)part % LETTERS];
}

uint64_t line_received_of(const line *l, char part)
{
    return l->received[(uint8_t)part % LETTERS];
}
