#include "firn/file/parquet/metadata.h"

#include "firn/file/parquet/thrift.h"

namespace firn::file::pq {
namespace {

template <typename Enum>
Enum enum_of(int64_t value, Enum last, const char* what) {
    if (value < 0 || value > static_cast<int64_t>(last))
        fail(ErrorCode::INCORRECT_DATA, "{} {} is not known", what, value);
    return static_cast<Enum>(value);
}

uint32_t size_of(int64_t value, const char* what) {
    if (value < 0 || value > INT32_MAX) fail(ErrorCode::INCORRECT_DATA, "{} {} is out of range", what, value);
    return static_cast<uint32_t>(value);
}

int64_t not_negative(int64_t value, const char* what) {
    if (value < 0) fail(ErrorCode::INCORRECT_DATA, "{} {} is negative", what, value);
    return value;
}

Statistics parse_statistics(ThriftReader& in) {
    Statistics out;
    in.structure([&](int id, ThriftType type) {
        switch (id) {
            case 1:
                out.deprecated_max = in.binary(type);
                return true;
            case 2:
                out.deprecated_min = in.binary(type);
                return true;
            case 3:
                out.null_count = in.integer(type);
                return true;
            case 5:
                out.max = in.binary(type);
                return true;
            case 6:
                out.min = in.binary(type);
                return true;
            case 7:
                out.max_exact = in.boolean(type);
                return true;
            case 8:
                out.min_exact = in.boolean(type);
                return true;
            case 9:
                out.nan_count = in.integer(type);
                return true;
            default:
                return false;
        }
    });
    if (out.null_count && *out.null_count < 0) out.null_count.reset();
    if (out.nan_count && *out.nan_count < 0) out.nan_count.reset();
    return out;
}

int parse_time_unit(ThriftReader& in) {
    int unit = 0;
    in.structure([&](int id, ThriftType) {
        if (id >= 1 && id <= 3) unit = id * 3;
        return false;
    });
    return unit;
}

void parse_logical_details(ThriftReader& in, int kind, SchemaElement& out) {
    in.structure([&](int id, ThriftType type) {
        switch (kind) {
            case 5:
                if (id == 1)
                    out.scale = in.integer32(type);
                else if (id == 2)
                    out.precision = in.integer32(type);
                else
                    return false;
                return true;
            case 7:
            case 8:
                if (id == 1)
                    out.utc = in.boolean(type);
                else if (id == 2 && type == ThriftType::Struct)
                    out.unit = parse_time_unit(in);
                else
                    return false;
                return true;
            case 10:
                if (id == 1)
                    out.bits = in.integer32(type);
                else if (id == 2)
                    out.is_signed = in.boolean(type);
                else
                    return false;
                return true;
            default:
                return false;
        }
    });
}

/// True where the union holds a logical type that is known.
bool parse_logical_type(ThriftReader& in, SchemaElement& out) {
    bool known = false;
    in.structure([&](int id, ThriftType type) {
        static constexpr Annotation kinds[] = {
            Annotation::None,    Annotation::String,  Annotation::Map,      Annotation::List,      Annotation::Enum,
            Annotation::Decimal, Annotation::Date,    Annotation::Time,     Annotation::Timestamp, Annotation::None,
            Annotation::Integer, Annotation::Null,    Annotation::Json,     Annotation::Bson,      Annotation::Uuid,
            Annotation::Float16, Annotation::Variant, Annotation::Geometry, Annotation::Geography};
        if (id < 1 || id >= static_cast<int>(std::size(kinds)) || kinds[id] == Annotation::None ||
            type != ThriftType::Struct)
            return false;
        out.annotation = kinds[id];
        known = true;
        parse_logical_details(in, id, out);
        return true;
    });
    return known;
}

void apply_converted_type(int32_t converted, SchemaElement& out) {
    static constexpr Annotation kinds[] = {
        Annotation::String,    Annotation::Map,     Annotation::MapKeyValue, Annotation::List,    Annotation::Enum,
        Annotation::Decimal,   Annotation::Date,    Annotation::Time,        Annotation::Time,    Annotation::Timestamp,
        Annotation::Timestamp, Annotation::Integer, Annotation::Integer,     Annotation::Integer, Annotation::Integer,
        Annotation::Integer,   Annotation::Integer, Annotation::Integer,     Annotation::Integer, Annotation::Json,
        Annotation::Bson,      Annotation::Interval};
    if (converted < 0 || converted >= static_cast<int32_t>(std::size(kinds))) return;
    out.annotation = kinds[converted];
    if (converted >= 7 && converted <= 10) {
        out.unit = converted % 2 ? 3 : 6;
        out.utc = true;
    }
    if (converted >= 11 && converted <= 18) {
        out.bits = 8 << ((converted - 11) % 4);
        out.is_signed = converted >= 15;
    }
}

SchemaElement parse_schema_element(ThriftReader& in) {
    SchemaElement out;
    std::optional<int32_t> converted;
    bool logical = false;
    in.structure([&](int id, ThriftType type) {
        switch (id) {
            case 1:
                out.physical = enum_of(in.integer(type), PhysicalType::FixedLenByteArray, "physical type");
                return true;
            case 2:
                out.type_length = in.integer32(type);
                return true;
            case 3:
                out.repetition = enum_of(in.integer(type), Repetition::Repeated, "repetition");
                return true;
            case 4:
                out.name = in.binary(type);
                return true;
            case 5:
                out.children = static_cast<int32_t>(size_of(in.integer(type), "number of children"));
                return true;
            case 6:
                converted = in.integer32(type);
                return true;
            case 7:
                if (!logical)
                    out.scale = in.integer32(type);
                else
                    in.skip(type);
                return true;
            case 8:
                if (!logical)
                    out.precision = in.integer32(type);
                else
                    in.skip(type);
                return true;
            case 9:
                out.field_id = in.integer32(type);
                return true;
            case 10:
                if (type != ThriftType::Struct) return false;
                logical = parse_logical_type(in, out);
                return true;
            default:
                return false;
        }
    });
    if (!logical && converted) apply_converted_type(*converted, out);
    return out;
}

void parse_encoding_statistics(ThriftReader& in, ColumnChunk& out) {
    PageKind kind = PageKind::Index;
    int64_t encoding = 0, count = 0;
    in.structure([&](int id, ThriftType type) {
        if (id == 1)
            kind = enum_of(in.integer(type), PageKind::DataV2, "page type");
        else if (id == 2)
            encoding = in.integer(type);
        else if (id == 3)
            count = in.integer(type);
        else
            return false;
        return true;
    });
    if (count <= 0 || (kind != PageKind::Data && kind != PageKind::DataV2)) return;
    const bool dictionary = encoding == static_cast<int64_t>(PageEncoding::PlainDictionary) ||
                            encoding == static_cast<int64_t>(PageEncoding::RleDictionary);
    out.all_dictionary = out.all_dictionary.value_or(true) && dictionary;
}

void parse_column_metadata(ThriftReader& in, ColumnChunk& out) {
    in.structure([&](int id, ThriftType type) {
        switch (id) {
            case 1:
                out.physical = enum_of(in.integer(type), PhysicalType::FixedLenByteArray, "physical type");
                return true;
            case 4:
                out.compression = enum_of(in.integer(type), Compression::Lz4Raw, "compression codec");
                return true;
            case 5:
                out.values = not_negative(in.integer(type), "number of values");
                return true;
            case 7:
                out.compressed_size = not_negative(in.integer(type), "size of a column chunk");
                return true;
            case 9:
                out.data_offset = not_negative(in.integer(type), "offset of a page");
                return true;
            case 11:
                out.dictionary_offset = in.integer(type);
                return true;
            case 12:
                in.require(type == ThriftType::Struct);
                out.statistics = parse_statistics(in);
                return true;
            case 13:
                in.list(type, [&](ThriftType element) {
                    in.require(element == ThriftType::Struct);
                    parse_encoding_statistics(in, out);
                });
                return true;
            case 14:
                out.bloom_offset = in.integer(type);
                return true;
            case 15:
                if (type != ThriftType::I32)
                    return false;  // a writer before the format had it used the number otherwise
                out.bloom_length = in.integer32(type);
                return true;
            default:
                return false;
        }
    });
}

ColumnChunk parse_column_chunk(ThriftReader& in) {
    ColumnChunk out;
    bool found = false;
    in.structure([&](int id, ThriftType type) {
        switch (id) {
            case 1:
                out.elsewhere = !in.binary(type).empty();
                return true;
            case 3:
                in.require(type == ThriftType::Struct);
                parse_column_metadata(in, out);
                found = true;
                return true;
            case 4:
                out.offset_index_offset = in.integer(type);
                return true;
            case 5:
                out.offset_index_length = in.integer32(type);
                return true;
            case 6:
                out.column_index_offset = in.integer(type);
                return true;
            case 7:
                out.column_index_length = in.integer32(type);
                return true;
            case 8:
                out.encrypted = true;
                return false;
            default:
                return false;
        }
    });
    if (!found && !out.encrypted) fail(ErrorCode::INCORRECT_DATA, "a column chunk has no metadata");
    return out;
}

RowGroup parse_row_group(ThriftReader& in) {
    RowGroup out;
    in.structure([&](int id, ThriftType type) {
        switch (id) {
            case 1:
                in.list(type, [&](ThriftType element) {
                    in.require(element == ThriftType::Struct);
                    out.columns.push_back(parse_column_chunk(in));
                });
                return true;
            case 3:
                out.rows = not_negative(in.integer(type), "number of rows");
                return true;
            default:
                return false;
        }
    });
    return out;
}

ColumnOrder parse_column_order(ThriftReader& in) {
    ColumnOrder order = ColumnOrder::Undefined;
    in.structure([&](int id, ThriftType) {
        if (id >= 1 && id <= 3) order = static_cast<ColumnOrder>(id);
        return false;
    });
    return order;
}

}  // namespace

FileMetadata parse_file_metadata(std::span<const uint8_t> bytes) {
    FileMetadata out;
    ThriftReader in(bytes);
    in.structure([&](int id, ThriftType type) {
        switch (id) {
            case 2:
                in.list(type, [&](ThriftType element) {
                    in.require(element == ThriftType::Struct);
                    out.schema.push_back(parse_schema_element(in));
                });
                return true;
            case 3:
                out.rows = not_negative(in.integer(type), "number of rows");
                return true;
            case 4:
                in.list(type, [&](ThriftType element) {
                    in.require(element == ThriftType::Struct);
                    out.row_groups.push_back(parse_row_group(in));
                });
                return true;
            case 6:
                out.created_by = in.binary(type);
                return true;
            case 7:
                in.list(type, [&](ThriftType element) {
                    in.require(element == ThriftType::Struct);
                    out.column_orders.push_back(parse_column_order(in));
                });
                return true;
            default:
                return false;
        }
    });
    return out;
}

namespace {

void parse_data_header(ThriftReader& in, PageHeader& out) {
    in.structure([&](int id, ThriftType type) {
        switch (id) {
            case 1:
                out.values = size_of(in.integer(type), "number of values");
                return true;
            case 2:
                out.encoding = enum_of(in.integer(type), PageEncoding::ByteStreamSplit, "encoding");
                return true;
            case 3:
                out.definition_encoding = enum_of(in.integer(type), PageEncoding::ByteStreamSplit, "encoding");
                return true;
            case 4:
                out.repetition_encoding = enum_of(in.integer(type), PageEncoding::ByteStreamSplit, "encoding");
                return true;
            default:
                return false;
        }
    });
}

void parse_dictionary_header(ThriftReader& in, PageHeader& out) {
    in.structure([&](int id, ThriftType type) {
        switch (id) {
            case 1:
                out.values = size_of(in.integer(type), "number of values");
                return true;
            case 2:
                out.encoding = enum_of(in.integer(type), PageEncoding::ByteStreamSplit, "encoding");
                return true;
            default:
                return false;
        }
    });
}

void parse_data_v2_header(ThriftReader& in, PageHeader& out) {
    in.structure([&](int id, ThriftType type) {
        switch (id) {
            case 1:
                out.values = size_of(in.integer(type), "number of values");
                return true;
            case 2:
                out.nulls = size_of(in.integer(type), "number of nulls");
                return true;
            case 3:
                out.rows = size_of(in.integer(type), "number of rows");
                return true;
            case 4:
                out.encoding = enum_of(in.integer(type), PageEncoding::ByteStreamSplit, "encoding");
                return true;
            case 5:
                out.definition_bytes = size_of(in.integer(type), "size of levels");
                return true;
            case 6:
                out.repetition_bytes = size_of(in.integer(type), "size of levels");
                return true;
            case 7:
                out.compressed = in.boolean(type);
                return true;
            default:
                return false;
        }
    });
}

}  // namespace

PageHeader parse_page_header(std::span<const uint8_t> bytes, size_t& size) {
    PageHeader out;
    ThriftReader in(bytes);
    int details = 0;
    in.structure([&](int id, ThriftType type) {
        switch (id) {
            case 1:
                out.kind = enum_of(in.integer(type), PageKind::DataV2, "page type");
                return true;
            case 2:
                out.uncompressed_size = size_of(in.integer(type), "size of a page");
                return true;
            case 3:
                out.compressed_size = size_of(in.integer(type), "size of a page");
                return true;
            case 4:
                out.crc = static_cast<uint32_t>(in.integer(type));
                return true;
            default:
                break;
        }
        if (id < 5 || id > 8 || type != ThriftType::Struct) return false;
        details |= 1 << id;
        if (id == 5)
            parse_data_header(in, out);
        else if (id == 7)
            parse_dictionary_header(in, out);
        else if (id == 8)
            parse_data_v2_header(in, out);
        else
            return false;
        return true;
    });
    static constexpr int needed[] = {1 << 5, 0, 1 << 7, 1 << 8};
    const int must = needed[static_cast<int>(out.kind)];
    if ((details & must) != must) fail(ErrorCode::INCORRECT_DATA, "a page header lacks the part that its type needs");
    size = in.position();
    return out;
}

std::vector<PageLocation> parse_offset_index(std::span<const uint8_t> bytes) {
    std::vector<PageLocation> out;
    ThriftReader in(bytes);
    in.structure([&](int id, ThriftType type) {
        if (id != 1) return false;
        in.list(type, [&](ThriftType element) {
            in.require(element == ThriftType::Struct);
            PageLocation& location = out.emplace_back();
            in.structure([&](int field, ThriftType field_type) {
                if (field == 1)
                    location.offset = not_negative(in.integer(field_type), "offset of a page");
                else if (field == 2)
                    location.compressed_size = static_cast<int32_t>(size_of(in.integer(field_type), "size of a page"));
                else if (field == 3)
                    location.first_row = not_negative(in.integer(field_type), "first row of a page");
                else
                    return false;
                return true;
            });
        });
        return true;
    });
    return out;
}

ColumnIndex parse_column_index(std::span<const uint8_t> bytes) {
    ColumnIndex out;
    ThriftReader in(bytes);
    in.structure([&](int id, ThriftType type) {
        switch (id) {
            case 1:
                in.list(type, [&](ThriftType) { out.null_pages.push_back(in.boolean_element()); });
                return true;
            case 2:
                in.list(type, [&](ThriftType element) { out.min.push_back(in.binary(element)); });
                return true;
            case 3:
                in.list(type, [&](ThriftType element) { out.max.push_back(in.binary(element)); });
                return true;
            case 5:
                in.list(type, [&](ThriftType element) { out.null_counts.push_back(in.integer(element)); });
                return true;
            case 8:
                in.list(type, [&](ThriftType element) { out.nan_counts.push_back(in.integer(element)); });
                return true;
            default:
                return false;
        }
    });
    return out;
}

BloomHeader parse_bloom_header(std::span<const uint8_t> bytes, size_t& size) {
    BloomHeader out;
    ThriftReader in(bytes);
    int known = 0;
    in.structure([&](int id, ThriftType type) {
        if (id == 1) {
            out.bytes = static_cast<int32_t>(size_of(in.integer(type), "size of a bloom filter"));
            return true;
        }
        if (id < 2 || id > 4 || type != ThriftType::Struct) return false;
        in.structure([&](int member, ThriftType) {
            if (member == 1) known |= 1 << id;
            return false;
        });
        return true;
    });
    out.known = known == (1 << 2 | 1 << 3 | 1 << 4);
    size = in.position();
    return out;
}

}  // namespace firn::file::pq
