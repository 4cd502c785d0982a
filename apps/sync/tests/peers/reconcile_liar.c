/* reconcile_liar.c - one side of `tamis reconcile`, which lies.
 *
 *     reconcile_liar WHAT
 *
 * It greets as the program does, and its frames are whole: only what they say is wrong. It serves,
 * unless WHAT begins with "ask". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../reconcile_talk.h"
#include "wire/packed_message.h"

/* It has the lines 1 to 3000, if it says nothing else. */
enum { LINES = 3000 };

typedef struct liar {
    reconcile talk;
    const char *what;
    tamis_symbols *symbols;
    uint64_t sent;
    uint64_t state; /* of its dice */
} liar;

static bool is(const liar *l, const char *what)
{
    return strcmp(l->what, what) == 0;
}

static void read_lines(line_set *s)
{
    char text[16];

    s->end = '\n';
    for (int i = 1; i <= LINES; i++)
        buffer_append(&s->text, text, (size_t)snprintf(text, sizeof text, "%d\n", i));
}

static uint64_t throw_dice(liar *l)
{
    l->state = l->state * 6364136223846793005 + 1442695040888963407;
    return l->state ^ l->state >> 29;
}

static void send_symbols(liar *l, uint64_t n)
{
    buffer body = { 0 };
    tamis_symbol s;

    for (; n > 0; n--) {
        tamis_symbols_next(l->symbols, &s, 1);
        if (is(l, "random") && l->sent > 0)
            s = (tamis_symbol){ throw_dice(l), throw_dice(l), s.count };
        coded_put_symbol(&body, &s, l->sent++, LINES);
        if (n > 1 && body.size < 200000)
            continue;
        line_send(l->talk.line, PART_SYMBOLS, body.bytes, body.size);
        body.size = 0;
    }
    buffer_free(&body);
}

static void answer_question(liar *l, const uint8_t *secret)
{
    uint64_t n = is(l, "huge") ? UINT64_C(1) << 60 : LINES;
    buffer body = { 0 };

    line_set_hash_by(&l->talk.here, secret);
    if (!line_set_index(&l->talk.here))
        exit(1);
    tamis_symbols_free(l->symbols);
    l->symbols = reconcile_symbols(&l->talk, secret);
    l->sent = 0;
    coded_put_number(&body, is(l, "again") ? RECONCILE_AGAIN : RECONCILE_FINE);
    coded_put_number(&body, n);
    coded_put_number(&body, n);
    line_put(l->talk.line, PART_SET, &body);
    if (!is(l, "again"))
        send_symbols(l, TAMIS_SYMBOLS_FIRST);
}

/* Lines as they are. */
static void send_text(liar *l, const char *text)
{
    buffer message = { 0 };

    buffer_append(&message, "", 1);
    buffer_append(&message, text, strlen(text));
    packed p = packed_make(message.bytes, message.size, 0);
    buffer_free(&message);

    packed_send(&p, l->talk.line, PART_LINES);
    buffer_free(&p.bytes);
}

/* A few bytes that become many: so much that it has to be noticed on the way. */
static void send_bomb(liar *l)
{
    enum { PIECE = 32 << 20 };
    char *zeros = calloc(1, PIECE);

    if (!zeros)
        exit(1);
    for (size_t i = 0; i < PIECE; i += 1000)
        zeros[i] = '\n';
    packed p = packed_make(zeros, PIECE, l->talk.offers);
    packed_send(&p, l->talk.line, PART_LINES);
    free(zeros);
}

static void answer_weight(liar *l)
{
    buffer body = { 0 };

    coded_put_number(&body, is(l, "bomb") || is(l, "order") ? 1 : UINT64_C(1) << 60);
    line_put(l->talk.line, PART_WEIGH, &body);
}

static void answer_difference(liar *l)
{
    buffer body = { 0 };

    coded_put_number(&body, is(l, "verdict") ? RECONCILE_AGAIN : RECONCILE_FINE);
    coded_put_bytes(&body, l->talk.here.sum + is(l, "sum"), 8);
    line_put(l->talk.line, PART_VERDICT, &body);
    if (!is(l, "verdict"))
        send_text(l, is(l, "other") ? "7\n8\n" : is(l, "fewer") ? "" : "1\n2\n");
}

static void answer(liar *l, line_frame f)
{
    coded c = { f.body, f.body + f.size };
    uint64_t n;

    switch (f.part) {
    case PART_ASK:
        answer_question(l, f.body);
        break;
    case PART_MORE:
        if (coded_number(&c, &n))
            send_symbols(l, n);
        break;
    case PART_WEIGH:
        answer_weight(l);
        break;
    case PART_GIVE:
        if (is(l, "bomb") || is(l, "huge"))
            send_bomb(l);
        else
            send_text(l, "2\n1\n");
        break;
    case PART_LINES:
        answer_difference(l);
        break;
    }
}

/* ---- The side that asks ------------------------------------------------ */

static void ask(liar *l)
{
    static const uint8_t secret[16] = "anybody knows it";
    buffer body = { 0 };

    buffer_append(&body, secret, sizeof secret);
    coded_put_number(&body, 0);
    coded_put_number(&body, '\n');
    line_put(l->talk.line, PART_ASK, &body);
    (void)line_expect(l->talk.line, PART_SET);
    (void)line_expect(l->talk.line, PART_SYMBOLS);
}

/* So many lines are only there, it says, and one only here, and another sum than is true. */
static void tell_places(liar *l, uint64_t n, const char *bits)
{
    buffer body = { 0 };

    coded_put_number(&body, n);
    coded_put_bytes(&body, 7, 8);
    buffer_append(&body, bits, strlen(bits));
    packed p = packed_make(body.bytes, body.size, 0);
    packed_send(&p, l->talk.line, PART_PLACES);
    send_text(l, "a line of a liar\n");
    buffer_free(&p.bytes);
    buffer_free(&body);
    (void)line_receive(l->talk.line);
}

/* Each message is of a few bytes, and so large what it asks for. */
static void ask_for_much(liar *l)
{
    buffer body = { 0 };

    coded_put_number(&body, UINT64_C(1) << 62);
    for (int i = 0; is(l, "ask-give") && i < 2; i++)
        line_send(l->talk.line, PART_GIVE, "", 0);
    if (is(l, "ask-more"))
        line_send(l->talk.line, PART_MORE, body.bytes, body.size);
    for (;;)
        (void)line_receive(l->talk.line);
}

static void ask_and_lie(liar *l)
{
    if (is(l, "ask-early"))
        tell_places(l, 0, "");
    ask(l);
    if (is(l, "ask-more") || is(l, "ask-give"))
        ask_for_much(l);
    if (is(l, "ask-sum"))
        tell_places(l, 0, "");
    if (is(l, "ask-places"))
        tell_places(l, 2, "\377\377");
    if (is(l, "ask-many"))
        tell_places(l, UINT64_C(1) << 60, "");
    while (is(l, "ask-often"))
        ask(l);
}

int main(int argc, char **argv)
{
    liar l = { .what = argc == 2 ? argv[1] : "", .state = 1 };

    l.talk.line = line_open(STDIN_FILENO, STDOUT_FILENO, "liar: the other side",
                            &(line_limits){ .seconds = 10 });
    bool asks = strncmp(l.what, "ask", 3) == 0;
    /* The other side is to make a union, if it is asked. */
    l.talk.offers = line_greet(l.talk.line, "reconcile", asks, asks ? 2 : 0);
    if (asks) {
        ask_and_lie(&l);
        return 0;
    }
    read_lines(&l.talk.here);
    for (;;)
        answer(&l, line_receive(l.talk.line));
}
