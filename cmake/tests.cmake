# CTest: every test is found by its file and named <folder>.<name>.
#
#   tests/{unit,model,stat,thread,golden}/*.c         a program for each folder: tests/choose.c
#   tests/fault/*.c                                   programs, which replace parts of the C library
#   tests/{cli,golden,fault,bench,docs,bare}/*.{sh,py}  scripts, told where the program is
#   tests/redis/*.py                                  scripts, told where the module for Redis is
#   tests/web/*.mjs, bindings/web/npm/test            the same library, in JavaScript
#   tests/fuzz/*.c                                    fuzzers, replaying their corpus
#   tools/*, include/*.h                              checks of the sources themselves
#   apps/<application>/tests/                         of an application: its *.sh with those of tests/cli,
#                                                     {unit,stat,fuzz}/*.c with those of that folder, and
#                                                     peers/*.c, programs that lie to it
#
# The target tests-<folder> builds what the tests of a folder run.

find_package(PkgConfig REQUIRED)
pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka)
find_program(BASH bash REQUIRED)
find_program(PYTHON3 python3 REQUIRED)
find_program(CXX_COMPILER NAMES c++ g++ clang++ REQUIRED)

set(tests ${PROJECT_SOURCE_DIR}/tests)
set(golden_images ${tests}/golden/good ${tests}/golden/bad ${tests}/golden/future)
# Tests of the applications that are built, by a pattern below apps/NAME/tests.
function(tamis_tests_of_applications found pattern)
    foreach(application IN LISTS applications)
        file(GLOB more CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/apps/${application}/tests/${pattern})
        list(APPEND all ${more})
    endforeach()
    set(${found} ${all} PARENT_SCOPE)
endfunction()

set(environment ASAN_OPTIONS=handle_sigill=1 PYTHONDONTWRITEBYTECODE=1
                "TSAN_OPTIONS=halt_on_error=1 second_deadlock_stack=1")
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

# Slow tests are started first: what `tools/check --costs` measured.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS tests/costs.txt)
file(STRINGS ${tests}/costs.txt costs)
foreach(row IN LISTS costs)
    string(REGEX MATCH "^(.+) (.+)$" row "${row}")
    set(cost_of_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()

# Each test has a folder of its own to run in: two of them may write to files of one name.
function(tamis_test name)
    set(folder ${PROJECT_BINARY_DIR}/tests/in/${name})
    file(MAKE_DIRECTORY ${folder})
    add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${folder})
    string(REGEX MATCH "^[a-z]+" label ${name})
    set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${timeout}
                         ENVIRONMENT "${environment}" SKIP_RETURN_CODE 77)
    if(DEFINED cost_of_${name})
        set_tests_properties(${name} PROPERTIES COST ${cost_of_${name}})
    endif()
endfunction()

# A test that asks whether this is a long run has more to do in one.
function(tamis_mark_long name source)
    file(STRINGS ${source} asks REGEX "is_long_run|run_size|kinds_that|TAMIS_LONG"
         LIMIT_COUNT 1)
    if(TAMIS_LONG AND asks)
        set_property(TEST ${name} APPEND PROPERTY LABELS long)
    endif()
endfunction()

# A test that has nothing more to do without sanitizers than under them: tools/check leaves it to
# them, and it runs without them in long runs.
function(tamis_mark_twice name source)
    file(STRINGS ${source} does_more REGEX "TAMIS_SANITIZED|^ *faults " LIMIT_COUNT 1)
    if(does_more)
        return()
    endif()
    if(TAMIS_LONG)
        set_property(TEST ${name} APPEND PROPERTY LABELS long)
    elseif(NOT TAMIS_SANITIZE)
        set_property(TEST ${name} APPEND PROPERTY LABELS twice)
    endif()
endfunction()

add_custom_target(tests-programs DEPENDS tamis-cli)

