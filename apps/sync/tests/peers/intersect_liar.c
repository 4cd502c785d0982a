/* liar.c - the side of `tamis intersect` that serves, and lies.
 *
 *     liar WHAT
 *
 * It greets as the program does, and its frames are whole: only what they say is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../intersect.h"

static void put_number(uint8_t *at, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(number >> 8 * i);
}

static void send_number(line *l, char part, uint64_t number)
{
    uint8_t bytes[8];

    put_number(bytes, number);
    line_send(l, part, bytes, sizeof bytes);
}

/* A set of n elements, and so many hashes of it. */
static void send_sketch(line *l, uint64_t n, size_t hashes)
{
    uint8_t bytes[16 + 8 * 256] = { 0 };

    put_number(bytes, n);
    line_send(l, PART_SKETCH, bytes, 16 + 8 * hashes);
    if (hashes <= 128 && n < UINT64_C(1) << 48)
        (void)line_expect(l, PART_PLAN);
}

static void flood(line *l, char part)
{
    static char zeros[1 << 18];

    for (;;)
        line_send(l, part, zeros, sizeof zeros);
}

/* The filter of the other side, which is sent as it likes. */
static void skip_filter(line *l)
{
    while (line_expect(l, PART_FILTER).size > 0)
        continue;
}

/* An answer of so many numbers, all as small as they can be: zeros are gaps of nothing. */
static void answer(line *l, uint64_t passed, uint64_t numbers, size_t size)
{
    char *zeros = calloc(1, size + 1);

    send_sketch(l, 4000, 62);
    skip_filter(l);
    send_number(l, PART_ANSWER, passed);
    send_number(l, PART_ANSWER, numbers);
    for (size_t done = 0; zeros && done < size; done += 60000)
        line_send(l, PART_ANSWER, zeros, size - done < 60000 ? size - done : 60000);
    free(zeros);
}

static void lie(line *l, const char *what)
{
    if (strcmp(what, "huge") == 0)
        send_sketch(l, UINT64_C(1) << 60, 0);
    else if (strcmp(what, "sketch") == 0)
        send_sketch(l, 1000, 200);
    else if (strcmp(what, "part") == 0)
        send_number(l, PART_CHECK, 7);
    else if (strcmp(what, "flood") == 0)
        flood(l, '.');
    else if (strcmp(what, "many") == 0)
        answer(l, UINT64_C(1) << 40, 1000, 0);
    else if (strcmp(what, "short") == 0)
        answer(l, 4000, 4000, 100);
    else if (strcmp(what, "long") == 0)
        answer(l, 100, 100, 100000);
    else if (strcmp(what, "stall") == 0)
        sleep(10);
    if (strcmp(what, "filter") == 0) {
        send_sketch(l, 50, 0); /* few: its filter is asked for */
        flood(l, PART_FILTER);
    }
}

int main(int argc, char **argv)
{
    line *l = line_open(STDIN_FILENO, STDOUT_FILENO, "liar: the other side",
                        &(line_limits){ .seconds = 10 });

    if (argc != 2)
        return 2;
    line_greet(l, "intersect", false, 0);
    (void)line_expect(l, PART_ASK);
    lie(l, argv[1]);
    line_close(l);
    return 0;
}
