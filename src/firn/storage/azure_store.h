// Azure Blob Storage and ADLS Gen2 through the Blob API.
//
// Paths are "abfss://container@account.dfs.core.windows.net/path" (abfs, wasb and wasbs are made so by canonical paths),
// or "az://container/path" of the store's own account. Errors: FILE_DOESNT_EXIST, AZURE_BLOB_STORAGE_ERROR,
// S3_OBJECT_CHANGED_DURING_READ (the one code there is for a replaced object), AUTHENTICATION_FAILED.
#pragma once

#include <functional>
#include <mutex>

#include "firn/storage/remote_store.h"

namespace firn::storage {

struct AzureToken {
    std::string bearer;
    std::string sas;        ///< instead of a bearer token: a query without the question mark
    int64_t expires_s = 0;  ///< Unix seconds; 0: never
};

struct AzureOptions {
    /// "https://account.blob.core.windows.net", or an emulator's with the account as path; empty: made of the account's name.
    std::string account_url;
    std::string account_name;
    std::string account_key;  ///< base64; empty: none
    std::string sas_token;    ///< query without the question mark; empty: none
    /// A token of Entra ID, or a SAS that a catalog lends, asked for when neither key nor SAS is given; null: requests go as they are.
    std::function<AzureToken()> token;
    bool token_is_sas = false;  ///< of the account alone, as a SAS is
    HttpOptions http;
    uint64_t block_bytes = uint64_t{16} << 20;
};

/// Fills the options from "DefaultEndpointsProtocol=…;AccountName=…;AccountKey=…;BlobEndpoint=…;SharedAccessSignature=…".
/// BAD_ARGUMENTS where it names no account; the message shows no value.
void apply_connection_string(std::string_view text, AzureOptions& options);

/// AZURE_CLIENT_SECRET or AZURE_FEDERATED_TOKEN_FILE with AZURE_TENANT_ID and AZURE_CLIENT_ID; the managed identity of
/// IDENTITY_ENDPOINT or of the machine. One for the process.
std::function<AzureToken()> azure_environment_token();

struct AzureBlob {
    std::string container;
    std::string account;  ///< empty: the store's own
    std::string blob;
};
AzureBlob split_azure_path(std::string_view path);

class AzureStore final : public RemoteStore {
public:
    explicit AzureStore(AzureOptions options, std::string identity = {});

    std::optional<ObjectInfo> try_stat(std::string_view path) const override;
    std::vector<ObjectInfo> list(std::string_view prefix, bool recursive) const override;
    void put(std::string_view path, std::span<const uint8_t> bytes) override;
    bool put_if_absent(std::string_view path, std::span<const uint8_t> bytes) override;
    bool remove(std::string_view path) override;
    void remove_all(std::span<const std::string> paths) override;
    std::string shown_path(std::string_view path) const override;

    HttpRequest read_request(std::string_view path, std::optional<ByteRange> range,
                             std::string_view etag) const override;
    [[noreturn]] void fail_reply(const HttpReply& reply, std::string_view path, std::string_view doing) const override;
    void count_read(uint64_t bytes, uint64_t microseconds) const override;
    ErrorCode error_code() const override { return ErrorCode::AZURE_BLOB_STORAGE_ERROR; }
    std::string service() const override { return "azure " + options_.account_url; }

private:
    HttpRequest request(std::string method, std::string_view path, std::string query = {},
                        bool of_container = false) const;
    std::string account_url(const std::string& account) const;
    void authorize(HttpRequest& request) const;
    bool upload(std::string_view path, std::span<const uint8_t> bytes, bool only_if_absent);
    void upload_blocks(std::string_view path, std::span<const uint8_t> bytes, std::string& list);

    AzureOptions options_;
    std::string key_;  ///< decoded
    mutable std::mutex mutex_;
    mutable AzureToken token_;
    mutable int64_t renew_at_s_ = 0;
};

/// Puts x-ms-date and Authorization: SharedKey into the request's headers, all others being there.
void sign_azure_shared_key(HttpRequest& request, std::string_view account, std::string_view key, int64_t unix_seconds);

}  // namespace firn::storage
