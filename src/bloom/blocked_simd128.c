/* blocked_simd128.c - the blocked filter with a block in two registers of WebAssembly. In modules
 * that are compiled with vectors; has() is then 1.3 times as fast, has_many() 1.6 times. */
#include <wasm_simd128.h>

#include "bloom/split_block.h"

/* There is no shift by another number in each word. A bit is found by the byte it is in, then by
 * its place in that byte; each is looked up in a register. Nonzero in the lowest byte of the words
 * whose bit is not set. */
static inline v128_t blocked_simd128_missing(const uint32_t *words, const uint32_t *salts,
                                             uint32_t x)
{
    const v128_t first = wasm_i32x4_const(0, 4, 8, 12); /* byte of each word */
    const v128_t powers = wasm_u8x16_const(1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0);
    v128_t place = wasm_u32x4_shr(wasm_i32x4_mul(wasm_u32x4_splat(x), wasm_v128_load(salts)), 27);
    v128_t at = wasm_v128_or(first, wasm_u32x4_shr(place, 3));
    v128_t byte = wasm_i8x16_swizzle(wasm_v128_load(words), at);
    v128_t bit = wasm_i8x16_swizzle(powers, wasm_v128_and(place, wasm_u32x4_const_splat(7)));

    return wasm_v128_andnot(bit, byte);
}

static inline bool blocked_simd128_block_has(const split_block *b, uint32_t x)
{
    v128_t low = blocked_simd128_missing(b->word, SPLIT_SALT, x);
    v128_t high = blocked_simd128_missing(b->word + 4, SPLIT_SALT + 4, x);
    v128_t missing = wasm_v128_or(low, high);

    return !wasm_v128_any_true(wasm_v128_and(missing, wasm_u32x4_const_splat(0xff)));
}

#define one_block_name(function) blocked_simd128_##function
#define ONE_BLOCK split_block
#define ONE_BLOCK_HAS blocked_simd128_block_has
#define ONE_BLOCK_ADD split_block_add
#include "bloom/one_block_template.h"

void tamis__blocked_use_simd128(tamis_ops *ops)
{
    blocked_simd128_use(ops);
}
