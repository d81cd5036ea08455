// A connection to a Hive metastore: the few calls that reading Iceberg tables needs, of its Thrift service.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/catalog/hive_replies.h"

namespace firn::catalog {

/// Not thread-safe. Errors: DNS_ERROR, NETWORK_ERROR (cannot connect, cut), SOCKET_TIMEOUT, DATALAKE_DATABASE_ERROR (what the metastore
/// says, or bytes that are no answer).
class HiveMetastore {
public:
    /// Connects. timeout: no byte for so long ends a call.
    HiveMetastore(const std::string& host, int port, std::string shown_name, std::chrono::milliseconds timeout);
    ~HiveMetastore();

    std::vector<std::string> databases();
    std::vector<std::string> tables(const std::string& database);
    /// Those of `names` that there are.
    std::vector<HiveTable> tables_by_name(const std::string& database, const std::vector<std::string>& names,
                                          const std::string& catalog);
    /// Nothing where there is none of that name.
    std::optional<HiveTable> table(const std::string& database, const std::string& name, const std::string& catalog);
    /// Whether the connection broke: it cannot be used again.
    bool broken() const { return broken_; }

private:
    struct Connection;
    template <typename Write, typename Read>
    bool call(const char* method, Write&& write_arguments, Read&& read);

    std::string shown_name_;
    bool broken_ = false;
    std::unique_ptr<Connection> connection_;
};

}  // namespace firn::catalog
