#include "tests/unit/functions/expression.h"

#include <cctype>
#include <charconv>
#include <stdexcept>

#include "firn/base/error.h"
#include "firn/types/number.h"
#include "firn/types/value_parse.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"
#include "firn/vector/vector_text.h"

namespace firn::functions::test {

namespace {

constexpr size_t kRows = 5;

FunctionContext context() {
    FunctionContext made;
    made.now_us = 1700000000000000;
    return made;
}

struct Node {
    std::string name;  // empty: literal
    std::vector<Node> arguments;
    Value literal;
};

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}
    Node whole() {
        Node node = expression();
        skip();
        if (at_ != text_.size()) throw std::runtime_error("test expression: trailing text in " + std::string(text_));
        return node;
    }

private:
    void skip() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    bool take(char c) {
        skip();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    std::vector<Node> list(char close) {
        std::vector<Node> nodes;
        if (take(close)) return nodes;
        do nodes.push_back(expression());
        while (take(','));
        if (!take(close)) throw std::runtime_error("test expression: no closing bracket in " + std::string(text_));
        return nodes;
    }
    static Node literal(TypePtr type, VectorPtr value) { return {"", {}, {std::move(type), std::move(value)}}; }
    Node string() {
        std::string out;
        ++at_;
        while (at_ < text_.size() && text_[at_] != '\'') {
            if (text_[at_] == '\\') {
                const char c = text_[++at_];
                out.push_back(c == 'n' ? '\n' : c == 't' ? '\t' : c == '0' ? '\0' : c);
                ++at_;
            } else {
                out.push_back(text_[at_++]);
            }
        }
        ++at_;
        return literal(make_type(TypeId::String), make_string_value(make_type(TypeId::String), out));
    }
    Node number() {
        const size_t start = at_;
        if (text_[at_] == '-') ++at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.' ||
                                      ((text_[at_] == '-' || text_[at_] == '+') && text_[at_ - 1] == 'e')))
            ++at_;
        const std::string digits(text_.substr(start, at_ - start));
        Int256 whole;
        bool overflow = false;
        if (parse_integer(digits, true, 256, whole, overflow) == kParsed && !overflow) {
            const bool negative = digits[0] == '-';
            for (int bits = 8; bits <= 256; bits *= 2) {
                const TypePtr type = integer_type(bits, negative);
                const VectorPtr wide = make_value(make_type(TypeId::Int256), whole);
                try {
                    FunctionContext unused;
                    const auto cast = FunctionRegistry::instance().bind(
                        "accurateCast",
                        {{wide->type(), nullptr},
                         {make_type(TypeId::String), make_string_value(make_type(TypeId::String), type->name())}},
                        unused);
                    const VectorPtr vectors[] = {wide, make_string_value(make_type(TypeId::String), type->name())};
                    return literal(type, flatten(cast->execute(vectors, 1)));
                } catch (const Error&) {
                }
            }
        }
        double value = 0;
        if (parse_float(digits, value) != kParsed) throw std::runtime_error("test expression: not a number: " + digits);
        return literal(make_type(TypeId::Float64), make_value(make_type(TypeId::Float64), value));
    }
    Node expression() {
        skip();
        const char c = at_ < text_.size() ? text_[at_] : '\0';
        if (c == '\'') return string();
        if (take('[')) return {"array", list(']'), {}};
        if (take('(')) {
            auto nodes = list(')');
            if (nodes.size() == 1) return nodes[0];
            return {"tuple", std::move(nodes), {}};
        }
        if (c == '-' || std::isdigit(static_cast<unsigned char>(c))) {
            if (c != '-' || std::isdigit(static_cast<unsigned char>(text_[at_ + 1]))) return number();
        }
        const size_t start = at_;
        if (c == '-') ++at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
        const std::string name(text_.substr(start, at_ - start));
        if (take('(')) return {name, list(')'), {}};
        if (name == "NULL") {
            const TypePtr type = make_nullable(make_type(TypeId::Nothing));
            return literal(type, make_null_value(type));
        }
        if (name == "true" || name == "false")
            return literal(make_type(TypeId::Bool), make_value<uint8_t>(make_type(TypeId::Bool), name == "true"));
        double value = 0;
        if (parse_float(name, value) == kParsed)
            return literal(make_type(TypeId::Float64), make_value(make_type(TypeId::Float64), value));
        throw std::runtime_error("test expression: unknown word '" + name + "' in " + std::string(text_));
    }
    std::string_view text_;
    size_t at_ = 0;
};

/// Tuples and arrays of literals, without asking the functions under test.
Value run(const Node& node, Form form, unsigned columns);

VectorPtr as_form(const VectorPtr& value, Form form) {
    std::vector<uint32_t> zeros(kRows, 0);
    const VectorPtr flat = flatten(gather(value, zeros));
    if (form == Form::Flat) return flat;
    const VectorPtr two = flatten(gather(value, std::vector<uint32_t>{0, 0}));
    if (form == Form::Dictionary) {
        auto codes = Buffer::allocate(kRows * sizeof(uint32_t));
        for (size_t i = 0; i < kRows; ++i) codes->mutable_as<uint32_t>()[i] = i % 2;
        return Vector::dictionary(two, kRows, std::move(codes));
    }
    auto ends = Buffer::allocate(2 * sizeof(uint32_t));
    ends->mutable_as<uint32_t>()[0] = 2;
    ends->mutable_as<uint32_t>()[1] = kRows;
    return Vector::run_length(two, kRows, std::move(ends));
}

Value run(const Node& node, Form form, unsigned columns) {
    if (node.name.empty()) return node.literal;
    std::vector<Argument> arguments;
    std::vector<VectorPtr> vectors;
    const size_t rows = form == Form::Constant ? 1 : kRows;
    for (size_t i = 0; i < node.arguments.size(); ++i) {
        const Value value = run(node.arguments[i], Form::Constant, 0);
        const bool column = form != Form::Constant && ((columns >> i) & 1);
        arguments.push_back({value.type, column ? nullptr : value.constant});
        vectors.push_back(column ? as_form(value.constant, form) : Vector::constant(value.constant, rows));
    }
    const auto bound = FunctionRegistry::instance().bind(node.name, arguments, context());
    const VectorPtr result = bound->execute(vectors, rows);
    if (result->size() != rows) throw std::runtime_error("wrong number of rows from " + node.name);
    if (!same_type(result->type(), bound->result_type()))
        throw std::runtime_error(node.name + " gave " + result->type()->name() + " and not " +
                                 bound->result_type()->name());
    for (size_t i = 1; i < rows; ++i)
        if (!equal_values(*result, 0, *result, i)) throw std::runtime_error("unequal rows from " + node.name);
    return {bound->result_type(), flatten(slice(result, 0, 1))};
}

}  // namespace

Value evaluate(std::string_view expression, Form form, unsigned columns) {
    return run(Parser(expression).whole(), form, columns);
}

size_t argument_count(std::string_view expression) { return Parser(expression).whole().arguments.size(); }

std::string describe(std::string_view expression, Form form, unsigned columns) {
    try {
        const Value value = evaluate(expression, form, columns);
        std::string out = value.type->name() + "\t";
        if (value.constant->is_null(0))
            out += "\\N";
        else
            append_text(out, *value.constant, 0);
        for (size_t at = 0; (at = out.find('\n', at)) != std::string::npos; at += 2) out.replace(at, 1, "\\n");
        return out;
    } catch (const Error& error) {
        return "Code: " + std::to_string(static_cast<int>(error.code()));
    }
}

}  // namespace firn::functions::test
