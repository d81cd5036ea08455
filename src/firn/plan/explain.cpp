// EXPLAIN: the plan as text.
#include <unordered_set>

#include <fmt/format.h>

#include "firn/plan/optimizer.h"

namespace firn::plan {

namespace {

using Names = std::vector<std::string>;

std::string_view join_name(const JoinNode& join) {
    switch (join.join) {
        case JoinKind::Inner:
            return "Inner";
        case JoinKind::Left:
            return "Left";
        case JoinKind::Right:
            return "Right";
        case JoinKind::Full:
            return "Full";
        case JoinKind::Cross:
            return "Cross";
        case JoinKind::LeftSemi:
            return "LeftSemi";
        case JoinKind::LeftAnti:
            return "LeftAnti";
        case JoinKind::RightSemi:
            return "RightSemi";
        case JoinKind::RightAnti:
            return "RightAnti";
        case JoinKind::Mark:
            return "Mark";
    }
    return "";
}

Names names_of(const Node& node) {
    Names names;
    for (const OutputColumn& column : node.output) names.push_back(column.name);
    return names;
}

class Printer {
public:
    explicit Printer(bool scans) : scans_(scans) {}

    void print(const Node& node, size_t depth) {
        const std::string pad(depth * 2, ' ');
        std::string line = title(node);
        if (node.estimated_rows) line += fmt::format("  ~{:.0f} rows", *node.estimated_rows);
        lines.push_back(pad + line);
        for (const std::string& detail : details(node)) lines.push_back(pad + "    " + detail);
        if (node.kind == NodeKind::Cte) {
            const auto& shared = static_cast<const CteNode&>(node).shared;
            if (seen_.insert(shared.get()).second) print(*shared->plan, depth + 1);
            return;
        }
        for (const NodePtr& child : node.children) print(*child, depth + 1);
    }

    std::vector<std::string> lines;

private:
    static std::string list(const std::vector<ExpressionPtr>& expressions, const Names& names) {
        std::string out;
        for (const ExpressionPtr& expression : expressions)
            out += (out.empty() ? "" : ", ") + to_string(*expression, &names);
        return out;
    }
    static Names input_names(const Node& node) {
        Names names;
        for (const NodePtr& child : node.children)
            for (const OutputColumn& column : child->output) names.push_back(column.name);
        return names;
    }

    static std::string title(const Node& node) {
        switch (node.kind) {
            case NodeKind::Scan:
                return "ReadFrom " + static_cast<const ScanNode&>(node).source->description();
            case NodeKind::Values:
                return "Values";
            case NodeKind::Project:
                return "Expression";
            case NodeKind::Filter:
                return "Filter";
            case NodeKind::Aggregate:
                return "Aggregating";
            case NodeKind::Join:
                return fmt::format("Join ({})", join_name(static_cast<const JoinNode&>(node)));
            case NodeKind::Sort:
                return static_cast<const SortNode&>(node).limit ? "Sorting (top N)" : "Sorting";
            case NodeKind::Limit:
                return "Limit";
            case NodeKind::LimitBy:
                return "LimitBy";
            case NodeKind::Distinct:
                return "Distinct";
            case NodeKind::Union:
                return "Union";
            case NodeKind::Intersect:
                return "Intersect";
            case NodeKind::Except:
                return "Except";
            case NodeKind::ArrayJoin:
                return "ArrayJoin";
            case NodeKind::Window:
                return "Window";
            case NodeKind::Fill:
                return "Filling";
            case NodeKind::Cte:
                return "Shared";
        }
        return "";
    }

