// Small plans and sources for tests of the executor.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "firn/base/query_context.h"
#include "firn/exec/execute.h"
#include "firn/exec/spill/directory.h"
#include "firn/plan/logical.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::exec::test {

using plan::ExpressionPtr;
using plan::Node;
using plan::NodePtr;

inline TypePtr int64_type() { return make_type(TypeId::Int64); }
inline TypePtr string_type() { return make_type(TypeId::String); }

/// A table of batches; every batch is a task.
class TestSource : public plan::Source {
public:
    TestSource(std::vector<plan::SourceColumn> columns, std::vector<Batch> batches)
        : columns_(std::move(columns)), batches_(std::move(batches)) {}
    const std::vector<plan::SourceColumn>& columns() const override { return columns_; }
    std::unique_ptr<plan::Scan> scan(const plan::ScanRequest& request) const override {
        return std::make_unique<TestScan>(*this, request);
    }
    std::string description() const override { return "test"; }
    std::vector<Batch> partials;           // metadata answers
    mutable std::atomic<size_t> given{0};  // batches read

private:
    struct Task : plan::ScanTask {
        Batch batch;
        bool given = false;
        bool next(Batch& out) override {
            if (given) return false;
            given = true;
            out = batch;
            return true;
        }
    };
    struct TestScan : plan::Scan {
        TestScan(const TestSource& s, const plan::ScanRequest& r) : source(s), request(r) {}
        std::unique_ptr<plan::ScanTask> next_task() override {
            const size_t i = at.fetch_add(1);
            if (i >= source.batches_.size()) return nullptr;
            ++source.given;
            auto task = std::make_unique<Task>();
            task->batch.rows = source.batches_[i].rows;
            for (const size_t column : request.columns)
                task->batch.columns.push_back(source.batches_[i].columns[column]);
            return task;
        }
        std::vector<Batch> metadata_partials() override { return source.partials; }
        const TestSource& source;
        const plan::ScanRequest& request;
        std::atomic<size_t> at{0};
    };
    std::vector<plan::SourceColumn> columns_;
    std::vector<Batch> batches_;
};

inline NodePtr scan(std::shared_ptr<const TestSource> source) {
    auto node = std::make_unique<plan::ScanNode>();
    for (size_t i = 0; i < source->columns().size(); ++i) {
        node->request.columns.push_back(i);
        node->output.push_back({source->columns()[i].name, source->columns()[i].type});
    }
    node->source = std::move(source);
    return node;
}

inline ExpressionPtr column(const Node& node, size_t i) { return plan::make_column(i, node.output[i].type); }

template <typename T>
std::unique_ptr<T> over(NodePtr child) {
    auto node = std::make_unique<T>();
    node->output = child->output;
    node->children.push_back(std::move(child));
    return node;
}

/// A row as text, for comparing results.
inline std::string text_of(const Batch& batch, size_t row) {
    std::string out;
    for (const auto& column : batch.columns) {
        const Vector& flat = column->flat_base();
        const size_t at = column->base_row(row);
        if (!out.empty()) out += ',';
        if (flat.nulls() && flat.nulls()[at])
            out += "NULL";
        else if (flat.type()->physical() == Physical::Str)
            out += flat.values<StringRef>()[at].view();
        else if (!dispatch_fixed(flat.type()->physical(), [&]<typename T>() {
                     if constexpr (std::is_arithmetic_v<T>) out += std::to_string(flat.values<T>()[at]);
                 }))
            out += "?";
    }
    return out;
}

inline std::vector<std::string> rows_of(const std::vector<Batch>& batches) {
    std::vector<std::string> rows;
    for (const auto& batch : batches)
        for (size_t i = 0; i < batch.rows; ++i) rows.push_back(text_of(batch, i));
    return rows;
}

/// The options' spill thresholds count what a query holds: it holds something from the beginning here.
inline std::vector<std::string> run(const Node& plan, const ExecutionOptions& options = {}) {
    if (options.spill_sort_bytes == 0) return rows_of(collect(plan, options));
    static const auto directory = SpillDirectory::open("");  // one for all tests
    QueryContext context;
    const QueryContext::Scope scope(&context);
    const auto held = Buffer::allocate(1000);
    return rows_of(collect(plan, options));
}

/// Options with which every operator that can spill does so whenever it is asked.
inline ExecutionOptions spilling(ExecutionOptions options = {}) {
    options.spill_group_by_bytes = options.spill_distinct_bytes = 1;
    options.spill_sort_bytes = options.spill_join_bytes = 1;
    return options;
}

inline std::vector<std::string> sorted(std::vector<std::string> rows) {
    std::sort(rows.begin(), rows.end());
    return rows;
}

