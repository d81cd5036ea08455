#include "firn/format/output.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "firn/base/error.h"
#include "firn/format/row_output.h"

namespace firn::format {
namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
    return out;
}

struct Registered {
    std::string name;
    OutputMaker maker;
};

const std::map<std::string, Registered>& registry() {
    static const std::map<std::string, Registered> formats = [] {
        std::map<std::string, Registered> made;
        const OutputRegistrar add = [&](std::string name, OutputMaker maker) {
            std::string key = lower(name);
            made[std::move(key)] = {std::move(name), std::move(maker)};
        };
        register_separated_outputs(add);
        register_json_outputs(add);
        register_pretty_outputs(add);
        register_json_column_outputs(add);
        register_literal_outputs(add);
        register_xml_output(add);
        register_binary_outputs(add);
        return made;
    }();
    return formats;
}

}  // namespace

BufferedOutput::BufferedOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink)
    : columns_(std::move(columns)), context_(context), sink_(std::move(sink)) {
    text_.zone = context.zone;
    text_.decimal_trailing_zeros = context.settings->get_bool("output_format_decimal_trailing_zeros");
}

std::unique_ptr<Output> make_output(std::string_view name, std::vector<Column> columns, const OutputContext& context,
                                    ByteSink sink) {
    const auto found = registry().find(lower(name));
    if (found == registry().end()) fail(ErrorCode::UNKNOWN_FORMAT, "Unknown format {}", name);
    return found->second.maker(std::move(columns), context, std::move(sink));
}

std::vector<std::string> output_format_names() {
    std::vector<std::string> names;
    for (const auto& [key, format] : registry()) names.push_back(format.name);
    return names;
}

}  // namespace firn::format
