/* replay.c - runs a fuzzer over files: the corpus in `make check`, or one input that crashed.
 *
 *     build/tests/fuzz FUZZER [--mutations N] FILE|FOLDER... [-- FILE|FOLDER...]
 *
 * With --mutations, N random changes of the files before "--" follow, by the seed of $SEED. Each is
 * kept as `mutated` while it runs: what is left there is the one that crashed. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* CMake writes <chosen.h>, a line X(name) for each file of the folder, whose
 * LLVMFuzzerTestOneInput() it calls <name>_input() here. */
typedef int fuzzer(const uint8_t *data, size_t size);

#define X(name) fuzzer name##_input;
#include <chosen.h>
#undef X

static const struct {
    const char *name;
    fuzzer *run;
} FUZZERS[] = {
#define X(name) { #name, name##_input },
#include <chosen.h>
#undef X
};

static fuzzer *run_input;

static void die(const char *path)
{
    fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
    exit(EXIT_FAILURE);
}

static void *given(void *block)
{
    if (!block)
        die("memory");
    return block;
}

/* ---- Files ------------------------------------------------------------- */

typedef struct input {
    uint8_t *data;
    size_t size;
} input;

static input *inputs;
static size_t n_inputs, n_changed; /* of these, those that are changed */

/* The block is as long as the input: a sanitizer sees the first byte read past it. */
static void run_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = given(malloc(size ? size : 1));

    if (!file || fread(data, 1, size, file) != size)
        die(path);
    fclose(file);
    printf("replay: %s\n", path);
    fflush(stdout);
    run_input(data, size);
    inputs = given(realloc(inputs, (n_inputs + 1) * sizeof *inputs));
    inputs[n_inputs++] = (input){ data, size };
}

static void run_path(const char *path);

static void run_folder(const char *path)
{
    struct dirent **names;
    int n = scandir(path, &names, NULL, alphasort);

    if (n < 0)
        die(path);
    for (int i = 0; i < n; i++) {
        char inner[4096];
        if (names[i]->d_name[0] != '.' &&
            (size_t)snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name) < sizeof inner)
            run_path(inner);
        free(names[i]);
    }
    free(names);
}

static void run_path(const char *path)
{
    struct stat info;

    if (stat(path, &info))
        die(path);
    if (S_ISDIR(info.st_mode))
        run_folder(path);
    else
        run_file(path, (size_t)info.st_size);
}

/* ---- Changes of files -------------------------------------------------- */

static uint64_t state = 1;

static size_t below(size_t n)
{
    state = state * 6364136223846793005 + 1442695040888963407;
    uint64_t x = state ^ state >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    return n ? (size_t)((x ^ x >> 33) % n) : 0;
}

/* Replaces bytes from `at` on by others. */
static void put(input *in, size_t at, size_t gone, const uint8_t *bytes, size_t size)
{
    uint8_t *data = given(malloc(in->size - gone + size + 1));

    memcpy(data, in->data, at);
    if (size > 0)
        memcpy(data + at, bytes, size);
    memcpy(data + at + size, in->data + at + gone, in->size - at - gone);
    free(in->data);
    in->data = data;
    in->size += size - gone;
}

/* A byte, a part that is repeated, left out or comes of another file, a large number of seven bits
 * in each byte or of eight. */
static void change(input *in)
{
    static const uint8_t LARGE[] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 1 };
    static const uint8_t BYTES[] = { 0, 1, 2, 16, 127, 128, 254, 255 };
    size_t at = below(in->size + 1), left = in->size - at;
    size_t part = below(left < 64 ? left + 1 : 64);
    const input *from = &inputs[below(n_changed)];
    size_t there = below(from->size),
           size = below(from->size - there < 64 ? from->size - there : 64);
    uint8_t *copy = given(malloc(part + 1));

    memcpy(copy, in->data + at, part);
    switch (below(6)) {
    case 0:
        put(in, at, left > 0, &BYTES[below(sizeof BYTES)], 1);
        break;
    case 1:
        put(in, at, left > 0, &(uint8_t){ (uint8_t)below(256) }, 1);
        break;
    case 2:
        for (size_t n = below(8); n > 0; n--)
            put(in, at, 0, copy, part);
        break;
    case 3:
        put(in, at, part, NULL, 0);
        break;
    case 4:
        put(in, at, below(2) ? part : 0, from->data + there, size);
        break;
    default:
        size = 1 + below(sizeof LARGE);
        put(in, at, left > 0, LARGE + sizeof LARGE - size, size);
    }
    free(copy);
}

static void keep(const input *in)
{
    FILE *file = fopen("mutated", "wb");

    if (!file || fwrite(in->data, 1, in->size, file) != in->size || fclose(file))
        die("mutated");
}

enum { LONGEST = 1 << 16, CHANGES = 6 };

static void run_mutated(void)
{
    const input *from = &inputs[below(n_changed)];
    size_t size = from->size < LONGEST ? from->size : LONGEST;
    input in = { given(malloc(size + 1)), size };

    memcpy(in.data, from->data, size);
    for (size_t n = 1 + below(CHANGES); n > 0; n--)
        change(&in);
    keep(&in);
    uint8_t *exact = given(malloc(in.size ? in.size : 1));
    memcpy(exact, in.data, in.size);
    run_input(exact, in.size);
    free(exact);
    free(in.data);
}

static void run_mutations(unsigned long n, size_t n_first)
{
    const char *seed = getenv("SEED");

    n_changed = n_first;
    state = seed ? strtoull(seed, NULL, 0) : 1;
    printf("replay: %lu changes of them, by SEED=%#llx\n", n, (unsigned long long)state);
    fflush(stdout);
    while (n-- > 0)
        run_mutated();
    unlink("mutated");
}

static fuzzer *fuzzer_called(const char *name)
{
    for (size_t i = 0; i < sizeof FUZZERS / sizeof *FUZZERS; i++)
        if (strcmp(FUZZERS[i].name, name) == 0)
            return FUZZERS[i].run;
    fprintf(stderr, "replay: no fuzzer is called '%s'\n", name);
    exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    bool mutates = argc > 3 && strcmp(argv[2], "--mutations") == 0;
    size_t n_first = 0;

    run_input = fuzzer_called(argc > 1 ? argv[1] : "");
    for (int i = mutates ? 4 : 2; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            n_first = n_inputs;
        else
            run_path(argv[i]);
    printf("replay: %zu inputs\n", n_inputs);
    if (n_inputs == 0) {
        fputs("replay: no input at all\n", stderr);
        return EXIT_FAILURE;
    }
    if (mutates)
        run_mutations(strtoul(argv[3], NULL, 10), n_first ? n_first : n_inputs);
    for (size_t i = 0; i < n_inputs; i++)
        free(inputs[i].data);
    free(inputs);
    return EXIT_SUCCESS;
}
