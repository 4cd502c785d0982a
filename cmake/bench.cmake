# tamis-bench: all of bench/*.c, and each of bench/peers/ whose library is here.

# ---- Peers ---------------------------------------------------------------------------------------

set(bench_peers sorted)
set(bench_peer_sources ${PROJECT_SOURCE_DIR}/bench/peers/sorted_array.c)
set(bench_peer_libraries)
set(bench_peer_folders)

# Without the library, or where another machine is compiled for, the peer has no rows.
macro(bench_peer name extension header)
    find_path(BENCH_${name}_INCLUDE_DIR ${header})
    find_library(BENCH_${name}_LIBRARY NAMES ${ARGN})
    mark_as_advanced(BENCH_${name}_INCLUDE_DIR BENCH_${name}_LIBRARY)
    if(BENCH_${name}_INCLUDE_DIR AND BENCH_${name}_LIBRARY)
        list(APPEND bench_peers ${name})
        list(APPEND bench_peer_sources ${PROJECT_SOURCE_DIR}/bench/peers/${name}.${extension})
        list(APPEND bench_peer_libraries ${BENCH_${name}_LIBRARY})
        list(APPEND bench_peer_folders ${BENCH_${name}_INCLUDE_DIR})
    endif()
endmacro()

# Options are those of the C compiler: one of another make would not know them all.
macro(bench_enable_cxx)
    include(CheckLanguage)
    check_language(CXX)
    if(CMAKE_CXX_COMPILER)
        enable_language(CXX)
    endif()
    set(CMAKE_CXX_STANDARD 17)
    set(CMAKE_CXX_STANDARD_REQUIRED ON)
    set(CMAKE_CXX_EXTENSIONS OFF)
endmacro()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CROSSCOMPILING)
    bench_peer(roaring c roaring/roaring.h roaring)
    bench_peer(libbloom c bloom.h bloom)
    find_path(BENCH_rocksdb_INCLUDE_DIR rocksdb/filter_policy.h)
    if(BENCH_rocksdb_INCLUDE_DIR)
        bench_enable_cxx()
        if(CMAKE_CXX_COMPILER_ID STREQUAL CMAKE_C_COMPILER_ID)
            bench_peer(rocksdb cc rocksdb/filter_policy.h rocksdb)
        endif()
    endif()
endif()

# ---- The program ---------------------------------------------------------------------------------

# "gcc 12.2.0 -O3": what the rows say.
function(bench_compiler result)
    string(TOLOWER "${CMAKE_C_COMPILER_ID}" name)
    string(REPLACE gnu gcc name "${name}")
    if(CMAKE_BUILD_TYPE STREQUAL RelWithDebInfo)
        set(level -O3)
    else()
        string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
        string(REGEX MATCH "-O[0-9a-z]*" level "${CMAKE_C_FLAGS_${type}}")
    endif()
    if(TAMIS_SANITIZE)
        set(level "-fsanitize=${TAMIS_SANITIZE}")
    endif()
    string(JOIN " " text ${name} ${CMAKE_C_COMPILER_VERSION} ${CMAKE_C_FLAGS} ${level})
    set(${result} "${text}" PARENT_SCOPE)
endfunction()

bench_compiler(bench_compiler)
list(TRANSFORM bench_peers REPLACE "(.+)" "X(\\1)" OUTPUT_VARIABLE bench_list)
list(JOIN bench_list " " bench_list)
file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.c)

add_executable(tamis-bench ${bench_sources} ${bench_peer_sources})
target_compile_definitions(tamis-bench PRIVATE "BENCH_COMPILER=\"${bench_compiler}\"")
# CMake passes macros with arguments only as an option.
target_compile_options(tamis-bench PRIVATE "-DBENCH_PEERS(X)=${bench_list}")
target_include_directories(tamis-bench PRIVATE src)
target_include_directories(tamis-bench SYSTEM PRIVATE ${bench_peer_folders})
target_link_libraries(tamis-bench PRIVATE tamis-static ${bench_peer_libraries} m Threads::Threads)
set_target_properties(tamis-bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
# Filters larger than memory, filters that grow and filters whose keys come and go: bench/disk/run,
# bench/growth/run and bench/churn/run start them; so does bench/adapt/run, for mistakes that are made
# again. What chosen keys do: tamis-bench-adversary. What filters learn from strangers:
# tamis-bench-queried. Budgets and collections: bench/budget/run. Whether advice is right, with a table of SQLite: bench/advice/run.
set(bench_programs disk growth churn adapt adversary queried budget collection)
find_path(BENCH_sqlite_INCLUDE_DIR sqlite3.h)
find_library(BENCH_sqlite_LIBRARY NAMES sqlite3)
mark_as_advanced(BENCH_sqlite_INCLUDE_DIR BENCH_sqlite_LIBRARY)
if(BENCH_sqlite_INCLUDE_DIR AND BENCH_sqlite_LIBRARY AND NOT CMAKE_CROSSCOMPILING)
    list(APPEND bench_programs advice)
endif()
foreach(name IN LISTS bench_programs)
    add_executable(tamis-bench-${name} ${PROJECT_SOURCE_DIR}/bench/${name}/bench_${name}.c)
    target_include_directories(tamis-bench-${name} PRIVATE src)
    target_link_libraries(tamis-bench-${name} PRIVATE tamis-static m)
    set_target_properties(tamis-bench-${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    if(NOT TAMIS_TESTS)
        set_target_properties(tamis-bench-${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
endforeach()
if(TARGET tamis-bench-advice)
    target_include_directories(tamis-bench-advice SYSTEM PRIVATE ${BENCH_sqlite_INCLUDE_DIR})
    target_link_libraries(tamis-bench-advice PRIVATE ${BENCH_sqlite_LIBRARY})
endif()

if(NOT TAMIS_TESTS)
    set_target_properties(tamis-bench PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
list(JOIN bench_peers ", " bench_list)
message(STATUS "Peers of the benchmark: ${bench_list}")
