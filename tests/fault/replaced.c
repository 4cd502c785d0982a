/* replaced.c - a file that is replaced while others read it: each reader sees one generation.
 *
 * A child saves two sets in turn over one name. Whatever is opened meanwhile must hold exactly one
 * of them, and must go on holding it: a map keeps the file it was made from. */
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../golden/golden.h"

enum { KEYS = 4000, SAVES = 20, SAVES_IN_LONG_RUN = 80 }; /* of each kind, which all take one way */

static char path[256];

static tamis *make_generation(tamis_kind kind, unsigned generation)
{
    static uint64_t keys[KEYS];
    tamis_spec spec = TAMIS_SPEC(.keys = 2 * KEYS, .hasher.hash = TAMIS_RAW);
    tamis_plan plan;
    tamis *f;

    for (unsigned i = 0; i < KEYS; i++)
        keys[i] = 2 * i + generation % 2;
    if (tamis_plan_kind(&plan, kind, &spec) || tamis_build(&f, &plan, keys, KEYS, NULL))
        die("cannot be made", tamis_kind_name(kind));
    return f;
}

__attribute__((noreturn)) static void be_writer(tamis_kind kind)
{
    tamis *generations[2] = { make_generation(kind, 0), make_generation(kind, 1) };
    unsigned saves = getenv("TAMIS_LONG") ? SAVES_IN_LONG_RUN : SAVES;

    for (unsigned i = 0; i < saves; i++)
        if (tamis_save(generations[i % 2], path))
            _exit(EXIT_FAILURE);
    tamis_free(generations[0]);
    tamis_free(generations[1]);
    _exit(EXIT_SUCCESS);
}

/* How many keys of that generation are there: all, or about as many as the rate allows. */
static unsigned held(const tamis *f, unsigned generation)
{
    unsigned n = 0;

    for (unsigned i = 0; i < KEYS; i++)
        n += tamis_has(f, 2 * i + generation);
    return n;
}

/* 1 % of 4000 is 40; 200 is out of reach of chance, and far from a second set. */
static void check_one_generation(const tamis *f, const char *what)
{
    unsigned even = held(f, 0), odd = held(f, 1);

    expect((even == KEYS && odd < 200) || (odd == KEYS && even < 200),
           "%s: %u keys of one generation and %u of the other", what, even, odd);
}

static void look(const char *what)
{
    tamis *f;
    tamis_status status = tamis_map(&f, path, 0, NULL);

    if (expect(status == TAMIS_OK, "%s: map says %s", what, tamis_status_text(status))) {
        check_one_generation(f, what);
        expect(tamis_verify(f, NULL, NULL) == TAMIS_OK, "%s: verify", what);
        check_one_generation(f, what);
        tamis_free(f);
    }
    status = tamis_load(&f, path, NULL);
    if (expect(status == TAMIS_OK, "%s: load says %s", what, tamis_status_text(status))) {
        check_one_generation(f, what);
        tamis_free(f);
    }
}

static void check_kind(tamis_kind kind)
{
    const char *what = tamis_kind_name(kind);
    tamis *first = make_generation(kind, 0), *kept;
    int code = 0;

    if (tamis_save(first, path) || tamis_map(&kept, path, 0, NULL))
        die("cannot be saved and mapped", what);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        be_writer(kind);
    while (waitpid(child, &code, WNOHANG) == 0)
        look(what);
    look(what);
    expect(WIFEXITED(code) && WEXITSTATUS(code) == 0, "%s: the writer failed", what);
    expect(held(kept, 0) == KEYS && held(kept, 1) < 200, "%s: a map changed under its reader",
           what);
    expect(tamis_verify(kept, NULL, NULL) == TAMIS_OK, "%s: verify of the old file", what);
    tamis_free(kept);
    tamis_free(first);
}

/* Who saves to /dev/null must still have it after: a FIFO stands for all that is not a file. */
static void check_special_file(void)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 10);
    tamis_plan plan;
    struct stat s;
    tamis *f;

    unlink(path);
    if (mkfifo(path, 0600) || tamis_plan_kind(&plan, TAMIS_BLOCKED, &spec) ||
        tamis_new(&f, &plan, NULL))
        die("cannot make", path);
    expect(tamis_save(f, path) == TAMIS_IO && errno == EINVAL, "a FIFO was saved to");
    expect(stat(path, &s) == 0 && S_ISFIFO(s.st_mode), "a FIFO was replaced");
    tamis_free(f);
}

int main(void)
{
    snprintf(path, sizeof path, "replaced-%ld.tamis", (long)getpid());
    for (tamis_kind kind = tamis_kind_next(TAMIS_NO_KIND); kind; kind = tamis_kind_next(kind))
        if (tamis_kind_can(kind) & TAMIS_CAN_BUILD)
            check_kind(kind);
    check_special_file();
    unlink(path);
    return verdict("fault/replaced");
}
