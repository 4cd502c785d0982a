/* cmd_delta.c - tamis delta: what differs between two files, as rdiff tells it. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "delta.h"
#include "files/file_read.h"
#include "files/replace.h"
#include "patch_limit.h"
#include "term/message.h"
#include "term/progress.h"

/* ---- Inputs ------------------------------------------------------------ */

typedef struct input {
    const char *path;
    int fd;
    uint64_t done, total; /* bytes; total is 0 if it is not known */
} input;

static input open_input(const char *path)
{
    bool is_standard = strcmp(path, "-") == 0;
    input in = { .path = is_standard ? "standard input" : path,
                 .fd = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC) };
    struct stat s;

    if (in.fd < 0 || fstat(in.fd, &s))
        die_errno("read", path);
    if (S_ISDIR(s.st_mode))
        die(CODE_IO, "cannot read %s: it is a directory; a delta is of one file", path);
    in.total = S_ISREG(s.st_mode) ? (uint64_t)s.st_size : 0;
    return in;
}

static size_t read_input(void *ctx, void *bytes, size_t size)
{
    input *in = ctx;
    ssize_t got;

    do
        got = read(in->fd, bytes, size);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        die_errno("read", in->path);
    in->done += (size_t)got;
    if (in->total)
        progress_show(in->done, in->total, "bytes");
    return (size_t)got;
}

static bool read_old(void *ctx, void *bytes, size_t size, uint64_t offset)
{
    const input *in = ctx;

    if (!file_read_all(in->fd, in->path, bytes, size, offset))
        die(CODE_IO, "%s became shorter while it was read", in->path);
    return true;
}

/* ---- What they turn out to be ------------------------------------------ */

static _Noreturn void die_of(const char *what, const input *in, tamis_status status)
{
    switch (status) {
    case TAMIS_FOREIGN:
        die(CODE_CORRUPT, "%s is no %s", in->path, what);
    case TAMIS_CORRUPT:
        die(CODE_CORRUPT, "%s: the %s is cut short or damaged, or belongs to another file",
            in->path, what);
    case TAMIS_RANGE:
        die(CODE_CORRUPT, "%s: the %s says impossible things of its blocks", in->path, what);
    default:
        die_status("read", in->path, status);
    }
}

/* ---- Verbs ------------------------------------------------------------- */

typedef struct request {
    signature_spec spec; /* fields that are 0 were not asked for */
    bool is_sum, is_md4;
    uint64_t most; /* bytes of the new file; 0: what growth_most() says */
    char **words;
} request;

/* As rdiff: the square root of the file's size, and 2048 where that is not known. */
static uint32_t usual_block(const input *old)
{
    if (!old->total)
        return 2048;
    return old->total <= 65536 ? 256 : (uint32_t)sqrt((double)old->total) & ~UINT32_C(127);
}

static int make_signature(request *r)
{
    input old = open_input(r->words[0]);
    signature_spec *spec = &r->spec;

    spec->format = r->is_sum   ? r->is_md4 ? SIGNATURE_SUM_MD4 : SIGNATURE_SUM_BLAKE2
                   : r->is_md4 ? SIGNATURE_RABIN_MD4
                               : SIGNATURE_RABIN_BLAKE2;
    if (!spec->block)
        spec->block = usual_block(&old);
    if (!spec->strong)
        spec->strong = r->is_md4 ? 16 : 32;
    if (r->is_md4 && spec->strong > 16)
        die(CODE_USAGE, "delta: an MD4 hash has 16 bytes, not %u", spec->strong);
    replacement *out = replace_begin(r->words[1]);
    tamis_status status = signature_make(spec, read_input, &old, replace_write, out, NULL);
    if (status)
        die_status("read", old.path, status);
    replace_end(out);
    return CODE_OK;
}

