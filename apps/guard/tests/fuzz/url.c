/* url.c - fuzzer: bytes as a URL of tamis guard.
 *
 * The normal form is its own normal form, and is written in what a URL may be written in. Whatever
 * the text, it has a few parts, none longer than itself. */
#include <string.h>

#include "../../url.h"
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_parts(span url)
{
    buffer scratch = { 0 };
    url_parts parts;

    url_split(&parts, url);
    size_t n = url_count(&parts);
    MUST(n >= 1 && n <= URL_PARTS_MAX);
    for (size_t i = 0; i < n; i++)
        MUST(url_part(&parts, i, &scratch).size <= url.size);
    buffer_free(&scratch);
}

static void look_at_form(const buffer *form)
{
    span url = { form->bytes, form->size };
    buffer again = { 0 };

    for (size_t i = 0; i < url.size; i++)
        MUST(url.at[i] > ' ' && url.at[i] < 127);
    MUST(url_normalise(&again, url));
    MUST(again.size == url.size && memcmp(again.bytes, url.at, url.size) == 0);
    look_at_parts(url);
    buffer_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    span text = { (const char *)data, size };
    buffer form = { 0 };

    look_at_parts(text);
    if (url_normalise(&form, text))
        look_at_form(&form);
    else
        MUST(form.size == 0);
    buffer_free(&form);
    return 0;
}
