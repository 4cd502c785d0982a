/* tree.c - a file, or a folder and all below it.
 *
 * Each folder on the way to an entry is opened from the one above it, and never through a link. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "term/array.h"
#include "term/message.h"
#include "tree.h"

enum { FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static char *copied(const char *text)
{
    return array_text(text, strlen(text));
}

tree tree_open(const char *path)
{
    return (tree){ .path = path, .fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
}

static void keep_steps(tree *t, size_t n);

void tree_close(tree *t)
{
    keep_steps(t, 0);
    buffer_free(&t->way);
    buffer_free(&t->step);
    if (t->fd >= 0)
        close(t->fd); /* a folder, which was synced */
    t->fd = -1;
}

const char *tree_name(const tree *t, const char *name)
{
    static _Thread_local char text[2 * PATH_MAX];

    snprintf(text, sizeof text, "%s%s%s", t->path, *name ? "/" : "", name);
    return text;
}

static _Noreturn void fail(const tree *t, const char *verb, const char *name)
{
    die_errno(verb, tree_name(t, name));
}

/* ---- Ways to an entry -------------------------------------------------- */

/* Where the last part of a name starts. */
static const char *last_of(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

static tree_step *steps_of(const tree *t, size_t *n)
{
    *n = t->step.size / sizeof(tree_step);
    return (void *)t->step.bytes;
}

static void close_step(tree_step *s)
{
    if (s->fd >= 0)
        close(s->fd); /* a folder */
    s->fd = -1;
}

/* Forgets all but the first ones. */
static void keep_steps(tree *t, size_t n)
{
    size_t all;
    tree_step *steps = steps_of(t, &all);

    while (all > n)
        close_step(&steps[--all]);
    t->step.size = all * sizeof *steps;
    t->way.size = all ? steps[all - 1].end : 0;
}

/* How many folders of the way are on that to another entry, in a folder with a name of that size.
 */
static size_t shared_steps(const tree *t, const char *name, size_t size)
{
    size_t n, shared = 0, same = 0;
    const tree_step *steps = steps_of(t, &n);

    while (same < size && same < t->way.size && t->way.bytes[same] == name[same])
        same++;
    while (shared < n && steps[shared].end <= same &&
           (steps[shared].end == size || name[steps[shared].end] == '/'))
        shared++;
    return shared;
}

/* Folders may be two thousand deep, and each has a descriptor: the last ones stay open, and of the
 * others each thirty-second. So the next entry is a step or two away in most cases, up or down, and
 * less than that many steps always. */
enum { STEPS_OPEN = 32 };

/* Opens a folder from the one above it. False: errno tells why not. */
static bool open_step(tree *t, size_t i)
{
    size_t n;
    tree_step *steps = steps_of(t, &n);
    int above = i ? steps[i - 1].fd : t->fd;
    size_t start = i ? steps[i - 1].end + 1 : 0;
    char part[NAME_MAX + 1];

    if (steps[i].end - start >= sizeof part) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(part, t->way.bytes + start, steps[i].end - start);
    part[steps[i].end - start] = 0;
    steps[i].fd = openat(above, part, FOLDER_FLAGS);
    if (i >= STEPS_OPEN && i % STEPS_OPEN != 0)
        close_step(&steps[i - STEPS_OPEN]);
    return steps[i].fd >= 0;
}

static void add_steps(tree *t, const char *name, size_t size)
{
    size_t start = t->way.size + (t->way.size > 0);

    t->way.size = 0;
    buffer_append(&t->way, name, size);
    for (size_t at = start; at <= size && size > 0; at++)
        if (at == size || name[at] == '/')
            buffer_append(&t->step, &(tree_step){ at, -1 }, sizeof(tree_step));
}

/* The folder that the entry is in, which stays open for the next one; -1: there is none. */
static int find_folder(tree *t, const char *name)
{
    const char *last = last_of(name);
    size_t size = (size_t)(last - name) - (last > name), n;

    keep_steps(t, shared_steps(t, name, size));
    if (t->way.size < size)
        add_steps(t, name, size);
    tree_step *steps = steps_of(t, &n);
    size_t first = n;
    while (first > 0 && steps[first - 1].fd < 0)
        first--;
    for (size_t i = first; i < n; i++)
        if (!open_step(t, i)) {
            int why = errno;
            keep_steps(t, i);
            errno = why;
            return -1;
        }
    return n ? steps[n - 1].fd : t->fd;
}

static int folder_of(tree *t, const char *name)
{
    int fd = find_folder(t, name);

    if (fd < 0)
        fail(t, "enter the folder of", name);
    return fd;
}

/* ---- Lists ------------------------------------------------------------- */

typedef struct lister {
    tree *tree;
    entry_list *list;
    bool takes_all; /* what is neither file, folder nor link is taken for a file */
    bool says;      /* or that it is left out is said */
} lister;

static char *read_target(const tree *t, int folder, const char *last, const char *name)
{
    char target[PATH_MAX];
    ssize_t size = readlinkat(folder, last, target, sizeof target - 1);

    if (size < 0)
        fail(t, "read", name);
    target[size] = 0;
    return copied(target);
}

static bool type_of(entry_type *type, mode_t mode)
{
    *type = S_ISDIR(mode) ? ENTRY_FOLDER : S_ISLNK(mode) ? ENTRY_LINK : ENTRY_FILE;
    return S_ISDIR(mode) || S_ISLNK(mode) || S_ISREG(mode);
}

static entry entry_of(const char *name, const struct stat *s, entry_type type)
{
    return (entry){ .name = copied(name),
                    .type = type,
                    .mode = type == ENTRY_LINK ? 0777 : s->st_mode & 0777,
                    .seconds = s->st_mtim.tv_sec,
                    .nanoseconds = (uint32_t)s->st_mtim.tv_nsec,
                    .size = type == ENTRY_FILE ? (uint64_t)s->st_size : 0 };
}

static void list_one(const lister *l, int folder, const char *last, const char *name)
{
    struct stat s;
    entry_type type;

    if (fstatat(folder, last, &s, AT_SYMLINK_NOFOLLOW))
        fail(l->tree, "read", name);
    if (!type_of(&type, s.st_mode) && !l->takes_all) {
        if (l->says)
            say("%s is neither file, folder nor link: left out", tree_name(l->tree, name));
        return;
    }
    entry e = entry_of(name, &s, type);
    e.target = type == ENTRY_LINK ? read_target(l->tree, folder, last, name) : NULL;
    entry_add(l->list, e);
}

/* The descriptor is closed in the end. */
static void list_folder(const lister *l, int fd, const char *name)
{
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    char path[PATH_MAX + NAME_MAX + 2];

    if (!folder)
        fail(l->tree, "read", name);
    for (struct dirent *d; errno = 0, (d = readdir(folder));) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s%s%s", name, *name ? "/" : "", d->d_name);
        if (strlen(path) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            fail(l->tree, "read", name);
        }
        list_one(l, dirfd(folder), d->d_name, path);
    }
    if (errno)
        fail(l->tree, "read", name);
    closedir(folder);
}

