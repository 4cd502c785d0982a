/* collection_member.c - filters of collections. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection_member.h"
#include "files/file_read.h"
#include "term/message.h"
#include "term/output.h"

static bool is_file(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/* Names may have colons, and so may files: the first that is one is taken. */
bool member_split(member *m, const char *path)
{
    struct stat s;

    if (strlen(path) >= sizeof m->file || stat(path, &s) == 0)
        return false;
    for (const char *colon = path; (colon = strchr(colon, ':')); colon++) {
        snprintf(m->file, sizeof m->file, "%.*s", (int)(colon - path), path);
        m->name = colon + 1;
        if (is_file(m->file))
            return true;
    }
    return false;
}

bool member_is_collection(const char *file)
{
    tamis_collection *c;
    tamis_status status = tamis_collection_open(&c, file, NULL);

    if (!status)
        tamis_collection_free(c);
    return status != TAMIS_IO && status != TAMIS_FOREIGN;
}

static _Noreturn void refuse(const member *m, const char *path, tamis_status status)
{
    if (status == TAMIS_FOREIGN)
        die(CODE_CORRUPT, "%s: %s is no collection of filters; 'tamis collection add' makes one",
            path, m->file);
    if (status == TAMIS_ABSENT)
        die(CODE_IO, "%s: there is no filter of that name; 'tamis collection list %s' shows them",
            path, m->file);
    die_status("read", path, status);
}

tamis *member_view(const member *m, const char *path)
{
    static tamis_collection *c; /* whose pages are borrowed */
    tamis *f;
    tamis_status status = tamis_collection_open(&c, m->file, NULL);

    if (!status)
        status = tamis_collection_get(c, &f, m->name, NULL);
    if (status)
        refuse(m, path, status);
    return f;
}

/* ---- Copies ------------------------------------------------------------ */

static void copy_bytes(int to, int from, uint64_t offset, uint64_t size, const char *path)
{
    char piece[1 << 16];

    for (size_t n; size > 0; offset += n, size -= n) {
        n = size < sizeof piece ? (size_t)size : sizeof piece;
        if (!file_read_all(from, path, piece, n, offset))
            die(CODE_IO, "cannot read %s: it was cut", path);
        if (!write_all(to, piece, n))
            die(CODE_MEMORY, "out of memory for %s", path);
    }
}

/* Collection and copy are of one open file: another may get its name meanwhile. */
int member_copy(const member *m, const char *path)
{
    int from = open(m->file, O_RDONLY | O_CLOEXEC), to = memfd_create("tamis", MFD_CLOEXEC);
    tamis_collection *c;
    uint64_t offset, size;
    char open_file[32];

    if (from < 0 || to < 0)
        die_errno("read", path);
    snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", from);
    tamis_status status = tamis_collection_open(&c, open_file, NULL);
    if (!status)
        status = tamis_collection_find(c, &offset, &size, m->name);
    if (status)
        refuse(m, path, status);
    copy_bytes(to, from, offset, size, path);
    tamis_collection_free(c);
    close(from); /* only read */
    return to;
}
