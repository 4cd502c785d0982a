# What every target of the project is compiled with.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, Release, RelWithDebInfo, MinSizeRel"
        FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)

add_compile_definitions(_GNU_SOURCE)
if(CMAKE_C_SIZEOF_DATA_PTR EQUAL 4) # files may be larger than memory
    add_compile_definitions(_FILE_OFFSET_BITS=64)
endif()
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef
                    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
                    $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
# That a loop was not unrolled is no fault of the source: the compiler is free to know better. And
# constants are enumerators here, in sums of any type.
add_compile_options($<$<C_COMPILER_ID:Clang>:-Wno-pass-failed$<SEMICOLON>-Wno-enum-float-conversion>)
# The same bytes, whatever folder the tree lies in. A debugger finds the sources from the tree's root;
# builds for debugging say where they are.
add_compile_options($<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>
                    $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${PROJECT_BINARY_DIR}=.>)
if(TAMIS_WERROR)
    add_compile_options(-Werror)
endif()

if(TAMIS_FUZZ)
    set(TAMIS_SANITIZE fuzzer-no-link,address,undefined)
endif()
# CMake's own RelWithDebInfo is -O2 -g. Names and lines are enough to read a backtrace, and a
# quarter faster to compile; under sanitizers, optimising more takes longer than it saves, and less
# sees variables without a value where there are none.
if(TAMIS_SANITIZE)
    set(level -Og)
    if(TAMIS_SANITIZE MATCHES thread) # where -Og does not inline what must be: steps of a lookup
        set(level -O1)
    endif()
    add_compile_options(-fsanitize=${TAMIS_SANITIZE} -fno-sanitize-recover=all -Wno-maybe-uninitialized
                        -fno-omit-frame-pointer $<$<CONFIG:RelWithDebInfo>:${level}$<SEMICOLON>-g1>)
    add_compile_definitions(XXH_NO_INLINE_HINTS=1) # which -Og cannot follow
    # What is undefined is an illegal instruction, of which AddressSanitizer says where it is. Data that
    # describe each place where one might be, and a library that prints them, are half of a program: a
    # sixth of the time to compile it, and a third of each start.
    set(linked ${TAMIS_SANITIZE})
    if(TAMIS_SANITIZE STREQUAL "address,undefined" AND NOT TAMIS_FUZZ)
        add_compile_options(-fsanitize-undefined-trap-on-error)
        set(linked address)
    endif()
    add_link_options(-fsanitize=${linked})
    # Their data are full of addresses, which a program at a fixed place need not work out whenever it
    # starts: half of what a start costs, and scripts start programs by the thousand.
    if(TAMIS_SANITIZE MATCHES address)
        add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
    endif()
else()
    add_compile_options($<$<CONFIG:RelWithDebInfo>:-O2$<SEMICOLON>-g1>)
endif()
