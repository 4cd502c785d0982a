/* sync_liar.c - one side of `tamis sync`, which lies.
 *
 *     sync_liar [ask:]WHAT
 *
 * It greets as the program does, and its frames are whole: only what they say is wrong. It serves,
 * or asks to push, with "ask:". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../byte_stream.h"
#include "../../entry_message.h"
#include "../../sync_job.h"
#include "wire/packed_message.h"

static sync_job job;

static void send_text(char part, const char *bytes, size_t size)
{
    buffer message = { 0 };

    buffer_append(&message, bytes, size);
    job_send_plain(&job, part, &message);
}

/* ---- A sender ---------------------------------------------------------- */

/* A list of two entries. The second one may be below the first. */
static void send_entries(const entry *first, const entry *second)
{
    const entry *both[] = { first, second };
    buffer message = { 0 };

    send_text(PART_SUMMARY, "", 0);
    entry_write(&message, both, second ? 2 : 1);
    job_send_plain(&job, PART_ENTRIES, &message);
}

static void send_name(const char *name)
{
    const entry root = { .name = "", .type = ENTRY_FOLDER, .mode = 0755 };
    char text[100];

    snprintf(text, sizeof text, "%s", name);
    const entry file = { .name = text, .type = ENTRY_FILE, .mode = 0644, .size = 4 };
    send_entries(&root, &file);
}

static void send_data(const char *bytes, size_t size)
{
    (void)job_receive(&job, PART_PLAN, SIZE_MAX);
    line_send(job.line, PART_DATA, bytes, size);
    line_send(job.line, PART_DATA, NULL, 0);
}

/* A link out of the folder, and a file through it. */
static void send_through_link(void)
{
    const entry link = { .name = "link", .type = ENTRY_LINK, .mode = 0777, .target = ".." };
    const entry file = { .name = "link/escaped", .type = ENTRY_FILE, .mode = 0644, .size = 4 };

    send_entries(&link, &file);
    send_data("evil12345678", 12);
}

/* The folder has a link of its own. */
static void send_through_own_link(void)
{
    send_name("out/escaped");
    send_data("evil12345678", 12);
}

static void send_size(uint64_t size)
{
    const entry file = { .name = "", .type = ENTRY_FILE, .mode = 0644, .size = size };

    send_entries(&file, NULL);
    send_data("abcdefghijklmnop", 16);
}

/* The check of the file is never right: first of all of it, then of a delta that is empty. */
static void send_wrong_check(void)
{
    static const char DELTA[] = "\x05rs\x02\x36\0\0"
                                "12345678";

    send_size(8);
    for (int i = 0; i < FILE_TRIES; i++) {
        (void)job_receive(&job, PART_FAILED, SIZE_MAX);
        line_send(job.line, PART_DATA, DELTA, sizeof DELTA - 1);
        line_send(job.line, PART_DATA, NULL, 0);
    }
}

static void send_count(uint64_t n)
{
    buffer message = { 0 };

    send_text(PART_SUMMARY, "", 0);
    coded_put_number(&message, n << 1);
    buffer_append(&message, "a\0b", 4);
    job_send_plain(&job, PART_ENTRIES, &message);
}

/* ---- Few bytes that become many ---------------------------------------- */

/* So many entries, of zeros: each takes five bytes, and all together next to none on the line. */
static void send_entries_of_zeros(uint64_t n)
{
    buffer message = { 0 };

    send_text(PART_SUMMARY, "", 0);
    coded_put_number(&message, n << 1);
    buffer_reserve(&message, 5 * n);
    memset(message.bytes + message.size, 0, 5 * n);
    message.size += 5 * n;
    job.offers = packed_offer();
    job_send(&job, PART_ENTRIES, &message);
}

/* The start of a stream of zstd that wants a window of 2^27 bytes, and a hundred zeros. */
static void send_window(void)
{
    static const uint8_t STREAM[] = { 3,    0x28, 0xb5,     0x2f,      0xfd, 0,
                                      0x88, 0x23, 100 >> 5, 100 >> 13, 0 };

    send_text(PART_SUMMARY, "", 0);
    line_send(job.line, PART_ENTRIES, STREAM, sizeof STREAM);
}

/* A file of zeros, as large as it says. */
static void send_zeros(uint64_t size)
{
    const entry file = { .name = "", .type = ENTRY_FILE, .mode = 0644, .size = size };
    static char zeros[1 << 16];

    send_entries(&file, NULL);
    (void)job_receive(&job, PART_PLAN, SIZE_MAX);
    job.offers = packed_offer();
    pour *to = pour_begin(&job, size);
    for (uint64_t done = 0; done < size; done += sizeof zeros)
        pour_write(to, zeros, sizeof zeros);
    pour_end(to);
}

