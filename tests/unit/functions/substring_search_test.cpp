#include "firn/functions/substring_search.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace firn::functions {
namespace {

/// Texts of two letters, so that needles of them are found often and nearly found oftener, each in an allocation of its
/// own: what reads beyond one is caught by the address sanitizer.
std::vector<std::string> some_texts() {
    std::mt19937 random(5);
    std::vector<std::string> texts;
    for (size_t length = 0; length < 200; ++length)
        for (int copy = 0; copy < 3; ++copy) {
            std::string text;
            for (size_t i = 0; i < length; ++i) text.push_back(random() % 3 ? 'a' : 'b');
            text.shrink_to_fit();
            texts.push_back(std::move(text));
        }
    return texts;
}

TEST(SubstringSearch, FindsWhatStringFindFinds) {
    const auto texts = some_texts();
    std::vector<StringRef> refs;
    for (const auto& text : texts) refs.emplace_back(std::string_view(text));
    for (const std::string needle :
         {"", "a", "ab", "bab", "aabb", "ababa", "aabaab", "abbaabba", "baabaabaa", "aaaaaaaaaaaaaaaaab", "xa", "ax"}) {
        std::vector<uint8_t> fast(refs.size()), portable(refs.size());
        mark_containing(refs.data(), refs.size(), needle, fast.data());
        mark_containing_portable(refs.data(), refs.size(), needle, portable.data());
        for (size_t i = 0; i < texts.size(); ++i) {
            ASSERT_EQ(fast[i], texts[i].find(needle) != std::string::npos) << needle << " in " << texts[i];
            ASSERT_EQ(portable[i], fast[i]) << needle << " in " << texts[i];
            for (const size_t from : {size_t{0}, size_t{1}, size_t{17}, size_t{250}})
                ASSERT_EQ(find_substring(texts[i], needle, from), texts[i].find(needle, from))
                    << needle << " in " << texts[i] << " from " << from;
        }
    }
}

}  // namespace
}  // namespace firn::functions
