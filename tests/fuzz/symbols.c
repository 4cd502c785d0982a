/* symbols.c - fuzzer: bytes as the symbols of another set.
 *
 * input: how many keys this side has (one byte), then symbols, 24 bytes each; or, if that is odd,
 * changes of the right symbols of a set, three bytes each: where, low and high, and what. Whatever
 * comes, no more keys are found than symbols were taken; and if nothing was changed, the right
 * ones. */
#include <string.h>

#include "base/le.h"
#include "cost.h"
#include "exercise.h"
#include "tamis_sync.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SYMBOLS = 200, SYMBOL = 24, KEYS_THERE = 70 };

static const uint8_t SECRET[16] = "of this exchange";

/* Different keys, from `first` on. */
static tamis_symbols *symbols_of(uint64_t first, size_t n)
{
    uint64_t keys[256];
    tamis_symbols *s;

    for (size_t i = 0; i < n; i++)
        keys[i] = (first + i) * UINT64_C(0x9E3779B97F4A7C15);
    MUST(tamis_symbols_new(&s, keys, n, SECRET, NULL) == TAMIS_OK);
    return s;
}

static void symbols_right(uint8_t bytes[SYMBOLS * SYMBOL])
{
    tamis_symbol symbols[SYMBOLS];
    tamis_symbols *there = symbols_of(50, KEYS_THERE);

    tamis_symbols_next(there, symbols, SYMBOLS);
    tamis_symbols_free(there);
    for (size_t i = 0; i < SYMBOLS; i++) {
        put_le64(bytes + SYMBOL * i, symbols[i].sum);
        put_le64(bytes + SYMBOL * i + 8, symbols[i].check);
        put_le64(bytes + SYMBOL * i + 16, (uint64_t)symbols[i].count);
    }
}

static size_t symbols_from(tamis_symbol symbols[SYMBOLS], const uint8_t *bytes, size_t size)
{
    size_t n = size / SYMBOL < SYMBOLS ? size / SYMBOL : SYMBOLS;

    for (size_t i = 0; i < n; i++)
        symbols[i] = (tamis_symbol){ le64(bytes + SYMBOL * i), le64(bytes + SYMBOL * i + 8),
                                     (int64_t)le64(bytes + SYMBOL * i + 16) };
    return n;
}

/* In pieces of growing size, as they come over a line. */
static tamis_status symbols_take(tamis_difference *d, const tamis_symbol *symbols, size_t n,
                                 bool *is_done)
{
    tamis_status status = TAMIS_OK;

    *is_done = false;
    for (size_t at = 0, piece = 1; at < n && !status && !*is_done; at += piece, piece *= 2) {
        piece = piece < n - at ? piece : n - at;
        status = tamis_difference_take(d, symbols + at, piece, is_done);
    }
    return status;
}

/* At most 255 keys here and 200 symbols, in arrays that double. */
static const cost_law COST = { .memory = 1 << 16, .memory_times = 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t bytes[SYMBOLS * SYMBOL];
    tamis_symbol symbols[SYMBOLS];
    tamis_difference *d;
    bool is_done;
    size_t n, here, there;

    if (size == 0)
        return 0;
    cost_begin();
    bool is_changed = data[0] & 1;
    MUST(tamis_difference_new(&d, symbols_of(0, data[0]), NULL) == TAMIS_OK);
    symbols_right(bytes);
    for (size_t i = 1; is_changed && i + 3 <= size; i += 3)
        bytes[(data[i] + 256u * data[i + 1]) % sizeof bytes] ^= data[i + 2];
    n = is_changed ? symbols_from(symbols, bytes, sizeof bytes)
                   : symbols_from(symbols, data + 1, size - 1);
    tamis_status status = symbols_take(d, symbols, n, &is_done);
    MUST(status == TAMIS_OK || status == TAMIS_CORRUPT);
    (void)tamis_difference_here(d, &here);
    (void)tamis_difference_there(d, &there);
    MUST(here + there <= n);
    MUST(!is_done || status == TAMIS_OK);
    /* Keys 0 to 50, of which there may be fewer, and those from there on. */
    if (size == 1 && is_changed && data[0] >= 50 && data[0] <= 50 + KEYS_THERE)
        MUST(is_done && here == 50 && there == 50u + KEYS_THERE - data[0]);
    tamis_difference_free(d);
    cost_check("symbols", &COST, size);
    return 0;
}
