#ifndef TAMIS_CORE_FILE_H
#define TAMIS_CORE_FILE_H

#include "filter.h"

/* Marks the file under a writable map as dirty, on disk, before its first change. Safe to call from
 * several threads. */
tamis_status tamis__map_unseal(tamis *f);

#endif
