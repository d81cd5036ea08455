#include "firn/catalog/hive_replies.h"

#include "firn/base/error.h"

namespace firn::catalog {
namespace {

using Field = ThriftReader::Field;
using Items = ThriftReader::Items;

/// Reads a struct: `take` reads a field and says so, or leaves it to be skipped.
template <typename Take>
void read_struct(ThriftReader& in, Take&& take) {
    for (Field field = in.field(); field.type != ThriftType::Stop; field = in.field())
        if (!take(field)) in.skip(field.type);
}

std::map<std::string, std::string> read_text_map(ThriftReader& in) {
    std::map<std::string, std::string> out;
    const Items items = in.map();
    const bool texts = items.key == ThriftType::String && items.type == ThriftType::String;
    for (uint32_t i = 0; i < items.size; ++i) {
        if (texts) {
            std::string key = in.text();
            out[std::move(key)] = in.text();
        } else {
            in.skip(items.key);
            in.skip(items.type);
        }
    }
    return out;
}

// Field numbers are those of the metastore's interface: Table {1 tableName, 7 sd, 9 parameters}, StorageDescriptor
// {2 location}.
HiveTable read_one_table(ThriftReader& in) {
    HiveTable table;
    read_struct(in, [&](const Field& field) {
        if (field.id == 1 && field.type == ThriftType::String) {
            table.name = in.text();
        } else if (field.id == 9 && field.type == ThriftType::Map) {
            table.parameters = read_text_map(in);
        } else if (field.id == 7 && field.type == ThriftType::Struct) {
            read_struct(in, [&](const Field& inner) {
                if (inner.id != 2 || inner.type != ThriftType::String) return false;
                table.location = in.text();
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
std::string read_exception(ThriftReader& in) {
    std::string message;
    read_struct(in, [&](const Field& field) {
        if (field.type != ThriftType::String || !message.empty()) return false;
        message = in.text();
        return true;
    });
    return message.empty() ? "an exception without a message" : message;
}

/// `result` reads field 0; false where it is not of the type it must be. `no_such_object`: the number of that exception
/// among the method's, 0 where it has none.
template <typename Result>
HiveReply read_reply(ThriftReader& in, int16_t no_such_object, Result&& result) {
    HiveReply reply;
    const ThriftMessage kind = in.message();
    if (kind == ThriftMessage::Exception) {
        reply.exception = read_exception(in);
        return reply;
    }
    if (kind != ThriftMessage::Reply) fail(ErrorCode::INCORRECT_DATA, "the answer is a Thrift message, but no reply");
    read_struct(in, [&](const Field& field) {
        if (field.id == 0) {
            reply.has_result = result(field.type);
            return reply.has_result;
        }
        if (field.type != ThriftType::Struct) return false;
        reply.exception = read_exception(in);
        reply.no_such_object = field.id == no_such_object;
        return true;
    });
    return reply;
}

}  // namespace

HiveReply read_names(ThriftReader& in, std::vector<std::string>& names) {
    return read_reply(in, 0, [&](ThriftType type) {
        if (type != ThriftType::List) return false;
        const Items items = in.list();
        for (uint32_t i = 0; i < items.size; ++i) {
            if (items.type == ThriftType::String)
                names.push_back(in.text());
            else
                in.skip(items.type);
        }
        return true;
    });
}

// GetTablesResult {1 tables}.
HiveReply read_tables(ThriftReader& in, size_t most, std::vector<HiveTable>& tables) {
    return read_reply(in, 0, [&](ThriftType type) {
        if (type != ThriftType::Struct) return false;
        read_struct(in, [&](const Field& field) {
            if (field.id != 1 || field.type != ThriftType::List) return false;
            const Items items = in.list();
            if (items.size > most)
                fail(ErrorCode::INCORRECT_DATA, "the answer has {} tables, {} were asked for", items.size, most);
            for (uint32_t i = 0; i < items.size; ++i) {
                if (items.type == ThriftType::Struct)
                    tables.push_back(read_one_table(in));
                else
                    in.skip(items.type);
            }
            return true;
        });
        return true;
    });
}

// GetTableResult {1 table}; exceptions {1 MetaException, 2 NoSuchObjectException}.
HiveReply read_table(ThriftReader& in, HiveTable& table) {
    return read_reply(in, 2, [&](ThriftType type) {
        if (type != ThriftType::Struct) return false;
        read_struct(in, [&](const Field& field) {
            if (field.id != 1 || field.type != ThriftType::Struct) return false;
            table = read_one_table(in);
            return true;
        });
        return true;
    });
}

}  // namespace firn::catalog
