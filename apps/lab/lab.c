/* lab.c - the frame of all experiments: options, keys, the table and where it goes. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lab.h"
#include "lab_report.h"
#include "term/array.h"

static const experiment *const EXPERIMENTS[] = {
#define LAB_X(name) &lab_##name,
    LAB_EXPERIMENTS(LAB_X)
#undef LAB_X
};

static bool has_kinds(const experiment *e)
{
    for (const tamis_kind *kind = e->kinds; *kind; kind++)
        if (!tamis_kind_can(*kind))
            return false;
    return true;
}

const experiment *lab_at(size_t i)
{
    for (size_t at = 0; at < sizeof EXPERIMENTS / sizeof *EXPERIMENTS; at++)
        if (has_kinds(EXPERIMENTS[at]) && i-- == 0)
            return EXPERIMENTS[at];
    return NULL;
}

const experiment *lab_find(const char *name)
{
    const experiment *e;

    for (size_t i = 0; (e = lab_at(i)) && strcmp(e->name, name) != 0;)
        i++;
    return e;
}

/* ---- Options ----------------------------------------------------------- */

/* The table goes to standard output, and nothing else. */
static void take_file(void *into, const args *a)
{
    if (strcmp(a->value, "-") == 0)
        args_refuse(a, "--csv and --svg write to files; --json prints for programs");
    option_text(into, a);
}

const option_row lab_options[] = {
    { 0, "seed", "N", "other keys and hashes (default: 1); the same seed, the same output",
      TO_INTEGER(lab, seed) },
    { 0, "csv", "FILE", "write the table as CSV", .take = take_file,
      OPTION_MEMBER(const char *, lab, csv) },
    { 0, "svg", "FILE", "write a picture of it", .take = take_file,
      OPTION_MEMBER(const char *, lab, svg) },
    { 0, "json", NULL, "print JSON: the rows, and what is seen", TO_FLAG(lab, as_json) },
    { 0, "time", NULL, "show columns of time too, which differ from run to run",
      TO_FLAG(lab, with_times) },
    { 0, "quick", NULL, "fewer keys: a fraction of a second, and wider bounds",
      TO_FLAG(lab, is_quick) },
    { 0 },
};

uint64_t lab_choice(const lab *l, uint64_t chosen, uint64_t usual, uint64_t quick)
{
    return chosen ? chosen : l->is_quick ? quick : usual;
}

/* ---- Random numbers and keys ------------------------------------------- */

