/* affixes.c - the .aff file of a hunspell dictionary.
 *
 * A line is a keyword and its values. Tables begin with a line that says how many lines follow.
 * Keywords that do not change which words there are, but how they are explained or suggested, are
 * passed over. Flags are numbers here, whatever they are written as. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "affixes.h"
#include "term/message.h"
#include "term/unicode.h"
#include "text/number.h"
#include "text/reader.h"

enum { FIELDS_MAX = 6, PARTS_MAX = 1000, CONVERTED_MAX = 1 << 20 };

/* What a .aff file may hold: far more than any does, and far less than memory. */
enum { ROWS_MAX = 1 << 20 };

_Noreturn void affixes_refuse(const affixes *a, const char *why)
{
    die(CODE_CORRUPT, "%s, line %" PRIu64 ": %s", a->path, a->line, why);
}

static void *grown(void *rows, size_t n, size_t size)
{
    if (n > 0 && (n & (n - 1)) != 0)
        return rows;
    void *more = realloc(rows, (n ? 2 * n : 1) * size);
    if (!more)
        die(CODE_MEMORY, "out of memory for the rules of a dictionary");
    return more;
}

static char *copied(const char *text, size_t size)
{
    char *copy = malloc(size + 1);

    if (!copy)
        die(CODE_MEMORY, "out of memory for the rules of a dictionary");
    memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

/* ---- Encodings --------------------------------------------------------- */

static void check_utf8(const affixes *a, span text)
{
    for (size_t at = 0, size; at < text.size; at += size)
        if (!(size = utf8_size(text.at + at)) || text.at[at] == 0)
            affixes_refuse(a, text.at[at] ? "this is not UTF-8; is the line SET of the .aff right?"
                                          : "there is a NUL byte");
}

static span convert_line(affixes *a, char *line, size_t size)
{
    buffer *out = &a->converted;

    out->size = 0;
    buffer_reserve(out, 4 * size + 1);
    char *to = out->bytes;
    size_t room = 4 * size;
    iconv(a->converter, NULL, NULL, NULL, NULL);
    if (iconv(a->converter, &line, &size, &to, &room) == (size_t)-1)
        die(CODE_CORRUPT, "%s, line %" PRIu64 ": this is not %s, as the line SET of the .aff says",
            a->path, a->line, a->encoding);
    *to = 0;
    return (span){ out->bytes, (size_t)(to - out->bytes) };
}

span affixes_text(affixes *a, char *line, size_t size)
{
    if (size && line[size - 1] == '\r')
        line[--size] = 0;
    if (a->line == 1 && size >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0) {
        line += 3;
        size -= 3;
    }
    if (size > CONVERTED_MAX)
        affixes_refuse(a, "this line is longer than any of a dictionary; is this another file?");
    span text = { line, size };
    if (a->converter != (iconv_t)-1)
        text = convert_line(a, line, size);
    check_utf8(a, text);
    return text;
}

static void set_encoding(affixes *a, const char *name)
{
    if (a->converter != (iconv_t)-1)
        iconv_close(a->converter);
    a->converter = (iconv_t)-1;
    if (strcasecmp(name, "UTF-8") == 0)
        return;
    if (strlen(name) >= sizeof a->encoding)
        affixes_refuse(a, "no encoding has such a name");
    strcpy(a->encoding, name);
    a->converter = iconv_open("UTF-8", strncmp(name, "microsoft-", 10) == 0 ? name + 10 : name);
    if (a->converter == (iconv_t)-1)
        die(CODE_CORRUPT, "%s, line %" PRIu64 ": this system knows no encoding '%s'", a->path,
            a->line, name);
}

/* ---- Flags ------------------------------------------------------------- */

static void add_flag(affixes *a, uint32_t flag)
{
    if (flag == 0)
        affixes_refuse(a, "0 is no flag");
    a->flags = grown(a->flags, a->n_flags, sizeof *a->flags);
    a->flags[a->n_flags++] = flag;
}

static uint32_t letter_code(const char **at, const char *end)
{
    size_t size;
    uint32_t letter = unicode_at(*at, end, &size);

    *at += size;
    return letter;
}

static uint32_t number_flag(const affixes *a, const char **at, const char *end)
{
    uint32_t flag = 0;

    if (*at == end || **at < '0' || **at > '9')
        affixes_refuse(a, "flags are numbers here, with commas between them");
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
        if ((flag = 10 * flag + (uint32_t)(**at - '0')) > 65535)
            affixes_refuse(a, "no flag is above 65535");
    return flag;
}

/* One flag, as it is written. */
static uint32_t next_flag(const affixes *a, const char **at, const char *end)
{
    if (a->form == FLAG_NUMBER)
        return number_flag(a, at, end);
    uint32_t flag = letter_code(at, end);
    if (a->form == FLAG_LETTER)
        return flag;
    if (*at == end)
        affixes_refuse(a, "flags have two letters here");
    return flag << 16 | (letter_code(at, end) & 0xFFFF);
}

static flag_set read_flags(affixes *a, const char *at, const char *end)
{
    flag_set set = { .first = a->n_flags };

    while (at < end) {
        add_flag(a, next_flag(a, &at, end));
        if (a->form == FLAG_NUMBER && at < end && *at++ != ',')
            affixes_refuse(a, "flags are numbers here, with commas between them");
    }
    set.n = a->n_flags - set.first;
    return set;
}

flag_set affixes_flags(affixes *a, const char *text, size_t size)
{
    uint64_t number = 0;

    if (!a->has_aliases)
        return read_flags(a, text, text + size);
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || number > ROWS_MAX)
            affixes_refuse(a, "the flags after a slash are no number of a line AF");
        number = 10 * number + (uint64_t)(text[i] - '0');
    }
    if (number == 0 || number > a->n_aliases)
        affixes_refuse(a, "there is no line AF of that number");
    return a->aliases[number - 1];
}

