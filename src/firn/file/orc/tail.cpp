#include "firn/file/orc/tail.h"

#include <algorithm>
#include <charconv>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/file/orc/byte_stream.h"
#include "firn/file/orc/orc_proto.pb.h"

namespace firn::file::orc {
namespace {

constexpr uint64_t kDefaultBlockSize = 256 * 1024;
constexpr uint64_t kMaxBlockSize = uint64_t{1} << 23;  // what a chunk's header can tell
constexpr std::string_view kMagic = "ORC";

template <typename... Args>
[[noreturn]] void fail_file(const storage::OpenFile& file, fmt::format_string<Args...> format, Args&&... args) {
    fail(ErrorCode::INCORRECT_DATA, "ORC file {}: {}", file.info().path,
         fmt::format(format, std::forward<Args>(args)...));
}

template <typename Message>
Message parse(const storage::OpenFile& file, std::string_view bytes, std::string_view what) {
    Message message;
    if (bytes.size() > kMaxTailBytes || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        fail_file(file, "its {} cannot be parsed", what);
    return message;
}

std::optional<int> parse_number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

Type to_type(const storage::OpenFile& file, const proto::Type& from) {
    Type type;
    if (from.kind() > static_cast<uint32_t>(Kind::Geometry))
        fail(ErrorCode::NOT_IMPLEMENTED, "ORC file {}: type kind {} is not known", file.info().path, from.kind());
    type.kind = static_cast<Kind>(from.kind());
    type.subtypes.assign(from.subtypes().begin(), from.subtypes().end());
    type.field_names.assign(from.field_names().begin(), from.field_names().end());
    type.precision = from.precision();
    type.scale = from.scale();
    for (const auto& attribute : from.attributes()) {
        const std::string& key = attribute.key();
        if (key == "iceberg.id")
            type.iceberg_id = parse_number(attribute.value());
        else if (key == "iceberg.binary-type")
            type.binary_type = attribute.value();
        else if (key == "iceberg.timestamp-unit")
            type.timestamp_unit = attribute.value();
        else if (key == "iceberg.struct-type")
            type.struct_type = attribute.value();
        else if (key == "iceberg.length")
            type.fixed_length = static_cast<uint32_t>(std::max(0, parse_number(attribute.value()).value_or(0)));
    }
    return type;
}

void read_stripes(const storage::OpenFile& file, const proto::Footer& footer, uint64_t end, Tail& tail) {
    uint64_t rows = 0;
    for (const auto& from : footer.stripes()) {
        Stripe stripe{from.offset(),        from.index_length(),   from.data_length(),
                      from.footer_length(), from.number_of_rows(), rows};
        uint64_t left = end;
        for (uint64_t part : {stripe.offset, stripe.index_length, stripe.data_length, stripe.footer_length}) {
            if (part > left) fail_file(file, "stripe {} lies beyond the file's end", tail.stripes.size());
            left -= part;
        }
        if (__builtin_add_overflow(rows, stripe.rows, &rows) || rows > static_cast<uint64_t>(INT64_MAX))
            fail_file(file, "its stripes have too many rows");
        tail.stripes.push_back(stripe);
    }
    if (rows != footer.number_of_rows())
        fail_file(file, "the footer counts {} rows, its stripes {}", footer.number_of_rows(), rows);
    tail.rows = rows;
}

void read_postscript(const storage::OpenFile& file, const proto::PostScript& script, Tail& tail) {
    if (script.compression() > static_cast<uint32_t>(Compression::Brotli))
        fail(ErrorCode::NOT_IMPLEMENTED, "ORC file {}: compression kind {} is not known", file.info().path,
             script.compression());
    tail.compression = static_cast<Compression>(script.compression());
    tail.block_size = script.has_compression_block_size() ? script.compression_block_size() : kDefaultBlockSize;
    if (tail.compression != Compression::None && (tail.block_size == 0 || tail.block_size > kMaxBlockSize))
        fail_file(file, "its compression block size {} is not between 1 and {}", tail.block_size, kMaxBlockSize);
    tail.writer_version = script.writer_version();
    tail.decimal64 = script.version_size() == 2 && script.version(0) == 1 && script.version(1) == 9999;
}

ColumnStatistics to_statistics(const proto::ColumnStatistics& from) {
    ColumnStatistics to;
    const auto take = [](bool has, auto value, auto& target) {
        if (has) target = value;
    };
    take(from.has_number_of_values(), from.number_of_values(), to.values);
    take(from.has_has_null(), from.has_null(), to.has_null);
    if (from.has_int_statistics()) {
        take(from.int_statistics().has_minimum(), from.int_statistics().minimum(), to.int_min);
        take(from.int_statistics().has_maximum(), from.int_statistics().maximum(), to.int_max);
    }
    if (from.has_date_statistics()) {
        take(from.date_statistics().has_minimum(), from.date_statistics().minimum(), to.int_min);
        take(from.date_statistics().has_maximum(), from.date_statistics().maximum(), to.int_max);
    }
    if (from.has_double_statistics()) {
        take(from.double_statistics().has_minimum(), from.double_statistics().minimum(), to.double_min);
        take(from.double_statistics().has_maximum(), from.double_statistics().maximum(), to.double_max);
    }
    if (from.has_decimal_statistics()) {
        take(from.decimal_statistics().has_minimum(), from.decimal_statistics().minimum(), to.bytes_min);
        take(from.decimal_statistics().has_maximum(), from.decimal_statistics().maximum(), to.bytes_max);
    }
    if (from.has_string_statistics()) {
        const auto& strings = from.string_statistics();
        take(strings.has_minimum(), strings.minimum(), to.bytes_min);
        take(strings.has_maximum(), strings.maximum(), to.bytes_max);
        if (strings.has_lower_bound()) to.bytes_min = strings.lower_bound(), to.min_exact = false;
        if (strings.has_upper_bound()) to.bytes_max = strings.upper_bound(), to.max_exact = false;
    }
    if (from.has_timestamp_statistics()) {
        const auto& times = from.timestamp_statistics();
        take(times.has_minimum_utc(), times.minimum_utc(), to.millis_min);
        take(times.has_maximum_utc(), times.maximum_utc(), to.millis_max);
        take(times.has_minimum_nanos(), times.minimum_nanos(), to.nanos_min);
        take(times.has_maximum_nanos(), times.maximum_nanos(), to.nanos_max);
    }
    if (from.has_bucket_statistics() && from.bucket_statistics().count_size() > 0)
        to.true_count = from.bucket_statistics().count(0);
    return to;
}

}  // namespace

Tail read_tail(const storage::OpenFile& file) {
    const uint64_t size = file.size();
    if (size < kMagic.size() + 1) fail_file(file, "{} bytes are too few for an ORC file", size);
    // Most footers lie within the last bytes, which are read at once.
    const uint64_t guess = std::min<uint64_t>(size, 16 * 1024);
    std::string bytes(guess, '\0');
    file.read_at(size - guess, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()});
    count_event(ProfileEvent::ReadBytesFromStorage, guess);
    count_event(ProfileEvent::StorageReadRequests);
    const auto script_length = static_cast<uint8_t>(bytes.back());
    if (script_length + uint64_t{1} > size) fail_file(file, "its postscript lies before the file's begin");
    const auto script = parse<proto::PostScript>(
        file, std::string_view(bytes).substr(bytes.size() - 1 - script_length, script_length), "postscript");
    if (script.magic() != kMagic) fail_file(file, "there is no ORC postscript at its end");
    Tail tail;
    read_postscript(file, script, tail);
    const uint64_t before_script = size - 1 - script_length;
    if (script.footer_length() > before_script || script.metadata_length() > before_script - script.footer_length())
        fail_file(file, "its footer lies before the file's begin");
    const uint64_t footer_offset = before_script - script.footer_length();
    tail.metadata_length = script.metadata_length();
    tail.metadata_offset = footer_offset - tail.metadata_length;
    const auto footer = parse<proto::Footer>(file,
                                             decompress_section(file, footer_offset, script.footer_length(),
                                                                tail.compression, tail.block_size, kMaxTailBytes),
                                             "footer");
    if (footer.has_encryption())
        fail(ErrorCode::NOT_IMPLEMENTED, "ORC file {}: encrypted files are not supported", file.info().path);
    tail.writer = footer.writer();
    tail.row_index_stride = footer.row_index_stride();
    if (static_cast<size_t>(footer.types_size()) > kMaxColumns)
        fail(ErrorCode::LIMIT_EXCEEDED, "ORC file {}: {} columns are more than {}", file.info().path,
             footer.types_size(), kMaxColumns);
    for (const auto& type : footer.types()) tail.types.push_back(to_type(file, type));
    read_stripes(file, footer, tail.metadata_offset, tail);
    return tail;
}

const StreamInfo* StripeFooter::find(uint32_t column, StreamKind kind) const {
    for (const auto& stream : streams)
        if (stream.column == column && stream.kind == static_cast<uint32_t>(kind)) return &stream;
    return nullptr;
}

StripeFooter read_stripe_footer(const storage::OpenFile& file, const Tail& tail, size_t index) {
    const Stripe& stripe = tail.stripes[index];
    const uint64_t begin = stripe.offset;
    const uint64_t end = begin + stripe.index_length + stripe.data_length;
    const auto from = parse<proto::StripeFooter>(
        file, decompress_section(file, end, stripe.footer_length, tail.compression, tail.block_size, kMaxTailBytes),
        "stripe footer");
    StripeFooter footer;
    footer.writer_timezone = from.writer_timezone();
    uint64_t at = begin;
    for (const auto& stream : from.streams()) {
        if (stream.length() > end - at) fail_file(file, "a stream of stripe {} lies beyond the stripe's end", index);
        footer.streams.push_back({stream.kind(), stream.column(), at, stream.length()});
        at += stream.length();
    }
    if (static_cast<size_t>(from.columns_size()) < tail.types.size())
        fail_file(file, "stripe {} has encodings of {} columns, not of {}", index, from.columns_size(),
                  tail.types.size());
    for (const auto& encoding : from.columns()) {
        if (encoding.kind() > static_cast<uint32_t>(EncodingKind::DictionaryV2))
            fail(ErrorCode::NOT_IMPLEMENTED, "ORC file {}: column encoding {} is not known", file.info().path,
                 encoding.kind());
        footer.encodings.push_back({static_cast<EncodingKind>(encoding.kind()), encoding.dictionary_size()});
    }
    return footer;
}

std::vector<RowIndexEntry> read_row_index(const storage::OpenFile& file, const Tail& tail, const StreamInfo& stream) {
    const auto index = parse<proto::RowIndex>(
        file, decompress_section(file, stream.offset, stream.length, tail.compression, tail.block_size, kMaxTailBytes),
        "row index");
    std::vector<RowIndexEntry> entries;
    entries.reserve(static_cast<size_t>(index.entry_size()));
    for (const auto& from : index.entry()) {
        RowIndexEntry entry;
        entry.positions.assign(from.positions().begin(), from.positions().end());
        entry.statistics = to_statistics(from.statistics());
        entries.push_back(std::move(entry));
    }
    return entries;
}

std::vector<BloomFilter> read_bloom_filters(const storage::OpenFile& file, const Tail& tail, const StreamInfo& stream) {
    const auto index = parse<proto::BloomFilterIndex>(
        file, decompress_section(file, stream.offset, stream.length, tail.compression, tail.block_size, kMaxTailBytes),
        "bloom filter");
    std::vector<BloomFilter> filters;
    for (const auto& from : index.bloom_filter()) filters.push_back({from.num_hash_functions(), from.utf8bitset()});
    return filters;
}

std::vector<std::vector<ColumnStatistics>> read_stripe_statistics(const storage::OpenFile& file, const Tail& tail) {
    if (tail.metadata_length == 0) return {};
    const auto metadata = parse<proto::Metadata>(file,
                                                 decompress_section(file, tail.metadata_offset, tail.metadata_length,
                                                                    tail.compression, tail.block_size, kMaxTailBytes),
                                                 "stripe statistics");
    std::vector<std::vector<ColumnStatistics>> stripes;
    for (const auto& from : metadata.stripe_stats()) {
        auto& columns = stripes.emplace_back();
        for (const auto& column : from.col_stats()) columns.push_back(to_statistics(column));
    }
    return stripes;
}

}  // namespace firn::file::orc
