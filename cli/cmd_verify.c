/* cmd_verify.c - tamis verify: is every byte of a filter as it was written? */
#include <stdio.h>

#include "commands.h"
#include "message.h"
#include "store.h"

static void print_fault(void *ctx, const char *why, uint64_t offset, uint64_t size)
{
    const char *path = ctx;

    printf("%s: %s in MiB %" PRIu64 ", bytes %" PRIu64 " to %" PRIu64 "\n", path, why, offset >> 20,
           offset, offset + (size > 0 ? size - 1 : 0));
}

static int check(tamis *f, char *path)
{
    tamis_status status = tamis_verify(f, print_fault, path);

    if (status == TAMIS_CORRUPT) {
        say("%s is damaged; restore a copy or build it again", path);
        return CODE_CORRUPT;
    }
    if (status)
        return report("verify", path, status);
    printf("%s: ok\n", path);
    return CODE_OK;
}

static tamis_status recover(const char *path)
{
    tamis *f;
    tamis_status status = tamis_map(&f, path, TAMIS_MAP_WRITE | TAMIS_MAP_RECOVER, NULL);

    if (status)
        return status;
    status = tamis_sync(f);
    tamis_free(f);
    if (status == TAMIS_OK)
        printf("%s: recovered; keys added since its last sync may be missing\n", path);
    return status;
}

static int verify(char *path, bool may_recover)
{
    tamis *f;
    tamis_status status = tamis_map(&f, path, 0, NULL);
    int code;

    /* Only a file that says it is dirty: giving a damaged one new checksums would hide the damage.
     */
    if (status == TAMIS_DIRTY && may_recover && !(status = recover(path)))
        status = tamis_map(&f, path, 0, NULL);
    if (status)
        return report("read", path, status);
    code = check(f, path);
    tamis_free(f);
    return code;
}

static int run(args *a)
{
    bool may_recover = false;
    int code = CODE_OK;

    while (args_next(a) != -1)
        may_recover = true;
    store_catch_truncation();
    for (char **path = args_operands(a, 1, SIZE_MAX, "the FILE to verify"); *path; path++) {
        int result = verify(*path, may_recover);

        code = result ? result : code;
    }
    return code;
}

static const option_row options[] = {
    { OPTION_OWN, "recover", NULL, "make a file whole whose writer stopped half-way" },
    { 0 },
};

const command cmd_verify = {
    .name = "verify",
    .operands = "[--recover] FILE...",
    .summary = "check every byte of a filter",
    .about =
        "Checks the header, every checksum and the structure of each FILE. Prints 'FILE: ok', or\n"
        "a line for each fault: what is wrong, in which MiB of the file, and which bytes.\n"
        "\n"
        "If a program adds keys to a mapped filter and stops before it has synced them, the file\n"
        "says so, and other commands refuse it. It has all keys up to the last sync. With\n"
        "--recover, it is accepted as it is and can be used again.",
    .options = { options },
    .when_ok = "every FILE is whole",
    .example = "  seq 1000 | tamis build -k bloom -o numbers.tamis\n"
               "  tamis verify numbers.tamis",
    .run = run,
};
