/* lookup.c - values for keys, and answers without error over all keys there are.
 *
 *     cc lookup.c -o lookup $(pkg-config --cflags --libs tamis) && ./lookup
 *
 * A hundred thousand accounts live on sixteen servers. A map tells which, in four bits for the
 * server and seven to refuse unknown names. No name is stored. Some accounts are closed: a cascade
 * tells which, without any error, because it was given all other accounts, too. */
#include <stdio.h>
#include <tamis.h>

enum { ACCOUNTS = 100000, CLOSED = 3000, SERVERS = 16 };

static uint64_t keys[ACCOUNTS], servers[ACCOUNTS];

static uint64_t key_of(const tamis_hasher *hasher, unsigned i)
{
    char text[40];
    int size = snprintf(text, sizeof text, "user%u@example.org", i);

    return tamis_hasher_key(hasher, text, (size_t)size);
}

static tamis_status make_map(tamis **map)
{
    tamis_spec spec = TAMIS_SPEC(.keys = ACCOUNTS, .fpr = 0.01, .value_bits = 4);
    tamis_plan plan;
    tamis_status status = tamis_plan_kind(&plan, TAMIS_MAP, &spec);

    return status ? status : tamis_build_map(map, &plan, keys, servers, ACCOUNTS, NULL);
}

/* The first accounts are the closed ones. */
static tamis_status make_cascade(tamis **closed)
{
    tamis_spec spec = TAMIS_SPEC(.keys = CLOSED, .universe = ACCOUNTS);
    tamis_plan plan;
    tamis_status status = tamis_plan_kind(&plan, TAMIS_CASCADE, &spec);

    if (status)
        return status;
    return tamis_build_excluding(closed, &plan, keys, CLOSED, keys + CLOSED, ACCOUNTS - CLOSED,
                                 NULL);
}

static unsigned count_errors(const tamis *map, const tamis *closed)
{
    unsigned errors = 0;

    for (unsigned i = 0; i < ACCOUNTS; i++) {
        uint64_t server;

        errors += !tamis_get(map, &server, keys[i]) || server != servers[i];
        errors += tamis_has(closed, keys[i]) != (i < CLOSED);
    }
    return errors;
}

static unsigned count_unknown(const tamis *map)
{
    unsigned passed = 0;

    for (unsigned i = 0; i < ACCOUNTS; i++) {
        uint64_t server;

        passed += tamis_get(map, &server, tamis_key(map, &i, sizeof i));
    }
    return passed;
}

static double bits_per_key(const tamis *f)
{
    const tamis_plan *plan = tamis_plan_of(f);

    return 8.0 * (double)plan->bytes / (double)plan->capacity;
}

int main(void)
{
    const tamis_hasher hasher = { .hash = TAMIS_FAST };
    tamis *map = NULL, *closed = NULL;

    for (unsigned i = 0; i < ACCOUNTS; i++) {
        keys[i] = key_of(&hasher, i);
        servers[i] = i * 7 % SERVERS;
    }
    tamis_status status = make_map(&map);
    if (!status)
        status = make_cascade(&closed);
    if (status) {
        fprintf(stderr, "lookup: %s\n", tamis_status_text(status));
        return 1;
    }
    unsigned errors = count_errors(map, closed);
    printf("%.2f bits for a server, %.2f for a closed account, %u errors\n", bits_per_key(map),
           bits_per_key(closed), errors);
    printf("%u of %d unknown names were sent to a server\n", count_unknown(map), ACCOUNTS);
    tamis_free(map);
    tamis_free(closed);
    return errors > 0;
}
