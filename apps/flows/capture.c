#include "capture.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "term/message.h"

#ifdef TAMIS_HAS_PCAP

#include <pcap/pcap.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <stdio_ext.h>
#endif

#include "files/library.h"
#include "term/array.h"
#include "text/unpack.h"

/* ---- The library ------------------------------------------------------- */

#define FUNCTIONS(X)                              \
    X(pcap_, fopen_offline_with_tstamp_precision) \
    X(pcap_, datalink)                            \
    X(pcap_, datalink_val_to_name)                \
    X(pcap_, dispatch)                            \
    X(pcap_, geterr)                              \
    X(pcap_, close)

static struct {
    FUNCTIONS(LIBRARY_POINTER)
} library;

void capture_begin(void)
{
    static const char *const files[] = { "libpcap.so.0.8", "libpcap.so.1", "libpcap.so",
                                         "libpcap.dylib", NULL };
    static const char *const names[] = { FUNCTIONS(LIBRARY_NAME) NULL };

    library_open("libpcap", "libpcap0.8", files, names, &library);
}

/* ---- Files ------------------------------------------------------------- */

enum { READ_SIZE = 1 << 18 };

struct capture_file {
    pcap_t *pcap;
    FILE *stream;
    int link;
    packet *next; /* where the next packet goes */
    char buffer[READ_SIZE];
};

static bool LIKE_PRINTF(3, 4) fail(capture *c, int code, const char *format, ...)
{
    va_list args;

    c->code = code;
    va_start(args, format);
    vsnprintf(c->why, sizeof c->why, format, args);
    va_end(args);
    return false;
}

static bool fail_errno(capture *c, const char *verb)
{
    return fail(c, CODE_IO, "cannot %s %s: %s", verb, c->path, strerror(errno));
}

/* libpcap reads a packet in two calls of stdio: a larger buffer and no locks make these cheap. */
static void tune_stream(capture *c, FILE *stream)
{
    struct stat info;

    c->file->stream = stream;
    setvbuf(stream, c->file->buffer, _IOFBF, READ_SIZE);
#ifdef __linux__
    __fsetlocking(stream, FSETLOCKING_BYCALLER);
#endif
    if (fstat(fileno(stream), &info) == 0 && S_ISREG(info.st_mode))
        c->total = (uint64_t)info.st_size;
}

/* Of a file: the first bytes of a pipe are gone. */
static bool is_compressed(FILE *stream)
{
    char head[16];
    bool is_open;
    ssize_t size = pread(fileno(stream), head, sizeof head, 0);

    return size > 0 && unpack_find(head, (size_t)size, &is_open);
}

static bool open_packets(capture *c)
{
    char why[PCAP_ERRBUF_SIZE] = "";
    struct capture_file *file = c->file;

    errno = 0;
    file->pcap =
        library.fopen_offline_with_tstamp_precision(file->stream, PCAP_TSTAMP_PRECISION_NANO, why);
    if (!file->pcap && ferror(file->stream))
        return fail_errno(c, "read");
    if (!file->pcap && is_compressed(file->stream))
        return fail(c, CODE_CORRUPT, "%s is compressed: unpack it first, for example by zcat",
                    c->path);
    if (!file->pcap)
        return fail(c, CODE_CORRUPT, "%s is no capture of packets: %s", c->path, why);
    file->link = library.datalink(file->pcap);
    if (packet_link_name(file->link))
        return true;
    const char *name = library.datalink_val_to_name(file->link);
    return fail(c, CODE_CORRUPT,
                "%s has packets of link type %d (%s): only Ethernet, Linux cooked, raw IP and "
                "loopback are read",
                c->path, file->link, name ? name : "unknown");
}

bool capture_open(capture *c, const char *path)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *stream = is_stdin ? stdin : fopen(path, "rb");

    *c = (capture){ .path = is_stdin ? "standard input" : path };
    if (!stream)
        return fail_errno(c, "read");
    c->file = array_new(1, sizeof *c->file, c->path);
    tune_stream(c, stream);
    return open_packets(c);
}

void capture_close(capture *c)
{
    if (!c->file)
        return;
    if (c->file->pcap)
        library.close(c->file->pcap); /* and the stream, unless it is standard input */
    else if (c->file->stream != stdin)
        fclose(c->file->stream); /* only read */
    if (c->file->stream != stdin)
        free(c->file);
    c->file = NULL;
}

/* ---- Packets ----------------------------------------------------------- */

/* The most that any link carries: the half MiB of a large IPv6 packet, and its headers. */
enum { WIRE_MAX = 1 << 20 };

/* A length that cannot be right is taken to be that of the bytes that are there. */
static uint32_t wire_bytes(const struct pcap_pkthdr *h)
{
    return h->len < h->caplen || h->len > WIRE_MAX ? h->caplen : h->len;
}

/* Up to the year 2554, where 64 bits of nanoseconds end. */
static uint64_t time_of(const struct pcap_pkthdr *h)
{
    uint64_t second = 1000000000, most = UINT64_MAX / second - 1;
    uint64_t s = (uint64_t)h->ts.tv_sec, ns = (uint64_t)h->ts.tv_usec;

    return (s < most ? s : most) * second + (ns < second ? ns : 0);
}

static void take_packet(u_char *ctx, const struct pcap_pkthdr *h, const u_char *bytes)
{
    struct capture_file *file = (void *)ctx;
    packet *p = file->next++;

    p->time = time_of(h);
    p->bytes = wire_bytes(h);
    packet_parse(p, file->link, bytes, h->caplen);
}

size_t capture_read(capture *c, packet *packets, size_t most)
{
    struct capture_file *file = c->file;
    int status = 1;

    file->next = packets;
    errno = 0;
    while (status > 0 && file->next < packets + most)
        status = library.dispatch(file->pcap, (int)(packets + most - file->next), take_packet,
                                  (u_char *)file);
    if (status < 0 && ferror(file->stream))
        fail_errno(c, "read");
    else if (status < 0)
        fail(c, CODE_CORRUPT, "%s is damaged: %s", c->path, library.geterr(file->pcap));
    long at = c->total ? ftell(file->stream) : 0;
    c->done = at > 0 ? (uint64_t)at : 0;
    return (size_t)(file->next - packets);
}

#else

void capture_begin(void)
{
    die(CODE_USAGE, "flows: this tamis was built without libpcap: build it again where the package "
                    "libpcap-dev is installed");
}

bool capture_open(capture *c, const char *path)
{
    *c = (capture){ .path = path, .code = CODE_USAGE };
    return false;
}

size_t capture_read(capture *c, packet *packets, size_t most)
{
    (void)c, (void)packets, (void)most;
    return 0;
}

void capture_close(capture *c)
{
    (void)c;
}

#endif
