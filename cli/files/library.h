/* library.h - libraries of others that a single command needs. They are opened when it runs: all
 * other commands start as fast as without them, and run where they are not installed. */
#ifndef TAMIS_CLI_FILES_LIBRARY_H
#define TAMIS_CLI_FILES_LIBRARY_H

/* Of a list FUNCTIONS(X) with X(mdb_, get) for each function: the pointers to call them by, and
 * their names.
 *
 *     static struct { FUNCTIONS(LIBRARY_POINTER) } mdb;
 *     static const char *const names[] = { FUNCTIONS(LIBRARY_NAME) NULL }; */
#define LIBRARY_POINTER(prefix, name) __typeof__(prefix##name) *name;
#define LIBRARY_NAME(prefix, name) #prefix #name,

/* Opens the first of `files` that there is, up to NULL, and finds every function of `names` for the
 * struct of pointers. Without them the program ends, and says what is missing: `what`, and the
 * package that has it. */
void library_open(const char *what, const char *package, const char *const *files,
                  const char *const *names, void *pointers);

#endif
