/* Notes: what is a text, and that it goes wherever its filter goes. */
#include <fcntl.h>
#include <unistd.h>

#include "core/note.h"
#include "kinds.h"
#include "tamis_disk.h"

static const char TEXT[] = "list of caf\xc3\xa9s \xe2\x86\x92 2024";
static const uint64_t TIME = 1700000000;

static tamis *noted(tamis_kind kind)
{
    tamis_plan plan = plan_for(kind, 500, 0.01, 1);
    tamis *f;

    assert_int_equal(tamis_new(&f, &plan, NULL), TAMIS_OK);
    assert_int_equal(tamis_set_note(f, TEXT, TIME), TAMIS_OK);
    assert_int_equal(tamis_add(f, 7), TAMIS_OK);
    return f;
}

static void assert_note(const tamis *f, const char *text, uint64_t time)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f, &info);
    assert_string_equal(info.note, text);
    assert_int_equal(info.noted, time);
}

static void assert_noted(tamis *made)
{
    assert_note(made, TEXT, TIME);
    assert_true(tamis_has(made, 7));
    tamis_free(made);
}

/* ---- Texts ------------------------------------------------------------- */

static void texts_are_lines_of_utf8(void **state)
{
    static const char *const good[] = { "a",
                                        " ",
                                        "~",
                                        "\xc2\xa0",
                                        "\xdf\xbf",
                                        "\xe0\xa0\x80",
                                        "\xed\x9f\xbf",
                                        "\xee\x80\x80",
                                        "\xf4\x8f\xbf\xbf" };
    static const char *const bad[] = { "\n",
                                       "\x1f",
                                       "\x7f",
                                       "\x80",
                                       "\xc2\x9f",
                                       "\xc1\xbf",
                                       "\xe0\x9f\xbf",
                                       "\xed\xa0\x80",
                                       "\xf0\x8f\xbf\xbf",
                                       "\xf4\x90\x80\x80",
                                       "\xf8\x88\x80\x80\x80",
                                       "a\xc2",
                                       "\xe2\x86",
                                       "\xc2"
                                       "a",
                                       "ab\rc" };
    char longest[TAMIS_NOTE_MAX + 2] = { 0 };
    tamis *f = noted(TAMIS_BLOOM);

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(tamis_set_note(f, good[i], 1), TAMIS_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(tamis_set_note(f, bad[i], 2), TAMIS_RANGE);
    assert_note(f, good[8], 1);
    memset(longest, 'x', TAMIS_NOTE_MAX);
    assert_int_equal(tamis_set_note(f, longest, 3), TAMIS_OK);
    longest[TAMIS_NOTE_MAX] = 'x';
    assert_int_equal(tamis_set_note(f, longest, 4), TAMIS_RANGE);
    longest[TAMIS_NOTE_MAX] = 0;
    assert_note(f, longest, 3);
    assert_int_equal(tamis_set_note(f, "", 5), TAMIS_OK);
    assert_note(f, "", 0);
    tamis_free(f);
}

/* ---- Images ------------------------------------------------------------ */

static void images_keep_it(void **state)
{
    (void)state;
    for (tamis_kind kind = first_plain(); kind; kind = next_plain(kind)) {
        if (!(tamis_kind_can(kind) & TAMIS_CAN_ADD))
            continue;
        tamis *f = noted(kind), *g;
        size_t size = tamis_image_size(f);
        uint8_t *image = aligned_alloc(64, (size + 63) / 64 * 64), *sent = malloc(size);
        tape t = { sent, 0 };

        assert_non_null(image);
        assert_non_null(sent);
        assert_int_equal(tamis_image_write(f, image, size), TAMIS_OK);
        assert_int_equal(tamis_image_send(f, record, &t), TAMIS_OK);
        assert_int_equal(t.at, size);
        assert_memory_equal(image, sent, size);
        assert_int_equal(tamis_image_read(&g, image, size, NULL), TAMIS_OK);
        assert_noted(g);
        t.at = 0;
        assert_int_equal(tamis_image_receive(&g, play, &t, size, NULL), TAMIS_OK);
        assert_noted(g);
        assert_int_equal(tamis_image_view(&g, image, size, NULL), TAMIS_OK);
        assert_int_equal(tamis_verify(g, NULL, NULL), TAMIS_OK);
        assert_int_equal(tamis_set_note(g, "another", 1), TAMIS_READONLY);
        assert_noted(g);
        /* Without it, the image is what it was before there were notes. */
        assert_int_equal(tamis_set_note(f, "", 0), TAMIS_OK);
        assert_true(tamis_image_size(f) < size);
        free(image);
        free(sent);
        tamis_free(f);
    }
}

static void no_changed_bit_goes_unnoticed(void **state)
{
    tamis *f = noted(TAMIS_BLOOM), *g;
    size_t size = tamis_image_size(f);
    uint8_t *image = malloc(size);

    (void)state;
    assert_non_null(image);
    assert_int_equal(tamis_image_write(f, image, size), TAMIS_OK);
    for (size_t i = 0; i < size * 8; i++) {
        image[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_int_not_equal(tamis_image_read(&g, image, size, NULL), TAMIS_OK);
        image[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    free(image);
    tamis_free(f);
}

/* ---- What is made of a filter ------------------------------------------ */

static void what_is_made_keeps_it(void **state)
{
    tamis *bloom = noted(TAMIS_BLOOM), *cqf = noted(TAMIS_CQF), *made;
    const tamis *two[] = { cqf, cqf };

    (void)state;
    assert_int_equal(tamis_clone(&made, bloom, NULL), TAMIS_OK);
    assert_noted(made);
    assert_int_equal(tamis_convert(&made, TAMIS_COMPRESSED, bloom, NULL), TAMIS_OK);
    assert_noted(made);
    assert_int_equal(tamis_fold(&made, bloom, 2, NULL), TAMIS_OK);
    assert_noted(made);
    assert_int_equal(tamis_merge_many(&made, two, 2, NULL), TAMIS_OK);
    assert_noted(made);
    assert_int_equal(tamis_resize(cqf, 5000), TAMIS_OK);
    assert_noted(cqf);
    tamis_free(bloom);
}

/* ---- Files ------------------------------------------------------------- */

/* With the key that was added in it. */
static void assert_noted_file(const char *path)
{
    tamis *f;

    assert_int_equal(tamis_load(&f, path, NULL), TAMIS_OK);
    assert_true(tamis_has(f, 8));
    assert_noted(f);
    unlink(path);
}

static void files_keep_it(void **state)
{
    char path[] = "/tmp/tamis-note-XXXXXX";
    tamis *f = noted(TAMIS_BLOOM);

    (void)state;
    close(mkstemp(path));
    assert_int_equal(tamis_save(f, path), TAMIS_OK);
    tamis_free(f);
    assert_int_equal(tamis_map(&f, path, TAMIS_MAP_WRITE, NULL), TAMIS_OK);
    assert_int_equal(tamis_set_note(f, "another", 1), TAMIS_READONLY);
    assert_int_equal(tamis_add(f, 8), TAMIS_OK);
    assert_int_equal(tamis_sync(f), TAMIS_OK);
    assert_noted(f);
    assert_noted_file(path);
}

static void disk_filters_keep_it(void **state)
{
    char path[] = "/tmp/tamis-note-XXXXXX";
    const uint64_t key = 8;
    tamis *f = noted(TAMIS_CQF);
    tamis_disk *d;
    size_t added;

    (void)state;
    close(mkstemp(path));
    assert_int_equal(tamis_save(f, path), TAMIS_OK);
    tamis_free(f);
    assert_int_equal(tamis_disk_open(&d, path, NULL), TAMIS_OK);
    assert_int_equal(tamis_disk_add_many(d, &added, &key, 1), TAMIS_OK);
    assert_int_equal(tamis_disk_flush(d), TAMIS_OK);
    tamis_disk_free(d);
    assert_noted_file(path);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_lines_of_utf8),
        cmocka_unit_test(images_keep_it),
        cmocka_unit_test(no_changed_bit_goes_unnoticed),
        cmocka_unit_test(what_is_made_keeps_it),
        cmocka_unit_test(files_keep_it),
        cmocka_unit_test(disk_filters_keep_it),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
