/* images.c - filters as bytes come back as they were; views and missing abilities refuse, and what
 * is refused changes nothing. No kind is named. */
#include "model/ground.h"

/* ---- Images and files -------------------------------------------------- */

static void assert_copy(const tamis *copy, const tamis *f, const ground *g, bool readonly)
{
    assert_true(same_image(copy, f));
    assert_true(same_payload(copy, f));
    assert_same_answers(copy, f, g->keys, g->n + g->n_strangers);
    assert_true(is_whole(copy));
    assert_int_equal(info_of(copy).readonly, readonly);
    assert_int_equal(info_of(copy).count, info_of(f).count);
}

static void copies_are_equal(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n), *copy = NULL;
    image_bytes image = image_of(f);

    assert_int_equal(tamis_clone(&copy, f, NULL), TAMIS_OK);
    assert_copy(copy, f, g, false);
    tamis_free(copy);
    assert_int_equal(tamis_image_read(&copy, image.at, image.size, NULL), TAMIS_OK);
    assert_copy(copy, f, g, false);
    tamis_free(copy);
    assert_int_equal(tamis_image_view(&copy, image.at, image.size, NULL), TAMIS_OK);
    assert_copy(copy, f, g, true);
    tamis_free(copy);
    assert_true(is_image_of(&image, f));
    free_bytes(&image);
    tamis_free(f);
}

static void files_are_equal(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n), *copy = NULL;

    assert_int_equal(tamis_save(f, temp_path()), TAMIS_OK);
    assert_int_equal(tamis_load(&copy, temp_path(), NULL), TAMIS_OK);
    assert_copy(copy, f, g, false);
    tamis_free(copy);
    assert_int_equal(tamis_map(&copy, temp_path(), 0, NULL), TAMIS_OK);
    assert_copy(copy, f, g, true);
    tamis_free(copy);
    unlink(temp_path());
    tamis_free(f);
}

/* The file under a writable map ends as if the keys had been there when it was saved. */
static void writable_maps_write_the_same_file(ground *g)
{
    size_t half = g->n / 2;
    tamis *f = filter_of(&g->plan, g->keys, half), *map = NULL, *copy = NULL;

    assert_int_equal(tamis_save(f, temp_path()), TAMIS_OK);
    assert_int_equal(tamis_map(&map, temp_path(), TAMIS_MAP_WRITE, NULL), TAMIS_OK);
    add_all(map, g->keys + half, g->n - half);
    add_all(f, g->keys + half, g->n - half);
    assert_true(same_payload(map, f));
    /* A crash while bits are cleared could lose keys. */
    assert_int_equal(tamis_combine(map, TAMIS_INTERSECT, f), TAMIS_CANNOT);
    assert_int_equal(tamis_sync(map), TAMIS_OK);
    tamis_free(map);
    assert_int_equal(tamis_load(&copy, temp_path(), NULL), TAMIS_OK);
    assert_copy(copy, f, g, false);
    unlink(temp_path());
    tamis_free(copy);
    tamis_free(f);
}

static void images_need_their_exact_size_and_alignment(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n), *out = f;
    size_t size = tamis_image_size(f);
    uint8_t *room = aligned_alloc(64, (size + 127) / 64 * 64);

    assert_non_null(room);
    assert_int_equal(tamis_image_write(f, room, size - 1), TAMIS_RANGE);
    assert_int_equal(tamis_image_write(f, room, size + 1), TAMIS_RANGE);
    assert_int_equal(tamis_image_write(f, room, 0), TAMIS_RANGE);
    assert_int_equal(tamis_image_write(f, room + 8, size), TAMIS_OK);
    assert_int_equal(tamis_image_view(&out, room + 8, size, NULL), TAMIS_RANGE);
    assert_ptr_equal(out, f);
    assert_int_equal(tamis_image_read(&out, room + 8, size, NULL), TAMIS_OK);
    assert_true(same_image(out, f));
    tamis_free(out);
    free(room);
    tamis_free(f);
}

/* ---- What is refused --------------------------------------------------- */

static void assert_refuses_changes(tamis *f, const tamis *same, const uint64_t *keys, size_t n)
{
    unsigned can = tamis_kind_can(tamis_plan_of(f)->kind);
    image_bytes before = image_of(f);
    size_t added = 99;

#define REFUSED(ability) ((can & (ability)) ? TAMIS_READONLY : TAMIS_CANNOT)
    for (size_t i = 0; i < n && i < 8; i++) {
        assert_int_equal(tamis_add(f, keys[i]), REFUSED(TAMIS_CAN_ADD));
        assert_int_equal(tamis_remove(f, keys[i]), REFUSED(TAMIS_CAN_REMOVE));
    }
    assert_int_equal(tamis_add_many(f, &added, keys, n), REFUSED(TAMIS_CAN_ADD));
    assert_int_equal(added, 0);
    assert_int_equal(tamis_add_concurrent(f, &added, keys, n), REFUSED(TAMIS_CAN_ADD_CONCURRENT));
    assert_int_equal(tamis_combine(f, TAMIS_MERGE, same), REFUSED(TAMIS_CAN_MERGE));
    assert_int_equal(tamis_combine(f, TAMIS_INTERSECT, same), REFUSED(TAMIS_CAN_INTERSECT));
    assert_int_equal(tamis_combine(f, TAMIS_SUBTRACT, same),
                     can & TAMIS_CAN_INTERSECT ? REFUSED(TAMIS_CAN_REMOVE) : TAMIS_CANNOT);
#undef REFUSED
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
}

