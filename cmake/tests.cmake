# CTest: every test is found by its file and named <folder>.<name>.
#
#   tests/{unit,model,stat,thread,golden,fault}/*.c   programs, linked to the static library
#   tests/{cli,golden,fault,install,bench,docs}/*.{sh,py}  scripts, told where the program is
#   tests/redis/*.py                                  scripts, told where the module for Redis is
#   tests/web/*.mjs, web/npm/test                     the same library, in JavaScript
#   tests/fuzz/*.c                                    fuzzers, replaying their corpus
#   tools/*, include/*.h                              checks of the sources themselves

find_package(PkgConfig REQUIRED)
pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka)
find_program(BASH bash REQUIRED)
find_program(PYTHON3 python3 REQUIRED)
find_program(CXX_COMPILER NAMES c++ g++ clang++ REQUIRED)

set(tests ${PROJECT_SOURCE_DIR}/tests)
set(golden_images ${tests}/golden/good ${tests}/golden/bad ${tests}/golden/future)
set(environment UBSAN_OPTIONS=print_stacktrace=1 PYTHONDONTWRITEBYTECODE=1)
if(TAMIS_SANITIZE)
    list(APPEND environment TAMIS_SANITIZED=1)
endif()
if(TAMIS_LONG)
    list(APPEND environment TAMIS_LONG=1)
    set(timeout 7200)
else()
    set(timeout 600)
endif()

# ---- Registering ---------------------------------------------------------------------------------

# Each test has a folder of its own to run in: two of them may write to files of one name.
function(tamis_test name)
    set(folder ${PROJECT_BINARY_DIR}/tests/in/${name})
    file(MAKE_DIRECTORY ${folder})
    add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${folder})
    string(REGEX MATCH "^[a-z]+" label ${name})
    set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${timeout}
                         ENVIRONMENT "${environment}" SKIP_RETURN_CODE 77)
endfunction()

# A test that asks whether this is a long run has more to do in one.
function(tamis_mark_long name source)
    file(STRINGS ${source} asks REGEX "is_long_run|run_size|kinds_that|TAMIS_LONG"
         LIMIT_COUNT 1)
    if(TAMIS_LONG AND asks)
        set_property(TEST ${name} APPEND PROPERTY LABELS long)
    endif()
endfunction()

add_custom_target(tests-programs DEPENDS tamis-cli)

