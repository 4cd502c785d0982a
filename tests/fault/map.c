/* map.c - a filter written to through a map survives its writer.
 *
 * A child maps a file for writing, adds keys, syncs, and tells through a pipe how many are safe.
 * It is killed in the middle. Then the file must be whole or say that it is dirty, recovery must
 * bring it back, and every key the child reported must be there. A power cut is played as well:
 * any mix of pages from before and after the last sync is what a disk may hold. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../golden/golden.h"

enum { CAPACITY = 60000, BATCH = 500, MAX_BATCHES = 100, PAGE = 4096 };

static const uint64_t SEED = 20261115;

static char path[256];
static uint64_t random_state;
static unsigned dirty_files, whole_files;

static uint64_t next_random(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void ok(tamis_status status, const char *what)
{
    if (status)
        die(tamis_status_text(status), what);
}

static const char *name_of(tamis_kind kind)
{
    return tamis_kind_name(kind);
}

/* Below the capacity of indexed kinds, and each only once. */
static uint64_t key_at(uint64_t i)
{
    return i * 7919 % CAPACITY;
}

static void make_file(tamis_kind kind)
{
    tamis_spec spec = TAMIS_SPEC(.keys = CAPACITY, .hasher.hash = TAMIS_RAW);
    tamis_plan plan;
    tamis *f;

    ok(tamis_plan_kind(&plan, kind, &spec), "plan");
    ok(tamis_new(&f, &plan, NULL), "new");
    ok(tamis_save(f, path), "save");
    tamis_free(f);
}

/* ---- The child --------------------------------------------------------- */

static void add_batch(tamis *f, uint64_t batch, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        ok(tamis_add(f, key_at(batch * BATCH + i)), "add");
}

/* Reports each batch, from `first` on, once it is synced. With `stop` above zero, kills itself in
 * the middle of the batch of that number: a place that no signal from outside could hit so surely.
 */
__attribute__((noreturn)) static void be_writer(int out, uint64_t first, uint64_t stop)
{
    tamis *f;

    ok(tamis_map(&f, path, TAMIS_MAP_WRITE, NULL), "map for writing");
    for (uint64_t batch = first; batch < MAX_BATCHES; batch++) {
        bool is_last = stop && batch == stop;
        add_batch(f, batch, is_last ? BATCH / 2 : BATCH);
        if (is_last)
            raise(SIGKILL);
        ok(tamis_sync(f), "sync");
        uint8_t done = (uint8_t)(batch + 1);
        if (write(out, &done, 1) != 1)
            _exit(EXIT_FAILURE);
    }
    /* On a busy machine, whoever is to kill it comes late. */
    alarm(300);
    for (;;)
        pause();
}

static pid_t start_writer(int *in, uint64_t first, uint64_t stop)
{
    int ends[2];

    if (pipe(ends))
        die(strerror(errno), "pipe");
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        die(strerror(errno), "fork");
    if (child == 0) {
        close(ends[0]);
        be_writer(ends[1], first, stop);
    }
    close(ends[1]);
    *in = ends[0];
    return child;
}

/* Reads reports until there were `n`, or the writer is gone; returns the last one. */
static uint64_t read_reports(int in, uint64_t n)
{
    uint8_t done = 0;

    while (done < n && read(in, &done, 1) == 1)
        ;
    return done;
}

/* ---- Afterwards -------------------------------------------------------- */

static void check_keys(const tamis *f, uint64_t batches, const char *what)
{
    uint64_t lost = 0;

    for (uint64_t i = 0; i < batches * BATCH; i++)
        lost += !tamis_has(f, key_at(i));
    expect(lost == 0, "%s: %llu of %llu safe keys lost", what, (unsigned long long)lost,
           (unsigned long long)(batches * BATCH));
}

static void check_whole(uint64_t batches, const char *what)
{
    tamis *f;

    if (!expect(tamis_load(&f, path, NULL) == TAMIS_OK, "%s: load", what))
        return;
    check_keys(f, batches, what);
    tamis_free(f);
    if (!expect(tamis_map(&f, path, 0, NULL) == TAMIS_OK, "%s: map", what))
        return;
    check_keys(f, batches, what);
    expect(tamis_verify(f, NULL, NULL) == TAMIS_OK, "%s: verify", what);
    tamis_free(f);
}

