#include "firn/table/rows_source.h"

#include <atomic>

#include "firn/base/query_context.h"
#include "firn/exec/filter.h"

namespace firn::table {
namespace {

class RowsTask : public plan::ScanTask {
public:
    explicit RowsTask(Batch batch) : batch_(std::move(batch)) {}
    bool next(Batch& batch) override {
        if (batch_.rows == 0) return false;
        batch = std::move(batch_);
        batch_ = {};
        return true;
    }

private:
    Batch batch_;
};

class RowsScan : public plan::Scan {
public:
    RowsScan(Batch batch, const plan::ScanRequest& request) : request_(request) {
        rows_.rows = batch.rows;
        for (const size_t column : request.columns) rows_.columns.push_back(batch.columns[column]);
    }
    std::unique_ptr<plan::ScanTask> next_task() override {
        if (taken_.exchange(true)) return nullptr;
        count_event(ProfileEvent::ScannedRows, rows_.rows);
        exec::Filter filter(request_.filters);
        if (!filter.empty() && rows_.rows) rows_ = rows_.select(filter.select(rows_));
        count_event(ProfileEvent::SelectedRows, rows_.rows);
        return std::make_unique<RowsTask>(std::move(rows_));
    }
    std::optional<uint64_t> row_estimate() const override { return rows_.rows; }

private:
    plan::ScanRequest request_;
    Batch rows_;
    std::atomic<bool> taken_{false};
};

class RowsSource : public plan::Source {
public:
    RowsSource(std::string name, std::vector<plan::SourceColumn> columns, MakeAskedRows make)
        : name_(std::move(name)), columns_(std::move(columns)), make_(std::move(make)) {}
    const std::vector<plan::SourceColumn>& columns() const override { return columns_; }
    std::unique_ptr<plan::Scan> scan(const plan::ScanRequest& request) const override {
        RowsBuilder builder(columns_);
        make_(request, builder);
        return std::make_unique<RowsScan>(builder.finish(), request);
    }
    std::string description() const override { return name_; }

private:
    std::string name_;
    std::vector<plan::SourceColumn> columns_;
    MakeAskedRows make_;
};

}  // namespace

std::shared_ptr<const plan::Source> make_rows_source(std::string name, std::vector<plan::SourceColumn> columns,
                                                     MakeRows make) {
    return make_asked_rows_source(
        std::move(name), std::move(columns),
        [make = std::move(make)](const plan::ScanRequest&, RowsBuilder& rows) { make(rows); });
}

std::shared_ptr<const plan::Source> make_asked_rows_source(std::string name, std::vector<plan::SourceColumn> columns,
                                                           MakeAskedRows make) {
    return std::make_shared<RowsSource>(std::move(name), std::move(columns), std::move(make));
}

}  // namespace firn::table
