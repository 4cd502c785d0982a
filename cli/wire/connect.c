/* connect.c - ways to another tamis. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "connect.h"

enum { DEFAULT_SECONDS = 60, MOST_SECONDS = 86400 };

/* ---- Options ----------------------------------------------------------- */

const option_row connect_options[] = {
    { 0, "via", "COMMAND", "the line is the input and output of COMMAND: 'ssh host tamis ...'",
      TO_TEXT(connect_way, via) },
    { 0, "connect", "HOST:PORT", "connect to a tamis that listens there",
      TO_TEXT(connect_way, connect) },
    { 0, "listen", "HOST:PORT", "serve the first who connects there; port 0 is any that is free",
      TO_TEXT(connect_way, listen) },
    { 0, "serve", NULL, "be the other side, on standard input and output",
      TO_FLAG(connect_way, serves_here) },
    { 0, "timeout", "SECONDS", "of silence, after which the line is given up (default: 60)",
      TO_COUNT(connect_way, limits.seconds, 1, MOST_SECONDS) },
    { 0, "limit-bytes", "SIZE", "stop when more would cross the line",
      TO_SIZE(connect_way, limits.bytes) },
    { 0 },
};

connect_way connect_default(void)
{
    return (connect_way){ .limits = { .seconds = DEFAULT_SECONDS } };
}

void connect_check(const connect_way *way, const args *a)
{
    int ways = !!way->via + !!way->connect + !!way->listen + way->serves_here;

    if (ways == 0)
        args_refuse(a, "say how to reach the other side: --via, --connect, --listen or --serve");
    if (ways > 1)
        args_refuse(a, "--via, --connect, --listen and --serve exclude each other");
}

bool connect_asks(const connect_way *way)
{
    return way->via || way->connect;
}

/* ---- TCP --------------------------------------------------------------- */

typedef struct address {
    char host[256], port[16];
} address;

/* HOST:PORT; a host that has colons itself stands in brackets. */
static address split_address(const char *text)
{
    const char *colon = strrchr(text, ':');
    const char *host = text;
    size_t size = colon ? (size_t)(colon - text) : 0;
    address a;

    if (size >= 2 && host[0] == '[' && host[size - 1] == ']') {
        host++;
        size -= 2;
    } else if (memchr(host, ':', size)) {
        size = 0;
    }
    if (size == 0 || size >= sizeof a.host || strlen(colon + 1) >= sizeof a.port || !colon[1])
        die(CODE_USAGE, "%s is no address; it is HOST:PORT, and [HOST]:PORT if HOST has colons",
            text);
    memcpy(a.host, host, size);
    a.host[size] = 0;
    strcpy(a.port, colon + 1);
    return a;
}

/* A socket for the first address of HOST:PORT that it can be used for. */
static int open_socket(const char *text, int flags, const char *verb,
                       bool (*use)(int fd, const struct addrinfo *to))
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags };
    address a = split_address(text);
    struct addrinfo *found;
    int failure = getaddrinfo(a.host, a.port, &hints, &found), fd = -1;

    if (failure)
        die(CODE_IO, "cannot find %s: %s", text, gai_strerror(failure));
    for (const struct addrinfo *to = found; to && fd < 0; to = to->ai_next) {
        fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC, to->ai_protocol);
        if (fd >= 0 && !use(fd, to)) {
            close(fd); /* nothing was sent */
            fd = -1;
        }
    }
    if (fd < 0)
        die_errno(verb, text);
    freeaddrinfo(found);
    return fd;
}

static bool use_to_connect(int fd, const struct addrinfo *to)
{
    return connect(fd, to->ai_addr, to->ai_addrlen) == 0;
}

static bool use_to_listen(int fd, const struct addrinfo *at)
{
    int yes = 1;

    return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
           bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, 1) == 0;
}

