// Parts of URLs by their look alone, without checking that they are URLs.
#include <algorithm>

#include "firn/functions/registration.h"
#include "firn/functions/strings/character_case.h"
#include "firn/functions/strings/text_loops.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view protocol_of(std::string_view url) {
    const size_t colon = url.find(':');
    if (colon == std::string_view::npos || colon == 0 || !is_alpha(url[0])) return {};
    for (size_t i = 0; i < colon; ++i)
        if (!is_alpha(url[i]) && !is_digit(url[i]) && url[i] != '+' && url[i] != '-' && url[i] != '.') return {};
    return url.substr(colon + 1, 2) == "//" ? url.substr(0, colon) : std::string_view();
}

/// What follows "scheme://" or "//"; the whole text without them.
std::string_view after_scheme(std::string_view url) {
    if (url.starts_with("//")) return url.substr(2);
    const std::string_view protocol = protocol_of(url);
    return protocol.empty() ? url : url.substr(protocol.size() + 3);
}

std::string_view domain_of(std::string_view url) {
    const std::string_view rest = after_scheme(url);
    size_t end = 0;
    bool dot = false;
    for (; end < rest.size(); ++end) {
        const char c = rest[end];
        if (c == ':' || c == '/' || c == '?' || c == '#') break;
        if (c == '.') {
            if (end == 0 && rest.size() == 1) return {};
            dot = true;
        } else if (!is_alpha(c) && !is_digit(c) && c != '-' && static_cast<uint8_t>(c) < 0x80) {
            return {};
        }
    }
    return dot && rest[end - 1] != '.' ? rest.substr(0, end) : std::string_view();
}

/// As RFC 3986 has it: with user information and addresses in brackets.
std::string_view domain_rfc(std::string_view url) {
    std::string_view rest = after_scheme(url);
    rest = rest.substr(0, std::min(rest.size(), rest.find_first_of("/?#")));
    if (const size_t at = rest.find('@'); at != std::string_view::npos) {
        if (rest.find('@', at + 1) != std::string_view::npos) return {};
        rest.remove_prefix(at + 1);
    }
    if (rest.starts_with("[")) {
        const size_t close = rest.find(']');
        return close == std::string_view::npos ? std::string_view() : rest.substr(1, close - 1);
    }
    rest = rest.substr(0, rest.find(':'));
    return domain_of(rest);
}

std::string_view without_www(std::string_view domain) { return domain.starts_with("www.") ? domain.substr(4) : domain; }

std::string_view top_level_domain(std::string_view url) {
    const std::string_view domain = domain_of(url);
    const size_t dot = domain.rfind('.');
    if (dot == std::string_view::npos || dot + 1 == domain.size() || is_digit(domain[dot + 1])) return {};
    return domain.substr(dot + 1);
}

/// Begin of the significant part: of "a.b.co.uk" that is "b". Second-level names that stand for a registry count as part of
/// the top level. npos where there is none.
struct Significant {
    std::string_view domain;
    size_t begin = std::string_view::npos, end = 0;
};
Significant significant_of(std::string_view url) {
    const std::string_view domain = domain_of(url);
    const size_t last = domain.rfind('.');
    if (last == std::string_view::npos) return {domain};
    const auto before = [&](size_t dot) { return dot == 0 ? std::string_view::npos : domain.rfind('.', dot - 1); };
    const size_t second = before(last);
    if (second == std::string_view::npos) return {domain, 0, last};
    const std::string_view middle = domain.substr(second + 1, last - second - 1);
    if (middle != "com" && middle != "net" && middle != "org" && middle != "co" && middle != "biz" && middle != "gov" &&
        middle != "edu" && middle != "mil" && middle != "int")
        return {domain, second + 1, last};
    const size_t third = before(second);
    return {domain, third == std::string_view::npos ? 0 : third + 1, second};
}

std::string_view path_of(std::string_view url, bool full) {
    const std::string_view rest = after_scheme(url);
    const size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return {};
    const std::string_view path = rest.substr(slash);
    return full ? path : path.substr(0, std::min(path.size(), path.find_first_of("?#")));
}

