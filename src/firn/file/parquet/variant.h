// Variant values (VariantEncoding.md of apache/parquet-format) as JSON text, in the form that Spark's to_json gives it:
// no spaces, object keys in order, floats as Java prints them, binary as base64, dates and times as strings.
// The bytes are untrusted: INCORRECT_DATA for what is cut off, nested too deep or contradicts itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/base/wide_int.h"

namespace firn::file::pq {

/// The dictionary of field names; a view of its bytes.
class VariantMetadata {
public:
    explicit VariantMetadata(std::string_view bytes);
    std::string_view name(uint64_t id) const;
    /// Bytes of the metadata: a value may be stored behind them.
    size_t size() const;

private:
    std::string_view bytes_;
    size_t offset_size_ = 1;
    uint64_t size_ = 0;
};

void append_variant(std::string& out, const VariantMetadata& metadata, std::string_view value);

using VariantFields = std::vector<std::pair<std::string_view, std::string_view>>;
/// The fields (name, value) of an object; false where the value is none.
bool variant_fields(const VariantMetadata& metadata, std::string_view value, VariantFields& out);

// Scalars, as they stand in the text.
void append_json_float(std::string& out, double value);
void append_json_float(std::string& out, float value);
void append_json_base64(std::string& out, std::string_view bytes);
void append_json_date(std::string& out, int64_t days);
/// ticks of 10^-scale seconds, of the day.
void append_json_time(std::string& out, int64_t ticks, int scale);
/// ticks of 10^-scale seconds since the epoch; utc: an instant, as against a local time.
void append_json_timestamp(std::string& out, int64_t ticks, int scale, bool utc);
void append_json_uuid(std::string& out, UInt128 value);

}  // namespace firn::file::pq
