import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct ActivityTests {
    private func activities(
        _ configuration: Emulator.Configuration = .init(), of body: (EmulatorClient) async throws -> Void
    ) async throws -> [Activity] {
        let log = try await withEmulator(configuration) { client in
            client.emulator.activity.follow()
            try await body(client)
            await client.emulator.stop()
            return client.emulator.activity
        }
        return try await onThread {
            var all: [Activity] = []
            while let more = log.next(after: all.last?.sequence ?? 0) { all += more }
            return all
        }
    }

    private func requests(_ activities: [Activity]) -> [AnsweredRequest] {
        activities.compactMap { if case .request(let request) = $0.event { request } else { nil } }
    }

    private func isConnection(_ activity: Activity) -> Bool {
        if case .connection = activity.event { true } else { false }
    }

    @Test func requestsComeInTheirOrderWithWhatTheySent() async throws {
        let all = try await self.activities { client in
            let receiver = try await client.receiver()
            let admin = try await client.adminToken()
            #expect(try await client.push(1, to: receiver, admin: admin).status == 200)
            #expect(try await client.call("GET", "topics/none", token: admin).status == 404)
        }
        #expect(all.map { $0.sequence } == Array(1...Int64(all.count)))
        let requests = self.requests(all)
        let send = try #require(requests.first { $0.shownTarget.hasSuffix("/push/messages") })
        #expect(send.status == 200 && send.caller == "admin" && send.messages.map { $0.installationCount } == [1])
        let missing = try #require(requests.last)
        #expect(missing.status == 404 && missing.errorCode == "TOPIC_NOT_FOUND" && missing.messages.isEmpty)
    }

    @Test func aConnectionEndsAlsoForAnInstallationThatIsGone() async throws {
        let all = try await self.activities { client in
            let receiver = try await client.receiver()
            let mqtt = try MQTTClient(port: client.emulator.mqttPort, receiver)
            // The log has an installation's connection only if the installation still exists when the emulator reads
            // about the connection in the broker's log.
            let log = client.emulator.activity
            try await onThread {
                var last: Int64 = 0
                while let more = log.next(after: last), !more.contains(where: self.isConnection) {
                    last = more[more.count - 1].sequence
                }
            }
            let path = "installations/\(receiver.installationID)"
            #expect(try await client.call("DELETE", path, token: receiver.token).status == 204)
            withExtendedLifetime(mqtt) {}
        }
        let connections = all.compactMap { if case .connection(let change) = $0.event { change } else { nil } }
        #expect(connections.map { $0.isOnline } == [true, false])
        #expect(Set(connections.map { $0.installationID }).count == 1)
    }

    @Test func noSecretIsShownWhereverAClientPutsIt() async throws {
        let secret = "correct-horse"
        let all = try await self.activities { client in
            let names = ["password", "client_secret", "refresh_token", "Password", "code", "thingPassword"]
            for name in names {
                _ = try await client.call(
                    "POST", "oauth2/token", type: "OauthTokenRequest", ["deep": [[name: JSONValue(secret)]]])
            }
            for query in ["?/push/messages", "/?a=/push/messages"] {
                _ = try await client.call("POST", "oauth2/token\(query)", ["password": JSONValue(secret)])
            }
            for name in ["password", "access_token"] {
                _ = try await client.call("GET", "users/me?a=b&\(name)=\(secret)")
            }
        }
        let requests = self.requests(all)
        #expect(requests.count == 10)
        for request in requests {
            let shown = "\(request.shownTarget) \(request.shownBody?.text ?? "") \(request.shownAnswer?.text ?? "")"
            #expect(!shown.contains(secret) && shown.contains("<redacted>"), "\(shown)")
        }
    }

    /// Kii's JavaScript SDK sends paths that end in slashes.
    @Test func whatIsSentIsShownAsItIsWhateverItsPathLooksLike() async throws {
        let data: JSONValue = ["code": "42", "password": "the sender's own"]
        let all = try await self.activities { client in
            let admin = try await client.adminToken()
            for path in ["topics/none//push/messages", "topics/none/push/messages/", "topics/none/push/messages?a=b"] {
                _ = try await client.call("POST", path, token: admin, type: "SendPushMessageRequest", ["data": data])
            }
            _ = try await client.call("GET", "topics/none/push/messages/", token: admin)
        }
        #expect(self.requests(all).compactMap { $0.shownBody?["data"] } == [data, data, data])
    }

    @Test func aBodyThatIsCutIsNotTakenForOneThatIsNoJSON() async throws {
        let all = try await self.activities { client in
            let text = String(repeating: "x", count: 100_000)
            _ = try await client.call("POST", "oauth2/token", ["text": JSONValue(text)])
        }
        #expect(self.requests(all).first?.shownBody == "<a body of 65536 bytes or more>")
    }

    @Test func aControlIsOneHoweverItsPathIsWritten() async throws {
        let all = try await self.activities { client in
            for root in ["/__kii", "//__kii", "/%5F_kii"] {
                _ = try await RawHTTP.exchange(port: client.port, RawHTTP.request("GET", "\(root)/app", [], nil))
            }
        }
        #expect(self.requests(all).map { $0.isControl } == [true, true, true])
    }

    @Test func anEmulatorThatIsLetGoOfHoldsNoFile() async throws {
        func startAndStop() async throws -> String {
            let emulator = try await Emulator.start()
            await emulator.stop()
            return emulator.directory
        }
        let directory = try await startAndStop()
        func held() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }.filter { $0.hasPrefix(directory) }
        }
        // A thread of the emulator may close its descriptors shortly after `stop()` returns.
        for _ in 0..<10_000 where try !held().isEmpty { sched_yield() }
        #expect(try held() == [])
    }
}