/* Others need to know which port was free. */
static void say_where(int fd)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    address a;

    if (getsockname(fd, (struct sockaddr *)&at, &size) == 0 &&
        getnameinfo((struct sockaddr *)&at, size, a.host, sizeof a.host, a.port, sizeof a.port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        say(strchr(a.host, ':') ? "listening on [%s]:%s" : "listening on %s:%s", a.host, a.port);
}

static int accept_at(const char *text)
{
    int fd = open_socket(text, AI_PASSIVE, "listen on", use_to_listen), end;

    say_where(fd);
    while ((end = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) < 0 && errno == EINTR)
        continue;
    if (end < 0)
        die_errno("listen on", text);
    close(fd); /* it only listened */
    return end;
}

static void send_at_once(int fd)
{
    int yes = 1;

    /* What waits is sent in large pieces anyway; without this it is merely slower. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

/* ---- A command --------------------------------------------------------- */

static pid_t run_command(const char *text, int ends[2])
{
    int there[2], back[2];
    pid_t child;

    if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC) || (child = fork()) < 0)
        die_errno("run", text);
    if (child == 0) {
        if (dup2(there[0], STDIN_FILENO) >= 0 && dup2(back[1], STDOUT_FILENO) >= 0)
            execl("/bin/sh", "sh", "-c", text, (char *)NULL);
        _exit(127);
    }
    close(there[0]); /* the other side's ends */
    close(back[1]);  /* the same */
    ends[0] = back[0];
    ends[1] = there[1];
    return child;
}

static void end_command(const connect_way *way)
{
    int state;

    while (waitpid(way->command, &state, 0) < 0)
        if (errno != EINTR)
            die_errno("wait for", way->via);
    if (WIFEXITED(state) && WEXITSTATUS(state) != 0)
        die(CODE_IO, "'%s' ended with code %d", way->via, WEXITSTATUS(state));
    if (WIFSIGNALED(state))
        die(CODE_IO, "'%s' was ended by signal %d", way->via, WTERMSIG(state));
}

/* ---- One's own input and output ---------------------------------------- */

/* The line gets descriptors of its own. What else would read or print there finds nothing. */
static int take_standard(int fd, int mode)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), nothing = open("/dev/null", mode);

    if (own < 0 || nothing < 0 || dup2(nothing, fd) < 0)
        die_errno("open", "/dev/null");
    close(nothing); /* nothing was written */
    return own;
}

static line *serve_here(const connect_way *way)
{
    if (isatty(STDIN_FILENO) || isatty(STDOUT_FILENO))
        die(CODE_USAGE, "--serve is for the other end of --via; a person cannot be the line");
    int in = take_standard(STDIN_FILENO, O_RDONLY), out = take_standard(STDOUT_FILENO, O_WRONLY);
    return line_open(in, out, "the other side", &way->limits);
}

/* ---- A thread ---------------------------------------------------------- */

static void serve_beside(void *ctx)
{
    neighbour *n = ctx;

    n->serve(n);
    line_close(n->line);
}

line *connect_beside(neighbour *n, const line_limits *limits, const char *here, const char *there)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        die_errno("connect to", there);
    line *own = line_open(ends[0], ends[0], there, limits);
    n->line = line_open(ends[1], ends[1], here, limits);
    thread_pool_init(&n->pool, serve_beside, n);
    if (!thread_pool_grow(&n->pool))
        die(CODE_MEMORY, "cannot start a thread");
    return own;
}

void connect_end_beside(neighbour *n)
{
    thread_pool_wait(&n->pool);
    line_free(n->line);
}

/* ---- Lines ------------------------------------------------------------- */

line *connect_open(connect_way *way)
{
    int ends[2];

    if (way->serves_here)
        return serve_here(way);
    if (way->via) {
        way->command = run_command(way->via, ends);
        return line_open(ends[0], ends[1], way->via, &way->limits);
    }
    int fd = way->listen ? accept_at(way->listen)
                         : open_socket(way->connect, 0, "connect to", use_to_connect);
    send_at_once(fd);
    return line_open(fd, fd, way->listen ? "the other side" : way->connect, &way->limits);
}

void connect_close(connect_way *way, line *l)
{
    line_close(l);
    if (way->command > 0)
        end_command(way);
}
