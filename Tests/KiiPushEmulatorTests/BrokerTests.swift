import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import TestTraits
import Testing

@Suite(.ownThreads) struct BrokerTests {
    @Test func deliversOverTLSToAClientThatChecksTheCertificate() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let mosquitto = Mosquitto(emulator: client.emulator, receiver: receiver)
            try await mosquitto.openSession()
            let admin = try await client.adminToken()
            #expect(try await client.push(7, to: receiver, admin: admin).status == 200)
            #expect(try await mosquitto.receive(1, tls: true).first?["n"]?.int64 == 7)
        }
    }

    @Test func aClientReadsItsOwnTopicAlone() async throws {
        try await withEmulator { client in
            let (first, second) = (try await client.receiver(), try await client.receiver())
            let mosquitto = Mosquitto(emulator: client.emulator, receiver: first)
            let admin = try await client.adminToken()
            // mosquitto grants subscriptions to foreign topics, and delivers nothing for them.
            let foreign = [second.topic, "#", "push/#", "push/+", "$SYS/#"]
            try await mosquitto.openSession(alsoSubscribingTo: foreign)
            #expect(try await client.push(1, to: second, admin: admin).status == 200)
            #expect(try await client.push(2, to: first, admin: admin).status == 200)
            // A delivery of the foreign message would come before this one.
            #expect(try await mosquitto.receive(1).first?["n"]?.int64 == 2)
        }
    }

    @Test func aClientPublishesNowhere() async throws {
        try await withEmulator { client in
            let (first, second) = (try await client.receiver(), try await client.receiver())
            let (mine, theirs) = (
                Mosquitto(emulator: client.emulator, receiver: first),
                Mosquitto(emulator: client.emulator, receiver: second)
            )
            try await mine.openSession()
            try await theirs.openSession()
            _ = try await mine.publish(#"{"n":666}"#, to: first.topic)
            _ = try await mine.publish(#"{"n":666}"#, to: second.topic)
            let admin = try await client.adminToken()
            for (number, receiver) in [(1, first), (2, second)] {
                #expect(try await client.push(number, to: receiver, admin: admin).status == 200)
            }
            // Delivered forgeries would come before these messages.
            #expect(try await mine.receive(1).first?["n"]?.int64 == 1)
            #expect(try await theirs.receive(1).first?["n"]?.int64 == 2)
        }
    }

    /// Libraries of this process may leave descriptors open; the broker must not inherit them either.
    @Test func theBrokerInheritsNoFileAndNoSocket() async throws {
        func openFiles(of process: String) throws -> Set<String> {
            let directory = "/proc/\(process)/fd"
            let numbers = try FileManager.default.contentsOfDirectory(atPath: directory)
            // Another thread may close a file between the listing and this call.
            let files = numbers.compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\($0)")
            }
            return Set(files)
        }
        let directory = try TemporaryDirectory()
        let path = directory.path + "/inheritable"
        let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try await withEmulator { client in
            let ofBroker = try openFiles(of: "\(BrokerProcess.require(client.emulator).pid)")
            let own = try openFiles(of: "self")
            #expect(own.contains(path) && !ofBroker.contains(path))
            #expect(own.intersection(ofBroker).filter { $0.hasPrefix("socket:") || $0.hasPrefix("pipe:") } == [])
        }
    }

    @Test func onlyTheRightPasswordConnects() async throws {
        try await withEmulator { client in
            var receiver = try await client.receiver()
            receiver.password = "wrong"
            let mosquitto = Mosquitto(emulator: client.emulator, receiver: receiver)
            #expect(try await mosquitto.subscribe(to: receiver.topic) == Mosquitto.notAuthorized)
        }
    }

    /// A request for the endpoint and the deletion of its installation wait while the broker is paused, so the broker
    /// learns of both at once.
    @Test func anInstallationThatIsDeletedBeforeTheBrokerKnowsItStaysLockedOut() async throws {
        var configuration = Emulator.Configuration()
        // Only with a time to live does the list of installations show which endpoints exist.
        configuration.mqttTTL = .seconds(3600)
        try await withEmulator(configuration) { client in
            let app = "/api/apps/\(client.emulator.appID)"
            func request(_ method: String, _ installation: (id: String, token: String), _ rest: String = "") -> [UInt8]
            {
                let login = ["Authorization: Bearer \(installation.token)"]
                return Array(RawHTTP.request(method, "\(app)/installations/\(installation.id)\(rest)", login).utf8)
            }
            func hasEndpoint(_ installation: (id: String, token: String)) async throws -> Bool {
                let list = try await client.control("GET", "installations").json["installations"]?.array
                let record = list?.first { $0["installationID"]?.string == installation.id }
                return record?["endpointExpiresAt"]?.int64 != nil
            }
            for _ in 0..<3 {
                let (first, second) = (try await client.installation(), try await client.installation())
                let connections = try (0..<3).map { _ in try RawConnection(port: client.port) }
                try await BrokerProcess.require(client.emulator).paused {
                    try connections[0].send(request("GET", first, "/mqtt-endpoint"))
                    try connections[1].send(request("GET", second, "/mqtt-endpoint"))
                    while try await !hasEndpoint(second) { try await Task.sleep(for: .milliseconds(10)) }
                    try connections[2].send(request("DELETE", second))
                    #expect(try connections[2].receive().status == 204)
                }
                let answers = try connections[..<2].map { try $0.receive() }
                #expect(answers.map { $0.status } == [200, 200])
                let endpoint = answers[1].json
                let deleted = Receiver(
                    userID: "",
                    token: second.token,
                    installationID: second.id,
                    topic: try #require(endpoint["mqttTopic"]?.string),
                    username: try #require(endpoint["username"]?.string),
                    password: try #require(endpoint["password"]?.string)
                )
                // Another endpoint is granted only after the broker has reloaded its files.
                _ = try await client.receiver()
                #expect(try await client.canConnect(deleted) == false)
            }
        }
    }

    @Test func aDeletedInstallationIsLockedOut() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let other = try await client.receiver()
            let mosquitto = Mosquitto(emulator: client.emulator, receiver: receiver)
            #expect(try await mosquitto.subscribe(to: receiver.topic) == 0)
            let connected = try MQTTClient(port: client.emulator.mqttPort, receiver)
            let path = "installations/\(receiver.installationID)"
            #expect(try await client.call("DELETE", path, token: receiver.token).status == 204)
            #expect(try connected.isClosedByPeer())
            // Another endpoint is granted only after the broker has reloaded its files.
            _ = try await client.receiver()
            #expect(try await mosquitto.subscribe(to: receiver.topic) == Mosquitto.notAuthorized)
            try await Mosquitto(emulator: client.emulator, receiver: other).openSession()
        }
    }

    @Test func aDeletedUserIsLockedOut() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let connected = try MQTTClient(port: client.emulator.mqttPort, receiver)
            #expect(try await client.call("DELETE", "users/me", token: receiver.token).status == 204)
            #expect(try connected.isClosedByPeer())
            // Another endpoint is granted only after the broker has reloaded its files.
            _ = try await client.receiver()
            let mosquitto = Mosquitto(emulator: client.emulator, receiver: receiver)
            #expect(try await mosquitto.subscribe(to: receiver.topic) == Mosquitto.notAuthorized)
        }
    }

    @Test func sendsArriveWholeAndInOrder() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let mosquitto = Mosquitto(emulator: client.emulator, receiver: receiver)
            try await mosquitto.openSession()
            let admin = try await client.adminToken()
            let connection = try RawConnection(port: client.port)
            let path = "/api/apps/\(client.emulator.appID)/users/\(receiver.userID)/push/messages"
            for number in 0..<300 {
                let body = #"{"data":{"n":\#(number)},"mqtt":{"enabled":true}}"#
                let head =
                    "POST \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(admin)\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                try connection.send(Array((head + body).utf8))
                guard try connection.receive().status == 200 else {
                    Issue.record("send \(number) was refused")
                    return
                }
            }
            #expect(try await mosquitto.receive(300).compactMap { $0["n"]?.int64 } == Array(0..<300))
        }
    }

    @Test func aBrokerThatDiesComesBackWithItsQueues() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let mosquitto = Mosquitto(emulator: client.emulator, receiver: receiver)
            try await mosquitto.openSession()
            let admin = try await client.adminToken()
            let broker = try BrokerProcess.require(client.emulator)
            broker.signal(SIGTERM)
            // While the broker is gone, a send waits until the next broker has the message.
            var sent: Int64 = 0
            while BrokerProcess(directory: client.emulator.directory)?.pid ?? broker.pid == broker.pid, sent < 1000 {
                sent += 1
                #expect(try await client.push(Int(sent), to: receiver, admin: admin).status == 200)
            }
            // The next broker admits new clients and has every accepted message.
            _ = try await client.receiver()
            #expect(try await client.push(0, to: receiver, admin: admin).status == 200)
            var received: Set<Int64> = []
            while !received.contains(0) {
                received.formUnion(try await mosquitto.receive(1).compactMap { $0["n"]?.int64 })
            }
            #expect(received == Set(0...sent))
        }
    }

    @Test func aSendThatWaitsForTheBrokerHoldsNobodyElseUp() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let admin = try await client.adminToken()
            let broker = try BrokerProcess.require(client.emulator)
            let isAnswered = Locked(false)
            let sent = try await broker.paused {
                let sent = Task {
                    defer { isAnswered.withLock { $0 = true } }
                    return try await client.push(1, to: receiver, admin: admin)
                }
                // The emulator logs a message as soon as it accepts the send.
                while try await client.control("GET", "messages").json["messages"]?.array?.isEmpty != false {
                    try await Task.sleep(for: .milliseconds(10))
                }
                let answer = try await client.call("GET", "users/me", token: receiver.token)
                #expect(answer.status == 200)
                #expect(!isAnswered.withLock { $0 })
                return sent
            }
            #expect(try await sent.value.status == 200)
        }
    }
}
