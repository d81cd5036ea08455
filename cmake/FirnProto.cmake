# Messages of ORC files: C++ made by protoc in the build folder, compiled into the room file without warnings, since the
# generated code is not ours. Only the lite runtime is linked: no descriptors, nothing that another copy of protobuf
# inside Arrow's library could clash with.
if(TARGET firn_file)
  set(_proto "${PROJECT_SOURCE_DIR}/src/firn/file/orc/orc_proto.proto")
  set(_proto_out "${PROJECT_BINARY_DIR}/proto")
  set(_proto_base "${_proto_out}/firn/file/orc/orc_proto.pb")
  file(MAKE_DIRECTORY "${_proto_out}")
  add_custom_command(
    OUTPUT "${_proto_base}.cc" "${_proto_base}.h"
    COMMAND protobuf::protoc "--proto_path=${PROJECT_SOURCE_DIR}/src" "--cpp_out=${_proto_out}" "${_proto}"
    DEPENDS "${_proto}"
    VERBATIM)
  target_sources(firn_file PRIVATE "${_proto_base}.cc" "${_proto_base}.h")
  set_source_files_properties("${_proto_base}.cc" PROPERTIES COMPILE_OPTIONS "-w" SKIP_LINTING ON SKIP_PRECOMPILE_HEADERS ON)
  target_include_directories(firn_file SYSTEM PRIVATE "${_proto_out}")
  target_link_libraries(firn_file PRIVATE protobuf::libprotobuf-lite)
endif()
