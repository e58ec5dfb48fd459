import Foundation
import Glibc
import KiiPushCore
import TestSupport
import TestTraits
import Testing

/// Servers that send endless header fields: the tool's error, and its use of memory.
@Suite(.ownThreads) struct HeaderFloodTests {
    /// The response whose fields never end.
    enum Flood: String, CaseIterable, Sendable {
        case trailers = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
        case interimResponses = "HTTP/1.1 103 -\r\n"

        /// The text that the server repeats.
        var piece: String {
            let fields = String(repeating: "X-Flood: \(String(repeating: "x", count: 40))\r\n", count: 200)
            return self == .trailers ? fields : "\(fields)\r\nHTTP/1.1 103 -\r\n"
        }
    }

    /// A server that floods each client with up to 64 MB, and measures the memory of `client` meanwhile.
    private final class Flooder: Sendable {
        let port: UInt16
        let client = Locked<Int32?>(nil)
        private let listener: Int32
        private let largest = Locked(0)

        init(_ flood: Flood) throws {
            (self.listener, self.port) = try Loopback.listening()
            Thread.detachNewThread { [listener, weak self] in
                while true {
                    let descriptor = accept(listener, nil, nil)
                    guard descriptor >= 0 else { break }
                    self?.serve(flood, descriptor)
                    close(descriptor)
                }
                close(listener)
            }
        }

        deinit { shutdown(self.listener, Int32(SHUT_RDWR)) }

        /// Largest resident size of the client so far, in MiB.
        var peak: Int { self.largest.withLock { $0 } }

        private func serve(_ flood: Flood, _ descriptor: Int32) {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            guard read(descriptor, &buffer, buffer.count) > 0 else { return }
            let piece = Array(flood.piece.utf8)
            var bytes = Array(flood.rawValue.utf8)
            for _ in 0..<(64 << 20) / piece.count {
                guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { break }
                bytes = piece
                if let client = self.client.withLock({ $0 }) {
                    let peak = (try? Flooder.peak(of: client)) ?? 0
                    self.largest.withLock { $0 = max($0, peak) }
                }
            }
        }

        // proc_pid_status(5)
        private static func peak(of process: Int32) throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) / 1024
        }
    }

    @Test(arguments: Flood.allCases)
    func aCloudThatSendsHeaderFieldsWithoutEndIsRefused(flood: Flood) throws {
        let server = try Flooder(flood)
        let tool = try Tool()
        let run = try tool.start(
            ["register", "--app-id", "a", "--base-url", "http://127.0.0.1:\(server.port)/api"],
            environment: ["KII_PUSH_APP_KEY": "k"])
        server.client.withLock { $0 = run.processID }
        let result = run.waitForExit()
        #expect(result.error.contains("header fields and trailers are larger than 262144 bytes"))
        // Exit code 1, because the cloud may have created the pseudo user.
        #expect(result.exit == 1)
        #expect(server.peak < 60 * memoryScale)
    }

    @Test(arguments: Flood.allCases)
    func aServerThatSendsHeaderFieldsWithoutEndHasFailed(flood: Flood) throws {
        let server = try Flooder(flood)
        let session = try EmulatorSession()
        try session.succeed("register")
        let run = try session.ready(["run", "--forward-to", "http://127.0.0.1:\(server.port)/"])
        server.client.withLock { $0 = run.processID }
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        // The status arrived before the trailers, and is the answer.
        if flood == .trailers {
            #expect(run.output(containing: "<-- newData").contains("<-- newData"))
        } else {
            let text = run.output(containing: "<-- failed")
            #expect(text.contains("header fields and trailers are larger than 262144 bytes"))
        }
        #expect(server.peak < 60 * memoryScale)
        run.stop()
    }
}
