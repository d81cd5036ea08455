// Window functions: all rows sorted by partition and order, then each call computed partition by partition.
#include <algorithm>
#include <functional>
#include <optional>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/exec/operators.h"
#include "firn/exec/sorting.h"
#include "firn/exec/window_frames.h"
#include "firn/vector/builder.h"

namespace firn::exec {
namespace {

using plan::WindowCall;
using plan::WindowNode;

template <typename F>
VectorPtr numbers(const WindowCall& call, size_t rows, F&& value) {
    using T = std::decay_t<decltype(value(size_t{0}))>;
    auto buffer = Buffer::allocate(rows * sizeof(T));
    for (size_t i = 0; i < rows; ++i) buffer->mutable_as<T>()[i] = value(i);
    return Vector::flat(call.type, rows, std::move(buffer));
}

/// An aggregate's one state, renewed for each partition.
class OneState {
public:
    explicit OneState(const functions::AggregateFunction& function)
        : function_(function), memory_(Buffer::allocate(function.state_size() + 16)) {
        function_.create(state());
    }
    ~OneState() { function_.destroy(state()); }
    OneState(const OneState&) = delete;
    OneState& operator=(const OneState&) = delete;
    char* state() { return memory_->mutable_data(); }
    void renew() {
        function_.destroy(state());
        function_.create(state());
        arena_ = Arena();
    }
    void add(const std::vector<VectorPtr>& arguments, RowRange rows) {
        std::vector<VectorPtr> part;
        for (const auto& argument : arguments) part.push_back(slice(argument, rows.begin, rows.end - rows.begin));
        function_.add_all(part, rows.end - rows.begin, state(), arena_);
    }
    VectorPtr value() {
        char* place = state();
        return function_.finish(&place, 1, 0);
    }

private:
    const functions::AggregateFunction& function_;
    MutableBufferPtr memory_;
    Arena arena_;
};

/// One value for each different frame, and which of them each row has.
VectorPtr aggregate_over_frames(const WindowCall& call, const std::vector<VectorPtr>& arguments,
                                const std::vector<RowRange>& frames) {
    OneState state(*call.function);
    VectorBuilder values(call.type);
    auto codes = Buffer::allocate(frames.size() * sizeof(uint32_t));
    RowRange held;  // rows that the state has now
    for (size_t i = 0; i < frames.size(); ++i) {
        const RowRange frame = frames[i].empty() ? RowRange{} : frames[i];
        if (i == 0 || frame != held) {
            check_cancelled();
            if (!held.empty() && frame.begin == held.begin && frame.end > held.end) {
                state.add(arguments, {held.end, frame.end});
            } else {
                state.renew();
                if (!frame.empty()) state.add(arguments, frame);
            }
            held = frame;
            values.append_from(*state.value(), 0);
        }
        codes->mutable_as<uint32_t>()[i] = static_cast<uint32_t>(values.size() - 1);
    }
    return Vector::dictionary(values.finish(), frames.size(), std::move(codes));
}

/// An argument as 64-bit numbers.
Decoded numbers_of(const VectorPtr& vector) {
    return Decoded(functions::cast_vector(vector, make_type(TypeId::Int64)));
}

/// The argument's value at another row of the same partition or frame; else the third argument or the default.
VectorPtr value_of_row(const WindowCall& call, const std::vector<VectorPtr>& arguments, size_t rows,
                       const std::function<uint32_t(size_t)>& place) {
    std::vector<uint32_t> from(rows);
    for (size_t i = 0; i < rows; ++i) from[i] = place(i);
    VectorPtr values = arguments[0];
    if (!same_type(values->type(), call.type)) values = functions::cast_vector(values, call.type);
    if (arguments.size() < 3) return gather_or_default(values, from);
    const std::vector<VectorPtr> both{flatten(values), flatten(functions::cast_vector(arguments[2], call.type))};
    for (size_t i = 0; i < rows; ++i)
        if (from[i] == kNoRow) from[i] = static_cast<uint32_t>(rows + i);
    return gather(concat(call.type, both), from);
}

/// lag, lead and their forms that look no further than the frame.
VectorPtr shifted(const WindowCall& call, const std::vector<VectorPtr>& arguments, const std::vector<RowRange>& within,
                  bool back) {
    std::optional<Decoded> distances;
    if (arguments.size() >= 2) distances.emplace(numbers_of(arguments[1]));
    return value_of_row(call, arguments, within.size(), [&](size_t i) {
        const int64_t distance = distances ? distances->value<int64_t>(i) : 1;
        if (distance < 0)
            fail(ErrorCode::BAD_ARGUMENTS, "The offset for function {} must be nonnegative, {} given", call.name,
                 distance);
        if (distance > static_cast<int64_t>(within.size())) return kNoRow;
        const int64_t at = static_cast<int64_t>(i) + (back ? -distance : distance);
        return at >= within[i].begin && at < within[i].end ? static_cast<uint32_t>(at) : kNoRow;
    });
}

VectorPtr nth_value(const WindowCall& call, const std::vector<VectorPtr>& arguments,
                    const std::vector<RowRange>& frames) {
    if (arguments.size() != 2) fail(ErrorCode::BAD_ARGUMENTS, "Function {} takes exactly two arguments", call.name);
    const Decoded places = numbers_of(arguments[1]);
    return value_of_row(call, {arguments[0]}, frames.size(), [&](size_t i) {
        const int64_t n = places.value<int64_t>(i);
        if (n <= 0)
            fail(ErrorCode::BAD_ARGUMENTS, "The offset for function {} must be in (0, {}], {} given", call.name,
                 INT64_MAX, n);
        return !frames[i].empty() && n <= frames[i].end - frames[i].begin
                   ? static_cast<uint32_t>(frames[i].begin + n - 1)
                   : kNoRow;
    });
}

VectorPtr ntile(const WindowCall& call, const std::vector<VectorPtr>& arguments, const WindowRows& rows) {
    if (arguments.size() != 1) fail(ErrorCode::BAD_ARGUMENTS, "Function ntile takes exactly one argument");
    const Decoded buckets = numbers_of(arguments[0]);
    return numbers(call, rows.size(), [&](size_t i) {
        const int64_t given = buckets.value<int64_t>(i);
        if (given <= 0) fail(ErrorCode::BAD_ARGUMENTS, "'ntile' argument must be at least 1");
        const RowRange all = rows.partition(i);
        // The first `more` of n buckets have one row more than the others.
        const uint64_t size = all.end - all.begin, n = static_cast<uint64_t>(given), at = i - all.begin;
        const uint64_t least = size / n, more = size % n, in_larger = more * (least + 1);
        return at < in_larger ? at / (least + 1) + 1 : more + (at - in_larger) / std::max<uint64_t>(1, least) + 1;
    });
}

VectorPtr ranking(const WindowCall& call, const WindowRows& rows, bool& known) {
    const std::string& name = call.name;
    const auto rank = [&](size_t i) {
        return static_cast<uint64_t>(rows.peers(i).begin - rows.partition(i).begin) + 1;
    };
    if (name == "row_number")
        return numbers(call, rows.size(),
                       [&](size_t i) { return static_cast<uint64_t>(i - rows.partition(i).begin + 1); });
    if (name == "rank") return numbers(call, rows.size(), rank);
    if (name == "dense_rank" || name == "denserank")
        return numbers(call, rows.size(), [&](size_t i) { return static_cast<uint64_t>(rows.peer_number(i)) + 1; });
    if (name == "percent_rank" || name == "percentrank")
        return numbers(call, rows.size(), [&](size_t i) {
            const double others = static_cast<double>(rows.partition(i).end - rows.partition(i).begin) - 1;
            return others > 0 ? static_cast<double>(rank(i) - 1) / others : 0.0;
        });
    if (name == "cume_dist")
        return numbers(call, rows.size(), [&](size_t i) {
            const RowRange all = rows.partition(i);
            return static_cast<double>(rows.peers(i).end - all.begin) / static_cast<double>(all.end - all.begin);
        });
    known = false;
    return nullptr;
}

VectorPtr compute_call(const WindowNode& node, const WindowCall& call, const std::vector<VectorPtr>& arguments,
                       const WindowRows& rows) {
    if (call.function) return aggregate_over_frames(call, arguments, rows.frames(node.frame));
    bool known = true;
    const auto ranks = ranking(call, rows, known);
    if (known) return ranks;
    if (call.name == "ntile") return ntile(call, arguments, rows);
    if (call.name == "nth_value") return nth_value(call, arguments, rows.frames(node.frame));
    if (call.name == "laginframe" || call.name == "leadinframe")
        return shifted(call, arguments, rows.frames(node.frame), call.name == "laginframe");
    if (call.name == "lag" || call.name == "lead") {
        std::vector<RowRange> partitions(rows.size());
        for (size_t i = 0; i < rows.size(); ++i) partitions[i] = rows.partition(i);
        return shifted(call, arguments, partitions, call.name == "lag");
    }
    if (call.name == "first_value" || call.name == "last_value") {
        const auto frames = rows.frames(node.frame);
        const bool first = call.name == "first_value";
        return value_of_row(call, {arguments[0]}, rows.size(), [&](size_t i) {
            return frames[i].empty() ? kNoRow : (first ? frames[i].begin : frames[i].end - 1);
        });
    }
    fail(ErrorCode::NOT_IMPLEMENTED, "Window function {} is not supported yet", call.name);
}

}  // namespace

void run_window(Run& run, const WindowNode& node, Stage& next, const Columns& needed) {
    // The sort keys and the calls' arguments travel as columns behind the input's.
    std::vector<plan::ExpressionPtr> expressions = node.partition;
    std::vector<SortDirection> directions(node.partition.size());
    for (const auto& key : node.order) {
        if (!key.collation.empty())
            fail(ErrorCode::NOT_IMPLEMENTED, "ORDER BY … COLLATE '{}' is not supported yet", key.collation);
        expressions.push_back(key.expression);
        directions.push_back({key.descending, key.nulls_first});
    }
    const size_t key_count = expressions.size();
    for (const auto& call : node.calls)
        expressions.insert(expressions.end(), call.arguments.begin(), call.arguments.end());

    const size_t inputs = node.children[0]->output.size();
    Columns below(needed.begin(), needed.begin() + static_cast<std::ptrdiff_t>(inputs));
    const KeyedColumns columns(run, expressions, output_types(*node.children[0]), below);
    KeyedCollectStage stage(columns, run.threads());
    mark(expressions, below);
    run.node(*node.children[0], stage, below);
    Batch all = columns.concat_parallel(stage.take());

    auto values = columns.keys_of(all);
    values.resize(key_count);
    const SortKeys keys(directions, values, all.rows);
    const auto order = sort_rows(run, keys);
    const WindowRows rows(node, keys, order);
    const Batch sorted = columns.select(all, order);
    const auto sorted_values = columns.keys_of(sorted);

    Batch out = columns.without_keys(Batch(sorted));
    size_t at = key_count;
    for (size_t i = 0; i < node.calls.size(); ++i) {
        const auto& call = node.calls[i];
        std::vector<VectorPtr> arguments;
        for (const auto& argument : call.arguments) {
            const bool constant = argument->kind == plan::Expression::Kind::Constant;
            arguments.push_back(constant ? Vector::constant(argument->constant, out.rows) : sorted_values[at]);
            ++at;
        }
        out.columns.push_back(needed[inputs + i] ? compute_call(node, call, arguments, rows)
                                                 : placeholder(call.type, out.rows));
    }
    run.emit_in_order(next, [&](Consumer& consumer) { run.push_cut(std::move(out), next, consumer); });
}

}  // namespace firn::exec
