/* peeling_text.h - how a filter by peeling was made, in sentences. */
#ifndef TAMIS_APPS_SHOW_PEELING_TEXT_H
#define TAMIS_APPS_SHOW_PEELING_TEXT_H

#include "picture.h"

/* One after the other, each with a NUL. TAMIS_CANNOT: the kind is not made this way. TAMIS_ABSENT:
 * these are not its keys. */
tamis_status peeling_tell(buffer *sentences, const tamis *f, const picture *p,
                          const named_key *keys, size_t n);

#endif
