// Rows as bytes, for spill files: read by the process that wrote them, never by another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/base/memory.h"
#include "firn/vector/vector.h"

namespace firn::exec {

/// Charged to the query.
using SpillBytes = std::basic_string<char, std::char_traits<char>, TrackedAllocator<char>>;

/// Appends a batch. Constants stay constants, and dictionaries dictionaries where they have no more entries than rows.
void append_batch(const Batch& batch, SpillBytes& out);
/// The batch again, its columns under these types (of the same physical layouts as those written). INCORRECT_DATA for
/// bytes that are no batch of them: nothing that they say of sizes, offsets and codes is taken on trust.
Batch read_batch(std::string_view in, const std::vector<TypePtr>& types);

/// About the bytes of a batch's rows if they were alone: without what it shares with other batches.
size_t bytes_of_rows(const Batch& batch);
/// The same rows in memory of their own: views of pages, and dictionaries larger than the batch, are let go of.
Batch detached(const Batch& batch);

}  // namespace firn::exec
