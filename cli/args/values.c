/* values.c - the values of options, by their types. */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "term/message.h"
#include "text/abilities.h"
#include "text/nearest.h"
#include "text/number.h"

void args_refuse_value(const args *a, const char *expected)
{
    die(CODE_USAGE, "%s: --%s '%s' is not %s", a->command->name, a->option->name, a->value,
        expected);
}

uint64_t args_count(const args *a, uint64_t min, uint64_t max)
{
    char expected[120];
    uint64_t value;

    if (number_count(&value, a->value) && value >= min && value <= max)
        return value;
    snprintf(expected, sizeof expected,
             "a number from %" PRIu64 " to %" PRIu64 "; write it as 1000, 1e9 or 10M", min, max);
    args_refuse_value(a, expected);
}

uint64_t args_bytes(const args *a)
{
    uint64_t value;

    if (number_bytes(&value, a->value) && value > 0)
        return value;
    args_refuse_value(a,
                      "a size from 1 to 18446744073709551615 bytes; write it as 4096, 64K or 1G");
}

double args_share(const args *a, double least, double most)
{
    char expected[80];
    double value;

    if (number_share(&value, a->value) && value >= least && value <= most)
        return value;
    snprintf(expected, sizeof expected, "a share from %g to %g; write it as %s", least, most,
             least < 1e-3 && least > 0 ? "0.001 or 1e-4" : "0.02 or 2%");
    args_refuse_value(a, expected);
}

static const char *kind_at(const void *ctx, size_t i)
{
    tamis_kind kind = tamis_kind_next(TAMIS_NO_KIND);

    (void)ctx;
    while (kind && i--)
        kind = tamis_kind_next(kind);
    return tamis_kind_name(kind);
}

tamis_kind args_kind(const args *a)
{
    char hint[HINT_SIZE];
    tamis_kind kind;

    if (!tamis_kind_find(&kind, a->value))
        die(CODE_USAGE, "%s: no kind is called '%s'; 'tamis kinds' lists them.%s", a->command->name,
            a->value, nearest_hint(hint, a->value, kind_at, NULL));
    return kind;
}

int args_word(const args *a, const word_row *words)
{
    char expected[200] = "";
    size_t size = 0;

    for (const word_row *w = words; w->name; w++)
        if (strcmp(a->value, w->name) == 0)
            return w->value;
    for (const word_row *w = words; w->name; w++)
        size += (size_t)snprintf(expected + size, sizeof expected - size, "%s%s", w->name,
                                 !w[1].name  ? ""
                                 : w[2].name ? ", "
                                             : " or ");
    args_refuse_value(a, expected);
}

/* ---- Types ------------------------------------------------------------- */

void option_flag(void *into, const args *a)
{
    (void)a;
    *(bool *)into = true;
}

/* Into an unsigned integer, or an enum. */
static void store_number(void *into, size_t size, uint64_t value)
{
    if (size == sizeof(uint8_t))
        *(uint8_t *)into = (uint8_t)value;
    else if (size == sizeof(uint32_t))
        *(uint32_t *)into = (uint32_t)value;
    else
        *(uint64_t *)into = value;
}

void option_constant(void *into, const args *a)
{
    store_number(into, a->option->size, a->option->min);
}

void option_text(void *into, const args *a)
{
    *(const char **)into = a->value;
}

void option_count(void *into, const args *a)
{
    const option_row *o = a->option;

    store_number(into, o->size, args_count(a, o->min, o->max));
}

void option_size(void *into, const args *a)
{
    *(uint64_t *)into = args_bytes(a);
}

void option_memory(void *into, const args *a)
{
    uint64_t bytes = args_bytes(a);

    *(size_t *)into = bytes < SIZE_MAX / 2 ? (size_t)bytes : SIZE_MAX / 2;
}

void option_integer(void *into, const args *a)
{
    if (!number_integer(into, a->value, strlen(a->value)))
        args_refuse_value(a, "an integer from 0 to 18446744073709551615; write it as 42 or 0x2a");
}

void option_fpr(void *into, const args *a)
{
    double value;

    /* Written so that NaN fails. */
    if (!(number_share(&value, a->value) && value >= 0x1p-64 && value < 1))
        args_refuse_value(a, "a false positive rate from 2^-64 (5.4e-20) to below 1; write it as "
                             "0.01, 1% or 1e-3");
    *(double *)into = value;
}

void option_share(void *into, const args *a)
{
    *(double *)into = args_share(a, a->option->least, a->option->most);
}

void option_cost(void *into, const args *a)
{
    cost_value *cost = into;

    if (!(number_cost(&cost->value, &cost->is_time, a->value) && cost->value >= 0 &&
          cost->value <= 1e12))
        args_refuse_value(a, "a cost from 0 to 1e12; write it as 500ms, 1us or 0.02");
}

void option_word(void *into, const args *a)
{
    store_number(into, a->option->size, (uint64_t)args_word(a, a->option->words));
}

void option_stats(void *into, const args *a)
{
    static const word_row forms[] = { { "json", STATS_JSON, "as JSON" }, { 0 } };

    *(stats_form *)into = a->value ? (stats_form)args_word(a, forms) : STATS_TEXT;
}

void option_kind(void *into, const args *a)
{
    *(tamis_kind *)into = args_kind(a);
}

void option_abilities(void *into, const args *a)
{
    char expected[400] = "a list of abilities; choose from ";
    size_t size = strlen(expected);
    unsigned can;

    if (!abilities_parse(&can, a->value)) {
        for (const ability *b = abilities; b->name; b++)
            size += (size_t)snprintf(expected + size, sizeof expected - size, "%s%s", b->name,
                                     b[1].name ? "," : "");
        args_refuse_value(a, expected);
    }
    *(unsigned *)into |= can;
}
