// Variants, which Iceberg writes as a struct of two binaries: shown as JSON text.
#include "firn/base/error.h"
#include "firn/file/orc/column_leaf.h"
#include "firn/file/parquet/variant.h"
#include "firn/vector/builder.h"

namespace firn::file::orc {
namespace {

class VariantReader final : public PresentReader {
public:
    VariantReader(StripeReader& stripe, uint32_t column, TypePtr wanted, const std::string& name)
        : PresentReader(stripe, column, name),
          wanted_(std::move(wanted)),
          metadata_(make_part(stripe, column + 1, name + ".metadata")),
          value_(make_part(stripe, column + 2, name + ".value")) {}

protected:
    VectorPtr read_rows(size_t n, size_t there) override {
        const VectorPtr metadata = flatten(metadata_->read(there));
        const VectorPtr values = flatten(value_->read(there));
        if (there < n && !accepts_null(*wanted_)) fail_column("it holds a NULL although it must not");
        VectorBuilder builder(accepts_null(*wanted_) ? make_nullable(make_type(TypeId::String))
                                                     : make_type(TypeId::String));
        std::string text;
        for (size_t i = 0, at = 0; i < n; ++i) {
            if (there < n && !present()[i]) {
                builder.append_null();
                continue;
            }
            text.clear();
            if (metadata->is_null(at) || values->is_null(at)) fail_column("a variant lacks its metadata or its value");
            try {
                pq::append_variant(text, pq::VariantMetadata(metadata->values<StringRef>()[at].view()),
                                   values->values<StringRef>()[at].view());
            } catch (const Error& error) {
                fail_column(error.message());
            }
            builder.append_string(text);
            ++at;
        }
        return promote(builder.finish(), wanted_, stripe_.path() + ": column " + name_);
    }
    void skip_values(size_t there) override {
        metadata_->skip(there);
        value_->skip(there);
    }
    void seek_values(Positions&) override {}
    size_t positions() const override { return 0; }
    bool children_can_seek(size_t group) override { return metadata_->can_seek(group) && value_->can_seek(group); }
    void seek_children(size_t group) override {
        metadata_->seek(group);
        value_->seek(group);
    }

private:
    static std::unique_ptr<ColumnReader> make_part(StripeReader& stripe, uint32_t column, const std::string& name) {
        LeafTarget target;
        target.name = name;
        target.read_as = target.wanted = make_nullable(make_type(TypeId::String));
        return make_string_reader(stripe, column, std::move(target));
    }

    TypePtr wanted_;
    std::unique_ptr<ColumnReader> metadata_;
    std::unique_ptr<ColumnReader> value_;
};

}  // namespace

std::unique_ptr<ColumnReader> make_variant_reader(StripeReader& stripe, const ReadField& wanted,
                                                  const std::string& name) {
    const auto column = static_cast<uint32_t>(wanted.source) + 1;
    if (unwrap(wanted.type)->id() != TypeId::String)
        fail(ErrorCode::INCORRECT_DATA, "ORC file {}: column {} is a variant, which cannot be read as {}",
             stripe.path(), name, wanted.type->name());
    return std::make_unique<VariantReader>(stripe, column, wanted.type, name);
}

}  // namespace firn::file::orc