/* Folders, each in the one before. */
static void send_nested(size_t n)
{
    entry *all = calloc(n + 1, sizeof *all);
    const entry **list = calloc(n + 1, sizeof *list);
    char *name = calloc(1, 2 * n + 1);
    buffer message = { 0 };

    for (size_t i = 0; i <= n; i++) {
        all[i] =
            (entry){ .name = strndup(name, i ? 2 * i - 1 : 0), .type = ENTRY_FOLDER, .mode = 0755 };
        list[i] = &all[i];
        memcpy(name + 2 * i, "a/", i < n ? 2 : 0);
    }
    send_text(PART_SUMMARY, "", 0);
    entry_write(&message, list, n + 1);
    job_send(&job, PART_ENTRIES, &message);
    (void)job_receive(&job, PART_PLAN, SIZE_MAX);
    (void)line_expect(job.line, PART_DONE);
}

/* ---- A receiver -------------------------------------------------------- */

static void plan(char one)
{
    (void)job_receive(&job, PART_SUMMARY, SIZE_MAX);
    (void)job_receive(&job, PART_ENTRIES, SIZE_MAX);
    send_text(PART_PLAN, &one, 1);
}

static void choose(char how)
{
    plan(PLAN_COMPARE);
    (void)job_receive(&job, PART_SKETCHES, SIZE_MAX);
    send_text(PART_CHOICE, &how, 1);
}

/* Symbols of 2^60 keys that no set has. */
static void tell_for_ever(void)
{
    buffer message = { 0 };

    choose(HOW_CHUNKS);
    coded_put_number(&message, UINT64_C(1) << 60);
    for (uint64_t told = 0;;) {
        for (int i = 0; i < 1000; i++) {
            const tamis_symbol s = { .sum = told * 77, .check = told * 99, .count = 100 };
            coded_put_symbol(&message, &s, told++, UINT64_C(1) << 60);
        }
        job_send_plain(&job, PART_SYMBOLS, &message);
        (void)line_expect(job.line, PART_MORE);
    }
}

static void send_signature(uint64_t old_size)
{
    buffer message = { 0 };

    choose(HOW_BLOCKS);
    coded_put_number(&message, old_size);
    buffer_append(&message, "0123456789", 10);
    job_send_plain(&job, PART_BLOCKS, &message);
}

static void never_content(void)
{
    plan(PLAN_WHOLE);
    while (line_expect(job.line, PART_DATA).size > 0)
        continue;
    for (int i = 0; i < 3; i++) {
        send_text(PART_FAILED, "\0\0", 2);
        while (line_expect(job.line, PART_DATA).size > 0)
            continue;
    }
}

static void flood(char part)
{
    static char zeros[1 << 17];

    for (;;)
        line_send(job.line, part, zeros, sizeof zeros);
}

/* ---- Lies -------------------------------------------------------------- */

static void lie(const char *what)
{
    if (strncmp(what, "name:", 5) == 0)
        send_name(what + 5);
    else if (strcmp(what, "through-link") == 0)
        send_through_link();
    else if (strcmp(what, "through-own-link") == 0)
        send_through_own_link();
    else if (strcmp(what, "twice") == 0)
        send_name("");
    else if (strcmp(what, "size") == 0)
        send_size(UINT64_C(1) << 60);
    else if (strcmp(what, "content") == 0)
        send_wrong_check();
    else if (strcmp(what, "count") == 0)
        send_count(UINT64_C(1) << 60);
    else if (strncmp(what, "entries:", 8) == 0)
        send_entries_of_zeros(strtoull(what + 8, NULL, 10));
    else if (strncmp(what, "nested:", 7) == 0)
        send_nested(strtoull(what + 7, NULL, 10));
    else if (strcmp(what, "window") == 0)
        send_window();
    else if (strncmp(what, "zeros:", 6) == 0)
        send_zeros(strtoull(what + 6, NULL, 10));
    else if (strcmp(what, "flood") == 0)
        flood(PART_SUMMARY);
    else if (strcmp(what, "plan") == 0)
        plan(77);
    else if (strcmp(what, "symbols") == 0)
        tell_for_ever();
    else if (strcmp(what, "signature") == 0)
        send_signature(UINT64_C(1) << 60);
    else if (strcmp(what, "never-content") == 0)
        never_content();
}

/* A push of a folder. */
static void ask(void)
{
    uint8_t asked[18] = { 1 | 2, WAY_ANY };

    line_send(job.line, PART_REQUEST, asked, sizeof asked);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    bool asks = strncmp(argv[1], "ask:", 4) == 0;
    job.memory = 1 << 30;
    job.line = line_open(STDIN_FILENO, STDOUT_FILENO, "sync_liar: the other side",
                         &(line_limits){ .seconds = 10 });
    /* Bytes of files are compressed if both sides offer it. */
    line_greet(job.line, "sync", asks, strstr(argv[1], "zeros:") ? packed_offer() : 0);
    if (asks)
        ask();
    else
        (void)line_expect(job.line, PART_REQUEST);
    lie(asks ? argv[1] + 4 : argv[1]);
    (void)line_receive(job.line);
    return 0;
}