bool affixes_has(const affixes *a, flag_set set, uint32_t flag)
{
    for (size_t i = 0; i < set.n; i++)
        if (a->flags[set.first + i] == flag)
            return flag != 0;
    return false;
}

/* ---- Fields ------------------------------------------------------------ */

typedef struct fields {
    size_t n;
    char *at[FIELDS_MAX];
    char *rest; /* from the second field on, with all blanks */
} fields;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static fields split(char *line)
{
    fields f = { 0 };

    while (f.n < FIELDS_MAX) {
        while (is_blank(*line))
            line++;
        if (!*line)
            break;
        if (f.n == 1)
            f.rest = line;
        f.at[f.n++] = line;
        while (*line && !is_blank(*line))
            line++;
        if (!*line)
            break;
        *line++ = 0;
    }
    return f;
}

static uint64_t announced(const affixes *a, const fields *f, size_t i)
{
    uint64_t n;

    if (f->n <= i || !number_integer(&n, f->at[i], strlen(f->at[i])))
        affixes_refuse(a, "the number of lines that follow is missing");
    if (n > ROWS_MAX)
        die(CODE_LIMIT, "%s, line %" PRIu64 ": more than %d lines of one table", a->path, a->line,
            ROWS_MAX);
    return n;
}

/* ---- Prefixes and suffixes --------------------------------------------- */

static void add_condition(affixes *a, condition c)
{
    a->conditions = grown(a->conditions, a->n_conditions, sizeof *a->conditions);
    a->conditions[a->n_conditions++] = c;
}

/* A letter, a dot for any, or letters in brackets. */
static void read_conditions(affixes *a, affix *x, const char *text)
{
    const char *end = text + strlen(text);

    x->first_condition = a->n_conditions;
    for (size_t size; text < end; text += size) {
        condition c = { 0 };

        if (*text == '[') {
            const char *close = strchr(text + 2 <= end ? text + 1 : end, ']');
            if (!close)
                affixes_refuse(a, "a bracket of the condition is not closed");
            size = (size_t)(close + 1 - text);
            c.is_negated = text[1] == '^';
            c.letters = copied(text + 1 + c.is_negated, size - 2 - c.is_negated);
        } else {
            unicode_at(text, end, &size);
            c.is_any = *text == '.';
            c.letters = copied(text, size);
        }
        add_condition(a, c);
    }
    x->n_conditions = a->n_conditions - x->first_condition;
}

static char *piece_of(const char *text, size_t size, size_t *out)
{
    *out = size == 1 && *text == '0' ? 0 : size;
    return copied(text, *out);
}

