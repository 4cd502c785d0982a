/* options.c - the command line: options go where their rows say, and included tables too. */
#include "args/args.h"
#include "check.h"

typedef enum order { BY_NAME, BY_SIZE } order;

typedef struct inner {
    double share;
    unsigned threads;
} inner;

typedef struct request {
    bool flag;
    const char *text;
    uint64_t count, size, integer;
    uint8_t byte_count;
    size_t memory;
    double fpr;
    cost_value cost;
    order order;
    tamis_kind kind;
    unsigned can;
    unsigned char delim;
    stats_form stats;
    inner inner;
    const char *own;
    unsigned inner_checked, checked;
} request;

static void take_own(void *into, const args *a)
{
    ((request *)into)->own = a->value;
}

static void check_all(void *into, const args *a)
{
    request *r = into;

    r->checked++;
    assert_true(args_given(a, "own"));
    assert_false(args_given(a, "never"));
}

static void check_inner(void *into, const args *a)
{
    inner *i = into;

    (void)a;
    i->threads *= 2;
}

static const option_row inner_options[] = {
    { 0, "share", "S", "", TO_SHARE(inner, share, 0, 1) },
    { 'j', "threads", "N", "", TO_COUNT(inner, threads, 1, 256) },
    { .take = check_inner },
};

static const word_row orders[] = { { "name", BY_NAME, "" }, { "size", BY_SIZE, "" }, { 0 } };

static const option_row options[] = {
    { 'f', "flag", NULL, "", TO_FLAG(request, flag) },
    { 0, "never", NULL, "", TO_FLAG(request, flag) },
    { 0, "text", "T", "", TO_TEXT(request, text) },
    { 'n', "count", "N", "", TO_COUNT(request, count, 1, UINT64_MAX) },
    OPTIONS(inner_options, request, inner),
    { 0, "byte-count", "N", "", TO_COUNT(request, byte_count, 0, 255), .verbs = "make show" },
    { 0, "size", "SIZE", "", TO_SIZE(request, size) },
    { 0, "memory", "SIZE", "", TO_MEMORY(request, memory) },
    { 0, "integer", "N", "", TO_INTEGER(request, integer) },
    { 'p', "fpr", "P", "", TO_FPR(request, fpr) },
    { 0, "cost", "C", "", TO_COST(request, cost) },
    { 0, "by", "HOW", "", TO_WORD(request, order, orders) },
    { 'k', "kind", "KIND", "", TO_KIND(request, kind) },
    { 0, "can", "LIST", "", TO_ABILITIES(request, can) },
    { 'd', "delim", "C", "", TO_BYTE(request, delim) },
    { 0, "stats", "[=json]", "", TO_STATS(request, stats) },
    { 0, "own", "X", "", .take = take_own },
    { .take = check_all },
};

static const command made = { .name = "made", .options = options, .verbs = "make show drop" };

static request read_words(args *a, char **words)
{
    request r = { .inner.threads = 1 };

    *a = (args){ .command = &made, .argv = words };
    while (words[a->argc])
        a->argc++;
    args_read(a, &r);
    return r;
}

static void every_type_has_its_member(void **state)
{
    char *words[] = { "made",    "-f",         "--text=a b", "-n10M",     "show",
                      "--share", "2%",         "-j",         "3",         "--byte-count=255",
                      "--size",  "64K",        "--memory=1", "--integer", "0x2a",
                      "-p1e-3",  "--cost=2ms", "--by",       "size",      "-k",
                      "bloom",   "--can=add",  "--can",      "remove",    "-d",
                      "\\t",     "--stats",    "--own",      "last",      "file",
                      NULL };
    args a;
    request r = read_words(&a, words);
    char **operands = args_operands(&a, 1, 2, "a verb");

    (void)state;
    assert_true(r.flag);
    assert_string_equal(r.text, "a b");
    assert_int_equal(r.count, 10000000);
    assert_true(is_near(r.inner.share, 0.02, 1e-12));
    assert_int_equal(r.inner.threads, 6);
    assert_int_equal(r.byte_count, 255);
    assert_int_equal(r.size, 65536);
    assert_int_equal(r.memory, 1);
    assert_int_equal(r.integer, 42);
    assert_true(is_near(r.fpr, 1e-3, 1e-12));
    assert_true(r.cost.is_time && is_near(r.cost.value, 2e-3, 1e-12));
    assert_int_equal(r.order, BY_SIZE);
    assert_int_equal(r.kind, TAMIS_BLOOM);
    assert_int_equal(r.can, TAMIS_CAN_ADD | TAMIS_CAN_REMOVE);
    assert_int_equal(r.delim, '\t');
    assert_int_equal(r.stats, STATS_TEXT);
    assert_string_equal(r.own, "last");
    assert_int_equal(r.checked, 1);
    assert_string_equal(operands[0], "show");
    assert_string_equal(operands[1], "file");
    assert_int_equal(args_verb(&a, operands[0]), 1);
}

static void defaults_stay(void **state)
{
    char *words[] = { "made", "--own=x", "--stats=json", NULL };
    args a;
    request r = read_words(&a, words);

    (void)state;
    assert_false(r.flag);
    assert_null(r.text);
    assert_int_equal(r.inner.threads, 2);
    assert_int_equal(r.stats, STATS_JSON);
    assert_true(args_given_any(&a, options));
    assert_false(args_given_any(&a, inner_options));
}

static void tables_are_walked_in_order(void **state)
{
    (void)state;
    assert_string_equal(command_option(&made, 3)->name, "count");
    assert_string_equal(command_option(&made, 4)->name, "share");
    assert_string_equal(command_option(&made, 6)->name, "byte-count");
    assert_true(command_includes(&made, inner_options));
    assert_false(command_includes(&made, key_options));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_member),
        cmocka_unit_test(defaults_stay),
        cmocka_unit_test(tables_are_walked_in_order),
    };

    return check_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
