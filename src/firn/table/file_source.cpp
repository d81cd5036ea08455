// file('path' [, format]): Parquet, ORC and Avro files as tables, their columns by name.
#include <glob.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include <fmt/format.h>
#include <re2/re2.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/base/thread_pool.h"
#include "firn/exec/filter.h"
#include "firn/file/data_file.h"
#include "firn/iceberg/path_resolver.h"
#include "firn/table/format_names.h"
#include "firn/table/table_functions.h"
#include "firn/table/table_location.h"
#include "firn/vector/builder.h"

namespace firn::table {
namespace {

constexpr size_t kBatchRows = 16384;
constexpr int64_t kMicrosPerSecond = 1'000'000;

struct InputFile {
    storage::ObjectInfo info;
    std::shared_ptr<const file::DataFile> file;
};

enum class FileColumn : uint8_t { Path, Name, Size, Time };

struct Unit {
    size_t file;
    size_t unit;
};

class FileScan : public plan::Scan {
public:
    FileScan(const std::vector<InputFile>& files, const std::vector<plan::SourceColumn>& columns,
             plan::ScanRequest request, size_t batch_rows)
        : files_(files), columns_(columns), request_(std::move(request)), batch_rows_(batch_rows) {
        for (size_t i = 0; i < files.size(); ++i) {
            rows_ += files[i].file->rows();
            for (size_t unit = 0; unit < files[i].file->units(); ++unit) units_.push_back({i, unit});
        }
        count_event(ProfileEvent::EngineFileLikeReadFiles, files.size());
    }

    std::unique_ptr<plan::ScanTask> next_task() override {
        if (request_.limit && rows_given_.load(std::memory_order_relaxed) >= *request_.limit) return nullptr;
        const size_t next = next_.fetch_add(1);
        if (next >= units_.size()) return nullptr;
        return std::make_unique<Task>(*this, units_[next]);
    }
    std::optional<uint64_t> row_estimate() const override { return rows_; }
    std::vector<std::string> explain() const override {
        return {fmt::format("Files: {}, row groups: {}, rows: {}", files_.size(), units_.size(), rows_)};
    }

private:
    class Task : public plan::ScanTask {
    public:
        Task(FileScan& scan, Unit unit)
            : scan_(scan),
              input_(scan.files_[unit.file]),
              rows_(input_.file->unit_rows(unit.unit)),
              filter_(scan.request_.filters) {
            std::vector<file::ReadField> reads;
            for (const size_t column : scan.request_.columns) {
                const bool stored = column < input_.file->fields().size();
                index_.push_back(stored ? static_cast<int>(reads.size()) : -1);
                if (stored) reads.push_back(file::read_whole(input_.file->fields()[column]));
            }
            if (!reads.empty()) reader_ = input_.file->read_unit(unit.unit, std::move(reads));
            filtered_.resize(scan.request_.columns.size());
            for (const auto& conjunct : scan.request_.filters) plan::mark_columns(*conjunct, filtered_);
        }

        bool next(Batch& batch) override {
            while (row_ < rows_) {
                check_cancelled();
                begin_ = row_;
                count_ = static_cast<size_t>(std::min<uint64_t>(rows_ - row_, scan_.batch_rows_));
                row_ += count_;
                count_event(ProfileEvent::ScannedRows, count_);
                if (!read(batch)) continue;
                scan_.rows_given_.fetch_add(batch.rows, std::memory_order_relaxed);
                count_event(ProfileEvent::SelectedRows, batch.rows);
                return true;
            }
            return false;
        }

    private:
        bool read(Batch& batch) {
            batch.rows = count_;
            batch.columns.assign(index_.size(), nullptr);
            Selection selection;
            const Selection* selected = nullptr;
            if (!filter_.empty()) {
                for (size_t i = 0; i < index_.size(); ++i)
                    if (filtered_[i]) batch.columns[i] = column(i, nullptr, count_);
                selection = filter_.select(batch);
                if (selection.empty()) return false;
                batch.rows = selection.size();
                if (selection.size() < count_) {
                    selected = &selection;
                    for (auto& column : batch.columns)
                        if (column) column = gather(column, selection);
                }
            }
            for (size_t i = 0; i < index_.size(); ++i)
                if (!batch.columns[i]) batch.columns[i] = column(i, selected, batch.rows);
            return true;
        }

