/* pieces.c - images that are sent and received in pieces: the same bytes as in one go, and an error
 * whenever a byte is missing or wrong. Every kind, also those made from values or a universe. */
#include "kinds.h"
#include "limited_allocator.h"
#include "tamis_file.h"

/* ---- Filters of every kind --------------------------------------------- */

static bool can(tamis_kind kind, unsigned bit)
{
    return tamis_kind_can(kind) & bit;
}

/* With the first n numbers as keys; their values, or the others beside them, are numbers, too. */
static tamis *filled(const tamis_plan *plan, size_t n)
{
    uint64_t *keys = array_of(3 * n, sizeof *keys);
    tamis *f = NULL;

    for (size_t i = 0; i < 3 * n; i++)
        keys[i] = i < 2 * n ? i : i % 128;
    const uint64_t *beside = can(plan->kind, TAMIS_CAN_GET) ? keys + 2 * n : keys + n;
    assert_int_equal(build_any(&f, plan, keys, beside, n, NULL), TAMIS_OK);
    free(keys);
    return f;
}

static tamis *filter_of_kind(tamis_kind kind, size_t n)
{
    const tamis_plan plan = plan_of_spec(kind, spec_for_any(kind, n, 0.05, 11));

    return filled(&plan, n);
}

/* Of several blocks of checksums, the last of them not full, and few keys in it. */
static tamis *large_filter(tamis_kind kind)
{
    bool by_keys = can(kind, TAMIS_CAN_EXCLUDE);
    tamis_spec spec = spec_for_any(kind, by_keys ? 9000000 : 0, 0.05, 11);

    spec.max_bytes = by_keys ? 0 : 2600000;
    const tamis_plan plan = plan_of_spec(kind, spec);
    return filled(&plan, 1000);
}

/* ---- Both ends --------------------------------------------------------- */

typedef struct {
    uint8_t *at;
    size_t size, used, pieces;
    size_t fails_at; /* the piece that is refused; SIZE_MAX: none */
} pipe_end;

static bool sink(void *ctx, const void *piece, size_t size)
{
    pipe_end *p = ctx;

    if (p->pieces++ == p->fails_at)
        return false;
    assert_true(size <= p->size - p->used);
    memcpy(p->at + p->used, piece, size);
    p->used += size;
    return true;
}

static bool source(void *ctx, void *piece, size_t size)
{
    pipe_end *p = ctx;

    if (p->pieces++ == p->fails_at || size > p->size - p->used)
        return false;
    memcpy(piece, p->at + p->used, size);
    p->used += size;
    return true;
}

/* Receives from these bytes; whatever comes of it, no block is left. Returns what it came to, how
 * many bytes were taken, and compares with the image if there is one. */
static tamis_status receive(pipe_end *from, uint64_t max_bytes, const image_bytes *image)
{
    limited_blocks m = { .left = SIZE_MAX };
    const tamis_allocator a = allocator_of_blocks(&m);
    tamis *f = NULL;
    tamis_status status = tamis_image_receive(&f, source, from, max_bytes, &a);

    if (status == TAMIS_OK) {
        assert_true(is_whole(f));
        assert_true(!image || is_image_of(image, f));
        tamis_free(f);
    } else {
        assert_null(f);
    }
    assert_int_equal(m.held, 0);
    if (status == TAMIS_RANGE)
        assert_int_equal(m.taken, 0);
    return status;
}

/* ---- Laws -------------------------------------------------------------- */

