/* scalable_template.h - TEMPLATE, compiled once for each CPU: lookups and adds of the scalable
 * filter.
 *
 * The includer, which is scalable.c, defines scalable_name(), which makes a name its own,
 * SCALABLE_HAS and SCALABLE_ADD, split_block_has() and split_block_add() or the like of them. Of a
 * group of keys, all are looked for in the newest stage, which has about half of the keys, those
 * that are not there in the one before it, and so on; while one stage is looked at, the lines of
 * the next are on their way. */

/* ---- Lookups ----------------------------------------------------------- */

/* g is the hash of a key, times the factor of the stage. */
static inline bool scalable_name(stage_has)(const scalable_stage *s, uint64_t g)
{
    for (unsigned i = 0; i < s->probes; i++) {
        uint64_t probe = split_block_probe(g, i);
        if (!SCALABLE_HAS(scalable_block(s, probe), (uint32_t)probe))
            return false;
    }
    return true;
}

static bool scalable_name(has)(const tamis *f, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);

    for (unsigned j = f->plan.hashes; j-- > 0;) {
        scalable_stage s = scalable_stage_of(f, j);
        if (scalable_name(stage_has)(&s, h * s.factor))
            return true;
    }
    return false;
}

/* Whether the stage has key i of those left, which stood at at. If not, and there is a stage before
 * it, the key stays among those left, with the line that it has there on its way. */
MANY_INLINE bool scalable_name(look_at)(scalable_group *g, const scalable_stage *s,
                                        const scalable_stage *before, size_t i, uint8_t at,
                                        bool is_far)
{
    uint64_t h = g->h[i];
    bool hit = scalable_name(stage_has)(s, g->g[i]);

    g->h[g->left] = h;
    g->g[g->left] = h * before->factor;
    g->at[g->left] = at;
    ahead_read(scalable_block(before, g->g[g->left]), is_far);
    g->left += !hit;
    return hit;
}

MANY_INLINE uint64_t scalable_name(look)(void *self, void *group, size_t i)
{
    const scalable_batch *b = self;

    return scalable_name(look_at)(group, &b->newest, &b->before, i, (uint8_t)i, b->is_far);
}

/* Each stage looks for what the newer ones do not have. */
MANY_INLINE uint64_t scalable_name(more)(void *self, void *group, uint64_t hits)
{
    const scalable_batch *b = self;
    scalable_group *g = group;
    scalable_stage s = b->before;

    for (unsigned j = b->f->plan.hashes - 1; j-- > 0;) {
        scalable_stage before = scalable_stage_of(b->f, j ? j - 1 : 0);
        unsigned n = g->left;
        g->left = 0;
        for (unsigned i = 0; i < n; i++) {
            unsigned at = g->at[i];
            hits |= (uint64_t)scalable_name(look_at)(g, &s, &before, i, (uint8_t)at, b->is_far)
                    << at;
        }
        s = before;
    }
    return hits;
}

static size_t scalable_name(has_many)(const tamis *f, uint64_t *hits, const uint64_t *keys,
                                      size_t n)
{
    scalable_batch b = scalable_begin(f);
    scalable_group groups[2];

    return many_lookups(&b, hits, keys, n, &groups[0], &groups[1], scalable_prepare, scalable_fetch,
                        scalable_name(look), scalable_name(more));
}

/* ---- Adds -------------------------------------------------------------- */

/* A key that is found would set no bit of the stage that has it, and is not to be in another. */
static tamis_status scalable_name(add)(tamis *f, uint64_t key, uint64_t times)
{
    scalable_header *top = f->payload;
    uint64_t held = le64(&top->held), h = hash_key(key, f->salt);

    (void)times;
    if (!scalable_name(has)(f, key)) {
        scalable_stage newest = scalable_stage_of(f, f->plan.hashes - 1);
        if (held >= f->plan.capacity)
            return TAMIS_FULL;
        for (unsigned i = 0; i < newest.probes; i++) {
            uint64_t probe = split_block_probe(h * newest.factor, i), blocks = 0;
            SCALABLE_ADD(scalable_block(&newest, probe), (uint32_t)probe, &blocks);
        }
        put_le64(&top->held, held + 1);
    }
    f->count++;
    return TAMIS_OK;
}

/* What is found counts as it is; the others are looked for again, since some may be twice among
 * them, but their lines are near by now. */
static tamis_status scalable_name(add_many)(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    tamis_status status = TAMIS_OK;

    for (*added = 0; *added < n && !status;) {
        size_t from = *added, end = n - from < MANY ? n : from + MANY;
        uint64_t found;
        scalable_name(has_many)(f, &found, keys + from, end - from);
        for (; *added < end && !status; *added += !status)
            if (found >> (*added - from) & 1)
                f->count++;
            else
                status = scalable_name(add)(f, keys[*added], 1);
    }
    return status;
}

#undef scalable_name
#undef SCALABLE_HAS
#undef SCALABLE_ADD
