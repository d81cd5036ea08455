// Hashes of rows: cityHash64, sipHash64, xxHash64, murmurHash3_32 …, of any arguments; MD5, SHA256, CRC32 of strings.
#include <type_traits>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zlib.h>

#include "firn/functions/declare.h"
#include "firn/functions/hashes/hash_values.h"
#include "firn/functions/registration.h"
#include "firn/functions/strings/text_loops.h"

namespace firn::functions {

namespace {

/// H: uint32_t, uint64_t or UInt128.
template <typename H>
struct HashKind {
    H (*bytes)(const char* data, size_t size);
    H (*combine)(H a, H b);
    bool by_value;  // integers and floats of up to 64 bits by their value, not by their bytes
};

template <typename H, H (*kBytes)(const char*, size_t)>
H combine_bytes(H a, H b) {
    char both[2 * sizeof(H)];
    std::memcpy(both, &a, sizeof(H));
    std::memcpy(both + sizeof(H), &b, sizeof(H));
    return kBytes(both, sizeof(both));
}

/// Hash values of rows, with more columns mixed in one after another.
template <typename H>
class RowHashes {
public:
    RowHashes(HashKind<H> kind, size_t rows) : kind_(kind), hashes_(rows) {}

    void add(const Vector& flat) {
        const TypePtr& type = flat.type();
        if (type->physical() == Physical::Str) {
            for (size_t i = 0; i < hashes_.size(); ++i)
                put(i, kind_.bytes(flat.values<StringRef>()[i].data, flat.values<StringRef>()[i].size));
        } else if (type->physical() == Physical::Array) {
            add_array(flat);
            return;
        } else if (type->physical() == Physical::Tuple) {
            for (const auto& child : flat.children()) add(*flatten(child));
            return;
        } else {
            add_fixed(flat);
        }
        first_ = false;
    }
    /// The hash of no columns at all, where none was added.
    const TrackedVector<H>& finish() {
        if (first_)
            for (auto& hash : hashes_) hash = static_cast<H>(0xe28dbde7fe22e41c);
        return hashes_;
    }

private:
    void put(size_t row, H hash) { hashes_[row] = first_ ? hash : kind_.combine(hashes_[row], hash); }
    static H whole(uint64_t value) {
        if constexpr (sizeof(H) == 4)
            return int_hash_32(value);
        else
            return int_hash_64(value);
    }

    void add_fixed(const Vector& flat) {
        const TypeId id = flat.type()->id();
        const bool by_value = kind_.by_value && id != TypeId::Decimal && id != TypeId::DateTime64;
        dispatch_fixed(flat.type()->physical(), [&]<typename T>() {
            const T* values = flat.values<T>();
            for (size_t i = 0; i < hashes_.size(); ++i) {
                char bytes[sizeof(T)];
                std::memcpy(bytes, values + i, sizeof(T));
                if constexpr (sizeof(T) == 16) {  // a UUID lies in memory with its first half first
                    if (id == TypeId::UUID) std::rotate(bytes, bytes + 8, bytes + 16);
                    if (id == TypeId::IPv6) std::reverse(bytes, bytes + 16);
                }
                if constexpr (sizeof(T) <= 8) {
                    if (by_value) {
                        uint64_t value = 0;
                        if constexpr (std::is_floating_point_v<T>)
                            std::memcpy(&value, bytes, sizeof(T));
                        else
                            value = static_cast<std::make_unsigned_t<T>>(values[i]);
                        put(i, whole(value));
                        continue;
                    }
                }
                put(i, kind_.bytes(bytes, sizeof(T)));
            }
        });
    }

    /// The number of elements, then each element's hash.
    void add_array(const Vector& flat) {
        const VectorPtr elements = flatten(flat.child());
        RowHashes<H> inner(kind_, elements->size());
        if (elements->type()->id() != TypeId::Nothing) inner.add(*elements);
        const TrackedVector<H>& of_elements = inner.finish();
        for (size_t i = 0; i < hashes_.size(); ++i)
            put(i, whole(static_cast<uint64_t>(flat.offsets()[i + 1] - flat.offsets()[i])));
        first_ = false;
        for (size_t i = 0; i < hashes_.size(); ++i)
            for (int64_t k = flat.offsets()[i]; k < flat.offsets()[i + 1]; ++k)
                put(i, of_elements[static_cast<size_t>(k)]);
    }

