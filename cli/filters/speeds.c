/* speeds.c - how fast a machine is, as text.
 *
 *     tamis-speeds 1 VERSION N kinds of NAME
 *     hash NUMBER
 *     reads NUMBER...
 *     KIND NUMBER...         two lines for each kind: a high rate and a low one
 *     end
 *
 * Numbers are the fields of tamis_machine, in their order. A file may hold anything: what is not as
 * it would be written here, for this machine and by this version, is refused. */
#include "speeds.h"

#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>

#include "text/number.h"

void speeds_name(char name[SPEEDS_NAME_SIZE])
{
    struct utsname system;

    snprintf(name, SPEEDS_NAME_SIZE, "%s", uname(&system) == 0 ? system.nodename : "");
    for (char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              *c == '-' || *c == '.'))
            *c = '_';
    if (!*name)
        strcpy(name, "unnamed");
}

static uint64_t kinds_known(void)
{
    uint64_t n = 0;

    for (tamis_kind k = TAMIS_NO_KIND; (k = tamis_kind_next(k)) != TAMIS_NO_KIND;)
        n++;
    return n;
}

/* The line that a file of this version, for this machine, starts with. */
static void first_line(char *line, size_t size)
{
    char name[SPEEDS_NAME_SIZE];

    speeds_name(name);
    snprintf(line, size, "tamis-speeds 1 %s %" PRIu64 " kinds of %s\n", tamis_version(),
             kinds_known(), name);
}

static void write_numbers(FILE *file, const char *name, const double *numbers, size_t n)
{
    fputs(name, file);
    for (size_t i = 0; i < n; i++)
        fprintf(file, " %.9g", numbers[i]);
    fputc('\n', file);
}

enum { TIMINGS = sizeof(tamis_timing) / sizeof(double), TIMES = 2 }; /* of these, the first */
void speeds_write(FILE *file, const tamis_machine *m)
{
    char line[200];

    first_line(line, sizeof line);
    fputs(line, file);
    write_numbers(file, "hash", &m->hash, 1);
    write_numbers(file, "reads", m->reads, TAMIS_READS);
    for (const tamis_speed *s = m->speeds; s < m->speeds + m->kinds; s++)
        for (int i = 0; i < 2; i++) {
            double numbers[TIMINGS];
            memcpy(numbers, &s->at[i], sizeof numbers);
            write_numbers(file, tamis_kind_name(s->kind), numbers, TIMINGS);
        }
    fputs("end\n", file);
}

/* Takes the next word of a line off the text; false if there is none. */
static bool next_word(char **rest, char **word)
{
    size_t size = strcspn(*rest, " \n");
    bool ends_line = (*rest)[size] == '\n';

    *word = *rest;
    if (size == 0 || (*rest)[size] == 0)
        return false;
    /* The newline stays, for whoever looks for the next line. */
    *rest += size + !ends_line;
    if (!ends_line)
        (*word)[size] = 0;
    return true;
}

/* Nothing takes longer than a minute, and no filter that is measured has 10^12 bytes. */
static bool read_numbers(char **rest, double *numbers, size_t n, double most)
{
    for (size_t i = 0; i < n; i++) {
        char *word, number[32] = "";
        if (!next_word(rest, &word))
            return false;
        size_t size = strcspn(word, "\n");
        if (size >= sizeof number)
            return false;
        memcpy(number, word, size);
        if (!number_real(&numbers[i], number) || !(numbers[i] >= 0 && numbers[i] <= most))
            return false;
    }
    return *(*rest)++ == '\n';
}

static bool read_timing(char **rest, tamis_timing *t)
{
    double n[TIMINGS];

    if (!read_numbers(rest, n, TIMINGS, 1e12))
        return false;
    memcpy(t, n, sizeof *t);
    for (int i = TIMES; i < TIMINGS; i++)
        if (n[i] > 60)
            return false;
    return true;
}

static bool read_speed(char **rest, tamis_speed *s)
{
    char *first, *second;
    tamis_kind again;

    return next_word(rest, &first) && tamis_kind_find(&s->kind, first) &&
           read_timing(rest, &s->at[0]) && next_word(rest, &second) &&
           tamis_kind_find(&again, second) && again == s->kind && read_timing(rest, &s->at[1]);
}

bool speeds_read(tamis_machine *m, char *text)
{
    char line[200], *rest = text, *word;
    tamis_machine found = { .size = sizeof found };

    first_line(line, sizeof line);
    if (strncmp(rest, line, strlen(line)) != 0)
        return false;
    rest += strlen(line);
    if (!next_word(&rest, &word) || strcmp(word, "hash") ||
        !read_numbers(&rest, &found.hash, 1, 60) || !next_word(&rest, &word) ||
        strcmp(word, "reads") || !read_numbers(&rest, found.reads, TAMIS_READS, 60))
        return false;
    while (strcmp(rest, "end\n") != 0)
        if (found.kinds == TAMIS_SPEEDS_MAX || !read_speed(&rest, &found.speeds[found.kinds++]))
            return false;
    *m = found;
    return true;
}
