/* library.h - libraries of others that a single command needs. They are opened when it runs: all
 * other commands start as fast as without them, and run where they are not installed. */
#ifndef TAMIS_CLI_FILES_LIBRARY_H
#define TAMIS_CLI_FILES_LIBRARY_H

/* A function of a library, and the pointer that is to call it. */
typedef struct library_call {
    const char *name; /* NULL in the last row */
    void *pointer;    /* to a pointer to a function of that type */
} library_call;

/* Opens the first of `files` that there is, up to NULL, and finds every function. Without them the
 * program ends, and says what is missing: `what`, and the package that has it. */
void library_open(const char *what, const char *package, const char *const *files,
                  const library_call *calls);

#endif
