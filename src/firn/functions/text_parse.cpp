// Arrays, tuples and maps from text such as CAST('[1,2]' AS Array(Int32)) reads.
#include <cctype>

#include "firn/functions/text_parse.h"
#include "firn/types/value_parse.h"

namespace firn::functions {

namespace {

constexpr int kMaxDepth = 200;

class NestedParser {
public:
    NestedParser(std::string_view text, const TimeZone& zone) : text_(text), zone_(zone) {}

    ErrorCode whole(VectorBuilder& builder) {
        const ErrorCode code = value(builder, 0);
        if (code != kParsed) return code;
        skip_space();
        return at_ == text_.size() ? kParsed : ErrorCode::CANNOT_PARSE_TEXT;
    }

private:
    void skip_space() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    }
    bool take(char c) {
        skip_space();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    ErrorCode wrong() const {
        return at_ >= text_.size() ? ErrorCode::ATTEMPT_TO_READ_AFTER_EOF
                                   : ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED;
    }

    ErrorCode value(VectorBuilder& builder, int depth) {
        if (depth > kMaxDepth) return ErrorCode::TOO_DEEP_RECURSION;
        const TypePtr type = unwrap(builder.type());
        skip_space();
        if (accepts_null(*builder.type()) && text_.substr(at_, 4) == "NULL") {
            at_ += 4;
            builder.append_null();
            return kParsed;
        }
        switch (type->id()) {
            case TypeId::Array:
                return list(
                    '[', ']', [&] { return value(builder.element(), depth + 1); }, [&] { builder.end_array(); });
            case TypeId::Map:
                return list(
                    '{', '}', [&] { return entry(builder.element(), depth + 1); }, [&] { builder.end_array(); });
            case TypeId::Tuple:
                return tuple(builder, type->children().size(), depth + 1);
            default:
                return scalar(builder, *type);
        }
    }

    template <typename Item, typename End>
    ErrorCode list(char open, char close, Item item, End end) {
        if (!take(open)) return wrong();
        if (!take(close)) {
            do {
                if (const ErrorCode code = item(); code != kParsed) return code;
            } while (take(','));
            if (!take(close)) return wrong();
        }
        end();
        return kParsed;
    }
    ErrorCode entry(VectorBuilder& pair, int depth) {
        if (const ErrorCode code = value(pair.element(0), depth); code != kParsed) return code;
        if (!take(':')) return wrong();
        if (const ErrorCode code = value(pair.element(1), depth); code != kParsed) return code;
        pair.end_tuple();
        return kParsed;
    }
    ErrorCode tuple(VectorBuilder& builder, size_t size, int depth) {
        if (!take('(')) return wrong();
        for (size_t i = 0; i < size; ++i) {
            if (i && !take(',')) return wrong();
            if (const ErrorCode code = value(builder.element(i), depth); code != kParsed) return code;
        }
        take(',');
        if (!take(')')) return wrong();
        builder.end_tuple();
        return kParsed;
    }

    ErrorCode quoted(std::string& out) {
        ++at_;
        while (at_ < text_.size()) {
            const char c = text_[at_++];
            if (c == '\'') {
                if (at_ < text_.size() && text_[at_] == '\'') {
                    out.push_back(text_[at_++]);
                    continue;
                }
                return kParsed;
            }
            if (c != '\\' || at_ >= text_.size()) {
                out.push_back(c);
                continue;
            }
            const char escaped = text_[at_++];
            constexpr std::string_view kFrom = "nrtbf0av", kTo("\n\r\t\b\f\0\a\v", 8);
            const size_t which = kFrom.find(escaped);
            out.push_back(which == std::string_view::npos ? escaped : kTo[which]);
        }
        return ErrorCode::CANNOT_PARSE_QUOTED_STRING;
    }

    ErrorCode scalar(VectorBuilder& builder, const DataType& type) {
        std::string text;
        if (at_ < text_.size() && text_[at_] == '\'') {
            if (const ErrorCode code = quoted(text); code != kParsed) return code;
        } else {
            if (type.physical() == Physical::Str)
                return at_ >= text_.size() ? ErrorCode::ATTEMPT_TO_READ_AFTER_EOF
                                           : ErrorCode::CANNOT_PARSE_QUOTED_STRING;
            const size_t start = at_;
            while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(text_[at_])) && text_[at_] != ',' &&
                   text_[at_] != ']' && text_[at_] != ')' && text_[at_] != '}' && text_[at_] != ':')
                ++at_;
            text = text_.substr(start, at_ - start);
        }
        return parse_plain(text, builder, zone_);
    }

    std::string_view text_;
    const TimeZone& zone_;
    size_t at_ = 0;
};

template <typename T>
void append_raw(VectorBuilder& builder, const char* data) {
    T value;
    std::memcpy(&value, data, sizeof(T));
    builder.append(value);
}

}  // namespace

ErrorCode parse_plain(std::string_view text, VectorBuilder& builder, const TimeZone& zone) {
    const TypePtr type = unwrap(builder.type());
    if (accepts_null(*builder.type()) && text == "NULL" && type->physical() != Physical::Str) {
        builder.append_null();
        return kParsed;
    }
    switch (type->physical()) {
        case Physical::Array:
        case Physical::Tuple:
            return NestedParser(text, zone).whole(builder);
        case Physical::None:
            return ErrorCode::CANNOT_PARSE_TEXT;
        case Physical::Str: {
            if (type->id() != TypeId::FixedString) {
                builder.append_string(text);
                return kParsed;
            }
            if (text.size() > type->length()) return ErrorCode::TOO_LARGE_STRING_SIZE;
            std::string padded(text);
            padded.resize(type->length(), '\0');
            builder.append_string(padded);
            return kParsed;
        }
        default:
            break;
    }
    alignas(32) char value[32];
    if (const ErrorCode code = parse_value(text, *type, zone, ParseMode::Wrap, value); code != kParsed) return code;
    dispatch_fixed(type->physical(), [&]<typename T>() { append_raw<T>(builder, value); });
    return kParsed;
}

}  // namespace firn::functions
