/* machine.c - how fast this machine is, measured once and kept.
 *
 * Figures are kept in $XDG_CACHE_HOME/tamis/speeds-NAME, or in ~/.cache: home folders are shared by
 * machines, so that the name of each is in the name of its file. */
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "speeds.h"
#include "term/message.h"

/* ---- Where ------------------------------------------------------------- */

enum { PATH_SIZE = 4096, TEXT_SIZE = 1 << 16 };

/* False if there is no home to keep it in. Folders on the way are made if `make` is set. */
static bool find_path(char path[PATH_SIZE], bool make)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool is_set = cache && *cache == '/';
    char name[SPEEDS_NAME_SIZE], folder[PATH_SIZE / 2];

    if (!is_set && !(home && *home == '/'))
        return false;
    int size =
        snprintf(folder, sizeof folder, "%s%s", is_set ? cache : home, is_set ? "" : "/.cache");
    if (size < 0 || (size_t)size >= sizeof folder)
        return false;
    snprintf(path, PATH_SIZE, "%s/tamis", folder);
    /* What fails here is noticed when the file is written. */
    if (make && (mkdir(folder, 0700) == 0 || errno == EEXIST))
        (void)!mkdir(path, 0700);
    speeds_name(name);
    snprintf(path, PATH_SIZE, "%s/tamis/speeds-%s", folder, name);
    return true;
}

/* ---- The file ---------------------------------------------------------- */

/* A regular file of a sensible size; anything else there is no cache of ours. */
static bool load_text(char text[TEXT_SIZE], const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t size = -1;

    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size < TEXT_SIZE)
        size = read(fd, text, TEXT_SIZE - 1);
    if (fd >= 0)
        close(fd); /* only read */
    if (size < 0)
        return false;
    text[size] = 0;
    return strlen(text) == (size_t)size;
}

static bool save_text(const tamis_machine *m, const char *path)
{
    char beside[PATH_SIZE + 16];
    FILE *file;

    snprintf(beside, sizeof beside, "%s.%ld", path, (long)getpid());
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || !(file = fdopen(fd, "w")))
        return false;
    speeds_write(file, m);
    bool ok = !ferror(file);
    ok = fclose(file) == 0 && ok && rename(beside, path) == 0;
    if (!ok)
        unlink(beside);
    return ok;
}

/* CPU time, which other programs do not add to. */
static double seconds(void *ctx)
{
    struct timespec t;

    (void)ctx;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void machine_speed(tamis_machine *m, bool anew)
{
    static char text[TEXT_SIZE];
    char path[PATH_SIZE];

    m->size = sizeof *m;
    if (!anew && find_path(path, false) && load_text(text, path) && speeds_read(m, text))
        return;
    say("measuring how fast this machine is: a few seconds, once");
    tamis_status status = tamis_calibrate(m, seconds, NULL, NULL);
    if (status)
        die(status == TAMIS_NOMEM ? CODE_MEMORY : CODE_LIMIT,
            "cannot measure this machine: %s; --probe-cost says how long a lookup takes",
            tamis_status_text(status));
    errno = 0;
    if (!find_path(path, true))
        say("there is no home folder to keep the figures in; they will be measured again");
    else if (!save_text(m, path))
        say("cannot keep the figures in %s: %s; they will be measured again", path,
            strerror(errno));
    else
        say("kept in %s", path);
}
