// Arrays, maps and tuples, element by element.
#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"

namespace firn::functions {

namespace {

using Cast = std::function<VectorPtr(const VectorPtr&)>;

TypePtr entries_type(const DataType& map) { return make_tuple_type({map.child(0), map.child(1)}); }

Converted cast_elements(const VectorPtr& flat, const TypePtr& to, const Cast& element) {
    return {Vector::array(to, flat->size(), flat->offsets_buffer(), flatten(element(flat->child()))), nullptr};
}

Converted cast_tuple(const VectorPtr& flat, const TypePtr& to, const std::vector<Cast>& elements) {
    std::vector<VectorPtr> children;
    for (size_t i = 0; i < elements.size(); ++i) children.push_back(flatten(elements[i](flat->child(i))));
    return {Vector::tuple(to, flat->size(), std::move(children)), nullptr};
}

/// Tuple(Array(K), Array(V)) to Map(K, V).
Converted zip_map(const VectorPtr& flat, const TypePtr& to, const Cast& key, const Cast& value) {
    const VectorPtr keys = flatten(flat->child(0)), values = flatten(flat->child(1));
    for (size_t i = 0; i <= flat->size(); ++i)
        if (keys->offsets()[i] - keys->offsets()[0] != values->offsets()[i] - values->offsets()[0])
            fail(ErrorCode::TYPE_MISMATCH, "CAST AS Map from a tuple needs arrays of the same size");
    const auto part = [&](const VectorPtr& array) {
        const auto begin = static_cast<size_t>(array->offsets()[0]);
        return slice(array->child(), begin, static_cast<size_t>(array->offsets()[flat->size()]) - begin);
    };
    auto offsets = Buffer::allocate((flat->size() + 1) * sizeof(int64_t));
    for (size_t i = 0; i <= flat->size(); ++i)
        offsets->mutable_as<int64_t>()[i] = keys->offsets()[i] - keys->offsets()[0];
    const VectorPtr key_part = part(keys), value_part = part(values);
    VectorPtr entries =
        Vector::tuple(entries_type(*to), key_part->size(), {flatten(key(key_part)), flatten(value(value_part))});
    return {Vector::array(to, flat->size(), std::move(offsets), std::move(entries)), nullptr};
}

}  // namespace

Converter make_nested_converter(const TypePtr& from, const TypePtr& to, const FunctionContext& context, CastRule rule) {
    if (to->id() == TypeId::Array) {
        if (from->id() != TypeId::Array && from->id() != TypeId::Map)
            fail(ErrorCode::TYPE_MISMATCH,
                 "CAST AS Array can only be performed between same-dimensional Array, Map or String types, not from {}",
                 from->name());
        const TypePtr element = from->id() == TypeId::Map ? entries_type(*from) : from->child();
        Cast cast = make_cast(element, to->child(), context, rule);
        return [cast, to](const VectorPtr& flat, const uint8_t*) { return cast_elements(flat, to, cast); };
    }
    if (to->id() == TypeId::Map) {
        if (from->id() == TypeId::Map || (from->id() == TypeId::Array && from->child()->id() == TypeId::Tuple &&
                                          from->child()->children().size() == 2)) {
            Cast cast = make_cast(from->id() == TypeId::Map ? entries_type(*from) : from->child(), entries_type(*to),
                                  context, rule);
            return [cast, to](const VectorPtr& flat, const uint8_t*) { return cast_elements(flat, to, cast); };
        }
        if (from->id() == TypeId::Array && from->child()->id() == TypeId::Nothing) {
            Cast cast = make_cast(from->child(), entries_type(*to), context, rule);
            return [cast, to](const VectorPtr& flat, const uint8_t*) { return cast_elements(flat, to, cast); };
        }
        const bool arrays = from->id() == TypeId::Tuple && from->children().size() == 2 &&
                            from->child(0)->id() == TypeId::Array && from->child(1)->id() == TypeId::Array;
        if (!arrays)
            fail(ErrorCode::TYPE_MISMATCH, "Unsupported types to CAST AS Map: from {} to {}", from->name(), to->name());
        Cast key = make_cast(from->child(0)->child(), to->child(0), context, rule),
             value = make_cast(from->child(1)->child(), to->child(1), context, rule);
        return [key, value, to](const VectorPtr& flat, const uint8_t*) { return zip_map(flat, to, key, value); };
    }
    if (to->id() == TypeId::Tuple) {
        if (from->id() != TypeId::Tuple || from->children().size() != to->children().size())
            fail(ErrorCode::TYPE_MISMATCH,
                 "CAST AS Tuple can only be performed between tuple types with the same number of elements or from "
                 "String, not from {}",
                 from->name());
        std::vector<Cast> elements;
        for (size_t i = 0; i < to->children().size(); ++i)
            elements.push_back(make_cast(from->child(i), to->child(i), context, rule));
        return [elements, to](const VectorPtr& flat, const uint8_t*) { return cast_tuple(flat, to, elements); };
    }
    return {};
}

}  // namespace firn::functions
