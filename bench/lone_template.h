/* lone_template.h - TEMPLATE: lookups one key at a time. Included after has_one(), which it
 * compiles in: a call through a pointer would be measured too.
 *
 * In has_chain(), the next key is known only when the answer is there. */

static size_t has_each(const void *self, const uint64_t *keys, size_t n)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += has_one(self, keys[i]);
    return found;
}

static size_t has_chain(const void *self, const uint64_t *keys, size_t n)
{
    uint64_t none = 0, last = 0;
    size_t found = 0;

    __asm__ volatile("" : "+r"(none)); /* the compiler must not know that it is 0 */
    for (size_t i = 0; i < n; i++) {
        last = has_one(self, keys[i] ^ (last & none));
        found += last;
    }
    return found;
}
