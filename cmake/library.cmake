# libtamis.a and libtamis.so, from the same objects. A kind is found by its file.

include(CheckSymbolExists)
find_package(Threads REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
# It is all code and needs none of the headers beside it, which may be of another machine.
set(xxhash_dir ${PROJECT_BINARY_DIR}/xxhash)
file(MAKE_DIRECTORY ${xxhash_dir})
file(CREATE_LINK ${XXHASH_INCLUDE_DIR}/xxhash.h ${xxhash_dir}/xxhash.h SYMBOLIC)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*.c)
list(FILTER sources EXCLUDE REGEX "/src/bare/") # for the core alone

# Kinds can be left out: their files, and folders where nothing is left that is needed. In their place
# is an empty table: src/core/kinds.c.
set(TAMIS_KINDS "" CACHE STRING "Kinds to build, as in \"bloom;blocked\"; empty: all")

function(tamis_leave_out_kinds)
    set(unknown ${TAMIS_KINDS})
    set(families)
    set(left_out)
    file(READ ${PROJECT_SOURCE_DIR}/include/tamis.h header)
    string(REGEX MATCHALL "X\\([A-Z0-9_]+, [0-9]+, [a-z0-9_]+, \"[a-z0-9-]+\"" rows "${header}")
    foreach(row IN LISTS rows)
        string(REGEX MATCH "([a-z0-9_]+), \"([a-z0-9-]+)\"" match "${row}")
        set(symbol ${CMAKE_MATCH_1})
        set(name ${CMAKE_MATCH_2})
        if(name IN_LIST TAMIS_KINDS)
            list(REMOVE_ITEM unknown ${name})
            file(GLOB file ${PROJECT_SOURCE_DIR}/src/*/${symbol}.c)
            cmake_path(GET file PARENT_PATH family)
            list(APPEND families ${family})
        else()
            list(FILTER sources EXCLUDE REGEX "/${symbol}(_avx2|_avx512|_neon|_simd128|_explain)?\\.c$")
            list(APPEND left_out tamis__${symbol}=tamis__left_out)
        endif()
    endforeach()
    if(unknown)
        message(FATAL_ERROR "TAMIS_KINDS: no kind is called ${unknown}; see `tamis kinds`")
    endif()
    foreach(source IN LISTS sources)
        cmake_path(GET source PARENT_PATH family)
        if(NOT family IN_LIST families AND NOT family MATCHES "/(base|core|explain|os|advice|sync)$")
            list(REMOVE_ITEM sources ${source})
        endif()
    endforeach()
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/core/kinds.c PROPERTIES
                                COMPILE_DEFINITIONS "${left_out}")
    set(sources ${sources} PARENT_SCOPE)
endfunction()

if(TAMIS_KINDS)
    tamis_leave_out_kinds()
endif()

# <kind>_<isa>.c: the name says which machines compile the file, and with which options.
function(tamis_kernels isa machine_macro)
    set(kernels ${sources})
    list(FILTER kernels INCLUDE REGEX "_${isa}\\.c$")
    check_symbol_exists(${machine_macro} stddef.h TAMIS_HAS_${isa})
    if(TAMIS_HAS_${isa})
        set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS "${ARGN}")
    elseif(kernels)
        list(REMOVE_ITEM sources ${kernels})
        set(sources ${sources} PARENT_SCOPE)
    endif()
endfunction()

set(TAMIS_avx2 -mavx2 -mbmi -mbmi2)
tamis_kernels(avx2 __x86_64__ ${TAMIS_avx2})
set(TAMIS_avx512 ${TAMIS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi
    -mavx512vbmi2 -mavx512vpopcntdq)
tamis_kernels(avx512 __x86_64__ ${TAMIS_avx512})
tamis_kernels(neon __aarch64__)
tamis_kernels(simd128 __wasm__) # cmake/web.cmake compiles it

# -O3 would make the library half as large again. These alone are slower without it, by a tenth to a
# half; in other files, what has to be inlined or unrolled says so.
file(GLOB unrolled CONFIGURE_DEPENDS src/bloom/*.c src/coded/*.c src/exact/*.c)
if(NOT TAMIS_SANITIZE)
    set_property(SOURCE ${unrolled} APPEND PROPERTY COMPILE_OPTIONS
                 $<$<CONFIG:RelWithDebInfo>:-O3>)
endif()

function(tamis_objects target)
    add_library(${target} OBJECT ${sources})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${target} PRIVATE include src)
    target_include_directories(${target} SYSTEM PRIVATE ${xxhash_dir})
endfunction()

# The core alone, for machines without an operating system: memory comes from the caller.
function(tamis_core target objects)
    add_library(${target} STATIC EXCLUDE_FROM_ALL
        $<FILTER:$<TARGET_OBJECTS:${objects}>,EXCLUDE,/src/os/> src/bare/no_host.c)
    target_include_directories(${target} PUBLIC include PRIVATE src)
    target_link_libraries(${target} PUBLIC m)
    set_target_properties(${target} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()

function(tamis_library target type objects)
    add_library(${target} ${type} $<TARGET_OBJECTS:${objects}>)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
    target_include_directories(${target} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target} PRIVATE m Threads::Threads)
endfunction()

include(GNUInstallDirs)
tamis_objects(tamis-objects)
tamis_library(tamis-static STATIC tamis-objects)
tamis_library(tamis-shared SHARED tamis-objects)
tamis_core(tamis-core tamis-objects)
set_target_properties(tamis-static tamis-shared PROPERTIES
    OUTPUT_NAME tamis
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
set_target_properties(tamis-static PROPERTIES EXPORT_NAME static)
set_target_properties(tamis-shared PROPERTIES EXPORT_NAME shared
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
set(exports ${PROJECT_SOURCE_DIR}/src/tamis.map)
target_link_options(tamis-shared PRIVATE LINKER:--version-script=${exports})
set_property(TARGET tamis-shared APPEND PROPERTY LINK_DEPENDS ${exports})
if(NOT TAMIS_SANITIZE)
    target_link_options(tamis-shared PRIVATE LINKER:-z,defs)
endif()

# What a project that adds this one as a folder links to.
if(BUILD_SHARED_LIBS)
    add_library(tamis::tamis ALIAS tamis-shared)
else()
    add_library(tamis::tamis ALIAS tamis-static)
endif()