        VectorPtr column(size_t i, const Selection* selection, size_t rows) {
            if (index_[i] >= 0) return reader_->read(static_cast<size_t>(index_[i]), begin_, count_, selection);
            const size_t column = scan_.request_.columns[i];
            const TypePtr& type = scan_.columns_[column].type;
            switch (static_cast<FileColumn>(column - input_.file->fields().size())) {
                case FileColumn::Path:
                    return Vector::constant(make_string_value(type, input_.info.path), rows);
                case FileColumn::Name:
                    return Vector::constant(
                        make_string_value(type, input_.info.path.substr(input_.info.path.rfind('/') + 1)), rows);
                case FileColumn::Size:
                    return Vector::constant(make_value<uint64_t>(type, input_.info.size), rows);
                case FileColumn::Time:
                    return Vector::constant(
                        make_value<uint32_t>(type, static_cast<uint32_t>(input_.info.modified_us / kMicrosPerSecond)),
                        rows);
            }
            fail(ErrorCode::LOGICAL_ERROR, "file() has no column {}", column);
        }

        FileScan& scan_;
        const InputFile& input_;
        uint64_t rows_;
        exec::Filter filter_;
        std::vector<int> index_;
        std::vector<bool> filtered_;
        std::unique_ptr<file::UnitReader> reader_;
        uint64_t row_ = 0, begin_ = 0;
        size_t count_ = 0;
    };

