/* target.h - functions for one instruction set, in files that are compiled for any machine.
 *
 *   #include "filter.h"             all that is for any machine, first
 *   #ifdef TARGET_AVX2              this machine may have it
 *   TARGET_AVX2                     from here on, functions are for AVX2
 *   static bool x_has_avx2(const tamis *f, uint64_t key) { ... }
 *   TARGET_END
 *   #endif
 *
 * Only functions between these lines use such instructions, and only they may call each other:
 * others take their addresses, once tamis__cpu() has said that the machine can. They may call
 * inline functions for any machine, which are then compiled for the instruction set, too. Macros of
 * the compiler, such as __AVX2__, say nothing of it: clang does not set them here. */
#ifndef TAMIS_BASE_TARGET_H
#define TAMIS_BASE_TARGET_H

#ifdef __x86_64__
#include <immintrin.h>

#define TARGET_PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define TARGET_BEGIN(set) \
    TARGET_PRAGMA(clang attribute push(__attribute__((target(set))), apply_to = function))
#define TARGET_END _Pragma("clang attribute pop")
#else
#define TARGET_BEGIN(set) _Pragma("GCC push_options") TARGET_PRAGMA(GCC target(set))
#define TARGET_END _Pragma("GCC pop_options")
#endif

/* What the flags of base/cpu.h stand for. */
#define TARGET_AVX2 TARGET_BEGIN("avx2,bmi,bmi2")
#define TARGET_AVX512                                                                       \
    TARGET_BEGIN("avx2,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2," \
                 "avx512vpopcntdq")
#endif

#endif
