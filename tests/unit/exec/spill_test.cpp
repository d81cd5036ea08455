// Spill files: what is written comes back, nothing stays behind, and a full disk is an error that says so.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>

#include "firn/exec/spill/batch_bytes.h"
#include "firn/exec/spill/file.h"
#include "tests/unit/error_of.h"
#include "tests/unit/exec/plan_maker.h"

namespace {
int flock_error = 0;  // what flock fails with; 0: it does what the system's does
}

extern "C" int flock(int file, int operation) noexcept {
    if (flock_error == 0) return static_cast<int>(::syscall(SYS_flock, file, operation));
    errno = flock_error;
    return -1;
}

namespace firn::exec {
namespace {

namespace fs = std::filesystem;

/// An empty directory of the test's own.
struct Place {
    const std::string path;
    explicit Place(const std::string& name = "")
        : path((fs::temp_directory_path() / ("firn-spill-test-" + std::to_string(::getpid()) + name)).string()) {
        fs::remove_all(path);
        fs::create_directory(path);
    }
    ~Place() { fs::remove_all(path); }
    size_t entries() const {
        return static_cast<size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
    }
};

/// Columns of every physical kind, with NULLs, in every encoding.
Batch batch_of_everything(size_t rows) {
    const TypePtr text = make_nullable(make_type(TypeId::String)), number = make_nullable(make_type(TypeId::Int32));
    const TypePtr list = make_array(text), map = make_map(make_type(TypeId::String), number);
    const TypePtr pair = make_tuple_type({text, make_type(TypeId::Float64)});
    std::vector<VectorBuilder> builders;
    for (const auto& type : {text, number, list, map, pair, make_type(TypeId::Int256), make_type(TypeId::UInt8)})
        builders.emplace_back(type);
    for (size_t i = 0; i < rows; ++i) {
        const std::string word(i % 40, static_cast<char>('a' + i % 26));
        i % 3 ? builders[0].append_string(word) : builders[0].append_null();
        i % 4 ? builders[1].append(static_cast<int32_t>(i)) : builders[1].append_null();
        for (size_t k = 0; k < i % 3; ++k) {
            k ? builders[2].element().append_null() : builders[2].element().append_string(word);
            builders[3].element().element(0).append_string(word);
            builders[3].element().element(1).append(static_cast<int32_t>(k));
            builders[3].element().end_tuple();
        }
        builders[2].end_array();
        builders[3].end_array();
        builders[4].element(0).append_null();
        builders[4].element(1).append(static_cast<double>(i) / 3);
        builders[4].end_tuple();
        builders[5].append_default();
        builders[6].append(static_cast<uint8_t>(i));
    }
    Batch batch;
    batch.rows = rows;
    for (auto& builder : builders) batch.columns.push_back(builder.finish());
    auto codes = Buffer::allocate(rows * sizeof(uint32_t));
    for (size_t i = 0; i < rows; ++i) codes->mutable_as<uint32_t>()[i] = static_cast<uint32_t>(i % 2);
    batch.columns.push_back(Vector::dictionary(flatten(slice(batch.columns[0], 0, 2)), rows, codes));
    batch.columns.push_back(Vector::dictionary(batch.columns[0], rows, codes));
    batch.columns.push_back(Vector::constant(slice(batch.columns[2], 2, 1), rows));
    batch.columns.push_back(Vector::defaults(make_nullable(make_type(TypeId::Nothing)), rows));
    return batch;
}

std::vector<TypePtr> types_of(const Batch& batch) {
    std::vector<TypePtr> types;
    for (const auto& column : batch.columns) types.push_back(column->type());
    return types;
}

void expect_equal(const Batch& got, const Batch& wanted) {
    ASSERT_EQ(got.rows, wanted.rows);
    ASSERT_EQ(got.columns.size(), wanted.columns.size());
    for (size_t i = 0; i < wanted.columns.size(); ++i) {
        EXPECT_TRUE(same_type(got.columns[i]->type(), wanted.columns[i]->type()));
        for (size_t row = 0; row < wanted.rows; ++row)
            EXPECT_TRUE(equal_values(*got.columns[i], row, *wanted.columns[i], row)) << i << " " << row;
    }
}

TEST(Spill, BatchesComeBack) {
    for (const size_t rows : {1, 3, 100}) {
        const Batch batch = batch_of_everything(std::max<size_t>(rows, 3)).cut(0, rows);
        SpillBytes bytes;
        append_batch(batch, bytes);
        const Batch read = read_batch(bytes, types_of(batch));
        expect_equal(read, batch);
        expect_equal(detached(batch), batch);
        for (const size_t cut : {size_t{0}, size_t{7}, bytes.size() / 2, bytes.size() - 1})
            EXPECT_EQ(failure_of([&] { read_batch(std::string_view(bytes).substr(0, cut), types_of(batch)); }).code,
                      ErrorCode::INCORRECT_DATA);
    }
    const Batch part = batch_of_everything(100).cut(50, 20);  // views into the middle of larger vectors
    expect_equal(detached(part), part);
    EXPECT_EQ(detached(part).columns[7]->encoding(), Encoding::Dictionary);
    EXPECT_EQ(detached(part).columns[8]->encoding(), Encoding::Flat);
    EXPECT_EQ(detached(part).columns[9]->encoding(), Encoding::Constant);
}

/// The bytes of a batch with some of them replaced.
std::string damaged(const Batch& batch, size_t at, std::string_view with) {
    SpillBytes bytes;
    append_batch(batch, bytes);
    std::string out(bytes);
    EXPECT_LE(at + with.size(), out.size());
    return out.replace(at, with.size(), with);
}

TEST(Spill, DamagedBytesAreErrors) {
    const size_t rows = 20, first = sizeof(uint64_t);  // where the first column's form stands
    const std::string far(4, '\xff'), huge(8, '\x7f'), negative(8, '\xff');
    const Batch all = batch_of_everything(rows);
    const auto column = [&](size_t i) { return Batch{{all.columns[i]}, rows}; };
    const auto expect_error = [&](const Batch& batch, const std::string& bytes) {
        EXPECT_EQ(failure_of([&] { read_batch(bytes, types_of(batch)); }).code, ErrorCode::INCORRECT_DATA);
    };
    for (size_t i = 0; i < all.columns.size(); ++i) {
        expect_error(column(i), damaged(column(i), 0, huge));  // rows
        expect_error(column(i), damaged(column(i), first, "\x7f"));
        expect_error(column(i), damaged(column(i), 0, "") + "x");
    }
    const Batch codes = column(7);  // two entries
    SpillBytes bytes;
    append_batch(codes, bytes);
    expect_error(codes, damaged(codes, bytes.size() - sizeof(uint32_t), far));
    expect_error(codes, damaged(codes, bytes.size() - sizeof(uint32_t), std::string("\2\0\0\0", 4)));
    expect_error(codes, damaged(codes, first + 1, huge));          // entries
    expect_error(column(9), damaged(column(9), first + 1, "\3"));  // a constant of a dictionary
    const Batch arrays = column(2);
    for (const size_t offset : {size_t{0}, size_t{5}, rows})
        for (const auto& value : {huge, negative})
            expect_error(arrays, damaged(arrays, first + 1 + offset * sizeof(int64_t), value));
    const Batch texts{{flatten(make_string_value(make_type(TypeId::String), "abc"))}, 1};
    expect_error(texts, damaged(texts, first + 1 + sizeof(uint64_t), far));  // a length
}

TEST(Spill, EveryCodecGivesBytesBack) {
    const Place place;
    const Batch batch = batch_of_everything(500);
    std::map<SpillCodec, int64_t> used;
    for (const auto codec : {SpillCodec::None, SpillCodec::Lz4, SpillCodec::Zstd}) {
        SpillSpace space(place.path, 0, codec);
        QueryContext context;
        const QueryContext::Scope scope(&context);
        {
            SpillFile file(space, types_of(batch), 1);
            file.write(0, batch);
            SpillFile::Reader reader(file, 0);
            Batch read;
            ASSERT_TRUE(reader.next(read));
            expect_equal(read, batch);
        }
        EXPECT_EQ(context.memory()->used(), 0);
        EXPECT_GT(context.memory()->peak(), static_cast<int64_t>(bytes_of_rows(batch)));  // bytes, and rows read back
        used[codec] = static_cast<int64_t>(context.count(ProfileEvent::ExternalProcessingCompressedBytesTotal));
        const std::string text(1000, 'x');
        MutableBufferPtr room;
        const std::string_view stored = compress(codec, text, room);
        std::string out(text.size(), ' ');
        EXPECT_TRUE(decompress(codec, stored, out));
        EXPECT_EQ(out, text);
        out.resize(text.size() - 1);
        EXPECT_FALSE(decompress(codec, stored, out));
        EXPECT_FALSE(decompress(codec, stored.substr(0, stored.size() - 2), out));
    }
    EXPECT_LT(used[SpillCodec::Lz4], used[SpillCodec::None]);
    EXPECT_LT(used[SpillCodec::Zstd], used[SpillCodec::Lz4]);
}

/// The process's open file that has no name and lies in this directory.
std::string nameless_file(const std::string& directory) {
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const std::string target = fs::read_symlink(entry.path(), gone);
        if (target.starts_with(directory + "/") && target.ends_with(" (deleted)")) return entry.path();
    }
    ADD_FAILURE() << "no file in " << directory;
    return "";
}

TEST(Spill, DamagedFilesAreErrors) {
    const Place place;
    const Batch batch = batch_of_everything(100);
    for (const auto codec : {SpillCodec::None, SpillCodec::Lz4, SpillCodec::Zstd}) {
        SpillSpace space(place.path, 0, codec);
        SpillFile file(space, types_of(batch), 1);
        file.write(0, batch);
        const std::string path = nameless_file(space.directory()->path());
        const auto read = [&] {
            return failure_of([&] {
                SpillFile::Reader reader(file, 0);
                Batch out;
                reader.next(out);
            });
        };
        EXPECT_FALSE(read().code);
        {
            std::fstream damaged(path, std::ios::in | std::ios::out | std::ios::binary);
            damaged.seekp(200);
            damaged.put('\x5a');
            damaged.seekp(201);
            damaged.put('\xa5');
        }
        EXPECT_EQ(read().code, ErrorCode::INCORRECT_DATA);
        EXPECT_NE(read().message.find(place.path), std::string::npos);
        ASSERT_EQ(::truncate(path.c_str(), 100), 0);
        EXPECT_EQ(read().code, ErrorCode::CANNOT_READ_ALL_DATA);
    }
}

TEST(Spill, ListsOfAFileComeBack) {
    const Place place;
    {
        SpillSpace space(place.path, 0);
        const Batch batch = batch_of_everything(100);
        SpillFile file(space, types_of(batch), 2);
        EXPECT_EQ(file.add_list(), 2);
        for (size_t i = 0; i < 10; ++i) file.write(i % 2 * 2, batch.cut(i * 10, 10));
        for (const size_t list : {0, 2}) {
            SpillFile::Reader reader(file, list);
            Batch read;
            for (size_t i = list / 2; i < 10; i += 2) {
                ASSERT_TRUE(reader.next(read));
                expect_equal(read, batch.cut(i * 10, 10));
            }
            EXPECT_FALSE(reader.next(read));
            EXPECT_EQ(file.rows(list), 50);
        }
        EXPECT_EQ(file.rows(1), 0);
        EXPECT_EQ(place.entries(), 1);
        EXPECT_TRUE(fs::exists(space.directory()->path() + "/lock"));
    }
    EXPECT_EQ(place.entries(), 0);
}

TEST(Spill, LargeBatchesAreCut) {
    const Place place;
    SpillSpace space(place.path, 0);
    const std::string word(3 << 20, 'x');
    const Batch batch{{make_string_vector(make_type(TypeId::String), {word, "", word, word})}, 4};
    SpillFile file(space, types_of(batch), 1);
    file.write(0, batch);
    SpillFile::Reader reader(file, 0);
    std::vector<Batch> parts;
    for (Batch read; reader.next(read);) parts.push_back(read);
    EXPECT_EQ(parts.size(), 4);
    EXPECT_EQ(file.rows(0), 4);
    EXPECT_GT(file.largest_block(0), word.size());
    EXPECT_LT(file.largest_block(0), 2 * word.size());
    EXPECT_EQ(concat(make_type(TypeId::String), std::vector{parts[0].columns[0], parts[1].columns[0]})->size(), 2);
}

TEST(Spill, DirectoriesOfTheDeadAreRemoved) {
    const Place place;
    const std::string dead = place.path + "/firn-spill-1-abcdef", live = place.path + "/firn-spill-2-abcdef",
                      fresh = place.path + "/firn-spill-3-abcdef", old = place.path + "/firn-spill-4-abcdef";
    for (const auto& path : {dead, live, fresh, old}) fs::create_directory(path);
    std::ofstream(dead + "/lock").put(' ');
    std::ofstream(dead + "/leftover").put(' ');
    std::ofstream(live + "/lock").put(' ');
    fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(1));
    const int held = ::open((live + "/lock").c_str(), O_RDWR);
    ASSERT_EQ(::flock(held, LOCK_EX | LOCK_NB), 0);
    {
        const auto directory = SpillDirectory::open(place.path);
        EXPECT_EQ(SpillDirectory::open(place.path + "/"), directory);
        EXPECT_FALSE(fs::exists(dead));
        EXPECT_TRUE(fs::exists(live));
        EXPECT_TRUE(fs::exists(fresh));
        EXPECT_FALSE(fs::exists(old));
    }
    ::close(held);
    EXPECT_EQ(place.entries(), 2);
}