/// Every way in which one plan may be run.
inline std::vector<ExecutionOptions> all_options() {
    std::vector<ExecutionOptions> all;
    for (const size_t threads : {1, 4})
        for (const size_t rows : {3, 8192})
            for (const bool flat : {false, true}) {
                ExecutionOptions options;
                options.threads = threads;
                options.batch_rows = rows;
                options.force_flat = flat;
                all.push_back(options);
                all.push_back(spilling(options));
            }
    return all;
}

/// Counts rows, and sums an Int64 argument.
class SumFunction : public functions::AggregateFunction {
public:
    explicit SumFunction(bool count) : count_(count), type_(make_type(count ? TypeId::UInt64 : TypeId::Int64)) {}
    std::string_view name() const override { return count_ ? "count" : "sum"; }
    const TypePtr& result_type() const override { return type_; }
    size_t state_size() const override { return 8; }
    void create(char* state) const override { at(state) = 0; }
    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena&) const override {
        for (size_t i = 0; i < rows; ++i) at(states[i] + offset) += value(arguments, i);
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena&) const override {
        for (size_t i = 0; i < rows; ++i) at(state) += value(arguments, i);
    }
    void merge(char* state, const char* other, Arena&) const override {
        at(state) += *reinterpret_cast<const int64_t*>(other);
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        std::vector<int64_t> out;
        for (size_t i = 0; i < rows; ++i) out.push_back(at(states[i] + offset));
        return make_vector<int64_t>(type_, out);
    }
    void serialize(const char* state, std::string& out) const override { out.append(state, 8); }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        std::memcpy(state, in.data(), 8);
        in.remove_prefix(8);
    }

private:
    static int64_t& at(char* state) { return *reinterpret_cast<int64_t*>(state); }
    int64_t value(std::span<const VectorPtr> arguments, size_t row) const {
        if (count_) return 1;
        if (arguments[0]->is_null(row)) return 0;
        return arguments[0]->flat_base().values<int64_t>()[arguments[0]->base_row(row)];
    }
    bool count_;
    TypePtr type_;
};

/// Rows of (i, i % groups, name of i % names, NULL where i % 5 == 0 else i % 11) in encodings that change from batch to batch.
inline std::shared_ptr<TestSource> mixed_source(size_t rows, size_t groups, size_t names, size_t batch_rows = 100) {
    const TypePtr nullable = make_nullable(int64_type());
    std::vector<Batch> batches;
    for (size_t begin = 0; begin < rows; begin += batch_rows) {
        const size_t size = std::min(batch_rows, rows - begin), number = begin / batch_rows;
        VectorBuilder id(int64_type()), group(int64_type()), name(string_type()), value(nullable);
        for (size_t i = begin; i < begin + size; ++i) {
            id.append<int64_t>(static_cast<int64_t>(i));
            group.append<int64_t>(static_cast<int64_t>(i % groups));
            name.append_string("name " + std::to_string(i % names));
            if (i % 5 == 0)
                value.append_null();
            else
                value.append<int64_t>(static_cast<int64_t>(i % 11));
        }
        Batch batch{{id.finish(), group.finish(), name.finish(), value.finish()}, size};
        if (number % 3 == 1) {  // dictionaries: here, of all rows backwards
            auto codes = Buffer::allocate(size * sizeof(uint32_t));
            std::vector<uint32_t> reversed(size);
            for (size_t i = 0; i < size; ++i) {
                codes->mutable_as<uint32_t>()[i] = static_cast<uint32_t>(size - 1 - i);
                reversed[i] = static_cast<uint32_t>(size - 1 - i);
            }
            for (size_t c = 1; c < 4; ++c)
                batch.columns[c] = Vector::dictionary(gather(batch.columns[c], reversed), size, codes);
        } else if (number % 3 == 2) {  // runs of one row
            auto ends = Buffer::allocate(size * sizeof(uint32_t));
            for (size_t i = 0; i < size; ++i) ends->mutable_as<uint32_t>()[i] = static_cast<uint32_t>(i + 1);
            for (size_t c = 1; c < 4; ++c) batch.columns[c] = Vector::run_length(batch.columns[c], size, ends);
        }
        batches.push_back(std::move(batch));
    }
    return std::make_shared<TestSource>(std::vector<plan::SourceColumn>{{"id", int64_type(), false, ""},
                                                                        {"grp", int64_type(), false, ""},
                                                                        {"name", string_type(), false, ""},
                                                                        {"value", nullable, false, ""}},
                                        std::move(batches));
}

}  // namespace firn::exec::test
