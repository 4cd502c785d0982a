/* affixes.c - the .aff file of a hunspell dictionary.
 *
 * A line is a keyword and its values. Tables begin with a line that says how many lines follow.
 * Keywords that do not change which words there are, but how they are explained or suggested, are
 * passed over. Flags are numbers here, whatever they are written as. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "affixes.h"
#include "term/array.h"
#include "term/message.h"
#include "term/unicode.h"
#include "text/number.h"
#include "text/reader.h"

enum { FIELDS_MAX = 5, PARTS_MAX = 1000, CONVERTED_MAX = 1 << 20 };

/* What a .aff file may hold: far more than any does, and far less than memory. */
enum { ROWS_MAX = 1 << 20 };

_Noreturn void affixes_refuse(const affixes *a, const char *why)
{
    die(CODE_CORRUPT, "%s, line %" PRIu64 ": %s", a->path, a->line, why);
}

/* For one more thing in an array of a dictionary. */
static void *grown(void *all, size_t n, size_t size)
{
    return array_grown(all, n, size, "rules of a dictionary");
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
    uint32_t flag = a->form == FLAG_NUMBER ? number_flag(a, at, end) : letter_code(at, end);

    if (flag == 0)
        affixes_refuse(a, "0 is no flag");
    if (a->form != FLAG_LONG)
        return flag;
    if (*at == end)
        affixes_refuse(a, "flags have two letters here");
    return flag << 16 | (letter_code(at, end) & 0xFFFF);
}