static void views_refuse_every_change(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n), *view = NULL, *map = NULL;
    image_bytes image = image_of(f);

    assert_int_equal(tamis_image_view(&view, image.at, image.size, NULL), TAMIS_OK);
    assert_refuses_changes(view, f, g->strangers, g->n_strangers);
    assert_int_equal(tamis_save(f, temp_path()), TAMIS_OK);
    assert_int_equal(tamis_map(&map, temp_path(), 0, NULL), TAMIS_OK);
    assert_refuses_changes(map, f, g->strangers, g->n_strangers);
    unlink(temp_path());
    tamis_free(map);
    tamis_free(view);
    free_bytes(&image);
    tamis_free(f);
}

/* A view cannot change, but others can change by it, and its clone is free. */
static void views_can_be_merged_from_and_cloned(ground *g)
{
    tamis *f = filter_of(&g->plan, g->keys, g->n), *view = NULL, *copy = NULL;
    tamis *empty = new_filter(&g->plan);
    image_bytes image = image_of(f);

    assert_int_equal(tamis_image_view(&view, image.at, image.size, NULL), TAMIS_OK);
    assert_int_equal(tamis_combine(empty, TAMIS_MERGE, view), TAMIS_OK);
    assert_true(same_image(empty, f));
    assert_int_equal(tamis_clone(&copy, view, NULL), TAMIS_OK);
    assert_false(info_of(copy).readonly);
    /* Twice the keys may be more than there is room for. */
    tamis_status status = tamis_combine(copy, TAMIS_MERGE, empty);
    assert_true(status == TAMIS_OK || (status == TAMIS_FULL && same_image(copy, f)));
    assert_holds(copy, g->keys, g->n);
    tamis_free(copy);
    tamis_free(empty);
    tamis_free(view);
    free_bytes(&image);
    tamis_free(f);
}

static bool visit_none(void *ctx, uint64_t key, uint64_t count)
{
    (void)ctx;
    (void)key;
    (void)count;
    return true;
}

static void missing_abilities_say_so(ground *g)
{
    unsigned can = tamis_kind_can(g->plan.kind);
    tamis *f = filter_of(&g->plan, g->keys, g->n), *same = filter_of(&g->plan, g->keys, g->n);
    tamis *out = f, *map = NULL;
    image_bytes before = image_of(f);
    size_t added = 99;

    if (!(can & TAMIS_CAN_ADD)) {
        assert_int_equal(tamis_add(f, 0), TAMIS_CANNOT);
        assert_int_equal(tamis_add_many(f, &added, g->keys, g->n), TAMIS_CANNOT);
        assert_int_equal(added, 0);
    }
    if (!(can & TAMIS_CAN_REMOVE))
        assert_int_equal(tamis_remove(f, 0), TAMIS_CANNOT);
    if (!(can & TAMIS_CAN_MERGE))
        assert_int_equal(tamis_combine(f, TAMIS_MERGE, same), TAMIS_CANNOT);
    if (!(can & TAMIS_CAN_INTERSECT))
        assert_int_equal(tamis_combine(f, TAMIS_INTERSECT, same), TAMIS_CANNOT);
    if (!(can & TAMIS_CAN_LIST))
        assert_int_equal(tamis_list(f, visit_none, NULL), TAMIS_CANNOT);
    if (!(can & TAMIS_CAN_COUNT)) {
        assert_int_equal(tamis_add_times(f, 0, 1), TAMIS_CANNOT);
        assert_int_equal(tamis_remove_times(f, 0, 1), TAMIS_CANNOT);
    }
    if (!(can & TAMIS_CAN_RESIZE)) {
        const tamis *const one[] = { f };

        assert_int_equal(tamis_resize(f, g->n), TAMIS_CANNOT);
        assert_int_equal(tamis_merge_many(&out, one, 1, NULL), TAMIS_CANNOT);
    }
    if (!(can & TAMIS_CAN_DOT)) {
        uint64_t product = 0;

        assert_int_equal(tamis_dot(f, &product, f), TAMIS_CANNOT);
    }
    if (!(can & TAMIS_CAN_FOLD))
        assert_int_equal(tamis_fold(&out, f, 1, NULL), TAMIS_CANNOT);
    if (!(can & TAMIS_CAN_ADD_CONCURRENT))
        assert_int_equal(tamis_add_concurrent(f, &added, g->keys, g->n), TAMIS_CANNOT);
    if (!(can & TAMIS_CAN_READ_WHILE_ADD)) {
        assert_int_equal(tamis_save(f, temp_path()), TAMIS_OK);
        assert_int_equal(tamis_map(&map, temp_path(), TAMIS_MAP_WRITE, NULL), TAMIS_CANNOT);
        assert_null(map);
        unlink(temp_path());
    }
    assert_ptr_equal(out, f);
    assert_true(is_image_of(&before, f));
    free_bytes(&before);
    tamis_free(same);
    tamis_free(f);
}

int main(int argc, char **argv)
{
    const unsigned ADD = TAMIS_CAN_ADD, BUILD = TAMIS_CAN_BUILD;
    const ground_law laws[] = {
        { "copies are equal", copies_are_equal, BUILD },
        { "files are equal", files_are_equal, BUILD },
        { "writable maps write the same file", writable_maps_write_the_same_file,
          ADD | TAMIS_CAN_READ_WHILE_ADD },
        { "images need their size and alignment", images_need_their_exact_size_and_alignment,
          BUILD },
        { "views refuse every change", views_refuse_every_change, BUILD },
        { "views can be merged from and cloned", views_can_be_merged_from_and_cloned,
          BUILD | TAMIS_CAN_MERGE },
        { "missing abilities say so", missing_abilities_say_so, BUILD },
    };

    test_begin(argc, argv);
    return check_ground_laws(laws, sizeof laws / sizeof *laws);
}
