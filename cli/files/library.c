#include "library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "term/message.h"

void library_open(const char *what, const char *package, const char *const *files,
                  const library_call *calls)
{
    void *library = NULL;
    for (; *files && !library; files++)
        library = dlopen(*files, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        die(CODE_USAGE, "%s is not installed: try the package %s", what, package);
    for (; calls->name; calls++) {
        void *function = dlsym(library, calls->name);
        if (!function)
            die(CODE_USAGE, "%s is too old: it has no %s()", what, calls->name);
        memcpy(calls->pointer, &function, sizeof function);
    }
}
