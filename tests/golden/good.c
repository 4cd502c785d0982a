/* good.c - images written by this and every earlier release keep their bytes and their answers.
 *
 *     good ROOT          test: every file of good/ and future/ answers as it did when it was made,
 *                        and building the same keys anew gives the same bytes
 *     good ROOT --write  make the files that are missing; a file that exists is never touched
 *
 * Beside each X.tamis stand X.keys, its keys as lines in the order they were added, and X.absent,
 * other keys with the frozen answer in front: false positives are part of the promise. */
#include <sys/stat.h>

#include "choose.h"
#include "golden.h"

/* ---- What is made of each kind ----------------------------------------- */

typedef struct {
    const char *name;
    tamis_hash hash;
    uint64_t seed;
    uint64_t capacity, keys, absent;
    tamis_kind only; /* or none: every kind */
} variant;

static const double FPR = 0.05;

/* The files are kept for ever and every bit of the small ones is flipped in turn: small they stay.
 * One passes 64 KiB, from where payloads begin on a page; one has as many keys as it takes for a
 * second level; one was doubled until old fingerprints had no bits left; one has counters that do
 * not fill their words. */
static const variant VARIANTS[] = {
    { "empty", TAMIS_FAST, 0, 20, 0, 60, TAMIS_NO_KIND },
    { "small", TAMIS_FAST, 0, 26, 26, 100, TAMIS_NO_KIND },
    { "loaded", TAMIS_FAST, 0, 150, 150, 200, TAMIS_NO_KIND },
    { "seed", TAMIS_FAST, 0x0123456789abcdef, 60, 60, 150, TAMIS_NO_KIND },
    { "keyed", TAMIS_KEYED, 0, 60, 60, 150, TAMIS_NO_KIND },
    { "raw", TAMIS_RAW, 0, 60, 40, 150, TAMIS_NO_KIND },
    { "raw-seed", TAMIS_RAW, 77, 60, 60, 150, TAMIS_NO_KIND },
    { "page", TAMIS_FAST, 0, 75000, 200, 40, TAMIS_BLOCKED },
    { "levels", TAMIS_FAST, 0, 4200, 4200, 200, TAMIS_RIBBON },
    { "grown", TAMIS_FAST, 0, 2, 4200, 200, TAMIS_ALEPH },
    { "adapted", TAMIS_FAST, 0, 150, 150, 400, TAMIS_NO_KIND },
    { "narrow", TAMIS_FAST, 0, 60, 60, 150, TAMIS_COUNTING },
};
enum { N_VARIANTS = sizeof VARIANTS / sizeof VARIANTS[0], MAX_KEYS = 4200, MAX_LINE = 2048 };

static bool can(tamis_kind kind, unsigned bit)
{
    return tamis_kind_can(kind) & bit;
}

static bool is_indexed(tamis_kind kind)
{
    return can(kind, TAMIS_IS_INDEXED);
}

/* Of the key in line i, in kinds that can get. */
enum { VALUE_BITS = 7 };

static uint64_t value_of(unsigned i)
{
    return (i * 37 + 5) % (1 << VALUE_BITS);
}

/* Told of half of the absent keys. */
static bool is_adapted(const variant *v)
{
    return !strcmp(v->name, "adapted");
}

/* Indexed kinds hash nothing: of what differs by hash alone, one file is enough. */
static bool is_wanted(tamis_kind kind, const variant *v)
{
    if (v->only && v->only != kind)
        return false;
    if (is_adapted(v) && !can(kind, TAMIS_CAN_ADAPT))
        return false;
    return !is_indexed(kind) || (v->hash != TAMIS_KEYED && !v->seed);
}

static tamis_spec spec_of(tamis_kind kind, const variant *v)
{
    tamis_spec spec = TAMIS_SPEC(.keys = v->capacity);

    spec.fpr = can(kind, TAMIS_IS_EXACT) || can(kind, TAMIS_CAN_EXCLUDE) ? 0 : FPR;
    spec.value_bits = can(kind, TAMIS_CAN_GET) ? VALUE_BITS : 0;
    spec.universe = can(kind, TAMIS_CAN_EXCLUDE) ? v->capacity + v->absent / 2 : 0;
    spec.hasher.hash = is_indexed(kind) ? TAMIS_RAW : v->hash;
    spec.hasher.seed = v->seed;
    spec.counter_bits = strcmp(v->name, "narrow") ? 0 : 3;
    for (unsigned i = 0; v->hash == TAMIS_KEYED && i < sizeof spec.hasher.secret; i++)
        spec.hasher.secret[i] = (uint8_t)(0xa0 + 7 * i);
    return spec;
}