/* Dirty for everybody who does not ask for recovery; whole afterwards. */
static void check_recovery(uint64_t batches, const char *what)
{
    tamis *f = NULL;

    expect(tamis_map(&f, path, 0, NULL) == TAMIS_DIRTY, "%s: a dirty file is mapped", what);
    expect(tamis_map(&f, path, TAMIS_MAP_WRITE, NULL) == TAMIS_DIRTY,
           "%s: a dirty file is mapped for writing", what);
    tamis_status status = tamis_map(&f, path, TAMIS_MAP_WRITE | TAMIS_MAP_RECOVER, NULL);
    if (!expect(status == TAMIS_OK, "%s: recovery says %s", what, tamis_status_text(status)))
        return;
    check_keys(f, batches, what);
    expect(tamis_add(f, key_at(CAPACITY - 1)) == TAMIS_OK, "%s: add after recovery", what);
    expect(tamis_sync(f) == TAMIS_OK, "%s: sync after recovery", what);
    tamis_free(f);
    check_whole(batches, what);
}

static void check_after(uint64_t batches, const char *what)
{
    tamis *f;
    tamis_status status = tamis_load(&f, path, NULL);

    if (status == TAMIS_DIRTY) {
        dirty_files++;
        check_recovery(batches, what);
        return;
    }
    if (!expect(status == TAMIS_OK, "%s: load says %s", what, tamis_status_text(status)))
        return;
    whole_files++;
    tamis_free(f);
    check_whole(batches, what);
}

/* ---- Kills ------------------------------------------------------------- */

static void kill_round(tamis_kind kind, unsigned round, bool from_inside)
{
    char what[128];
    int in, code;
    uint64_t stop = 1 + next_random() % 12;

    snprintf(what, sizeof what, "%s, round %u", name_of(kind), round);
    make_file(kind);
    pid_t child = start_writer(&in, 0, from_inside ? stop : 0);
    uint64_t batches = read_reports(in, from_inside ? UINT64_MAX : stop);
    if (!from_inside)
        kill(child, SIGKILL);
    waitpid(child, &code, 0);
    expect(WIFSIGNALED(code) && WTERMSIG(code) == SIGKILL, "%s: the writer ended by itself", what);
    /* What was reported before the kill arrived counts as well. */
    uint64_t late = read_reports(in, UINT64_MAX);
    close(in);
    check_after(late > batches ? late : batches, what);
}

static void check_kills(tamis_kind kind)
{
    unsigned rounds = getenv("TAMIS_SANITIZED") ? 5 : 40;

    dirty_files = whole_files = 0;
    for (unsigned i = 0; i < rounds; i++)
        kill_round(kind, i, true);
    expect(dirty_files == rounds, "%s: killed between adds, but only %u of %u files are dirty",
           name_of(kind), dirty_files, rounds);
    for (unsigned i = 0; i < rounds; i++)
        kill_round(kind, i, false);
}

/* ---- Power cuts -------------------------------------------------------- */

/* Since the last sync, the header was forced to disk in its dirty form before the first bit
 * changed: that page is the new one. Of the others each may be as it was synced, or newer. */
static void check_power_cut(tamis_kind kind, bytes before, bytes after, uint64_t batches)
{
    char what[128];
    bytes mix = bytes_copy(after.at, after.size);

    for (unsigned round = 0; round < 10; round++) {
        snprintf(what, sizeof what, "%s, power cut %u", name_of(kind), round);
        for (size_t at = PAGE; at < mix.size; at += PAGE) {
            size_t size = at + PAGE < mix.size ? PAGE : mix.size - at;
            memcpy(mix.at + at, (next_random() & 1 ? before : after).at + at, size);
        }
        write_whole(path, mix);
        check_after(batches, what);
    }
    free(mix.at);
}

static void check_power_cuts(tamis_kind kind)
{
    int in, code;
    tamis *f;

    make_file(kind);
    ok(tamis_map(&f, path, TAMIS_MAP_WRITE, NULL), "map for writing");
    for (uint64_t batch = 0; batch < 5; batch++)
        add_batch(f, batch, BATCH);
    ok(tamis_sync(f), "sync");
    tamis_free(f);
    bytes before = read_whole(path);
    pid_t child = start_writer(&in, 5, 5);
    waitpid(child, &code, 0);
    close(in);
    bytes after = read_whole(path);
    expect(before.size == after.size, "%s: the file changed its size", name_of(kind));
    check_power_cut(kind, before, after, 5);
    free(before.at);
    free(after.at);
}

/* ---- Company ----------------------------------------------------------- */