TEST(Spill, ADirectoryThatCannotBeLockedIsAnError) {
    const Place place;
    for (const int error : {EOPNOTSUPP, ENOLCK, EWOULDBLOCK}) {
        flock_error = error;
        const auto failure = failure_of([&] { SpillDirectory::open(place.path); });
        flock_error = 0;
        EXPECT_EQ(failure.code, ErrorCode::CANNOT_OPEN_FILE);
        EXPECT_NE(failure.message.find(place.path), std::string::npos) << failure.message;
        EXPECT_EQ(place.entries(), 0);
    }
    EXPECT_TRUE(fs::exists(SpillDirectory::open(place.path)->path()));
}

/// Of a process that is about to end: 0 when all went well.
int end_with_directories() {
    const Place place, other("-other");
    for (int i = 0; i < 100; ++i) SpillDirectory::open(place.path);  // come and gone, they take nobody's place
    const auto first = SpillDirectory::open(place.path), second = SpillDirectory::open(other.path);
    ::close(first->create_file());
    if (place.entries() != 1 || other.entries() != 1) return 1;
    SpillDirectory::remove_all();
    if (place.entries() != 0 || other.entries() != 0) return 2;
    return failure_of([&] { first->create_file(); }).code == ErrorCode::CANNOT_OPEN_FILE ? 0 : 3;
}

