/* cmd_kmers.c - tamis kmers: the words of k letters in sequences of DNA, counted.
 *
 * Two numbers of two bits per base roll along a sequence: the word, and its reverse complement.
 * A letter that is no base breaks the sequence, and so does the next record. The key of a word is
 * that of its text, so that other commands find words that are given as lines. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "filters/store.h"
#include "term/message.h"
#include "term/output.h"
#include "term/progress.h"
#include "text/reader.h"

enum { LONGEST = 32, BATCH_KEYS = 4096, PIECE = 1 << 16 };

/* What an input is, told by its first byte. */
typedef enum format { UNKNOWN, FASTA, FASTQ, LINES } format;

/* What a line of FASTQ is. */
typedef enum part { HEADER, SEQUENCE, QUALITY } part;

typedef struct kmers {
    unsigned k;
    bool canonical;
    bool prints;
    const char *out;
    tamis_spec spec;
    uint64_t memory;
    const char *tmp;
    source source;

    const char *input; /* at hand */
    uint64_t input_number, line;
    format format;
    part part;
    uint64_t bases, qualities; /* of a record of FASTQ */

    uint64_t word, complement; /* the latest letters, and those of the other strand */
    unsigned length;           /* letters since the last break, up to k */

    tamis_builder *builder;
    uint64_t n, keys[BATCH_KEYS];
    uint64_t found;
    buffer text; /* to be printed */
} kmers;

/* ---- Words ------------------------------------------------------------- */

static void send_keys(kmers *m)
{
    tamis_status status = tamis_builder_add_many(m->builder, m->keys, (size_t)m->n);

    if (status)
        die_status("build", m->out, status);
    m->n = 0;
}

static void print_words(kmers *m)
{
    output_write(m->text.bytes, m->text.size);
    m->text.size = 0;
}

static void take_word(kmers *m, uint64_t word)
{
    char text[LONGEST + 1];

    for (unsigned i = m->k; i-- > 0; word >>= 2)
        text[i] = "ACGT"[word & 3];
    text[m->k] = '\n';
    m->found++;
    if (m->prints) {
        buffer_append(&m->text, text, m->k + 1);
        if (m->text.size > PIECE)
            print_words(m);
        return;
    }
    m->keys[m->n++] = tamis_hasher_key(&m->spec.hasher, text, m->k);
    if (m->n == BATCH_KEYS)
        send_keys(m);
}

/* 0 to 3 for A, C, G, T; 4: no base. */
static unsigned code_of(char letter)
{
    static const char letters[] = "ACGTacgt";
    const char *at = letter ? strchr(letters, letter) : NULL;

    return at ? (unsigned)(at - letters) & 3 : 4;
}

static void take_letter(kmers *m, char letter)
{
    unsigned code = code_of(letter), top = 2 * (m->k - 1);

    if (code > 3) {
        m->length = 0;
        return;
    }
    m->word = (m->word << 2 | code) & (UINT64_MAX >> (64 - 2 * m->k));
    m->complement = m->complement >> 2 | (uint64_t)(3 - code) << top;
    m->length += m->length < m->k;
    if (m->length == m->k)
        take_word(m, m->canonical && m->complement < m->word ? m->complement : m->word);
}

static void take_letters(kmers *m, span line)
{
    for (size_t i = 0; i < line.size; i++)
        take_letter(m, line.at[i]);
}

/* ---- Records ----------------------------------------------------------- */

static _Noreturn void refuse_line(const kmers *m, const char *why)
{
    die(CODE_USAGE, "kmers: %s, line %" PRIu64 ": %s", m->input, m->line, why);
}

