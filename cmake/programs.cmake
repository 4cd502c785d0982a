# The command line and the demo, which know the public headers only.

file(GLOB commands CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*/*.c)

# Applications, each in a folder of its own, can be left out.
set(TAMIS_APPS "all" CACHE STRING "Applications to build, as in \"guard;join\"; may be empty")
file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES ON RELATIVE ${PROJECT_SOURCE_DIR}/apps
     ${PROJECT_SOURCE_DIR}/apps/*)
set(applications ${TAMIS_APPS})
if(TAMIS_APPS STREQUAL "all")
    set(applications ${folders})
endif()
set(application_lines "")
file(GLOB helps CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*/*.help)
foreach(name IN LISTS applications)
    if(NOT name IN_LIST folders)
        list(JOIN folders ", " known)
        message(FATAL_ERROR "TAMIS_APPS: no application is called '${name}'; there are ${known}")
    endif()
    file(GLOB sources_of_it CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/apps/${name}/*.c)
    list(APPEND commands ${sources_of_it})
    file(GLOB helps_of_it CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/apps/${name}/*.help)
    list(APPEND helps ${helps_of_it})
    foreach(source IN LISTS sources_of_it)
        cmake_path(GET source STEM command)
        if(command MATCHES "^cmd_")
            string(APPEND application_lines "X(${command})\n")
        endif()
    endforeach()
endforeach()
set(made ${PROJECT_BINARY_DIR}/program)
file(CONFIGURE OUTPUT ${made}/applications.h CONTENT "${application_lines}" @ONLY)

# What a command says of itself is in NAME.help beside it: `help_NAME` is its text.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${helps})
set(declarations "")
set(definitions "#include <help_texts.h>\n")
foreach(help IN LISTS helps)
    cmake_path(GET help STEM name)
    file(READ ${help} bytes HEX)
    string(REGEX REPLACE "(..)" "'\\\\x\\1', " bytes ${bytes})
    string(APPEND declarations "extern const char help_${name}[];\n")
    string(APPEND definitions "const char help_${name}[] = { ${bytes}0 };\n")
endforeach()
file(CONFIGURE OUTPUT ${made}/help_texts.h CONTENT "${declarations}" @ONLY)
file(CONFIGURE OUTPUT ${made}/help_texts.c CONTENT "${definitions}" @ONLY)
list(APPEND commands ${made}/help_texts.c)

# Apart from main.c, so that a fuzzer can link to the parts.
add_library(tamis-commands STATIC ${commands})
target_include_directories(tamis-commands PRIVATE include cli PUBLIC ${made})
target_link_libraries(tamis-commands PUBLIC m Threads::Threads)

# Compressed inputs are read if the library is there. It is linked to see whether it is: a cross
# compiler must not find those of this machine.
include(CheckCSourceCompiles)
function(tamis_reads_compressed library header call)
    string(TOUPPER ${library} name)
    string(REGEX REPLACE "^Z$" "ZLIB" name ${name})
    set(CMAKE_REQUIRED_LIBRARIES ${library})
    check_c_source_compiles("#include <${header}>\nint main(void) { return !${call}(); }"
                            TAMIS_HAS_${name})
    if(TAMIS_HAS_${name})
        target_compile_definitions(tamis-commands PRIVATE TAMIS_HAS_${name})
        target_link_libraries(tamis-commands PUBLIC ${library})
    endif()
endfunction()

tamis_reads_compressed(z zlib.h zlibVersion)
tamis_reads_compressed(zstd zstd.h ZSTD_versionNumber)
tamis_reads_compressed(lzma lzma.h lzma_version_number)

# Those of a single command are opened when it runs: their headers are all it takes to build it.
include(CheckIncludeFile)
target_link_libraries(tamis-commands PUBLIC ${CMAKE_DL_LIBS})
set(CMAKE_REQUIRED_DEFINITIONS -D_GNU_SOURCE) # as the program itself is compiled
foreach(header sqlite3 lmdb pcap)
    string(TOUPPER ${header} name)
    check_include_file(${header}.h TAMIS_HAS_${name})
    if(TAMIS_HAS_${name})
        target_compile_definitions(tamis-commands PRIVATE TAMIS_HAS_${name})
    endif()
endforeach()
unset(CMAKE_REQUIRED_DEFINITIONS)

add_executable(tamis-cli cli/main.c)
target_include_directories(tamis-cli PRIVATE cli)
target_link_libraries(tamis-cli PRIVATE tamis-commands tamis::tamis)
set_target_properties(tamis-commands PROPERTIES
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/parts)
set_target_properties(tamis-cli PROPERTIES
    OUTPUT_NAME tamis
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

# Built on demand, and by the tests so that they keep compiling.
function(tamis_extra target source)
    add_executable(${target} ${source})
    target_link_libraries(${target} PRIVATE tamis-static m Threads::Threads)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    if(NOT TAMIS_TESTS)
        set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
endfunction()

tamis_extra(tamis-demo-kinds demo/kinds.c)
