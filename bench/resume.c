#include "resume.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    char *name; /* subject, workload, ...: what no other row has */
    char *line;
} row;

struct bench_store {
    const char *path;
    row *rows;
    size_t n, room;
};

/* ---- Rows -------------------------------------------------------------- */

static void *must_have(void *memory)
{
    if (!memory)
        bench_die("rows", "out of memory");
    return memory;
}

/* Cell i of a line; commas between quotes do not count. */
static size_t cell(const char **start, const char *line, int i)
{
    bool quoted = false;

    *start = line;
    for (; *line && (quoted || *line != ',' || i-- > 0); line++) {
        quoted ^= *line == '"';
        if (!quoted && *line == ',')
            *start = line + 1;
    }
    return (size_t)(line - *start);
}

static char *name_of(const char *line)
{
    static const int COLUMNS[] = { BENCH_SUBJECT_COLUMN, BENCH_WORKLOAD_COLUMN,
                                   BENCH_WITHOUT_COLUMN, BENCH_KEYS_COLUMN, BENCH_FPR_COLUMN };
    char *name = must_have(malloc(strlen(line) + 1)), *to = name;

    for (size_t i = 0; i < sizeof COLUMNS / sizeof *COLUMNS; i++) {
        const char *from;
        size_t size = cell(&from, line, COLUMNS[i]);
        memcpy(to, from, size);
        to += size;
        *to++ = ',';
    }
    to[-1] = '\0';
    return name;
}

static row *find(const bench_store *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->rows[i].name, name) == 0)
            return &s->rows[i];
    return NULL;
}

/* Takes the line over. */
static void put(bench_store *s, char *line)
{
    char *name = name_of(line);
    row *old = find(s, name);

    if (old) {
        free(old->name);
        free(old->line);
        *old = (row){ name, line };
        return;
    }
    if (s->n == s->room) {
        s->room = 2 * s->room + 1024;
        s->rows = must_have(realloc(s->rows, s->room * sizeof *s->rows));
    }
    s->rows[s->n++] = (row){ name, line };
}

static char *line_of(const bench_machine *m, const bench_trial *t, const bench_space *space,
                     const bench_job *job)
{
    char *line = NULL;
    size_t size;
    FILE *out = must_have(open_memstream(&line, &size));

    bench_print_row(out, m, t, space, job);
    if (fclose(out))
        bench_die("rows", "out of memory");
    return line;
}

void bench_store_put(bench_store *s, const bench_machine *m, const bench_trial *t,
                     const bench_space *space, const bench_job *job)
{
    put(s, line_of(m, t, space, job));
}

bool bench_store_has(const bench_store *s, const bench_trial *t, const bench_job *job)
{
    char *line = line_of(&(bench_machine){ .commit = "" }, t, &(bench_space){ 0 }, job);
    char *name = name_of(line);
    const row *found = find(s, name);
    const char *status = "";
    size_t size = found ? cell(&status, found->line, BENCH_STATUS_COLUMN) : 0;

    free(line);
    free(name);
    return found && !(size == 5 && memcmp(status, "noisy", 5) == 0);
}

/* ---- Files ------------------------------------------------------------- */

static char draft[4096];

void bench_store_remove_draft(void)
{
    if (draft[0])
        unlink(draft);
}

static char *read_line(FILE *in)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size = getline(&line, &room, in);

    if (size <= 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static bool has_head(FILE *in)
{
    char *line = read_line(in), *head = NULL;
    size_t size;
    FILE *out = must_have(open_memstream(&head, &size));

    bench_print_head(out);
    fclose(out);
    head[strcspn(head, "\n")] = '\0';
    bool same = line && strcmp(line, head) == 0;
    free(line);
    free(head);
    return same;
}

static char *place_of(const bench_machine *m)
{
    char *place = NULL;
    size_t size;
    FILE *out = must_have(open_memstream(&place, &size));

    bench_print_place(out, m);
    fclose(out);
    return place;
}

static void read_rows(bench_store *s, const bench_machine *m)
{
    FILE *in = fopen(s->path, "r");
    char *place = place_of(m);

    if (in && !has_head(in))
        bench_die(s->path, "no rows of this program");
    for (char *line; in && (line = read_line(in));) {
        if (!strstr(line, place))
            bench_die(s->path, "has rows of another machine, compiler or commit");
        put(s, line);
    }
    if (in)
        fclose(in);
    free(place);
}

/* Better now than after all the work. */
static void check_path(const char *path)
{
    int size = snprintf(draft, sizeof draft, "%s.new", path);
    FILE *out = size < (int)sizeof draft ? fopen(draft, "w") : NULL;

    if (!out || fclose(out))
        bench_die(path, "cannot be written");
}

bench_store *bench_store_new(const char *path, bool resumes, const bench_machine *m)
{
    bench_store *s = must_have(calloc(1, sizeof *s));

    s->path = path;
    if (path)
        check_path(path);
    if (resumes)
        read_rows(s, m);
    return s;
}

void bench_store_free(bench_store *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->rows[i].name);
        free(s->rows[i].line);
    }
    free(s->rows);
    free(s);
}

void bench_store_write(const bench_store *s)
{
    FILE *out = s->path ? fopen(draft, "w") : NULL;

    if (!s->path)
        return;
    if (!out)
        bench_die(s->path, "cannot be written");
    bench_print_head(out);
    for (size_t i = 0; i < s->n; i++)
        fprintf(out, "%s\n", s->rows[i].line);
    bool written = !ferror(out);
    if (fclose(out) || !written || rename(draft, s->path))
        bench_die(s->path, "cannot be written");
}
