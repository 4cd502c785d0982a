/* speeds.h - how fast a machine is, as text. */
#ifndef TAMIS_CLI_FILTERS_SPEEDS_H
#define TAMIS_CLI_FILTERS_SPEEDS_H

#include <stdio.h>

#include "tamis_advice.h"

enum { SPEEDS_NAME_SIZE = 80 };

/* Of this machine: letters, digits, dots and dashes. */
void speeds_name(char name[SPEEDS_NAME_SIZE]);

void speeds_write(FILE *file, const tamis_machine *m);
/* Changes the text. False, and no change of *m: it was not written for this machine by this version
 * of the program, or is damaged. */
bool speeds_read(tamis_machine *m, char *text);

#endif
