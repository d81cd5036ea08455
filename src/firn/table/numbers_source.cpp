// numbers(), zeros(), generate_series(): rows that are computed.
#include <algorithm>
#include <mutex>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/exec/filter.h"
#include "firn/table/table_functions.h"

namespace firn::table {
namespace {

constexpr uint64_t kBatchRows = 1 << 16;

struct Sequence {
    std::string column = "number";
    TypePtr type;
    uint64_t first = 0, count = 0, step = 1;
    /// Rows of one worker's task: all of them where their order is to be kept, as of numbers().
    uint64_t task_rows = UINT64_MAX;
};

class NumbersScan : public plan::Scan {
public:
    NumbersScan(Sequence sequence, plan::ScanRequest request)
        : sequence_(std::move(sequence)), request_(std::move(request)) {}

    std::unique_ptr<plan::ScanTask> next_task() override {
        std::lock_guard lock(mutex_);
        if (next_ >= sequence_.count) return nullptr;
        const uint64_t begin = next_;
        next_ += std::min(sequence_.count - begin, sequence_.task_rows);
        return std::make_unique<Task>(*this, begin, next_);
    }
    std::optional<uint64_t> row_estimate() const override { return sequence_.count; }

private:
    class Task : public plan::ScanTask {
    public:
        Task(const NumbersScan& scan, uint64_t begin, uint64_t end)
            : scan_(scan), begin_(begin), end_(end), filter_(scan.request_.filters) {}

        bool next(Batch& batch) override {
            while (begin_ < end_) {
                check_cancelled();
                batch.rows = static_cast<size_t>(std::min(end_ - begin_, kBatchRows));
                auto values = Buffer::allocate(batch.rows * scan_.sequence_.type->value_size());
                fill(*values, batch.rows);
                const VectorPtr column = Vector::flat(scan_.sequence_.type, batch.rows, std::move(values));
                batch.columns.assign(scan_.request_.columns.size(), column);
                begin_ += batch.rows;
                count_event(ProfileEvent::ScannedRows, batch.rows);
                if (!filter_.empty()) batch = batch.select(filter_.select(batch));
                count_event(ProfileEvent::SelectedRows, batch.rows);
                if (batch.rows > 0) return true;
            }
            return false;
        }

    private:
        void fill(Buffer& values, size_t rows) const {
            const auto& sequence = scan_.sequence_;
            if (sequence.type->id() == TypeId::UInt8) {
                std::memset(values.mutable_data(), 0, rows);
                return;
            }
            uint64_t* out = values.mutable_as<uint64_t>();
            for (size_t i = 0; i < rows; ++i) out[i] = sequence.first + (begin_ + i) * sequence.step;
        }

        const NumbersScan& scan_;
        uint64_t begin_, end_;
        exec::Filter filter_;
    };

    Sequence sequence_;
    plan::ScanRequest request_;
    std::mutex mutex_;
    uint64_t next_ = 0;
};

class NumbersSource : public plan::Source {
public:
    NumbersSource(Sequence sequence, std::string description)
        : sequence_(std::move(sequence)), description_(std::move(description)) {
        columns_.push_back({sequence_.column, sequence_.type, false, ""});
    }
    const std::vector<plan::SourceColumn>& columns() const override { return columns_; }
    std::optional<uint64_t> row_count_estimate() const override { return sequence_.count; }
    std::unique_ptr<plan::Scan> scan(const plan::ScanRequest& request) const override {
        Sequence sequence = sequence_;
        if (request.limit && request.filters.empty())
            sequence.count = std::min<uint64_t>(sequence.count, *request.limit);
        return std::make_unique<NumbersScan>(std::move(sequence), request);
    }
    std::string description() const override { return description_; }

private:
    Sequence sequence_;
    std::string description_;
    std::vector<plan::SourceColumn> columns_;
};

}  // namespace

std::shared_ptr<const plan::Source> numbers_table(const TableCall& call) {
    Sequence sequence;
    sequence.type = make_type(TypeId::UInt64);
    if (call.name.starts_with("generate")) {
        call.expect_arguments(2, 3);
        sequence.column = "generate_series";
        sequence.first = call.number(0, "the first number");
        const uint64_t last = call.number(1, "the last number");
        if (call.arguments.size() > 2) sequence.step = call.number(2, "the step");
        if (sequence.step == 0) fail(ErrorCode::BAD_ARGUMENTS, "Table function '{}': the step cannot be 0", call.name);
        sequence.count = last < sequence.first ? 0 : (last - sequence.first) / sequence.step + 1;
    } else if (call.name.starts_with("zeros")) {
        call.expect_arguments(0, 1);
        sequence.column = "zero";
        sequence.type = make_type(TypeId::UInt8);
        sequence.count = call.arguments.empty() ? UINT64_MAX : call.number(0, "the number of rows");
    } else {
        call.expect_arguments(0, 3);
        const size_t given = call.arguments.size();
        sequence.count = given == 0 ? UINT64_MAX : call.number(given == 1 ? 0 : 1, "the number of rows");
        if (given > 1) sequence.first = call.number(0, "the first number");
        if (given > 2) {
            sequence.step = call.number(2, "the step");
            if (sequence.step == 0)
                fail(ErrorCode::BAD_ARGUMENTS, "Table function '{}': the step cannot be 0", call.name);
            sequence.count = (sequence.count + sequence.step - 1) / sequence.step;
        }
    }
    if (call.name.ends_with("_mt")) sequence.task_rows = kBatchRows;
    return std::make_shared<NumbersSource>(std::move(sequence), call.name + "(…)");
}

}  // namespace firn::table