/* splitmix64: a permutation of a counter. */
uint64_t lab_draw(lab_random *r)
{
    uint64_t x = r->state += UINT64_C(0x9E3779B97F4A7C15);

    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

lab_random lab_stream(const lab *l, uint64_t purpose)
{
    lab_random r = { l->seed ^ purpose * UINT64_C(0xD1B54A32D192ED03) };

    r.state = lab_draw(&r);
    return r;
}

uint64_t lab_draw_below(lab_random *r, uint64_t n)
{
    return lab_draw(r) % n;
}

double lab_draw_unit(lab_random *r)
{
    return (double)(lab_draw(r) >> 11) * 0x1p-53;
}

/* How many numbers between 0 and 1 can be multiplied before the product is below e^-mean. The mean
 * is taken in pieces: the sum of Poisson numbers is one. */
uint64_t lab_draw_poisson(lab_random *r, double mean)
{
    const double piece = 16;
    uint64_t sum = 0;

    for (; mean > 0; mean -= piece) {
        double product = lab_draw_unit(r), end = exp(-fmin(mean, piece));
        for (; product > end; sum++)
            product *= lab_draw_unit(r);
    }
    return sum;
}

lab_zipf lab_zipf_new(uint64_t n, double power)
{
    lab_zipf z = { array_new(n, sizeof *z.sums, "numbers"), (size_t)n };
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        z.sums[i] = sum += pow((double)i + 1, -power);
    for (size_t i = 0; i < n; i++)
        z.sums[i] /= sum;
    return z;
}

size_t lab_draw_zipf(const lab_zipf *z, lab_random *r)
{
    double at = lab_draw_unit(r);
    size_t low = 0, high = z->n - 1;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (z->sums[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

uint64_t *lab_draw_keys(lab_random *r, uint64_t n)
{
    uint64_t *keys = array_new(n, sizeof *keys, "numbers");

    for (size_t i = 0; i < n; i++)
        keys[i] = lab_draw(r);
    return keys;
}

/* ---- Filters ----------------------------------------------------------- */

static _Noreturn void refuse(const lab *l, const char *what, tamis_kind kind, tamis_status status)
{
    int code = status == TAMIS_NOMEM ? CODE_MEMORY : status == TAMIS_FULL ? CODE_LIMIT : CODE_USAGE;

    die(code, "lab %s: cannot %s a %s filter: %s", l->experiment->name, what, tamis_kind_name(kind),
        tamis_status_text(status));
}

tamis_plan lab_plan(const lab *l, tamis_kind kind, const tamis_spec *spec)
{
    tamis_plan plan;
    tamis_spec raw = *spec;

    raw.hasher = (tamis_hasher){ .hash = TAMIS_RAW, .seed = l->seed };
    tamis_status status = tamis_plan_kind(&plan, kind, &raw);
    if (status)
        refuse(l, "plan such", kind, status);
    return plan;
}

tamis *lab_new(const lab *l, const tamis_plan *plan)
{
    tamis *f;
    tamis_status status = tamis_new(&f, plan, NULL);

    if (status)
        refuse(l, "make", plan->kind, status);
    return f;
}

double lab_rate(const tamis *f)
{
    tamis_info info = { .size = sizeof info };

    tamis_get_info(f, &info);
    return info.fpr;
}

tamis *lab_filter(const lab *l, const tamis_plan *plan, const uint64_t *keys, uint64_t n)
{
    bool adds = tamis_kind_can(plan->kind) & TAMIS_CAN_ADD;
    tamis *f = NULL;
    size_t given = (size_t)n, added;
    tamis_status status =
        adds ? tamis_new(&f, plan, NULL) : tamis_build(&f, plan, keys, given, NULL);

    if (!status && adds)
        status = tamis_add_many(f, &added, keys, given);
    if (status)
        refuse(l, "fill", plan->kind, status);
    return f;
}

uint64_t lab_count_hits(const tamis *f, lab_random *r, uint64_t n)
{
    enum { PIECE = 4096 };
    uint64_t keys[PIECE], hits[PIECE / 64], found = 0;

    while (n > 0) {
        size_t size = n < PIECE ? (size_t)n : PIECE;
        for (size_t i = 0; i < size; i++)
            keys[i] = lab_draw(r);
        found += tamis_has_many(f, hits, keys, size);
        n -= size;
    }
    return found;
}

double lab_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ---- The table --------------------------------------------------------- */

lab_cell lab_format(const char *format, ...)
{
    lab_cell cell = { .type = CELL_TEXT };
    va_list list;

    va_start(list, format);
    vsnprintf(cell.text, sizeof cell.text, format, list);
    va_end(list);
    return cell;
}

lab_cell lab_text(const char *text)
{
    return lab_format("%s", text);
}

lab_cell lab_count(uint64_t value)
{
    lab_cell cell = { .type = CELL_COUNT, .count = value };

    snprintf(cell.text, sizeof cell.text, "%" PRIu64, value);
    return cell;
}

lab_cell lab_none(void)
{
    return (lab_cell){ .is_none = true, .type = CELL_REAL, .text = "-" };
}

lab_cell lab_real(double value)
{
    lab_cell cell = { .type = CELL_REAL, .real = value };

    snprintf(cell.text, sizeof cell.text, "%.4g", value);
    return isnan(value) ? lab_none() : cell;
}

lab_cell lab_inside(chance_range range, double value)
{
    bool is_inside = value >= range.low && value <= range.high;
    lab_cell cell = { .type = CELL_INSIDE, .count = is_inside };

    snprintf(cell.text, sizeof cell.text, is_inside ? "yes" : "no");
    return isnan(range.low) ? lab_none() : cell;
}

void lab_row(const lab *l, const lab_cell *cells, size_t n)
{
    lab_result *t = l->result;

    buffer_append(&t->cells, cells, n * sizeof *cells);
    for (size_t i = 0; i < n; i++)
        if (cells[i].type == CELL_INSIDE) {
            t->tested++;
            t->inside += cells[i].count != 0;
        }
}

/* They are the first row. */
void lab_columns(const lab *l, const char *names)
{
    lab_result *t = l->result;

    for (size_t size; *names; names += size + strspn(names + size, "* ")) {
        size = strcspn(names, "* ");
        lab_cell name = lab_format("%.*s", (int)size, names);
        t->is_time[t->n_columns++] = names[size] == '*';
        lab_row(l, &name, 1);
    }
}

void lab_note(const lab *l, const char *format, ...)
{
    char text[1024];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    buffer_append(&l->result->notes, text, strlen(text) + 1);
}

chart *lab_chart(const lab *l, const char *title, const char *x, const char *y)
{
    lab_result *t = l->result;

    if (t->n_charts == LAB_CHARTS_MAX)
        die(CODE_LIMIT, "a picture has %d panels at most", LAB_CHARTS_MAX);
    t->charts[t->n_charts] = (chart){ .title = title, .x.label = x, .y.label = y };
    return &t->charts[t->n_charts++];
}

/* ---- Runs -------------------------------------------------------------- */

static lab *begin(const experiment *e, lab_result *result)
{
    lab *l = e->request;

    *result = (lab_result){ 0 };
    *l = (lab){ .seed = 1, .experiment = e, .result = result };
    return l;
}

/* All of one experiment in the order that it came. */
static void run(const lab *l)
{
    lab_result *t = l->result;

    t->with_times = l->with_times;
    l->experiment->run(l->experiment->request);
    if (t->tested)
        lab_note(l, "Inside the bounds of 99.9 %%: %zu of %zu.", t->inside, t->tested);
    if (l->csv)
        report_csv(t, l->csv);
    if (l->svg)
        report_svg(l->experiment, t, l->svg);
}

static void end(lab_result *t)
{
    for (size_t i = 0; i < t->n_charts; i++)
        chart_free(&t->charts[i]);
    buffer_free(&t->cells);
    buffer_free(&t->notes);
}

void lab_run(const experiment *e, args *a)
{
    lab_result result;
    lab *l = begin(e, &result);

    l->args = a;
    args_read(a, l);
    args_operands(a, 0, 0, "nothing");
    run(l);
    if (l->as_json)
        report_json(l);
    else
        report_print(&result);
    end(&result);
}

/* Files of one experiment are called after it. */
static void run_into(const experiment *e, const char *folder, buffer *page, uint64_t seed,
                     bool is_quick)
{
    char table_path[LAB_PATH_MAX], picture_path[LAB_PATH_MAX];
    lab_result result;
    lab *l = begin(e, &result);

    report_path(table_path, folder, e->name, ".csv");
    report_path(picture_path, folder, e->name, ".svg");
    l->seed = seed;
    l->is_quick = is_quick;
    l->csv = table_path;
    l->svg = picture_path;
    run(l);
    report_section(page, e, &result);
    if (result.tested)
        printf("%-10s %zu of %zu inside\n", e->name, result.inside, result.tested);
    else
        printf("%-10s no bounds\n", e->name);
    fflush(stdout); /* output_end() looks at the stream */
    end(&result);
}

void lab_run_all(const char *folder, uint64_t seed, bool is_quick)
{
    const experiment *e;
    buffer page = { 0 };

    report_folder(folder);
    report_begin(&page, seed);
    for (size_t i = 0; (e = lab_at(i)); i++)
        run_into(e, folder, &page, seed, is_quick);
    report_end(&page, folder);
}
