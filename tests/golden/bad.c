/* bad.c - images that must be refused, each with the status that expected.txt gives it.
 *
 * A view is allowed to accept what only the payload's bytes betray, as long as tamis_verify() does
 * not: the fault is then found one call later. Files are made by tools/golden. */
#include "choose.h"
#include "golden.h"

static char folder[4000];

static tamis_status status_of_name(bytes name, const char *where)
{
    static const struct {
        const char *name;
        tamis_status status;
    } STATUSES[] = {
#define TAMIS_X(constant, number, text) { #constant, TAMIS_##constant },
        TAMIS_STATUSES(TAMIS_X)
#undef TAMIS_X
    };

    for (size_t i = 0; i < sizeof STATUSES / sizeof STATUSES[0]; i++)
        if (strlen(STATUSES[i].name) == name.size && !memcmp(STATUSES[i].name, name.at, name.size))
            return STATUSES[i].status;
    die("no such status", where);
}

static void check_copied(tamis_status got, tamis *f, tamis_status wanted, const char *how,
                         const char *path)
{
    if (!expect(got == wanted, "%s: %s says \"%s\", not \"%s\"", path, how, tamis_status_text(got),
                tamis_status_text(wanted)))
        fflush(stderr);
    if (got == TAMIS_OK)
        tamis_free(f);
}

static void check_borrowed(tamis_status got, tamis *f, tamis_status wanted, const char *how,
                           const char *path)
{
    if (got != TAMIS_OK) {
        expect(got == wanted, "%s: %s says \"%s\", not \"%s\"", path, how, tamis_status_text(got),
               tamis_status_text(wanted));
        return;
    }
    expect(wanted == TAMIS_CORRUPT && tamis_verify(f, NULL, NULL) == TAMIS_CORRUPT,
           "%s: %s and verify find no fault", path, how);
    tamis_free(f);
}

static void check_image(const char *path, tamis_status wanted)
{
    bytes image = read_whole(path);
    tamis *f = NULL;
    tamis_status got;

    got = tamis_image_read(&f, image.at, image.size, NULL);
    check_copied(got, f, wanted, "read", path);
    got = tamis_load(&f, path, NULL);
    check_copied(got, f, wanted, "load", path);
    got = tamis_image_view(&f, image.at, image.size, NULL);
    check_borrowed(got, f, wanted, "view", path);
    got = tamis_map(&f, path, 0, NULL);
    check_borrowed(got, f, wanted, "map", path);
    free(image.at);
}

/* A line is: name, spaces, status. */
static void check_line(bytes line)
{
    char name[256], path[4400];
    size_t size = 0, status_at;

    while (size < line.size && line.at[size] != ' ')
        size++;
    for (status_at = size; status_at < line.size && line.at[status_at] == ' '; status_at++)
        ;
    snprintf(name, sizeof name, "%.*s", (int)size, (const char *)line.at);
    join(path, sizeof path, folder, name);
    bytes status = { line.at + status_at, line.size - status_at };
    check_image(path, status_of_name(status, path));
}

static void count_image(const char *path)
{
    (void)path;
}

int main(int argc, char **argv)
{
    char list[4400];
    bytes line;
    int listed = 0;

    if (argc < 2)
        die("usage: bad ROOT", argv[0]);
    join(folder, sizeof folder, argv[1], "tests/golden/bad");
    join(list, sizeof list, folder, "expected.txt");
    bytes all = read_whole(list), rest = all;
    for (; next_line(&rest, &line); listed++)
        check_line(line);
    expect(each_file(folder, ".tamis", count_image) == listed, "%s: files without a line", list);
    free(all.at);
    return verdict("golden/bad");
}
