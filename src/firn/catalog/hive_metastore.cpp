#include "firn/catalog/hive_metastore.h"

#include <algorithm>

#include <thrift/TOutput.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TSocket.h>

#include "firn/base/error.h"

namespace firn::catalog {
namespace {

namespace thrift = apache::thrift;
using thrift::protocol::TProtocol;

constexpr int kConnectTimeoutMs = 5'000;

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

HiveMetastore::HiveMetastore(const std::string& host, int port, std::string shown_name,
                             std::chrono::milliseconds timeout)
    : shown_name_(std::move(shown_name)), connection_(std::make_unique<Connection>()) {
    // The library says every failure on standard error, too.
    static const bool quiet = (thrift::GlobalOutput.setOutputFunction([](const char*) {}), true);
    (void)quiet;
    Connection& c = *connection_;
    c.socket = std::make_shared<thrift::transport::TSocket>(host, port);
    const auto timeout_ms = static_cast<int>(timeout.count());
    c.socket->setConnTimeout(std::min(kConnectTimeoutMs, timeout_ms));
    c.socket->setRecvTimeout(timeout_ms);
    c.socket->setSendTimeout(timeout_ms);
    c.transport = std::make_shared<thrift::transport::TBufferedTransport>(c.socket);
    c.protocol = std::make_shared<thrift::protocol::TBinaryProtocol>(c.transport);
    try {
        c.transport->open();
    } catch (const thrift::TException& error) {
        const bool no_host = std::string_view(error.what()).find("resolve host") != std::string_view::npos;
        fail(no_host ? ErrorCode::DNS_ERROR : ErrorCode::NETWORK_ERROR, "{}: cannot connect: {}", shown_name_,
             error.what());
    }
}

HiveMetastore::~HiveMetastore() = default;

/// One call. `read` reads the reply. True with a result; false where the metastore says NoSuchObjectException.
template <typename Write, typename Read>
bool HiveMetastore::call(const char* method, Write&& write_arguments, Read&& read) {
    TProtocol& protocol = *connection_->protocol;
    HiveReply reply;
    try {
        protocol.writeMessageBegin(method, thrift::protocol::T_CALL, ++connection_->sequence);
        protocol.writeStructBegin("args");
        write_arguments(protocol);
        protocol.writeFieldStop();
        protocol.writeStructEnd();
        protocol.writeMessageEnd();
        protocol.getTransport()->writeEnd();
        protocol.getTransport()->flush();
        ThriftReader in([this](uint8_t* to, uint32_t size) { connection_->transport->readAll(to, size); });
        reply = read(in);
    } catch (const thrift::transport::TTransportException& error) {
        broken_ = true;
        const bool late = error.getType() == thrift::transport::TTransportException::TIMED_OUT;
        fail(late ? ErrorCode::SOCKET_TIMEOUT : ErrorCode::NETWORK_ERROR, "{}: {} failed: {}", shown_name_, method,
             error.what());
    } catch (const thrift::TException& error) {
        broken_ = true;
        fail(ErrorCode::DATALAKE_DATABASE_ERROR, "{}: {} failed: {}", shown_name_, method, error.what());
    } catch (const Error& error) {
        broken_ = true;
        fail(ErrorCode::DATALAKE_DATABASE_ERROR, "{}: {} failed: {}", shown_name_, method, error.message());
    }
    if (reply.has_result) return true;
    if (reply.no_such_object) return false;
    fail(ErrorCode::DATALAKE_DATABASE_ERROR, "{} answered {} with an exception: {}", shown_name_, method,
         reply.exception.empty() ? "no result" : reply.exception);
}

std::vector<std::string> HiveMetastore::databases() {
    std::vector<std::string> out;
    call(
        "get_all_databases", [](TProtocol&) {}, [&](ThriftReader& in) { return read_names(in, out); });
    return out;
}

std::vector<std::string> HiveMetastore::tables(const std::string& database) {
    std::vector<std::string> out;
    call(
        "get_all_tables", [&](TProtocol& args) { write_text(args, "db_name", 1, database); },
        [&](ThriftReader& in) { return read_names(in, out); });
    return out;
}

std::vector<HiveTable> HiveMetastore::tables_by_name(const std::string& database, const std::vector<std::string>& names,
                                                     const std::string& catalog) {
    std::vector<HiveTable> out;
    // GetTablesRequest {1 dbName, 2 tblNames, 4 catName}.
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
    call("get_table_objects_by_name_req", write, [&](ThriftReader& in) { return read_tables(in, names.size(), out); });
    return out;
}

std::optional<HiveTable> HiveMetastore::table(const std::string& database, const std::string& name,
                                              const std::string& catalog) {
    HiveTable table;
    // GetTableRequest {1 dbName, 2 tblName, 4 catName}.
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
    const bool found = call("get_table_req", write, [&](ThriftReader& in) { return read_table(in, table); });
    if (!found) return std::nullopt;
    return table;
}

}  // namespace firn::catalog
