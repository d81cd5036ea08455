#include "firn/file/puffin/puffin.h"

#include <cstring>

#include <simdjson.h>

#include "firn/base/error.h"
#include "firn/file/avro/codec.h"
#include "firn/file/puffin/lz4_frame.h"
#include "firn/storage/object_store.h"

namespace firn::file::puffin {

namespace dom = simdjson::dom;

namespace {

constexpr std::string_view kMagic = "PFA1";
constexpr size_t kTailBytes = 12;  // payload size, flags, magic

[[noreturn]] void bad(std::string_view file, std::string_view what) {
    fail(ErrorCode::INCORRECT_DATA, "{}: damaged Puffin file: {}", file, what);
}

/// Where the footer is, from the last twelve bytes.
struct Tail {
    uint64_t payload_size = 0;
    bool compressed = false;

    /// Of a file of `file_size` bytes.
    static Tail parse(std::string_view tail, uint64_t file_size, std::string_view file) {
        if (tail.substr(8) != kMagic) bad(file, "it does not end with PFA1");
        int32_t size;
        std::memcpy(&size, tail.data(), sizeof size);
        uint32_t flags;
        std::memcpy(&flags, tail.data() + 4, sizeof flags);
        // Magic at the file's begin and at the footer's, payload, tail.
        if (size < 0 || uint64_t(size) + 2 * kMagic.size() + kTailBytes > file_size)
            bad(file, "its footer is longer than the file");
        if (uint64_t(size) > kMaxFooterBytes)
            fail(ErrorCode::LIMIT_EXCEEDED, "{}: Puffin footer of {} bytes", file, size);
        if ((flags & ~1U) != 0) bad(file, "it has flags that are unknown");
        return {uint64_t(size), (flags & 1) != 0};
    }
};

class FooterReader {
public:
    FooterReader(std::string_view file, uint64_t blobs_end) : file_(file), blobs_end_(blobs_end) {}

    FileMetadata read(std::string_view json) const {
        dom::parser parser;
        dom::element root;
        auto error = parser.parse(json.data(), json.size()).get(root);
        if (error != simdjson::SUCCESS)
            bad(file_, fmt::format("its footer is not JSON: {}", simdjson::error_message(error)));
        dom::object object;
        dom::array blobs;
        if (root.get_object().get(object) != simdjson::SUCCESS ||
            object["blobs"].get_array().get(blobs) != simdjson::SUCCESS) {
            bad(file_, "its footer has no \"blobs\"");
        }
        FileMetadata metadata;
        for (dom::element item : blobs) {
            dom::object blob;
            if (item.get_object().get(blob) != simdjson::SUCCESS) bad(file_, "a blob is no object");
            metadata.blobs.push_back(read_blob_metadata(blob));
        }
        metadata.properties = text_map(object);
        return metadata;
    }

private:
    int64_t number(dom::object blob, const char* name) const {
        int64_t value;
        if (blob[name].get_int64().get(value) != simdjson::SUCCESS)
            bad(file_, fmt::format("a blob's \"{}\" is no number", name));
        return value;
    }

    BlobMetadata read_blob_metadata(dom::object blob) const {
        BlobMetadata out;
        std::string_view text;
        if (blob["type"].get_string().get(text) != simdjson::SUCCESS) bad(file_, "a blob has no \"type\"");
        out.type = text;
        out.snapshot_id = number(blob, "snapshot-id");
        out.sequence_number = number(blob, "sequence-number");
        int64_t offset = number(blob, "offset");
        int64_t length = number(blob, "length");
        bool inside = offset >= static_cast<int64_t>(kMagic.size()) && length >= 0 &&
                      static_cast<uint64_t>(offset) <= blobs_end_ &&
                      static_cast<uint64_t>(length) <= blobs_end_ - static_cast<uint64_t>(offset);
        if (!inside) bad(file_, fmt::format("a blob of {} bytes at {} lies outside", length, offset));
        out.offset = static_cast<uint64_t>(offset);
        out.length = static_cast<uint64_t>(length);
        if (blob["compression-codec"].get_string().get(text) == simdjson::SUCCESS) out.compression_codec = text;
        dom::array fields;
        if (blob["fields"].get_array().get(fields) != simdjson::SUCCESS) bad(file_, "a blob has no \"fields\"");
        for (dom::element field : fields) {
            int64_t id;
            if (field.get_int64().get(id) != simdjson::SUCCESS || id < INT32_MIN || id > INT32_MAX)
                bad(file_, "a field id is no number");
            out.fields.push_back(static_cast<int32_t>(id));
        }
        out.properties = text_map(blob);
        return out;
    }