static void check_second_writer(tamis_kind kind)
{
    tamis *writer, *other = NULL, *reader;
    tamis_status status;

    make_file(kind);
    ok(tamis_map(&writer, path, TAMIS_MAP_WRITE, NULL), "map for writing");
    status = tamis_map(&other, path, TAMIS_MAP_WRITE, NULL);
    expect(status == TAMIS_BUSY, "%s: a second writer gets \"%s\"", name_of(kind),
           tamis_status_text(status));
    status = tamis_map(&other, path, TAMIS_MAP_WRITE | TAMIS_MAP_RECOVER, NULL);
    expect(status == TAMIS_BUSY, "%s: a second, recovering writer gets \"%s\"", name_of(kind),
           tamis_status_text(status));
    ok(tamis_map(&reader, path, 0, NULL), "map for reading beside a writer");
    ok(tamis_add(writer, key_at(1)), "add");
    ok(tamis_sync(writer), "sync");
    expect(tamis_has(reader, key_at(1)), "%s: a reader does not see what was synced",
           name_of(kind));
    expect(tamis_add(reader, key_at(2)) == TAMIS_READONLY, "%s: a reader writes", name_of(kind));
    tamis_free(writer);
    ok(tamis_map(&writer, path, TAMIS_MAP_WRITE, NULL), "map once the writer is gone");
    tamis_free(writer);
    tamis_free(reader);
}

/* Freed without a sync of its own: the last word of tamis_free() is a whole file. */
static void check_closed(tamis_kind kind)
{
    tamis *f;

    make_file(kind);
    ok(tamis_map(&f, path, TAMIS_MAP_WRITE, NULL), "map for writing");
    for (uint64_t batch = 0; batch < 3; batch++)
        add_batch(f, batch, BATCH);
    tamis_free(f);
    check_whole(3, name_of(kind));
}

/* The file that a map leaves is the one that save() writes. */
static void check_same_bytes(tamis_kind kind)
{
    tamis *f, *loaded;

    make_file(kind);
    ok(tamis_load(&loaded, path, NULL), "load");
    ok(tamis_map(&f, path, TAMIS_MAP_WRITE, NULL), "map for writing");
    add_batch(f, 0, BATCH);
    add_batch(loaded, 0, BATCH);
    ok(tamis_sync(f), "sync");
    tamis_free(f);
    bytes mapped = read_whole(path), saved = bytes_new(tamis_image_size(loaded));
    ok(tamis_image_write(loaded, saved.at, saved.size), "image");
    expect(mapped.size == saved.size && !memcmp(mapped.at, saved.at, saved.size),
           "%s: a map and a save write different bytes", name_of(kind));
    free(mapped.at);
    free(saved.at);
    tamis_free(loaded);
}

/* A sync would give damage a right checksum. So would a save of a map that was not checked. */
static void check_damaged(tamis_kind kind)
{
    tamis *f = NULL;

    make_file(kind);
    bytes image = read_whole(path);
    image.at[image.size - 9] ^= 1; /* the end of the payload, or of its padding */
    write_whole(path, image);
    expect(tamis_map(&f, path, TAMIS_MAP_WRITE, NULL) == TAMIS_CORRUPT,
           "%s: damage was mapped for writing", name_of(kind));
    ok(tamis_map(&f, path, 0, NULL), "map for reading");
    expect(tamis_save(f, path) == TAMIS_CORRUPT, "%s: damage was saved", name_of(kind));
    tamis_free(f);
    bytes after = read_whole(path);
    expect(after.size == image.size && !memcmp(after.at, image.at, image.size),
           "%s: a refused save changed the file", name_of(kind));
    free(after.at);
    free(image.at);
}

static void check_refused(tamis_kind kind)
{
    tamis *f = NULL;

    make_file(kind);
    expect(tamis_map(&f, path, TAMIS_MAP_WRITE, NULL) == TAMIS_CANNOT,
           "%s: mapped for writing, though a crash could lose keys", name_of(kind));
}

/* ---- Order on disk ----------------------------------------------------- */

/* What is traced: the program, called as `map ROOT writer FILE`. */
static int write_under_trace(const char *file)
{
    tamis *f;

    ok(tamis_map(&f, file, TAMIS_MAP_WRITE, NULL), "map for writing");
    add_batch(f, 0, BATCH);
    ok(tamis_sync(f), "sync");
    add_batch(f, 1, BATCH);
    ok(tamis_sync(f), "sync");
    tamis_free(f);
    return EXIT_SUCCESS;
}

