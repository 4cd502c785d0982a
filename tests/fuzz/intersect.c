/* intersect.c - fuzzer: what the other side of `tamis intersect` may say, in frames that are whole.
 *
 * input: settings and the number of elements there (one byte each), then frames: part, size of the
 * body (one byte each), body. A side that hears nonsense ends its program, so that each input has
 * one of its own: it must end by itself, with a code that says so. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercise.h" /* first: it has a parameter that is called as a type of the next */

#include "../../cli/intersect.h"
#include "../../cli/wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Inputs of other fuzzers are longer, and a process for each is slow. */
enum { SETTINGS = 2, ELEMENTS = 300, INPUT_MAX = 440 };

static void put_frames(int fd, const uint8_t *at, size_t size)
{
    static const char parts[] = "FQVKRC.";

    for (uint64_t number = 0; size >= 2; number++) {
        size_t body = at[1] < size - 2 ? at[1] : size - 2;
        uint8_t header[FRAME_HEADER];

        frame_seal(header, parts[at[0] % (sizeof parts - 1)], number, at + 2, body);
        MUST(write(fd, header, sizeof header) == sizeof header);
        MUST(write(fd, at + 2, body) == (ssize_t)body);
        at += 2 + body;
        size -= 2 + body;
    }
    MUST(lseek(fd, 0, SEEK_SET) == 0);
}

static elements *own_set(const intersect *t)
{
    elements *set = intersect_new_set(t);

    for (uint64_t i = 0; i < ELEMENTS; i++)
        elements_add(set, &(element){ i * (UINT64_MAX / ELEMENTS), i, i });
    elements_sort(set);
    return set;
}

static void talk(int in, const uint8_t *settings)
{
    int nowhere = open("/dev/null", O_WRONLY);
    intersect t = { .is_first = settings[0] & 1,
                    .is_raw = settings[0] & 2,
                    .here = { ELEMENTS, ELEMENTS - 1 },
                    .there = { settings[1], settings[1] },
                    .memory_for_set = 1 << 20,
                    .threads = 1 };

    dup2(nowhere, STDERR_FILENO);
    t.line = line_open(in, nowhere, "fuzzer", &(line_limits){ .seconds = 1 });
    t.plan.form = settings[0] & 4 ? INTERSECT_UNCODED : INTERSECT_CODED;
    t.plan.kind = settings[0] & 8 ? TAMIS_BLOOM : TAMIS_NO_KIND;
    t.plan.fpr = 0.1;
    t.order.hash = t.check.hash = TAMIS_FAST;
    t.set = own_set(&t);
    elements *result = intersect_run(&t);
    MUST(elements_count(result) <= ELEMENTS);
    elements_free(result);
    elements_free(t.set);
    line_close(t.line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int in, state;
    pid_t child;

    if (size < SETTINGS || size > INPUT_MAX)
        return 0;
    MUST((in = memfd_create("frames", MFD_CLOEXEC)) >= 0);
    put_frames(in, data + SETTINGS, size - SETTINGS);
    MUST((child = fork()) >= 0);
    if (child == 0) {
        talk(in, data);
        _exit(0);
    }
    MUST(waitpid(child, &state, 0) == child);
    close(in);
    MUST(WIFEXITED(state));
    MUST(WEXITSTATUS(state) == CODE_OK || WEXITSTATUS(state) == CODE_IO ||
         WEXITSTATUS(state) == CODE_CORRUPT);
    return 0;
}
