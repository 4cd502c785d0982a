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
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef
                    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
                    $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
if(TAMIS_WERROR)
    add_compile_options(-Werror)
endif()

if(TAMIS_FUZZ)
    set(TAMIS_SANITIZE fuzzer-no-link,address,undefined)
endif()
if(TAMIS_SANITIZE)
    add_compile_options(-fsanitize=${TAMIS_SANITIZE} -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${TAMIS_SANITIZE})
else()
    # CMake's own RelWithDebInfo stops at -O2.
    add_compile_options($<$<CONFIG:RelWithDebInfo>:-O3>)
endif()
