/* rocksdb.cc - the filters of RocksDB's tables, without a database: Bloom in one cache line, and
 * Ribbon.
 *
 * The public headers give builders and readers of filters, but do not declare their functions.
 * These are declared below, as in the versions named there. With another version there are no
 * subjects, and make() checks the answers for the first keys before it trusts them. */
#include "../bench.h"

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#define VERSION_TEXT(a, b, c) VERSION_JOINED(a, b, c)
#define VERSION_JOINED(a, b, c) #a "." #b "." #c
#define VERSION VERSION_TEXT(ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH)

extern "C" {
extern const bench_subject *const bench_peer_rocksdb[];
}

#if ROCKSDB_MAJOR >= 7 && ROCKSDB_MAJOR <= 10

/* ---- What the library does not declare --------------------------------- */

/* The order is that of the library's tables of functions; nothing here is ever defined. */
namespace ROCKSDB_NAMESPACE
{
class FilterBitsBuilder
{
  public:
    virtual ~FilterBitsBuilder();
    virtual void AddKey(const Slice &key) = 0;
#if ROCKSDB_MAJOR > 9 || (ROCKSDB_MAJOR == 9 && ROCKSDB_MINOR >= 6)
    virtual void AddKeyAndAlt(const Slice &key, const Slice &alt) = 0;
#endif
    virtual size_t EstimateEntriesAdded() = 0;
    virtual Slice Finish(std::unique_ptr<const char[]> *owner) = 0;
    virtual Slice Finish(std::unique_ptr<const char[]> *owner, Status *status) = 0;
    virtual Status MaybePostVerify(const Slice &contents) = 0;
    virtual size_t ApproximateNumEntries(size_t bytes) = 0;
    virtual size_t CalculateSpace(size_t entries) = 0;
    virtual double EstimatedFpRate(size_t entries, size_t bytes) = 0;
};

class FilterBitsReader
{
  public:
    virtual ~FilterBitsReader();
    virtual bool MayMatch(const Slice &key) = 0;
    virtual void MayMatch(int n, Slice **keys, bool *may_match) = 0;
};
} // namespace ROCKSDB_NAMESPACE

