/* golden.h - files and lines for the golden tests. */
#ifndef TAMIS_TESTS_GOLDEN_H
#define TAMIS_TESTS_GOLDEN_H

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "tamis_file.h"

/* ---- Verdict ----------------------------------------------------------- */

static unsigned long checks, failures;

/* Says what failed and goes on: one run shows every fault. */
__attribute__((format(printf, 2, 3))) static inline bool expect(bool holds, const char *format, ...)
{
    checks++;
    if (holds)
        return true;
    failures++;
    va_list arguments;
    va_start(arguments, format);
    fputs("FAILED: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return false;
}

static inline int verdict(const char *name)
{
    printf("%s: %lu checks, %lu failed\n", name, checks, failures);
    return failures || !checks ? EXIT_FAILURE : EXIT_SUCCESS;
}

__attribute__((noreturn)) static inline void die(const char *what, const char *where)
{
    fprintf(stderr, "FAILED: %s: %s\n", where, what);
    exit(EXIT_FAILURE);
}

/* ---- Bytes ------------------------------------------------------------- */

typedef struct {
    uint8_t *at;
    size_t size;
} bytes;

/* Exactly as long as asked, so that a sanitizer sees the first byte read past the end, and aligned
 * as a view wants it. */
static inline bytes bytes_new(size_t size)
{
    void *at = NULL;

    if (posix_memalign(&at, 64, size))
        die("out of memory", "bytes_new");
    return (bytes){ at, size };
}

static inline bytes bytes_copy(const void *from, size_t size)
{
    bytes copy = bytes_new(size);

    if (size)
        memcpy(copy.at, from, size);
    return copy;
}

static inline FILE *open_file(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);

    if (!file)
        die(strerror(errno), path);
    return file;
}

static inline bytes read_whole(const char *path)
{
    FILE *file = open_file(path, "rb");
    bytes all;

    fseek(file, 0, SEEK_END);
    all = bytes_new((size_t)ftell(file));
    rewind(file);
    if (fread(all.at, 1, all.size, file) != all.size)
        die("cannot be read", path);
    fclose(file);
    return all;
}

static inline void write_whole(const char *path, bytes all)
{
    FILE *file = open_file(path, "wb");

    if (fwrite(all.at, 1, all.size, file) != all.size || fclose(file))
        die("cannot be written", path);
}

/* ---- Lines ------------------------------------------------------------- */

/* Takes the next line off the front of `rest`, without its newline; false when none is left. */
static inline bool next_line(bytes *rest, bytes *line)
{
    if (!rest->size)
        return false;
    uint8_t *end = memchr(rest->at, '\n', rest->size);
    size_t size = end ? (size_t)(end - rest->at) : rest->size;
    *line = (bytes){ rest->at, size };
    rest->at += size + (end != NULL);
    rest->size -= size + (end != NULL);
    return true;
}

/* Raw keys stand in the files as decimal numbers. */
static inline uint64_t key_of_line(const tamis *f, bytes line)
{
    char digits[24] = "";

    if (tamis_plan_of(f)->hasher.hash != TAMIS_RAW)
        return tamis_key(f, line.at, line.size);
    memcpy(digits, line.at, line.size < sizeof digits ? line.size : sizeof digits - 1);
    return strtoull(digits, NULL, 10);
}

/* ---- Folders ----------------------------------------------------------- */

static inline void join(char *path, size_t size, const char *folder, const char *name)
{
    if ((size_t)snprintf(path, size, "%s/%s", folder, name) >= size)
        die("path too long", name);
}

static inline bool ends_with(const char *name, const char *ending)
{
    size_t size = strlen(name), tail = strlen(ending);

    return size >= tail && !strcmp(name + size - tail, ending);
}

/* In the order of the alphabet, so that two runs print the same. */
static inline int each_file(const char *folder, const char *ending, void (*visit)(const char *path))
{
    struct dirent **names;
    int n = scandir(folder, &names, NULL, alphasort), seen = 0;

    if (n < 0)
        die(strerror(errno), folder);
    for (int i = 0; i < n; i++) {
        char path[4096];
        if (ends_with(names[i]->d_name, ending)) {
            join(path, sizeof path, folder, names[i]->d_name);
            visit(path);
            seen++;
        }
        free(names[i]);
    }
    free(names);
    return seen;
}

#endif