/* SFX A Y 12, or SFX A strip append/flags condition. */
static void take_affix(affixes *a, const fields *f)
{
    bool is_suffix = f->at[0][0] == 'S';

    if (f->n < 4)
        affixes_refuse(a, "this affix has too few fields");
    const char *at = f->at[1], *end = at + strlen(at);
    uint32_t flag = next_flag(a, &at, end);
    if (at != end)
        affixes_refuse(a, "an affix has one flag");
    if (a->missing == 0) {
        a->table = is_suffix ? "SFX" : "PFX";
        a->missing = announced(a, f, 3);
        a->head = (affix){ .flag = flag, .is_suffix = is_suffix, .crosses = f->at[2][0] == 'Y' };
        return;
    }
    if (flag != a->head.flag)
        affixes_refuse(a, "this affix has another flag than the table that it is in");
    affix x = a->head;
    size_t size = strcspn(f->at[3], "/");
    x.strip = piece_of(f->at[2], strlen(f->at[2]), &x.strip_size);
    x.append = piece_of(f->at[3], size, &x.append_size);
    if (f->at[3][size])
        x.next = affixes_flags(a, f->at[3] + size + 1, strlen(f->at[3] + size + 1));
    if (f->n > 4 && strchr(f->at[4], ':') != f->at[4] + 2)
        read_conditions(a, &x, f->at[4]);
    a->all = grown(a->all, a->n, sizeof *a->all);
    a->all[a->n++] = x;
    a->missing--;
}

static int compare_affixes(const void *left, const void *right)
{
    const affix *a = left, *b = right;

    if (a->is_suffix != b->is_suffix)
        return a->is_suffix - b->is_suffix;
    return (a->flag > b->flag) - (a->flag < b->flag);
}

