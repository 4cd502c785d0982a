#include "library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "term/message.h"

void library_open(const char *what, const char *package, const char *const *files,
                  const char *const *names, void *pointers)
{
    void *library = NULL;
    for (; *files && !library; files++)
        library = dlopen(*files, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        die(CODE_USAGE, "%s is not installed: try the package %s", what, package);
    for (size_t i = 0; names[i]; i++) {
        void *function = dlsym(library, names[i]);
        if (!function)
            die(CODE_USAGE, "%s is too old: it has no %s()", what, names[i]);
        memcpy((char *)pointers + i * sizeof function, &function, sizeof function);
    }
}