/* Sent in pieces of any length, received from a stream that goes on behind it. */
static void check_round_trip(tamis *f)
{
    image_bytes image = image_of(f);
    const size_t beyond = 1000;
    pipe_end out = { array_of(image.size + beyond, 1), image.size, 0, 0, SIZE_MAX };

    assert_int_equal(tamis_image_send(f, sink, &out), TAMIS_OK);
    assert_int_equal(out.used, image.size);
    assert_memory_equal(out.at, image.at, image.size);
    memset(out.at + image.size, 0xee, beyond);
    pipe_end in = { out.at, image.size + beyond, 0, 0, SIZE_MAX };
    assert_int_equal(receive(&in, image.size, &image), TAMIS_OK);
    assert_int_equal(in.used, image.size);
    in = (pipe_end){ out.at, image.size, 0, 0, SIZE_MAX };
    assert_int_equal(receive(&in, UINT64_MAX, &image), TAMIS_OK);
    free(out.at);
    free_bytes(&image);
}

static void check_sizes(tamis_kind kind, void check(tamis *f))
{
    tamis *filters[] = { filter_of_kind(kind, 0), filter_of_kind(kind, 1),
                         filter_of_kind(kind, 100), filter_of_kind(kind, 20000),
                         large_filter(kind) };

    assert_true(tamis_image_size(filters[4]) > 2 << 20);
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        check(filters[i]);
        tamis_free(filters[i]);
    }
}

static void pieces_make_the_image(tamis_kind kind)
{
    check_sizes(kind, check_round_trip);
}

/* Views have the bytes, too, and damaged ones are not passed on. */
static void views_are_sent(tamis_kind kind)
{
    tamis *f = filter_of_kind(kind, 200), *view = NULL;
    image_bytes image = image_of(f);
    pipe_end out = { array_of(image.size, 1), image.size, 0, 0, SIZE_MAX };

    assert_int_equal(tamis_image_view(&view, image.at, image.size, NULL), TAMIS_OK);
    check_round_trip(view);
    image.at[256] ^= 1; /* where the payload of a small filter begins: docs/format.md */
    assert_int_equal(tamis_image_send(view, sink, &out), TAMIS_CORRUPT);
    free(out.at);
    tamis_free(view);
    free_bytes(&image);
    tamis_free(f);
}

/* A host can save what it holds when it has no memory left. */
static void sending_takes_no_memory(tamis_kind kind)
{
    limited_blocks m = { .left = SIZE_MAX };
    const tamis_allocator a = allocator_of_blocks(&m);
    tamis *f = large_filter(kind), *copy = NULL;
    image_bytes image = image_of(f);
    pipe_end out = { array_of(image.size, 1), image.size, 0, 0, SIZE_MAX };

    assert_int_equal(tamis_clone(&copy, f, &a), TAMIS_OK);
    m.taken = 0;
    assert_int_equal(tamis_image_send(copy, sink, &out), TAMIS_OK);
    assert_int_equal(m.taken, 0);
    free(out.at);
    tamis_free(copy);
    free_bytes(&image);
    tamis_free(f);
}

/* ---- Parts at offsets -------------------------------------------------- */

enum { BLOCK = 1 << 20 }; /* docs/format.md */

/* Sums of the payload, all 0. */
static uint64_t *new_sums(const tamis *f)
{
    return array_of((size_t)(tamis_plan_of(f)->bytes / BLOCK + 1), sizeof(uint64_t));
}

/* Of a block that a part fits into with a byte on either side, the end: nothing is written there.
 */
static void assert_part(const tamis *f, uint64_t *sums, uint8_t *block, const image_bytes *image,
                        uint64_t from, uint64_t to)
{
    const size_t size = (size_t)(to - from);
    uint8_t *part = block + 1 + image->size - size;

    memset(part - 1, 0xee, size + 2);
    assert_int_equal(tamis_image_part(f, sums, part, size, from), TAMIS_OK);
    assert_memory_equal(part, image->at + from, size);
    assert_int_equal(part[-1], 0xee);
    assert_int_equal(part[size], 0xee);
}

