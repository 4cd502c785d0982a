/* complete.c - completion, from the tables that options and help come from. */
#include <stdio.h>
#include <string.h>

#include "complete.h"
#include "help.h"
#include "term/message.h"
#include "text/abilities.h"

/* `before` is what stands before the part that is completed: "--kind=", "add,". */
typedef struct typed {
    const char *before, *part;
    size_t before_size;
} typed;

static void offer(const typed *t, const char *word, const char *meaning)
{
    if (strncmp(word, t->part, strlen(t->part)) == 0)
        printf("%.*s%s\t%s\n", (int)t->before_size, t->before, word, meaning);
}

/* ---- Values of options ------------------------------------------------- */

static void offer_kinds(typed t)
{
    for (tamis_kind kind = TAMIS_NO_KIND; (kind = tamis_kind_next(kind));)
        offer(&t, tamis_kind_name(kind), tamis_kind_summary(kind));
}

static void offer_words(typed t, const word_row *words)
{
    for (; words->name; words++)
        offer(&t, words->name, words->meaning);
}

static void offer_abilities(typed t)
{
    const char *comma = strrchr(t.part, ',');

    if (comma) {
        t.part = comma + 1;
        t.before_size = (size_t)(t.part - t.before);
    }
    for (const ability *a = abilities; a->name; a++)
        offer(&t, a->name, a->meaning);
}

static int complete_value(const option_row *o, typed t)
{
    static const char *const FILES[] = { "FILE", "DIR", "OUT" };

    if (o->words)
        offer_words(t, o->words);
    if (o->take == option_kind || strcmp(o->argument, "KIND") == 0)
        offer_kinds(t);
    if (o->take == option_abilities)
        offer_abilities(t);
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        if (strcmp(o->argument, FILES[i]) == 0)
            return CODE_NOTHING;
    return CODE_OK;
}

/* ---- Options ----------------------------------------------------------- */

static bool is_called(const option_row *o, const char *word, size_t size)
{
    if (size == 2 && word[0] == '-' && o->letter)
        return word[1] == o->letter;
    return size > 2 && memcmp(word, "--", 2) == 0 && strlen(o->name) == size - 2 &&
           memcmp(o->name, word + 2, size - 2) == 0;
}

/* The option of that name that takes an argument, or NULL. */
static const option_row *find_taker(const command *c, const char *word, size_t size)
{
    const option_row *o;

    for (size_t i = 0; (o = command_option(c, i)); i++)
        if (o->argument && o->argument[0] != '[' && is_called(o, word, size))
            break;
    return o;
}

static void offer_options(const command *c, const typed *t)
{
    char name[64];
    const option_row *o;

    for (size_t i = 0; (o = command_option(c, i)); i++) {
        snprintf(name, sizeof name, "--%s", o->name);
        offer(t, name, option_help(o));
    }
    for (size_t i = 0; t->part[1] != '-' && (o = command_option(c, i)); i++)
        if (o->letter) {
            snprintf(name, sizeof name, "-%c", o->letter);
            offer(t, name, option_help(o));
        }
}

static int complete_option(const command *c, const char *word)
{
    const char *equals = strchr(word, '=');
    const option_row *taker = equals ? find_taker(c, word, (size_t)(equals - word)) : NULL;

    if (taker)
        return complete_value(taker, (typed){ word, equals + 1, (size_t)(equals + 1 - word) });
    offer_options(c, &(typed){ word, word, 0 });
    return CODE_OK;
}

/* ---- Words ------------------------------------------------------------- */

static void offer_commands(const typed *t, const command *const *commands)
{
    for (; *commands; commands++)
        offer(t, (*commands)->name, help_summary((*commands)->help));
}

static int complete_help(const command *const *commands, const char *word)
{
    typed t = { word, word, 0 };

    offer_commands(&t, commands);
    for (const topic *about = topics; about->name; about++)
        offer(&t, about->name, about->summary);
    offer(&t, "--all", "repeat what all commands share, or list them all");
    return CODE_OK;
}

static int complete_command(const command *const *commands, const char *word)
{
    typed t = { word, word, 0 };

    offer_commands(&t, commands);
    offer(&t, "help", "show what a command does");
    offer(&t, "--help", "show the commands");
    offer(&t, "--version", "show the version");
    return CODE_OK;
}

/* One of these, or else the name of a file. */
static int complete_verb(const command *c, const char *word)
{
    size_t size = strlen(word), length;
    int code = CODE_NOTHING;

    for (const char *verb = c->verbs; *verb; verb += length + (verb[length] == ' ')) {
        length = strcspn(verb, " ");
        if (size <= length && strncmp(verb, word, size) == 0) {
            printf("%.*s\t%s\n", (int)length, verb, help_summary(c->help));
            code = CODE_OK;
        }
    }
    return code;
}

int complete_print(const command *const *commands, char **words)
{
    const command *c = NULL;
    size_t last = 0;

    while (words[last] && words[last + 1])
        last++;
    if (!words[0] || last == 0)
        return complete_command(commands, words[0] ? words[0] : "");
    if (strcmp(words[0], "help") == 0)
        return complete_help(commands, words[last]);
    for (size_t i = 0; commands[i] && !c; i++)
        if (strcmp(commands[i]->name, words[0]) == 0)
            c = commands[i];
    if (c && c->part && last > 1)
        c = c->part(words[1]) ? c->part(words[1]) : c;
    const char *word = words[last], *previous = words[last - 1];
    const option_row *taker = c && last > 1 ? find_taker(c, previous, strlen(previous)) : NULL;
    if (taker)
        return complete_value(taker, (typed){ word, word, 0 });
    if (c && word[0] == '-')
        return complete_option(c, word);
    return c && c->verbs && last == 1 ? complete_verb(c, word) : CODE_NOTHING;
}
