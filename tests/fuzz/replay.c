/* replay.c - runs a fuzzer over files: the corpus in `make check`, or one input that crashed.
 *
 *     image_replay FILE|FOLDER... */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long inputs;

static void die(const char *path)
{
    fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
    exit(EXIT_FAILURE);
}

/* The block is as long as the input: a sanitizer sees the first byte read past it. */
static void run_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);

    if (!file || !data || fread(data, 1, size, file) != size)
        die(path);
    fclose(file);
    printf("replay: %s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    inputs++;
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

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run_path(argv[i]);
    printf("replay: %lu inputs\n", inputs);
    if (inputs)
        return EXIT_SUCCESS;
    fputs("replay: no input at all\n", stderr);
    return EXIT_FAILURE;
}
