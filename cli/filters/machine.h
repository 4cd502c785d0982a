/* machine.h - how fast this machine is, measured once and kept. */
#ifndef TAMIS_CLI_FILTERS_MACHINE_H
#define TAMIS_CLI_FILTERS_MACHINE_H

#include "tamis_advice.h"

/* From the user's cache, or measured and put there; `anew`: measured in any case. */
void machine_speed(tamis_machine *m, bool anew);

#endif
