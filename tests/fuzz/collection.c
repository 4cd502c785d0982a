/* collection.c - fuzzer: any bytes as a collection, opened, listed, checked, asked and edited.
 *
 * The bytes are tried as they are, then once more with the checksums of the header, of the
 * directory and of images made right, so that what lies behind them is reached as well. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cost.h"
#include "exercise.h"
#include "os/collection.h"
#include "seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool ask(void *ctx, const char *name, uint64_t offset, uint64_t size)
{
    const tamis_collection *c = ctx;
    tamis *f;

    MUST(offset % 64 == 0 && offset + size <= c->slot.end);
    if (tamis_collection_get(c, &f, name, NULL) == TAMIS_OK) {
        exercise_reading(f);
        tamis_free(f);
    }
    return true;
}

static void count_report(void *ctx, const char *name, const char *why, uint64_t offset,
                         uint64_t size)
{
    (void)name;
    exercise_report(ctx, why, offset, size);
}

static void read_it(const char *path)
{
    tamis_collection_info info;
    tamis_collection *c;
    unsigned reports = 0;
    tamis *f;

    if (tamis_collection_open(&c, path, NULL))
        return;
    (void)!tamis_collection_list(c, ask, c);
    (void)!tamis_collection_get_info(c, &info);
    tamis_status whole = tamis_collection_verify(c, count_report, &reports);
    MUST(whole != TAMIS_CORRUPT || reports > 0);
    if (tamis_collection_get(c, &f, "a", NULL) == TAMIS_OK)
        tamis_free(f);
    tamis_collection_free(c);
}

/* What could be opened to be edited can be edited. */
static void edit_it(const char *path)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 5);
    tamis_plan plan;
    tamis_editor *e;
    tamis_collection *c;
    tamis *f, *again;

    if (tamis_editor_open(&e, path, 0, NULL))
        return;
    MUST(!tamis_plan_kind(&plan, TAMIS_BLOOM, &spec) && !tamis_new(&f, &plan, NULL));
    MUST(tamis_editor_put(e, "new", f) == TAMIS_OK);
    (void)!tamis_editor_remove(e, "a");
    MUST(tamis_editor_save(e) == TAMIS_OK);
    tamis_editor_free(e);
    MUST(tamis_collection_open(&c, path, NULL) == TAMIS_OK);
    MUST(tamis_collection_get(c, &again, "new", NULL) == TAMIS_OK);
    MUST(tamis_collection_get(c, &again, "a", NULL) == TAMIS_ABSENT);
    tamis_free(again);
    tamis_collection_free(c);
    tamis_free(f);
}

/* What can be read by an editor is written anew, and is not larger than it was: but for images of
 * more than 2^16 bytes, which start on pages. */
static const cost_law COMPACTING = {
    .memory = 1 << 20, .memory_times = 40, .written = 4 * COLLECTION_PAGE, .written_times = 2
};

static void compact_it(const uint8_t *bytes, size_t size)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    tamis_editor *e = NULL;

    snprintf(path, sizeof path, "%s/tamis-fuzz-XXXXXX", folder ? folder : "/tmp");
    int fd = mkstemp(path);
    MUST(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0);
    cost_begin();
    tamis_status status = tamis_editor_open(&e, path, TAMIS_EDIT_COMPACT, NULL);
    if (!status)
        status = tamis_editor_save(e);
    tamis_editor_free(e);
    cost_check("compacting", &COMPACTING, size);
    MUST(unlink(path) == 0);
}

static void use(const uint8_t *bytes, size_t size)
{
    char path[32];
    int fd = memfd_create("collection", MFD_CLOEXEC);

    MUST(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_it(path);
    edit_it(path);
    close(fd);
    compact_it(bytes, size);
}

/* ---- Right checksums --------------------------------------------------- */

static void seal_images(uint8_t *bytes, size_t size, const uint8_t *page)
{
    const uint8_t *at = page + COLLECTION_FIRST_ENTRY;

    for (uint64_t n = seal_number(page + 8, 2); n > 0; n--) {
        if (at + COLLECTION_ENTRY_SIZE > page + COLLECTION_PAGE)
            return;
        uint64_t offset = seal_number(at, 8), length = seal_number(at + 8, 8);
        if (offset < size && length <= size - offset && offset >= COLLECTION_PAGE)
            seal(bytes + offset, (size_t)length);
        at += COLLECTION_ENTRY_SIZE + at[16];
    }
}

static void seal_collection(uint8_t *bytes, size_t size)
{
    for (unsigned i = 0; i < COLLECTION_SLOTS && size >= COLLECTION_PAGE; i++) {
        uint8_t *slot = bytes + 512 * (1 + i);
        uint64_t directory = seal_number(slot + 16, 8), pages = seal_number(slot + 24, 8);

        for (uint64_t page = 0; page < pages && page < 64; page++) {
            uint64_t at = directory + page * COLLECTION_PAGE;
            if (at % 64 || at > size || size - at < COLLECTION_PAGE)
                break;
            seal_images(bytes, size, bytes + at);
            seal_put(bytes + at, 8, tamis__collection_sum(bytes + at, page));
        }
        seal_put(slot + 56, 8, XXH3_64bits(slot, 56));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return use_as_is_and_sealed(data, size, use, seal_collection);
}