static flag_set read_flags(affixes *a, const char *at, size_t size)
{
    const char *end = at + size;
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
    uint64_t number;

    if (!a->has_aliases)
        return read_flags(a, text, size);
    if (!number_integer(&number, text, size))
        affixes_refuse(a, "the flags after a slash are no number of a line AF");
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

static const char blanks[] = " \t";

typedef struct fields {
    size_t n;
    char *at[FIELDS_MAX];
} fields;

static fields split(char *line)
{
    fields f = { 0 };

    for (char *rest = line; f.n < FIELDS_MAX && (f.at[f.n] = strtok_r(rest, blanks, &rest)); f.n++)
        ;
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

/* Where the rest of a condition begins: after a letter, a dot for any, or letters in brackets. */
static const char *after_letter(const char *condition)
{
    return *condition == '[' ? strchr(condition, ']') + 1 : condition + utf8_size(condition);
}

static void read_condition(const affixes *a, affix *x, const char *text)
{
    x->condition = text;
    for (; *text; text = after_letter(text), x->letters++)
        if (*text == '[' && !strchr(text, ']'))
            affixes_refuse(a, "a bracket of the condition is not closed");
}

static const char *piece_of(char *text)
{
    return strcmp(text, "0") == 0 ? "" : text;
}

/* SFX A Y 12, or SFX A strip append/flags condition. */
static void take_affix(affixes *a, const fields *f, void *to)
{
    bool is_suffix = f->at[0][0] == 'S';

    (void)to;
    if (f->n < 4)
        affixes_refuse(a, "this affix has too few fields");
    const char *at = f->at[1], *end = at + strlen(at);
    uint32_t flag = next_flag(a, &at, end);
    if (at != end)
        affixes_refuse(a, "an affix has one flag");
    if (a->missing == 0) {
        a->table = is_suffix ? "SFX" : "PFX";
        a->missing = announced(a, f, 3);
        a->head = (affix){ flag, is_suffix, .crosses = f->at[2][0] == 'Y', .condition = "" };
        return;
    }
    if (flag != a->head.flag)
        affixes_refuse(a, "this affix has another flag than the table that it is in");
    affix x = a->head;
    char *flags = f->at[3], *append = strsep(&flags, "/");
    x.strip = piece_of(f->at[2]);
    x.append = piece_of(append);
    if (flags)
        x.next = affixes_flags(a, flags, strlen(flags));
    if (f->n > 4 && strchr(f->at[4], ':') != f->at[4] + 2)
        read_condition(a, &x, f->at[4]);
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

affix_walk affixes_of(const affixes *a, flag_set set, bool is_suffix)
{
    return (affix_walk){ a, set, .wanted.is_suffix = is_suffix, .at = a->n };
}

/* The first one that does not come before the wanted. */
static size_t find_first(const affixes *a, const affix *wanted)
{
    size_t low = 0, high = a->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_affixes(&a->all[middle], wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const affix *affixes_next(affix_walk *w)
{
    const affixes *a = w->a;

    while (w->at == a->n || compare_affixes(&a->all[w->at], &w->wanted) != 0) {
        if (w->set.n-- == 0)
            return NULL;
        w->wanted.flag = a->flags[w->set.first++];
        w->at = find_first(a, &w->wanted);
    }
    return &a->all[w->at++];
}

static bool meets(const char *condition, const char *letter, size_t size)
{
    if (*condition != '[')
        return *condition == '.' || strncmp(condition, letter, size) == 0;
    bool is_negated = *++condition == '^';
    for (condition += is_negated; *condition != ']'; condition += utf8_size(condition))
        if (strncmp(condition, letter, size) == 0)
            return !is_negated;
    return is_negated;
}

bool affixes_allow(const affixes *a, const affix *x, const word *w)
{
    const char *at = w->text, *end = at + w->size, *condition = x->condition;
    size_t strip = strlen(x->strip), size;

    if (strip > w->size || (strip == w->size && !a->full_strip))
        return false;
    if (memcmp(x->is_suffix ? end - strip : at, x->strip, strip) != 0)
        return false;
    at = x->is_suffix ? end : at;
    for (size_t i = 0; x->is_suffix && i < x->letters; i++) {
        if (at == w->text)
            return false;
        at = unicode_before(at, w->text);
    }
    for (; *condition; condition = after_letter(condition), at += size) {
        if (at == end)
            return false;
        unicode_at(at, end, &size);
        if (!meets(condition, at, size))
            return false;
    }
    return true;
}

/* ---- Other tables ------------------------------------------------------ */

static void add_pair(pair_list *list, const char *from, const char *to)
{
    list->all = grown(list->all, list->n, sizeof *list->all);
    list->all[list->n++] = (text_pair){ from, to };
    list->starts[(unsigned char)*from] = true;
}

/* The first line of a table only counts, and others have two texts. */
static void take_pair(affixes *a, const fields *f, void *to)
{
    (void)a;
    if (f->n >= 3)
        add_pair(to, f->at[1], piece_of(f->at[2]));
}

static void take_break(affixes *a, const fields *f, void *to)
{
    bool is_number = f->n > 1 && f->at[1][strspn(f->at[1], "0123456789")] == 0;

    if (f->n > 1 && (a->has_breaks || !is_number))
        add_pair(to, f->at[1], "");
    a->has_breaks = true;
}

static void take_alias(affixes *a, const fields *f, void *to)
{
    (void)to;
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
        f->n > 1 ? read_flags(a, f->at[1], strlen(f->at[1])) : (flag_set){ 0 };
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

static void add_step(affixes *a, rule_step step)
{
    a->steps = grown(a->steps, a->n_steps, sizeof *a->steps);
    a->steps[a->n_steps++] = step;
}

/* The first line only counts. */
static void take_rule(affixes *a, const fields *f, void *to)
{
    bool *has_rules = to;

    if (f->n > 1 && *has_rules) {
        for (const char *at = f->at[1], *end = at + strlen(at); at < end;)
            add_step(a, next_step(a, &at, end));
        add_step(a, (rule_step){ 0 });
    }
    *has_rules = true;
}

static bool is_of_rules(const affixes *a, flag_set set)
{
    for (size_t i = 0; i < a->n_steps; i++)
        if (affixes_has(a, set, a->steps[i].flag))
            return true;
    return false;
}

/* Parts are kept as lines of a keyword of this program, with flags as numbers. */
static void take_part(affixes *a, const fields *f, void *starts)
{
    rule_part part = { .flags.first = a->n_flags };

    if (f->n < 3)
        affixes_refuse(a, "a part of a rule has no flag");
    for (const char *at = f->at[2], *end = at + strlen(at); at < end; at += *at == ',')
        add_flag(a, (uint32_t)strtoul(at, (char **)&at, 10));
    part.flags.n = a->n_flags - part.flags.first;
    part.text = f->at[1];
    ((bool *)starts)[(unsigned char)*part.text] = true;
    a->parts = grown(a->parts, a->n_parts, sizeof *a->parts);
    a->parts[a->n_parts++] = part;
}

void affixes_keep_part(affixes *a, const char *text, flag_set set)
{
    if (!is_of_rules(a, set))
        return;
    if (a->n_parts++ == PARTS_MAX)
        a->unsupported = "COMPOUNDRULE for more than 1000 words";
    if (a->n_parts > PARTS_MAX)
        return;
    buffer_print(&a->kept, "PART %s", text);
    for (size_t i = 0; i < set.n; i++)
        buffer_print(&a->kept, "%c%" PRIu32, i ? ',' : ' ', a->flags[set.first + i]);
    buffer_append(&a->kept, "\n", 1);
}

/* ---- Lines ------------------------------------------------------------- */

static void take_form(affixes *a, const fields *f, void *form)
{
    static const char *const names[] = { "char", "UTF-8", "long", "num", NULL };
    static const flag_form forms[] = { FLAG_LETTER, FLAG_LETTER, FLAG_LONG, FLAG_NUMBER };
    size_t i = 0;

    while (names[i] && (f->n < 2 || strcmp(names[i], f->at[1]) != 0))
        i++;
    if (!names[i])
        affixes_refuse(a, "FLAG is none of char, long, num and UTF-8");
    *(flag_form *)form = forms[i];
}

static void take_set(affixes *a, const fields *f, void *to)
{
    (void)to;
    if (f->n < 2)
        affixes_refuse(a, "SET has no encoding");
    set_encoding(a, f->at[1]);
}

static void take_least(affixes *a, const fields *f, void *least)
{
    uint64_t n;

    if (f->n < 2 || !number_integer(&n, f->at[1], strlen(f->at[1])) || n > WORD_MAX)
        affixes_refuse(a, "COMPOUNDMIN is no number of letters");
    *(size_t *)least = n ? (size_t)n : 1;
}

static void take_text(affixes *a, const fields *f, void *to)
{
    (void)a;
    if (f->n > 1)
        *(const char **)to = f->at[1];
}

static void take_flag(affixes *a, const fields *f, void *to)
{
    const char *at = f->n > 1 ? f->at[1] : NULL;

    if (at)
        *(uint32_t *)to = next_flag(a, &at, at + strlen(at));
}

static void take_fact(affixes *a, const fields *f, void *to)
{
    (void)a;
    (void)f;
    *(bool *)to = true;
}

static void note_keyword(affixes *a, const fields *f, void *to)
{
    (void)a;
    *(const char **)to = f->at[0];
}

/* Lines of a keyword, and where they go. */
typedef struct keyword {
    const char *name;
    void (*take)(affixes *a, const fields *f, void *to);
    size_t at;
    bool is_kept; /* it is needed to check a text */
} keyword;

/* Of those that decide which words there are, all that this program cannot do are noted. The last
 * two are its own. */
static const keyword KEYWORDS[] = {
    { "SFX", take_affix, 0, false },
    { "PFX", take_affix, 0, false },
    { "AF", take_alias, 0, false },
    { "SET", take_set, 0, false },
    { "FLAG", take_form, offsetof(affixes, form), true },
    { "TRY", take_text, offsetof(affixes, try_letters), true },
    { "WORDCHARS", take_text, offsetof(affixes, word_chars), true },
    { "REP", take_pair, offsetof(affixes, replace), true },
    { "ICONV", take_pair, offsetof(affixes, in), true },
    { "OCONV", take_pair, offsetof(affixes, out), true },
    { "BREAK", take_break, offsetof(affixes, breaks), true },
    { "NEEDAFFIX", take_flag, offsetof(affixes, need_affix), false },
    { "PSEUDOROOT", take_flag, offsetof(affixes, need_affix), false },
    { "FORBIDDENWORD", take_flag, offsetof(affixes, forbidden), false },
    { "KEEPCASE", take_flag, offsetof(affixes, keep_case), false },
    { "CIRCUMFIX", take_flag, offsetof(affixes, circumfix), false },
    { "NOSUGGEST", take_flag, offsetof(affixes, no_suggest), false },
    { "ONLYINCOMPOUND", take_flag, offsetof(affixes, only_in_compound), false },
    { "FULLSTRIP", take_fact, offsetof(affixes, full_strip), false },
    { "CHECKSHARPS", take_fact, offsetof(affixes, checks_sharps), true },
    { "COMPOUNDRULE", take_rule, offsetof(affixes, has_rules), true },
    { "COMPOUNDMIN", take_least, offsetof(affixes, part_least), true },
    { "COMPOUNDFLAG", note_keyword, offsetof(affixes, compounding), false },
    { "COMPOUNDBEGIN", note_keyword, offsetof(affixes, compounding), false },
    { "COMPOUNDMIDDLE", note_keyword, offsetof(affixes, compounding), false },
    { "COMPOUNDLAST", note_keyword, offsetof(affixes, compounding), false },
    { "COMPOUNDEND", note_keyword, offsetof(affixes, compounding), false },
    { "COMPLEXPREFIXES", note_keyword, offsetof(affixes, unsupported), false },
    { "IGNORE", note_keyword, offsetof(affixes, unsupported), false },
    { "PART", take_part, offsetof(affixes, part_starts), false },
    { "APOSTROPHES", take_fact, offsetof(affixes, joins_apostrophes), false },
    { 0 },
};

/* A table that was announced goes on until it is whole. */
static void check_table(const affixes *a, const char *name)
{
    if (a->missing && strcmp(name, a->table) != 0)
        die(CODE_CORRUPT,
            "%s, line %" PRIu64 ": %" PRIu64 " more lines %s were announced; is the file cut?",
            a->path, a->line, a->missing, a->table);
}

static void take_line(void *ctx, char *line, size_t size)
{
    affixes *a = ctx;
    size_t indent = strspn(line, blanks);
    const keyword *k = KEYWORDS;

    a->line++;
    if (indent == size || line[indent] == '#' || line[indent] == '\r')
        return;
    span text = affixes_text(a, line + indent, size - indent);
    char *copy = array_new(text.size + 1, 1, "rules of a dictionary");
    a->lines = grown(a->lines, a->n_lines, sizeof *a->lines);
    a->lines[a->n_lines++] = memcpy(copy, text.at, text.size);
    fields f = split(copy);
    if (f.n == 0)
        return;
    check_table(a, f.at[0]);
    while (k->name && strcmp(k->name, f.at[0]) != 0)
        k++;
    if (k->name)
        k->take(a, &f, (char *)a + k->at);
    if (k->is_kept)
        buffer_print(&a->kept, "%s\n", text.at);
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

void affixes_free(affixes *a)
{
    if (a->converter != (iconv_t)-1)
        iconv_close(a->converter);
    for (size_t i = 0; i < a->n_lines; i++)
        free(a->lines[i]);
    free(a->lines);
    free(a->replace.all);
    free(a->in.all);
    free(a->out.all);
    free(a->breaks.all);
    free(a->steps);
    free(a->parts);
    free(a->all);
    free(a->aliases);
    free(a->flags);
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
