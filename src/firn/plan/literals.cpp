// Literals and query parameters: from text to typed values.
#include "firn/plan/analyzer_impl.h"
#include "firn/vector/builder.h"

namespace firn::plan {

namespace {

VectorPtr unsigned_value(uint64_t value) {
    if (value <= UINT8_MAX) return make_value<uint8_t>(make_type(TypeId::UInt8), static_cast<uint8_t>(value));
    if (value <= UINT16_MAX) return make_value<uint16_t>(make_type(TypeId::UInt16), static_cast<uint16_t>(value));
    if (value <= UINT32_MAX) return make_value<uint32_t>(make_type(TypeId::UInt32), static_cast<uint32_t>(value));
    return make_value<uint64_t>(make_type(TypeId::UInt64), value);
}

VectorPtr signed_value(int64_t value) {
    if (value >= INT8_MIN && value <= INT8_MAX)
        return make_value<int8_t>(make_type(TypeId::Int8), static_cast<int8_t>(value));
    if (value >= INT16_MIN && value <= INT16_MAX)
        return make_value<int16_t>(make_type(TypeId::Int16), static_cast<int16_t>(value));
    if (value >= INT32_MIN && value <= INT32_MAX)
        return make_value<int32_t>(make_type(TypeId::Int32), static_cast<int32_t>(value));
    return make_value<int64_t>(make_type(TypeId::Int64), value);
}

VectorPtr array_value(const std::vector<VectorPtr>& elements) {
    std::vector<TypePtr> types;
    for (const VectorPtr& element : elements) types.push_back(element->type());
    const TypePtr element_type = types.empty() ? make_type(TypeId::Nothing) : functions::common_type(types);
    VectorBuilder builder(make_array(element_type));
    for (const VectorPtr& element : elements)
        builder.element().append_from(*flatten(functions::cast_vector(element, element_type)), 0);
    builder.end_array();
    return builder.finish();
}

VectorPtr tuple_value(const std::vector<VectorPtr>& elements) {
    std::vector<TypePtr> types;
    for (const VectorPtr& element : elements) types.push_back(element->type());
    return Vector::tuple(make_tuple_type(std::move(types)), 1, elements);
}

}  // namespace

VectorPtr literal_value(const sql::Literal& literal) {
    using Kind = sql::Literal::Kind;
    switch (literal.kind) {
        case Kind::Null:
            return make_null_value(make_nullable(make_type(TypeId::Nothing)));
        case Kind::Bool:
            return make_value<uint8_t>(make_type(TypeId::Bool), literal.boolean ? 1 : 0);
        case Kind::UInt64:
            return unsigned_value(literal.uint64);
        case Kind::Int64:
            return signed_value(literal.int64);
        case Kind::Float64:
            return make_value<double>(make_type(TypeId::Float64), literal.float64);
        case Kind::String:
            return make_string_value(make_type(TypeId::String), literal.text);
        case Kind::Array:
        case Kind::Tuple: {
            std::vector<VectorPtr> elements;
            for (const sql::Literal& element : literal.elements) elements.push_back(literal_value(element));
            return literal.kind == Kind::Array ? array_value(elements) : tuple_value(elements);
        }
        case Kind::Map:
            break;
    }
    fail(ErrorCode::BAD_ARGUMENTS, "A map literal stands where a value of a setting cannot");
}

namespace analysis {

ExpressionPtr Scope::resolve_parameter(const sql::Expr& expr) {
    const auto& parameters = session.context.parameters;
    const auto found = parameters.find(expr.name);
    if (found == parameters.end())
        fail(ErrorCode::UNKNOWN_QUERY_PARAMETER, "Substitution {{{}:{}}} is not set", expr.name, expr.type_text);
    if (expr.type_text == "Identifier") return resolve_identifier(*sql::make_identifier({found->second}, expr.pos));
    const TypePtr type = functions::parse_type_name(expr.type_text);
    const std::string& text = found->second;
    if (accepts_null(*type) && (text == "\\N" || text == "NULL")) return make_constant(make_null_value(type));
    try {
        VectorPtr value = functions::cast_vector(make_string_value(make_type(TypeId::String), text), type, functions());
        return make_constant(flatten(value));
    } catch (const Error& error) {
        fail(ErrorCode::BAD_QUERY_PARAMETER, "Value {} of parameter {} cannot be parsed as {}: {}", text, expr.name,
             expr.type_text, error.message());
    }
}

}  // namespace analysis
}  // namespace firn::plan
