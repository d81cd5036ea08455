#include "firn/base/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace firn {

int64_t machine_memory() {
    static const int64_t bytes = [] {
        int64_t least = kUnknownMemory;
        const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGE_SIZE);
        if (pages > 0 && size > 0) least = std::min<int64_t>(least, int64_t{pages} * size);
        for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
            int64_t limit = 0;
            if (std::ifstream(file) >> limit && limit > 0) least = std::min(least, limit);
        }
        return least;
    }();
    return bytes;
}

}  // namespace firn
