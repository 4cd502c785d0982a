# build/web: the library as a WebAssembly module with its JavaScript, a page and an npm package. The
# compiler is clang, whichever one the rest of the project has. `make web` builds it.

find_program(WASM_CLANG clang)
find_program(WASM_LD NAMES wasm-ld wasm-ld-14)
set(WASM_HEADERS /usr/include/wasm32-wasi)
if(NOT WASM_CLANG OR NOT WASM_LD OR NOT EXISTS ${WASM_HEADERS})
    return()
endif()

set(web ${PROJECT_SOURCE_DIR}/bindings/web)
set(web_out ${PROJECT_BINARY_DIR}/web)
set(web_objects_dir ${PROJECT_BINARY_DIR}/web-objects)

# Numbers too large for an integer become the largest one, as nowhere else in C: what JavaScript
# passes is anything. Every browser of the last years knows these three extensions.
set(web_flags --target=wasm32-wasi -std=c11 -DNDEBUG -DXXH_NO_STDLIB -fvisibility=hidden
    -mbulk-memory -mnontrapping-fptoint -msign-ext -Wno-pass-failed
    -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src
    -isystem ${xxhash_dir} -isystem ${WASM_HEADERS})
if(TAMIS_WERROR)
    list(APPEND web_flags -Werror)
endif()

file(GLOB web_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*.c ${web}/module/*.c)
list(FILTER web_sources EXCLUDE REGEX "/src/(os|bare|sync)/|_(avx2|avx512|neon)\\.c$")

# tamis_web_object(NAMES SOURCE [OPTION...]) appends the object of that source to the list NAMES.
function(tamis_web_object list source)
    cmake_path(GET source STEM name)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    set(object ${web_objects_dir}/${list}/${folder}-${name}.o)
    # Lookups are made fast, half of them twice as fast as for size alone; what runs once per filter or
    # per picture is made small.
    set(options -Os)
    if(source MATCHES "/src/(base|bloom|exact)/|/core/(batch|filter|making)\\.c|/module/")
        set(options -O2)
    elseif(source MATCHES "/src/(advice|core|explain)/|_explain\\.c$")
        set(options -Oz)
    endif()
    if(source MATCHES "/module/") # the rest is compiled with warnings for other machines
        list(APPEND options -Wall -Wextra)
    endif()
    add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${WASM_CLANG} ${web_flags} ${options} ${ARGN}
                -MD -MF ${object}.d -c ${source} -o ${object}
        DEPENDS ${source} DEPFILE ${object}.d
        COMMENT "Building ${folder}/${name}.c for WebAssembly" VERBATIM)
    set(${list} ${${list}} ${object} PARENT_SCOPE)
endfunction()

# No start, no imports: what the module needs is in it. A call takes at most 16 KiB of stack.
function(tamis_web_module module)
    add_custom_command(OUTPUT ${module}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${web_out}
        COMMAND ${WASM_CLANG} --target=wasm32-wasi -nostartfiles -Wl,--no-entry -Wl,--export-dynamic
                -Wl,--export=malloc -Wl,--export=free -Wl,--stack-first -Wl,-z,stack-size=65536
                -Wl,--strip-all -Wl,--fatal-warnings ${ARGN} -lm -o ${module}
        DEPENDS ${ARGN} COMMENT "Linking ${module}" VERBATIM)
endfunction()

# Two modules, of which one is loaded: an engine that does not know vectors refuses a module that has
# one anywhere. Files that know of them are compiled for each.
set(both)
set(plain)
set(vectors)
foreach(source IN LISTS web_sources)
    file(STRINGS ${source} knows REGEX "simd128" LIMIT_COUNT 1)
    if(NOT knows)
        tamis_web_object(both ${source})
        continue()
    endif()
    tamis_web_object(vectors ${source} -msimd128)
    if(NOT source MATCHES "_simd128\\.c$")
        tamis_web_object(plain ${source})
    endif()
endforeach()
foreach(set both plain vectors)
    file(MAKE_DIRECTORY ${web_objects_dir}/${set})
endforeach()
set(web_modules ${web_out}/tamis.wasm ${web_out}/tamis-plain.wasm)
tamis_web_module(${web_out}/tamis.wasm ${both} ${vectors})
tamis_web_module(${web_out}/tamis-plain.wasm ${both} ${plain})

# Files that are taken as they are, to where the page and the package expect them.
set(web_copies)
function(tamis_web_copy from to)
    add_custom_command(OUTPUT ${to} COMMAND ${CMAKE_COMMAND} -E copy ${from} ${to}
                       DEPENDS ${from} VERBATIM)
    set(web_copies ${web_copies} ${to} PARENT_SCOPE)
endfunction()

file(GLOB scripts CONFIGURE_DEPENDS ${web}/*.js)
foreach(script IN LISTS scripts)
    cmake_path(GET script FILENAME name)
    tamis_web_copy(${script} ${web_out}/${name})
    tamis_web_copy(${script} ${web_out}/npm/${name})
endforeach()
file(GLOB_RECURSE pages CONFIGURE_DEPENDS RELATIVE ${web}/page ${web}/page/*)
foreach(name IN LISTS pages)
    tamis_web_copy(${web}/page/${name} ${web_out}/${name})
endforeach()
file(GLOB_RECURSE package CONFIGURE_DEPENDS RELATIVE ${web}/npm ${web}/npm/*)
foreach(name IN LISTS package)
    tamis_web_copy(${web}/npm/${name} ${web_out}/npm/${name})
endforeach()
foreach(module IN LISTS web_modules)
    cmake_path(GET module FILENAME name)
    tamis_web_copy(${module} ${web_out}/npm/${name})
endforeach()
tamis_web_copy(${PROJECT_SOURCE_DIR}/LICENSE ${web_out}/npm/LICENSE)

if(TAMIS_TESTS AND NOT TAMIS_SANITIZE)
    set(in_all ALL)
endif()
add_custom_target(tamis-web ${in_all} DEPENDS ${web_modules} ${web_copies})