    const std::vector<InputFile>& files_;
    const std::vector<plan::SourceColumn>& columns_;
    plan::ScanRequest request_;
    size_t batch_rows_;
    std::vector<Unit> units_;
    uint64_t rows_ = 0;
    std::atomic<size_t> next_{0};
    std::atomic<uint64_t> rows_given_{0};
};

class FileSource : public plan::Source {
public:
    FileSource(std::vector<InputFile> files, std::string description, size_t batch_rows)
        : files_(std::move(files)), description_(std::move(description)), batch_rows_(batch_rows) {
        for (const auto& field : files_[0].file->fields()) columns_.push_back({field.name, field.type, false, ""});
        const TypePtr text = make_low_cardinality(make_type(TypeId::String));
        columns_.push_back({"_path", text, true, ""});
        columns_.push_back({"_file", text, true, ""});
        columns_.push_back({"_size", make_nullable(make_type(TypeId::UInt64)), true, ""});
        columns_.push_back({"_time", make_nullable(make_type(TypeId::DateTime)), true, ""});
    }
    const std::vector<plan::SourceColumn>& columns() const override { return columns_; }
    std::optional<uint64_t> row_count_estimate() const override {
        uint64_t rows = 0;
        for (const auto& file : files_) rows += file.file->rows();
        return rows;
    }
    std::unique_ptr<plan::Scan> scan(const plan::ScanRequest& request) const override {
        return std::make_unique<FileScan>(files_, columns_, request, batch_rows_);
    }
    std::string description() const override { return description_; }

private:
    std::vector<InputFile> files_;
    std::string description_;
    size_t batch_rows_;
    std::vector<plan::SourceColumn> columns_;
};

std::vector<std::string> matching_paths(const std::string& pattern) {
    if (pattern.find_first_of("*?[{") == std::string::npos) return {pattern};
    glob_t found{};
    std::vector<std::string> paths;
    if (::glob(pattern.c_str(), GLOB_BRACE, nullptr, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
    globfree(&found);
    return paths;
}

std::optional<file::Format> named_format(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (name == "parquet") return file::Format::Parquet;
    if (name == "orc") return file::Format::ORC;
    if (name == "avro") return file::Format::Avro;
    return std::nullopt;
}

file::Format format_of(const std::string& function, const std::string& given, const storage::OpenFile& opened) {
    if (const auto format = named_format(given)) return *format;
    if (!is_format_name(given)) fail(ErrorCode::UNKNOWN_FORMAT, "{}(): unknown format {}", function, given);
    if (given != "auto")
        fail(ErrorCode::NOT_IMPLEMENTED, "{}(): format {} is not there yet; Parquet, ORC and Avro are", function,
             given);
    const std::string& path = opened.info().path;
    if (const auto format = named_format(path.substr(path.rfind('.') + 1))) return *format;
    if (const auto format = file::detect_format(opened)) return *format;
    fail(ErrorCode::NOT_IMPLEMENTED, "{}(): {} is none of Parquet, ORC and Avro, the formats that firn reads", function,
         path);
}

void check_same_columns(const InputFile& first, const InputFile& other) {
    const auto& a = first.file->fields();
    const auto& b = other.file->fields();
    bool same = a.size() == b.size();
    for (size_t i = 0; same && i < a.size(); ++i) same = a[i].name == b[i].name && same_type(a[i].type, b[i].type);
    if (!same)
        fail(ErrorCode::NOT_IMPLEMENTED, "{} and {} have different columns, and are not yet read together",
             first.info.path, other.info.path);
}

}  // namespace

std::shared_ptr<const plan::Source> file_table(const TableCall& call) {
    call.expect_arguments(1, 4);
    const std::string pattern = iceberg::local_path(call.text(0, "a path"));
    if (call.arguments.size() > 2)
        fail(ErrorCode::NOT_IMPLEMENTED, "file() with a structure is not there yet: its columns are those of the file");
    const auto paths = matching_paths(pattern);
    if (paths.empty()) fail(ErrorCode::CANNOT_EXTRACT_TABLE_STRUCTURE, "file(): no file matches {}", pattern);
    std::vector<InputFile> files;
    for (const auto& path : paths) {
        if (!call.catalog->store()->try_stat(path))
            fail(ErrorCode::CANNOT_STAT, "Cannot stat file {}: there is no such file", path);
        auto opened = call.catalog->store()->open(path);
        const std::string given = call.arguments.size() > 1 ? call.text(1, "a format") : "auto";
        const file::Format format = format_of("file", given, *opened);
        InputFile input{opened->info(), file::open_data_file(opened, format)};
        if (!files.empty()) check_same_columns(files[0], input);
        files.push_back(std::move(input));
    }
    const size_t batch_rows = std::clamp<size_t>(call.settings.get_uint("max_block_size"), 1, kBatchRows);
    return std::make_shared<FileSource>(std::move(files), "file('" + pattern + "')", batch_rows);
}

namespace {

constexpr std::string_view kPatternSigns = "*?[{";

/// A path with *, ?, ** and {a,b} as a regular expression of the whole path.
std::string regex_of(std::string_view pattern) {
    std::string out;
    int braces = 0;
    for (size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c == '*' && i + 1 < pattern.size() && pattern[i + 1] == '*') {
            out += ".*";
            ++i;
        } else if (c == '*') {
            out += "[^/]*";
        } else if (c == '?') {
            out += "[^/]";
        } else if (c == '{') {
            out += "(?:";
            ++braces;
        } else if (c == '}' && braces > 0) {
            out += ')';
            --braces;
        } else if (c == ',' && braces > 0) {
            out += '|';
        } else {
            out += RE2::QuoteMeta(std::string(1, c));
        }
    }
    return out;
}

/// The objects that a path or pattern names, in order of path.
std::vector<storage::ObjectInfo> matching_objects(const storage::ObjectStore& store, const std::string& pattern) {
    const size_t begin = pattern.find("://") + 3;
    const size_t sign = pattern.find_first_of(kPatternSigns, begin);
    if (sign == std::string::npos) {
        storage::ObjectInfo one;
        one.path = pattern;
        return {one};
    }
    const RE2 regex(regex_of(pattern));
    if (!regex.ok()) fail(ErrorCode::CANNOT_COMPILE_REGEXP, "The pattern of {} is not understood", pattern);
    auto found = store.list(pattern.substr(0, pattern.rfind('/', sign)), true);
    std::erase_if(found, [&](const storage::ObjectInfo& info) { return !RE2::FullMatch(info.path, regex); });
    return found;
}

}  // namespace

std::shared_ptr<const plan::Source> remote_files(const TableCall& call) {
    constexpr size_t kOpenAtOnce = 32;
    const LocationArguments location = parse_location(call, *storage_of_function(call.name));
    if (location.structure != "auto")
        fail(ErrorCode::NOT_IMPLEMENTED, "{} with a structure is not there yet: its columns are those of the file",
             call.name);
    const auto store = storage::open_storage(location.access);
    const auto objects = matching_objects(*store, location.root);
    if (objects.empty()) fail(ErrorCode::CANNOT_EXTRACT_TABLE_STRUCTURE, "{}: no file matches", location.shown);
    std::vector<InputFile> files(objects.size());
    parallel_for(objects.size(), kOpenAtOnce, [&](size_t i) {
        const bool known = !objects[i].etag.empty() || objects[i].size;
        auto opened = known ? store->open(objects[i].path, objects[i]) : store->open(objects[i].path);
        const file::Format format = format_of(call.name, location.format, *opened);
        files[i].info = opened->info();
        files[i].info.path = store->shown_path(opened->info().path);
        files[i].file = file::open_data_file(std::move(opened), format);
    });
    for (size_t i = 1; i < files.size(); ++i) check_same_columns(files[0], files[i]);
    const size_t batch_rows = std::clamp<size_t>(call.settings.get_uint("max_block_size"), 1, kBatchRows);
    return std::make_shared<FileSource>(std::move(files), location.shown, batch_rows);
}

}  // namespace firn::table
