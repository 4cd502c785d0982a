/* chart.c - curves, points and bars with axes.
 *
 * A panel is, from the top: its title, the legend in as many lines as it needs, the frame with the
 * series, the numbers of the x axis and its label. The y axis is to the left of the frame. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chart.h"
#include "term/message.h"

static const double TITLE = 30, LEGEND_LINE = 20, LEFT = 78, RIGHT = 24, BELOW = 54, HEIGHT = 340;

/* ---- Series ------------------------------------------------------------ */

chart_series *chart_add(chart *c, const char *name, chart_shape shape)
{
    if (c->n == CHART_SERIES_MAX)
        die(CODE_LIMIT, "a chart has %d series at most", CHART_SERIES_MAX);
    c->series[c->n] = (chart_series){ .name = name, .shape = shape, .colour = svg_colour_at(c->n) };
    return &c->series[c->n++];
}

void chart_put_range(chart_series *s, double x, double y, double low, double high)
{
    buffer_append(&s->points, &(chart_point){ x, y, low, high, NULL }, sizeof(chart_point));
}

void chart_put(chart_series *s, double x, double y)
{
    chart_put_range(s, x, y, y, y);
}

void chart_put_name(chart_series *s, double x, double y, const char *name)
{
    buffer_append(&s->points, &(chart_point){ x, y, y, y, name }, sizeof(chart_point));
}

void chart_free(chart *c)
{
    for (size_t i = 0; i < c->n; i++)
        buffer_free(&c->series[i].points);
    c->n = 0;
}

/* The point after this one, NULL after the last; NULL gives the first. */
static const chart_point *next_point(const chart_series *s, const chart_point *p)
{
    return buffer_next(&s->points, p, sizeof *p);
}

/* ---- Axes -------------------------------------------------------------- */

/* From values to pixels. A log axis has the logarithms of its ends here. */
typedef struct scale {
    double low, high, from, to;
    bool is_log;
} scale;

static double place(const scale *s, double value)
{
    double at = s->is_log ? log10(value) : value;

    return s->from + (at - s->low) / (s->high - s->low) * (s->to - s->from);
}

/* Whether it can be drawn: a log axis has no place for zero. */
static bool has_place(const scale *s, double value)
{
    return isfinite(value) && (!s->is_log || value > 0);
}

/* At the nearer end of the axis, if it is beyond it. */
static double place_inside(const scale *s, double value)
{
    double at = place(s, value);

    return fmin(fmax(at, fmin(s->from, s->to)), fmax(s->from, s->to));
}

static void find_ends(const chart *c, bool is_x, scale *s)
{
    s->low = INFINITY;
    s->high = -INFINITY;
    for (size_t i = 0; i < c->n; i++)
        for (const chart_point *p = NULL; (p = next_point(&c->series[i], p));) {
            const double ys[] = { p->y, p->low, p->high };
            for (size_t j = 0; j < 3; j++) {
                double value = is_x ? p->x : ys[j];
                s->low = has_place(s, value) ? fmin(s->low, value) : s->low;
                s->high = has_place(s, value) ? fmax(s->high, value) : s->high;
            }
        }
    if (s->low > s->high)
        s->low = s->high = 1;
}

/* The step of 1, 2 or 5 times a power of ten that makes at most that many ticks. */
static double step_of(double range, int most)
{
    double step = pow(10, floor(log10(range / most)));

    for (int i = 0; range / step > most; i++)
        step *= i % 3 == 1 ? 2.5 : 2;
    return step;
}

static void round_linear(scale *s, int most)
{
    if (s->low > 0 && s->low < s->high / 2)
        s->low = 0;
    if (s->high <= s->low)
        s->high = s->low + (s->low != 0 ? fabs(s->low) : 1);
    double step = step_of(s->high - s->low, most);
    s->low = floor(s->low / step + 1e-9) * step;
    s->high = ceil(s->high / step - 1e-9) * step;
}