TEST(Spill, AllDirectoriesGoWithTheProcess) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(::_exit(end_with_directories()), testing::ExitedWithCode(0), "");
}

TEST(Spill, NoPlaceIsAnError) {
    SpillSpace space("/nonexistent/place", 0);
    const auto failure = failure_of([&] { SpillFile(space, {}, 1); });
    EXPECT_EQ(failure.code, ErrorCode::CANNOT_OPEN_FILE);
    EXPECT_NE(failure.message.find("/nonexistent/place"), std::string::npos) << failure.message;
}

TEST(Spill, FullDiskIsAnError) {
    const Place place;
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{}, small{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000;
    const Batch batch = batch_of_everything(1000);
    {
        SpillSpace space(place.path, 0);
        SpillFile file(space, types_of(batch), 1);
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
        const auto failure = failure_of([&] { file.write(0, batch); });
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
        EXPECT_EQ(failure.code, ErrorCode::NOT_ENOUGH_SPACE);
        EXPECT_NE(failure.message.find(place.path), std::string::npos) << failure.message;
    }
    EXPECT_EQ(place.entries(), 0);
}

TEST(Spill, SpaceIsLimited) {
    const Place place;
    const Batch batch = batch_of_everything(1000);
    SpillSpace space(place.path, 100000);
    for (int i = 0; i < 100; ++i) SpillFile(space, types_of(batch), 1).write(0, batch);  // each gives its space back
    SpillFile file(space, types_of(batch), 1);
    const auto failure = failure_of([&] {
        for (int i = 0; i < 100; ++i) file.write(0, batch);
    });
    EXPECT_EQ(failure.code, ErrorCode::TOO_MANY_ROWS_OR_BYTES);
}

TEST(Spill, SortIsTheSame) {
    auto node = test::over<plan::SortNode>(test::scan(test::mixed_source(6000, 7, 1300, 500)));
    node->keys = {{test::column(*node, 2), true, false, ""},
                  {test::column(*node, 3), false, true, ""},
                  {test::column(*node, 0), false, false, ""}};
    const auto wanted = test::run(*node);
    for (const auto& options : test::all_options()) {
        {
            if (options.batch_rows > 3) {
                EXPECT_EQ(test::run(*node, options), wanted);
            }
        }
    }
    const Place place;
    QueryContext context(4 << 20);
    {
        const QueryContext::Scope scope(&context);
        const auto held = Buffer::allocate(1 << 16);
        ExecutionOptions options;
        options.threads = 2;
        options.spill_sort_bytes = 1 << 16;
        options.temporary_directory = place.path;
        EXPECT_EQ(test::rows_of(collect(*node, options)), wanted);
    }
    EXPECT_GT(context.count(ProfileEvent::ExternalSortWritePart), 1);
    EXPECT_GT(context.count(ProfileEvent::ExternalProcessingCompressedBytesTotal), 0);
    EXPECT_EQ(place.entries(), 0);
}

/// Rows of a number, descending, and a long text.
std::shared_ptr<const test::TestSource> wide_rows(size_t batches, size_t rows, size_t text_bytes) {
    std::vector<Batch> all;
    int64_t next = static_cast<int64_t>(batches * rows);
    for (size_t b = 0; b < batches; ++b) {
        VectorBuilder numbers(test::int64_type()), texts(test::string_type());
        for (size_t i = 0; i < rows; ++i) {
            numbers.append(next--);
            texts.append_string(std::string(text_bytes, static_cast<char>('a' + next % 26)));
        }
        all.push_back({{numbers.finish(), texts.finish()}, rows});
    }
    return std::make_shared<test::TestSource>(
        std::vector<plan::SourceColumn>{{"n", test::int64_type(), false, ""}, {"t", test::string_type(), false, ""}},
        all);
}

TEST(Spill, SortOfWideRowsStaysWithinItsLimit) {
    // 60 MiB of rows, each of which alone is a block.
    auto node = test::over<plan::SortNode>(test::scan(wide_rows(100, 6, 100'000)));
    node->keys = {{test::column(*node, 0), false, false, ""}};
    const Place place;
    QueryContext context(24 << 20);
    const QueryContext::Scope scope(&context);
    const auto held = Buffer::allocate(7 << 20);  // rows of files are not charged before memory runs short
    ExecutionOptions options;
    options.threads = 2;
    options.spill_sort_bytes = 12 << 20;
    options.temporary_directory = place.path;
    int64_t last = 0;
    execute(*node, options, [&](Batch&& batch) {
        for (size_t i = 0; i < batch.rows; ++i) {
            const auto number = flatten(batch.columns[0]);
            EXPECT_EQ(number->values<int64_t>()[i], ++last);
        }
        return true;
    });
    EXPECT_EQ(last, 600);
    EXPECT_GT(context.count(ProfileEvent::ExternalSortWritePart), 1);
}

TEST(Spill, RowsOfOneKeyAreDividedOnce) {
    for (const size_t keys : {1, 2}) {
        plan::JoinNode node;
        for (const size_t rows : {30, 3000})
            node.children.push_back(test::scan(test::mixed_source(rows, keys, 7, 500)));
        node.left_keys = {test::column(*node.children[0], 1)};
        node.right_keys = {test::column(*node.children[1], 1)};
        for (const auto& child : node.children)
            node.output.insert(node.output.end(), child->output.begin(), child->output.end());
        const auto wanted = test::sorted(test::run(node));
        QueryContext context;
        const QueryContext::Scope scope(&context);
        const auto held = Buffer::allocate(1000);
        EXPECT_EQ(test::sorted(test::rows_of(collect(node, test::spilling()))), wanted);
        // A partition a key and side, though none ever fits: no level below the first.
        EXPECT_EQ(context.count(ProfileEvent::ExternalJoinWritePart), 2 * keys);
        EXPECT_EQ(context.count(ProfileEvent::ExternalJoinMerge), keys);
    }
}

TEST(Spill, GroupsAreTheSame) {
    // Where every batch is spilled and divided down to the last level, few rows make many files.
    const std::vector<std::tuple<bool, size_t, size_t>> cases{
        {true, 900, 1}, {true, 900, 50}, {false, 6000, 1}, {false, 6000, 50}, {false, 6000, 1500}};
    for (const auto& [always, rows, groups] : cases) {
        plan::AggregateNode node;
        node.children.push_back(test::scan(test::mixed_source(rows, groups, rows / 5, 500)));
        const plan::Node& input = *node.children[0];
        node.keys = {test::column(input, 1), test::column(input, 2)};
        for (const bool count : {true, false}) {
            plan::AggregateCall call;
            call.function = std::make_shared<test::SumFunction>(count);
            call.arguments = {test::column(input, 3)};
            node.aggregates.push_back(std::move(call));
        }
        node.output = {{"a", node.keys[0]->type}, {"b", node.keys[1]->type}};
        for (const auto& call : node.aggregates) node.output.push_back({"x", call.function->result_type()});
        const auto wanted = test::sorted(test::run(node));
        for (const auto& options : test::all_options()) {
            if (always && options.batch_rows > 3) {
                EXPECT_EQ(test::sorted(test::run(node, options)), wanted);
            }
        }
        if (always) continue;
        const Place place;
        QueryContext context(64 << 20);
        {
            const QueryContext::Scope scope(&context);
            ExecutionOptions options;
            options.threads = 2;
            options.spill_group_by_bytes = 1 << 16;
            options.temporary_directory = place.path;
            EXPECT_EQ(test::sorted(test::rows_of(collect(node, options))), wanted);
        }
        EXPECT_GT(context.count(ProfileEvent::ExternalAggregationWritePart), 0);
        EXPECT_EQ(place.entries(), 0);
    }
}

}  // namespace
}  // namespace firn::exec