/* All below the entries of the list, which grows meanwhile: one folder is open at a time. */
static void list_below(const lister *l)
{
    for (size_t i = 0; i < l->list->n; i++) {
        const char *name = l->list->all[i].name;
        if (l->list->all[i].type == ENTRY_FOLDER)
            list_folder(l,
                        *name ? openat(folder_of(l->tree, name), last_of(name), FOLDER_FLAGS)
                              : openat(l->tree->fd, ".", FOLDER_FLAGS),
                        name);
    }
}

entry_list tree_list(tree *t, bool is_recursive, bool says)
{
    entry_list list = { 0 };
    const lister l = { .tree = t, .list = &list, .says = says };
    struct stat s;
    entry_type type;

    if (stat(t->path, &s)) {
        if (errno != ENOENT)
            die_errno("read", t->path);
        return list;
    }
    if (!type_of(&type, s.st_mode))
        die(CODE_IO, "%s is neither a file nor a folder", t->path);
    entry_add(&list, entry_of("", &s, type));
    if (is_recursive)
        list_below(&l);
    entry_sort(&list);
    return list;
}

/* ---- Files ------------------------------------------------------------- */

int tree_read(tree *t, const entry *e)
{
    int fd = *e->name ? openat(folder_of(t, e->name), last_of(e->name),
                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                      : open(t->path, O_RDONLY | O_CLOEXEC);
    struct stat s;

    if (fd < 0 || fstat(fd, &s))
        fail(t, "read", e->name);
    if (!S_ISREG(s.st_mode))
        die(CODE_IO, "%s is no file any more", tree_name(t, e->name));
    return fd;
}

/* ---- Changes ----------------------------------------------------------- */

/* A folder with all that is in it. */
static void delete_folder(tree *t, const entry *e)
{
    entry_list list = { 0 };
    const lister l = { .tree = t, .list = &list, .takes_all = true };

    entry_add(&list, (entry){ .name = copied(e->name), .type = ENTRY_FOLDER });
    list_below(&l);
    entry_sort(&list);
    for (size_t i = list.n; i-- > 0;)
        tree_delete(t, &list.all[i]);
    entry_free(&list);
}

/* What has the name of the entry, and is of another type. */
static void clear_way(tree *t, const entry *e, bool may_delete)
{
    int folder = folder_of(t, e->name);
    const char *last = last_of(e->name);
    struct stat s;
    entry_type type;

    if (fstatat(folder, last, &s, AT_SYMLINK_NOFOLLOW)) {
        if (errno != ENOENT)
            fail(t, "write", e->name);
        return;
    }
    if (type_of(&type, s.st_mode) && type == e->type && type != ENTRY_LINK)
        return;
    if (S_ISDIR(s.st_mode) && may_delete) {
        delete_folder(t, e);
        return;
    }
    if (unlinkat(folder, last, S_ISDIR(s.st_mode) ? AT_REMOVEDIR : 0) == 0)
        return;
    if (errno == ENOTEMPTY || errno == EEXIST)
        die(CODE_IO, "%s is a folder that is not empty; --delete allows to replace it",
            tree_name(t, e->name));
    fail(t, "replace", e->name);
}

/* The folder itself, or one below. */
static int make_folder(tree *t, const entry *e, bool may_delete)
{
    unsigned mode = e->mode | 0700; /* until all is in it */

    if (!*e->name)
        return mkdir(t->path, mode);
    clear_way(t, e, may_delete);
    return mkdirat(folder_of(t, e->name), last_of(e->name), mode);
}

void tree_make_folder(tree *t, const entry *e, bool may_delete)
{
    if (make_folder(t, e, may_delete) && errno != EEXIST)
        fail(t, "make", e->name);
    if (*e->name)
        return;
    if (t->fd < 0)
        t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->fd < 0)
        fail(t, "write", e->name);
}

