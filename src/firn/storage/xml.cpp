#include "firn/storage/xml.h"

#include <memory>
#include <type_traits>

#include <expat.h>

#include "firn/base/error.h"

namespace firn::storage {

namespace {

constexpr size_t kMaxDepth = 200;

std::string local_name(std::string_view name) {
    const size_t colon = name.rfind(':');
    return std::string(colon == name.npos ? name : name.substr(colon + 1));
}

/// The tree so far: the open elements, outermost first. An element joins its parent when it closes.
struct Builder {
    XML_Parser parser = nullptr;
    std::vector<XmlElement> open;
    XmlElement root;
    bool too_deep = false;
    bool entity = false;
};

void on_start(void* user, const XML_Char* name, const XML_Char** attributes) {
    Builder& builder = *static_cast<Builder*>(user);
    if (builder.open.size() >= kMaxDepth) {
        builder.too_deep = true;
        XML_StopParser(builder.parser, XML_FALSE);
        return;
    }
    XmlElement element;
    element.name = local_name(name);
    for (size_t i = 0; attributes[i]; i += 2)
        element.attributes.emplace_back(local_name(attributes[i]), attributes[i + 1]);
    builder.open.push_back(std::move(element));
}

void on_end(void* user, const XML_Char*) {
    Builder& builder = *static_cast<Builder*>(user);
    XmlElement done = std::move(builder.open.back());
    builder.open.pop_back();
    if (builder.open.empty()) {
        builder.root = std::move(done);
    } else {
        builder.open.back().children.push_back(std::move(done));
    }
}

void on_text(void* user, const XML_Char* data, int size) {
    Builder& builder = *static_cast<Builder*>(user);
    if (!builder.open.empty()) builder.open.back().text.append(data, static_cast<size_t>(size));
}

void on_entity(void* user, const XML_Char*, int, const XML_Char*, int, const XML_Char*, const XML_Char*,
               const XML_Char*, const XML_Char*) {
    Builder& builder = *static_cast<Builder*>(user);
    builder.entity = true;
    XML_StopParser(builder.parser, XML_FALSE);
}

}  // namespace

const XmlElement* XmlElement::child(std::string_view child_name) const {
    for (const XmlElement& element : children) {
        if (element.name == child_name) return &element;
    }
    return nullptr;
}

std::string_view XmlElement::child_text(std::string_view child_name) const {
    const XmlElement* found = child(child_name);
    return found ? std::string_view(found->text) : std::string_view();
}

const std::string* XmlElement::attribute(std::string_view attribute_name) const {
    for (const auto& [name, value] : attributes) {
        if (name == attribute_name) return &value;
    }
    return nullptr;
}

XmlElement parse_xml(std::string_view text, std::string_view what) {
    const std::unique_ptr<std::remove_pointer_t<XML_Parser>, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr),
                                                                                          &XML_ParserFree);
    if (!parser) fail(ErrorCode::MEMORY_LIMIT_EXCEEDED, "{}: no memory for an XML parser", what);
    if (text.size() > (size_t{1} << 30)) fail(ErrorCode::INCORRECT_DATA, "{}: more than 1 GiB of XML", what);
    Builder builder;
    builder.parser = parser.get();
    XML_SetUserData(parser.get(), &builder);
    XML_SetElementHandler(parser.get(), &on_start, &on_end);
    XML_SetCharacterDataHandler(parser.get(), &on_text);
    XML_SetEntityDeclHandler(parser.get(), &on_entity);
    if (XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), 1) != XML_STATUS_OK) {
        const auto line = static_cast<unsigned long>(XML_GetCurrentLineNumber(parser.get()));
        if (builder.too_deep)
            fail(ErrorCode::INCORRECT_DATA, "{}: XML nested deeper than {} elements, line {}", what, kMaxDepth, line);
        if (builder.entity) fail(ErrorCode::INCORRECT_DATA, "{}: XML that declares entities, line {}", what, line);
        fail(ErrorCode::INCORRECT_DATA, "{}: not well-formed XML, line {}: {}", what, line,
             XML_ErrorString(XML_GetErrorCode(parser.get())));
    }
    return std::move(builder.root);
}

}  // namespace firn::storage
