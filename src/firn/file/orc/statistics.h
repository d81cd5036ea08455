// What an ORC file's statistics say of a leaf's values, as far as they can be trusted.
#pragma once

#include "firn/file/data_file.h"
#include "firn/file/orc/tail.h"

namespace firn::file::orc {

/// `rows`: values of the stripe or row group, NULLs included, where that is known (fields below no list or map).
ValueStatistics to_value_statistics(const ColumnStatistics& from, const Tail& tail, const Type& type,
                                    const FileField& field, std::optional<uint64_t> rows);

}  // namespace firn::file::orc
