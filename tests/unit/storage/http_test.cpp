#include "firn/storage/http.h"

#include <gtest/gtest.h>

#include <array>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/storage/url.h"
#include "firn/storage/xml.h"
#include "tests/unit/storage/scripted_server.h"

namespace firn::storage {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

HttpOptions quick() {
    HttpOptions options;
    options.first_delay = milliseconds(2);
    options.max_delay = milliseconds(10);
    options.attempts = 4;
    return options;
}

HttpRequest get(std::string url) {
    HttpRequest request;
    request.url = std::move(url);
    return request;
}

ErrorCode code_of(const HttpClient& client, HttpRequest request, std::string* message = nullptr) {
    try {
        client.send(std::move(request));
    } catch (const Error& error) {
        if (message) *message = error.message();
        return error.code();
    }
    return ErrorCode{};
}

TEST(Http, GetsAndReusesOneConnection) {
    ScriptedServer server({{http_reply(200, "one", "ETag: \"x\"\r\n")}, {http_reply(404, "gone")}});
    const HttpClient client(quick());
    QueryContext context;
    const QueryContext::Scope scope(&context);
    const HttpReply first = client.send(get(server.url("/a%20b?x=1")));
    EXPECT_EQ(first.status, 200);
    EXPECT_EQ(first.body, "one");
    EXPECT_EQ(first.headers.get("etag"), "\"x\"");
    const HttpReply second = client.send(get(server.url("/c")));
    EXPECT_EQ(second.status, 404);
    EXPECT_EQ(second.body, "gone");
    EXPECT_EQ(server.connections(), 1);
    EXPECT_TRUE(server.requests()[0].starts_with("GET /a%20b?x=1 HTTP/1.1\r\n"));
    EXPECT_EQ(context.count(ProfileEvent::StorageDependentRequests), 2U);
    EXPECT_EQ(context.count(ProfileEvent::StorageConnectionsReused), 1U);
}

TEST(Http, ParallelRequestsCountAsOneRoundTrip) {
    ScriptedServer server({{http_reply(200, "x"), false, milliseconds(50)}});
    const HttpClient client(quick());
    QueryContext context;
    const QueryContext::Scope scope(&context);
    std::vector<std::unique_ptr<HttpExchange>> exchanges;
    const auto begin = Clock::now();
    for (int i = 0; i < 10; ++i) exchanges.push_back(client.start(get(server.url())));
    for (const auto& exchange : exchanges) EXPECT_EQ(exchange->wait().body, "x");
    EXPECT_LT(Clock::now() - begin, milliseconds(400));
    EXPECT_EQ(context.count(ProfileEvent::StorageDependentRequests), 1U);
    EXPECT_EQ(context.count(ProfileEvent::StorageRequests), 10U);
}

TEST(Http, SendsBodies) {
    ScriptedServer server({{http_reply(200, "")}});
    const HttpClient client(quick());
    HttpRequest request = get(server.url());
    request.method = "PUT";
    request.body = "hello";
    request.headers.set("X-One", "1");
    client.send(request);
    request.method = "POST";
    request.body.clear();
    client.send(request);
    const auto seen = server.requests();
    EXPECT_TRUE(seen[0].starts_with("PUT / "));
    EXPECT_TRUE(seen[0].ends_with("\r\n\r\nhello"));
    EXPECT_NE(seen[0].find("X-One: 1\r\n"), std::string::npos);
    EXPECT_EQ(seen[0].find("Expect"), std::string::npos);
    EXPECT_NE(seen[1].find("Content-Length: 0\r\n"), std::string::npos);
}

TEST(Http, TriesAgain) {
    ScriptedServer server({{http_reply(503, "slow down")},
                           {""},
                           {"HTTP/1.1 200 X\r\nContent-Length: 10\r\n\r\nabc", true},
                           {http_reply(200, "abc")}});
    const HttpReply reply = HttpClient(quick()).send(get(server.url()));
    EXPECT_EQ(reply.body, "abc");
    EXPECT_EQ(server.requests().size(), 4U);  // the cut one on a kept connection curl repeats by itself
}

TEST(Http, GivesTheLastReplyWhenTriesAreUsedUp) {
    ScriptedServer server({{http_reply(500, "broken")}});
    const HttpReply reply = HttpClient(quick()).send(get(server.url()));
    EXPECT_EQ(reply.status, 500);
    EXPECT_EQ(reply.attempts, 4U);
    EXPECT_EQ(server.requests().size(), 4U);
}

TEST(Http, HeedsRetryAfter) {
    ScriptedServer server({{http_reply(429, "", "Retry-After: 1\r\n")}, {http_reply(200, "x")}});
    const auto begin = Clock::now();
    EXPECT_EQ(HttpClient(quick()).send(get(server.url())).body, "x");
    EXPECT_GE(Clock::now() - begin, milliseconds(990));
}

TEST(Http, PostIsNotSentTwiceAfterItMayHaveActed) {
    ScriptedServer server({{http_reply(500, "")}});
    HttpRequest request = get(server.url());
    request.method = "POST";
    EXPECT_EQ(HttpClient(quick()).send(request).status, 500);
    EXPECT_EQ(server.requests().size(), 1U);
    ScriptedServer cut({{""}});
    request.url = cut.url();
    EXPECT_EQ(code_of(HttpClient(quick()), request), ErrorCode::NETWORK_ERROR);
    EXPECT_EQ(cut.requests().size(), 1U);
}

TEST(Http, ReadsARangeIntoPlace) {
    ScriptedServer server({{http_reply(206, "abc")},
                           {http_reply(206, "abcd")},
                           {http_reply(206, "abcde")},
                           {http_reply(200, "abcdefgh")}});
    std::array<uint8_t, 4> out{};
    HttpRequest request = get(server.url());
    request.headers.set("Range", "bytes=0-3");
    request.into = out;
    const HttpReply reply = HttpClient(quick()).send(request);  // the short first reply is repeated
    EXPECT_EQ(reply.attempts, 2U);
    EXPECT_EQ(reply.received, 4U);
    EXPECT_EQ(std::string(out.begin(), out.end()), "abcd");
    EXPECT_EQ(code_of(HttpClient(quick()), request), ErrorCode::CANNOT_READ_ALL_DATA);
    EXPECT_EQ(HttpClient(quick()).send(request).status,
              200);  // a server without ranges: nothing lands in the wrong place
}

TEST(Http, LimitsBodies) {
    ScriptedServer server({{http_reply(200, "0123456789")}});
    HttpRequest request = get(server.url());
    request.body_limit = 9;
    EXPECT_EQ(code_of(HttpClient(quick()), request), ErrorCode::LIMIT_EXCEEDED);
    request.body_limit = 10;
    EXPECT_EQ(HttpClient(quick()).send(request).body.size(), 10U);
}

TEST(Http, NobodyListens) {
    std::string url;
    {
        ScriptedServer server({{http_reply(200, "")}});
        url = server.url("/secret?sig=hidden");
    }
    std::string message;
    EXPECT_EQ(code_of(HttpClient(quick()), get(url), &message), ErrorCode::NETWORK_ERROR);
    EXPECT_NE(message.find("http://127.0.0.1:"), std::string::npos) << message;
    EXPECT_EQ(message.find("hidden"), std::string::npos) << message;
}

TEST(Http, TimesOut) {
    ScriptedServer server({{http_reply(200, ""), false, milliseconds(5000)}});
    HttpOptions options = quick();
    options.idle_timeout = milliseconds(100);
    options.attempts = 2;
    const auto begin = Clock::now();
    EXPECT_EQ(code_of(HttpClient(options), get(server.url())), ErrorCode::SOCKET_TIMEOUT);
    EXPECT_LT(Clock::now() - begin, milliseconds(2000));
}

TEST(Http, SilenceIsMeasuredFromTheLastByte) {
    HttpOptions options = quick();
    options.idle_timeout = milliseconds(300);
    options.attempts = 1;
    const std::string reply = http_reply(200, std::string(60, 'x'));
    {  // slower in all than the time-out, never silent for so long
        HttpOptions patient = options;
        patient.idle_timeout = milliseconds(1500);
        ScriptedServer server({{reply, false, milliseconds(200), 10}});
        EXPECT_EQ(HttpClient(patient).send(get(server.url())).body.size(), 60U);
    }
    // Silent after a part of it, or after it took a body of its own.
    HttpRequest post = get("");
    post.method = "POST";
    post.body = std::string(100'000, 'y');
    for (const bool part : {true, false}) {
        ScriptedServer server({{reply, false, milliseconds(5000), part ? reply.size() - 1 : 0}});
        HttpRequest request = part ? get("") : post;
        request.url = server.url();
        const auto begin = Clock::now();
        std::string message;
        EXPECT_EQ(code_of(HttpClient(options), request, &message), ErrorCode::SOCKET_TIMEOUT) << part;
        EXPECT_NE(message.find("not a byte for 300 ms"), std::string::npos) << message;
        EXPECT_LT(Clock::now() - begin, milliseconds(1500)) << part;
        EXPECT_GE(Clock::now() - begin, milliseconds(300)) << part;
    }
}

TEST(Http, StopsWhenTheQueryIsCancelled) {
    ScriptedServer server({{http_reply(200, ""), false, milliseconds(5000)}});
    QueryContext context;
    const QueryContext::Scope scope(&context);
    std::thread canceller([&] {
        std::this_thread::sleep_for(milliseconds(50));
        context.cancel();
    });
    const auto begin = Clock::now();
    EXPECT_EQ(code_of(HttpClient(quick()), get(server.url())), ErrorCode::QUERY_WAS_CANCELLED);
    EXPECT_LT(Clock::now() - begin, milliseconds(300));
    canceller.join();
}

TEST(Http, SignsEachTryAnew) {
    ScriptedServer server({{http_reply(403, "expired")}, {http_reply(200, "x")}});
    HttpRequest request = get(server.url());
    request.before_attempt = [](HttpRequest& r, unsigned attempt) { r.headers.set("X-Try", std::to_string(attempt)); };
    request.retry_reply = [](const HttpReply& r, unsigned attempt) { return r.status == 403 && attempt == 1; };
    EXPECT_EQ(HttpClient(quick()).send(request).body, "x");
    EXPECT_NE(server.requests()[1].find("X-Try: 2"), std::string::npos);
}

TEST(Http, FollowsRedirectsOnlyWhenAsked) {
    ScriptedServer target({{http_reply(200, "there")}});
    ScriptedServer server({{http_reply(307, "", "Location: " + target.url("/t") + "\r\n")}});
    HttpRequest request = get(server.url());
    EXPECT_EQ(HttpClient(quick()).send(request).status, 307);
    request.redirects = 3;
    EXPECT_EQ(HttpClient(quick()).send(request).body, "there");
    ScriptedServer loop({{http_reply(307, "", "Location: /again\r\n")}});
    request.url = loop.url();
    EXPECT_EQ(code_of(HttpClient(quick()), request), ErrorCode::TOO_MANY_REDIRECTS);
}

TEST(Http, HeadersCannotBeSplit) {
    HttpRequest request = get("http://127.0.0.1:1/");
    request.headers.set("X", "a\r\nY: b");
    EXPECT_EQ(code_of(HttpClient(quick()), request), ErrorCode::BAD_ARGUMENTS);
}

TEST(Url, PartsAndSecrets) {
    const Url url = parse_url("HTTPS://user:pw@Host.example:8443/a%20b/c?sig=1#f");
    EXPECT_EQ(url.origin(), "https://host.example:8443");
    EXPECT_EQ(url.path, "/a%20b/c");
    EXPECT_EQ(url.query, "sig=1");
    EXPECT_EQ(shown_url("https://user:pw@host/a?sig=1"), "https://host/a");
    EXPECT_EQ(shown_url("abfss://container@account/a"), "abfss://container@account/a");
    EXPECT_EQ(parse_url("http://[::1]:9000/x").authority(), "[::1]:9000");
    EXPECT_ANY_THROW(parse_url("http://host:99999/"));
    EXPECT_ANY_THROW(parse_url("no url"));
    EXPECT_EQ(percent_encode("a b/ü%", true), "a%20b/%C3%BC%25");
    EXPECT_EQ(percent_decode("a%20b%2"), "a b%2");
}

TEST(Xml, TreeAndLimits) {
    const XmlElement root = parse_xml("<a x='1'><b>t&amp;u</b><s3:c xmlns:s3='n'><d/></s3:c></a>", "test");
    EXPECT_EQ(root.name, "a");
    EXPECT_EQ(root.child_text("b"), "t&u");
    EXPECT_EQ(*root.attribute("x"), "1");
    ASSERT_TRUE(root.child("c"));
    EXPECT_EQ(root.child("c")->children.size(), 1U);
    EXPECT_ANY_THROW(parse_xml("<a><b></a>", "test"));
    EXPECT_ANY_THROW(parse_xml("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "test"));
    std::string deep;
    for (int i = 0; i < 300; ++i) deep += "<a>";
    EXPECT_ANY_THROW(parse_xml(deep, "test"));
}

}  // namespace
}  // namespace firn::storage
