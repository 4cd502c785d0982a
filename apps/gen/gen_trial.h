/* gen_trial.h - keys for trials: plausible, distinct, the same on every machine. */
#ifndef TAMIS_APPS_GEN_GEN_TRIAL_H
#define TAMIS_APPS_GEN_GEN_TRIAL_H

#include <stdint.h>

typedef enum trial_form { TRIAL_EMAILS, TRIAL_URLS, TRIAL_NUMBERS } trial_form;

/* Key i of one seed is a bijection of i: two indexes below trial_indexes() never give one key. */
typedef struct trial {
    trial_form form;
    uint64_t seed;
    char end; /* of each line */
} trial;

enum { TRIAL_ROOM = 128 }; /* bytes that writing a line may touch, beyond its end too */

/* How many keys a form has; UINT64_MAX stands for 2^64 - 1. */
uint64_t trial_indexes(trial_form form);
/* Writes lines of keys *i .. end - 1 from `at` on, as long as TRIAL_ROOM bytes are left before
 * `limit`; *i becomes the index of the next. Returns the end of the last line. */
char *trial_write(const trial *t, char *at, const char *limit, uint64_t *i, uint64_t end);

#endif