void tree_make_link(tree *t, const entry *e, bool may_delete)
{
    clear_way(t, e, may_delete);
    if (symlinkat(e->target, folder_of(t, e->name), last_of(e->name)))
        fail(t, "make", e->name);
}

replacement *tree_begin_file(tree *t, const entry *e, bool may_delete)
{
    char path[NAME_MAX + 64];

    if (!*e->name)
        return replace_begin(t->path);
    clear_way(t, e, may_delete);
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", folder_of(t, e->name), last_of(e->name));
    return replace_begin(path);
}

void tree_set_facts(tree *t, const entry *e, bool keeps_mode)
{
    const struct timespec times[2] = {
        { .tv_nsec = UTIME_OMIT }, { .tv_sec = (time_t)e->seconds, .tv_nsec = (long)e->nanoseconds }
    };
    int folder = *e->name ? folder_of(t, e->name) : AT_FDCWD;
    const char *last = *e->name ? last_of(e->name) : t->path;

    if (e->type != ENTRY_LINK && !keeps_mode && fchmodat(folder, last, e->mode, 0))
        fail(t, "change the mode of", e->name);
    if (utimensat(folder, last, times, *e->name ? AT_SYMLINK_NOFOLLOW : 0))
        fail(t, "change the time of", e->name);
}

/* What a folder held is gone already if something else took its place. */
void tree_delete(tree *t, const entry *e)
{
    int folder = find_folder(t, e->name);
    int flags = e->type == ENTRY_FOLDER ? AT_REMOVEDIR : 0;

    if ((folder < 0 || unlinkat(folder, last_of(e->name), flags)) && errno != ENOENT &&
        errno != ENOTDIR && errno != ELOOP)
        fail(t, "delete", e->name);
}

void tree_sync(const tree *t)
{
    if (t->fd >= 0 && syncfs(t->fd))
        fail(t, "write", "");
}
