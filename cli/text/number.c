/* number.c - numbers as people write them.
 *
 * strtoull() accepts " 7" and "-1" and, with base 0, reads "010" as 8. A filter would get the wrong
 * size. So digits are read here, strictly, and every step is checked for overflow. */
#include <stdlib.h>
#include <string.h>

#include "number.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool push_digit(uint64_t *value, unsigned base, unsigned digit)
{
    return !__builtin_mul_overflow(*value, base, value) &&
           !__builtin_add_overflow(*value, digit, value);
}

/* At least one digit; returns what follows them, or NULL. */
static const char *digits(uint64_t *value, const char *text)
{
    if (!is_digit(*text))
        return NULL;
    for (; is_digit(*text); text++)
        if (!push_digit(value, 10, (unsigned)(*text - '0')))
            return NULL;
    return text;
}

static bool times(uint64_t *value, uint64_t base, uint64_t power)
{
    for (; power > 0 && *value > 0; power--)
        if (__builtin_mul_overflow(*value, base, value))
            return false;
    return true;
}

static bool divide_exactly(uint64_t *value, uint64_t power)
{
    for (; power > 0; power--) {
        if (*value % 10)
            return false;
        *value /= 10;
    }
    return true;
}

/* The power that the suffix stands for, and whether nothing follows it. */
static bool suffix(uint64_t *power, const char *text)
{
    static const char letters[] = "kKmMgGtT";
    const char *found = *text ? strchr(letters, *text) : NULL;

    *power = found ? (uint64_t)(found - letters) / 2 + 1 : 0;
    return text[found != NULL] == 0;
}

static bool scaled(uint64_t *out, const char *text, uint64_t base)
{
    uint64_t value = 0, fraction = 0, tens = 0, power;
    const char *point;

    if (!(text = digits(&value, text)))
        return false;
    if (*(point = text) == '.') {
        if (!(text = digits(&value, point + 1)))
            return false;
        fraction = (uint64_t)(text - point) - 1;
    }
    if ((*text == 'e' || *text == 'E') && !(text = digits(&tens, text + 1)))
        return false;
    if (!suffix(&power, text) || !times(&value, base, power) || !times(&value, 10, tens))
        return false;
    *out = value;
    return divide_exactly(out, fraction);
}

bool number_count(uint64_t *out, const char *text)
{
    return scaled(out, text, 1000);
}

bool number_bytes(uint64_t *out, const char *text)
{
    return scaled(out, text, 1024);
}

static bool digit_of(unsigned *digit, char c)
{
    if (is_digit(c))
        *digit = (unsigned)(c - '0');
    else if (c >= 'a' && c <= 'f')
        *digit = (unsigned)(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F')
        *digit = (unsigned)(c - 'A') + 10;
    else
        return false;
    return true;
}

bool number_integer(uint64_t *out, const char *text, size_t size)
{
    bool is_hex = size > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    unsigned base = is_hex ? 16 : 10, digit = 0;
    size_t i = is_hex ? 2 : 0;

    if (size == 0)
        return false;
    for (*out = 0; i < size; i++)
        if (!digit_of(&digit, text[i]) || digit >= base || !push_digit(out, base, digit))
            return false;
    return true;
}

bool number_real(double *out, const char *text)
{
    char *end;

    /* strtod() would also accept blanks, signs, "nan", "inf" and "0x1p-3". */
    if (strspn(text, "0123456789.eE+-") != strlen(text) || (!is_digit(*text) && *text != '.'))
        return false;
    *out = strtod(text, &end);
    return end != text && *end == 0;
}

/* 0.1% is 0.1e-2, to the last bit what 0.001 is. */
bool number_share(double *out, const char *text)
{
    char real[64];
    size_t size = strlen(text);

    if (size == 0 || text[size - 1] != '%')
        return number_real(out, text);
    if (size > sizeof real - 4 || strpbrk(text, "eE"))
        return false;
    memcpy(real, text, size - 1);
    memcpy(real + size - 1, "e-2", 4);
    return number_real(out, real);
}

bool number_cost(double *out, bool *is_time, const char *text)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = { { "ns", 1e-9 }, { "us", 1e-6 }, { "\u00b5s", 1e-6 }, { "ms", 1e-3 },
                  { "s", 1 },     { "min", 60 },  { "h", 3600 },       { "d", 86400 } };
    char real[64];
    size_t size = strspn(text, "0123456789.eE+-");

    *is_time = text[size] != 0;
    if (!*is_time)
        return number_real(out, text);
    if (size >= sizeof real)
        return false;
    memcpy(real, text, size);
    real[size] = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(text + size, units[i].name) == 0) {
            bool ok = number_real(out, real);
            *out *= units[i].seconds;
            return ok;
        }
    return false;
}