function(tamis_program target)
    add_executable(${target} ${ARGN})
    add_dependencies(tests-programs ${target})
    if(NOT TAMIS_SANITIZE)
        target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
    endif()
    if(CMAKE_C_SIZEOF_DATA_PTR EQUAL 4) # numbers that tests choose are sizes there
        target_compile_options(${target} PRIVATE -Wno-conversion)
    endif()
    target_include_directories(${target} PRIVATE include src tests cli)
    target_link_libraries(${target} PRIVATE PkgConfig::cmocka m Threads::Threads)
    target_link_options(${target} PRIVATE LINKER:-z,now) # tests/depth.h
    set_target_properties(${target} PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()

# The list of a program of many tests, a line X(name) for each: tests/choose.c.
function(tamis_chosen target)
    list(TRANSFORM ARGN REPLACE "(.+)" "X(\\1)\n" OUTPUT_VARIABLE lines)
    string(JOIN "" lines ${lines})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/tests/${target}/chosen.h CONTENT "${lines}" @ONLY)
    target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/tests/${target})
endfunction()

# All of tests/<folder>, in one program: the library is linked once. ARGN are the arguments of each test.
function(tamis_folder folder)
    file(GLOB sources CONFIGURE_DEPENDS ${tests}/${folder}/*.c)
    tamis_tests_of_applications(theirs ${folder}/*.c)
    list(APPEND sources ${theirs} ${more_of_${folder}})
    if(NOT TAMIS_HAS_avx2)
        list(FILTER sources EXCLUDE REGEX "_avx2\\.c$")
    endif()
    tamis_program(tests-${folder} ${tests}/choose.c ${sources})
    set_target_properties(tests-${folder} PROPERTIES OUTPUT_NAME ${folder})
    target_link_libraries(tests-${folder} PRIVATE ${libraries_${folder}} tamis-static)
    set(names)
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM name)
        list(APPEND names ${name})
        set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS main=${name}_main)
        tamis_test(${folder}.${name} tests-${folder} ${name} ${only_${name}} ${ARGN})
        tamis_mark_long(${folder}.${name} ${source})
    endforeach()
    tamis_chosen(tests-${folder} ${names})
endfunction()

# Each of tests/<folder> alone: these take the place of functions of the C library.
function(tamis_programs folder)
    add_custom_target(tests-${folder})
    file(GLOB sources CONFIGURE_DEPENDS ${tests}/${folder}/*.c)
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM name)
        tamis_program(${folder}.${name} ${source})
        target_link_libraries(${folder}.${name} PRIVATE ${libraries_${folder}} tamis-static)
        add_dependencies(tests-${folder} ${folder}.${name})
        tamis_test(${folder}.${name} ${folder}.${name} ${ARGN})
        tamis_mark_long(${folder}.${name} ${source})
    endforeach()
endfunction()

function(tamis_scripts folder)
    file(GLOB sources CONFIGURE_DEPENDS ${tests}/${folder}/*.sh ${tests}/${folder}/*.py)
    list(FILTER sources EXCLUDE REGEX "/(relay|synthetic)\\.py$")
    if(folder STREQUAL cli)
        tamis_tests_of_applications(theirs *.sh)
        list(APPEND sources ${theirs})
        list(FILTER sources EXCLUDE REGEX "/(${left_out})\\.sh$")
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
        if(folder STREQUAL cli AND NOT name IN_LIST texts AND NOT name IN_LIST thin)
            tamis_mark_twice(${folder}.${name} ${source})
        endif()
    endforeach()
endfunction()

# Peers that lie, for scripts that look at what becomes of the other side.
add_custom_target(tests-cli DEPENDS tamis-cli)
tamis_tests_of_applications(peers peers/*.c)
foreach(peer IN LISTS peers)
    cmake_path(GET peer STEM name)
    tamis_program(${name} ${peer})
    target_link_libraries(${name} PRIVATE tamis-commands tamis-static)
    add_dependencies(tests-cli ${name})
endforeach()

# ---- Programs and scripts ------------------------------------------------------------------------

# What runs again under sanitizers is what finds more there: not statistics, and of the scripts those
# that go through the program's own code.
set(statistics stat)
set(more_scripts golden bench docs bare)
# Scripts that look at what is printed, or at how much memory is taken.
set(texts completion gen help memory numbers words)
# Scripts of commands that only call the library, which its own programs do under sanitizers.
set(thin adapt budget change compressed convert crafted dedup get info lab lab_hash lab_table merge
    multiset plan plan_advice put query show top toys)
set(left_out check)
if(TAMIS_SANITIZE)
    set(statistics)
    set(more_scripts)
    list(APPEND left_out ${texts})
    if(NOT TAMIS_ALL_SCRIPTS)
        list(APPEND left_out ${thin})
    endif()
    # A short run takes twice the time if leaks are looked for, which the tests of the library do, and
    # a tenth less if it is not noted who called those that allocate.
    set(scripts_environment ASAN_OPTIONS=handle_sigill=1:detect_leaks=0:malloc_context_size=1)
endif()
list(JOIN left_out "|" left_out)

# What these look at besides the library: parts of the command line and of the module for Redis.
set(libraries_unit tamis-commands tamis-redis-parts)
set(libraries_stat tamis-commands)
set(libraries_fault tamis-commands)
set(libraries_thread tamis-redis-commands)
if(TAMIS_SANITIZE MATCHES thread) # of tests/unit, what starts threads
    set(more_of_thread ${tests}/unit/fuse_kernels.c ${tests}/unit/workers.c)
    set(only_fuse_kernels *worker*)
endif()

foreach(folder ${statistics} model unit thread)
    if(NOT (folder STREQUAL thread AND TAMIS_SANITIZE MATCHES address)) # has one of its own
        tamis_folder(${folder})
    endif()
endforeach()
if(TARGET tests-thread)
    target_sources(tests-thread PRIVATE ${tests}/redis/server.c) # a double
endif()
tamis_folder(golden ${PROJECT_SOURCE_DIR})
tamis_programs(fault ${PROJECT_SOURCE_DIR})
foreach(folder cli fault ${more_scripts})
    tamis_scripts(${folder})
endforeach()
add_dependencies(tests-golden tamis-cli)
add_dependencies(tests-fault tamis-cli)

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
    add_custom_target(tests-redis DEPENDS tamis-cli tamis-redis)
    foreach(script IN LISTS scripts)
        cmake_path(GET script STEM name)
        tamis_test(redis.${name} ${PYTHON3} ${script} $<TARGET_FILE:tamis-redis>)
        tamis_mark_long(redis.${name} ${script})
    endforeach()
endif()

# ---- JavaScript, over the module of cmake/web.cmake ----------------------------------------------

find_program(NODE NAMES node nodejs)
if(TARGET tamis-web AND NODE AND NOT TAMIS_SANITIZE)
    add_custom_target(tests-web DEPENDS tamis-cli tamis-web)
    tamis_test(web.npm ${NODE} --expose-gc --test ${web_out}/npm/test)
    file(GLOB scripts CONFIGURE_DEPENDS ${tests}/web/*.mjs)
    foreach(script IN LISTS scripts)
        cmake_path(GET script STEM name)
        tamis_test(web.${name} ${NODE} ${script} ${PROJECT_SOURCE_DIR} ${web_out}/npm
                   $<TARGET_FILE:tamis-cli>)
    endforeach()
endif()

# ---- Fuzzers -------------------------------------------------------------------------------------

# Under libFuzzer each is a program; else one of them all replays inputs: tests/fuzz/replay.c.
file(GLOB fuzzers CONFIGURE_DEPENDS ${tests}/fuzz/*.c)
tamis_tests_of_applications(theirs fuzz/*.c)
list(APPEND fuzzers ${theirs})
list(FILTER fuzzers EXCLUDE REGEX "/(replay|cost)\\.c$")
# What cost.c counts: calls that take pages and calls that write.
set(counted write pwrite tamis__pages_new tamis__pages_grow tamis__pages_free)
list(TRANSFORM counted PREPEND -Wl,--wrap=)

function(tamis_fuzzer target)
    tamis_program(${target} ${tests}/fuzz/cost.c ${ARGN})
    target_include_directories(${target} PRIVATE ${tests}/fuzz)
    target_link_libraries(${target} PRIVATE tamis-commands tamis-redis-parts tamis-static)
    target_link_options(${target} PRIVATE ${counted})
endfunction()

# Fuzzers that know what an input may cost look at changes of their corpus in `make check` as well. Of
# a conversation, each input is a process, which takes long under sanitizers; no image is one.
function(tamis_replay name source)
    cmake_path(GET source PARENT_PATH folder)
    set(corpus ${folder}/corpus/${name})
    file(STRINGS ${source} knows_cost REGEX "#include .*cost\\.h" LIMIT_COUNT 1)
    file(STRINGS ${source} talks REGEX "#include \"talk\\.h" LIMIT_COUNT 1)
    set(inputs ${golden_images})
    if(talks)
        set(mutations 200)
        if(TAMIS_SANITIZE)
            set(mutations 50)
        endif()
        if(TAMIS_LONG)
            set(mutations 20000)
        endif()
        set(inputs --mutations ${mutations} ${corpus})
    elseif(knows_cost)
        list(PREPEND inputs --mutations 1000 ${corpus} --)
    elseif(EXISTS ${corpus})
        list(PREPEND inputs ${corpus})
    endif()
    set_source_files_properties(${source} PROPERTIES
                                COMPILE_DEFINITIONS LLVMFuzzerTestOneInput=${name}_input)
    tamis_test(fuzz.${name} tests-fuzz ${name} ${inputs})
    if(NOT talks)
        tamis_mark_twice(fuzz.${name} ${source})
    endif()
endfunction()

if(TAMIS_FUZZ)
    add_custom_target(tests-fuzz)
else()
    tamis_fuzzer(tests-fuzz ${tests}/fuzz/replay.c ${fuzzers})
    set_target_properties(tests-fuzz PROPERTIES OUTPUT_NAME fuzz)
endif()
set(names)
foreach(source IN LISTS fuzzers)
    cmake_path(GET source STEM name)
    list(APPEND names ${name})
    if(TAMIS_FUZZ)
        tamis_fuzzer(fuzz.${name} ${source})
        target_link_options(fuzz.${name} PRIVATE -fsanitize=fuzzer)
        add_dependencies(tests-fuzz fuzz.${name})
    else()
        tamis_replay(${name} ${source})
    endif()
endforeach()
if(NOT TAMIS_FUZZ)
    tamis_chosen(tests-fuzz ${names})
endif()

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
    foreach(tool layers contract names one_unit length errors format pages)
        tamis_test(tools.${tool} ${PROJECT_SOURCE_DIR}/tools/${tool})
    endforeach()
    tamis_test(tools.mutants ${PROJECT_SOURCE_DIR}/tools/mutants --look)
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
    if(TAMIS_LONG) # two whole builds
        tamis_test(install.folders ${BASH} ${tests}/install/folders.sh ${PROJECT_SOURCE_DIR})
        set_tests_properties(install.folders PROPERTIES LABELS long)
    endif()
    tamis_test(abi.older ${PYTHON3} ${tests}/abi/older.py
               ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    tamis_mark_long(abi.older ${tests}/abi/older.py)
    tamis_test(demo.commands ${BASH} ${PROJECT_SOURCE_DIR}/demo/check.sh
               ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    tamis_mark_long(demo.commands ${PROJECT_SOURCE_DIR}/demo/check.sh)
endif()
