#include "firn/sql/secrets.h"

#include <algorithm>
#include <array>
#include <string>

#include "firn/sql/lexer.h"
#include "firn/sql/printer.h"

namespace firn::sql {

namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
    return out;
}

enum class Service { None, S3, Azure, Url };

Service service_of(const std::string& name) {
    const std::string word = lower(name);
    if (word == "s3" || word == "s3cluster" || word == "gcs" || word == "iceberg" || word == "icebergs3" ||
        word == "icebergcluster" || word == "icebergs3cluster" || word == "deltalake" || word == "hudi" ||
        word == "s3queue" || word == "cosn" || word == "oss")
        return Service::S3;
    if (word == "icebergazure" || word == "icebergazurecluster" || word == "azureblobstorage" ||
        word == "azureblobstoragecluster" || word == "azurequeue")
        return Service::Azure;
    if (word == "url" || word == "icebergpath" || word == "hdfs" || word == "iceberghdfs" || word == "datalakecatalog")
        return Service::Url;
    return Service::None;
}

ExprPtr hidden(const Expr& expr) {
    Literal literal;
    literal.kind = Literal::Kind::String;
    literal.text = kHidden;
    return make_literal(std::move(literal), expr.pos);
}

ExprPtr text_like(const Expr& expr, std::string text) {
    Literal literal;
    literal.kind = Literal::Kind::String;
    literal.text = std::move(text);
    return make_literal(std::move(literal), expr.pos);
}

bool is_string(const Expr& expr) { return expr.is(ExprKind::Literal) && expr.literal.kind == Literal::Kind::String; }

/// name = value, as named arguments are written.
bool is_named(const Expr& expr) {
    return expr.is_function("equals") && expr.args.size() == 2 &&
           (expr.args[0]->is(ExprKind::Identifier) || is_string(*expr.args[0]));
}

/// A URL keeps neither the password before its host nor its query, where signatures are.
std::string shown_address(const std::string& text) {
    std::string out = text;
    if (const size_t question = out.find('?'); question != out.npos && out.find("://") != out.npos)
        out = out.substr(0, question) + "?" + std::string(kHidden);
    const size_t scheme = out.find("://");
    if (scheme == out.npos) return out;
    const size_t slash = std::min(out.find('/', scheme + 3), out.size());
    const size_t at = out.rfind('@', slash);
    const size_t colon = out.find(':', scheme + 3);
    if (at != out.npos && at > scheme + 2 && colon < at) out.replace(colon + 1, at - colon - 1, kHidden);
    return out;
}

/// "AccountKey=…" and "SharedAccessSignature=…" of a connection string.
std::string shown_connection(std::string text) {
    for (const std::string_view key : {"AccountKey=", "SharedAccessSignature="}) {
        for (size_t at = text.find(key); at != text.npos; at = text.find(key, at + key.size())) {
            const size_t begin = at + key.size();
            const size_t end = std::min(text.find(';', begin), text.size());
            text.replace(begin, end - begin, kHidden);
        }
    }
    return text.find(';') == text.npos ? shown_address(text) : text;
}

bool is_known_word(const Expr& expr) {
    if (!is_string(expr)) return false;
    constexpr std::array<std::string_view, 24> words{
        "auto",  "none", "gzip",         "gz",  "deflate",     "brotli",  "br",     "xz",
        "zstd",  "zst",  "lz4",          "bz2", "snappy",      "parquet", "orc",    "avro",
        "arrow", "csv",  "csvwithnames", "tsv", "jsoneachrow", "json",    "native", "tabseparated"};
    const std::string word = lower(expr.literal.text);
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_word(const Expr& expr, std::string_view word) {
    return expr.is(ExprKind::Identifier) && expr.parts.size() == 1 && lower(expr.parts[0]) == lower(word);
}

ExprPtr shown_named(const ExprPtr& argument) {
    const Expr& name = *argument->args[0];
    const std::string text = name.is(ExprKind::Identifier) ? name.joined_name() : name.literal.text;
    ExprPtr out = clone(*argument);
    if (is_secret_name(text)) {
        out->args[1] = hidden(*argument->args[1]);
    } else if (is_string(*argument->args[1])) {
        out->args[1] = text_like(*argument->args[1], shown_address(argument->args[1]->literal.text));
    }
    return out;
}

}  // namespace

