/* capture.h - packets of a capture file, by libpcap. */
#ifndef TAMIS_APPS_FLOWS_CAPTURE_H
#define TAMIS_APPS_FLOWS_CAPTURE_H

#include "packet.h"

enum { CAPTURE_WHY = 512 };

typedef struct capture {
    const char *path;
    int code;              /* once it failed: what to exit with, and why */
    char why[CAPTURE_WHY]; /* as a message */
    uint64_t done, total;  /* bytes of the file; total is 0 if unknown */
    struct capture_file *file;
} capture;

/* Finds libpcap, or ends the program. Call it first. */
void capture_begin(void);
/* False: capture.code and why tell. "-" is standard input. */
bool capture_open(capture *c, const char *path);
/* How many packets it wrote, in the order of the file. Fewer than `most`: there are no more, and
 * capture.code is 0, or what comes next is damaged. */
size_t capture_read(capture *c, packet *packets, size_t most);
void capture_close(capture *c);

#endif
