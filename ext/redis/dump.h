/* dump.h - how filters leave and enter in pieces: SCANDUMP and LOADCHUNK, and the file of commands.
 */
#ifndef TAMIS_REDIS_DUMP_H
#define TAMIS_REDIS_DUMP_H

/* The longest chunk of a dump, as RedisBloom has it. */
enum { DUMP_CHUNK_MAX = 16 << 20 };

#endif
