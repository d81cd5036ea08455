// Structs, lists and maps, and fields that the file lacks.
#include <algorithm>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/file/orc/column.h"
#include "firn/file/orc/schema.h"

namespace firn::file::orc {
namespace {

/// Elements are read in pieces of this many, so that a damaged count meets the stream's end before it takes much
/// memory.
constexpr size_t kElementsAtOnce = size_t{1} << 20;
constexpr uint64_t kMaxElements = uint64_t{1} << 31;  // rows of a vector are numbered by 32 bits

class MissingReader final : public ColumnReader {
public:
    explicit MissingReader(const ReadField& wanted)
        : value_(wanted.missing ? wanted.missing : Vector::defaults(wanted.type, 1)) {}
    VectorPtr read(size_t n) override { return Vector::constant(value_, n); }
    void skip(size_t) override {}
    bool can_seek(size_t) override { return true; }
    void seek(size_t) override {}

private:
    VectorPtr value_;
};

class StructReader final : public PresentReader {
public:
    StructReader(StripeReader& stripe, uint32_t column, const ReadField& wanted, const std::string& name)
        : PresentReader(stripe, column, name), type_(wanted.type) {
        for (size_t i = 0; i < wanted.children.size(); ++i)
            children_.push_back(make_column_reader(
                stripe, wanted.children[i],
                name + "." + (i < type_->names().size() ? type_->names()[i] : std::to_string(i + 1))));
    }

protected:
    VectorPtr read_rows(size_t n, size_t there) override {
        std::vector<uint32_t> rows;
        if (there < n) {
            rows.resize(n);
            for (uint32_t i = 0, at = 0; i < n; ++i) rows[i] = present()[i] ? at++ : kNoRow;
        }
        std::vector<VectorPtr> elements;
        for (auto& child : children_) {
            VectorPtr values = child->read(there);
            elements.push_back(there < n ? gather_or_default(values, rows) : std::move(values));
        }
        return Vector::tuple(type_, n, std::move(elements));
    }
    void skip_values(size_t there) override {
        for (auto& child : children_) child->skip(there);
    }
    void seek_values(Positions&) override {}
    size_t positions() const override { return 0; }
    bool children_can_seek(size_t group) override {
        return std::all_of(children_.begin(), children_.end(), [&](auto& child) { return child->can_seek(group); });
    }
    void seek_children(size_t group) override {
        for (auto& child : children_) child->seek(group);
    }

private:
    TypePtr type_;
    std::vector<std::unique_ptr<ColumnReader>> children_;
};

/// Lists, and maps as lists of (key, value).
class ListReader final : public PresentReader {
public:
    ListReader(StripeReader& stripe, uint32_t column, const ReadField& wanted, const std::string& name, bool is_map)
        : PresentReader(stripe, column, name),
          type_(wanted.type),
          lengths_(stripe.integers(column, StreamKind::Length, false)) {
        children_.push_back(make_column_reader(stripe, wanted.children[0], name + (is_map ? ".key" : ".element")));
        if (!is_map) return;
        children_.push_back(make_column_reader(stripe, wanted.children[1], name + ".value"));
        entry_ = make_tuple_type({type_->child(0), type_->child(1)});
    }

protected:
    VectorPtr read_rows(size_t n, size_t there) override {
        lengths_of_rows_.resize(there);
        lengths_->read(lengths_of_rows_.data(), there);
        auto offsets = Buffer::allocate((n + 1) * sizeof(int64_t));
        auto* out = offsets->mutable_as<int64_t>();
        uint64_t total = 0;
        for (size_t i = 0, at = 0; i < n; ++i) {
            out[i] = static_cast<int64_t>(total);
            if (there == n || present()[i]) total = add_length(total, lengths_of_rows_[at++]);
        }
        out[n] = static_cast<int64_t>(total);
        std::vector<VectorPtr> elements;
        for (auto& child : children_) elements.push_back(read_elements(*child, total));
        VectorPtr content = entry_ ? Vector::tuple(entry_, total, std::move(elements)) : std::move(elements[0]);
        return Vector::array(type_, n, std::move(offsets), std::move(content));
    }

    void skip_values(size_t there) override {
        uint64_t total = 0;
        constexpr size_t kPiece = IntRle::kMaxRun;
        int64_t lengths[kPiece];
        while (there) {
            const size_t piece = std::min(there, kPiece);
            lengths_->read(lengths, piece);
            for (size_t i = 0; i < piece; ++i) {
                total = add_length(total, lengths[i]);
            }
            there -= piece;
        }
        for (auto& child : children_) child->skip(total);
    }
    void seek_values(Positions& positions) override { lengths_->seek(positions); }
    size_t positions() const override { return byte_positions() + 1; }
    bool children_can_seek(size_t group) override {
        return std::all_of(children_.begin(), children_.end(), [&](auto& child) { return child->can_seek(group); });
    }
    void seek_children(size_t group) override {
        for (auto& child : children_) child->seek(group);
    }

private:
    uint64_t add_length(uint64_t total, int64_t length) const {
        if (length < 0 || static_cast<uint64_t>(length) > kMaxElements ||
            (total += static_cast<uint64_t>(length)) > kMaxElements)
            fail_column("a list or map has too many elements");
        return total;
    }

    static VectorPtr read_elements(ColumnReader& reader, uint64_t total) {
        if (total <= kElementsAtOnce) return reader.read(total);
        std::vector<VectorPtr> parts;
        for (uint64_t left = total; left;) {
            check_cancelled();
            const uint64_t piece = std::min<uint64_t>(left, kElementsAtOnce);
            parts.push_back(reader.read(piece));
            left -= piece;
        }
        return concat(parts[0]->type(), parts);
    }

    TypePtr type_;
    TypePtr entry_;  // of maps
    std::unique_ptr<IntRle> lengths_;
    std::vector<std::unique_ptr<ColumnReader>> children_;
    TrackedVector<int64_t> lengths_of_rows_;
};

}  // namespace

std::unique_ptr<ColumnReader> make_column_reader(StripeReader& stripe, const ReadField& wanted,
                                                 const std::string& name) {
    if (wanted.source < 0) return std::make_unique<MissingReader>(wanted);
    const FileField& field = stripe.field(wanted.source);
    const auto column = static_cast<uint32_t>(wanted.source) + 1;
    const TypeId id = wanted.type->id();
    const auto expect = [&](TypeId expected, size_t children) {
        if (id != expected || wanted.children.size() != children)
            fail(ErrorCode::INCORRECT_DATA, "ORC file {}: column {} is of type {}, which cannot be read as {}",
                 stripe.path(), name, field.type->name(), wanted.type->name());
    };
    switch (stripe.type(column).kind) {
        case Kind::Struct:
            if (is_variant(stripe.tail(), column)) return make_variant_reader(stripe, wanted, name);
            expect(TypeId::Tuple, wanted.type->children().size());
            return std::make_unique<StructReader>(stripe, column, wanted, name);
        case Kind::List:
            expect(TypeId::Array, 1);
            return std::make_unique<ListReader>(stripe, column, wanted, name, false);
        case Kind::Map:
            expect(TypeId::Map, 2);
            return std::make_unique<ListReader>(stripe, column, wanted, name, true);
        default: {
            const TypePtr target = unwrap(wanted.type);
            if (target->physical() == Physical::Array || target->physical() == Physical::Tuple)
                expect(TypeId::Nothing, 0);
            return make_leaf_reader(stripe, wanted, name);
        }
    }
}

}  // namespace firn::file::orc
