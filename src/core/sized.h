/* sized.h - public structs that start with their own size, so that later versions can add fields.
 *
 * Programs of any version since the first call any later library, and newer programs call an older
 * one. So a struct of theirs may be shorter than ours, or longer. */
#ifndef TAMIS_CORE_SIZED_H
#define TAMIS_CORE_SIZED_H

#include <stdbool.h>
#include <stddef.h>

#include "tamis.h"

/* The size of a struct whose last field is this one. Padding at the end does not count: old
 * programs leave it as it is, so that a new field never starts in it. */
#define SIZED_UP_TO(type, field) (offsetof(type, field) + sizeof(((type *)NULL)->field))

/* The size in its first release: a smaller struct never was. Other structs have theirs where they
 * are taken. A field that is added later changes none of them. */
enum { SIZED_SPEC = SIZED_UP_TO(tamis_spec, tag_bits) };

/* Whether a struct of that size can be theirs, where the first had `first` bytes and ours has
 * `size`. */
bool tamis__sized_is_possible(size_t given, size_t first, size_t size);

/* Copies their struct into ours, whose size is then ours, too. Fields that they do not know are
 * zero. False: their size is not possible, or what we do not know of theirs is not zero. */
bool tamis__sized_take(void *ours, size_t size, size_t first, const void *theirs);
bool tamis__sized_take_spec(tamis_spec *ours, const tamis_spec *theirs);

/* Fills their struct from ours, as far as theirs reaches. What we do not know of it gets zeros. */
void tamis__sized_give(void *theirs, const void *ours, size_t size);

#endif
