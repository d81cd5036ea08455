#include "firn/functions/strings/row_calls.h"

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

struct Kinds {
    std::string kinds;  // without '|'
    size_t least;
};

Kinds parse_kinds(const std::string& text) {
    Kinds out;
    const size_t bar = text.find('|');
    out.least = bar == std::string::npos ? text.size() : bar;
    for (const char c : text)
        if (c != '|') out.kinds.push_back(c);
    return out;
}

/// Reads rows of all arguments.
class Rows {
public:
    Rows(const KernelArguments& call, const std::string& kinds) {
        row_.count = call.size();
        for (size_t i = 0; i < call.size(); ++i) {
            VectorPtr vector = call[i];
            if (kinds[i] == 'i' && vector->type()->physical() != Physical::Int64) {
                const TypePtr type = make_type(TypeId::Int64);
                vector = vector->is_constant() ? Vector::constant(convert_numbers(type, vector->base()), vector->size())
                                               : convert_numbers(type, vector);
            }
            held_.push_back(vector);
            columns_.push_back({kinds[i] == 's' ? vector->flat_base().values<StringRef>() : nullptr,
                                kinds[i] == 'i' ? vector->flat_base().values<int64_t>() : nullptr,
                                vector->is_constant()});
        }
    }
    const Row& at(size_t row) {
        for (size_t i = 0; i < columns_.size(); ++i) {
            const size_t place = columns_[i].constant ? 0 : row;
            if (columns_[i].texts)
                row_.text[i] = columns_[i].texts[place].view();
            else
                row_.number[i] = columns_[i].numbers[place];
        }
        return row_;
    }

private:
    struct Column {
        const StringRef* texts;
        const int64_t* numbers;
        bool constant;
    };
    Row row_;
    std::vector<VectorPtr> held_;
    std::vector<Column> columns_;
};

template <typename MakeKernel>
void add_call(FunctionRegistry& registry, RowSignature signature, TypePtr result, MakeKernel make_kernel) {
    const Kinds kinds = parse_kinds(signature.kinds);
    Definition definition;
    definition.name = std::move(signature.name);
    definition.aliases = std::move(signature.aliases);
    definition.case_insensitive = signature.any_case;
    definition.min_arguments = kinds.least;
    definition.max_arguments = kinds.kinds.size();
    definition.resolve = [kinds = kinds.kinds, name = definition.name, result, kernel = make_kernel(kinds.kinds)](
                             std::span<const Argument> arguments, const FunctionContext& context) {
        std::vector<std::function<VectorPtr(const VectorPtr&)>> casts(arguments.size());
        bool any_cast = false;
        for (size_t i = 0; i < arguments.size(); ++i) {
            const TypeId id = arguments[i].type->id();
            if (kinds[i] == 's' && (id == TypeId::Enum8 || id == TypeId::Enum16)) {
                casts[i] = make_cast(arguments[i].type, make_type(TypeId::String), context);
                any_cast = true;
            } else if (kinds[i] == 's' ? !is_string_like(id) : !is_integer(id) && id != TypeId::Bool) {
                fail_argument(name, *arguments[i].type, i);
            }
        }
        if (!any_cast) return Overload{result, kernel};
        return Overload{result, [kernel, casts](const KernelArguments& call) {
                            std::vector<VectorPtr> vectors;
                            for (size_t i = 0; i < casts.size(); ++i)
                                vectors.push_back(casts[i] ? casts[i](call[i]) : call[i]);
                            return kernel({vectors, {}, call.rows});
                        }};
    };
    registry.add(std::move(definition));
}

}  // namespace

void add_text_call(FunctionRegistry& registry, RowSignature signature, void (*function)(const Row&, std::string& out)) {
    const TypePtr type = make_type(TypeId::String);
    add_call(registry, std::move(signature), type, [=](const std::string& kinds) -> Kernel {
        return [=](const KernelArguments& call) {
            Rows rows(call, kinds);
            StringOutput out(call.rows);
            std::string text;
            for (size_t i = 0; i < call.rows; ++i) {
                text.clear();
                function(rows.at(i), text);
                out.set(i, text);
            }
            return out.finish(type);
        };
    });
}

void add_view_call(FunctionRegistry& registry, RowSignature signature, std::string_view (*function)(const Row&)) {
    const TypePtr type = make_type(TypeId::String);
    add_call(registry, std::move(signature), type, [=](const std::string& kinds) -> Kernel {
        return [=](const KernelArguments& call) {
            Rows rows(call, kinds);
            StringOutput out(call.rows);
            for (const auto& vector : call.vectors) out.keep(vector);
            for (size_t i = 0; i < call.rows; ++i) out.set_view(i, function(rows.at(i)));
            return out.finish(type);
        };
    });
}

void add_number_call(FunctionRegistry& registry, RowSignature signature, TypeId result,
                     uint64_t (*function)(const Row&)) {
    const TypePtr type = make_type(result);
    add_call(registry, std::move(signature), type, [=](const std::string& kinds) -> Kernel {
        return [=](const KernelArguments& call) {
            Rows rows(call, kinds);
            Output<uint64_t> out(call.rows);
            for (size_t i = 0; i < call.rows; ++i) out[i] = function(rows.at(i));
            return convert_numbers(type, out.finish(make_type(TypeId::UInt64)));
        };
    });
}

void add_pieces_call(FunctionRegistry& registry, RowSignature signature,
                     void (*function)(const Row&, std::vector<std::string_view>& out)) {
    const TypePtr element = make_type(TypeId::String), type = make_array(element);
    add_call(registry, std::move(signature), type, [=](const std::string& kinds) -> Kernel {
        return [=](const KernelArguments& call) {
            Rows rows(call, kinds);
            std::vector<std::string_view> pieces;
            auto offsets = Buffer::allocate((call.rows + 1) * sizeof(int64_t));
            auto* ends = offsets->mutable_as<int64_t>();
            ends[0] = 0;
            for (size_t i = 0; i < call.rows; ++i) {
                function(rows.at(i), pieces);
                ends[i + 1] = static_cast<int64_t>(pieces.size());
            }
            StringOutput out(pieces.size());
            for (const auto& vector : call.vectors) out.keep(vector);
            for (size_t i = 0; i < pieces.size(); ++i) out.set_view(i, pieces[i]);
            return Vector::array(type, call.rows, std::move(offsets), out.finish(element));
        };
    });
}

size_t utf8_length(std::string_view text) {
    size_t count = 0;
    for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return count;
}

size_t utf8_prefix(std::string_view text, size_t characters) {
    size_t at = 0;
    while (at < text.size() && characters > 0) {
        ++at;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
        --characters;
    }
    return at;
}

}  // namespace firn::functions
