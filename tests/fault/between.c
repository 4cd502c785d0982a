/* between.c - what others do to a name while a file is on its way to it.
 *
 * fsync() is replaced by one that lets them in first: a save is then as good as done, and has not
 * looked at the name since it began. open() can be made to know no files without a name, as some
 * file systems do, and renameat2() to know no flags. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../golden/golden.h"
#include "tamis_collection.h"

static void (*others)(void); /* once */
static bool has_unnamed = true, has_flags = true;

int fsync(int fd)
{
    void (*now)(void) = others;

    others = NULL;
    if (now)
        now();
    return (int)syscall(SYS_fsync, fd);
}

static bool takes_mode(int flags)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

/* Under the name that the linker knows, whatever the headers make of it. */
int plain_open(const char *name, int flags, ...) __asm__("open");
int plain_open64(const char *name, int flags, ...) __asm__("open64");

int plain_open(const char *name, int flags, ...)
{
    va_list arguments;

    va_start(arguments, flags);
    int mode = takes_mode(flags) ? va_arg(arguments, int) : 0;
    va_end(arguments);
    if ((flags & O_TMPFILE) == O_TMPFILE && !has_unnamed) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

int plain_open64(const char *name, int flags, ...)
{
    va_list arguments;

    va_start(arguments, flags);
    int mode = takes_mode(flags) ? va_arg(arguments, int) : 0;
    va_end(arguments);
    return plain_open(name, flags, mode);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    if (flags && !has_flags) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_renameat2, a, from, b, to, flags);
}

/* ---- Two that make one collection -------------------------------------- */

static const char *const PATH = "between/all.tms";
static tamis_editor *first, *second;

static tamis *a_filter(void)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 100);
    tamis_plan plan;
    tamis *f;

    if (tamis_plan_kind(&plan, TAMIS_NO_KIND, &spec) ||
        tamis_build(&f, &plan, (uint64_t[]){ 1 }, 1, NULL))
        die("cannot be made", "a filter");
    return f;
}

static tamis_editor *editor_with(const char *name)
{
    tamis *f = a_filter();
    tamis_editor *e;

    if (tamis_editor_open(&e, PATH, 0, NULL) || tamis_editor_put(e, name, f))
        die("cannot be put", name);
    tamis_free(f);
    return e;
}

static bool has(const char *name)
{
    uint64_t offset, size;
    tamis_collection *c;

    if (tamis_collection_open(&c, PATH, NULL))
        return false;
    tamis_status status = tamis_collection_find(c, &offset, &size, name);
    tamis_collection_free(c);
    return status == TAMIS_OK;
}

static void save_second(void)
{
    expect(tamis_editor_save(second) == TAMIS_OK, "the second editor cannot save");
}

static void make_file(void)
{
    tamis *f = a_filter();

    expect(tamis_save(f, PATH) == TAMIS_OK, "a filter cannot be saved");
    tamis_free(f);
}

static int files(void)
{
    struct dirent **names;
    int n = scandir("between", &names, NULL, alphasort);

    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return n - 2;
}

static void check_twins(const char *how)
{
    first = editor_with("first");
    second = editor_with("second");
    others = save_second;
    tamis_status status = tamis_editor_save(first);
    expect(status == TAMIS_BUSY,
           "%s: two made one collection: the one who came late was told \"%s\"", how,
           tamis_status_text(status));
    expect(has("second") && !has("first"), "%s: a collection that was saved is replaced", how);
    tamis_editor_free(first);
    tamis_editor_free(second);
    expect(files() == 1, "%s: something is left behind", how);
    unlink(PATH);
}

static void check_other_file(const char *how)
{
    tamis *f = NULL;

    first = editor_with("first");
    others = make_file;
    expect(tamis_editor_save(first) == TAMIS_BUSY, "%s: a file came meanwhile, and is busy", how);
    expect(tamis_load(&f, PATH, NULL) == TAMIS_OK, "%s: a file that came meanwhile is replaced",
           how);
    tamis_free(f);
    tamis_editor_free(first);
    expect(files() == 1, "%s: something is left behind", how);
    unlink(PATH);
}

static void check_alone(const char *how)
{
    first = editor_with("first");
    expect(tamis_editor_save(first) == TAMIS_OK && has("first"), "%s: nobody came", how);
    tamis_editor_free(first);
    expect(files() == 1, "%s: something is left behind", how);
    unlink(PATH);
}

int main(void)
{
    static const char *const hows[] = { "without a name", "beside", "beside, no flags" };

    if (mkdir("between", 0700) && errno != EEXIST)
        die(strerror(errno), "between");
    unlink(PATH);
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        has_unnamed = i == 0;
        has_flags = i < 2;
        check_twins(hows[i]);
        check_other_file(hows[i]);
        check_alone(hows[i]);
    }
    rmdir("between");
    return verdict("fault/between");
}
