import Foundation
import Glibc
package import KiiPushCore

/// A cloud that answers each request as the test says, and records the requests.
package final class FakeCloud: Sendable {
    package struct Request: Sendable {
        package var method: String
        package var path: String
        package var at: MonotonicInstant
    }

    package struct Answer: Sendable {
        package var status: Int
        package var fields: [String]
        package var body: String

        package init(status: Int, fields: [String] = [], body: String = "") {
            self.status = status
            self.fields = fields
            self.body = body
        }
    }

    private let listener: Int32
    private let port: UInt16
    private let seen = Locked<[Request]>([])
    private let answer: @Sendable (Request) -> Answer

    /// Starts the cloud. It calls `answer` on separate threads.
    package init(answer: @escaping @Sendable (Request) -> Answer) throws {
        (self.listener, self.port) = try Loopback.listening()
        self.answer = answer
        Thread.detachNewThread { [listener, weak self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                // `deinit` shuts the listener down; this thread does not keep the object alive.
                guard descriptor >= 0 else { break }
                guard let self else {
                    close(descriptor)
                    break
                }
                Thread.detachNewThread { [weak self] in FakeCloud.serve(descriptor) { self?.respond(to: $0) } }
            }
            close(listener)
        }
    }

    deinit { shutdown(self.listener, Int32(SHUT_RDWR)) }

    package var baseURL: String { "http://127.0.0.1:\(self.port)/api" }

    package var requests: [Request] { self.seen.withLock { $0 } }

    private func respond(to head: String) -> Answer {
        let words = head.split(separator: " ", maxSplits: 2)
        let request = Request(method: "\(words.first ?? "")", path: "\(words.dropFirst().first ?? "")", at: .now())
        self.seen.withLock { $0.append(request) }
        return self.answer(request)
    }

    /// Answers requests until the client closes. Their bodies are ignored.
    private static func serve(_ descriptor: Int32, _ respond: (String) -> Answer?) {
        defer { close(descriptor) }
        var unread = ""
        while true {
            while let end = unread.range(of: "\r\n\r\n") {
                let body = FakeCloud.contentLength(of: unread[..<end.lowerBound])
                guard unread[end.upperBound...].utf8.count >= body else { break }
                guard let answer = respond(String(unread[..<end.lowerBound])) else { return }
                unread.removeSubrange(..<unread.utf8.index(end.upperBound, offsetBy: body))
                let head = ["HTTP/1.1 \(answer.status) -", "Content-Length: \(answer.body.utf8.count)"] + answer.fields
                let bytes = Array((head.joined(separator: "\r\n") + "\r\n\r\n" + answer.body).utf8)
                guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return }
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            unread += String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    private static func contentLength(of head: Substring) -> Int {
        let field = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        return field.flatMap { Int($0.split(separator: ":")[1].trimmingCharacters(in: .whitespaces)) } ?? 0
    }
}

extension PushAgent {
    /// An agent of this cloud that reconnects quickly.
    package convenience init(
        of cloud: FakeCloud, _ runtime: PushRuntime, _ configuration: PushAgent.Configuration
    ) {
        var configuration = configuration
        configuration.app = AgentStateFixture.app(at: cloud.baseURL)
        self.init(runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
    }
}
