/* killed.h - a child that is killed at some moment of its work: through a pipe, it says numbers
 * that count how far it has come for good. */
#ifndef TAMIS_TESTS_FAULT_KILLED_H
#define TAMIS_TESTS_FAULT_KILLED_H

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Works on from that number, and does not return. */
typedef void killed_child(uint64_t from, int out);

/* The last number that came whole, `from` if none did. */
static inline uint64_t killed_after(uint64_t us, killed_child *child, uint64_t from, int *status)
{
    const struct timespec t = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };
    uint64_t word;
    int ends[2];

    if (pipe(ends) != 0)
        exit(2);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child(from, ends[1]);
    }
    close(ends[1]);
    nanosleep(&t, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, status, 0);
    while (read(ends[0], &word, sizeof word) == sizeof word)
        from = word;
    close(ends[0]);
    return from;
}

#endif
