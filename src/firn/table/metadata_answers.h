// count, min and max of whole files from their manifest entries, where these are exact.
#pragma once

#include <vector>

#include "firn/iceberg/scan_plan.h"
#include "firn/table/iceberg_source.h"

namespace firn::table {

class MetadataAnswers {
public:
    MetadataAnswers(const IcebergSource& source, const plan::ScanRequest& request);

    /// Takes a file of which all rows count; false, and nothing taken, where its entry does not answer every aggregate.
    bool add(const iceberg::PlannedFile& planned);
    /// Rows that are counted already, where all aggregates count rows.
    void add_rows(uint64_t rows);
    /// One row of the aggregates over the files taken.
    std::vector<Batch> finish() const;

private:
    struct State {
        uint64_t count = 0;
        std::optional<iceberg::Literal> best;
    };
    const IcebergSource& source_;
    const plan::ScanRequest& request_;
    std::vector<State> states_;
};

}  // namespace firn::table