static int make_delta(request *r)
{
    input sig = open_input(r->words[0]), new_file = open_input(r->words[1]);
    block_signature *s;
    tamis_status status = signature_load(&s, read_input, &sig, 0, NULL);

    if (status)
        die_of("signature", &sig, status);
    replacement *out = replace_begin(r->words[2]);
    status = delta_make(s, read_input, &new_file, replace_write, out, NULL);
    if (status)
        die_status("read", new_file.path, status);
    signature_free(s);
    replace_end(out);
    return CODE_OK;
}

/* The file that a delta makes. */
typedef struct patching {
    replacement *out;
    const input *old, *delta;
    uint64_t done, most; /* bytes; most is 0 if it depends on what was read */
} patching;

static bool write_patched(void *ctx, const void *bytes, size_t size)
{
    patching *p = ctx;
    uint64_t most = p->most ? p->most : growth_most(p->old->total, p->delta->done);

    if (size > most || p->done > most - size)
        die(CODE_LIMIT, "%s makes a file of more than %" PRIu64 " bytes; --limit-size allows more",
            p->delta->path, most);
    p->done += size;
    return replace_write(p->out, bytes, size);
}

static int apply_delta(request *r)
{
    input old = open_input(r->words[0]), delta = open_input(r->words[1]);

    if (lseek(old.fd, 0, SEEK_CUR) < 0)
        die(CODE_IO, "cannot read %s: the old file is read in any order and cannot be a pipe",
            old.path);
    patching p = {
        .out = replace_begin(r->words[2]), .old = &old, .delta = &delta, .most = r->most
    };
    tamis_status status =
        delta_apply(read_input, &delta, read_old, &old, old.total, write_patched, &p);
    if (status)
        die_of("delta", &delta, status);
    replace_end(p.out);
    return CODE_OK;
}

/* ---- Command ----------------------------------------------------------- */

/* In the order of the command's verbs. */
static const struct verb {
    const char *operands;
    size_t n;
    int (*run)(request *r);
} VERBS[] = {
    { "give an OLD file and where its SIGNATURE goes", 2, make_signature },
    { "give a SIGNATURE, a NEW file and where the DELTA goes", 3, make_delta },
    { "give an OLD file, a DELTA and where the NEW file goes", 3, apply_delta },
};

static int run(args *a)
{
    request r = { 0 };

    args_read(a, &r);
    r.words = args_operands(a, 1, 4, "signature, delta or patch") + 1;
    const struct verb *verb = &VERBS[args_verb(a, r.words[-1])];
    size_t n = 0;
    while (r.words[n])
        n++;
    if (n != verb->n)
        args_refuse(a, verb->operands);
    int code = verb->run(&r);
    progress_erase();
    return code;
}

static const word_row strong_hashes[] = {
    { "blake2", false, "BLAKE2b" },
    { "md4", true, "MD4" },
    { 0 },
};

static const word_row rolling_hashes[] = {
    { "rabinkarp", false, "a polynomial" },
    { "rollsum", true, "sums" },
    { 0 },
};

static const option_row options[] = {
    { 'b', "block-size", "BYTES", "of a block; the square root of the file's size",
      TO_COUNT(request, spec.block, 1, UINT64_C(1) << 28), .verbs = "signature" },
    { 'S', "sum-size", "BYTES", "kept of each strong hash; all of it",
      TO_COUNT(request, spec.strong, 1, 32), .verbs = "signature" },
    { 0, "hash", "NAME", "blake2, or md4 for old programs", TO_WORD(request, is_md4, strong_hashes),
      .verbs = "signature" },
    { 0, "rollsum", "NAME", "rabinkarp, or rollsum for old programs",
      TO_WORD(request, is_sum, rolling_hashes), .verbs = "signature" },
    { 0, "limit-size", "SIZE", "most that NEW may have (default: 16M and 4 times OLD and DELTA)",
      TO_SIZE(request, most), .verbs = "patch" },
    { .included = progress_options },
    { 0 },
};

const command cmd_delta = {
    .name = "delta",
    .help = help_delta,
    .options = options,
    .verbs = "signature delta patch",
    .run = run,
};
