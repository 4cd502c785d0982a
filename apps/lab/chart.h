/* chart.h - curves, points and bars with axes, one panel above the other in a picture. */
#ifndef TAMIS_APPS_LAB_CHART_H
#define TAMIS_APPS_LAB_CHART_H

#include "text/svg.h"

typedef enum chart_shape {
    CHART_LINE,
    CHART_DASHES,
    CHART_DOTS, /* with a bar from low to high, where there is one */
    CHART_LINE_DOTS,
    CHART_BARS /* side by side with those of other series */
} chart_shape;

typedef struct chart_point {
    double x, y;
    double low, high; /* both y: no range */
    const char *name; /* written beside it, or below the axis; NULL: none. It outlives the chart. */
} chart_point;

/* A name that is NULL is not in the legend. */
typedef struct chart_series {
    const char *name;
    chart_shape shape;
    svg_colour colour;
    buffer points; /* of chart_point */
} chart_series;

typedef struct chart_axis {
    const char *label;
    bool is_log;
    /* Where they start and end; both 0: where the points do. */
    double low, high;
    /* The points are at 0, 1, ..., and those of the first series have the names that stand there.
     */
    bool is_named;
} chart_axis;

enum { CHART_SERIES_MAX = 16 };

/* Where a panel may draw. */
typedef struct chart_box {
    double x, y, width, height;
} chart_box;

typedef struct chart {
    const char *title;
    chart_axis x, y;
    chart_series series[CHART_SERIES_MAX];
    size_t n;
    double height; /* of the panel; 0: 340 */
    /* Draws below the title in place of axes and series; NULL: these are drawn. */
    void (*paint)(const void *ctx, svg *s, chart_box box);
    const void *ctx;
} chart;

enum { CHART_WIDTH = 760 };

/* A new series in a colour of its own. The pointer stays valid until chart_free(). */
chart_series *chart_add(chart *c, const char *name, chart_shape shape);
void chart_put(chart_series *s, double x, double y);
void chart_put_range(chart_series *s, double x, double y, double low, double high);
void chart_put_name(chart_series *s, double x, double y, const char *name);
void chart_free(chart *c);

/* Panels below each other. */
void chart_draw(svg *s, const char *title, const char *about, const chart *charts, size_t n);

#endif