    std::vector<std::string> details(const Node& node) const {
        std::vector<std::string> out;
        const Names names = input_names(node);
        switch (node.kind) {
            case NodeKind::Scan:
                scan_details(static_cast<const ScanNode&>(node), out);
                break;
            case NodeKind::Project:
                out.push_back("Columns: " + list(static_cast<const ProjectNode&>(node).expressions, names));
                break;
            case NodeKind::Filter:
                out.push_back("Condition: " + list(static_cast<const FilterNode&>(node).conjuncts, names));
                break;
            case NodeKind::Aggregate: {
                const auto& aggregate = static_cast<const AggregateNode&>(node);
                if (!aggregate.keys.empty()) out.push_back("Keys: " + list(aggregate.keys, names));
                std::string calls;
                for (const AggregateCall& made : aggregate.aggregates)
                    calls += fmt::format("{}{}({})", calls.empty() ? "" : ", ", made.function->name(),
                                         list(made.arguments, names));
                if (!calls.empty()) out.push_back("Aggregates: " + calls);
                if (aggregate.merge_metadata_partials) out.push_back("From metadata where exact");
                break;
            }
            case NodeKind::Join:
                join_details(static_cast<const JoinNode&>(node), names, out);
                break;
            case NodeKind::Sort: {
                const auto& sort = static_cast<const SortNode&>(node);
                std::string keys;
                for (const SortKey& key : sort.keys)
                    keys += fmt::format("{}{}{}", keys.empty() ? "" : ", ", to_string(*key.expression, &names),
                                        key.descending ? " DESC" : " ASC");
                out.push_back("Keys: " + keys);
                if (sort.limit)
                    out.push_back(fmt::format("Rows: {}{}", *sort.limit, sort.with_ties ? " with ties" : ""));
                break;
            }
            case NodeKind::Limit: {
                const auto& limit = static_cast<const LimitNode&>(node);
                out.push_back(fmt::format("Limit {}, offset {}", limit.limit ? std::to_string(*limit.limit) : "none",
                                          limit.offset));
                break;
            }
            case NodeKind::LimitBy:
                out.push_back("Keys: " + list(static_cast<const LimitByNode&>(node).keys, names));
                break;
            case NodeKind::ArrayJoin:
                out.push_back("Arrays: " + list(static_cast<const ArrayJoinNode&>(node).arrays, names));
                break;
            default:
                break;
        }
        return out;
    }

    void scan_details(const ScanNode& scan, std::vector<std::string>& out) const {
        const Names names = names_of(scan);
        std::string columns;
        for (size_t i = 0; i < names.size(); ++i) {
            const bool shown = scan.request.output.empty() || scan.request.output[i];
            columns += (columns.empty() ? "" : ", ") + names[i] + (shown ? "" : " (filter only)");
        }
        if (!columns.empty()) out.push_back("Columns: " + columns);
        if (!scan.request.filters.empty()) out.push_back("Filters: " + list(scan.request.filters, names));
        for (const auto& filter : scan.request.runtime_filters)
            out.push_back("Runtime filter: " + names[filter->column]);
        if (scan.request.limit) out.push_back(fmt::format("Rows wanted: {}", *scan.request.limit));
        if (!scans_) return;
        for (const std::string& line : scan.source->scan(scan.request)->explain()) out.push_back(line);
    }

    static void join_details(const JoinNode& join, const Names& names, std::vector<std::string>& out) {
        std::string keys;
        const Names left = names_of(*join.children[0]), right = names_of(*join.children[1]);
        for (size_t i = 0; i < join.left_keys.size(); ++i)
            keys += fmt::format("{}{} = {}", keys.empty() ? "" : ", ", to_string(*join.left_keys[i], &left),
                                to_string(*join.right_keys[i], &right));
        if (!keys.empty()) out.push_back("Keys: " + keys);
        if (!join.residual.empty()) out.push_back("Condition: " + list(join.residual, names));
        if (join.strictness == JoinStrictness::Any) out.push_back("Any match");
        if (join.strictness == JoinStrictness::Asof) out.push_back("Nearest match");
        if (!join.runtime_filters.empty())
            out.push_back(fmt::format("Runtime filters: {}", join.runtime_filters.size()));
    }

    const bool scans_;
    std::unordered_set<const CteNode::Shared*> seen_;
};

}  // namespace

std::vector<std::string> explain(const Node& plan, bool scans) {
    Printer printer(scans);
    printer.print(plan, 0);
    return std::move(printer.lines);
}

}  // namespace firn::plan
