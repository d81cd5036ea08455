// JSON_VALUE, JSON_QUERY and JSON_EXISTS: SQL's JSON paths ($.a[0].b, $.a[*], $.a[1 to 3]).
#include <cctype>
#include <functional>
#include <vector>

#include "firn/functions/argument_types.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/json/document.h"
#include "firn/functions/registration.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace dom = simdjson::dom;

namespace json {
namespace {

struct Step {
    enum class Kind : uint8_t { Member, All, Places } kind = Kind::All;
    std::string key;                                   // Member
    std::vector<std::pair<uint32_t, uint32_t>> spans;  // Places: [first, end)
};

class PathParser {
public:
    explicit PathParser(std::string_view text) : text_(text) {}

    std::vector<Step> parse() {
        std::vector<Step> steps;
        if (!take('$')) wrong();
        while (skip_space(), at_ < text_.size()) {
            if (take('.'))
                steps.push_back(member());
            else if (take('['))
                steps.push_back(brackets());
            else
                wrong();
        }
        return steps;
    }

private:
    [[noreturn]] void wrong() const {
        fail(ErrorCode::BAD_ARGUMENTS, "Unable to parse the JSON path '{}' at position {}", text_, at_ + 1);
    }
    void skip_space() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    }
    bool take(char c) {
        skip_space();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    /// A name in quotes or bare.
    std::string name() {
        skip_space();
        std::string out;
        if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'' || text_[at_] == '`')) {
            const char quote = text_[at_++];
            for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
                if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
                out.push_back(text_[at_]);
            }
            if (!take(quote)) wrong();
            return out;
        }
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
            out.push_back(text_[at_++]);
        if (out.empty()) wrong();
        return out;
    }
    Step member() { return {Step::Kind::Member, name(), {}}; }

    uint32_t place() {
        constexpr uint64_t kMost = 1000000000;
        skip_space();
        uint64_t value = 0;
        const size_t begin = at_;
        for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_) {
            value = value * 10 + static_cast<uint64_t>(text_[at_] - '0');
            if (value > kMost) wrong();
        }
        if (at_ == begin) wrong();
        return static_cast<uint32_t>(value);
    }
    Step brackets() {
        Step step;
        skip_space();
        if (take('*')) {
            step.kind = Step::Kind::All;
        } else if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
            step.kind = Step::Kind::Places;
            do {
                const uint32_t first = place();
                skip_space();
                uint32_t end = first + 1;
                if (text_.substr(at_, 2) == "to" || text_.substr(at_, 2) == "TO") {
                    at_ += 2;
                    end = place();
                    if (end <= first) wrong();
                }
                step.spans.emplace_back(first, end);
            } while (take(','));
        } else {
            step = member();
        }
        if (!take(']')) wrong();
        return step;
    }

    std::string_view text_;
    size_t at_ = 0;
};

using Path = std::vector<Step>;
/// Called for each element that a path leads to; true ends the search.
using Visit = std::function<bool(const Element&)>;

bool walk(const Element& element, const Path& path, size_t at, const Visit& visit) {
    if (at == path.size()) return visit(element);
    const Step& step = path[at];
    if (step.kind == Step::Kind::Member) {
        Element member;
        dom::object object;
        if (element.get_object().get(object) != simdjson::SUCCESS ||
            object.at_key(step.key).get(member) != simdjson::SUCCESS)
            return false;
        return walk(member, path, at + 1, visit);
    }
    dom::array array;
    if (element.get_array().get(array) != simdjson::SUCCESS) return false;
    if (step.kind == Step::Kind::All) {
        for (const Element item : array)
            if (walk(item, path, at + 1, visit)) return true;
        return false;
    }
    for (const auto& [first, end] : step.spans) {
        uint32_t place = 0;
        for (const Element item : array) {
            if (place >= first && place < end && walk(item, path, at + 1, visit)) return true;
            if (++place >= end) break;
        }
    }
    return false;
}

std::optional<std::string> value_at(const Element& root, const Path& path, bool allow_complex) {
    std::optional<std::string> out;
    walk(root, path, 0, [&](const Element& element) {
        if (is_container(element) && !allow_complex) return false;
        out.emplace();
        if (element.is_string())
            *out = text_of(element);
        else
            append_element(*out, element);
        return true;
    });
    return out;
}

std::string all_at(const Element& root, const Path& path) {
    std::string out;
    walk(root, path, 0, [&](const Element& element) {
        out.append(out.empty() ? "[" : ", ");
        append_element(out, element);
        return false;
    });
    if (!out.empty()) out.push_back(']');
    return out;
}

bool is_on(const FunctionContext& context, std::string_view setting) {
    const auto value = context.setting ? context.setting(setting) : std::nullopt;
    return value && *value != "0" && *value != "false";
}

Path constant_path(ArgumentList arguments, const char* name) {
    if (arguments.size() < 2)
        fail(ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION,
             "Function {} takes at least 2 arguments: a JSON text and a path", name);
    for (size_t i = 0; i < 2; ++i) {
        if (is_string_like(arguments[i].type->id())) continue;
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Argument {} of function {} has to be a String, not {}", i + 1, name,
             arguments[i].type->name());
    }
    const auto text = constant_text(arguments[1]);
    if (!text) fail(ErrorCode::ILLEGAL_COLUMN, "The path of function {} has to be constant", name);
    return PathParser(*text).parse();
}

/// `append(root, path, out)`: root is null where the text is no JSON.
template <typename Append>
void add(FunctionRegistry& registry, const char* name, const std::function<TypePtr(const FunctionContext&)>& result,
         Append append) {
    declare(registry, {name}, 0, SIZE_MAX, [=](ArgumentList arguments, const FunctionContext& context) {
        const Path path = constant_path(arguments, name);
        const TypePtr type = result(context);
        const bool allow_complex = is_on(context, "function_json_value_return_type_allow_complex");
        return Overload{type, [=](const KernelArguments& call) {
                            const Reader<StringRef> texts(call[0]);
                            Document document;
                            VectorBuilder out(type);
                            for (size_t i = 0; i < call.rows; ++i) {
                                Element root;
                                const bool good = document.parse(texts[i].view(), root);
                                append(good ? &root : nullptr, path, allow_complex, out);
                            }
                            return out.finish();
                        }};
    });
}

}  // namespace
}  // namespace json

void register_json_path_functions(FunctionRegistry& registry) {
    using namespace json;
    const auto text = [](const FunctionContext&) { return make_type(TypeId::String); };
    add(
        registry, "JSON_VALUE",
        [](const FunctionContext& context) {
            const TypePtr type = make_type(TypeId::String);
            return is_on(context, "function_json_value_return_type_allow_nullable") ? make_nullable(type) : type;
        },
        [](const Element* root, const Path& path, bool allow_complex, VectorBuilder& out) {
            const auto value = root ? value_at(*root, path, allow_complex) : std::nullopt;
            if (value)
                out.append_string(*value);
            else
                out.append_default();
        });
    add(registry, "JSON_QUERY", text, [](const Element* root, const Path& path, bool, VectorBuilder& out) {
        out.append_string(root ? all_at(*root, path) : "");
    });
    add(
        registry, "JSON_EXISTS", [](const FunctionContext&) { return make_type(TypeId::UInt8); },
        [](const Element* root, const Path& path, bool, VectorBuilder& out) {
            out.append<uint8_t>(root && walk(*root, path, 0, [](const Element&) { return true; }));
        });
}

}  // namespace firn::functions