function(tamis_program target)
    add_executable(${target} ${ARGN})
    add_dependencies(tests-programs ${target})
    target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
    target_include_directories(${target} PRIVATE include src tests cli)
    target_link_libraries(${target} PRIVATE PkgConfig::cmocka m Threads::Threads)
    set_target_properties(${target} PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()

# All programs of tests/<folder>; ARGN are the arguments each is run with.
function(tamis_programs folder)
    add_custom_target(tests-${folder})
    file(GLOB sources CONFIGURE_DEPENDS ${tests}/${folder}/*.c)
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM name)
        if(name MATCHES "_avx2$")
            if(NOT TAMIS_HAS_avx2)
                continue()
            endif()
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${TAMIS_avx2}")
        endif()
        tamis_program(${folder}.${name} ${source})
        target_link_libraries(${folder}.${name} PRIVATE tamis-static)
        if(name MATCHES "^redis_")
            target_link_libraries(${folder}.${name} PRIVATE tamis-redis-parts)
        endif()
        add_dependencies(tests-${folder} ${folder}.${name})
        tamis_test(${folder}.${name} ${folder}.${name} ${ARGN})
        tamis_mark_long(${folder}.${name} ${source})
    endforeach()
endfunction()

function(tamis_scripts folder)
    file(GLOB sources CONFIGURE_DEPENDS ${tests}/${folder}/*.sh ${tests}/${folder}/*.py)
    list(FILTER sources EXCLUDE REGEX "/(check\\.sh|packets\\.py|relay\\.py|synthetic\\.py)$")
    if(texts)
        list(FILTER sources EXCLUDE REGEX "/cli/(${texts})\\.sh$")
    endif()
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM name)
        cmake_path(GET source EXTENSION extension)
        set(interpreter_.sh ${BASH})
        set(interpreter_.py ${PYTHON3})
        tamis_test(${folder}.${name} ${interpreter_${extension}} ${source}
                   $<TARGET_FILE:tamis-cli>)
        tamis_mark_long(${folder}.${name} ${source})
        set_property(TEST ${folder}.${name} APPEND PROPERTY ENVIRONMENT ${scripts_environment})
    endforeach()
endfunction()

# Peers that lie, for scripts that look at what becomes of the other side.
foreach(liar liar reconcile_liar replicas_liar sync_liar)
    tamis_program(${liar} ${tests}/cli/${liar}.c)
    target_link_libraries(${liar} PRIVATE tamis-commands tamis-static)
endforeach()

# ---- Programs and scripts ------------------------------------------------------------------------

# What runs again under sanitizers is what finds more there: not statistics, and of the scripts those
# that go through the program's own code.
set(statistics stat)
set(more_scripts golden bench docs bare)
set(texts) # scripts that look at what is printed, or at how much memory is taken
# Scripts of commands that only call the library, which its own programs do under sanitizers.
set(thin adapt budget change compressed convert crafted dedup get info lab lab_hash lab_table merge
    multiset plan plan_advice put query show top toys)
list(JOIN thin "|" thin)
if(TAMIS_SANITIZE)
    set(statistics)
    set(more_scripts)
    set(texts completion|gen|help|memory|numbers|words)
    if(NOT TAMIS_ALL_SCRIPTS)
        string(APPEND texts "|${thin}")
    endif()
    # A short run takes twice the time if leaks are looked for; the tests of the library do that.
    set(scripts_environment ASAN_OPTIONS=detect_leaks=0)
endif()

# The slowest first: two at a time, they are then not what is left at the end.
foreach(folder ${statistics} model unit thread)
    if(NOT (folder STREQUAL thread AND TAMIS_SANITIZE MATCHES address)) # has one of its own
        tamis_programs(${folder})
    endif()
endforeach()
# Its text is in buffers of the command line.
target_link_libraries(unit.url PRIVATE tamis-commands tamis-static)
foreach(folder golden fault)
    tamis_programs(${folder} ${PROJECT_SOURCE_DIR})
endforeach()
target_link_libraries(fault.owner PRIVATE tamis-commands tamis-static) # writes files as the program
foreach(folder cli fault ${more_scripts})
    tamis_scripts(${folder})
endforeach()

# ---- The module for Redis ------------------------------------------------------------------------

# Under the sanitizer of addresses, the server loads its library first. That of threads would see
# half of them.
if(NOT TAMIS_SANITIZE OR TAMIS_SANITIZE MATCHES address)
    file(GLOB scripts CONFIGURE_DEPENDS ${tests}/redis/*.py)
    list(FILTER scripts EXCLUDE REGEX "/(redis|murmur|payload)\\.py$") # what they share
    if(TAMIS_SANITIZE)
        list(FILTER scripts INCLUDE REGEX "/(hostile|mixed)\\.py$") # all commands, any bytes
    endif()
    add_dependencies(tests-programs tamis-redis)
    foreach(script IN LISTS scripts)
        cmake_path(GET script STEM name)
        tamis_test(redis.${name} ${PYTHON3} ${script} $<TARGET_FILE:tamis-redis>)
        tamis_mark_long(redis.${name} ${script})
    endforeach()
endif()

# ---- JavaScript, over the module of cmake/web.cmake ----------------------------------------------

find_program(NODE NAMES node nodejs)
if(TARGET tamis-web AND NODE AND NOT TAMIS_SANITIZE)
    tamis_test(web.npm ${NODE} --expose-gc --test ${web_out}/npm/test)
    file(GLOB scripts CONFIGURE_DEPENDS ${tests}/web/*.mjs)
    foreach(script IN LISTS scripts)
        cmake_path(GET script STEM name)
        tamis_test(web.${name} ${NODE} ${script} ${PROJECT_SOURCE_DIR} ${web_out}/npm
                   $<TARGET_FILE:tamis-cli>)
    endforeach()
    set_tests_properties(web.page PROPERTIES COST 100) # it takes longest: first
endif()

# ---- Fuzzers -------------------------------------------------------------------------------------

add_custom_target(tests-fuzz)
file(GLOB fuzzers CONFIGURE_DEPENDS ${tests}/fuzz/*.c)
list(FILTER fuzzers EXCLUDE REGEX "/(replay|cost)\\.c$")
# What cost.c counts: calls that take pages and calls that write.
set(counted write pwrite tamis__pages_new tamis__pages_grow tamis__pages_free)
list(TRANSFORM counted PREPEND -Wl,--wrap=)
foreach(source IN LISTS fuzzers)
    cmake_path(GET source STEM name)
    set(inputs ${golden_images})
    # Those that know what an input may cost look at changes of their corpus in `make check` as well.
    # Of a conversation, each input is a process, which takes long under sanitizers; no image is one.
    file(STRINGS ${source} has_cost REGEX "#include .*(cost|talk)\\.h" LIMIT_COUNT 1)
    file(STRINGS ${source} talks REGEX "#include \"talk\\.h" LIMIT_COUNT 1)
    if(talks)
        set(mutations 200)
        if(TAMIS_SANITIZE)
            set(mutations 50)
        endif()
        if(TAMIS_LONG)
            set(mutations 20000)
        endif()
        set(inputs --mutations ${mutations} ${tests}/fuzz/corpus/${name})
    elseif(has_cost)
        list(PREPEND inputs --mutations 1000 ${tests}/fuzz/corpus/${name} --)
    elseif(EXISTS ${tests}/fuzz/corpus/${name})
        list(PREPEND inputs ${tests}/fuzz/corpus/${name})
    endif()
    tamis_program(fuzz.${name} ${source})
    target_link_libraries(fuzz.${name} PRIVATE tamis-commands tamis-redis-parts tamis-static)
    add_dependencies(tests-fuzz fuzz.${name})
    if(has_cost)
        target_sources(fuzz.${name} PRIVATE ${tests}/fuzz/cost.c)
        target_link_options(fuzz.${name} PRIVATE ${counted})
    endif()
    if(TAMIS_FUZZ)
        target_link_options(fuzz.${name} PRIVATE -fsanitize=fuzzer)
    else()
        target_sources(fuzz.${name} PRIVATE ${tests}/fuzz/replay.c)
        tamis_test(fuzz.${name} fuzz.${name} ${inputs})
    endif()
endforeach()

# ---- Each header alone ---------------------------------------------------------------------------

set(strict -Wall -Wextra -pedantic -Werror -fsyntax-only)
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h)
tamis_test(header.c11 ${CMAKE_C_COMPILER} -std=c11 ${strict} -x c ${headers})
foreach(standard c++11 c++20)
    tamis_test(header.${standard} ${CXX_COMPILER} -std=${standard} ${strict} -x c++ ${headers})
endforeach()

# ---- The sources and what is made of them --------------------------------------------------------

# Sanitizers change what the objects hold, and nothing about the sources.
if(NOT TAMIS_SANITIZE)
    foreach(tool layers contract names length errors format pages)
        tamis_test(tools.${tool} ${PROJECT_SOURCE_DIR}/tools/${tool})
    endforeach()
    tamis_test(tools.tables ${PROJECT_SOURCE_DIR}/tools/tables $<TARGET_FILE:tamis-cli>)
    foreach(tool draw_filters draw_terminal)
        tamis_test(tools.${tool} ${PROJECT_SOURCE_DIR}/tools/${tool} $<TARGET_FILE:tamis-cli>)
    endforeach()
    tamis_test(tools.symbols ${PROJECT_SOURCE_DIR}/tools/symbols ${PROJECT_BINARY_DIR})
    tamis_test(tools.quiet ${PROJECT_SOURCE_DIR}/tools/quiet ${PROJECT_BINARY_DIR})
    tamis_test(install.consumers ${BASH} ${tests}/install/consumers.sh
               ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    tamis_mark_long(install.consumers ${tests}/install/consumers.sh)
    tamis_test(install.kinds ${BASH} ${tests}/install/kinds.sh
               ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    tamis_mark_long(install.kinds ${tests}/install/kinds.sh)
    tamis_test(abi.older ${PYTHON3} ${tests}/abi/older.py
               ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    tamis_mark_long(abi.older ${tests}/abi/older.py)
    tamis_test(demo.commands ${BASH} ${PROJECT_SOURCE_DIR}/demo/check.sh
               ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    tamis_mark_long(demo.commands ${PROJECT_SOURCE_DIR}/demo/check.sh)
endif()
