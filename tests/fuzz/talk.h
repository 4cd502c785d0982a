/* talk.h - one side of a conversation, which hears what a fuzzer made up.
 *
 * input: messages. Each is a part, a form and the size of its body (one byte each, of which the
 * part is a place in a text of parts), then the body. A form:
 *
 *   bits 0-1   0: a frame; 1: a message that is not compressed; 2, 3: one that is
 *   bits 4-7   the body comes 4^n times, up to TALK_MOST bytes
 *
 * A side that hears nonsense ends its program, so that each input has a process of its own: it ends
 * by itself, with a code that says so, and keeps the cost law. */
#ifndef TAMIS_TESTS_FUZZ_TALK_H
#define TAMIS_TESTS_FUZZ_TALK_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercise.h" /* first: it has a parameter that is called as a type of the next */

#include "../../cli/wire/packed_message.h"
#include "cost.h"

/* Bodies of more bytes than COST_MEMORY, and of what is made of a few of it. */
enum { TALK_MOST = 8 << 20, TALK_SHORTEST = 3, TALK_LONGEST = 4096 };

static inline buffer talk_body(const uint8_t *at, size_t size, unsigned form)
{
    buffer body = { 0 };

    for (uint64_t n = UINT64_C(1) << 2 * (form >> 4); n > 0 && body.size < TALK_MOST; n--)
        buffer_append(&body, at, size);
    return body;
}

static inline void talk_send(line *l, char part, unsigned form, buffer *body)
{
    packed p = packed_make(body->bytes, body->size, form & 2 ? UINT64_MAX : 0);

    if ((form & 3) == 0)
        line_send(l, part, body->bytes, body->size);
    else
        packed_send(&p, l, part);
    buffer_free(&p.bytes);
    buffer_free(body);
}

/* What comes, as a file to be read; *received is its size. */
static inline int talk_file(const char *parts, const uint8_t *at, size_t size, uint64_t *received)
{
    int fd = memfd_create("frames", MFD_CLOEXEC), out = dup(fd);
    const line_limits limits = { .seconds = 1 };
    line *l = line_open(out, out, "fuzzer", &limits);

    MUST(fd >= 0 && out >= 0);
    while (size >= TALK_SHORTEST) {
        size_t left = size - TALK_SHORTEST, n = at[2] < left ? at[2] : left;
        buffer body = n > 0 ? talk_body(at + TALK_SHORTEST, n, at[1]) : (buffer){ 0 };

        talk_send(l, parts[at[0] % strlen(parts)], at[1], &body);
        at += TALK_SHORTEST + n;
        size -= TALK_SHORTEST + n;
    }
    line_close(l);
    line_free(l);
    *received = (uint64_t)lseek(fd, 0, SEEK_CUR);
    MUST(lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

/* A side that has nobody to talk to but what is in the file. */
static inline line *talk_line(int in)
{
    const line_limits limits = { .seconds = 1 };
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    MUST(nowhere >= 0);
    return line_open(in, nowhere, "fuzzer", &limits);
}

typedef struct talk_side {
    const char *name, *parts;
    void (*run)(line *l, unsigned settings);
} talk_side;

static const talk_side *talk_here;
static uint64_t talk_received;

/* After exit() as well, which the parent alone shall survive: what else is to be done then, such as
 * to look for leaks, is not for one that ends in the middle of its work. */
static inline void talk_leave(int code, void *nothing)
{
    (void)nothing;
    cost_check(talk_here->name, &COST_OF_TALK, talk_received);
    _exit(code);
}

static inline void talk_child(const talk_side *talking, int in, unsigned settings)
{
    int silent = open("/dev/null", O_WRONLY | O_CLOEXEC);

    alarm(20); /* of work: nothing keeps it waiting */
    MUST(silent >= 0 && dup2(silent, STDOUT_FILENO) >= 0 && on_exit(talk_leave, NULL) == 0);
    if (!getenv("TALK_SAYS"))
        MUST(dup2(silent, STDERR_FILENO) >= 0);
    cost_begin();
    line *l = talk_line(in);
    talking->run(l, settings);
    line_close(l);
    line_free(l);
    talk_leave(CODE_OK, NULL);
}

/* What is heard: settings in a byte, then messages. */
static inline void talk_run(const talk_side *talking, unsigned settings, const uint8_t *at,
                            size_t size)
{
    int in = talk_file(talking->parts, at, size, &talk_received), state;
    pid_t child = fork();

    MUST(child >= 0);
    talk_here = talking;
    if (child == 0)
        talk_child(talking, in, settings);
    while (waitpid(child, &state, 0) < 0)
        MUST(errno == EINTR); /* libFuzzer has a timer */
    close(in);
    MUST(WIFEXITED(state));
    int code = WEXITSTATUS(state);
    MUST(code == CODE_OK || code == CODE_NOTHING || code == CODE_IO || code == CODE_CORRUPT ||
         code == CODE_LIMIT);
}

/* Of an input whose first byte is the settings. */
static inline int talk_input(const talk_side *talking, const uint8_t *data, size_t size)
{
    if (size > 0 && size <= TALK_LONGEST)
        talk_run(talking, data[0], data + 1, size - 1);
    return 0;
}

#endif
