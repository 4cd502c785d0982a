/* cpu.h - what this machine has: instruction sets, and ways to memory. */
#ifndef TAMIS_BASE_CPU_H
#define TAMIS_BASE_CPU_H

enum {
    TAMIS_CPU_PORTABLE = 0,
    TAMIS_CPU_AVX2 = 1, /* with BMI1 and BMI2, which every AVX2 machine of interest has */
    TAMIS_CPU_NEON = 2,
    TAMIS_CPU_SIMD128 = 4, /* of WebAssembly */
    TAMIS_CPU_FAR = 8,     /* gains by asking for far lines: see ahead.h */
    TAMIS_CPU_AVX512 = 16, /* AVX2, and of AVX-512 F, BW, DQ, VL, VBMI, VBMI2, VPOPCNTDQ */
};

/* Those that both the processor and the operating system support. A kind may be given fewer. */
unsigned tamis__cpu(void);

#endif
