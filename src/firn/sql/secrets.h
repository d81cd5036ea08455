// What must not be shown of a statement: keys, tokens and passwords among the arguments of table functions and engines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/sql/ast.h"

namespace firn::sql {

/// What stands for a secret in every text that people or logs see.
inline constexpr std::string_view kHidden = "[HIDDEN]";

/// Whether an option or a setting of this name holds a secret: secret_access_key, catalog_credential, auth_header …
bool is_secret_name(std::string_view name);

/// The arguments of a call as they may be shown: `call.args`, with '[HIDDEN]' where a secret stands. Knows s3, icebergS3,
/// IcebergAzure, url … by name; named arguments (secret_access_key = '…') are hidden in every call of theirs. A word or a
/// string that only may be a secret is hidden.
std::vector<ExprPtr> shown_arguments(const Expr& call);

/// A part of a statement's text that could not be parsed, [begin, end): its strings are hidden where the statement, from
/// statement_begin on, names anything that takes a secret.
std::string shown_source(std::string_view text, size_t statement_begin, size_t begin, size_t end);

}  // namespace firn::sql
