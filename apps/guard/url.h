/* url.h - URLs in one form, and the parts of them that lists of URLs hold. */
#ifndef TAMIS_APPS_GUARD_URL_H
#define TAMIS_APPS_GUARD_URL_H

#include "text/keys.h"

/* Appends the URL in the normal form of RFC 3986, section 6: scheme and host in lower case, no
 * default port, no dot segments, no fragment, no user; an octet is written as it is if it may be,
 * and else as %4A, in upper case. An address is written in one way, too, as browsers do. A URL
 * without a scheme is one of http. False, and nothing is appended: it has no host, or a port or an
 * address that is none. */
bool url_normalise(buffer *to, span url);

/* What a list may hold in place of a whole URL: 5 hosts, 6 paths, and the URL itself. */
enum { URL_PARTS_MAX = 1 + 5 * 6 };

/* Of a URL in normal form, as "host/path", without scheme and port. Hosts are all of it and, unless
 * it is an address, the last five to two words of its name. Paths are all of it with the question
 * and without, and the first four folders on the way, from the root. The URL as it is comes first;
 * it is all there is if it has no scheme. */
typedef struct url_parts {
    span url;
    span hosts[5], paths[6];
    size_t n_hosts, n_paths;
} url_parts;

void url_split(url_parts *parts, span url);
size_t url_count(const url_parts *parts);
/* The i-th of them, in `scratch` if it is not the first. */
span url_part(const url_parts *parts, size_t i, buffer *scratch);

#endif
