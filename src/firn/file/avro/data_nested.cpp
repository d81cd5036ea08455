// Records, arrays and maps, and fields that the file lacks.
#include <algorithm>

#include "firn/base/error.h"
#include "firn/file/avro/data_value.h"

namespace firn::file::avro {
namespace {

constexpr size_t kMaxElements = size_t{1} << 31;         // rows of a vector are numbered by 32 bits
constexpr int64_t kMaxEmptyElements = int64_t{1} << 20;  // elements that take no bytes, in one array

/// Stands in for a child that the file lacks: its default, or nothing where the record itself is absent.
class MissingValues {
public:
    explicit MissingValues(const ReadField& wanted)
        : value_(wanted.missing ? wanted.missing : Vector::defaults(wanted.type, 1)) {}
    void append(bool absent) {
        absent_ = absent_ || absent;
        rows_.push_back(absent ? kNoRow : 0);
    }
    VectorPtr finish() {
        VectorPtr vector = absent_ ? gather_or_default(value_, rows_) : Vector::constant(value_, rows_.size());
        rows_.clear();
        absent_ = false;
        return vector;
    }

private:
    VectorPtr value_;
    std::vector<uint32_t> rows_;
    bool absent_ = false;
};

class RecordReader final : public ValueReader {
public:
    RecordReader(DataContext& context, const FieldSource& source, const FileField& field, const ReadField& wanted,
                 const std::string& name)
        : ValueReader(context, source.null_branch, name), type_(wanted.type) {
        const Node& node = context.schema.node(source.node);
        for (size_t i = 0; i < wanted.children.size(); ++i) {
            const ReadField& child = wanted.children[i];
            auto& element = elements_.emplace_back();
            if (child.source < 0) {
                element.missing = std::make_unique<MissingValues>(child);
                continue;
            }
            const auto found = std::find_if(field.children.begin(), field.children.end(),
                                            [&](const FileField& f) { return f.index == child.source; });
            if (found == field.children.end())
                fail(ErrorCode::LOGICAL_ERROR, "{}: field {} is no part of column {}", context.file, child.source,
                     name);
            element.reader = make_value_reader(context, child, name + "." + found->name);
            element.at = static_cast<size_t>(found - field.children.begin());
        }
        for (size_t i = 0; i < node.fields.size(); ++i) {
            Step step;
            step.skip = node.fields[i].type;
            for (auto& element : elements_)
                if (element.reader && element.at == i) step.readers.push_back(element.reader.get());
            steps_.push_back(std::move(step));
        }
    }

    void append_absent() override {
        ++rows_;
        for (auto& element : elements_) {
            if (element.reader)
                element.reader->append_absent();
            else
                element.missing->append(true);
        }
    }
    VectorPtr finish() override {
        std::vector<VectorPtr> children;
        for (auto& element : elements_)
            children.push_back(element.reader ? element.reader->finish() : element.missing->finish());
        return Vector::tuple(type_, std::exchange(rows_, 0), std::move(children));
    }

protected:
    void append_null() override { append_absent(); }
    void append_value(Cursor& cursor) override {
        ++rows_;
        for (const auto& step : steps_) {
            if (step.readers.empty()) {
                skip_value(context_.schema, step.skip, cursor);
                continue;
            }
            const char* begin = cursor.at();
            for (ValueReader* reader : step.readers) {
                cursor.seek(begin);
                reader->append(cursor);
            }
        }
        for (auto& element : elements_)
            if (element.missing) element.missing->append(false);
    }

private:
    struct Element {
        std::unique_ptr<ValueReader> reader;
        std::unique_ptr<MissingValues> missing;
        size_t at = 0;  // of the file's fields
    };
    /// A field of the file: who reads it; nobody: it is skipped.
    struct Step {
        std::vector<ValueReader*> readers;
        NodeId skip = 0;
    };

