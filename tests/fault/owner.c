/* owner.c - who may read a file that was replaced: nobody who could not before.
 *
 * fchown() is replaced by that of a user who is not root: he cannot give the file away, and may or
 * may not be a member of its group. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../golden/golden.h"
#include "files/replace.h"

static bool is_member;
static bool has_group; /* the new file has the group of the old one */

int fchown(int fd, uid_t owner, gid_t group)
{
    (void)fd;
    (void)group;
    if (owner != (uid_t)-1 || !is_member) {
        errno = EPERM;
        return -1;
    }
    has_group = true;
    return 0;
}

static const char *const PATH = "owner.tamis";

static tamis *a_filter(bool is_keyed)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 100);
    tamis_plan plan;
    tamis *f;

    if (is_keyed)
        spec.hasher = (tamis_hasher){ .hash = TAMIS_KEYED, .secret = { 1, 2 } };
    if (tamis_plan_kind(&plan, TAMIS_NO_KIND, &spec) || tamis_build(&f, &plan, NULL, 0, NULL))
        die("cannot be made", PATH);
    return f;
}

/* By the library, and by the program. */
static void save(bool is_keyed)
{
    tamis *f = a_filter(is_keyed);

    if (tamis_save(f, PATH))
        die("cannot be saved", PATH);
    tamis_free(f);
}

static void replace(bool is_keyed)
{
    replacement *r = replace_begin(PATH);

    (void)is_keyed;
    replace_write(r, "text", 4);
    replace_end(r);
}

static void check(const char *how, void (*write)(bool is_keyed), bool is_keyed, mode_t before,
                  mode_t after)
{
    struct stat s;

    unlink(PATH);
    save(is_keyed);
    if (chmod(PATH, before))
        die(strerror(errno), PATH);
    has_group = false;
    write(is_keyed);
    if (stat(PATH, &s))
        die(strerror(errno), PATH);
    expect((s.st_mode & 0777) == after, "%s: a file of mode %o, %s its group: %o, not %o", how,
           before, is_member ? "with" : "without", s.st_mode & 0777, after);
    expect(has_group == is_member, "%s: the group is %s", how, has_group ? "kept" : "lost");
    unlink(PATH);
}

int main(void)
{
    /* Before, and after where the group is another one. */
    static const mode_t modes[][2] = { { 0640, 0600 }, { 0660, 0600 }, { 0644, 0644 },
                                       { 0664, 0644 }, { 0666, 0666 }, { 0600, 0600 } };

    for (int member = 0; member < 2; member++)
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
            is_member = member;
            check("a save", save, false, modes[i][0], modes[i][!member]);
            check("a save of a secret", save, true, modes[i][0], modes[i][!member]);
            check("the program", replace, false, modes[i][0], modes[i][!member]);
        }
    return verdict("fault/owner");
}
