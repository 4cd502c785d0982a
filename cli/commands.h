/* commands.h - every command; each has a file of its own. */
#ifndef TAMIS_CLI_COMMANDS_H
#define TAMIS_CLI_COMMANDS_H

#include <help_texts.h>

#include "args/args.h"

extern const command cmd_kinds, cmd_plan, cmd_build, cmd_add, cmd_remove, cmd_adapt, cmd_query,
    cmd_dedup, cmd_get, cmd_count, cmd_list, cmd_info, cmd_merge, cmd_dot, cmd_resize, cmd_fold,
    cmd_convert, cmd_hist, cmd_verify, cmd_collection;

/* Those of apps/, a line X(cmd_NAME) for each: CMake writes it. */
#define X(application) extern const command application;
#include <applications.h>
#undef X

#endif