    TypePtr type_;
    std::vector<Element> elements_;
    std::vector<Step> steps_;
    size_t rows_ = 0;
};

/// Arrays (one child), and maps (key and value), which are arrays of records in Iceberg's files.
class ArrayReader final : public ValueReader {
public:
    ArrayReader(DataContext& context, const FieldSource& source, const FileField& field, const ReadField& wanted,
                const std::string& name)
        : ValueReader(context, source.null_branch, name), type_(wanted.type) {
        const Node& node = context.schema.node(source.node);
        const bool map = type_->id() == TypeId::Map;
        no_bytes_ = node.kind == Kind::Array && context.schema.node(node.children[0]).takes_no_bytes;
        if (node.kind == Kind::Map) {
            children_.push_back(make_key_reader(context, wanted.children[0].type, name + ".key"));
        } else {
            check_source(wanted.children[0], field.children[0]);
            children_.push_back(make_value_reader(context, wanted.children[0], name + (map ? ".key" : ".element")));
        }
        if (map) {
            check_source(wanted.children[1], field.children[1]);
            children_.push_back(make_value_reader(context, wanted.children[1], name + ".value"));
            entry_ = make_tuple_type({type_->child(0), type_->child(1)});
        }
        offsets_.push_back(0);
    }

    void append_absent() override { offsets_.push_back(offsets_.back()); }
    VectorPtr finish() override {
        std::vector<VectorPtr> children;
        for (auto& child : children_) children.push_back(child->finish());
        const auto total = static_cast<size_t>(offsets_.back());
        VectorPtr content = entry_ ? Vector::tuple(entry_, total, std::move(children)) : std::move(children[0]);
        auto offsets = Buffer::allocate(offsets_.size() * sizeof(int64_t));
        std::copy(offsets_.begin(), offsets_.end(), offsets->mutable_as<int64_t>());
        const size_t rows = offsets_.size() - 1;
        offsets_.assign(1, 0);
        return Vector::array(type_, rows, std::move(offsets), std::move(content));
    }

protected:
    void append_null() override { append_absent(); }
    void append_value(Cursor& cursor) override {
        int64_t total = offsets_.back();
        int64_t of_this = 0;
        for (;;) {
            int64_t block_bytes;
            const int64_t count = cursor.read_block_count(block_bytes);
            if (count == 0) break;
            if (count > static_cast<int64_t>(kMaxElements) - total ||
                (no_bytes_ && (of_this += count) > kMaxEmptyElements))
                fail_column("an array or map has too many elements");
            total += count;
            for (int64_t i = 0; i < count; ++i)
                for (auto& child : children_) child->append(cursor);
        }
        offsets_.push_back(total);
    }

private:
    void check_source(const ReadField& wanted, const FileField& field) const {
        if (wanted.source != field.index)
            fail(ErrorCode::LOGICAL_ERROR, "{}: column {} is not read from its own elements", context_.file, name_);
    }

    TypePtr type_;
    TypePtr entry_;  // of maps
    std::vector<std::unique_ptr<ValueReader>> children_;
    TrackedVector<int64_t> offsets_;
    bool no_bytes_ = false;
};

}  // namespace

std::unique_ptr<ValueReader> make_value_reader(DataContext& context, const ReadField& wanted, const std::string& name) {
    if (wanted.source < 0 || static_cast<size_t>(wanted.source) >= context.by_index.size())
        fail(ErrorCode::LOGICAL_ERROR, "{} has no field {}", context.file, wanted.source);
    const auto index = static_cast<size_t>(wanted.source);
    const FileField& field = *context.by_index[index];
    const FieldSource& source = context.fields.sources[index];
    const TypeId natural = field.type->id();
    const Physical physical = field.type->physical();
    const Physical target = unwrap(wanted.type)->physical();
    const bool nested = physical == Physical::Array || physical == Physical::Tuple;
    const size_t children = natural == TypeId::Array ? 1 : natural == TypeId::Map ? 2 : wanted.type->children().size();
    if (nested ? natural != wanted.type->id() || wanted.children.size() != children
               : target == Physical::Array || target == Physical::Tuple)
        fail(ErrorCode::INCORRECT_DATA, "{}: column {} is of type {}, which cannot be read as {}", context.file, name,
             field.type->name(), wanted.type->name());
    if (natural == TypeId::Tuple) return std::make_unique<RecordReader>(context, source, field, wanted, name);
    if (nested) return std::make_unique<ArrayReader>(context, source, field, wanted, name);
    if (is_variant(context.schema, context.schema.node(source.node))) return make_variant_reader(context, wanted, name);
    return make_leaf_reader(context, wanted, name);
}

}  // namespace firn::file::avro