static void round_log(scale *s)
{
    if (s->high - s->low < 0.3) {
        s->low -= 0.15;
        s->high += 0.15;
    }
    s->low -= (s->high - s->low) * 0.04;
    s->high += (s->high - s->low) * 0.04;
}

enum { MOST_TICKS = 8 };

static bool has_bars(const chart *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->series[i].shape == CHART_BARS)
            return true;
    return false;
}

static double n_names(const chart *c)
{
    return (double)(c->series[0].points.size / sizeof(chart_point));
}

static scale scale_of(const chart *c, bool is_x, double from, double to)
{
    const chart_axis *a = is_x ? &c->x : &c->y;
    scale s = { .low = a->low, .high = a->high, .from = from, .to = to, .is_log = a->is_log };

    if (a->is_named) {
        s.low = -0.5;
        s.high = n_names(c) - 0.5;
        return s;
    }
    if (a->low == a->high)
        find_ends(c, is_x, &s);
    if (s.is_log) {
        s.low = log10(s.low);
        s.high = log10(s.high);
    }
    if (a->low != a->high)
        return s;
    double margin = fmax((s.high - s.low) * 0.03, has_bars(c) ? 0.6 : 0);
    if (s.is_log)
        round_log(&s);
    else if (!is_x)
        round_linear(&s, MOST_TICKS);
    else {
        s.low -= margin > 0 ? margin : 1;
        s.high += margin > 0 ? margin : 1;
    }
    return s;
}

/* 1e-05 as 1e-5, and 1e+06 as 1e6. */
static void format_tick(char text[32], double value)
{
    char *at, *digits;

    snprintf(text, 32, fabs(value) >= 1e5 || (value != 0 && fabs(value) < 1e-3) ? "%.3g" : "%.6g",
             value);
    if (!(at = strchr(text, 'e')))
        return;
    digits = at + 1 + (at[1] == '+' || at[1] == '-');
    if (at[1] == '-')
        at++;
    while (*digits == '0')
        digits++;
    memmove(at + 1, digits, strlen(digits) + 1);
}

/* ---- Frame ------------------------------------------------------------- */

typedef struct panel {
    const chart *chart;
    svg *svg;
    chart_box box; /* of the frame */
    scale x, y;
} panel;

static const svg_font X_NUMBERS = { .colour = SVG_DIM, .size = 12, .anchor = 'm' };
static const svg_font X_TURNED = { .colour = SVG_DIM, .size = 12, .anchor = 'e', .turn = -40 };
static const svg_font Y_NUMBERS = { .colour = SVG_DIM, .size = 12, .anchor = 'e' };
static const svg_font X_LABEL = { .colour = SVG_INK, .size = 13, .anchor = 'm' };
static const svg_font Y_LABEL = { .colour = SVG_INK, .size = 13, .anchor = 'm', .turn = -90 };

static double widest_name(const chart *c)
{
    double widest = 0;

    for (const chart_point *point = NULL; (point = next_point(&c->series[0], point));)
        widest = fmax(widest, svg_text_width(X_NUMBERS, point->name));
    return widest;
}

static bool has_turned_names(const chart *c)
{
    return c->x.is_named && widest_name(c) + 6 > (CHART_WIDTH - LEFT - RIGHT) / n_names(c);
}

static void draw_names_of_x(const panel *p)
{
    double below = p->box.y + p->box.height;
    bool is_turned = has_turned_names(p->chart);

    for (const chart_point *point = NULL; (point = next_point(&p->chart->series[0], point));)
        svg_text(p->svg, place(&p->x, point->x) + (is_turned ? 4 : 0),
                 below + (is_turned ? 14 : 17), is_turned ? X_TURNED : X_NUMBERS, point->name);
}

