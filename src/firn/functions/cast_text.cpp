// From and to String and FixedString.
#include <cstring>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/text_parse.h"
#include "firn/types/value_parse.h"
#include "firn/types/value_text.h"
#include "firn/vector/vector_text.h"

namespace firn::functions {

namespace {

std::string_view clipped(std::string_view text) { return text.size() <= 80 ? text : text.substr(0, 80); }

/// A FixedString's text ends before its padding.
std::string_view without_padding(std::string_view bytes) {
    while (!bytes.empty() && bytes.back() == '\0') bytes.remove_suffix(1);
    return bytes;
}

Converted to_text(const VectorPtr& flat, const uint8_t* skip, const TypePtr& to, const TimeZone& zone) {
    const size_t rows = flat->size();
    StringOutput out(rows);
    std::string text;
    TextOptions options;
    options.zone = &zone;
    const DataType& type = *flat->type();
    const size_t width = type.value_size();
    const bool fixed = width && type.physical() != Physical::Str;
    for (size_t i = 0; i < rows; ++i) {
        text.clear();
        if (skip && skip[i]) {
        } else if (fixed)
            append_value(text, type, flat->values_buffer()->data() + i * width, zone);
        else
            append_text(text, *flat, i, options);
        out.set(i, text);
    }
    return {out.finish(to), nullptr};
}

Converted trim_fixed(const VectorPtr& flat, const TypePtr& to) {
    StringOutput out(flat->size());
    out.keep(flat);
    for (size_t i = 0; i < flat->size(); ++i) out.set_view(i, without_padding(flat->values<StringRef>()[i].view()));
    return {out.finish(to), nullptr};
}

Converted to_fixed(const VectorPtr& flat, const uint8_t* skip, const TypePtr& to, CastRule rule) {
    const size_t rows = flat->size(), length = to->length();
    StringOutput out(rows);
    out.keep(flat);
    Failures failures(rule.errors, rows, skip);
    for (size_t i = 0; i < rows; ++i) {
        std::string_view bytes = flat->values<StringRef>()[i].view();
        if (bytes.size() > length) {
            failures.report(i, ErrorCode::TOO_LARGE_STRING_SIZE, "String too long for type {}", to->name());
            bytes = bytes.substr(0, length);
        }
        if (bytes.size() == length) {
            out.set_view(i, bytes);
            continue;
        }
        char* place = out.allocate(length);
        std::memset(place, 0, length);
        if (!bytes.empty()) std::memcpy(place, bytes.data(), bytes.size());
        out.set_view(i, {place, length});
    }
    return {out.finish(to), failures.flags()};
}

Converted parse_rows(const VectorPtr& flat, const uint8_t* skip, const TypePtr& to, const TimeZone& zone,
                     CastRule rule) {
    const size_t rows = flat->size(), width = to->value_size();
    auto buffer = Buffer::allocate_zeroed(rows * width);
    Failures failures(rule.errors, rows, skip);
    const ParseMode mode = rule.strict_text ? ParseMode::Strict : ParseMode::Wrap;
    const bool fixed = flat->type()->id() == TypeId::FixedString;
    for (size_t i = 0; i < rows; ++i) {
        if (skip && skip[i]) continue;
        std::string_view text = flat->values<StringRef>()[i].view();
        if (fixed) text = without_padding(text);
        const ErrorCode code = parse_value(text, *to, zone, mode, buffer->mutable_data() + i * width);
        if (code != kParsed) failures.report(i, code, "Cannot parse '{}' as {}", clipped(text), to->name());
    }
    return {Vector::flat(to, rows, std::move(buffer)), failures.flags()};
}

Converted parse_nested(const VectorPtr& flat, const uint8_t* skip, const TypePtr& to, const TimeZone& zone,
                       CastRule rule) {
    const size_t rows = flat->size();
    VectorBuilder all(to);
    Failures failures(rule.errors, rows, skip);
    for (size_t i = 0; i < rows; ++i) {
        if (skip && skip[i]) {
            all.append_default();
            continue;
        }
        VectorBuilder one(to);
        const std::string_view text = flat->values<StringRef>()[i].view();
        const ErrorCode code = parse_plain(text, one, zone);
        if (code != kParsed) {
            failures.report(i, code, "Cannot parse '{}' as {}", clipped(text), to->name());
            all.append_default();
            continue;
        }
        const VectorPtr parsed = one.finish();
        all.append_from(*parsed, 0);
    }
    return {all.finish(), failures.flags()};
}

}  // namespace

Converter make_text_converter(const TypePtr& from, const TypePtr& to, const FunctionContext& context, CastRule rule) {
    const TimeZone& zone = TimeZone::find(context.time_zone);
    if (to->id() == TypeId::String) {
        if (from->id() == TypeId::FixedString)
            return [to](const VectorPtr& flat, const uint8_t*) { return trim_fixed(flat, to); };
        return [to, &zone](const VectorPtr& flat, const uint8_t* skip) { return to_text(flat, skip, to, zone); };
    }
    if (!is_string_like(from->id())) {
        if (to->id() == TypeId::FixedString && (from->id() == TypeId::Enum8 || from->id() == TypeId::Enum16)) {
            const TypePtr string = make_type(TypeId::String);
            return [to, string, rule, &zone](const VectorPtr& flat, const uint8_t* skip) {
                return to_fixed(to_text(flat, skip, string, zone).vector, skip, to, rule);
            };
        }
        return {};
    }
    if (to->id() == TypeId::FixedString)
        return [to, rule](const VectorPtr& flat, const uint8_t* skip) { return to_fixed(flat, skip, to, rule); };
    if (to->id() == TypeId::Map)
        fail(ErrorCode::TYPE_MISMATCH, "Unsupported types to CAST AS Map: from {} to {}", from->name(), to->name());
    if (to->physical() == Physical::Array || to->physical() == Physical::Tuple)
        return [to, rule, &zone](const VectorPtr& flat, const uint8_t* skip) {
            return parse_nested(flat, skip, to, zone, rule);
        };
    if (to->physical() == Physical::None) return {};
    return [to, rule, &zone](const VectorPtr& flat, const uint8_t* skip) {
        return parse_rows(flat, skip, to, zone, rule);
    };
}

}  // namespace firn::functions
