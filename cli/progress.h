/* progress.h - a bar on standard error while long work goes on. */
#ifndef TAMIS_CLI_PROGRESS_H
#define TAMIS_CLI_PROGRESS_H

#include <stdint.h>

/* Silent unless standard error is a terminal and the first call was over a second ago. `total` is
 * 0 if unknown; `unit` follows the numbers. */
void progress_show(uint64_t done, uint64_t total, const char *unit);
void progress_erase(void);

#endif