/* ---- Keys -------------------------------------------------------------- */

/* One length in and one on each side of every class that the hash functions treat differently. */
static const size_t LENGTHS[] = { 0,  1,  2,  3,  4,  5,  7,   8,   9,   15,  16,  17,  31,
                                  32, 33, 64, 65, 96, 97, 128, 129, 200, 240, 241, 511, 1100 };
enum { N_LENGTHS = sizeof LENGTHS / sizeof LENGTHS[0] };

/* Every byte but the newline: NUL, carriage return and those above 0x7f as well. */
static bytes long_line(uint8_t *room, unsigned i)
{
    size_t size = LENGTHS[i % N_LENGTHS];

    for (size_t j = 0; j < size; j++) {
        uint8_t byte = (uint8_t)(37 * j + 151 * i);
        room[j] = byte == '\n' ? 0 : byte;
    }
    return (bytes){ room, size };
}

/* The corners of the 64-bit numbers, then any. */
static uint64_t raw_number(unsigned i)
{
    static const uint64_t CORNERS[] = { 0, 1, 2, UINT64_MAX, UINT64_C(1) << 63, UINT32_MAX };

    return i < 6 ? CORNERS[i] : i * UINT64_C(0xbf58476d1ce4e5b9);
}

static bytes number_line(uint8_t *room, uint64_t number)
{
    int size = snprintf((char *)room, MAX_LINE, "%llu", (unsigned long long)number);

    return (bytes){ room, (size_t)size };
}

static bytes text_line(uint8_t *room, const char *word, unsigned i)
{
    int size = snprintf((char *)room, MAX_LINE, "%s-%u", word, i);

    return (bytes){ room, (size_t)size };
}

static bytes key_line(uint8_t *room, tamis_kind kind, const variant *v, unsigned i)
{
    if (is_indexed(kind))
        return number_line(room, i * UINT64_C(7) % v->capacity);
    if (v->hash == TAMIS_RAW)
        return number_line(room, raw_number(i));
    if (!strcmp(v->name, "small"))
        return long_line(room, i);
    return text_line(room, "key", i);
}

/* Beyond the end of indexed kinds, too: the answer there is no. */
static bytes absent_line(uint8_t *room, tamis_kind kind, const variant *v, unsigned i)
{
    if (is_indexed(kind))
        return number_line(room, i < 60 ? i : v->capacity + i * UINT64_C(0x0123456789abcd));
    if (v->hash == TAMIS_RAW)
        return number_line(room, raw_number(i + (unsigned)v->keys));
    return text_line(room, "absent", i);
}

/* ---- Making ------------------------------------------------------------ */

static void check_ok(tamis_status status, const char *where)
{
    if (status)
        die(tamis_status_text(status), where);
}

static bool is_key(tamis_kind kind, const variant *v, bytes wanted)
{
    uint8_t room[MAX_LINE];

    for (unsigned i = 0; i < v->keys; i++) {
        bytes line = key_line(room, kind, v, i);
        if (line.size == wanted.size && !memcmp(line.at, wanted.at, wanted.size))
            return true;
    }
    return false;
}

/* Kinds that can split are told half of the absent keys; to the rest they give any answer. */
static size_t list_others(uint64_t *others, const tamis *empty, const variant *v)
{
    uint8_t room[MAX_LINE];
    tamis_kind kind = tamis_plan_of(empty)->kind;
    size_t n = 0;

    for (unsigned i = 0; i < v->absent / 2; i++) {
        bytes line = absent_line(room, kind, v, i);
        if (!is_key(kind, v, line))
            others[n++] = key_of_line(empty, line);
    }
    return n;
}

