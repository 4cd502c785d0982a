/* progress.h - a bar on standard error while long work goes on. */
#ifndef TAMIS_CLI_TERM_PROGRESS_H
#define TAMIS_CLI_TERM_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Silent unless standard error is a terminal, or the choice was made otherwise, and the first call
 * was over a second ago. `total` is 0 if unknown; `unit` follows the numbers. */
void progress_show(uint64_t done, uint64_t total, const char *unit);
void progress_erase(void);
/* Shown or not, whatever standard error is. */
void progress_choose(bool is_shown);
/* Lines are about to go to standard output: if that is the same terminal, the bar is gone for good,
 * unless it was chosen. */
void progress_make_way(void);

#endif