/* A number, and a line through the frame. */
static void draw_tick(const panel *p, bool is_x, double value)
{
    const scale *s = is_x ? &p->x : &p->y;
    double at = s->is_log ? log10(value) : value, slack = (s->high - s->low) * 1e-9;
    double x = is_x ? place(s, value) : p->box.x, y = is_x ? p->box.y : place(s, value);
    double to_x = is_x ? x : x + p->box.width, to_y = is_x ? y + p->box.height : y;
    char text[32];

    if (at < s->low - slack || at > s->high + slack)
        return;
    svg_line(p->svg, (svg_point){ x, y }, (svg_point){ to_x, to_y }, SVG_FAINT);
    format_tick(text, value);
    if (is_x)
        svg_text(p->svg, x, to_y + 17, X_NUMBERS, text);
    else
        svg_text(p->svg, x - 7, y + 4, Y_NUMBERS, text);
}

static void draw_ticks(const panel *p, bool is_x)
{
    const scale *s = is_x ? &p->x : &p->y;
    double range = s->high - s->low, step = step_of(range, MOST_TICKS);
    double every = fmax(1, ceil(range / MOST_TICKS));

    for (double power = floor(s->low); s->is_log && power <= s->high; power += every) {
        draw_tick(p, is_x, pow(10, power));
        if (range < 2.5) {
            draw_tick(p, is_x, 2 * pow(10, power));
            draw_tick(p, is_x, 5 * pow(10, power));
        }
    }
    for (double i = ceil(s->low / step - 1e-9); !s->is_log && i * step <= s->high + step * 1e-9;
         i++)
        draw_tick(p, is_x, i * step + 0.0); /* no -0 */
}

/* ---- Legend ------------------------------------------------------------ */

static bool has_dots(chart_shape shape)
{
    return shape == CHART_DOTS || shape == CHART_LINE_DOTS;
}

static bool has_line(chart_shape shape)
{
    return shape != CHART_DOTS && shape != CHART_BARS;
}

static void draw_sample(svg *s, const chart_series *series, double x, double y)
{
    svg_point line[] = { { x, y - 4 }, { x + 24, y - 4 } };

    if (series->shape == CHART_BARS)
        svg_rect(s, x + 6, y - 10, 12, 12, series->colour, SVG_NONE);
    if (has_line(series->shape))
        svg_path(s, line, 2, series->colour, series->shape == CHART_DASHES);
    if (has_dots(series->shape))
        svg_dot(s, (svg_point){ x + 12, y - 4 }, 4, series->colour);
}

/* Without a picture, tells how many lines it takes. */
static int draw_legend(svg *s, const chart *c, double y)
{
    svg_font font = { .colour = SVG_INK, .size = 13 };
    double x = LEFT;
    int lines = 0;

    for (size_t i = 0; i < c->n; i++) {
        if (!c->series[i].name)
            continue;
        double width = 30 + svg_text_width(font, c->series[i].name) + 18;
        if (lines == 0 || x + width > CHART_WIDTH - RIGHT) {
            x = LEFT;
            lines++;
        }
        if (s) {
            draw_sample(s, &c->series[i], x, y + lines * LEGEND_LINE - 6);
            svg_text(s, x + 30, y + lines * LEGEND_LINE - 6, font, c->series[i].name);
        }
        x += width;
    }
    return lines;
}

/* ---- Series in the frame ----------------------------------------------- */

static svg_point spot(const panel *p, double x, double y)
{
    return (svg_point){ place_inside(&p->x, x), place_inside(&p->y, y) };
}

static bool is_drawable(const panel *p, const chart_point *at)
{
    return has_place(&p->x, at->x) && has_place(&p->y, at->y);
}

static void draw_line(const panel *p, const chart_series *s)
{
    buffer path = { 0 };

    for (const chart_point *point = NULL; (point = next_point(s, point));)
        if (is_drawable(p, point)) {
            svg_point at = { place(&p->x, point->x), place(&p->y, point->y) };
            buffer_append(&path, &at, sizeof at);
        }
    svg_clip(p->svg, p->box.x, p->box.y, p->box.width, p->box.height);
    if (path.size)
        svg_path(p->svg, (const void *)path.bytes, path.size / sizeof(svg_point), s->colour,
                 s->shape == CHART_DASHES);
    svg_clip_end(p->svg);
    buffer_free(&path);
}

