/* reconcile_talk.h - what both ends of a reconciliation say. */
#ifndef TAMIS_APPS_SYNC_RECONCILE_TALK_H
#define TAMIS_APPS_SYNC_RECONCILE_TALK_H

#include "reconcile.h"
#include "wire/coded.h"
#include "wire/packed_message.h"

/* Parts of the conversation. */
enum {
    PART_ASK = 'A',  /* the secret, and what lines are */
    PART_SET = 'N',  /* how many lines there are, of how many bytes */
    PART_MORE = 'M', /* how many symbols are wanted */
    PART_SYMBOLS = 'S',
    PART_WEIGH = 'W',   /* how many bytes all lines take */
    PART_GIVE = 'G',    /* all lines are wanted */
    PART_PLACES = 'P',  /* of lines that only the side that serves has; a sum */
    PART_VERDICT = 'V', /* whether the sums agree; a sum */
    PART_LINES = 'L'
};

/* Once more, after the first time. */
enum { RECONCILE_TRIES = 2 };

/* Answers that may be no. */
enum { RECONCILE_FINE = 0, RECONCILE_AGAIN = 1 };

/* A form as numbers that tell a stranger nothing of its hasher. */
typedef struct reconcile_seal {
    uint64_t is_image, end, hasher, range;
} reconcile_seal;

reconcile_seal reconcile_seal_form(const reconcile *r, const uint8_t secret[16]);

/* Of the keys of this side. */
tamis_symbols *reconcile_symbols(const reconcile *r, const uint8_t secret[16]);

/* A frame of this part, to be read from its front. */
coded reconcile_expect(reconcile *r, char part);
/* One number of it, or the end of the program. */
uint64_t reconcile_number(reconcile *r, coded *c);
_Noreturn void reconcile_refuse_frame(reconcile *r);

packed reconcile_pack_lines(const reconcile *r, const line_ref *lines, size_t n);
void reconcile_send_lines(reconcile *r, const line_ref *lines, size_t n);
/* Into only_there, of which n_there is the number. They have to be in the order of their bytes. */
void reconcile_receive_lines(reconcile *r);
/* The sum of the other side's lines, if what differs is what was found. */
uint64_t reconcile_sum_there(const reconcile *r);

#endif