size_t affixes_find(const affixes *a, bool is_suffix, uint32_t flag, size_t *first)
{
    const affix wanted = { .flag = flag, .is_suffix = is_suffix };
    size_t low = 0, high = a->n, n = 0;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_affixes(&a->all[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (low + n < a->n && compare_affixes(&a->all[low + n], &wanted) == 0)
        n++;
    return n;
}

static bool meets(const condition *c, const char *letter, size_t size)
{
    if (c->is_any)
        return true;
    for (const char *at = c->letters, *end = at + strlen(at); at < end;) {
        size_t other;

        unicode_at(at, end, &other);
        if (other == size && memcmp(at, letter, size) == 0)
            return !c->is_negated;
        at += other;
    }
    return c->is_negated;
}

bool affixes_allow(const affixes *a, const affix *x, const word *w)
{
    const char *at = w->text, *end = at + w->size;

    if (x->strip_size > w->size || (x->strip_size == w->size && !a->full_strip))
        return false;
    if (memcmp(x->is_suffix ? end - x->strip_size : at, x->strip, x->strip_size) != 0)
        return false;
    if (x->is_suffix) {
        at = end;
        for (size_t i = 0; i < x->n_conditions; i++) {
            if (at == w->text)
                return false;
            at = unicode_before(at, w->text);
        }
    }
    for (size_t i = 0, size; i < x->n_conditions; i++, at += size) {
        if (at == end)
            return false;
        unicode_at(at, end, &size);
        if (!meets(&a->conditions[x->first_condition + i], at, size))
            return false;
    }
    return true;
}

/* ---- Other tables ------------------------------------------------------ */

static void add_pair(pair_list *list, const char *from, const char *to)
{
    list->all = grown(list->all, list->n, sizeof *list->all);
    list->all[list->n++] = (text_pair){ copied(from, strlen(from)), copied(to, strlen(to)) };
    list->starts[(unsigned char)*from] = true;
}

/* The first line of a table only counts, and others have two texts. */
static void take_pair(pair_list *list, const fields *f)
{
    if (f->n >= 3)
        add_pair(list, f->at[1], strcmp(f->at[2], "0") == 0 ? "" : f->at[2]);
}

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == 0;
}

static void take_break(affixes *a, const fields *f)
{
    if (f->n > 1 && (a->has_breaks || !is_number(f->at[1])))
        add_pair(&a->breaks, f->at[1], "");
    a->has_breaks = true;
}

static void take_alias(affixes *a, const fields *f)
{
    if (!a->has_aliases) {
        a->table = "AF";
        a->missing = announced(a, f, 1);
        a->has_aliases = true;
        return;
    }
    if (a->missing == 0)
        affixes_refuse(a, "there are more lines AF than the first one says");
    a->aliases = grown(a->aliases, a->n_aliases, sizeof *a->aliases);
    a->aliases[a->n_aliases++] =
        f->n > 1 ? read_flags(a, f->at[1], f->at[1] + strlen(f->at[1])) : (flag_set){ 0 };
    a->missing--;
}

/* ---- Rules for words put together -------------------------------------- */

static rule_step next_step(const affixes *a, const char **at, const char *end)
{
    bool is_closed = **at == '(';
    rule_step step = { 0 };

    *at += is_closed;
    step.flag = *at < end ? next_flag(a, at, end) : 0;
    if (is_closed && (*at == end || *(*at)++ != ')'))
        affixes_refuse(a, "a parenthesis of the rule is not closed");
    if (*at < end && (**at == '*' || **at == '?'))
        step.repeat = *(*at)++;
    return step;
}

static void take_rule(affixes *a, const fields *f)
{
    rule r = { 0 };

    if (f->n < 2 || !a->has_rules) {
        a->has_rules = true; /* the first line only counts */
        return;
    }
    for (const char *at = f->at[1], *end = at + strlen(at); at < end;) {
        r.steps = grown(r.steps, r.n, sizeof *r.steps);
        r.steps[r.n++] = next_step(a, &at, end);
    }
    a->rules = grown(a->rules, a->n_rules, sizeof *a->rules);
    a->rules[a->n_rules++] = r;
}

static bool is_of_rules(const affixes *a, flag_set set)
{
    for (size_t i = 0; i < a->n_rules; i++)
        for (size_t k = 0; k < a->rules[i].n; k++)
            if (affixes_has(a, set, a->rules[i].steps[k].flag))
                return true;
    return false;
}

/* Parts are kept as lines of a keyword of this program, with flags as numbers. */
static void take_part(affixes *a, const fields *f)
{
    rule_part part = { .flags.first = a->n_flags };

    if (f->n < 3)
        affixes_refuse(a, "a part of a rule has no flag");
    for (const char *at = f->at[2], *end = at + strlen(at); at < end; at += *at == ',')
        add_flag(a, (uint32_t)strtoul(at, (char **)&at, 10));
    part.flags.n = a->n_flags - part.flags.first;
    part.text = copied(f->at[1], strlen(f->at[1]));
    a->part_starts[(unsigned char)part.text[0]] = true;
    a->parts = grown(a->parts, a->n_parts, sizeof *a->parts);
    a->parts[a->n_parts++] = part;
}

void affixes_keep_part(affixes *a, const char *text, flag_set set)
{
    char number[16];

    if (!is_of_rules(a, set))
        return;
    if (a->n_parts++ == PARTS_MAX)
        a->unsupported = "COMPOUNDRULE for more than 1000 words";
    if (a->n_parts > PARTS_MAX)
        return;
    buffer_append(&a->kept, "PART ", 5);
    buffer_append(&a->kept, text, strlen(text));
    for (size_t i = 0; i < set.n; i++) {
        snprintf(number, sizeof number, "%c%" PRIu32, i ? ',' : ' ', a->flags[set.first + i]);
        buffer_append(&a->kept, number, strlen(number));
    }
    buffer_append(&a->kept, "\n", 1);
}

/* ---- Lines ------------------------------------------------------------- */

static void take_form(affixes *a, const fields *f)
{
    const char *name = f->n > 1 ? f->at[1] : "";

    if (strcmp(name, "long") == 0)
        a->form = FLAG_LONG;
    else if (strcmp(name, "num") == 0)
        a->form = FLAG_NUMBER;
    else if (strcmp(name, "UTF-8") != 0 && strcmp(name, "char") != 0)
        affixes_refuse(a, "FLAG is none of char, long, num and UTF-8");
}

static void take_set(affixes *a, const fields *f)
{
    if (f->n < 2)
        affixes_refuse(a, "SET has no encoding");
    set_encoding(a, f->at[1]);
}

static void take_least(affixes *a, const fields *f)
{
    uint64_t n;

    if (f->n < 2 || !number_integer(&n, f->at[1], strlen(f->at[1])) || n > WORD_MAX)
        affixes_refuse(a, "COMPOUNDMIN is no number of letters");
    a->part_least = n ? (size_t)n : 1;
}

static void take_text(char **to, const fields *f)
{
    if (f->n < 2)
        return;
    free(*to);
    *to = copied(f->at[1], strlen(f->at[1]));
}

/* Keywords of one flag, and where it goes. */
static uint32_t *flag_of(affixes *a, const char *keyword)
{
    const struct {
        const char *name;
        uint32_t *flag;
    } rows[] = {
        { "NEEDAFFIX", &a->need_affix },
        { "PSEUDOROOT", &a->need_affix },
        { "FORBIDDENWORD", &a->forbidden },
        { "KEEPCASE", &a->keep_case },
        { "CIRCUMFIX", &a->circumfix },
        { "NOSUGGEST", &a->no_suggest },
        { "ONLYINCOMPOUND", &a->only_in_compound },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, keyword) == 0)
            return rows[i].flag;
    return NULL;
}

