/* sync_liar.c - the side of `tamis sync` that serves, and lies.
 *
 *     sync_liar WHAT
 *
 * It greets as the program does, and its frames are whole: only what they say is wrong. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sync/job.h"
#include "wire/packed.h"

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
    (void)job_receive(&job, PART_PLAN);
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
        (void)job_receive(&job, PART_FAILED);
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

/* ---- A receiver -------------------------------------------------------- */

static void plan(char one)
{
    (void)job_receive(&job, PART_SUMMARY);
    (void)job_receive(&job, PART_ENTRIES);
    send_text(PART_PLAN, &one, 1);
}

static void choose(char how)
{
    plan(PLAN_COMPARE);
    (void)job_receive(&job, PART_SKETCHES);
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

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    job.memory = 1 << 30;
    job.line = line_open(STDIN_FILENO, STDOUT_FILENO, "sync_liar: the other side",
                         &(line_limits){ .seconds = 10 });
    line_greet(job.line, "sync", false, 0);
    (void)line_expect(job.line, PART_REQUEST);
    lie(argv[1]);
    (void)line_receive(job.line);
    return 0;
}