static tamis_status build(tamis **f, const tamis *empty, const uint64_t *keys, const variant *v)
{
    const tamis_plan *plan = tamis_plan_of(empty);
    uint64_t beside[MAX_KEYS];

    if (can(plan->kind, TAMIS_CAN_EXCLUDE) || is_adapted(v)) {
        size_t n = list_others(beside, empty, v);
        return tamis_build_excluding(f, plan, keys, v->keys, beside, n, NULL);
    }
    if (!can(plan->kind, TAMIS_CAN_GET))
        return tamis_build(f, plan, keys, v->keys, NULL);
    for (unsigned i = 0; i < v->keys; i++)
        beside[i] = value_of(i);
    return tamis_build_map(f, plan, keys, beside, v->keys, NULL);
}

static tamis *make(const char *name, tamis_kind kind, const variant *v)
{
    uint8_t room[MAX_LINE];
    uint64_t keys[MAX_KEYS];
    tamis_spec spec = spec_of(kind, v);
    tamis_plan plan;
    tamis *empty, *f;

    check_ok(tamis_plan_kind(&plan, kind, &spec), name);
    check_ok(tamis_new(&empty, &plan, NULL), name);
    for (unsigned i = 0; i < v->keys; i++)
        keys[i] = key_of_line(empty, key_line(room, kind, v, i));
    check_ok(build(&f, empty, keys, v), name);
    tamis_free(empty);
    return f;
}

static bytes image_of(const tamis *f, const char *name)
{
    bytes image = bytes_new(tamis_image_size(f));

    check_ok(tamis_image_write(f, image.at, image.size), name);
    return image;
}

static void beside(char *path, size_t size, const char *image_path, const char *ending)
{
    int stem = (int)(strlen(image_path) - strlen(".tamis"));

    if ((size_t)snprintf(path, size, "%.*s%s", stem, image_path, ending) >= size)
        die("path too long", image_path);
}

static void write_keys(const char *image_path, tamis_kind kind, const variant *v)
{
    char path[4096];
    uint8_t room[MAX_LINE];

    beside(path, sizeof path, image_path, ".keys");
    FILE *file = open_file(path, "wb");
    for (unsigned i = 0; i < v->keys; i++) {
        bytes line = key_line(room, kind, v, i);
        fwrite(line.at, 1, line.size, file);
        fputc('\n', file);
    }
    fclose(file);
}

static void write_absent(const char *image_path, const tamis *f, tamis_kind kind, const variant *v)
{
    char path[4096];
    uint8_t room[MAX_LINE];

    beside(path, sizeof path, image_path, ".absent");
    FILE *file = open_file(path, "wb");
    for (unsigned i = 0; i < v->absent; i++) {
        bytes line = absent_line(room, kind, v, i);
        if (is_key(kind, v, line))
            continue;
        fputs(tamis_has(f, key_of_line(f, line)) ? "yes " : "no ", file);
        fwrite(line.at, 1, line.size, file);
        fputc('\n', file);
    }
    fclose(file);
}

/* ---- Each case: made when missing, else compared ----------------------- */

static bool writing;

static void compare(const char *path, bytes image)
{
    bytes frozen = read_whole(path);

    expect(frozen.size == image.size && !memcmp(frozen.at, image.at, image.size),
           "%s: building the same keys gives other bytes", path);
    free(frozen.at);
}

static void write_case(const char *path, bytes image, const tamis *f, const variant *v)
{
    tamis_kind kind = tamis_plan_of(f)->kind;

    write_whole(path, image);
    write_keys(path, kind, v);
    write_absent(path, f, kind, v);
    printf("wrote %s\n", path);
}

static void run_case(const char *folder, tamis_kind kind, const variant *v)
{
    char path[4096], name[128];
    struct stat info;

    snprintf(name, sizeof name, "%s-%s.tamis", tamis_kind_name(kind), v->name);
    join(path, sizeof path, folder, name);
    tamis *f = make(name, kind, v);
    bytes image = image_of(f, name);
    if (!stat(path, &info))
        compare(path, image);
    else if (writing)
        write_case(path, image, f, v);
    else
        expect(false, "%s is missing: run tools/golden", path);
    free(image.at);
    tamis_free(f);
}

static void run_cases(const char *folder)
{
    for (tamis_kind kind = tamis_kind_next(TAMIS_NO_KIND); kind; kind = tamis_kind_next(kind))
        for (int i = 0; i < N_VARIANTS; i++)
            if (is_wanted(kind, &VARIANTS[i]))
                run_case(folder, kind, &VARIANTS[i]);
}

