/* sync_talk.c - fuzzer: what the other side of `tamis sync` may say.
 *
 * input: settings (one byte), then messages as in talk.h. Settings: bit 0 of a side that sends, bit
 * 1 of one file instead of a folder, bit 2 compares contents, bit 3 deletes, bit 4 is a dry run,
 * bits 5 and 6 how files come, bit 7 that their bytes are not compressed. */
#include <ftw.h>
#include <sys/stat.h>

#include "talk.h"

#include "../../sync_job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char place[4096];

/* ---- What this side has ------------------------------------------------ */

static void make_file(const char *path, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    char text[4096] = { 0 };

    for (size_t i = 0; i < size / 2; i++)
        text[i] = (char)('a' + i * i % 23);
    MUST(fd >= 0 && write(fd, text, size) == (ssize_t)size);
    close(fd);
}

static void make_tree(void)
{
    MUST(mkdir("here", 0700) == 0 && mkdir("here/d", 0700) == 0 && mkdir("here/d/e", 0700) == 0);
    make_file("here/text", 3000);
    make_file("here/d/0", 0);
    make_file("here/d/1", 1);
    make_file("here/d/2", 700);
    make_file("here/d/e/3", 4000);
    MUST(symlink("text", "here/link") == 0);
}

static int make_removable(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s, (void)at;
    return type == FTW_D || type == FTW_DNR ? chmod(path, 0700) : 0;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s, (void)type, (void)at;
    return remove(path);
}

static void remove_tree(void)
{
    struct stat s;

    if (lstat("here", &s) == 0)
        MUST(nftw("here", make_removable, 16, FTW_PHYS) == 0 &&
             nftw("here", remove_one, 16, FTW_PHYS | FTW_DEPTH) == 0);
}

static pid_t owner;

static void leave_place(void)
{
    if (getpid() != owner)
        return;
    remove_tree();
    if (chdir("/") == 0)
        (void)!rmdir(place);
}

/* A folder of this process. */
static void enter_place(void)
{
    const char *folder = getenv("TMPDIR");

    if (owner == getpid())
        return;
    owner = getpid();
    snprintf(place, sizeof place, "%s/tamis-fuzz-XXXXXX", folder ? folder : "/tmp");
    MUST(mkdtemp(place) && chdir(place) == 0 && atexit(leave_place) == 0);
}

/* ---- What it does ------------------------------------------------------ */

static void talk(line *l, unsigned settings)
{
    bool sends = settings & 1;
    sync_job job = {
        .line = l,
        .memory = COST_MEMORY,
        .limit_size = COST_WRITTEN,
        .offers = sends || settings & 128 ? 0 : packed_offer(),
        .tree = tree_open(settings & 2 ? "here/text" : "here"),
        .is_recursive = !(settings & 2),
        .by_content = settings & 4,
        .deletes = settings & 8,
        .is_dry = settings & 16,
        .way = (sync_way)((settings >> 5 & 3) % 3),
    };

    (sends ? sender_run : receiver_run)(&job);
    tree_close(&job.tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const talk_side talking = { "sync", "ESMLGPKCBRDFZ.", talk };
    char was[4096];

    if (size < 1 || size > TALK_LONGEST)
        return 0;
    MUST(getcwd(was, sizeof was));
    enter_place();
    MUST(chdir(place) == 0);
    make_tree();
    talk_run(&talking, data[0], data + 1, size - 1);
    remove_tree();
    MUST(chdir(was) == 0);
    return 0;
}
