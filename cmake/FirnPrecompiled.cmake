# Precompiled headers of the rooms in sanitized builds: what nearly every source includes anyway. Other builds do without
# them, so that a source which forgets an include does not compile there; programs too, since they are compiled with -fPIE.
option(FIRN_PRECOMPILED "Precompile the headers that most sources include" OFF)
if(FIRN_PRECOMPILED)
  file(WRITE "${PROJECT_BINARY_DIR}/precompiled.cpp" "")
  add_library(firn_precompiled OBJECT "${PROJECT_BINARY_DIR}/precompiled.cpp")
  target_include_directories(firn_precompiled PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(firn_precompiled PRIVATE firn_packages)
  target_precompile_headers(firn_precompiled PRIVATE
    <algorithm> <array> <atomic> <charconv> <cmath> <cstdint> <cstring> <functional> <map> <memory> <mutex> <optional> <span>
    <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>
    "${PROJECT_SOURCE_DIR}/src/firn/base/query_context.h"
    "${PROJECT_SOURCE_DIR}/src/firn/vector/builder.h")
endif()

function(firn_precompile target)
  if(FIRN_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM firn_precompiled)
  endif()
endfunction()
