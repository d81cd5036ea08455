#include "firn/file/parquet/leaf_output.h"

#include <algorithm>

namespace firn::file::pq {

void LeafOutput::close() {
    if (run_) {
        parts_.push_back(Vector::constant(slice(base_, run_code_, 1), run_));
    } else if (codes_) {
        codes_->shrink(part_ * sizeof(uint32_t));
        parts_.push_back(Vector::dictionary(base_, part_, std::move(codes_)));
    } else if (values_) {
        values_->shrink(part_ * type_->value_size());
        parts_.push_back(Vector::flat(type_, part_, std::move(values_), std::move(nulls_), std::move(owners_)));
    }
    base_.reset();
    codes_.reset();
    values_.reset();
    nulls_.reset();
    owners_.clear();
    part_ = run_ = 0;
}

void LeafOutput::add_run(const VectorPtr& base, uint32_t code, size_t n) {
    if (n == 0) return;
    if (part_ == 0 && (run_ == 0 || (base_ == base && run_code_ == code))) {
        if (run_ == 0) close();
        base_ = base;
        run_code_ = code;
        run_ += n;
        size_ += n;
        return;
    }
    std::fill_n(add_codes(base, n), n, code);
}

void LeafOutput::write_run() {
    const size_t n = run_;
    run_ = 0;
    size_ -= n;
    std::fill_n(codes_at(base_, n), n, run_code_);
}

uint32_t* LeafOutput::add_codes(const VectorPtr& base, size_t n) {
    if (base_ != base) close();
    if (run_) write_run();
    return codes_at(base, n);
}

uint32_t* LeafOutput::codes_at(const VectorPtr& base, size_t n) {
    base_ = base;
    if (!codes_) codes_ = Buffer::allocate((capacity_ - size_) * sizeof(uint32_t));
    uint32_t* at = codes_->mutable_as<uint32_t>() + part_;
    part_ += n;
    size_ += n;
    return at;
}

char* LeafOutput::add_values(size_t n) {
    if (base_) close();
    const size_t width = type_->value_size();
    if (!values_) values_ = Buffer::allocate((capacity_ - size_) * width);
    char* at = values_->mutable_data() + part_ * width;
    part_ += n;
    size_ += n;
    return at;
}

uint8_t* LeafOutput::nulls_of_last(size_t n) {
    if (!nulls_) nulls_ = Buffer::allocate_zeroed(capacity_ - (size_ - part_));
    return nulls_->mutable_as<uint8_t>() + part_ - n;
}

void LeafOutput::keep(std::shared_ptr<const void> owner) {
    if (owner && (owners_.empty() || owners_.back() != owner)) owners_.push_back(std::move(owner));
}

void LeafOutput::adopt(VectorPtr rows) {
    close();
    size_ += rows->size();
    parts_.push_back(std::move(rows));
}

VectorPtr LeafOutput::finish() {
    close();
    return concat(type_, parts_);
}

}  // namespace firn::file::pq