/* ---- Every file, whoever made it --------------------------------------- */

static void check_keys(const char *path, const tamis *f)
{
    char keys_path[4096];
    bytes line;
    unsigned n = 0;
    bool gets = can(tamis_plan_of(f)->kind, TAMIS_CAN_GET);

    beside(keys_path, sizeof keys_path, path, ".keys");
    bytes all = read_whole(keys_path), rest = all;
    while (next_line(&rest, &line)) {
        uint64_t value, wanted = gets ? value_of(n) : 0;

        n++;
        expect(tamis_has(f, key_of_line(f, line)), "%s: key %u is lost", path, n);
        expect(tamis_get(f, &value, key_of_line(f, line)) && value == wanted,
               "%s: key %u has another value", path, n);
    }
    expect(info_of(f).count == n, "%s: counts %llu keys, not %u", path,
           (unsigned long long)info_of(f).count, n);
    free(all.at);
}

static void check_absent(const char *path, const tamis *f)
{
    char absent_path[4096];
    bytes line;

    beside(absent_path, sizeof absent_path, path, ".absent");
    bytes all = read_whole(absent_path), rest = all;
    while (next_line(&rest, &line)) {
        bool yes = line.at[0] == 'y';
        bytes key = { line.at + (yes ? 4 : 3), line.size - (yes ? 4 : 3) };
        expect(tamis_has(f, key_of_line(f, key)) == yes, "%s: another answer for %.*s", path,
               (int)key.size, (const char *)key.at);
    }
    free(all.at);
}

static void check_answers(const char *path, const tamis *f)
{
    check_keys(path, f);
    check_absent(path, f);
    expect(tamis_verify(f, NULL, NULL) == TAMIS_OK, "%s: verify finds fault", path);
}

static void check_file(const char *path)
{
    bytes image = read_whole(path);
    tamis *f;

    if (expect(tamis_image_read(&f, image.at, image.size, NULL) == TAMIS_OK, "%s: read", path)) {
        check_answers(path, f);
        tamis_free(f);
    }
    if (expect(tamis_image_view(&f, image.at, image.size, NULL) == TAMIS_OK, "%s: view", path)) {
        check_answers(path, f);
        tamis_free(f);
    }
    if (expect(tamis_load(&f, path, NULL) == TAMIS_OK, "%s: load", path)) {
        check_answers(path, f);
        tamis_free(f);
    }
    if (expect(tamis_map(&f, path, 0, NULL) == TAMIS_OK, "%s: map", path)) {
        check_answers(path, f);
        tamis_free(f);
    }
    free(image.at);
}

/* What was read, a copy of it and a view all write the bytes they came from. */
static void check_rewritten(const char *path)
{
    bytes image = read_whole(path);
    tamis *f[3] = { NULL };

    expect(tamis_image_read(&f[0], image.at, image.size, NULL) == TAMIS_OK &&
               tamis_clone(&f[1], f[0], NULL) == TAMIS_OK &&
               tamis_image_view(&f[2], image.at, image.size, NULL) == TAMIS_OK,
           "%s: read, clone, view", path);
    for (int i = 0; i < 3; i++) {
        if (!f[i])
            continue;
        bytes again = image_of(f[i], path);
        expect(again.size == image.size && !memcmp(again.at, image.at, image.size),
               "%s: re-written with other bytes (%d)", path, i);
        free(again.at);
        tamis_free(f[i]);
    }
    free(image.at);
}

int main(int argc, char **argv)
{
    char good[4000], future[4000];

    if (argc < 2)
        die("usage: good ROOT [--write]", argv[0]);
    writing = argc > 2 && !strcmp(argv[2], "--write");
    join(good, sizeof good, argv[1], "tests/golden/good");
    join(future, sizeof future, argv[1], "tests/golden/future");
    run_cases(good);
    if (writing)
        return EXIT_SUCCESS;
    expect(each_file(good, ".tamis", check_file) > 0, "%s is empty", good);
    expect(each_file(future, ".tamis", check_file) > 0, "%s is empty", future);
    each_file(good, ".tamis", check_rewritten);
    return verdict("golden/good");
}
