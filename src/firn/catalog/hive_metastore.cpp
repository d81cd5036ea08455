#include "firn/catalog/hive_metastore.h"

#include <thrift/TApplicationException.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TSocket.h>

#include "firn/base/error.h"

namespace firn::catalog {
namespace {

namespace thrift = apache::thrift;
using thrift::protocol::TProtocol;
using thrift::protocol::TType;

constexpr int kConnectTimeoutMs = 5'000;
constexpr int kReplyTimeoutMs = 60'000;
constexpr int kMaxTextBytes = 64 << 20;
constexpr int kMaxItems = 10'000'000;

/// Reads a struct: `field` reads one and says so, or leaves it to be skipped.
template <typename Field>
void read_struct(TProtocol& in, Field&& field) {
    std::string name;
    TType type;
    int16_t id = 0;
    in.readStructBegin(name);
    for (;;) {
        in.readFieldBegin(name, type, id);
        if (type == thrift::protocol::T_STOP) break;
        if (!field(id, type)) in.skip(type);
        in.readFieldEnd();
    }
    in.readStructEnd();
}

std::vector<std::string> read_text_list(TProtocol& in) {
    std::vector<std::string> out;
    TType type;
    uint32_t size = 0;
    in.readListBegin(type, size);
    for (uint32_t i = 0; i < size; ++i) {
        if (type == thrift::protocol::T_STRING)
            in.readString(out.emplace_back());
        else
            in.skip(type);
    }
    in.readListEnd();
    return out;
}

std::map<std::string, std::string> read_text_map(TProtocol& in) {
    std::map<std::string, std::string> out;
    TType key_type, value_type;
    uint32_t size = 0;
    in.readMapBegin(key_type, value_type, size);
    for (uint32_t i = 0; i < size; ++i) {
        if (key_type != thrift::protocol::T_STRING || value_type != thrift::protocol::T_STRING) {
            in.skip(key_type);
            in.skip(value_type);
            continue;
        }
        std::string key, value;
        in.readString(key);
        in.readString(value);
        out[std::move(key)] = std::move(value);
    }
    in.readMapEnd();
    return out;
}

// Field numbers are those of the metastore's interface: Table {1 tableName, 7 sd, 9 parameters}, StorageDescriptor
// {2 location}.
HiveTable read_table(TProtocol& in) {
    HiveTable table;
    read_struct(in, [&](int16_t id, TType type) {
        if (id == 1 && type == thrift::protocol::T_STRING) {
            in.readString(table.name);
        } else if (id == 9 && type == thrift::protocol::T_MAP) {
            table.parameters = read_text_map(in);
        } else if (id == 7 && type == thrift::protocol::T_STRUCT) {
            read_struct(in, [&](int16_t inner, TType inner_type) {
                if (inner != 2 || inner_type != thrift::protocol::T_STRING) return false;
                in.readString(table.location);
                return true;
            });
        } else {
            return false;
        }
        return true;
    });
    return table;
}

/// An exception's message, the first text in it.
std::string read_exception(TProtocol& in) {
    std::string message;
    read_struct(in, [&](int16_t, TType type) {
        if (type != thrift::protocol::T_STRING || !message.empty()) return false;
        in.readString(message);
        return true;
    });
    return message;
}

void write_text(TProtocol& out, const char* name, int16_t id, const std::string& text) {
    out.writeFieldBegin(name, thrift::protocol::T_STRING, id);
    out.writeString(text);
    out.writeFieldEnd();
}

/// ClientCapabilities, field 3 of both requests: a metastore hides no kind of table from this client, which looks at names
/// and parameters only. 1 is the capability that metastores under test ask for, 2 insert-only tables.
void write_capabilities(TProtocol& out) {
    out.writeFieldBegin("capabilities", thrift::protocol::T_STRUCT, 3);
    out.writeStructBegin("ClientCapabilities");
    out.writeFieldBegin("values", thrift::protocol::T_LIST, 1);
    out.writeListBegin(thrift::protocol::T_I32, 2);
    out.writeI32(1);
    out.writeI32(2);
    out.writeListEnd();
    out.writeFieldEnd();
    out.writeFieldStop();
    out.writeStructEnd();
    out.writeFieldEnd();
}

}  // namespace

struct HiveMetastore::Connection {
    std::shared_ptr<thrift::transport::TSocket> socket;
    std::shared_ptr<thrift::transport::TBufferedTransport> transport;
    std::shared_ptr<thrift::protocol::TBinaryProtocol> protocol;
    int32_t sequence = 0;
};

HiveMetastore::HiveMetastore(const std::string& host, int port, std::string shown_name)
    : shown_name_(std::move(shown_name)), connection_(std::make_unique<Connection>()) {
    Connection& c = *connection_;
    c.socket = std::make_shared<thrift::transport::TSocket>(host, port);
    c.socket->setConnTimeout(kConnectTimeoutMs);
    c.socket->setRecvTimeout(kReplyTimeoutMs);
    c.socket->setSendTimeout(kReplyTimeoutMs);
    c.transport = std::make_shared<thrift::transport::TBufferedTransport>(c.socket);
    c.protocol = std::make_shared<thrift::protocol::TBinaryProtocol>(c.transport);
    c.protocol->setStringSizeLimit(kMaxTextBytes);
    c.protocol->setContainerSizeLimit(kMaxItems);
    try {
        c.transport->open();
    } catch (const thrift::TException& error) {
        fail(ErrorCode::NETWORK_ERROR, "{}: cannot connect: {}", shown_name_, error.what());
    }
}

HiveMetastore::~HiveMetastore() = default;

/// One call. `read_result` reads field 0. True with a result; false where the metastore says NoSuchObjectException. The first
/// exception field of a method is its number 1.
template <typename Write, typename Read>
bool HiveMetastore::call(const char* method, Write&& write_arguments, Read&& read_result) {
    TProtocol& protocol = *connection_->protocol;
    bool has_result = false, no_such_object = false;
    std::string exception;
    try {
        protocol.writeMessageBegin(method, thrift::protocol::T_CALL, ++connection_->sequence);
        protocol.writeStructBegin("args");
        write_arguments(protocol);
        protocol.writeFieldStop();
        protocol.writeStructEnd();
        protocol.writeMessageEnd();
        protocol.getTransport()->writeEnd();
        protocol.getTransport()->flush();
        std::string name;
        thrift::protocol::TMessageType kind;
        int32_t sequence = 0;
        protocol.readMessageBegin(name, kind, sequence);
        if (kind == thrift::protocol::T_EXCEPTION) {
            thrift::TApplicationException error;
            error.read(&protocol);
            protocol.readMessageEnd();
            protocol.getTransport()->readEnd();
            fail(ErrorCode::ICEBERG_CATALOG_ERROR, "{} answered {} with an error: {}", shown_name_, method,
                 error.what());
        }
        read_struct(protocol, [&](int16_t id, TType type) {
            if (id == 0) {
                has_result = read_result(protocol, type);
                return has_result;
            }
            if (type != thrift::protocol::T_STRUCT) return false;
            exception = read_exception(protocol);
            // get_table and its kin: 1 MetaException, 2 NoSuchObjectException.
            no_such_object = id == 2;
            if (exception.empty()) exception = "an exception without a message";
            return true;
        });
        protocol.readMessageEnd();
        protocol.getTransport()->readEnd();
    } catch (const thrift::transport::TTransportException& error) {
        broken_ = true;
        const bool late = error.getType() == thrift::transport::TTransportException::TIMED_OUT;
        fail(late ? ErrorCode::SOCKET_TIMEOUT : ErrorCode::NETWORK_ERROR, "{}: {} failed: {}", shown_name_, method,
             error.what());
    } catch (const thrift::TException& error) {
        broken_ = true;
        fail(ErrorCode::ICEBERG_CATALOG_ERROR, "{}: the answer to {} makes no sense: {}", shown_name_, method,
             error.what());
    }
    if (has_result) return true;
    if (no_such_object) return false;
    if (exception.empty()) exception = "no result";
    fail(ErrorCode::ICEBERG_CATALOG_ERROR, "{} answered {} with an exception: {}", shown_name_, method, exception);
}

std::vector<std::string> HiveMetastore::databases() {
    std::vector<std::string> out;
    call(
        "get_all_databases", [](TProtocol&) {},
        [&](TProtocol& in, TType type) {
            if (type != thrift::protocol::T_LIST) return false;
            out = read_text_list(in);
            return true;
        });
    return out;
}

std::vector<std::string> HiveMetastore::tables(const std::string& database) {
    std::vector<std::string> out;
    call(
        "get_all_tables", [&](TProtocol& args) { write_text(args, "db_name", 1, database); },
        [&](TProtocol& in, TType type) {
            if (type != thrift::protocol::T_LIST) return false;
            out = read_text_list(in);
            return true;
        });
    return out;
}

std::vector<HiveTable> HiveMetastore::tables_by_name(const std::string& database, const std::vector<std::string>& names,
                                                     const std::string& catalog) {
    std::vector<HiveTable> out;
    // GetTablesRequest {1 dbName, 2 tblNames, 4 catName}, GetTablesResult {1 tables}.
    const auto write = [&](TProtocol& args) {
        args.writeFieldBegin("req", thrift::protocol::T_STRUCT, 1);
        args.writeStructBegin("GetTablesRequest");
        write_text(args, "dbName", 1, database);
        args.writeFieldBegin("tblNames", thrift::protocol::T_LIST, 2);
        args.writeListBegin(thrift::protocol::T_STRING, static_cast<uint32_t>(names.size()));
        for (const auto& name : names) args.writeString(name);
        args.writeListEnd();
        args.writeFieldEnd();
        write_capabilities(args);
        if (!catalog.empty()) write_text(args, "catName", 4, catalog);
        args.writeFieldStop();
        args.writeStructEnd();
        args.writeFieldEnd();
    };
    call("get_table_objects_by_name_req", write, [&](TProtocol& in, TType type) {
        if (type != thrift::protocol::T_STRUCT) return false;
        read_struct(in, [&](int16_t id, TType field) {
            if (id != 1 || field != thrift::protocol::T_LIST) return false;
            TType item;
            uint32_t size = 0;
            in.readListBegin(item, size);
            for (uint32_t i = 0; i < size; ++i) {
                if (item == thrift::protocol::T_STRUCT)
                    out.push_back(read_table(in));
                else
                    in.skip(item);
            }
            in.readListEnd();
            return true;
        });
        return true;
    });
    return out;
}

std::optional<HiveTable> HiveMetastore::table(const std::string& database, const std::string& name,
                                              const std::string& catalog) {
    HiveTable table;
    // GetTableRequest {1 dbName, 2 tblName, 4 catName}, GetTableResult {1 table}.
    const auto write = [&](TProtocol& args) {
        args.writeFieldBegin("req", thrift::protocol::T_STRUCT, 1);
        args.writeStructBegin("GetTableRequest");
        write_text(args, "dbName", 1, database);
        write_text(args, "tblName", 2, name);
        write_capabilities(args);
        if (!catalog.empty()) write_text(args, "catName", 4, catalog);
        args.writeFieldStop();
        args.writeStructEnd();
        args.writeFieldEnd();
    };
    const bool found = call("get_table_req", write, [&](TProtocol& in, TType type) {
        if (type != thrift::protocol::T_STRUCT) return false;
        read_struct(in, [&](int16_t id, TType field) {
            if (id != 1 || field != thrift::protocol::T_STRUCT) return false;
            table = read_table(in);
            return true;
        });
        return true;
    });
    if (!found) return std::nullopt;
    return table;
}

}  // namespace firn::catalog
