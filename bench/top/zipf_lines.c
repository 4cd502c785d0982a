/* zipf_lines.c - lines as in logs: line number r of a list comes with a probability in proportion
 * to 1 / r^s.
 *
 * Truth comes with them: with --counts, only how often each of the first lines came is printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../zipf.h"

/* Long enough for a log: what follows the address is the same in all lines. */
static size_t write_line(char *at, uint64_t rank)
{
    return (size_t)sprintf(at, "/page/%" PRIu64 "/index.html\n", rank);
}

static void print_lines(zipf *z, uint64_t lines)
{
    static char block[1 << 18];
    size_t size = 0;

    for (uint64_t i = 0; i < lines; i++) {
        size += write_line(block + size, zipf_next(z));
        if (size > sizeof block - 64 || i + 1 == lines) {
            if (fwrite(block, 1, size, stdout) != size)
                exit(1);
            size = 0;
        }
    }
}

static void print_counts(zipf *z, uint64_t lines, uint64_t first)
{
    uint64_t *counts = calloc(first + 1, sizeof *counts);

    if (!counts)
        exit(1);
    for (uint64_t i = 0; i < lines; i++) {
        uint64_t rank = zipf_next(z);
        counts[rank <= first ? rank : 0]++;
    }
    for (uint64_t rank = 1; rank <= first; rank++)
        printf("%" PRIu64 "\t/page/%" PRIu64 "/index.html\n", counts[rank], rank);
    free(counts);
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: zipf LINES DIFFERENT EXPONENT [COUNTS]\n");
        return 2;
    }
    uint64_t lines = (uint64_t)strtod(argv[1], NULL), n = (uint64_t)strtod(argv[2], NULL);
    zipf z = zipf_of(strtod(argv[3], NULL), n, 1);
    if (argc == 5)
        print_counts(&z, lines, strtoull(argv[4], NULL, 10));
    else
        print_lines(&z, lines);
    return fflush(stdout) ? 1 : 0;
}
