/* svg.c - pictures as SVG. Colours are classes of a style sheet, so that the viewer of a picture
 * chooses between white and dark paper. */
#include <math.h>
#include <string.h>

#include "svg.h"
#include "term/output.h"
#include "term/unicode.h"

static const struct {
    const char *light, *dark;
} PALETTE[] = {
#define SVG_X(name, light, dark) { light, dark },
    SVG_PALETTE(SVG_X)
#undef SVG_X
};

enum { N_PALETTE = sizeof PALETTE / sizeof *PALETTE };

svg_colour svg_colour_at(size_t i)
{
    return (svg_colour)(SVG_COLOUR0 + i % SVG_N_COLOURS);
}

/* ---- Text -------------------------------------------------------------- */

/* Well-formed UTF-8 that XML has no place for: controls, and the two last of the basic plane. */
static bool is_foreign(const char *at)
{
    unsigned char c = (unsigned char)*at;

    return c == 127 || (c < ' ' && c != '\t' && c != '\n') || strncmp(at, "\xEF\xBF\xBE", 3) == 0 ||
           strncmp(at, "\xEF\xBF\xBF", 3) == 0;
}

static void escape_one(buffer *to, const char *at, size_t size)
{
    if (size == 0 || is_foreign(at))
        buffer_print(to, "\xEF\xBF\xBD");
    else if (*at == '<')
        buffer_print(to, "&lt;");
    else if (*at == '>')
        buffer_print(to, "&gt;");
    else if (*at == '&')
        buffer_print(to, "&amp;");
    else if (*at == '"')
        buffer_print(to, "&quot;");
    else
        buffer_append(to, at, size);
}

void svg_escape(buffer *to, const char *text)
{
    for (size_t size; *text; text += size ? size : 1) {
        size = utf8_size(text);
        escape_one(to, text, size);
    }
}

/* Digits, and the letters of most scripts, are 0.5 to 0.6 of their height wide. */
double svg_text_width(svg_font font, const char *text)
{
    return (double)utf8_length(text) * (font.size > 0 ? font.size : 13) *
           (font.is_mono ? 0.61 : 0.56);
}

/* A tenth of a pixel is enough, and zeros at the end are not needed. */
static double tenth(double x)
{
    return round(x * 10) / 10 + 0.0;
}

/* ---- Whole pictures ---------------------------------------------------- */

static void put_rules(svg *s, bool is_dark)
{
    for (int i = 0; i < N_PALETTE; i++) {
        const char *value = is_dark ? PALETTE[i].dark : PALETTE[i].light;
        buffer_print(s, ".f%d{fill:%s}.s%d{stroke:%s}\n", i, value, i, value);
    }
}

void svg_begin(svg *s, double width, double height, const char *title, const char *about)
{
    *s = (svg){ 0 };
    buffer_print(
        s,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
        "viewBox=\"0 0 %.0f %.0f\" role=\"img\" font-family=\"sans-serif\" font-size=\"13\">\n"
        "<title>",
        width, height, width, height);
    svg_escape(s, title);
    buffer_print(s, "</title>\n<desc>");
    svg_escape(s, about);
    buffer_print(s, "</desc>\n<style>\n.m{font-family:monospace}.b{font-weight:bold}\n");
    put_rules(s, false);
    buffer_print(s, "@media (prefers-color-scheme:dark){\n");
    put_rules(s, true);
    buffer_print(s, "}\n</style>\n");
    svg_rect(s, 0, 0, width, height, SVG_PAPER, SVG_NONE);
}

void svg_end(svg *s)
{
    buffer_print(s, "</svg>\n");
}

/* A picture in the picture, with the same places. */
void svg_clip(svg *s, double x, double y, double width, double height)
{
    buffer_print(
        s,
        "<svg x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" viewBox=\"%.6g %.6g %.6g "
        "%.6g\">\n",
        tenth(x), tenth(y), tenth(width), tenth(height), tenth(x), tenth(y), tenth(width),
        tenth(height));
}

void svg_clip_end(svg *s)
{
    svg_end(s);
}

/* ---- Shapes ------------------------------------------------------------ */

void svg_rect(svg *s, double x, double y, double width, double height, svg_colour fill,
              svg_colour edge)
{
    buffer_print(s,
                 "<rect x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" class=\"f%d s%d\"/>\n",
                 tenth(x), tenth(y), tenth(width), tenth(height), fill, edge);
}

void svg_line(svg *s, svg_point from, svg_point to, svg_colour colour)
{
    buffer_print(s, "<line x1=\"%.6g\" y1=\"%.6g\" x2=\"%.6g\" y2=\"%.6g\" class=\"s%d\"/>\n",
                 tenth(from.x), tenth(from.y), tenth(to.x), tenth(to.y), colour);
}

void svg_path(svg *s, const svg_point *points, size_t n, svg_colour colour, bool is_dashed)
{
    buffer_print(s, "<polyline class=\"f%d s%d\" stroke-width=\"2\"%s points=\"", SVG_NONE, colour,
                 is_dashed ? " stroke-dasharray=\"6 4\"" : "");
    for (size_t i = 0; i < n; i++)
        buffer_print(s, "%s%.6g,%.6g", i ? " " : "", tenth(points[i].x), tenth(points[i].y));
    buffer_print(s, "\"/>\n");
}

void svg_dot(svg *s, svg_point at, double radius, svg_colour fill)
{
    buffer_print(s, "<circle cx=\"%.6g\" cy=\"%.6g\" r=\"%.6g\" class=\"f%d\"/>\n", tenth(at.x),
                 tenth(at.y), tenth(radius), fill);
}

void svg_text(svg *s, double x, double y, svg_font font, const char *text)
{
    buffer_print(s, "<text x=\"%.6g\" y=\"%.6g\" class=\"f%d%s%s\"", tenth(x), tenth(y),
                 font.colour, font.is_mono ? " m" : "", font.is_bold ? " b" : "");
    if (font.size > 0)
        buffer_print(s, " font-size=\"%.6g\"", tenth(font.size));
    if (font.anchor)
        buffer_print(s, " text-anchor=\"%s\"", font.anchor == 'm' ? "middle" : "end");
    if (font.turn != 0)
        buffer_print(s, " transform=\"rotate(%.6g %.6g %.6g)\"", font.turn, tenth(x), tenth(y));
    buffer_print(s, " xml:space=\"preserve\">");
    svg_escape(s, text);
    buffer_print(s, "</text>\n");
}

/* ---- Files ------------------------------------------------------------- */

void svg_save(svg *s, const char *path)
{
    if (strcmp(path, "-") == 0)
        output_write(s->bytes, s->size);
    else
        buffer_save(s, path);
    buffer_free(s);
}