static const char *one_of(const char *const *names, const char *keyword)
{
    for (; *names; names++)
        if (strcmp(*names, keyword) == 0)
            return *names;
    return NULL;
}

/* Those that this program cannot do, and that decide which words there are. */
static void note_unsupported(affixes *a, const char *keyword)
{
    static const char *const compounding[] = { "COMPOUNDFLAG",   "COMPOUNDBEGIN", "COMPOUNDLAST",
                                               "COMPOUNDMIDDLE", "COMPOUNDEND",   NULL };
    static const char *const others[] = { "COMPLEXPREFIXES", "IGNORE", NULL };
    const char *name = one_of(others, keyword);

    if (name)
        a->unsupported = name;
    if ((name = one_of(compounding, keyword)))
        a->compounding = name;
}

/* What is needed to check a text. */
static bool is_kept(const char *keyword)
{
    static const char *const names[] = { "FLAG",        "TRY",         "WORDCHARS", "REP",
                                         "ICONV",       "OCONV",       "BREAK",     "COMPOUNDRULE",
                                         "COMPOUNDMIN", "CHECKSHARPS", NULL };

    return one_of(names, keyword);
}

static void take_fields(affixes *a, const fields *f)
{
    const char *keyword = f->at[0];
    uint32_t *flag = flag_of(a, keyword);

    if (flag && f->n > 1) {
        const char *at = f->at[1];
        *flag = next_flag(a, &at, at + strlen(at));
    } else if (strcmp(keyword, "SFX") == 0 || strcmp(keyword, "PFX") == 0)
        take_affix(a, f);
    else if (strcmp(keyword, "AF") == 0)
        take_alias(a, f);
    else if (strcmp(keyword, "SET") == 0)
        take_set(a, f);
    else if (strcmp(keyword, "FLAG") == 0)
        take_form(a, f);
    else if (strcmp(keyword, "TRY") == 0)
        take_text(&a->try_letters, f);
    else if (strcmp(keyword, "WORDCHARS") == 0)
        take_text(&a->word_chars, f);
    else if (strcmp(keyword, "REP") == 0)
        take_pair(&a->replace, f);
    else if (strcmp(keyword, "ICONV") == 0)
        take_pair(&a->in, f);
    else if (strcmp(keyword, "OCONV") == 0)
        take_pair(&a->out, f);
    else if (strcmp(keyword, "BREAK") == 0)
        take_break(a, f);
    else if (strcmp(keyword, "COMPOUNDRULE") == 0)
        take_rule(a, f);
    else if (strcmp(keyword, "COMPOUNDMIN") == 0)
        take_least(a, f);
    else if (strcmp(keyword, "PART") == 0)
        take_part(a, f);
    else if (strcmp(keyword, "FULLSTRIP") == 0)
        a->full_strip = true;
    else if (strcmp(keyword, "APOSTROPHES") == 0)
        a->joins_apostrophes = true;
    else if (strcmp(keyword, "CHECKSHARPS") == 0)
        a->checks_sharps = true;
    else
        note_unsupported(a, keyword);
}

/* A table that was announced goes on until it is whole. */
static void check_table(affixes *a, const char *keyword)
{
    if (a->missing && strcmp(keyword, a->table) != 0)
        die(CODE_CORRUPT,
            "%s, line %" PRIu64 ": %" PRIu64 " more lines %s were announced; is the file cut?",
            a->path, a->line, a->missing, a->table);
}

