/* cpu.h - instruction sets present on this machine. */
#ifndef TAMIS_BASE_CPU_H
#define TAMIS_BASE_CPU_H

enum {
    TAMIS_CPU_PORTABLE = 0,
    TAMIS_CPU_AVX2 = 1, /* with BMI1 and BMI2, which every AVX2 machine of interest has */
    TAMIS_CPU_NEON = 2,
    TAMIS_CPU_SIMD128 = 4, /* of WebAssembly */
};

/* Those that both the processor and the operating system support. */
unsigned tamis__cpu(void);

#endif
