// Numbers, dates, timestamps and decimals.
#include <algorithm>
#include <type_traits>

#include "firn/base/error.h"
#include "firn/file/orc/column_leaf.h"
#include "firn/types/time_zone.h"

namespace firn::file::orc {
namespace {

constexpr int64_t kOrcEpoch = 1420070400;  // 2015-01-01 00:00:00 UTC

template <typename T>
class IntegerReader final : public LeafReader {
public:
    IntegerReader(StripeReader& stripe, uint32_t column, LeafTarget target)
        : LeafReader(stripe, column, std::move(target)), data_(stripe.integers(column, StreamKind::Data, true)) {}

protected:
    VectorPtr read_leaf(size_t n, size_t there) override {
        auto values = Buffer::allocate(n * sizeof(T));
        T* out = values->mutable_as<T>();
        if constexpr (std::is_same_v<T, int64_t>) {
            data_->read(out, there);
        } else {
            raw_.resize(there);
            data_->read(raw_.data(), there);
            for (size_t i = 0; i < there; ++i) out[i] = static_cast<T>(raw_[i]);
        }
        return finish<T>(std::move(values), n, there);
    }
    void skip_values(size_t there) override { data_->skip(there); }
    void seek_values(Positions& positions) override { data_->seek(positions); }
    size_t positions() const override { return byte_positions() + 1; }

private:
    std::unique_ptr<IntRle> data_;
    TrackedVector<int64_t> raw_;
};

/// Booleans by bits, tinyints by bytes.
template <typename Rle, typename T>
class ByteReader final : public LeafReader {
public:
    ByteReader(StripeReader& stripe, uint32_t column, LeafTarget target)
        : LeafReader(stripe, column, std::move(target)), data_(stripe.stream(column, StreamKind::Data)) {}

protected:
    VectorPtr read_leaf(size_t n, size_t there) override {
        auto values = Buffer::allocate(n);
        data_.read(values->mutable_as<uint8_t>(), there);
        return finish<T>(std::move(values), n, there);
    }
    void skip_values(size_t there) override { data_.skip(there); }
    void seek_values(Positions& positions) override { data_.seek(positions); }
    size_t positions() const override { return byte_positions() + (std::is_same_v<Rle, BooleanRle> ? 2 : 1); }

private:
    Rle data_;
};

template <typename T>
class FloatReader final : public LeafReader {
public:
    FloatReader(StripeReader& stripe, uint32_t column, LeafTarget target)
        : LeafReader(stripe, column, std::move(target)), data_(stripe.stream(column, StreamKind::Data)) {}

protected:
    VectorPtr read_leaf(size_t n, size_t there) override {
        auto values = Buffer::allocate(n * sizeof(T));
        data_->read(values->mutable_data(), there * sizeof(T));
        return finish<T>(std::move(values), n, there);
    }
    void skip_values(size_t there) override { data_->skip(there * sizeof(T)); }
    void seek_values(Positions& positions) override { seek_bytes(*data_, positions); }
    size_t positions() const override { return byte_positions(); }

private:
    std::unique_ptr<ByteStream> data_;
};

/// Seconds from 2015 in the writer's zone, and nanoseconds: into ticks of the wanted scale.
class TimestampReader final : public LeafReader {
public:
    TimestampReader(StripeReader& stripe, uint32_t column, LeafTarget target, int scale)
        : LeafReader(stripe, column, std::move(target)),
          seconds_(stripe.integers(column, StreamKind::Data, true)),
          nanos_(stripe.integers(column, StreamKind::Secondary, false)),
          ticks_(static_cast<int64_t>(power_of_ten(scale))),
          nanos_per_tick_(static_cast<int64_t>(power_of_ten(9 - scale))) {
        const std::string& zone = stripe.writer_timezone();
        // Instants count from the epoch of UTC whatever the writer's zone.
        if (stripe.type(column).kind == Kind::Timestamp && !zone.empty() && zone != "UTC" && zone != "GMT") {
            zone_ = find_zone(zone);
            epoch_ = zone_->from_local(kOrcEpoch);
        }
    }

protected:
    VectorPtr read_leaf(size_t n, size_t there) override {
        raw_seconds_.resize(there);
        raw_nanos_.resize(there);
        seconds_->read(raw_seconds_.data(), there);
        nanos_->read(raw_nanos_.data(), there);
        auto values = Buffer::allocate(n * sizeof(int64_t));
        auto* out = values->mutable_as<int64_t>();
        for (size_t i = 0; i < there; ++i) out[i] = ticks(raw_seconds_[i], raw_nanos_[i]);
        return finish<int64_t>(std::move(values), n, there);
    }
    void skip_values(size_t there) override {
        seconds_->skip(there);
        nanos_->skip(there);
    }
    void seek_values(Positions& positions) override {
        seconds_->seek(positions);
        nanos_->seek(positions);
    }
    size_t positions() const override { return 2 * (byte_positions() + 1); }

private:
    const TimeZone* find_zone(const std::string& zone) const;

