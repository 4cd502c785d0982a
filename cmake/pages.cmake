# cmake -DTAMIS=build/tamis -DMAKE_PAGE=man/make-page -DINTO=build/man -P cmake/pages.cmake
#
# One manual page per command, made from what the command says of itself.

execute_process(COMMAND ${TAMIS} help --names OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[a-z][a-z-]*" names "${names}")
if(NOT names)
    message(FATAL_ERROR "`${TAMIS} help --names` names no command")
endif()
foreach(name IN LISTS names)
    execute_process(COMMAND ${MAKE_PAGE} ${TAMIS} ${name} OUTPUT_FILE ${INTO}/tamis-${name}.1
                    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(TOUCH ${INTO}/made)
