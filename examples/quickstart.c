/* quickstart.c - plan, build, save, load, ask.
 *
 *     cc quickstart.c -o quickstart $(pkg-config --cflags --libs tamis) && ./quickstart */
#include <stdio.h>
#include <string.h>
#include <tamis_file.h>

static uint64_t key_of(const tamis *f, const char *text)
{
    return tamis_key(f, text, strlen(text));
}

/* What is wanted, what it will take, then the filter. */
static tamis_status make(tamis **f)
{
    tamis_spec spec = TAMIS_SPEC(.keys = 1000000, .fpr = 0.01);
    tamis_plan plan;
    tamis_status status = tamis_plan_kind(&plan, TAMIS_BLOCKED, &spec);

    if (status)
        return status;
    printf("planned: %.2f bits per key, rate %.4f\n",
           8.0 * (double)plan.bytes / (double)plan.capacity, plan.fpr);
    return tamis_new(f, &plan, NULL);
}

static tamis_status fill(tamis *f)
{
    static const char *const FRUIT[] = { "apple", "pear", "plum" };
    tamis_status status = TAMIS_OK;

    for (int i = 0; i < 3 && !status; i++)
        status = tamis_add(f, key_of(f, FRUIT[i]));
    return status;
}

static tamis_status save(const char *path)
{
    tamis *f;
    tamis_status status = make(&f);

    if (status)
        return status;
    status = fill(f);
    if (!status)
        status = tamis_save(f, path);
    tamis_free(f);
    return status;
}

static void ask(const tamis *f, const char *text)
{
    printf("%s: %s\n", text, tamis_has(f, key_of(f, text)) ? "probably there" : "not there");
}

int main(void)
{
    const char *path = "fruit.tamis";
    tamis *f;
    tamis_status status = save(path);

    if (!status)
        status = tamis_load(&f, path, NULL);
    if (status) {
        fprintf(stderr, "%s: %s\n", path, tamis_status_text(status));
        return 1;
    }
    ask(f, "pear");
    ask(f, "bread");
    tamis_free(f);
    return 0;
}