namespace
{
using namespace ROCKSDB_NAMESPACE;

/* A reader takes no more keys at a time. */
constexpr size_t BATCH = 32;

/* How the library marks a filter, five bytes before its end; a Ribbon that could not be made comes
 * out as a Bloom filter. */
enum mark : signed char { BLOOM = -1, RIBBON = -2 };

struct filter {
    std::unique_ptr<const char[]> owner;
    Slice contents;
    std::unique_ptr<FilterBitsReader> reader;
    mark kind;
    double bits_per_key;
    size_t n;
};

Slice slice(const uint64_t &key)
{
    return Slice(reinterpret_cast<const char *>(&key), sizeof(key));
}

/* ---- Lookups ----------------------------------------------------------- */

/* The library reads filters from many threads, through readers that are not const. */
bool has_one(const void *self, uint64_t key)
{
    return static_cast<const filter *>(self)->reader->MayMatch(slice(key));
}

#include "../lone_template.h"

uint64_t has_batch(FilterBitsReader &reader, const uint64_t *keys, size_t n)
{
    Slice slices[BATCH], *each[BATCH];
    bool found[BATCH];
    uint64_t hits = 0;

    for (size_t i = 0; i < n; i++) {
        slices[i] = slice(keys[i]);
        each[i] = &slices[i];
    }
    reader.MayMatch(static_cast<int>(n), each, found);
    for (size_t i = 0; i < n; i++)
        hits |= static_cast<uint64_t>(found[i]) << i;
    return hits;
}

size_t has(const void *self, uint64_t *hits, const uint64_t *keys, size_t n)
{
    FilterBitsReader &reader = *static_cast<const filter *>(self)->reader;
    size_t count = 0;

    std::memset(hits, 0, (n + 63) / 64 * sizeof(*hits));
    for (size_t i = 0; i < n; i += BATCH) {
        uint64_t found = has_batch(reader, keys + i, std::min(BATCH, n - i));
        hits[i / 64] |= found << i % 64;
        count += static_cast<size_t>(__builtin_popcountll(found));
    }
    return count;
}

/* ---- Building ---------------------------------------------------------- */

using builder_ptr = std::unique_ptr<FilterBitsBuilder>;
using policy_ptr = std::unique_ptr<const FilterPolicy>;

mark mark_of(const bench_subject *s)
{
    return s->name == std::string("rocksdb-ribbon") ? RIBBON : BLOOM;
}

policy_ptr policy_of(mark m, double bits_per_key)
{
    /* -1: Ribbon at every level of the database. */
    return policy_ptr(m == RIBBON ? NewRibbonFilterPolicy(bits_per_key, -1)
                                  : NewBloomFilterPolicy(bits_per_key));
}

builder_ptr builder_of(const FilterPolicy &policy)
{
    BlockBasedTableOptions options;

    options.format_version = 5;
    options.optimize_filters_for_memory = false; /* it would round sizes up to those of malloc */
    return builder_ptr(policy.GetBuilderWithContext(FilterBuildingContext(options)));
}

/* A Bloom filter notes it in the third byte from its end. */
int probes_of(const FilterPolicy &policy)
{
    std::unique_ptr<const char[]> owner;
    builder_ptr builder = builder_of(policy);
    uint64_t key = 0;

    builder->AddKey(slice(key));
    Slice contents = builder->Finish(&owner);
    return contents[contents.size() - 3];
}

/* The mean over lines with a Poisson number of keys. The library's own estimate takes two loads for
 * all of them: at a rate of 2^-16 it is a third too low. */
double rate_of_lines(double bits_per_key, int probes)
{
    const double line = 512, load = line / bits_per_key;
    double share = std::exp(-load), rate = 0;

    for (int keys = 0; keys < 1000; keys++, share *= load / keys)
        rate += share * std::pow(1 - std::pow(1 - 1 / line, keys * probes), probes);
    return rate;
}

double planned(mark m, double bits_per_key, size_t n)
{
    policy_ptr policy = policy_of(m, bits_per_key);
    builder_ptr builder = builder_of(*policy);
    size_t size = builder->CalculateSpace(n);

    return m == RIBBON ? builder->EstimatedFpRate(n, size)
                       : rate_of_lines(8.0 * static_cast<double>(size) / static_cast<double>(n),
                                       probes_of(*policy));
}

/* The library is told bits per key, also for a Ribbon, which gets the rate of a Bloom filter of
 * that size. This is the smallest number, in thousandths of a bit, that gives the rate. */
double bits_for(mark m, double fpr, size_t n)
{
    int low = 1000, high = 100000;

    while (low < high) {
        int middle = (low + high) / 2;
        if (planned(m, middle / 1000.0, n) > fpr)
            low = middle + 1;
        else
            high = middle;
    }
    return low / 1000.0;
}

/* A user would know this number, so that finding it is not part of building. It is done once for a
 * case. */
double known_bits_for(mark m, double fpr, size_t n)
{
    static struct {
        double fpr, bits;
        size_t n;
    } known[2];
    auto &last = known[m == RIBBON];

    if (last.fpr != fpr || last.n != n)
        last = { fpr, bits_for(m, fpr, n), n };
    return last.bits;
}

bool is_sound(const filter &f, const uint64_t *keys, size_t n)
{
    size_t some = std::min(n, BATCH);
    bool lone = std::all_of(keys, keys + some, [&](uint64_t key) { return has_one(&f, key); });
    uint64_t hits;

    return f.contents.size() > 5 &&
           static_cast<signed char>(f.contents[f.contents.size() - 5]) == f.kind && lone &&
           has(&f, &hits, keys, some) == some;
}

std::unique_ptr<filter> build(mark m, double bits_per_key, const uint64_t *keys, size_t n)
{
    policy_ptr policy = policy_of(m, bits_per_key);
    builder_ptr builder = builder_of(*policy);
    auto f = std::make_unique<filter>();

    f->kind = m;
    f->bits_per_key = bits_per_key;
    f->n = n;
    for (size_t i = 0; i < n; i++)
        builder->AddKey(slice(keys[i]));
    if (builder->EstimateEntriesAdded() != n)
        return nullptr;
    f->contents = builder->Finish(&f->owner);
    f->reader.reset(policy->GetFilterBitsReader(f->contents));
    return is_sound(*f, keys, n) ? std::move(f) : nullptr;
}

/* The headers may not be those of the library that was loaded. */
bool is_declared()
{
    return GetRocksVersionAsString() == VERSION;
}

void *make(const bench_subject *s, const bench_case *c, const uint64_t *keys, size_t n)
{
    if (n == 0 || !is_declared())
        return nullptr;
    try {
        mark m = mark_of(s);
        return build(m, known_bits_for(m, c->fpr, n), keys, n).release();
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void drop(void *self)
{
    delete static_cast<filter *>(self);
}

size_t bytes(const void *self)
{
    return static_cast<const filter *>(self)->contents.size();
}

double planned_fpr(const void *self)
{
    const filter *f = static_cast<const filter *>(self);

    return planned(f->kind, f->bits_per_key, f->n);
}

/* ---- Table ------------------------------------------------------------- */

bench_subject subject(const char *name)
{
    bench_subject s = {};

    s.name = name;
    s.library = "RocksDB " VERSION;
    s.make = make;
    s.has = has;
    s.bytes = bytes;
    s.drop = drop;
    s.builds_at_once = true;
    s.has_each = has_each;
    s.has_chain = has_chain;
    s.planned_fpr = planned_fpr;
    return s;
}

const bench_subject bloom = subject("rocksdb-bloom"), ribbon = subject("rocksdb-ribbon");
} // namespace

const bench_subject *const bench_peer_rocksdb[] = { &bloom, &ribbon, nullptr };

#else

const bench_subject *const bench_peer_rocksdb[] = { nullptr };

#endif
