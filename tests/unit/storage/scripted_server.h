// A server of one test: answers each request on loopback with the next reply of a script, byte for byte.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace firn::storage {

struct ScriptedReply {
    std::string bytes;                   ///< the whole reply; empty: the connection is cut
    bool close_after = false;            ///< cut the connection after it
    std::chrono::milliseconds delay{0};  ///< before it
    size_t piece = 0;                    ///< bytes that are sent at a time, the delay after each; 0: all at once
};

/// "HTTP/1.1 status …" with a Content-Length.
inline std::string http_reply(int status, const std::string& body, const std::string& headers = "") {
    return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           headers + "\r\n" + body;
}

class ScriptedServer {
public:
    /// The last reply is given again when the script is at its end.
    explicit ScriptedServer(std::vector<ScriptedReply> script) : script_(std::move(script)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
            ::listen(listener_, 64) != 0)
            std::abort();
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
        port_ = ntohs(address.sin_port);
        acceptor_ = std::thread([this] { accept_all(); });
    }
    ~ScriptedServer() {
        stopping_ = true;
        ::shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        {
            std::lock_guard lock(mutex_);
            for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
        }
        for (std::thread& thread : threads_) thread.join();
        ::close(listener_);
    }

    std::string url(const std::string& path = "/") const { return "http://127.0.0.1:" + std::to_string(port_) + path; }
    /// Head and body of each request so far.
    std::vector<std::string> requests() const {
        std::lock_guard lock(mutex_);
        return requests_;
    }
    int connections() const { return connections_; }

private:
    void accept_all() {
        while (!stopping_) {
            const int fd = ::accept(listener_, nullptr, nullptr);
            if (fd < 0) return;
            ++connections_;
            std::lock_guard lock(mutex_);
            open_.push_back(fd);
            threads_.emplace_back([this, fd] { serve(fd); });
        }
    }

    bool read_request(int fd, std::string& text) const {
        char buffer[65536];
        for (;;) {
            const size_t head = text.find("\r\n\r\n");
            if (head != text.npos) {
                const size_t at = text.find("Content-Length: ");
                const size_t body = at < head ? std::stoul(text.substr(at + 16)) : 0;
                if (text.size() >= head + 4 + body) return true;
            }
            const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
            if (got <= 0) return false;
            text.append(buffer, static_cast<size_t>(got));
        }
    }

    void wait(std::chrono::milliseconds left) const {
        for (; left.count() > 0 && !stopping_; left -= std::chrono::milliseconds(10))
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }

    void serve(int fd) {
        for (std::string text; read_request(fd, text); text.clear()) {
            ScriptedReply reply;
            {
                std::lock_guard lock(mutex_);
                reply = script_[std::min(requests_.size(), script_.size() - 1)];
                requests_.push_back(text);
            }
            const size_t piece = reply.piece ? reply.piece : reply.bytes.size();
            if (!reply.piece) wait(reply.delay);
            for (size_t at = 0; at < reply.bytes.size() && !stopping_; at += piece) {
                ::send(fd, reply.bytes.data() + at, std::min(piece, reply.bytes.size() - at), MSG_NOSIGNAL);
                if (reply.piece) wait(reply.delay);
            }
            if (reply.bytes.empty() || reply.close_after) break;
        }
        std::lock_guard lock(mutex_);
        std::erase(open_, fd);
        ::close(fd);
    }

    std::vector<ScriptedReply> script_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<bool> stopping_{false};
    std::atomic<int> connections_{0};
    mutable std::mutex mutex_;
    std::vector<std::string> requests_;
    std::vector<int> open_;
    std::vector<std::thread> threads_;
    std::thread acceptor_;
};

}  // namespace firn::storage