static void recognize(kmers *m, char first)
{
    if (first == '>')
        m->format = FASTA;
    else if (first == '@')
        m->format = FASTQ;
    else if ((first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z'))
        m->format = LINES;
    else
        refuse_line(m, "not FASTA, which begins with >, FASTQ, which begins with @, or letters");
}

static void begin_record(kmers *m)
{
    m->length = 0;
    m->bases = m->qualities = 0;
}

/* Qualities may begin with any letter: only their number tells where they end. */
static void take_quality(kmers *m, span line)
{
    m->qualities += line.size;
    if (m->qualities > m->bases)
        refuse_line(m, "there are more qualities than bases");
    if (m->qualities == m->bases)
        m->part = HEADER;
}

static void take_fastq(kmers *m, span line)
{
    switch (m->part) {
    case HEADER:
        if (line.size && line.at[0] != '@')
            refuse_line(m, "a record of FASTQ begins with @");
        begin_record(m);
        m->part = line.size ? SEQUENCE : HEADER;
        break;
    case SEQUENCE:
        if (line.size && line.at[0] == '+') {
            m->part = m->bases ? QUALITY : HEADER;
            break;
        }
        take_letters(m, line);
        m->bases += line.size;
        break;
    case QUALITY:
        take_quality(m, line);
    }
}

static void take_line(kmers *m, span line)
{
    if (m->format == UNKNOWN && line.size)
        recognize(m, line.at[0]);
    switch (m->format) {
    case UNKNOWN:
        break;
    case FASTA:
        if (line.size && line.at[0] == '>')
            begin_record(m);
        else
            take_letters(m, line);
        break;
    case FASTQ:
        take_fastq(m, line);
        break;
    case LINES:
        begin_record(m);
        take_letters(m, line);
    }
}

static void end_input(kmers *m)
{
    if (m->format == FASTQ && m->part != HEADER)
        refuse_line(m, "the last record is cut off");
    m->format = UNKNOWN;
    m->part = HEADER;
    m->line = 0;
    begin_record(m);
}

/* ---- Inputs ------------------------------------------------------------ */

/* Each line has its end, and blanks before it that are not of it. */
static void take_lines(kmers *m, const buffer *text)
{
    const char *line = text->bytes, *stop = line + text->size, *end;

    for (; line < stop; line = end + 1) {
        end = memchr(line, '\n', (size_t)(stop - line));
        size_t size = (size_t)(end - line);
        while (size > 0 && memchr(" \t\r", line[size - 1], 3))
            size--;
        m->line++;
        take_line(m, (span){ line, size });
    }
}

static void take_inputs(kmers *m)
{
    reader r;
    buffer text = { 0 };

    reader_open(&r, m->source.names, '\n');
    while (reader_has_next(&r, &text)) {
        if (r.inputs != m->input_number)
            end_input(m);
        m->input_number = r.inputs;
        m->input = r.name;
        take_lines(m, &text);
        progress_show(r.done >> 20, r.total >> 20, "MiB");
    }
    progress_erase();
    end_input(m);
    reader_close(&r);
    buffer_free(&text);
}

/* ---- Command ----------------------------------------------------------- */

static void check_options(void *into, const args *a)
{
    const kmers *m = into;

    if (m->k == 0)
        args_refuse(a, "give -k K, the length of a word");
    if (m->prints == (m->out != NULL))
        args_refuse(a, "give either -o FILE or --print");
    if (m->out)
        store_check_target(m->out);
}

static const option_row options[] = {
    { 'o', "output", "FILE", "where to save the filter", TO_TEXT(kmers, out) },
    { 'k', "length", "K", "letters in a word, 1 to 32", TO_COUNT(kmers, k, 1, LONGEST) },
    { 0, "canonical", NULL, "take a word and its reverse complement for one",
      TO_FLAG(kmers, canonical) },
    { 0, "print", NULL, "print the words, one per line, and save nothing", TO_FLAG(kmers, prints) },
    { 'n', "keys", "N", "room for that many different words (default: as many as come)",
      TO_COUNT(kmers, spec.keys, 1, UINT64_C(1) << 50) },
    { 'p', "fpr", "RATE", "share of other words found, and of counts too high; 1e-6 by default",
      TO_FPR(kmers, spec.fpr) },
    { 0, "memory", "SIZE", "memory for words: 512M, 4G (default: what it needs)",
      TO_SIZE(kmers, memory) },
    { 0, "tmp", "DIR", "folder for those that do not fit (default: $TMPDIR or /var/tmp)",
      TO_TEXT(kmers, tmp) },
    { .take = check_options },
};

static void begin_builder(kmers *m)
{
    const tamis_build_options o =
        TAMIS_BUILD_OPTIONS(.memory = m->memory, .threads = m->source.threads, .dir = m->tmp,
                            .progress = store_progress, .ctx = &m->found);
    tamis_status status = tamis_builder_new(&m->builder, TAMIS_CQF, &m->spec, &o);

    if (status == TAMIS_RANGE)
        die(CODE_LIMIT, "kmers: no such filter can be made; give a higher -p or a lower -n");
    if (status)
        die_status("build", m->out, status);
}

static void save(kmers *m)
{
    tamis_plan plan;

    send_keys(m);
    tamis_status status = store_build(m->builder, m->out, &plan);
    if (status)
        die_status("build", m->out, status);
    tamis_builder_free(m->builder);
}

static int run(args *a)
{
    static kmers m = { .spec = TAMIS_SPEC(.fpr = 1e-6) };

    m.source = source_default();
    args_read(a, &m);
    source_inputs(&m.source, args_operands(a, 0, SIZE_MAX, NULL));
    if (!m.prints)
        begin_builder(&m);
    take_inputs(&m);
    if (m.prints)
        print_words(&m);
    buffer_free(&m.text);
    if (m.found && !m.prints)
        save(&m);
    if (!m.found)
        say("no word of %u letters was found%s", m.k, m.prints ? "" : "; nothing was saved");
    return m.found ? CODE_OK : CODE_NOTHING;
}

const command cmd_kmers = { "kmers", help_kmers, options, .run = run };
