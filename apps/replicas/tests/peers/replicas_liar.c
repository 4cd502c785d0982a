/* replicas_liar.c - one side of `tamis replicas`, which says what it is told to.
 *
 *     replicas_liar {ask|serve} STEP...
 *
 * Frames are whole: only what they say is wrong. A STEP is ?X, which waits for a frame of part X,
 * or X:HEX, which sends one with these bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/connection.h"

static void wait_for(line *l, char part)
{
    while (line_receive(l).part != part)
        ;
}

static void send_hex(line *l, char part, const char *hex)
{
    uint8_t body[4096];
    size_t size = 0;

    for (unsigned byte; size < sizeof body && sscanf(hex, "%2x", &byte) == 1; hex += 2)
        body[size++] = (uint8_t)byte;
    line_send(l, part, body, size);
}

int main(int argc, char **argv)
{
    const line_limits limits = { .seconds = 5 };

    if (argc < 2)
        return 2;
    line *l = line_open(STDIN_FILENO, STDOUT_FILENO, "the victim", &limits);
    (void)line_greet(l, "replicas", strcmp(argv[1], "ask") == 0, 0);
    for (char **step = argv + 2; *step; step++)
        if (**step == '?')
            wait_for(l, (*step)[1]);
        else
            send_hex(l, **step, *step + 2);
    for (;;)
        (void)line_receive(l);
}