std::string_view query_string(std::string_view url) {
    const size_t mark = url.find_first_of("?#");
    if (mark == std::string_view::npos || url[mark] == '#') return {};
    const std::string_view rest = url.substr(mark + 1);
    return rest.substr(0, std::min(rest.size(), rest.find_first_of("?#")));
}
std::string_view fragment_of(std::string_view url) {
    const size_t mark = url.find('#');
    return mark == std::string_view::npos ? std::string_view() : url.substr(mark + 1);
}
std::string_view query_and_fragment(std::string_view url) {
    const size_t mark = url.find_first_of("?#");
    if (mark == std::string_view::npos) return {};
    return url.substr(mark + (url[mark] == '?' ? 1 : 0));
}
std::string_view net_location(std::string_view url) {
    const std::string_view rest = after_scheme(url);
    return rest.substr(0, std::min(rest.size(), rest.find_first_of("/?#")));
}

uint16_t port_of(std::string_view url, uint16_t otherwise) {
    const std::string_view domain = domain_of(url);
    if (domain.empty()) return otherwise;
    const char* end = url.data() + url.size();
    const char* at = domain.data() + domain.size();
    if (at == end || *at != ':') return otherwise;
    int64_t port = 0;
    size_t digits = 0;
    for (++at; at < end && is_digit(*at) && digits < 6; ++at, ++digits) port = port * 10 + (*at - '0');
    if (digits == 0 || port > 65535 || (at < end && *at != '/' && *at != '?' && *at != '#')) return otherwise;
    return static_cast<uint16_t>(port);
}

void cut(std::string_view url, std::string_view part, std::string& out) {
    out.assign(url.data(), part.data());
    out.append(part.data() + part.size(), url.data() + url.size());
}

/// Calls f(parameter) for what stands between the marks of "?a=1&b=2#c=3".
template <typename F>
void each_parameter(std::string_view url, F f) {
    size_t at = url.find_first_of("?#");
    while (at != std::string_view::npos && at < url.size()) {
        const size_t begin = at + 1;
        at = url.find_first_of("&?#", begin);
        const std::string_view parameter =
            url.substr(begin, at == std::string_view::npos ? std::string_view::npos : at - begin);
        if (!parameter.empty()) f(parameter);
    }
}

std::string_view parameter_value(std::string_view url, std::string_view name) {
    std::string_view value;
    bool found = false;
    each_parameter(url, [&](std::string_view parameter) {
        if (found || parameter.size() <= name.size() || parameter[name.size()] != '=' || !parameter.starts_with(name))
            return;
        value = parameter.substr(name.size() + 1);
        found = true;
    });
    return value;
}

void cut_parameter(std::string& url, std::string_view name) {
    for (size_t at = url.find_first_of("?#"); at != std::string::npos; at = url.find_first_of("&?#", at + 1)) {
        if (url.compare(at + 1, name.size(), name) != 0 || at + 1 + name.size() >= url.size() ||
            url[at + 1 + name.size()] != '=')
            continue;
        const size_t end = url.find_first_of("&#?", at + 1);
        if (end != std::string::npos && url[end] == '&')
            url.erase(at + 1, end - at);  // ?a=1&b -> ?b
        else if (url[at] == '&')
            url.erase(at, (end == std::string::npos ? url.size() : end) - at);  // &b=2 -> nothing
        else
            url.erase(at + 1, (end == std::string::npos ? url.size() : end) - at - 1);  // ?a=1 -> ?
        return;
    }
}

/// Prefixes of the URL that end at a slash, ?, & or #, and the URL itself; `path_only`: without scheme and host.
template <typename F>
void each_level(std::string_view url, bool path_only, F f) {
    size_t at = 0;
    const std::string_view protocol = protocol_of(url);
    if (!protocol.empty()) {
        at = url.find('/', protocol.size() + 3);
        if (at == std::string_view::npos) {
            if (!path_only) f(url);
            return;
        }
    } else {
        if (!path_only) f(url);
        return;
    }
    const size_t begin = path_only ? at : 0;
    if (!path_only) f(url.substr(0, at + 1));
    for (++at; at < url.size();) {
        at = url.find_first_of("/?#&", at);
        at = at == std::string_view::npos ? url.size() : at + 1;
        f(url.substr(begin, at - begin));
    }
}

