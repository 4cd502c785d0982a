# The module for Redis: ext/redis over the public headers, and the library in it.

file(GLOB redis_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ext/redis/*.c)

# What calls no Redis, so that tests and fuzzers can link to it.
set(redis_parts ${redis_sources})
list(FILTER redis_parts INCLUDE REGEX "/redis_(bloom|cuckoo|cms|topk)\\.c$")
list(REMOVE_ITEM redis_sources ${redis_parts})
add_library(tamis-redis-parts STATIC EXCLUDE_FROM_ALL ${redis_parts})
target_include_directories(tamis-redis-parts PUBLIC include ext/redis)
target_link_libraries(tamis-redis-parts PUBLIC m)
set_target_properties(tamis-redis-parts PROPERTIES POSITION_INDEPENDENT_CODE ON
                      ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/parts)

# The others, for the module, and for a test that takes the place of the server.
add_library(tamis-redis-commands OBJECT EXCLUDE_FROM_ALL ${redis_sources})
target_link_libraries(tamis-redis-commands PUBLIC tamis-redis-parts tamis-static m Threads::Threads)
set_target_properties(tamis-redis-commands PROPERTIES POSITION_INDEPENDENT_CODE ON)

add_library(tamis-redis MODULE EXCLUDE_FROM_ALL)
target_link_libraries(tamis-redis PRIVATE tamis-redis-commands)
# Only RedisModule_OnLoad is seen from outside: the library's own functions are not exported again.
target_link_options(tamis-redis PRIVATE LINKER:--exclude-libs,ALL)
if(NOT TAMIS_SANITIZE)
    target_link_options(tamis-redis PRIVATE LINKER:-z,defs)
endif()
set_target_properties(tamis-redis PROPERTIES PREFIX "" OUTPUT_NAME tamis-redis
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
if(TAMIS_TESTS)
    set_target_properties(tamis-redis PROPERTIES EXCLUDE_FROM_ALL OFF)
endif()

# ---- The client of docs/redis.md, where hiredis is -----------------------------------------------

find_path(HIREDIS_INCLUDE_DIR hiredis/hiredis.h)
find_library(HIREDIS_LIBRARY hiredis)
mark_as_advanced(HIREDIS_INCLUDE_DIR HIREDIS_LIBRARY)
if(HIREDIS_INCLUDE_DIR AND HIREDIS_LIBRARY AND NOT CMAKE_CROSSCOMPILING)
    tamis_extra(tamis-redis-client ext/redis/cluster/client.c)
    target_sources(tamis-redis-client PRIVATE ext/redis/cluster/cluster.c)
    target_include_directories(tamis-redis-client SYSTEM PRIVATE ${HIREDIS_INCLUDE_DIR})
    target_link_libraries(tamis-redis-client PRIVATE ${HIREDIS_LIBRARY})
endif()

# ---- bench/redis/run -----------------------------------------------------------------------------

add_library(tamis-bench-nothing MODULE EXCLUDE_FROM_ALL bench/redis/nothing.c)
set_target_properties(tamis-bench-nothing PROPERTIES PREFIX ""
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
tamis_extra(tamis-bench-redis bench/redis/server_load.c)
if(TAMIS_TESTS)
    set_target_properties(tamis-bench-nothing PROPERTIES EXCLUDE_FROM_ALL OFF)
endif()
