/* zipf.c - lines as in logs: line number r of a list comes with a probability in proportion to
 * 1 / r^s.
 *
 * Drawn by rejection from the area under x^-s, which is inverted exactly (Hörmann and Derflinger,
 * 1996): no table, any number of different lines. Truth comes with them: with --counts, only how
 * often each of the first lines came is printed. */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct zipf {
    double s, low, high, skip; /* areas up to 1.5 less 1, and up to n + 0.5 */
    uint64_t n, state;
} zipf;

static double uniform(zipf *z)
{
    uint64_t x = z->state += UINT64_C(0x9E3779B97F4A7C15);

    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* (e^x - 1) / x and log(1 + x) / x, also near 0: what makes s = 1 no exception. */
static double expm1_over(double x)
{
    return fabs(x) > 1e-8 ? expm1(x) / x : 1 + x / 2;
}

static double log1p_over(double x)
{
    return fabs(x) > 1e-8 ? log1p(x) / x : 1 - x / 2;
}

static double area(const zipf *z, double x)
{
    return expm1_over((1 - z->s) * log(x)) * log(x);
}

static double area_inverse(const zipf *z, double y)
{
    double t = fmax(y * (1 - z->s), -1);

    return exp(log1p_over(t) * y);
}

static zipf zipf_of(double s, uint64_t n, uint64_t seed)
{
    zipf z = { .s = s, .n = n, .state = seed };

    z.low = area(&z, 1.5) - 1;
    z.high = area(&z, (double)n + 0.5);
    z.skip = 2 - area_inverse(&z, area(&z, 2.5) - pow(2, -s));
    return z;
}

static uint64_t zipf_next(zipf *z)
{
    for (;;) {
        double u = z->high + uniform(z) * (z->low - z->high), x = area_inverse(z, u);
        double k = fmin(fmax(floor(x + 0.5), 1), (double)z->n);

        if (k - x <= z->skip || u >= area(z, k + 0.5) - pow(k, -z->s))
            return (uint64_t)k;
    }
}

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
