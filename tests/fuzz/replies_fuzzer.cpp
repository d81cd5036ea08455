// What remote services answer: XML documents, URLs, headers' values.
#include <string_view>

#include "firn/storage/azure_store.h"
#include "firn/storage/http.h"
#include "firn/storage/remote_store.h"
#include "firn/storage/s3_location.h"
#include "firn/storage/url.h"
#include "firn/storage/xml.h"
#include "refusing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace firn::storage;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    refusing([&] { parse_xml(text, "reply"); });
    refusing([&] { parse_s3_url(text); });
    refusing([&] { parse_s3_url(text, "virtual_hosted"); });
    refusing([&] { split_azure_path(text); });
    refusing([&] {
        AzureOptions options;
        apply_connection_string(text, options);
    });
    refusing([&] { percent_decode(percent_encode(text)); });
    shown_url(text);
    http_date_us(text);
    iso_date_us(text);
    HttpReply reply;
    reply.headers.set("Retry-After", text);
    retry_after(reply);
    return 0;
}
