# Headers, libraries, program, manual pages, completion, and what pkg-config and CMake need to find
# them. The two packages locate the rest from where they lie, so that an installed tree can move.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# ---- Manual pages: one per command, made by running the program ----------------------------------

# The program of another machine does not run here: this one's, with one kind and quickly compiled,
# says the same of its commands.
if(CMAKE_CROSSCOMPILING)
    include(ExternalProject)
    ExternalProject_Add(tamis-here EXCLUDE_FROM_ALL ON BUILD_ALWAYS ON
        SOURCE_DIR ${PROJECT_SOURCE_DIR}
        BINARY_DIR ${PROJECT_BINARY_DIR}/here
        CONFIGURE_COMMAND ${CMAKE_COMMAND} -E env --unset=CC --unset=CFLAGS --unset=CPPFLAGS
            --unset=LDFLAGS ${CMAKE_COMMAND} -S <SOURCE_DIR> -B <BINARY_DIR>
            -DCMAKE_BUILD_TYPE=Debug -DTAMIS_KINDS=bloom
        BUILD_COMMAND ${CMAKE_COMMAND} --build <BINARY_DIR> --target tamis-cli
        INSTALL_COMMAND "")
    set(speaker ${PROJECT_BINARY_DIR}/here/tamis)
    set(speaker_target tamis-here)
else()
    set(speaker $<TARGET_FILE:tamis-cli>)
    set(speaker_target tamis-cli)
endif()

set(pages_dir ${PROJECT_BINARY_DIR}/man)
file(MAKE_DIRECTORY ${pages_dir})
add_custom_command(
    OUTPUT ${pages_dir}/made
    COMMAND ${CMAKE_COMMAND} -DTAMIS=${speaker} -DINTO=${pages_dir}
            -DMAKE_PAGE=${PROJECT_SOURCE_DIR}/man/make-page
            -P ${PROJECT_SOURCE_DIR}/cmake/pages.cmake
    DEPENDS ${speaker_target} man/make-page cmake/pages.cmake
    COMMENT "Making manual pages")
if(PROJECT_IS_TOP_LEVEL)
    add_custom_target(tamis-pages ALL DEPENDS ${pages_dir}/made)
endif()

file(GLOB pages1 CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.1)
file(GLOB pages3 CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.3)
install(FILES ${pages1} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${pages3} DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(DIRECTORY ${pages_dir}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        FILES_MATCHING PATTERN "*.1")

# ---- pkg-config and CMake packages ---------------------------------------------------------------

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
           BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir}
           OUTPUT_VARIABLE prefix_from_pkgconfig)
configure_file(cmake/tamis.pc.in tamis.pc @ONLY)
configure_package_config_file(cmake/tamis-config.cmake.in tamis-config.cmake
                              INSTALL_DESTINATION ${package_dir}
                              NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may break what uses the old one.
write_basic_package_version_file(tamis-config-version.cmake COMPATIBILITY SameMinorVersion)

install(FILES ${PROJECT_BINARY_DIR}/tamis.pc DESTINATION ${pkgconfig_dir})
install(FILES ${PROJECT_BINARY_DIR}/tamis-config.cmake
              ${PROJECT_BINARY_DIR}/tamis-config-version.cmake DESTINATION ${package_dir})
install(EXPORT tamis-targets NAMESPACE tamis:: DESTINATION ${package_dir})

# ---- The rest ------------------------------------------------------------------------------------

install(TARGETS tamis-cli DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tamis-static tamis-shared EXPORT tamis-targets)
# CMake strips what is linked; of the archive, programs need the names and not the lines.
install(CODE "
    if(CMAKE_INSTALL_DO_STRIP)
        execute_process(COMMAND ${CMAKE_STRIP} --strip-debug
            \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libtamis.a\"
            COMMAND_ERROR_IS_FATAL ANY)
    endif()")
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES completions/tamis.bash RENAME tamis
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES completions/_tamis DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES completions/tamis.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(PROJECT_IS_TOP_LEVEL)
    set(CPACK_GENERATOR TGZ)
    set(CPACK_PACKAGE_VENDOR "the tamis authors")
    set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
    include(CPack)
endif()
