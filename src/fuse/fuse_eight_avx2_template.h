/* fuse_eight_avx2_template.h - TEMPLATE, compiled once for each FUSE_ARITY: fuse_eight_template.h,
 * which includes this, in two registers of four hashes and one of eight slots. */
static inline __m256i fuse_load(const void *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

static inline void fuse_store(void *to, __m256i x)
{
    _mm256_storeu_si256((__m256i *)to, x);
}

static inline __m256i fuse_all(uint32_t x)
{
    return _mm256_set1_epi32((int)x);
}

static inline void fuse_hash_eight(uint64_t *g, const uint64_t *keys, uint64_t salt)
{
    __m256i salts = _mm256_set1_epi64x((long long)salt);

    for (unsigned i = 0; i < FUSE_EIGHT; i += 4)
        fuse_store(g + i, mix64_avx2(_mm256_xor_si256(fuse_load(keys + i), salts)));
}

/* See fuse_rehash(). */
static inline void fuse_rehash_eight(uint64_t *g, const uint64_t *keys, uint64_t salt,
                                     uint64_t between)
{
    __m256i salts = _mm256_set1_epi64x((long long)salt);
    __m256i seeds = _mm256_set1_epi64x((long long)between);

    for (unsigned i = 0; i < FUSE_EIGHT; i += 4) {
        __m256i x = _mm256_xor_si256(fuse_load(keys + i), salts);
        x = mul64_avx2(xor_shifted_avx2(x), FUSE_FACTOR);
        x = mul64_avx2(xor_shifted_avx2(x), FUSE_OTHER_FACTOR);
        x = mul64_avx2(_mm256_xor_si256(x, seeds), FUSE_FACTOR);
        x = mul64_avx2(xor_shifted_avx2(x), FUSE_OTHER_FACTOR);
        fuse_store(g + i, xor_shifted_avx2(x));
    }
}

/* ---- Slots ------------------------------------------------------------- */

/* The low halves of four numbers, then those of four others; and the high ones. */
static inline __m256i fuse_lows(__m256i a, __m256i b)
{
    __m256 halves =
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(2, 0, 2, 0));

    return _mm256_permute4x64_epi64(_mm256_castps_si256(halves), _MM_SHUFFLE(3, 1, 2, 0));
}

static inline __m256i fuse_highs(__m256i a, __m256i b)
{
    __m256 halves =
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(3, 1, 3, 1));

    return _mm256_permute4x64_epi64(_mm256_castps_si256(halves), _MM_SHUFFLE(3, 1, 2, 0));
}

#if FUSE_ARITY < 5
static inline __m256i fuse_step(const fuse_shape *s, __m256i slot, __m256i steps)
{
    __m256i on = _mm256_add_epi32(_mm256_and_si256(steps, fuse_all(s->in_half)), fuse_all(1));

    return _mm256_and_si256(_mm256_add_epi32(slot, on), fuse_all(s->in_block));
}
#endif

static inline __m256i fuse_reach_eight(const fuse_shape *s, __m256i low)
{
    return _mm256_and_si256(_mm256_srli_epi32(low, FUSE_REACH_AT), fuse_all(s->in_window));
}

static inline void fuse_store_near(fuse_batch *to, size_t i, const fuse_shape *s, __m256i low,
                                   __m256i near)
{
#if FUSE_ARITY == 5
    FUSE_EACH_SLOT
    for (uint32_t j = 0, quarter = (s->in_block >> 2) + 1; j < FUSE_IN_NEAR; j++) {
        __m256i at = _mm256_and_si256(_mm256_srli_epi32(low, (int)j * FUSE_IN_QUARTER_BITS),
                                      fuse_all(quarter - 1));
        fuse_store(to->at[j] + i,
                   _mm256_add_epi32(_mm256_add_epi32(near, fuse_all(j * quarter)), at));
    }
#else
    __m256i steps = _mm256_srli_epi32(low, FUSE_NEAR_STEP_AT);

    fuse_store(to->at[0] + i, _mm256_add_epi32(near, _mm256_and_si256(low, fuse_all(s->in_block))));
    fuse_store(to->at[1] + i, _mm256_add_epi32(near, fuse_step(s, low, steps)));
#endif
}

/* See fuse_fingerprint(): the upper half of the result. */
static inline __m256i fuse_fingerprint_four(__m256i g)
{
    __m256i mixed = mul32_avx2(g, _mm256_set1_epi64x((long long)FUSE_FINGERPRINT_FACTOR));

    return _mm256_xor_si256(_mm256_and_si256(g, _mm256_set1_epi64x((long long)FUSE_LOW_BITS)),
                            mixed);
}

