// ALTER TABLE as text.
#include "firn/sql/printer_impl.h"

namespace firn::sql {

void Printer::assignments(const std::vector<std::pair<std::string, ExprPtr>>& list) {
    for (size_t i = 0; i < list.size(); ++i) {
        if (i > 0) out_ += ", ";
        *this << dotted(list[i].first) << " = ";
        expr(*list[i].second);
    }
}

void Printer::alter(const AlterStatement& statement) {
    *this << "ALTER TABLE " << table_name(statement.table);
    cluster(statement.cluster);
    ++indent_;
    for (size_t i = 0; i < statement.commands.size(); ++i) {
        if (i > 0) out_ += ',';
        line();
        out_ += '(';
        alter_command(statement.commands[i]);
        out_ += ')';
    }
    --indent_;
}

void Printer::alter_column(const AlterCommand& command) {
    const bool add = command.kind == AlterCommand::Kind::AddColumn;
    *this << (add ? "ADD COLUMN " : "MODIFY COLUMN ");
    if (command.if_not_exists) *this << "IF NOT EXISTS ";
    if (command.if_exists) *this << "IF EXISTS ";
    if (!command.remove.empty()) {
        *this << dotted(command.column) << " REMOVE " << command.remove;
        return;
    }
    if (command.column_parts.size() > 1) {
        // A nested field keeps its dots outside of the quotes.
        std::string quoted = back_quoted(command.definition.name);
        const size_t begin = out_.size();
        column(command.definition);
        out_.replace(begin, quoted.size(), dotted(command.column));
    } else {
        column(command.definition);
    }
    if (command.first) *this << " FIRST";
    if (!command.after.empty()) *this << " AFTER " << dotted(command.after);
}

void Printer::alter_command(const AlterCommand& command) {
    using Kind = AlterCommand::Kind;
    const std::string_view exists = command.if_exists ? "IF EXISTS " : "";
    auto partition = [&](std::string_view words) {
        if (!command.expr) return;
        *this << words;
        operand(*command.expr);
    };
    switch (command.kind) {
        case Kind::AddColumn:
        case Kind::ModifyColumn:
            alter_column(command);
            break;
        case Kind::DropColumn:
        case Kind::ClearColumn:
            *this << (command.kind == Kind::DropColumn ? "DROP COLUMN " : "CLEAR COLUMN ") << exists
                  << dotted(command.column);
            partition(" IN PARTITION ");
            break;
        case Kind::RenameColumn:
            *this << "RENAME COLUMN " << exists << dotted(command.column) << " TO " << dotted(command.new_name);
            break;
        case Kind::CommentColumn:
            *this << "COMMENT COLUMN " << exists << dotted(command.column) << " " << quote_string(*command.comment);
            break;
        case Kind::ModifyComment:
            *this << "MODIFY COMMENT " << quote_string(*command.comment);
            break;
        case Kind::ModifyOrderBy: {
            *this << "MODIFY ORDER BY ";
            StorageDefinition storage;
            storage.order_by = command.expr;
            storage.sort_elements = command.sort_elements;
            storage_order(storage);
            break;
        }
        case Kind::ModifySetting:
        case Kind::ResetSetting:
            *this << (command.kind == Kind::ModifySetting ? "MODIFY SETTING " : "RESET SETTING ");
            settings(command.settings);
            break;
        case Kind::DropPartition:
            partition("DROP PARTITION ");
            break;
        case Kind::Delete:
            *this << "DELETE";
            partition(" IN PARTITION ");
            *this << " WHERE ";
            expr(*command.where);
            break;
        case Kind::Update:
            *this << "UPDATE ";
            assignments(command.assignments);
            partition(" IN PARTITION ");
            *this << " WHERE ";
            expr(*command.where);
            break;
        case Kind::Execute:
            *this << "EXECUTE ";
            call(*command.execute);
            break;
        case Kind::ModifyQuery:
            *this << "MODIFY QUERY ";
            query(*command.query);
            break;
        case Kind::Other:
            *this << command.text;
            break;
    }
}

}  // namespace firn::sql
