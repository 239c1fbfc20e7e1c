# sim_library: a shared library of the simulated device, under the SONAME and the symbol version of NVIDIA's, in lib/sim.
#
#   sim_library(NAME target FILE cublas VERSION 13 NODE libcublas.so.13 EXPORTS "cublas*" SOURCES a.cc STUBS ... LIBS ...)
#
# NODE     the symbol version of the exported names; without it they are unversioned
# EXPORTS  patterns of the names that are exported; everything else is hidden
# STUBS    arguments for generate_stubs.py, which writes what SOURCES does not
include_guard()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(SIM_STUBS_DIR ${CMAKE_CURRENT_LIST_DIR})

function(sim_library)
  cmake_parse_arguments(L "" "NAME;FILE;VERSION;NODE" "EXPORTS;SOURCES;STUBS;USES;LIBS" ${ARGN})
  set(stubs ${CMAKE_CURRENT_BINARY_DIR}/${L_NAME}_stubs.c)
  set(inputs ${L_STUBS})
  list(FILTER inputs INCLUDE REGEX "^/")
  add_custom_command(OUTPUT ${stubs} DEPENDS ${SIM_STUBS_DIR}/generate_stubs.py ${inputs} VERBATIM
                     COMMAND ${Python3_EXECUTABLE} ${SIM_STUBS_DIR}/generate_stubs.py --out ${stubs} ${L_STUBS})
  set(map ${CMAKE_CURRENT_BINARY_DIR}/${L_NAME}.map)
  list(JOIN L_EXPORTS "; " exports)
  file(CONFIGURE OUTPUT ${map} CONTENT "@L_NODE@ {\n  global: @exports@;\n  local: *;\n};\n" @ONLY)

  cuheap_target(NAME ${L_NAME} COMPONENT tests/sim KIND shared SOURCES ${L_SOURCES} ${stubs} USES ${L_USES} LIBS ${L_LIBS})
  set_target_properties(${L_NAME} PROPERTIES OUTPUT_NAME ${L_FILE} SOVERSION ${L_VERSION} LINK_DEPENDS ${map}
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/sim BUILD_RPATH "$ORIGIN"
                        BUILD_WITH_INSTALL_RPATH OFF CXX_VISIBILITY_PRESET default)
  target_link_options(${L_NAME} PRIVATE -Wl,--version-script=${map})
  add_dependencies(simulated_device ${L_NAME})
endfunction()
