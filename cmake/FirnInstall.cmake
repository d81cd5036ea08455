# bin/firn and, in lib/firn, every shared library that it needs beyond the C library: it runs wherever the prefix lies.
# An old-style run path is wanted, since it also serves what the libraries themselves need.
set_target_properties(firn PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/firn" INSTALL_RPATH_USE_LINK_PATH OFF)
target_link_options(firn PRIVATE -Wl,--disable-new-dtags)
install(TARGETS firn RUNTIME_DEPENDENCY_SET firn_libraries RUNTIME DESTINATION bin)
install(RUNTIME_DEPENDENCY_SET firn_libraries
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util)\\.so"
  DIRECTORIES ${FIRN_PYARROW}
  LIBRARY DESTINATION lib/firn)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION share/doc/firn)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/firn" DESTINATION include OPTIONAL FILES_MATCHING PATTERN "*.h")
