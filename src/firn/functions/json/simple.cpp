// simpleJSON…: fields of JSON texts found by searching for "name": in the bytes, without parsing.
#include <cctype>
#include <cstdlib>

#include "firn/functions/argument_types.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/json/document.h"
#include "firn/functions/registration.h"
#include "firn/functions/substring_search.h"

namespace firn::functions {
namespace json {
namespace {

/// The bytes behind the first "name": of the text; empty data where there is none.
std::string_view behind_name(std::string_view text, std::string_view needle) {
    const size_t at = find_substring(text, needle);
    return at == std::string_view::npos ? std::string_view() : text.substr(at + needle.size());
}

/// Digits at the front, behind a quote if there is one. What is no number is 0.
int64_t leading_integer(std::string_view field, bool is_signed) {
    if (!field.empty() && field.front() == '"') field.remove_prefix(1);
    bool negative = false;
    if (!field.empty() && (field.front() == '-' || field.front() == '+')) {
        if (field.front() == '-' && !is_signed) return 0;
        negative = field.front() == '-';
        field.remove_prefix(1);
    }
    uint64_t value = 0;
    for (const char c : field) {
        if (c < '0' || c > '9') break;
        value = value * 10 + static_cast<uint64_t>(c - '0');
    }
    return static_cast<int64_t>(negative ? 0 - value : value);
}

double leading_float(std::string_view field) {
    if (!field.empty() && field.front() == '"') field.remove_prefix(1);
    size_t size = 0;
    while (size < field.size() && (std::isdigit(static_cast<unsigned char>(field[size])) ||
                                   std::string_view("+-.eE").find(field[size]) != std::string_view::npos))
        ++size;
    const std::string digits(field.substr(0, size));
    return digits.empty() ? 0 : std::strtod(digits.c_str(), nullptr);
}

/// A whole value as it stands, spaces around it included; empty where it does not end.
std::string_view raw_value(std::string_view field) {
    std::string closers;
    for (size_t i = 0; i < field.size(); ++i) {
        const char c = field[i];
        const bool in_string = !closers.empty() && closers.back() == '"';
        if (!closers.empty() && c == closers.back())
            closers.pop_back();
        else if (in_string)
            i += c == '\\';
        else if (c == '[' || c == '{' || c == '"')
            closers.push_back(c == '[' ? ']' : c == '{' ? '}' : '"');
        else if (closers.empty() && (c == ',' || c == '}'))
            return field.substr(0, i);
    }
    return {};
}

/// The text of a string in quotes; empty for anything else.
class StringField {
public:
    std::string_view value(std::string_view field) {
        Element element;
        if (field.empty() || field.front() != '"') return {};
        for (size_t i = 1; i < field.size(); ++i) {
            if (field[i] == '\\') {
                ++i;
            } else if (field[i] == '"') {
                if (!document_.parse(field.substr(0, i + 1), element) || !element.is_string()) return {};
                return text_of(element);
            }
        }
        return {};
    }

private:
    Document document_;
};

template <typename MakeKernel>
void add(FunctionRegistry& registry, const std::string& what, TypeId result, MakeKernel make_kernel) {
    const std::string name = "simpleJSON" + what;
    declare(registry, {name.c_str(), {"visitParam" + what}}, 2, 2, [=](ArgumentList arguments, const FunctionContext&) {
        for (size_t i = 0; i < 2; ++i)
            if (arguments[i].type->id() != TypeId::String) fail_argument(name, *arguments[i].type, i);
        const auto field = constant_text(arguments[1]);
        if (!field) fail(ErrorCode::ILLEGAL_COLUMN, "The field's name given to function {} has to be constant", name);
        const TypePtr type = make_type(result);
        return Overload{type, make_kernel(type, "\"" + *field + "\":")};
    });
}

template <typename T, typename F>
auto number_kernel(F f) {
    return [f](const TypePtr& type, const std::string& needle) -> Kernel {
        return [=](const KernelArguments& call) {
            return map_unary<StringRef, T>(call[0], call.rows, type, [&](const StringRef& text) {
                return static_cast<T>(f(behind_name(text.view(), needle)));
            });
        };
    };
}

Kernel raw_kernel(const TypePtr& type, const std::string& needle) {
    return [=](const KernelArguments& call) {
        const Reader<StringRef> texts(call[0]);
        StringOutput out(call.rows);
        out.keep(call[0]);
        for (size_t i = 0; i < call.rows; ++i) out.set_view(i, raw_value(behind_name(texts[i].view(), needle)));
        return out.finish(type);
    };
}

Kernel string_kernel(const TypePtr& type, const std::string& needle) {
    return [=](const KernelArguments& call) {
        const Reader<StringRef> texts(call[0]);
        StringOutput out(call.rows);
        StringField field;
        for (size_t i = 0; i < call.rows; ++i) out.set(i, field.value(behind_name(texts[i].view(), needle)));
        return out.finish(type);
    };
}

}  // namespace
}  // namespace json

void register_json_simple_functions(FunctionRegistry& registry) {
    using namespace json;
    add(registry, "Has", TypeId::UInt8,
        number_kernel<uint8_t>([](std::string_view field) { return field.data() != nullptr; }));
    add(registry, "ExtractUInt", TypeId::UInt64,
        number_kernel<uint64_t>([](std::string_view field) { return leading_integer(field, false); }));
    add(registry, "ExtractInt", TypeId::Int64,
        number_kernel<int64_t>([](std::string_view field) { return leading_integer(field, true); }));
    add(registry, "ExtractFloat", TypeId::Float64, number_kernel<double>(leading_float));
    add(registry, "ExtractBool", TypeId::UInt8,
        number_kernel<uint8_t>([](std::string_view field) { return field.substr(0, 4) == "true"; }));
    add(registry, "ExtractRaw", TypeId::String, raw_kernel);
    add(registry, "ExtractString", TypeId::String, string_kernel);
}

}  // namespace firn::functions
