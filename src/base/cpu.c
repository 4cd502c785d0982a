/* cpu.c - asks the processor, through the compiler. */
#include "base/cpu.h"

/* Far lines were measured on x86 only. */
unsigned tamis__cpu(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2"))
        return TAMIS_CPU_FAR | TAMIS_CPU_AVX2;
    return TAMIS_CPU_FAR;
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return TAMIS_CPU_NEON;
#elif defined(__wasm_simd128__)
    return TAMIS_CPU_SIMD128;
#else
    return TAMIS_CPU_PORTABLE;
#endif
}
