/* symbols.h - what a difference needs to know of the symbols it has. */
#ifndef TAMIS_SYNC_SYMBOLS_H
#define TAMIS_SYNC_SYMBOLS_H

#include "tamis_sync.h"

const uint8_t *tamis__symbols_secret(const tamis_symbols *s);

#endif
