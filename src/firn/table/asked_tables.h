// Which tables a query of a system table asks for: what its filters say of the columns that name database and table.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "firn/plan/source.h"

namespace firn::table {

class AskedTables {
public:
    /// `request`: of a source whose column 0 is the database and whose column 1 is the table, both String. Must outlive this.
    explicit AskedTables(const plan::ScanRequest& request);

    /// The names that the filters compare the table with, by = or IN; nothing where any name may pass.
    const std::optional<std::set<std::string>>& named() const { return named_; }
    bool wants_database(const std::string& database) const;
    /// Those of the names that pass the filters which read nothing but database and table, in the same order.
    std::vector<std::string> wanted(const std::string& database, const std::vector<std::string>& tables) const;

private:
    std::vector<std::string> passing(const std::string& database, const std::vector<std::string>& tables,
                                     const std::vector<plan::ExpressionPtr>& filters) const;

    const plan::ScanRequest& request_;
    std::vector<plan::ExpressionPtr> of_database_, of_names_;  // filters that read the database only, and those of both
    std::optional<std::set<std::string>> named_;
};

}  // namespace firn::table
