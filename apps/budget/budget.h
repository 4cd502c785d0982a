/* budget.h - filters that share one budget: a plan for them, and what is made of it. */
#ifndef TAMIS_APPS_BUDGET_BUDGET_H
#define TAMIS_APPS_BUDGET_BUDGET_H

#include "tamis_budget.h"
#include "text/names.h"

/* A filter that is to have a part of the budget. */
typedef struct budget_row {
    uint64_t keys;
    double share, cost;
    uint64_t min_bytes, max_bytes; /* 0: any */
    tamis_kind kind;               /* of what there is already; TAMIS_NO_KIND: nothing */
    uint64_t was_keys, was_bytes;  /* of that */
    uint32_t first_kept, n_kept;   /* sizes that it can be shrunk to, if it is an image */
} budget_row;

/* All of them, and what was chosen. */
typedef struct budget {
    const char *path; /* of the CSV, the folder or the collection */
    tamis_kind kind;  /* of what is built */
    uint64_t total, overhead;
    double rebuild_cost, queries; /* of --was */
    bool has_was;
    bool only_shrinks; /* there are images, and no keys */

    names names;
    buffer rows; /* budget_row */
    size_t n;
    buffer kept;         /* tamis_size: what images can be shrunk to */
    tamis_claim *claims; /* one for each row; sizes have the overhead in them */
    tamis_budget result;
    double ideal, equal, by_keys, by_weight; /* costs of other ways to share */
} budget;

static inline budget_row *budget_row_at(const budget *b, size_t i)
{
    return (budget_row *)(void *)b->rows.bytes + i;
}

enum { BUDGET_MOST = 5000000 }; /* filters: about 1 GiB */

/* ---- budget_input.c: where rows come from ------------------------------ */

void budget_read_csv(budget *b, const char *path);
void budget_read_was(budget *b, const char *path);
/* A folder of images, or a collection, and a log of queries. */
void budget_read_images(budget *b, const char *path, const char *log);

/* ---- budget_share.c: what is chosen ------------------------------------ */

void budget_share(budget *b);

/* ---- budget_apply.c: filters from a plan ------------------------------- */

typedef struct budget_job {
    const char *plan, *keys, *images, *out; /* keys or images may be NULL */
} budget_job;

int budget_apply(const budget_job *work);

#endif