    HashKind<H> kind_;
    TrackedVector<H> hashes_;
    bool first_ = true;
};

template <typename H>
void declare_hash(FunctionRegistry& registry, const char* name, TypePtr type, HashKind<H> kind) {
    declare(registry, {name}, 0, SIZE_MAX, [=](ArgumentList arguments, const FunctionContext&) {
        for (size_t i = 0; i < arguments.size(); ++i)
            if (arguments[i].type->physical() == Physical::None || arguments[i].type->id() == TypeId::Function)
                fail_argument(name, *arguments[i].type, i);
        return Overload{type, [=](const KernelArguments& call) -> VectorPtr {
                            RowHashes<H> rows(kind, call.rows);
                            for (const auto& vector : call.vectors) rows.add(*flatten(vector));
                            const auto& hashes = rows.finish();
                            if constexpr (sizeof(H) == 16) {
                                StringOutput out(call.rows);
                                for (size_t i = 0; i < call.rows; ++i)
                                    out.set(i, {reinterpret_cast<const char*>(&hashes[i]), 16});
                                return out.finish(type);
                            } else {
                                Output<H> out(call.rows);
                                std::copy(hashes.begin(), hashes.end(), out.data());
                                return out.finish(type);
                            }
                        }};
    });
}

void declare_digest(FunctionRegistry& registry, const char* name, size_t bytes,
                    std::string (*digest)(std::string_view)) {
    declare(registry, {name}, 1, 1, [=](ArgumentList arguments, const FunctionContext&) {
        require_string(arguments, 0, name);
        const TypePtr type = make_fixed_string(bytes);
        return Overload{type, [=](const KernelArguments& call) {
                            return map_text(
                                call[0], call.rows, [digest](std::string_view s, std::string& out) { out = digest(s); },
                                type);
                        }};
    });
}

uint64_t xx64(const char* data, size_t size) { return XXH64(data, size, 0); }
uint32_t xx32(const char* data, size_t size) { return XXH32(data, size, 0); }
uint64_t xx3(const char* data, size_t size) { return XXH3_64bits(data, size); }
uint64_t sip64(const char* data, size_t size) { return sip_hash_64(data, size); }
UInt128 sip128(const char* data, size_t size) { return sip_hash_128(data, size); }
uint32_t murmur2_32(const char* data, size_t size) { return murmur_hash2_32(data, size); }
uint64_t murmur2_64(const char* data, size_t size) { return murmur_hash2_64(data, size); }
uint32_t murmur3_32(const char* data, size_t size) { return murmur_hash3_32(data, size); }
UInt128 murmur3_128(const char* data, size_t size) { return murmur_hash3_128(data, size); }
uint64_t murmur3_64(const char* data, size_t size) {
    const UInt128 both = murmur_hash3_128(data, size);
    return static_cast<uint64_t>(both) ^ static_cast<uint64_t>(both >> 64);
}
uint64_t gcc_murmur(const char* data, size_t size) { return murmur_hash2_64(data, size, 0xc70f6907); }
uint64_t half_md5(const char* data, size_t size) {
    const std::string digest = md5({data, size});
    uint64_t front;
    std::memcpy(&front, digest.data(), 8);
    return __builtin_bswap64(front);
}
uint64_t combine_by_integer(uint64_t a, uint64_t b) { return int_hash_64(a) ^ b; }
uint32_t combine_by_integer_32(uint32_t a, uint32_t b) { return int_hash_32(a) ^ b; }

uint32_t crc32_of(std::string_view s, uint32_t start) {
    return static_cast<uint32_t>(::crc32(start, reinterpret_cast<const Bytef*>(s.data()), static_cast<uInt>(s.size())));
}
/// The same polynomial, begun with zero and not inverted at the end.
uint32_t crc32_ieee(std::string_view s, uint32_t start) { return ~crc32_of(s, ~start); }

/// h = h * 31 + each byte.
template <bool kClear>
int32_t java_hash(std::string_view s) {
    uint32_t h = 0;
    for (const char c : s) h = h * 31 + static_cast<uint32_t>(static_cast<int32_t>(static_cast<signed char>(c)));
    return static_cast<int32_t>(kClear ? h & 0x7FFFFFFF : h);
}

template <typename R>
void declare_integer_hash(FunctionRegistry& registry, const char* name, TypeId result, R (*hash)(uint64_t)) {
    declare(registry, {name}, 1, 1, [=](ArgumentList arguments, const FunctionContext&) {
        const TypeId id = arguments[0].type->id();
        if (!(is_integer(id) && integer_bits(id) <= 64) && id != TypeId::Bool &&
            !(is_date_or_time(id) && id != TypeId::DateTime64))
            fail_argument(name, *arguments[0].type, 0);
        const TypePtr type = make_type(result);
        return Overload{type, [=](const KernelArguments& call) {
                            return map_unary<int64_t, R>(as_int64(call[0]), call.rows, type,
                                                         [hash](int64_t x) { return hash(static_cast<uint64_t>(x)); });
                        }};
    });
}

}  // namespace

void register_hash_functions(FunctionRegistry& registry) {
    const TypePtr u64 = make_type(TypeId::UInt64), u32 = make_type(TypeId::UInt32), bytes16 = make_fixed_string(16);
    declare_hash<uint64_t>(registry, "cityHash64", u64, {city_hash, city_combine, true});
    declare_hash<uint64_t>(registry, "sipHash64", u64, {sip64, combine_bytes<uint64_t, sip64>, false});
    declare_hash<UInt128>(registry, "sipHash128", bytes16, {sip128, combine_bytes<UInt128, sip128>, false});
    declare_hash<uint64_t>(registry, "xxHash64", u64, {xx64, city_combine, false});
    declare_hash<uint32_t>(registry, "xxHash32", u32, {xx32, combine_by_integer_32, false});
    declare_hash<uint64_t>(registry, "xxh3", u64, {xx3, city_combine, false});
    declare_hash<uint32_t>(registry, "murmurHash2_32", u32, {murmur2_32, combine_by_integer_32, false});
    declare_hash<uint64_t>(registry, "murmurHash2_64", u64, {murmur2_64, combine_by_integer, false});
    declare_hash<uint64_t>(registry, "gccMurmurHash", u64, {gcc_murmur, combine_by_integer, false});
    declare_hash<uint32_t>(registry, "murmurHash3_32", u32, {murmur3_32, combine_by_integer_32, false});
    declare_hash<uint64_t>(registry, "murmurHash3_64", u64, {murmur3_64, combine_by_integer, false});
    declare_hash<UInt128>(registry, "murmurHash3_128", bytes16,
                          {murmur3_128, combine_bytes<UInt128, murmur3_128>, false});
    declare_hash<uint64_t>(registry, "halfMD5", u64, {half_md5, combine_bytes<uint64_t, half_md5>, false});
    declare_digest(registry, "MD5", 16, md5);
    declare_digest(registry, "SHA1", 20, sha1);
    declare_digest(registry, "SHA224", 28, sha224);
    declare_digest(registry, "SHA256", 32, sha256);
    declare_digest(registry, "SHA384", 48, sha384);
    declare_digest(registry, "SHA512", 64, sha512);
    declare_measure<uint32_t>(registry, {"CRC32", {}, true}, TypeId::UInt32,
                              [](std::string_view s) { return crc32_of(s, 0); });
    declare_measure<uint32_t>(registry, {"CRC32IEEE", {}, true}, TypeId::UInt32,
                              [](std::string_view s) { return crc32_ieee(s, 0); });
    declare_measure<int32_t>(registry, {"javaHash"}, TypeId::Int32, java_hash<false>);
    declare_measure<int32_t>(registry, {"hiveHash"}, TypeId::Int32, java_hash<true>);
    declare_integer_hash<uint32_t>(registry, "intHash32", TypeId::UInt32, int_hash_32);
    declare_integer_hash<uint64_t>(registry, "intHash64", TypeId::UInt64, int_hash_64);
}

}  // namespace firn::functions
