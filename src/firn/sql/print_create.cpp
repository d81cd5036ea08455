// CREATE as text.
#include "firn/sql/printer_impl.h"

namespace firn::sql {

void Printer::comment(const std::optional<std::string>& text, bool own_line) {
    if (!text) return;
    if (own_line) {
        line();
    } else {
        out_ += ' ';
    }
    *this << "COMMENT " << quote_string(*text);
}

void Printer::column(const ColumnDefinition& column) {
    *this << back_quoted(column.name);
    if (column.type) *this << " " << format_type(*column.type);
    if (column.nullable) *this << (*column.nullable ? " NULL" : " NOT NULL");
    using Default = ColumnDefinition::Default;
    switch (column.default_kind) {
        case Default::None:
            break;
        case Default::Default:
            *this << " DEFAULT";
            break;
        case Default::Materialized:
            *this << " MATERIALIZED";
            break;
        case Default::Ephemeral:
            *this << " EPHEMERAL";
            break;
        case Default::Alias:
            *this << " ALIAS";
            break;
    }
    if (column.default_expr) {
        out_ += ' ';
        expr(*column.default_expr);
    }
    comment(column.comment, false);
    if (column.codec) {
        out_ += ' ';
        expr(*column.codec);
    }
    if (column.ttl) {
        *this << " TTL ";
        expr(*column.ttl);
    }
    if (column.primary_key) *this << " PRIMARY KEY";
    if (!column.settings.empty()) {
        *this << " SETTINGS (";
        settings(column.settings);
        out_ += ')';
    }
}

void Printer::column_list(const std::vector<ColumnDefinition>& columns, const CreateTableStatement* table) {
    if (columns.empty() && (!table || (table->constraints.empty() && !table->primary_key))) return;
    line();
    out_ += '(';
    ++indent_;
    bool first = true;
    auto next = [&] {
        if (!first) out_ += ',';
        if (multi_line_ || !first) line();
        first = false;
    };
    for (const ColumnDefinition& definition : columns) {
        next();
        column(definition);
    }
    if (table) {
        for (const auto& [name, check] : table->constraints) {
            next();
            *this << "CONSTRAINT " << quote_identifier(name) << " CHECK ";
            expr(*check);
        }
        if (table->primary_key) {
            next();
            *this << "PRIMARY KEY ";
            expr(*table->primary_key);
        }
    }
    --indent_;
    if (multi_line_) line();
    out_ += ')';
}

void Printer::storage_order(const StorageDefinition& storage) {
    bool directed = false;
    for (const OrderByElement& element : storage.sort_elements) {
        directed = directed || element.descending || element.nulls_first || !element.collation.empty();
    }
    if (!directed) {
        expr(*storage.order_by);
        return;
    }
    out_ += '(';
    for (size_t i = 0; i < storage.sort_elements.size(); ++i) {
        if (i > 0) out_ += ", ";
        order_by_element(storage.sort_elements[i]);
    }
    out_ += ')';
}

void Printer::storage(const StorageDefinition& storage) {
    auto clause = [&](std::string_view word, const ExprPtr& value) {
        if (!value) return;
        line();
        *this << word;
        expr(*value);
    };
    if (storage.engine) {
        line();
        *this << "ENGINE = ";
        if (storage.engine->args.empty() && storage.engine->settings.empty()) {
            *this << quote_identifier(storage.engine->name);
        } else {
            call(*storage.engine);
        }
    }
    clause("PARTITION BY ", storage.partition_by);
    clause("PRIMARY KEY ", storage.primary_key);
    if (storage.order_by) {
        line();
        *this << "ORDER BY ";
        storage_order(storage);
    }
    clause("SAMPLE BY ", storage.sample_by);
    clause("TTL ", storage.ttl);
    if (!storage.settings.empty()) {
        line();
        *this << "SETTINGS ";
        settings(storage.settings);
    }
}

void Printer::create_table(const CreateTableStatement& statement) {
    *this << (statement.attach ? "ATTACH " : statement.replace ? "REPLACE " : "CREATE ");
    if (statement.or_replace) *this << "OR REPLACE ";
    if (statement.temporary) *this << "TEMPORARY ";
    *this << "TABLE " << (statement.if_not_exists ? "IF NOT EXISTS " : "") << table_name(statement.table);
    if (!statement.uuid.empty()) *this << " UUID " << quote_string(statement.uuid);
    cluster(statement.cluster);
    auto source = [&] {
        if (statement.as_table) {
            *this << (statement.clone ? " CLONE AS " : " AS ") << table_name(*statement.as_table);
        } else if (statement.as_function) {
            *this << " AS ";
            call(*statement.as_function);
        }
    };
    // Columns right behind the source would read as a function's arguments.
    const bool no_columns = statement.columns.empty() && statement.constraints.empty() && !statement.primary_key;
    if (no_columns) source();
    column_list(statement.columns, &statement);
    storage(statement.storage);
    comment(statement.comment, true);
    if (!no_columns) source();
    if (statement.as_query) {
        line();
        *this << (statement.empty ? "EMPTY AS " : "AS ");
        query(*statement.as_query);
    }
}

void Printer::create_view(const CreateViewStatement& statement) {
    *this << (statement.attach ? "ATTACH " : "CREATE ");
    if (statement.or_replace) *this << "OR REPLACE ";
    if (statement.temporary) *this << "TEMPORARY ";
    if (statement.materialized) *this << "MATERIALIZED ";
    *this << "VIEW " << (statement.if_not_exists ? "IF NOT EXISTS " : "") << table_name(statement.view);
    if (!statement.uuid.empty()) *this << " UUID " << quote_string(statement.uuid);
    cluster(statement.cluster);
    if (statement.to) *this << " TO " << table_name(*statement.to);
    column_list(statement.columns, nullptr);
    storage(statement.storage);
    if (statement.populate) *this << " POPULATE";
    comment(statement.comment, true);
    line();
    *this << "AS ";
    query(*statement.query);
}

void Printer::create_database(const CreateDatabaseStatement& statement) {
    *this << (statement.attach ? "ATTACH DATABASE " : "CREATE DATABASE ");
    *this << (statement.if_not_exists ? "IF NOT EXISTS " : "") << quote_identifier(statement.database);
    if (!statement.uuid.empty()) *this << " UUID " << quote_string(statement.uuid);
    cluster(statement.cluster);
    storage(statement.storage);
    comment(statement.comment, true);
}

}  // namespace firn::sql
