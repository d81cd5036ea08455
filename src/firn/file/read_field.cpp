#include "firn/file/data_file.h"

namespace firn::file {

ReadField read_whole(const FileField& field) {
    ReadField read;
    read.type = field.type;
    read.source = field.index;
    for (const auto& child : field.children) read.children.push_back(read_whole(child));
    return read;
}

}  // namespace firn::file