static void draw_range(const panel *p, const chart_point *point, svg_colour colour)
{
    if (point->low >= point->high || !has_place(&p->y, point->high))
        return;
    double low = has_place(&p->y, point->low) ? point->low : 0;
    svg_point ends[] = { spot(p, point->x, low), spot(p, point->x, point->high) };
    svg_line(p->svg, ends[0], ends[1], colour);
    for (size_t i = 0; i < 2; i++)
        svg_line(p->svg, (svg_point){ ends[i].x - 4, ends[i].y },
                 (svg_point){ ends[i].x + 4, ends[i].y }, colour);
}

static void draw_dots(const panel *p, const chart_series *s)
{
    for (const chart_point *point = NULL; (point = next_point(s, point));)
        if (is_drawable(p, point)) {
            draw_range(p, point, s->colour);
            svg_dot(p->svg, spot(p, point->x, point->y), 3.5, s->colour);
        }
}

/* Series of bars share the room of one step of x: its number among them, and how many there are. */
static size_t bars_of(const chart *c, const chart_series *s, size_t *rank)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++) {
        if (&c->series[i] == s)
            *rank = n;
        n += c->series[i].shape == CHART_BARS;
    }
    return n;
}

static void draw_bars(const panel *p, const chart_series *s)
{
    size_t rank = 0, n = bars_of(p->chart, s, &rank);
    double width = fabs(place(&p->x, 1) - place(&p->x, 0)) * 0.8 / (double)n;
    double foot = p->box.y + p->box.height;

    for (const chart_point *point = NULL; (point = next_point(s, point));) {
        svg_point at = spot(p, point->x, point->y);
        double left = at.x + width * ((double)rank - (double)n / 2);
        if (is_drawable(p, point))
            svg_rect(p->svg, left, at.y, width, foot - at.y, s->colour, SVG_NONE);
    }
}

static void draw_series(const panel *p)
{
    for (size_t i = 0; i < p->chart->n; i++) {
        const chart_series *s = &p->chart->series[i];
        if (s->shape == CHART_BARS)
            draw_bars(p, s);
        if (has_line(s->shape))
            draw_line(p, s);
        if (has_dots(s->shape))
            draw_dots(p, s);
    }
}

/* ---- Names of points --------------------------------------------------- */

enum { NAMES_MAX = 128 };

/* What is taken, by points and by names that are written already. */
typedef struct taken {
    chart_box boxes[2 * NAMES_MAX];
    size_t n;
} taken;

static void take(taken *t, chart_box box)
{
    if (t->n < sizeof t->boxes / sizeof *t->boxes)
        t->boxes[t->n++] = box;
}

static double common_area(chart_box a, chart_box b)
{
    double width = fmin(a.x + a.width, b.x + b.width) - fmax(a.x, b.x);
    double height = fmin(a.y + a.height, b.y + b.height) - fmax(a.y, b.y);

    return width > 0 && height > 0 ? width * height : 0;
}

/* How much of it is taken or lies outside the frame. */
static double crowding(const taken *t, chart_box frame, chart_box box)
{
    double sum = box.width * box.height - common_area(frame, box);

    for (size_t i = 0; i < t->n; i++)
        sum += common_area(t->boxes[i], box);
    return sum;
}

/* The place round the point where it covers least: near before far. */
static chart_box find_room(const taken *t, chart_box frame, svg_point at, double width)
{
    chart_box best = { 0 };
    double least = INFINITY;

    for (int ring = 0; ring < 4; ring++)
        for (int i = 0; i < 12; i++) {
            double angle = i * 3.14159265358979 / 6, far = 8 + 11 * ring;
            double x = at.x + cos(angle) * far, y = at.y + sin(angle) * far;
            double left = x - width / 2 + cos(angle) * width / 2;
            chart_box box = { left, y - 7 + sin(angle) * 4, width, 14 };
            double covers = crowding(t, frame, box);
            if (covers < least - 1e-9) {
                least = covers;
                best = box;
            }
        }
    return best;
}

