/* cmd_kinds.c - tamis kinds: every kind of filter and what it can do. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "term/message.h"
#include "text/abilities.h"
#include "text/json.h"

static int widest(const char *text_of(tamis_kind))
{
    size_t width = 0;

    for (tamis_kind k = tamis_kind_next(TAMIS_NO_KIND); k; k = tamis_kind_next(k))
        if (strlen(text_of(k)) > width)
            width = strlen(text_of(k));
    return (int)width;
}

static void print_table(void)
{
    int name = widest(tamis_kind_name), summary = widest(tamis_kind_summary);

    printf("%-*s  %-*s  %s\n", name, "kind", summary, "what it is", "abilities");
    for (tamis_kind k = tamis_kind_next(TAMIS_NO_KIND); k; k = tamis_kind_next(k)) {
        printf("%-*s  %-*s  ", name, tamis_kind_name(k), summary, tamis_kind_summary(k));
        abilities_print(tamis_kind_can(k));
        putchar('\n');
    }
}

static void print_json(void)
{
    json j = { 0 };

    json_open(&j, NULL, '[');
    for (tamis_kind k = tamis_kind_next(TAMIS_NO_KIND); k; k = tamis_kind_next(k)) {
        json_open(&j, NULL, '{');
        json_text(&j, "kind", tamis_kind_name(k));
        json_count(&j, "number", (uint64_t)k);
        json_text(&j, "summary", tamis_kind_summary(k));
        json_abilities(&j, "abilities", tamis_kind_can(k));
        json_close(&j, '}');
    }
    json_close(&j, ']');
}

static int run(args *a)
{
    bool as_json = false;

    args_read(a, &as_json);
    args_operands(a, 0, 0, "nothing");
    if (as_json)
        print_json();
    else
        print_table();
    return CODE_OK;
}

#define ABILITY_LINE(constant, bit, name, meaning) "  " name ": " meaning "\n"

static const option_row options[] = {
    { 0, "json", NULL, "print JSON", .take = option_flag },
    { 0 },
};

const command cmd_kinds = {
    .name = "kinds",
    .help = help_kinds,
    .list = "\n" TAMIS_ABILITIES(ABILITY_LINE),
    .options = options,
    .run = run,
};
