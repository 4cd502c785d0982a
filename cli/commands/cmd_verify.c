/* cmd_verify.c - tamis verify: is every byte of a filter as it was written? */
#include <stdio.h>

#include "commands.h"
#include "filters/collection_member.h"
#include "filters/store.h"
#include "term/message.h"
#include "text/json.h"

typedef struct subject {
    stored from;
    json *json; /* NULL: print text */
} subject;

/* `filter` is the name of one of a collection, or NULL. */
static void print_named_fault(void *ctx, const char *filter, const char *why, uint64_t offset,
                              uint64_t size)
{
    const subject *s = ctx;

    if (!s->json) {
        printf("%s%s%s: %s in MiB %" PRIu64 ", bytes %" PRIu64 " to %" PRIu64 "\n", s->from.name,
               filter ? ":" : "", filter ? filter : "", why, offset >> 20, offset,
               offset + (size > 0 ? size - 1 : 0));
        return;
    }
    json_open(s->json, NULL, '{');
    if (filter)
        json_text(s->json, "filter", filter);
    json_text(s->json, "why", why);
    json_count(s->json, "offset", offset);
    json_count(s->json, "bytes", size);
    json_close(s->json, '}');
}

static void print_fault(void *ctx, const char *why, uint64_t offset, uint64_t size)
{
    print_named_fault(ctx, NULL, why, offset, size);
}

static int print_verdict(const subject *s, tamis_status status)
{
    if (status == TAMIS_CORRUPT) {
        say("%s is damaged; restore a copy or build it again", s->from.name);
        return CODE_CORRUPT;
    }
    if (status)
        return report("verify", s->from.name, status);
    if (!s->json)
        printf("%s: ok\n", s->from.name);
    return CODE_OK;
}

static tamis_status recover(const subject *s)
{
    tamis *f;
    tamis_status status = tamis_map(&f, s->from.path, TAMIS_MAP_WRITE | TAMIS_MAP_RECOVER, NULL);

    if (status)
        return status;
    status = tamis_sync(f);
    tamis_free(f);
    if (status == TAMIS_OK && !s->json)
        printf("%s: recovered; keys added since its last sync may be missing\n", s->from.name);
    return status;
}

static int verify_collection(subject *s)
{
    tamis_collection *c;
    tamis_status status = tamis_collection_open(&c, s->from.path, NULL);

    if (status) {
        if (status == TAMIS_CORRUPT)
            print_fault(s, "the header does not fit the file, or is damaged", 0, 4096);
        return print_verdict(s, status);
    }
    status = tamis_collection_verify(c, print_named_fault, s);
    tamis_collection_free(c);
    return print_verdict(s, status);
}

/* Why it cannot even be mapped. */
static int refuse(subject *s, tamis_status status)
{
    uint64_t is, should;

    if (status != TAMIS_CORRUPT)
        return store_report("read", &s->from, status);
    if (store_has_other_size(&s->from, &is, &should)) {
        if (s->json)
            print_fault(s, is < should ? "cut short" : "too long", is < should ? is : should,
                        is < should ? should - is : is - should);
        return store_report("read", &s->from, status);
    }
    print_fault(s, "the header is damaged", 0, 256);
    say("%s is damaged; restore a copy or build it again", s->from.name);
    return CODE_CORRUPT;
}

static int verify(subject *s, bool may_recover)
{
    tamis *f;
    tamis_status status = tamis_map(&f, s->from.path, 0, NULL);
    int code;

    /* Only a file that says it is dirty: giving a damaged one new checksums would hide the damage.
     */
    if (status == TAMIS_DIRTY && may_recover && !(status = recover(s)))
        status = tamis_map(&f, s->from.path, 0, NULL);
    if (status == TAMIS_FOREIGN && member_is_collection(s->from.path))
        return verify_collection(s);
    if (status)
        return refuse(s, status);
    code = print_verdict(s, tamis_verify(f, print_fault, s));
    tamis_free(f);
    return code;
}

static int verify_as_json(subject *s, bool may_recover)
{
    int code;

    json_open(s->json, NULL, '{');
    json_text(s->json, "file", s->from.name);
    json_open(s->json, "faults", '[');
    code = verify(s, may_recover);
    json_close(s->json, ']');
    json_bool(s->json, "ok", code == CODE_OK);
    json_close(s->json, '}');
    return code;
}

typedef struct request {
    bool may_recover, as_json;
} request;

static int run(args *a)
{
    request r = { 0 };
    int code = CODE_OK;
    json j = { 0 };

    args_read(a, &r);
    store_catch_truncation();
    char **path = args_operands(a, 1, SIZE_MAX, "the FILE to verify");
    if (r.as_json)
        json_open(&j, NULL, '[');
    for (; *path; path++) {
        subject s = { store_open(*path), r.as_json ? &j : NULL };
        int result = (r.as_json ? verify_as_json : verify)(&s, r.may_recover);

        code = result ? result : code;
    }
    if (r.as_json)
        json_close(&j, ']');
    return code;
}

static const option_row options[] = {
    { 0, "recover", NULL, "make a file whole whose writer stopped half-way",
      TO_FLAG(request, may_recover) },
    { 0, "json", NULL, "print JSON: an array with one object per FILE", TO_FLAG(request, as_json) },
    { 0 },
};

const command cmd_verify = { "verify", help_verify, options, .run = run };