static void take_line(void *ctx, char *line, size_t size)
{
    affixes *a = ctx;

    a->line++;
    while (size && is_blank(*line)) {
        line++;
        size--;
    }
    if (size == 0 || *line == '#' || *line == '\r')
        return;
    span text = affixes_text(a, line, size);
    buffer copy = { 0 };
    buffer_append(&copy, text.at, text.size + 1);
    fields f = split(copy.bytes);
    if (f.n) {
        check_table(a, f.at[0]);
        take_fields(a, &f);
        if (is_kept(f.at[0])) {
            buffer_append(&a->kept, text.at, text.size);
            buffer_append(&a->kept, "\n", 1);
        }
    }
    buffer_free(&copy);
}

static void take_end(affixes *a)
{
    static const char *const usual[] = { "-", "^-", "-$" };

    check_table(a, "");
    for (size_t i = 0; !a->has_breaks && i < 3; i++)
        add_pair(&a->breaks, usual[i], "");
    if (a->n)
        qsort(a->all, a->n, sizeof *a->all, compare_affixes);
}

static affixes begun(const char *path)
{
    return (affixes){ .path = path, .converter = (iconv_t)-1, .part_least = 3 };
}

void affixes_read(affixes *a, const char *path)
{
    *a = begun(path);
    set_encoding(a, "ISO8859-1");
    reader_each_line(path, take_line, a);
    a->line++;
    take_end(a);
}

void affixes_parse(affixes *a, const char *path, char *text, size_t size)
{
    char *end = text + size;

    *a = begun(path);
    for (char *stop; text < end; text = stop + 1) {
        stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop)
            affixes_refuse(a, "the settings of the dictionary are cut");
        *stop = 0;
        take_line(a, text, (size_t)(stop - text));
    }
    take_end(a);
    buffer_free(&a->kept);
}

void affixes_none(affixes *a, const char *path)
{
    static const char apostrophes[] = "APOSTROPHES\n"; /* a keyword of this program */

    *a = begun(path);
    take_end(a);
    buffer_append(&a->kept, apostrophes, sizeof apostrophes - 1);
}

static void free_pairs(pair_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->all[i].from);
        free(list->all[i].to);
    }
    free(list->all);
}

void affixes_free(affixes *a)
{
    if (a->converter != (iconv_t)-1)
        iconv_close(a->converter);
    for (size_t i = 0; i < a->n; i++) {
        free(a->all[i].strip);
        free(a->all[i].append);
    }
    for (size_t i = 0; i < a->n_conditions; i++)
        free(a->conditions[i].letters);
    for (size_t i = 0; i < a->n_rules; i++)
        free(a->rules[i].steps);
    for (size_t i = 0; i < a->n_parts && a->parts; i++)
        free(a->parts[i].text);
    free_pairs(&a->replace);
    free_pairs(&a->in);
    free_pairs(&a->out);
    free_pairs(&a->breaks);
    free(a->rules);
    free(a->parts);
    free(a->conditions);
    free(a->all);
    free(a->aliases);
    free(a->flags);
    free(a->word_chars);
    free(a->try_letters);
    buffer_free(&a->converted);
    buffer_free(&a->kept);
}

/* ---- Conversion -------------------------------------------------------- */

static const text_pair *longest_at(const pair_list *pairs, const char *at)
{
    const text_pair *best = NULL;
    size_t size = 0;

    if (!pairs->starts[(unsigned char)*at])
        return NULL;
    for (size_t i = 0; i < pairs->n; i++) {
        size_t other = strlen(pairs->all[i].from);
        if (other > size && strncmp(at, pairs->all[i].from, other) == 0) {
            best = &pairs->all[i];
            size = other;
        }
    }
    return best;
}

bool affixes_convert(const pair_list *pairs, word *w)
{
    size_t first = 0;
    word out;

    while (first < w->size && !pairs->starts[(unsigned char)w->text[first]])
        first++;
    if (first == w->size)
        return true;
    word_set(&out, w->text, first);
    for (size_t at = first; at < w->size;) {
        const text_pair *p = longest_at(pairs, w->text + at);
        bool fits =
            p ? word_append(&out, p->to, strlen(p->to)) : word_append(&out, w->text + at, 1);

        if (!fits)
            return false;
        at += p ? strlen(p->from) : 1;
    }
    *w = out;
    return true;
}