bool is_secret_name(std::string_view name) {
    constexpr std::array<std::string_view, 21> names{"secret_access_key",
                                                     "gcs_token",
                                                     "session_token",
                                                     "access_token",
                                                     "account_key",
                                                     "connection_string",
                                                     "sas_token",
                                                     "password",
                                                     "token",
                                                     "secret",
                                                     "catalog_credential",
                                                     "auth_header",
                                                     "aws_access_key_id",
                                                     "aws_secret_access_key",
                                                     "aws_session_token",
                                                     "storage_aws_access_key_id",
                                                     "storage_aws_secret_access_key",
                                                     "dlf_access_key_secret",
                                                     "delegation_token",
                                                     "credential",
                                                     "client_secret"};
    const std::string word = lower(name);
    return std::find(names.begin(), names.end(), word) != names.end();
}

std::vector<ExprPtr> shown_arguments(const Expr& call) {
    const Service service = service_of(call.name);
    const bool headers = lower(call.name) == "headers";
    std::vector<ExprPtr> out = call.args;
    if (service == Service::None && !headers) return out;
    const bool cluster = lower(call.name).ends_with("cluster");
    size_t position = 0;  // among those without a name
    bool unsigned_access = false;
    for (ExprPtr& argument : out) {
        if (is_named(*argument)) {
            argument = shown_named(argument);
            if (headers) argument->args[1] = hidden(*argument->args[1]);
            continue;
        }
        if (argument->is(ExprKind::Function)) {
            if (!argument->is_operator &&
                (lower(argument->name) == "headers" || lower(argument->name) == "extra_credentials"))
                continue;
        }
        // A cluster's name comes before all else.
        if (cluster && position++ == 0) continue;
        const size_t place = cluster ? position - 2 : position++;
        if (place == 0 && is_string(*argument)) {
            const std::string& text = argument->literal.text;
            argument = text_like(*argument, service == Service::Azure ? shown_connection(text) : shown_address(text));
        } else if (service == Service::S3) {
            if (place == 1) unsigned_access = is_word(*argument, "NOSIGN") || is_known_word(*argument);
            if ((place == 2 || place == 3) && !unsigned_access && !is_known_word(*argument))
                argument = hidden(*argument);
        } else if (service == Service::Azure) {
            if (place == 4 && !is_known_word(*argument)) argument = hidden(*argument);
        } else if (call.name == "DataLakeCatalog" && place == 2) {
            argument = hidden(*argument);
        }
    }
    return out;
}

namespace {

/// Whether a word of it is one that secrets stand behind.
bool may_hold_secrets(std::string_view statement) {
    Lexer lexer(statement, 0, 0);
    for (Token token = lexer.next(); token.type != TokenType::End; token = lexer.next()) {
        if (token.type != TokenType::BareWord && token.type != TokenType::QuotedName) continue;
        std::string word;
        if (!decode_name(statement.substr(token.begin, token.end - token.begin), word)) continue;
        if (service_of(word) != Service::None || is_secret_name(word) || equal_ignoring_case(word, "headers") ||
            equal_ignoring_case(word, "collection"))
            return true;
    }
    return false;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n\f\v") == text.npos; }

}  // namespace

std::string shown_source(std::string_view text, size_t statement_begin, size_t begin, size_t end) {
    if (!may_hold_secrets(text.substr(statement_begin, end - statement_begin)))
        return std::string(text.substr(begin, end - begin));
    std::string out;
    size_t copied = begin;
    // Not of the part alone, whose end may cut a string.
    Lexer lexer(text, begin, 0);
    for (Token token = lexer.next(); token.type != TokenType::End && token.begin < end; token = lexer.next()) {
        const std::string_view gap = text.substr(copied, token.begin - copied);
        out += is_blank(gap) ? gap : " ";  // comments may hold what strings do
        copied = token.end;
        if (token.error == TokenError::CommentNotClosed) return out;
        const bool open_heredoc = token.type == TokenType::BareWord && text[token.begin] == '$';
        if (token.type == TokenType::String || token.error == TokenError::StringNotClosed || text[token.begin] == '"' ||
            open_heredoc)
            out += quote_string(kHidden);
        else
            out += text.substr(token.begin, std::min(token.end, end) - token.begin);
        if (open_heredoc) return out;
    }
    if (copied < end && is_blank(text.substr(copied, end - copied))) out += text.substr(copied, end - copied);
    return out;
}

}  // namespace firn::sql