typedef enum { HEADER, SUMS, PAYLOAD_SYNC, FILE_SYNC, OTHER } step;

/* strace prints pwrite64(3</path>, "...", size, offset) = size. */
static step step_of(const char *line)
{
    if (strstr(line, "msync("))
        return PAYLOAD_SYNC;
    if (strstr(line, "fsync(") || strstr(line, "fdatasync("))
        return FILE_SYNC;
    const char *offset = strstr(line, "pwrite64(") ? strrchr(line, ',') : NULL;
    if (!offset)
        return OTHER;
    return strtoull(offset + 1, NULL, 10) == 0 ? HEADER : SUMS;
}

/* Twice: a dirty header, forced to disk; then payload and sums, forced to disk before the header
 * that vouches for them is written; then that header, forced to disk. */
static void check_trace(tamis_kind kind, FILE *log)
{
    char line[4096], seen[64] = "";
    static const char LETTERS[] = "hspf";

    while (fgets(line, sizeof line, log) && strlen(seen) < sizeof seen - 1) {
        step s = step_of(line);
        size_t n = strlen(seen);
        if (s != OTHER && !(n && seen[n - 1] == LETTERS[s]))
            seen[n] = LETTERS[s];
    }
    expect(!strcmp(seen, "hfpsfhf"
                         "hfpsfhf") ||
               !strcmp(seen, "hfspfhf"
                             "hfspfhf"),
           "%s: header, sums, payload sync and file sync come in the order %s", name_of(kind),
           seen);
}

static void check_order(tamis_kind kind, const char *program, const char *root)
{
    char command[8192], log[300];

    make_file(kind);
    snprintf(log, sizeof log, "%s.trace", path);
    snprintf(command, sizeof command,
             "ASAN_OPTIONS=\"$ASAN_OPTIONS:detect_leaks=0\" "
             "strace -e trace=pwrite64,msync,fsync,fdatasync -o '%s' '%s' '%s' writer '%s'",
             log, program, root, path);
    int code = system(command);
    if (expect(code == 0, "%s: strace (is it installed?) gives %d", name_of(kind), code)) {
        FILE *file = open_file(log, "r");
        check_trace(kind, file);
        fclose(file);
    }
    unlink(log);
}

/* ---- Files of later releases ------------------------------------------- */

/* They may hold what this release does not know: refused, or written to without loss. */
static void check_future(const char *image_path)
{
    tamis *f, *before, *after;
    bytes image = read_whole(image_path);

    write_whole(path, image);
    ok(tamis_load(&before, path, NULL), image_path);
    if (tamis_map(&f, path, TAMIS_MAP_WRITE, NULL) == TAMIS_OK) {
        (void)!tamis_add(f, 1);
        tamis_free(f);
    } else {
        bytes now = read_whole(path);
        expect(now.size == image.size && !memcmp(now.at, image.at, now.size),
               "%s: refused, but changed", image_path);
        free(now.at);
    }
    if (expect(tamis_load(&after, path, NULL) == TAMIS_OK, "%s: damaged by a map", image_path)) {
        expect(info_of(after).count >= info_of(before).count, "%s: lost keys", image_path);
        tamis_free(after);
    }
    tamis_free(before);
    free(image.at);
}

int main(int argc, char **argv)
{
    char future[4000];

    if (argc < 2)
        die("usage: map ROOT", argv[0]);
    if (argc > 3 && !strcmp(argv[2], "writer"))
        return write_under_trace(argv[3]);
    snprintf(path, sizeof path, "map-%ld.tamis", (long)getpid());
    join(future, sizeof future, argv[1], "tests/golden/future");
    expect(each_file(future, ".tamis", check_future) > 0, "%s is empty", future);
    for (tamis_kind kind = tamis_kind_next(TAMIS_NO_KIND); kind; kind = tamis_kind_next(kind)) {
        random_state = SEED;
        if (!(tamis_kind_can(kind) & TAMIS_CAN_BUILD))
            continue;
        if (!(tamis_kind_can(kind) & TAMIS_CAN_READ_WHILE_ADD)) {
            check_refused(kind);
            continue;
        }
        check_closed(kind);
        check_same_bytes(kind);
        check_damaged(kind);
        check_order(kind, argv[0], argv[1]);
        check_second_writer(kind);
        check_kills(kind);
        check_power_cuts(kind);
    }
    unlink(path);
    if (failures)
        fprintf(stderr, "seed %llu, in fault/map.c\n", (unsigned long long)SEED);
    return verdict("fault/map");
}
