/* store.c - filters in files. */
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lock.h"
#include "message.h"
#include "progress.h"
#include "store.h"

tamis *store_load(const char *path)
{
    tamis *f;
    tamis_status status = tamis_load(&f, path, NULL);

    if (status)
        die_status("read", path, status);
    return f;
}

tamis *store_load_locked(const char *path)
{
    tamis *f;
    tamis_status status;

    lock_filter(path);
    status = tamis_load(&f, path, NULL);
    /* The lock that the library sees is the one taken here. */
    if (status == TAMIS_BUSY)
        status = TAMIS_DIRTY;
    if (status)
        die_status("read", path, status);
    return f;
}

/* ---- Maps -------------------------------------------------------------- */

static void on_truncation(int signal)
{
    static const char text[] = "tamis: the filter's file was shortened or cannot be read while it "
                               "was mapped; restore it and do not use --map\n";

    (void)signal;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(CODE_CORRUPT);
    _exit(CODE_CORRUPT);
}

void store_catch_truncation(void)
{
    struct sigaction action = { .sa_handler = on_truncation };

    sigaction(SIGBUS, &action, NULL);
}

tamis *store_map(const char *path)
{
    tamis *f;
    tamis_status status = tamis_map(&f, path, 0, NULL);

    if (status)
        die_status("map", path, status);
    store_catch_truncation();
    return f;
}

tamis *store_map_whole(const char *path)
{
    tamis *f = store_map(path);
    tamis_status status = tamis_verify(f, NULL, NULL);

    if (status)
        die_status("read", path, status);
    return f;
}

/* ---- Saving ------------------------------------------------------------ */

static void check_folder(const char *path)
{
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    size_t size = slash ? (size_t)(slash - path) + 1 : 0;

    if (size >= sizeof folder)
        return;
    if (slash) {
        memcpy(folder, path, size);
        folder[size] = 0;
    }
    if (access(folder, W_OK | X_OK))
        die_errno("write to the folder of", path);
}

void store_check_target(const char *path)
{
    struct stat s;

    if (stat(path, &s))
        check_folder(path);
    else if (!S_ISREG(s.st_mode))
        die(CODE_IO, "%s is not a regular file; name one to save the filter to", path);
}

void store_save(const tamis *f, const char *path)
{
    tamis_status status;
    sigset_t stops, before;

    sigemptyset(&stops);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGHUP);
    sigprocmask(SIG_BLOCK, &stops, &before);
    if ((status = tamis_save(f, path)))
        die_status("write", path, status);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- Building ---------------------------------------------------------- */

static volatile sig_atomic_t stopped_by; /* a signal; 0: none */

static void on_stop(int signal)
{
    stopped_by = signal;
}

/* A signal that is ignored, after nohup for example, stays ignored. */
static void catch (int signal)
{
    struct sigaction action = { .sa_handler = on_stop, .sa_flags = SA_RESTART }, before;

    if (sigaction(signal, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(signal, &action, NULL);
}

bool store_progress(void *ctx, uint64_t done, uint64_t total)
{
    const uint64_t *keys = ctx;
    double share = total ? (double)done / (double)total : 1;

    progress_show((uint64_t)(share * (double)*keys), *keys, "keys");
    return stopped_by == 0;
}

tamis_status store_build(tamis_builder *b, const char *path, tamis_plan *plan)
{
    tamis_status status;

    catch (SIGINT);
    catch (SIGTERM);
    catch (SIGHUP);
    status = tamis_builder_save(b, path, plan);
    progress_erase();
    /* The parent process must see that the signal ended this program. */
    if (stopped_by) {
        signal(stopped_by, SIG_DFL);
        raise(stopped_by);
    }
    return status;
}

/* ---- Load -------------------------------------------------------------- */

bool store_is_crowded(const tamis_info *info)
{
    /* Sketches take any number of keys, and windows forget. */
    if (info->plan.error > 0 || tamis_kind_can(info->plan.kind) & TAMIS_CAN_ROTATE)
        return false;
    /* A repeated key is counted again but does no harm, so the rate decides. */
    return info->count > info->plan.capacity && info->fpr > info->plan.fpr;
}

void store_warn_if_crowded(const tamis *f, const char *path)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f, &info);
    if (store_is_crowded(&info))
        say("%s holds %" PRIu64 " keys and was planned for %" PRIu64 ": its false positive rate is "
            "now %.3g, not %.3g; build it with a larger -n",
            path, info.count, info.plan.capacity, info.fpr, info.plan.fpr);
}