    static std::map<std::string, std::string> text_map(dom::object object) {
        std::map<std::string, std::string> out;
        dom::object properties;
        if (object["properties"].get_object().get(properties) != simdjson::SUCCESS) return out;
        for (auto [key, value] : properties) {
            std::string_view text;
            if (value.get_string().get(text) == simdjson::SUCCESS)
                out.insert_or_assign(std::string(key), std::string(text));
        }
        return out;
    }

    std::string_view file_;
    uint64_t blobs_end_;
};

FileMetadata read_payload(std::string_view payload, bool compressed, std::string_view file, uint64_t blobs_end) {
    std::string storage;
    if (compressed) {
        decompress_lz4_frame(payload, storage, kMaxFooterBytes, file);
        payload = storage;
    }
    return FooterReader(file, blobs_end).read(payload);
}

}  // namespace

FileMetadata parse_footer(std::string_view bytes, std::string_view file) {
    if (bytes.size() < 2 * kMagic.size() + kTailBytes || bytes.substr(0, 4) != kMagic)
        bad(file, "it does not begin with PFA1");
    Tail tail = Tail::parse(bytes.substr(bytes.size() - kTailBytes), bytes.size(), file);
    size_t footer = bytes.size() - kTailBytes - tail.payload_size - kMagic.size();
    if (bytes.substr(footer, kMagic.size()) != kMagic) bad(file, "its footer does not begin with PFA1");
    return read_payload(bytes.substr(footer + kMagic.size(), tail.payload_size), tail.compressed, file, footer);
}

FileMetadata read_footer(const storage::OpenFile& file) {
    const std::string& name = file.info().path;
    if (file.size() < 2 * kMagic.size() + kTailBytes) bad(name, "it is too short");
    std::string buffer(kTailBytes, '\0');
    auto read = [&](uint64_t offset) {
        file.read_at(offset, {reinterpret_cast<uint8_t*>(buffer.data()), buffer.size()});
    };
    read(file.size() - kTailBytes);
    Tail tail = Tail::parse(buffer, file.size(), name);
    buffer.resize(kMagic.size() + tail.payload_size);
    uint64_t footer = file.size() - kTailBytes - buffer.size();
    read(footer);
    if (std::string_view(buffer).substr(0, kMagic.size()) != kMagic) bad(name, "its footer does not begin with PFA1");
    return read_payload(std::string_view(buffer).substr(kMagic.size()), tail.compressed, name, footer);
}

std::string decompress_blob(std::string_view stored, std::string_view codec, std::string_view file) {
    std::string out;
    if (codec.empty()) {
        out = stored;
    } else if (codec == "zstd") {
        try {
            avro::decompress_block(avro::Codec::Zstandard, stored, out, kMaxBlobBytes);
        } catch (Error& error) {
            error.add_context(fmt::format("{}: blob: ", file));
            throw;
        }
    } else if (codec == "lz4") {
        decompress_lz4_frame(stored, out, kMaxBlobBytes, file);
    } else {
        fail(ErrorCode::INCORRECT_DATA, "{}: unknown Puffin codec \"{}\"", file, codec);
    }
    return out;
}

std::string read_blob(const storage::OpenFile& file, const BlobMetadata& blob) {
    if (blob.length > kMaxBlobBytes) {
        fail(ErrorCode::LIMIT_EXCEEDED, "{}: blob of {} bytes, more than {}", file.info().path, blob.length,
             kMaxBlobBytes);
    }
    if (blob.offset > file.size() || blob.length > file.size() - blob.offset)
        bad(file.info().path, "a blob lies outside");
    std::string stored(blob.length, '\0');
    file.read_at(blob.offset, {reinterpret_cast<uint8_t*>(stored.data()), stored.size()});
    if (blob.compression_codec.empty()) return stored;
    return decompress_blob(stored, blob.compression_codec, file.info().path);
}

}  // namespace firn::file::puffin
