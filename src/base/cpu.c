/* cpu.c - asks the processor, through the compiler. */
#include "base/cpu.h"

#if defined(__x86_64__)
static unsigned cpu_vectors(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2"))
        return TAMIS_CPU_PORTABLE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512vbmi") || !__builtin_cpu_supports("avx512vbmi2") ||
        !__builtin_cpu_supports("avx512vpopcntdq"))
        return TAMIS_CPU_AVX2;
    return TAMIS_CPU_AVX2 | TAMIS_CPU_AVX512;
}
#endif

/* Far lines were measured on x86 only. */
unsigned tamis__cpu(void)
{
#if defined(__x86_64__)
    return TAMIS_CPU_FAR | cpu_vectors();
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return TAMIS_CPU_NEON;
#elif defined(__wasm_simd128__)
    return TAMIS_CPU_SIMD128;
#else
    return TAMIS_CPU_PORTABLE;
#endif
}