/* Parts of any size, in order and at the edges of sections. */
static void check_parts(const tamis *f)
{
    image_bytes image = image_of(f);
    const uint64_t edges[] = { 0,
                               1,
                               255,
                               256,
                               257,
                               4095,
                               4096,
                               4097,
                               BLOCK,
                               BLOCK + 4096,
                               image.size / 2,
                               image.size - 9,
                               image.size - 8,
                               image.size - 1,
                               image.size };
    const size_t n = sizeof edges / sizeof *edges;
    uint64_t *sums = new_sums(f), unused[2];
    uint8_t *block = array_of(image.size + 2, 1), byte;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (edges[i] <= edges[k] && edges[k] <= image.size)
                assert_part(f, sums, block, &image, edges[i], edges[k]);
    for (uint64_t at = 0, to; at < image.size; at = to) {
        to = at + image.size / 7 + 1 < image.size ? at + image.size / 7 + 1 : image.size;
        assert_part(f, sums, block, &image, at, to);
    }
    assert_int_equal(tamis_image_part(f, unused, &byte, 1, image.size), TAMIS_RANGE);
    assert_int_equal(tamis_image_part(f, unused, &byte, 2, image.size - 1), TAMIS_RANGE);
    assert_int_equal(tamis_image_part(f, unused, &byte, 0, image.size + 1), TAMIS_RANGE);
    assert_int_equal(tamis_image_part(f, unused, &byte, SIZE_MAX, 1), TAMIS_RANGE);
    free(block);
    free(sums);
    free_bytes(&image);
}

static void check_parts_without_note_and_with(tamis *f)
{
    check_parts(f);
    assert_int_equal(tamis_set_note(f, "a note", 1700000000), TAMIS_OK);
    check_parts(f);
}

static void parts_make_the_image(tamis_kind kind)
{
    check_sizes(kind, check_parts_without_note_and_with);
}

/* What parts read of the payload, told by checksums. Those that are not needed stay unknown; those
 * that are known are not computed again, so that wrong ones come out. */