static void draw_name(const panel *p, taken *t, const chart_series *s, const chart_point *point)
{
    svg_font font = { .colour = s->colour, .size = 12, .anchor = 'm' };
    svg_point at = spot(p, point->x, point->y);
    chart_box box = find_room(t, p->box, at, svg_text_width(font, point->name) + 4);
    double x = box.x + box.width / 2, y = box.y + box.height / 2;

    take(t, box);
    if (hypot(fmax(fabs(x - at.x) - box.width / 2, 0), y - at.y) > 14)
        svg_line(p->svg, at,
                 (svg_point){ fmax(box.x, fmin(at.x, box.x + box.width)),
                              y < at.y ? box.y + box.height : box.y },
                 s->colour);
    svg_text(p->svg, x, y + 4, font, point->name);
}

/* All points come before the first name. */
static void draw_names(const panel *p)
{
    taken t = { 0 };

    for (int names = 0; names < 2; names++)
        for (size_t i = 0; i < p->chart->n; i++)
            for (const chart_point *point = NULL;
                 (point = next_point(&p->chart->series[i], point));) {
                svg_point at = spot(p, point->x, point->y);
                if (!point->name || !is_drawable(p, point))
                    continue;
                if (names)
                    draw_name(p, &t, &p->chart->series[i], point);
                else
                    take(&t, (chart_box){ at.x - 4, at.y - 4, 8, 8 });
            }
}

/* ---- Panels ------------------------------------------------------------ */

static double height_of(const chart *c)
{
    return c->height > 0 ? c->height : HEIGHT;
}

/* What names that are turned need below the frame beyond a line of numbers. */
static double names_height(const chart *c)
{
    return has_turned_names(c) ? widest_name(c) * 0.64 - 4 : 0;
}

static void draw_axes(svg *s, const chart *c, double top)
{
    int lines = draw_legend(s, c, top + TITLE - 4);
    double y = top + TITLE + lines * LEGEND_LINE + 4, bottom = top + height_of(c);
    panel p = { .chart = c, .svg = s };

    p.box =
        (chart_box){ LEFT, y, CHART_WIDTH - LEFT - RIGHT, bottom - BELOW - names_height(c) - y };
    p.x = scale_of(c, true, p.box.x, p.box.x + p.box.width);
    p.y = scale_of(c, false, p.box.y + p.box.height, p.box.y);
    if (c->x.is_named)
        draw_names_of_x(&p);
    else
        draw_ticks(&p, true);
    draw_ticks(&p, false);
    svg_text(s, 18, p.box.y + p.box.height / 2, Y_LABEL, c->y.label);
    draw_series(&p);
    if (!c->x.is_named)
        draw_names(&p);
    svg_rect(s, p.box.x, p.box.y, p.box.width, p.box.height, SVG_NONE, SVG_DIM);
    svg_text(s, p.box.x + p.box.width / 2, bottom - 14, X_LABEL, c->x.label);
}

static void draw_panel(svg *s, const chart *c, double top)
{
    svg_font font = { .colour = SVG_INK, .size = 15, .is_bold = true };
    chart_box box = { LEFT, top + TITLE + 4, CHART_WIDTH - LEFT - RIGHT,
                      height_of(c) - TITLE - 14 };

    svg_text(s, LEFT, top + TITLE - 8, font, c->title);
    if (c->paint)
        c->paint(c->ctx, s, box);
    else
        draw_axes(s, c, top);
}

void chart_draw(svg *s, const char *title, const char *about, const chart *charts, size_t n)
{
    double height = 8, top = 4;

    for (size_t i = 0; i < n; i++)
        height += height_of(&charts[i]);
    svg_begin(s, CHART_WIDTH, height, title, about);
    for (size_t i = 0; i < n; i++) {
        draw_panel(s, &charts[i], top);
        top += height_of(&charts[i]);
    }
    svg_end(s);
}
