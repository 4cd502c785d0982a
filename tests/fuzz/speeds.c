/* speeds.c - fuzzer: bytes as the file in which the speed of this machine is kept.
 *
 * input: a mode (one byte), then lines to follow a right first one; or, if the mode is odd, changes
 * of a right file, three bytes each: where, low and high, and what. Whatever is accepted can be
 * advised with. */
#include <string.h>

#include "../../cli/filters/speeds.h"
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_SIZE = 1 << 16 };

static void add_speed(tamis_machine *m, tamis_kind kind)
{
    const tamis_timing t = { 4, 100000, 1e-8, 1e-8, 2e-8, 5e-8, 1.234567891e-7 };

    m->speeds[m->kinds++] = (tamis_speed){ kind, { t, t } };
}

/* As the program would have written it. */
static size_t right_text(char *text)
{
    tamis_machine m = { .size = sizeof m, .hash = 3e-9 };
    FILE *file = fmemopen(text, TEXT_SIZE, "w");

    MUST(file);
    for (int i = 0; i < TAMIS_READS; i++)
        m.reads[i] = i * 1e-9;
    add_speed(&m, TAMIS_BLOOM);
    add_speed(&m, TAMIS_FUSE);
    speeds_write(file, &m);
    size_t size = (size_t)ftell(file);
    MUST(fclose(file) == 0);
    return size;
}

static void change(char *text, size_t length, const uint8_t *edits, size_t size)
{
    for (; size >= 3; edits += 3, size -= 3)
        text[(edits[0] + 256u * edits[1]) % length] = (char)edits[2];
}

static void replace(char *text, const uint8_t *lines, size_t size)
{
    size_t first = strcspn(text, "\n") + 1;

    if (size > TEXT_SIZE - first - 1)
        size = TEXT_SIZE - first - 1;
    if (size)
        memcpy(text + first, lines, size);
    text[first + size] = 0;
}

static void advise_with(const tamis_machine *m)
{
    tamis_use use = TAMIS_USE(.queries = 1e6, .store_cost = 1e-4, .builds = 1, .machine = m);
    tamis_spec spec = TAMIS_SPEC(.keys = 1000, .fpr = 0.01);
    tamis_advice options[TAMIS_SPEEDS_MAX + 1];
    size_t n = tamis_advise(options, TAMIS_SPEEDS_MAX + 1, &spec, &use);

    MUST(n >= 1 && n <= TAMIS_SPEEDS_MAX + 1);
    for (size_t i = 0; i < n; i++)
        MUST(options[i].total >= 0 && options[i].total <= 1e18);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[TEXT_SIZE];
    static tamis_machine m;
    size_t length = right_text(text);
    bool is_whole = size == 0;

    if (size > 0 && data[0] & 1)
        change(text, length, data + 1, size - 1);
    else if (size > 0)
        replace(text, data + 1, size - 1);
    bool is_read = speeds_read(&m, text);
    MUST(is_read || !is_whole);
    if (is_read)
        advise_with(&m);
    return 0;
}
