/* svg.h - pictures as SVG, readable on a white page and on a dark one.
 *
 * Places and sizes are in pixels, from the upper left corner. Colours have a role, and a value for
 * each of the two pages. */
#ifndef TAMIS_CLI_TEXT_SVG_H
#define TAMIS_CLI_TEXT_SVG_H

#include <stdbool.h>

#include "term/buffer.h"

/* Constant, its value on a white page, its value on a dark one. The six colours are told apart by
 * most colour-blind eyes too. Tints are cells that ink is written on, each of the colour with its
 * number. */
#define SVG_PALETTE(X)               \
    X(NONE, "none", "none")          \
    X(PAPER, "#ffffff", "#14171c")   \
    X(INK, "#1b1f24", "#e8eaed")     \
    X(DIM, "#59626d", "#a3acb8")     \
    X(FAINT, "#d9dee4", "#39414b")   \
    X(MARK, "#c8102e", "#ff6b7a")    \
    X(COLOUR0, "#0068a8", "#58b0ef") \
    X(COLOUR1, "#cc5500", "#ff9a52") \
    X(COLOUR2, "#00795a", "#35cfa0") \
    X(COLOUR3, "#a2307a", "#ef8cc4") \
    X(COLOUR4, "#8a6d00", "#e3c04a") \
    X(COLOUR5, "#5b5bd6", "#aaaaff") \
    X(TINT0, "#d3e7f6", "#1c415c")   \
    X(TINT1, "#fbdfc9", "#5f3717")   \
    X(TINT2, "#cdeee2", "#14503f")   \
    X(TINT3, "#f4d8e9", "#5a2647")   \
    X(TINT4, "#f3e9bf", "#4f4413")   \
    X(TINT5, "#e2e2fa", "#37376b")

typedef enum svg_colour {
#define SVG_X(name, light, dark) SVG_##name,
    SVG_PALETTE(SVG_X)
#undef SVG_X
} svg_colour;

enum { SVG_N_COLOURS = 6 };

/* SVG_COLOUR0 to SVG_COLOUR5, and round again. */
svg_colour svg_colour_at(size_t i);

typedef buffer svg; /* its text so far */

typedef struct svg_font {
    svg_colour colour; /* of the letters */
    double size;       /* pixels; 0: 13 */
    char anchor;       /* what `x` is of the text: 0 its start, 'm' its middle, 'e' its end */
    bool is_mono, is_bold;
    double turn; /* degrees, clockwise, about its place */
} svg_font;

typedef struct svg_point {
    double x, y;
} svg_point;

/* `title` and `about` are what a screen reader tells. */
void svg_begin(svg *s, double width, double height, const char *title, const char *about);
void svg_end(svg *s);
/* A filled rectangle with an edge; each of them may be SVG_NONE. */
void svg_rect(svg *s, double x, double y, double width, double height, svg_colour fill,
              svg_colour edge);
void svg_line(svg *s, svg_point from, svg_point to, svg_colour colour);
/* A line through n points, 2 pixels wide. */
void svg_path(svg *s, const svg_point *points, size_t n, svg_colour colour, bool is_dashed);
void svg_dot(svg *s, svg_point at, double radius, svg_colour fill);
/* `y` is where its letters stand. Any bytes: those that XML does not know become U+FFFD. */
void svg_text(svg *s, double x, double y, svg_font font, const char *text);
/* What comes until the end is drawn inside this rectangle only. */
void svg_clip(svg *s, double x, double y, double width, double height);
void svg_clip_end(svg *s);

/* About how wide a text is. */
double svg_text_width(svg_font font, const char *text);

/* Appends text as XML has it. */
void svg_escape(buffer *to, const char *text);
/* Writes it to a file, "-" for standard output, and frees it. A failure ends the program. */
void svg_save(svg *s, const char *path);

#endif
