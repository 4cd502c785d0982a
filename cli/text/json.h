/* json.h - JSON on standard output. Members of arrays have no name: NULL. */
#ifndef TAMIS_CLI_TEXT_JSON_H
#define TAMIS_CLI_TEXT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct json {
    unsigned depth;
    bool has_members; /* in what is open */
} json;

void json_open(json *j, const char *name, char bracket);
/* `bracket` is the closing one. A line end follows the last. */
void json_close(json *j, char bracket);

/* Bytes that are not UTF-8 are shown as U+FFFD. */
void json_text(json *j, const char *name, const char *text);
/* The same for bytes with NULs among them. */
void json_bytes(json *j, const char *name, const char *bytes, size_t size);
void json_count(json *j, const char *name, uint64_t value);
void json_bool(json *j, const char *name, bool value);
/* The shortest digits that read back as `value`; null if it is not finite. */
void json_real(json *j, const char *name, double value);
/* An array of ability names. */
void json_abilities(json *j, const char *name, unsigned can);

#endif
