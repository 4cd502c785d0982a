/* scalable.c - a Bloom filter for any number of keys.
 *
 * Stages of blocks as in the blocked filter, each twice as large as the one before. Keys go to the
 * newest; when that holds as many as its rate allows, another one is added, and nothing is moved or
 * hashed again. Stage j has a rate of 6 / (pi (j + 1))^2 of the whole, so that all together stay
 * below what was asked for, however many there will be. A query looks for the key in every stage.
 *
 * A stage reads one block per probe, and has as many probes as make each of them cheap.
 *
 *   h = hash_key(key):  probe 0 is h, probe i is mix64(h + i)
 *   of each probe:   high bits -> block of the stage      low 32 bits -> x, as in blocked.c
 *
 * A key that is found already is not added: it would set no bit of its own stage, and only crowd
 * another. So repeated keys take no room.
 *
 * Payload: a line with the number of keys that set bits, as 64 bits; then the stages in order.
 * plan.slots is the number of blocks of the first, plan.hashes the number of stages, plan.width the
 * rate of the whole, as -256 log2.
 *
 * Almeida et al.: Scalable Bloom Filters, 2007.
 * Apple: Stretching your data with taffy filters, 2022. */
#include "bloom/scalable.h"

#include "base/cpu.h"
#include "bloom/family.h"
#include "bloom/split.h"

/* ---- Sizing ------------------------------------------------------------ */

static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->hashes > 0 && p->hashes <= MAX_STAGES && p->width > 0 &&
              p->width <= 64 * 256 && p->slots < UINT64_C(1) << (50 - p->hashes) &&
              has_no_options(p);

    return ok ? sizeof(header) + ((p->slots << p->hashes) - p->slots) * sizeof(block) : 0;
}

static double rate_of_stage(const tamis_plan *p, unsigned j, double n)
{
    return split_rate_of_probes((double)(p->slots << j), n, stage_probes(p, j));
}

static double rate_allowed(const tamis_plan *p, unsigned j)
{
    return exp2(stage_bits(p, j) / -256.0);
}

/* How many keys a stage may see. */
static double keys_of_stage(const tamis_plan *p, unsigned j)
{
    double low = 0, high = (double)(p->slots << j) * KEYS_TOO_MANY, allowed = rate_allowed(p, j);

    while (high - low > fmax(0.5, low * 1e-6)) {
        double middle = (low + high) / 2;
        if (rate_of_stage(p, j, middle) > allowed)
            high = middle;
        else
            low = middle;
    }
    return floor(low);
}

/* How many of them it does not find before: the integral of 1 - rate, by Simpson's rule. */
static double keys_held(const tamis_plan *p, unsigned j, double keys)
{
    enum { STEPS = 16 };
    double sum = 0;

    for (int i = 0; i <= STEPS; i++) {
        double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        sum += weight * (1 - rate_of_stage(p, j, keys * i / STEPS));
    }
    return floor(keys * sum / (3 * STEPS));
}

static uint64_t room_of_stage(const tamis_plan *p, unsigned j)
{
    return (uint64_t)keys_held(p, j, keys_of_stage(p, j));
}

/* Keys come to a stage once those before it are full, and do not find them. */
static double rate(const tamis_plan *p, double n)
{
    double passes = 1;

    for (unsigned j = 0; j < p->hashes; j++) {
        double most = j + 1 < p->hashes ? keys_of_stage(p, j) : INFINITY;
        double keys = fmin(n * passes, most);
        n -= keys / passes;
        passes *= 1 - rate_of_stage(p, j, keys);
    }
    return 1 - passes;
}

/* As many blocks as keep the stage below its rate: those for one key more if there are none. */
static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    double bits = ceil(-256 * log2(spec->fpr)), n = fmax(1, (double)spec->keys);

    p->width = (uint32_t)fmax(1, fmin(bits, 64 * 256));
    p->hashes = 1;
    unsigned probes = stage_probes(p, 0);
    double allowed = pow(rate_allowed(p, 0), 1.0 / probes);
    p->slots = blocks_for(n * probes, allowed);
    if (!p->slots || !bytes(p))
        return TAMIS_RANGE;
    while (rate_of_stage(p, 0, n) > rate_allowed(p, 0))
        p->slots += 1 + p->slots / 1000;
    return bytes(p) ? TAMIS_OK : TAMIS_RANGE;
}

/* ---- Growing ----------------------------------------------------------- */

static tamis_status resize(tamis_plan *p, uint64_t keys)
{
    tamis_plan next = *p;

    (void)keys;
    next.hashes++;
    if (!bytes(&next))
        return TAMIS_RANGE;
    next.capacity += room_of_stage(&next, p->hashes);
    *p = next;
    return TAMIS_OK;
}

/* Its stages are the first ones of f. */
static tamis_status move(tamis *f, const tamis *g)
{
    memcpy(f->payload, g->payload, g->plan.bytes);
    f->count = g->count;
    return TAMIS_OK;
}

/* ---- Operations -------------------------------------------------------- */

#include "bloom/split_portable.h"

#include "bloom/scalable_many.h"

static const char *verify(const tamis *f)
{
    const header *top = f->payload;

    for (size_t i = 0; i < sizeof top->zeros; i++)
        if (top->zeros[i])
            return "bytes before the first stage are not zero";
    return le64(&top->held) > f->count ? "it holds more keys than were added" : NULL;
}

/* Each stage tells how many keys it has seen; those that were found before had to come, too. */
static void measure(const tamis *f, tamis_info *info)
{
    double passes = 1, fill = 0, blocks = 0;

    info->cardinality = 0;
    for (unsigned j = 0; j < f->plan.hashes; j++) {
        stage s = stage_of(f, j);
        split_measure m = split_read(s.blocks, s.n);
        fill += m.fill * (double)s.n;
        blocks += (double)s.n;
        info->cardinality += m.keys / s.probes / passes;
        passes *= 1 - pow(m.fpr, s.probes);
    }
    info->fill = fill / blocks;
    info->fpr = 1 - passes;
}

static void for_cpu(tamis *f, unsigned cpu)
{
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        tamis__scalable_use_avx2(&f->ops);
#else
    (void)f;
    (void)cpu;
#endif
}

const tamis_ops tamis__scalable = {
    .traits = TAMIS_TRAIT_GROWS,
    .plan = plan,
    .bytes = bytes,
    .has = has,
    .rate = rate,
    .verify = verify,
    .measure = measure,
    .add = add,
    .resize = resize,
    .move = move,
    .for_cpu = for_cpu,
    .has_many = has_many,
    .add_many = add_many,
};