    int64_t ticks(int64_t raw_seconds, int64_t raw_nanos) const {
        constexpr int64_t kPowers[] = {1, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
        constexpr int64_t kMost = 999'999'999;
        // Arrow's writer makes them negative before 1970.
        const int64_t digits = raw_nanos >> 3;
        const int64_t power = kPowers[raw_nanos & 7];
        if (digits > kMost / power || digits < -kMost / power)
            fail_column("a timestamp has more than a second of nanoseconds");
        const int64_t nanos = digits * power;
        int64_t seconds;
        if (__builtin_add_overflow(raw_seconds, epoch_, &seconds) || seconds == INT64_MIN)
            fail_column("a timestamp is out of range");
        // Java cuts seconds toward zero but counts nanoseconds upwards; a fraction below a millisecond was floored
        // already.
        if (seconds < 0 && nanos > 999'999) --seconds;
        if (zone_) seconds = zone_->to_local(seconds);
        const int64_t fraction = nanos / nanos_per_tick_ - (nanos % nanos_per_tick_ < 0 ? 1 : 0);
        const Int128 ticks = static_cast<Int128>(seconds) * ticks_ + fraction;
        if (ticks != static_cast<int64_t>(ticks))
            fail(ErrorCode::VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE,
                 "ORC file {}: column {}: a timestamp {} s from 1970 does not fit into {}", stripe_.path(), name_,
                 seconds, target_.read_as->name());
        return static_cast<int64_t>(ticks);
    }

    std::unique_ptr<IntRle> seconds_;
    std::unique_ptr<IntRle> nanos_;
    TrackedVector<int64_t> raw_seconds_, raw_nanos_;
    int64_t ticks_;  // of a second
    int64_t nanos_per_tick_;
    int64_t epoch_ = kOrcEpoch;
    const TimeZone* zone_ = nullptr;
};

const TimeZone* TimestampReader::find_zone(const std::string& zone) const {
    try {
        return &TimeZone::find(zone);
    } catch (const Error&) {
        fail_column("it was written in the time zone '" + zone + "', which is not known");
    }
}

/// Integers of any length with a scale each.
template <typename T>
class DecimalReader final : public LeafReader {
public:
    DecimalReader(StripeReader& stripe, uint32_t column, LeafTarget target, int scale, int precision)
        : LeafReader(stripe, column, std::move(target)), scale_(scale), limit_(power_of_ten(precision)) {
        constexpr uint32_t kMaxShortDigits = 18;
        if (stripe.tail().decimal64 && stripe.type(column).precision <= kMaxShortDigits)
            short_ = std::make_unique<IntRle>(stripe.stream(column, StreamKind::Data), true, true);
        else
            data_ = stripe.stream(column, StreamKind::Data);
        if (data_) scales_ = stripe.integers(column, StreamKind::Secondary, true);
    }

protected:
    VectorPtr read_leaf(size_t n, size_t there) override {
        auto values = Buffer::allocate(n * sizeof(T));
        T* out = values->mutable_as<T>();
        raw_.resize(there);
        (short_ ? short_ : scales_)->read(raw_.data(), there);
        for (size_t i = 0; i < there; ++i) {
            const Int128 value = short_ ? Int128{raw_[i]} : rescale(read_integer(), raw_[i]);
            if (value >= limit_ || value <= -limit_) fail_column("a decimal has too many digits");
            out[i] = static_cast<T>(value);
        }
        return finish<T>(std::move(values), n, there);
    }
    void skip_values(size_t there) override {
        (short_ ? short_ : scales_)->skip(there);
        if (!short_)
            for (size_t i = 0; i < there; ++i)
                while (data_->read_byte() >= 0x80) {
                }
    }
    void seek_values(Positions& positions) override {
        if (short_) return short_->seek(positions);
        seek_bytes(*data_, positions);
        scales_->seek(positions);
    }
    size_t positions() const override { return short_ ? byte_positions() + 1 : 2 * byte_positions() + 1; }

private:
    Int128 read_integer() {
        UInt128 value = 0;
        for (unsigned shift = 0; shift < 128; shift += 7) {
            const uint8_t byte = data_->read_byte();
            value |= static_cast<UInt128>(byte & 0x7F) << shift;
            if (byte < 0x80) return static_cast<Int128>(value >> 1) ^ -static_cast<Int128>(value & 1);
        }
        fail_column("a decimal is longer than 128 bits");
    }

    Int128 rescale(Int128 value, int64_t scale) const {
        constexpr int64_t kMaxScale = 38;
        if (scale == scale_) return value;
        if (scale < 0 || scale > kMaxScale) fail_column("a decimal's scale is not between 0 and 38");
        if (scale > scale_) return value / power_of_ten(static_cast<int>(scale) - scale_);
        Int128 scaled;
        if (__builtin_mul_overflow(value, power_of_ten(scale_ - static_cast<int>(scale)), &scaled))
            fail_column("a decimal has too many digits");
        return scaled;
    }

    std::unique_ptr<ByteStream> data_;
    std::unique_ptr<IntRle> scales_;
    std::unique_ptr<IntRle> short_;  // ORC v2
    TrackedVector<int64_t> raw_;
    int scale_;
    Int128 limit_;
};

template <template <typename> class Reader, typename... Args>
std::unique_ptr<ColumnReader> make_integer(Physical physical, Args&&... args) {
    switch (physical) {
        case Physical::Int8:
            return std::make_unique<Reader<int8_t>>(std::forward<Args>(args)...);
        case Physical::Int16:
            return std::make_unique<Reader<int16_t>>(std::forward<Args>(args)...);
        case Physical::Int32:
            return std::make_unique<Reader<int32_t>>(std::forward<Args>(args)...);
        default:
            return std::make_unique<Reader<int64_t>>(std::forward<Args>(args)...);
    }
}

/// The type in which a column's values are best made: the wanted one where the reader can make it at once.
TypePtr best_type(Kind kind, const TypePtr& natural, const TypePtr& wanted) {
    const TypePtr from = unwrap(natural), to = unwrap(wanted);
    switch (kind) {
        case Kind::Short:
        case Kind::Int:
        case Kind::Long:
            if (is_signed_integer(to->id()) && integer_bits(to->id()) >= integer_bits(from->id()) &&
                integer_bits(to->id()) <= 64)
                return to;
            return from;
        case Kind::Timestamp:
        case Kind::TimestampInstant:
            return to->id() == TypeId::DateTime64 ? to : from;
        case Kind::Decimal:
            return to->id() == TypeId::Decimal && to->precision() <= 38 && to->precision() >= from->precision() &&
                           to->scale() == from->scale()
                       ? to
                       : from;
        case Kind::Binary:
            return to->physical() == Physical::Str || to->id() == TypeId::UUID ? to : from;
        default:
            return from;
    }
}

}  // namespace

VectorPtr LeafReader::read_rows(size_t n, size_t there) {
    VectorPtr values = read_leaf(n, there);
    if (!target_.promoted) return values;
    return promote(values, target_.wanted, stripe_.path() + ": column " + name_);
}

std::unique_ptr<ColumnReader> make_leaf_reader(StripeReader& stripe, const ReadField& wanted, const std::string& name) {
    const FileField& field = stripe.field(wanted.source);
    const auto column = static_cast<uint32_t>(wanted.source) + 1;
    const Kind kind = stripe.type(column).kind;
    const TypePtr made = best_type(kind, field.type, wanted.type);
    LeafTarget target;
    target.name = name;
    target.wanted = wanted.type;
    target.read_as = accepts_null(*wanted.type) ? make_nullable(made) : made;
    target.promoted = !same_type(target.read_as, wanted.type);
    const Physical physical = made->physical();
    switch (kind) {
        case Kind::Boolean:
            return std::make_unique<ByteReader<BooleanRle, uint8_t>>(stripe, column, std::move(target));
        case Kind::Byte:
            return std::make_unique<ByteReader<ByteRle, int8_t>>(stripe, column, std::move(target));
        case Kind::Short:
        case Kind::Int:
        case Kind::Long:
        case Kind::Date:
            return make_integer<IntegerReader>(physical, stripe, column, std::move(target));
        case Kind::Float:
            return std::make_unique<FloatReader<float>>(stripe, column, std::move(target));
        case Kind::Double:
            return std::make_unique<FloatReader<double>>(stripe, column, std::move(target));
        case Kind::Timestamp:
        case Kind::TimestampInstant:
            return std::make_unique<TimestampReader>(stripe, column, std::move(target), made->scale());
        case Kind::Decimal:
            if (physical == Physical::Int128)
                return std::make_unique<DecimalReader<Int128>>(stripe, column, std::move(target), made->scale(),
                                                               made->precision());
            return make_integer<DecimalReader>(physical, stripe, column, std::move(target), made->scale(),
                                               made->precision());
        default:
            return make_string_reader(stripe, column, std::move(target));
    }
}

}  // namespace firn::file::orc
