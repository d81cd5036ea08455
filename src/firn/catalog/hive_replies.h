// What a Hive metastore answers. The bytes are not trusted.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "firn/catalog/thrift_reader.h"

namespace firn::catalog {

struct HiveTable {
    std::string name;
    std::string location;  ///< of its storage descriptor
    std::map<std::string, std::string> parameters;
};

struct HiveReply {
    bool has_result = false;
    bool no_such_object = false;  ///< get_table_req: there is no such table
    std::string exception;        ///< its message, where there is one
};

/// Of get_all_databases and get_all_tables. Errors of each: INCORRECT_DATA, those of the reader.
HiveReply read_names(ThriftReader& in, std::vector<std::string>& names);
/// Of get_table_objects_by_name_req; more than `most` tables are an error.
HiveReply read_tables(ThriftReader& in, size_t most, std::vector<HiveTable>& tables);
/// Of get_table_req.
HiveReply read_table(ThriftReader& in, HiveTable& table);

}  // namespace firn::catalog