static void parts_read_the_payload_once(tamis_kind kind)
{
    tamis *f = large_filter(kind);
    const uint64_t payload = 4096, bytes = tamis_plan_of(f)->bytes; /* docs/format.md */
    const size_t n = (size_t)((bytes + BLOCK - 1) / BLOCK);
    image_bytes image = image_of(f);
    uint64_t *sums = new_sums(f);
    uint8_t *part = array_of(image.size + 2, 1);

    assert_part(f, sums, part, &image, payload, payload + bytes);
    assert_part(f, sums, part, &image, payload + BLOCK, payload + 2 * BLOCK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(sums[i], 0);
    assert_part(f, sums, part, &image, 0, 1);
    for (size_t i = 0; i < n; i++) {
        assert_int_not_equal(sums[i], 0);
        sums[i] = i + 1;
    }
    assert_int_equal(tamis_image_part(f, sums, part, image.size, 0), TAMIS_OK);
    assert_memory_equal(part + 256, image.at + 256, (size_t)(payload - 256 + bytes));
    assert_memory_not_equal(part, image.at, 256); /* the digest of other checksums */
    for (size_t i = 0; i < n; i++)
        assert_int_equal(part[image.size - 8 * (n - i)], i + 1);
    free(part);
    free(sums);
    free_bytes(&image);
    tamis_free(f);
}

static void views_have_no_parts(tamis_kind kind)
{
    tamis *f = filter_of_kind(kind, 200), *view = NULL;
    image_bytes image = image_of(f);
    uint64_t *sums = new_sums(f);
    uint8_t byte;

    assert_int_equal(tamis_image_view(&view, image.at, image.size, NULL), TAMIS_OK);
    assert_int_equal(tamis_image_part(view, sums, &byte, 1, 0), TAMIS_CANNOT);
    free(sums);
    tamis_free(view);
    free_bytes(&image);
    tamis_free(f);
}

/* ---- Damage ------------------------------------------------------------ */

/* Whichever piece it is that does not go through. */
static void failures_are_told(tamis_kind kind)
{
    tamis *filters[] = { filter_of_kind(kind, 100), large_filter(kind) };

    for (int i = 0; i < 2; i++) {
        image_bytes image = image_of(filters[i]);
        uint8_t *sent = array_of(image.size, 1);
        tamis_status status = TAMIS_IO;

        for (size_t at = 0; status == TAMIS_IO; at++) {
            pipe_end out = { sent, image.size, 0, 0, at };

            status = tamis_image_send(filters[i], sink, &out);
            assert_int_equal(out.pieces, at + (status == TAMIS_IO));
        }
        assert_int_equal(status, TAMIS_OK);
        status = TAMIS_IO;
        for (size_t at = 0; status == TAMIS_IO; at++) {
            pipe_end in = { image.at, image.size, 0, 0, at };

            status = receive(&in, image.size, &image);
            assert_int_equal(in.pieces, at + (status == TAMIS_IO));
        }
        assert_int_equal(status, TAMIS_OK);
        free(sent);
        free_bytes(&image);
        tamis_free(filters[i]);
    }
}

static void every_prefix_is_too_short(tamis_kind kind)
{
    tamis *f = filter_of_kind(kind, 30);
    image_bytes image = image_of(f);

    for (size_t size = 0; size < image.size; size += run_size(1, 3, 1)) {
        pipe_end in = { image.at, size, 0, 0, SIZE_MAX };

        assert_int_equal(receive(&in, UINT64_MAX, NULL), TAMIS_IO);
    }
    free_bytes(&image);
    tamis_free(f);
}

/* Whatever the reader says of the same bytes; or the source has no more of them, or too many were
 * announced. */
static void flipped_bits_are_errors(tamis_kind kind)
{
    tamis *f = filter_of_kind(kind, 30), *read = NULL;
    image_bytes image = image_of(f);

    for (size_t bit = 0; bit < 8 * image.size; bit += run_size(1, 5, 1)) {
        pipe_end in = { image.at, image.size, 0, 0, SIZE_MAX };

        snprintf(law_at, sizeof law_at, "bit %zu", bit);
        image.at[bit / 8] ^= (uint8_t)(1u << bit % 8);
        tamis_status status = receive(&in, image.size, NULL);
        assert_int_not_equal(status, TAMIS_OK);
        if (status != TAMIS_IO && status != TAMIS_RANGE)
            assert_int_equal(tamis_image_read(&read, image.at, image.size, NULL), status);
        image.at[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free_bytes(&image);
    tamis_free(f);
}

/* Before a byte of memory is taken for them: receive() looks at that. */
static void larger_images_are_refused(tamis_kind kind)
{
    tamis *f = filter_of_kind(kind, 1000);
    image_bytes image = image_of(f);
    const uint64_t limits[] = { 0, 1, 255, 256, image.size / 2, image.size - 1 };

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        pipe_end in = { image.at, image.size, 0, 0, SIZE_MAX };

        assert_int_equal(receive(&in, limits[i], NULL), TAMIS_RANGE);
    }
    free_bytes(&image);
    tamis_free(f);
}

int main(int argc, char **argv)
{
    /* Under sanitizers, large filters of few kinds: what is sent of them are bytes. */
    const bool FEW = is_sanitized();
    const law laws[] = {
        { "pieces make the image", pieces_make_the_image, .of_files = FEW },
        { "views are sent", views_are_sent, .can = 0 },
        { "sending takes no memory", sending_takes_no_memory, .of_files = FEW },
        { "parts make the image", parts_make_the_image, .of_files = FEW },
        { "parts read the payload once", parts_read_the_payload_once, .of_files = FEW },
        { "views have no parts", views_have_no_parts, .can = 0 },
        { "failures are told", failures_are_told, .of_files = FEW },
        { "every prefix is too short", every_prefix_is_too_short, .can = 0 },
        { "flipped bits are errors", flipped_bits_are_errors, .can = 0 },
        { "larger images are refused", larger_images_are_refused, .can = 0 },
    };

    test_begin(argc, argv);
    return check_laws_of_all(laws, sizeof laws / sizeof *laws);
}