template <typename F>
void declare_list(FunctionRegistry& registry, const char* name, F f) {
    declare(registry, {name}, 1, 1, [=](ArgumentList arguments, const FunctionContext&) {
        require_string(arguments, 0, name);
        const TypePtr type = make_array(make_type(TypeId::String));
        return Overload{type, [=](const KernelArguments& call) {
                            const Reader<StringRef> text(call[0]);
                            VectorBuilder builder(type);
                            for (size_t i = 0; i < call.rows; ++i) {
                                f(text[i].view(),
                                  [&](std::string_view part) { builder.element().append_string(part); });
                                builder.end_array();
                            }
                            return builder.finish();
                        }};
    });
}

int hex_digit(char c) {
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void decode(std::string_view s, std::string& out, bool plus_is_space) {
    for (size_t i = 0; i < s.size(); ++i) {
        if (s[i] == '%' && i + 2 < s.size() && hex_digit(s[i + 1]) >= 0 && hex_digit(s[i + 2]) >= 0) {
            out.push_back(static_cast<char>(hex_digit(s[i + 1]) * 16 + hex_digit(s[i + 2])));
            i += 2;
        } else {
            out.push_back(plus_is_space && s[i] == '+' ? ' ' : s[i]);
        }
    }
}

void encode(std::string_view s, std::string& out, bool space_is_plus) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    for (const char c : s) {
        if (is_alpha(c) || is_digit(c) || c == '-' || c == '_' || c == '.' || c == '~')
            out.push_back(c);
        else if (space_is_plus && c == ' ')
            out.push_back('+');
        else
            (((out += '%') += kDigits[static_cast<uint8_t>(c) >> 4]) += kDigits[static_cast<uint8_t>(c) & 15]);
    }
}

template <typename F>
void declare_cut(FunctionRegistry& registry, const char* name, F part) {
    declare_text(registry, {name}, [=](std::string_view url, std::string& out) {
        const std::string_view removed = part(url);
        if (removed.empty())
            out = url;
        else
            cut(url, removed, out);
    });
}

Overload resolve_port(ArgumentList arguments, const FunctionContext&) {
    require_string(arguments, 0, "port");
    if (arguments.size() > 1 && arguments[1].type->id() != TypeId::UInt16) fail_argument("port", *arguments[1].type, 1);
    const uint16_t otherwise =
        arguments.size() > 1 ? static_cast<uint16_t>(require_int(arguments[1], "port", 1)) : uint16_t{0};
    const TypePtr type = make_type(TypeId::UInt16);
    return {type, [=](const KernelArguments& call) {
                return map_unary<StringRef, uint16_t>(call[0], call.rows, type,
                                                      [&](const StringRef& s) { return port_of(s.view(), otherwise); });
            }};
}

Overload resolve_extract_parameter(ArgumentList arguments, const FunctionContext&) {
    require_string(arguments, 0, "extractURLParameter");
    require_string(arguments, 1, "extractURLParameter");
    return {make_type(TypeId::String), [](const KernelArguments& call) {
                const Reader<StringRef> name(call[1]);
                return cut_text(call[0], call.rows,
                                [&](std::string_view url, size_t i) { return parameter_value(url, name[i].view()); });
            }};
}

Overload resolve_cut_parameter(ArgumentList arguments, const FunctionContext&) {
    require_string(arguments, 0, "cutURLParameter");
    const bool many = arguments[1].type->id() == TypeId::Array;
    if (!many)
        require_string(arguments, 1, "cutURLParameter");
    else if (!is_string_like(arguments[1].type->child()->id()))
        fail_argument("cutURLParameter", *arguments[1].type, 1);
    return {make_type(TypeId::String), [many](const KernelArguments& call) {
                const Decoded names(call[1]);
                size_t i = 0;
                return map_text(call[0], call.rows, [&](std::string_view url, std::string& out) {
                    out = url;
                    const size_t row = names[i++];
                    if (!many) return cut_parameter(out, names.flat().values<StringRef>()[row].view());
                    for (int64_t k = names.flat().offsets()[row]; k < names.flat().offsets()[row + 1]; ++k)
                        cut_parameter(out, names.flat().child()->values<StringRef>()[k].view());
                });
            }};
}

}  // namespace

