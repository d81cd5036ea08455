// Variants, which Iceberg writes as a record of metadata and value: shown as JSON text.
#include "firn/base/error.h"
#include "firn/file/avro/data_value.h"
#include "firn/file/parquet/variant.h"
#include "firn/vector/builder.h"

namespace firn::file::avro {
namespace {

class VariantReader final : public ValueReader {
public:
    VariantReader(DataContext& context, const FieldSource& source, TypePtr wanted, const std::string& name)
        : ValueReader(context, source.null_branch, name),
          wanted_(std::move(wanted)),
          builder_(accepts_null(*wanted_) ? make_nullable(make_type(TypeId::String)) : make_type(TypeId::String)) {}

    void append_absent() override { builder_.append_default(); }
    VectorPtr finish() override { return promote(builder_.finish(), wanted_, context_.file + ": column " + name_); }

protected:
    void append_null() override {
        if (!accepts_null(*wanted_)) fail_column("it holds a NULL although it must not");
        builder_.append_null();
    }
    void append_value(Cursor& cursor) override {
        const std::string_view metadata = cursor.read_bytes();
        const std::string_view value = cursor.read_bytes();
        text_.clear();
        try {
            pq::append_variant(text_, pq::VariantMetadata(metadata), value);
        } catch (const Error& error) {
            fail_column(error.message());
        }
        builder_.append_string(text_);
    }

private:
    TypePtr wanted_;
    VectorBuilder builder_;
    std::string text_;
};

}  // namespace

std::unique_ptr<ValueReader> make_variant_reader(DataContext& context, const ReadField& wanted,
                                                 const std::string& name) {
    if (unwrap(wanted.type)->id() != TypeId::String)
        fail(ErrorCode::INCORRECT_DATA, "{}: column {} is a variant, which cannot be read as {}", context.file, name,
             wanted.type->name());
    return std::make_unique<VariantReader>(context, context.fields.sources[static_cast<size_t>(wanted.source)],
                                           wanted.type, name);
}

}  // namespace firn::file::avro
