/* csv.h - records with quoted fields, as RFC 4180 has them. */
#ifndef TAMIS_CLI_TEXT_CSV_H
#define TAMIS_CLI_TEXT_CSV_H

#include "term/buffer.h"

/* A field that starts with a quote ends at the next one that stands alone: two of them are a quote
 * in the field, and delimiters and line ends before it belong to the field. */
typedef enum csv_state { CSV_START, CSV_BARE, CSV_QUOTED, CSV_CLOSED } csv_state;

typedef struct csv_format {
    unsigned char delim, end; /* of fields, of records */
} csv_format;

/* Where the first record ends: after its line end, or NULL if that does not come. *state is that of
 * the text before `at`, CSV_START for the first record, and becomes that of the text before the
 * end.
 */
const char *csv_record(const csv_format *f, csv_state *state, const char *at, const char *end);
/* Where the field that starts at `at` stops: at a delimiter, or at the end of its record. */
const char *csv_field(const csv_format *f, const char *at, const char *end);
/* Appends what a field that starts with a quote says. */
void csv_unquote(buffer *to, const char *field, size_t size);
/* Appends a field that says so, with quotes only where it needs them. */
void csv_quote(const csv_format *f, buffer *to, const char *text, size_t size);

#endif
