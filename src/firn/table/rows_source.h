// Small tables whose rows are made when they are scanned: the tables of database system.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firn/plan/source.h"
#include "firn/vector/builder.h"

namespace firn::table {

/// Rows under construction: one builder a column.
class RowsBuilder {
public:
    explicit RowsBuilder(const std::vector<plan::SourceColumn>& columns) {
        for (const auto& column : columns) builders_.emplace_back(column.type);
    }
    VectorBuilder& operator[](size_t i) { return builders_[i]; }
    Batch finish() {
        Batch batch;
        for (auto& builder : builders_) batch.columns.push_back(builder.finish());
        batch.rows = batch.columns.empty() ? 0 : batch.columns[0]->size();
        return batch;
    }

private:
    std::vector<VectorBuilder> builders_;
};

using MakeRows = std::function<void(RowsBuilder&)>;
std::shared_ptr<const plan::Source> make_rows_source(std::string name, std::vector<plan::SourceColumn> columns,
                                                     MakeRows make);

/// For rows that cost something to make: the request says which of them the query may want. It applies its filters itself.
using MakeAskedRows = std::function<void(const plan::ScanRequest&, RowsBuilder&)>;
std::shared_ptr<const plan::Source> make_asked_rows_source(std::string name, std::vector<plan::SourceColumn> columns,
                                                           MakeAskedRows make);

}  // namespace firn::table
