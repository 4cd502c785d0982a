/* choose.c - the program of all tests of a folder: its first argument says which one runs, the
 * others are for that.
 *
 * CMake writes <chosen.h>, a line X(name) for each file of the folder, whose main() it calls
 * <name>_main() here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int chosen(int argc, char **argv);

#define X(name) chosen name##_main;
#include <chosen.h>
#undef X

static const struct {
    const char *name;
    chosen *run;
} TESTS[] = {
#define X(name) { #name, name##_main },
#include <chosen.h>
#undef X
};

enum { N_TESTS = sizeof TESTS / sizeof *TESTS };

static int print_names(const char *program)
{
    fprintf(stderr, "usage: %s TEST [ARGUMENT]..., where TEST is one of\n", program);
    for (int i = 0; i < N_TESTS; i++)
        fprintf(stderr, "    %s\n", TESTS[i].name);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static char program[4096]; /* with the test's name: what replays it */

    for (int i = 0; i < N_TESTS; i++)
        if (argc > 1 && strcmp(argv[1], TESTS[i].name) == 0) {
            snprintf(program, sizeof program, "%s %s", argv[0], argv[1]);
            argv[1] = program;
            return TESTS[i].run(argc - 1, argv + 1);
        }
    return print_names(argv[0]);
}