void register_url_functions(FunctionRegistry& registry) {
    declare_part(registry, {"protocol"}, protocol_of);
    declare_part(registry, {"domain"}, domain_of);
    declare_part(registry, {"domainRFC"}, domain_rfc);
    declare_part(registry, {"domainWithoutWWW"}, [](std::string_view url) { return without_www(domain_of(url)); });
    declare_part(registry, {"topLevelDomain"}, top_level_domain);
    declare_part(registry, {"firstSignificantSubdomain"}, [](std::string_view url) {
        const Significant found = significant_of(url);
        return found.begin == std::string_view::npos ? std::string_view()
                                                     : found.domain.substr(found.begin, found.end - found.begin);
    });
    declare_part(registry, {"cutToFirstSignificantSubdomain"}, [](std::string_view url) {
        const Significant found = significant_of(url);
        return found.begin == std::string_view::npos ? std::string_view() : found.domain.substr(found.begin);
    });
    declare(registry, {"port"}, 1, 2, resolve_port);
    declare_part(registry, {"path"}, [](std::string_view url) { return path_of(url, false); });
    declare_part(registry, {"pathFull"}, [](std::string_view url) { return path_of(url, true); });
    declare_part(registry, {"queryString"}, query_string);
    declare_part(registry, {"fragment"}, fragment_of);
    declare_part(registry, {"queryStringAndFragment"}, query_and_fragment);
    declare_part(registry, {"netloc"}, net_location);
    declare(registry, {"extractURLParameter"}, 2, 2, resolve_extract_parameter);
    declare(registry, {"cutURLParameter"}, 2, 2, resolve_cut_parameter);
    declare_list(registry, "extractURLParameters", [](std::string_view url, auto add) { each_parameter(url, add); });
    declare_list(registry, "extractURLParameterNames", [](std::string_view url, auto add) {
        each_parameter(url, [&](std::string_view parameter) { add(parameter.substr(0, parameter.find('='))); });
    });
    declare_list(registry, "URLHierarchy", [](std::string_view url, auto add) { each_level(url, false, add); });
    declare_list(registry, "URLPathHierarchy", [](std::string_view url, auto add) { each_level(url, true, add); });
    declare_text(registry, {"decodeURLComponent"}, [](std::string_view s, std::string& out) { decode(s, out, false); });
    declare_text(registry, {"decodeURLFormComponent"},
                 [](std::string_view s, std::string& out) { decode(s, out, true); });
    declare_text(registry, {"encodeURLComponent"}, [](std::string_view s, std::string& out) { encode(s, out, false); });
    declare_text(registry, {"encodeURLFormComponent"},
                 [](std::string_view s, std::string& out) { encode(s, out, true); });
    declare_cut(registry, "cutWWW", [](std::string_view url) {
        const std::string_view rest = after_scheme(url);
        return rest.starts_with("www.") ? rest.substr(0, 4) : std::string_view();
    });
    declare_cut(registry, "cutQueryString", [](std::string_view url) {
        const size_t mark = url.find('?');
        return mark == std::string_view::npos ? std::string_view()
                                              : url.substr(mark, std::min(url.size(), url.find('#', mark)) - mark);
    });
    declare_cut(registry, "cutFragment", [](std::string_view url) {
        const size_t mark = url.find('#');
        return mark == std::string_view::npos ? std::string_view() : url.substr(mark);
    });
    declare_cut(registry, "cutQueryStringAndFragment", [](std::string_view url) {
        const size_t mark = url.find('?');
        return mark == std::string_view::npos ? std::string_view() : url.substr(mark);
    });
}

}  // namespace firn::functions