/* See fuse_slots_of(); a and b are the hashes or states, `low` their low halves. */
static inline void fuse_store_slots(fuse_batch *to, size_t i, const fuse_shape *s, __m256i a,
                                    __m256i b, __m256i low, __m256i near)
{
    __m256i far = _mm256_sub_epi32(_mm256_sub_epi32(near, fuse_all(1)), fuse_reach_eight(s, low));

    fuse_store_near(to, i, s, low, near);
    fuse_store(to->at[FUSE_IN_NEAR] + i, far);
#if FUSE_ARITY == 4
    fuse_store(to->at[3] + i,
               _mm256_add_epi32(_mm256_andnot_si256(fuse_all(s->in_block), far),
                                fuse_step(s, far, _mm256_srli_epi32(low, FUSE_FAR_STEP_AT))));
#endif
    fuse_store(to->fingerprint + i, fuse_highs(fuse_fingerprint_four(a), fuse_fingerprint_four(b)));
}

static inline __m256i fuse_starts_four(const fuse_shape *s, __m256i g, unsigned skip)
{
    __m256i lead = high32_avx2(_mm256_sll_epi64(g, _mm_cvtsi32_si128((int)skip)));

    return mul32_avx2(lead, _mm256_set1_epi64x((long long)s->starts));
}

static inline void fuse_put_eight(fuse_batch *to, size_t i, const fuse_shape *s, const uint64_t *g,
                                  unsigned skip)
{
    __m256i a = fuse_load(g), b = fuse_load(g + 4);
    __m256i start = fuse_highs(fuse_starts_four(s, a, skip), fuse_starts_four(s, b, skip));
    __m256i near = _mm256_sll_epi32(start, _mm_cvtsi32_si128((int)s->block_bits));

    fuse_store_slots(to, i, s, a, b, fuse_lows(a, b), _mm256_add_epi32(near, fuse_all(s->window)));
}

/* See fuse_drop_slot(). */
static inline void fuse_drop_eight(fuse_batch *to, size_t i, __m256i own)
{
    __m256i is_behind = _mm256_setzero_si256();

    FUSE_EACH_SLOT
    for (unsigned j = 0; j < FUSE_ARITY - 1; j++) {
        __m256i at = fuse_load(to->at[j] + i), next = fuse_load(to->at[j + 1] + i);
        is_behind = _mm256_or_si256(is_behind, _mm256_cmpeq_epi32(at, own));
        fuse_store(to->at[j] + i, _mm256_blendv_epi8(at, next, is_behind));
    }
}

/* See fuse_near_of_state(). */
static inline void fuse_put_eight_of_states(fuse_batch *to, size_t i, const fuse_shape *s,
                                            const uint32_t *slots, const uint64_t *states)
{
    __m256i a = fuse_load(states), b = fuse_load(states + 4), low = fuse_lows(a, b);
    __m256i high = fuse_highs(a, b), in_block = fuse_all(s->in_block);
    __m256i is_far = _mm256_srai_epi32(_mm256_slli_epi32(high, 63 - FUSE_FAR_AT), 31);
    __m256i reach = _mm256_or_si256(fuse_reach_eight(s, low), in_block);
    __m256i back = _mm256_and_si256(_mm256_add_epi32(reach, fuse_all(1)), is_far);
    __m256i own = fuse_load(slots), near = _mm256_andnot_si256(in_block, own);

    fuse_store_slots(to, i, s, a, b, low, _mm256_add_epi32(near, back));
    fuse_drop_eight(to, i, own);
}

/* Parts begin at multiples of 64 bytes: of these, numbers fit in 32 bits. */
static inline void fuse_part_eight(uint64_t *to, const fuse_shape *s, const uint64_t *g)
{
    __m256i size = _mm256_set1_epi64x((long long)(s->part_bytes / 64));
    __m128i shift = _mm_cvtsi32_si128((int)(64 - s->part_bits));

    for (unsigned i = 0; i < FUSE_EIGHT; i += 4) {
        __m256i part = _mm256_srl_epi64(fuse_load(g + i), shift);
        fuse_store(to + i, _mm256_slli_epi64(mul32_avx2(part, size), 6));
    }
}

/* Slots are numbered in 31 bits. */
static inline bool fuse_are_before(const fuse_batch *b, size_t i, uint32_t stop)
{
    __m256i before = _mm256_cmpgt_epi32(fuse_all(stop), fuse_load(b->at[0] + i));

    return _mm256_movemask_epi8(before) == -1;
}
