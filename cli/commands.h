/* commands.h - every command; each has a file of its own. */
#ifndef TAMIS_CLI_COMMANDS_H
#define TAMIS_CLI_COMMANDS_H

#include "args/args.h"

extern const command cmd_kinds, cmd_plan, cmd_build, cmd_add, cmd_remove, cmd_adapt, cmd_query,
    cmd_dedup, cmd_top, cmd_get, cmd_count, cmd_list, cmd_info, cmd_merge, cmd_dot, cmd_resize,
    cmd_fold, cmd_convert, cmd_hist, cmd_verify, cmd_gen, cmd_kmers, cmd_collection, cmd_budget,
    cmd_show, cmd_lab, cmd_delta, cmd_intersect, cmd_reconcile, cmd_sync, cmd_join, cmd_digest,
    cmd_replicas, cmd_guard, cmd_spell, cmd_match, cmd_flows, cmd_similar;

#endif
