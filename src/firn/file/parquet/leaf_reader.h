// Reads one leaf column of one row group: pages into vectors, keeping dictionary codes as they are, and decompressing
// only pages that hold rows that are wanted.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "firn/file/parquet/decoder.h"
#include "firn/file/parquet/hybrid.h"
#include "firn/file/parquet/leaf_output.h"
#include "firn/file/parquet/pages.h"
#include "firn/file/parquet/schema.h"

namespace firn::file::pq {

/// Levels, one after another, in a block that grows.
class LevelList {
public:
    const uint8_t* data() const { return levels_ ? levels_->as<uint8_t>() : nullptr; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    uint8_t operator[](size_t i) const { return data()[i]; }
    void append(const uint8_t* levels, size_t n) {
        if (n == 0) return;
        if (!levels_ || levels_->size() - size_ < n) grow(n);
        std::memcpy(levels_->mutable_as<uint8_t>() + size_, levels, n);
        size_ += n;
    }

private:
    void grow(size_t n);
    MutableBufferPtr levels_;
    size_t size_ = 0;
};

/// Levels of some rows of a leaf, and its values at those of them that have one.
struct LeafRows {
    LevelList definition;
    LevelList repetition;  // empty where the leaf is not repeated: all 0
    VectorPtr values;      // one for each entry whose definition is the leaf's own; null without values
};

class LeafReader {
public:
    /// wanted: the type to give (see ReadField); null where only levels are wanted. column and node outlive the reader.
    LeafReader(std::shared_ptr<const storage::OpenFile> file, const ColumnChunk& chunk, const Node& node,
               TypePtr wanted);

    /// The rows [begin, begin + count), or those of them in selection, of a leaf that is not repeated. A value that is
    /// not there is NULL, or the type's default where wanted does not accept NULL and the absence is that of a struct
    /// around it.
    VectorPtr read(uint64_t begin, size_t count, const Selection* selection);
    /// The rows [begin, begin + count) of any leaf, with their levels.
    void read_rows(uint64_t begin, size_t count, LeafRows& out);

    /// The chunk's dictionary without the entry for what is absent; null where the first page is none. Instead of
    /// reading.
    VectorPtr dictionary();

    const Node& node() const { return node_; }
    const TypePtr& wanted() const { return wanted_; }
    /// Whether codes count in this reader's dictionary.
    bool is_own_base(const VectorPtr& base) const { return base && (base == base_ || base == promoted_base_); }
    /// That dictionary with what stands for absent values, which is entry absent_code().
    VectorPtr base_with_absent();
    uint32_t absent_code() const { return dictionary_size_; }

private:
    bool next_page();
    void load_page();
    void read_dictionary();
    void start_levels(Bytes& bytes);
    void start_values(Bytes bytes);

    // Flat reading.
    void read_part(size_t n, const uint32_t* rows, size_t m, LeafOutput& out);
    void read_mixed(size_t n, const uint32_t* rows, size_t m, LeafOutput& out);
    void add_absent(size_t n, LeafOutput& out);
    void fill_absent(char* out, size_t n) const;
    void allow_absent();
    void add_present(size_t n, const uint32_t* rows, size_t m, LeafOutput& out);
    void add_codes(size_t n, const uint32_t* rows, size_t m, LeafOutput& out);
    bool add_view(size_t n, LeafOutput& out);
    void read_codes(size_t n, const uint32_t* rows, size_t m, uint32_t* out);
    void decode_values(ValueDecoder& decoder, size_t n, const uint32_t* rows, size_t m, char* out,
                       const BufferPtr& page, Owners& owners);
    void spread_present(char* from, const uint8_t* valid, size_t n, size_t dense, char* out) const;
    void skip_entries(size_t n);
    void skip_present(size_t n);
    void check_levels(const uint8_t* levels, size_t n) const;
    VectorPtr finish(LeafOutput& out);

    // Reading with levels.
    struct PageTally {
        size_t skipped = 0, taken = 0;
    };
    void read_page_rows(uint64_t begin, uint64_t end, LeafRows& out, PageTally& tally);
    bool fill_block();

    std::shared_ptr<const storage::OpenFile> file_;
    const Node& node_;
    const Leaf& leaf_;
    uint8_t max_definition_;
    TypePtr wanted_;
    TypePtr type_;  // natural, Nullable where wanted accepts NULL
    bool nullable_ = false;
    bool promotes_ = false;
    StringRef absent_string_;  // of a FixedString: zero bytes, kept by absent_owner_
    BufferPtr absent_owner_;
    PageWalker walker_;

    // The current page.
    bool has_page_ = false;
    bool is_loaded_ = false;
    bool ended_ = false;
    uint64_t page_first_ = 0;  // row (flat) of its first entry
    size_t page_entries_ = 0;
    size_t page_at_ = 0;  // entries read of it
    LevelReader definition_, repetition_;
    bool is_dictionary_ = false;
    HybridReader codes_;
    bool check_codes_ = true;
    std::unique_ptr<ValueDecoder> decoder_;
    BufferPtr page_owner_;

    // The chunk's dictionary.
    std::optional<PageWalker::Page> dictionary_;  // not yet decoded
    // Of type_. Once a value has been absent there is one more entry behind, which stands for that: until then nobody needs
    // to look for NULLs, or to evaluate anything for a value that is not there.
    VectorPtr base_;
    VectorPtr promoted_base_;
    uint32_t dictionary_size_ = 0;

    // Reading with levels: entries decoded ahead.
    static constexpr size_t kBlock = 1024;
    uint64_t next_row_ = 0;  // row that the next entry of repetition 0 begins
    size_t block_at_ = 0, block_size_ = 0;
    uint8_t block_definition_[kBlock];
    uint8_t block_repetition_[kBlock];

    std::vector<uint8_t> valid_;
    std::vector<uint32_t> picked_;
    std::vector<uint32_t> code_scratch_, dense_codes_;
    std::vector<char> dense_values_;
    std::vector<char> raw_;
};

}  // namespace firn::file::pq
