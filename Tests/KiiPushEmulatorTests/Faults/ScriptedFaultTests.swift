import Foundation
import KiiPushCore
import KiiPushEmulator
import TestTraits
import Testing

@Suite(.ownThreads) struct ScriptedFaultTests {
    private static let withProxy = Emulator.Configuration(faultProxy: true)

    @Test func requestsFailAndAreWellAgain() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            func statuses(_ count: Int) async throws -> [Int] {
                var statuses: [Int] = []
                for _ in 0..<count {
                    statuses.append(try await client.call("GET", "users/me", token: receiver.token).status)
                }
                return statuses
            }
            try await client.play("after 3 requests answer 503 for 2 requests; answer 502 for 100 ms")
            #expect(try await statuses(5) == [200, 200, 200, 503, 503])
            while try await client.steps().last?.state != "done" { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try await statuses(1) == [200])
        }
    }

    @Test(arguments: [true, false]) func aConnectionIsCutOffWithItsSessionOrWithout(isSessionLost: Bool) async throws {
        try await withEmulator { client in
            let (receiver, other) = (try await client.receiver(), try await client.receiver())
            let mqtt = try client.connect(receiver)
            let bystander = try client.connect(other)
            let id = receiver.installationID
            let step = isSessionLost ? "lose session of \(id)" : "drop connection of installation \(id)"
            try await client.play(step)
            #expect(try mqtt.isClosedByPeer())
            try await client.wait(until: "done")
            let again = try MQTTClient(port: client.emulator.mqttPort, receiver, cleanSession: false)
            #expect(again.hadSession == !isSessionLost)
            #expect(try bystander.subscribe(to: other.topic, qos: .atLeastOnce) == .atLeastOnce)
        }
    }

    @Test func nobodyIsCutOffWhoIsNotThere() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let expected = [
                "drop connection of \(receiver.installationID)":
                    "no client of installation \(receiver.installationID) is connected",
                "drop connection of all": "no client of any installation is connected",
                "lose session of none": "no client of installation none is known",
            ]
            for (step, problem) in expected {
                try await client.play(step)
                try await client.wait(until: "done")
                #expect(try await client.steps().map(\.problem) == [problem])
            }
            let unknown = try await client.installation()
            try await client.play("take over client of \(unknown.id)")
            try await client.wait(until: "done")
            #expect(try await client.steps().first?.problem?.hasPrefix("the broker lets nobody in") == true)
        }
    }

    @Test func aClientIsTakenOverAgainAndAgain() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let mqtt = try client.connect(receiver)
            try await client.play("take over client of \(receiver.installationID) for 600 s")
            #expect(try mqtt.isClosedByPeer())
            try await client.wait(until: "running")
            for _ in 0..<2 {
                let again = try MQTTClient(port: client.emulator.mqttPort, receiver, cleanSession: false)
                #expect(again.hadSession)
                #expect(try again.isClosedByPeer())
            }
            let admin = try await client.adminToken()
            #expect(try await client.push(1, to: receiver, admin: admin).status == 200)
            #expect(try await client.control("DELETE", "faults").status == 204)
            while try await client.isOnline(receiver) == true { try await Task.sleep(for: .milliseconds(10)) }
            // The client that took over got the message without acknowledging it, so the broker delivers it again.
            let last = try MQTTClient(port: client.emulator.mqttPort, receiver, cleanSession: false)
            #expect(try last.receivePublish().number == 1)
        }
    }

    @Test func messagesAreCountedWhenTheBrokerHasThem() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let mqtt = try client.connect(receiver)
            let admin = try await client.adminToken()
            try await client.play("at message 2 of any drop connection of any")
            for number in 1...2 {
                #expect(try await client.push(number, to: receiver, admin: admin).status == 200)
                #expect(try mqtt.receivePublish().number == number)
            }
            #expect(try mqtt.isClosedByPeer())
        }
    }

    @Test func heldAcknowledgementsReachTheBrokerLate() async throws {
        try await withEmulator(Self.withProxy) { client in
            let receiver = try await client.receiver()
            let admin = try await client.adminToken()
            var mqtt: MQTTClient? = try client.connect(receiver)
            try await client.play("hold acknowledgements of \(receiver.installationID) for 600 s")
            try await client.wait(until: "running")
            #expect(try await client.push(1, to: receiver, admin: admin).status == 200)
            let first = try #require(try mqtt?.receivePublish())
            try mqtt?.acknowledge(first)
            mqtt = nil
            // The broker has no acknowledgement yet, so it delivers the message again.
            let again = try MQTTClient(port: client.emulator.mqttPort, receiver, cleanSession: false)
            let repeated = try again.receivePublish()
            #expect(repeated.number == 1 && repeated.duplicate)
            try again.acknowledge(repeated)
            #expect(try await client.control("DELETE", "faults").status == 204)
            // The answer to SUBSCRIBE shows that the broker has read the earlier acknowledgement.
            #expect(try again.subscribe(to: receiver.topic, qos: .atLeastOnce) == .atLeastOnce)
            let last = try MQTTClient(port: client.emulator.mqttPort, receiver, cleanSession: false)
            #expect(try await client.push(2, to: receiver, admin: admin).status == 200)
            #expect(try last.receivePublish().number == 2)
        }
    }

    /// Without the script, mosquitto's packet identifiers continue across connections.
    @Test func packetIdentifiersBeginAnewWithEachConnection() async throws {
        try await withEmulator(Self.withProxy) { client in
            let receiver = try await client.receiver()
            let admin = try await client.adminToken()
            _ = try client.connect(receiver)
            try await client.play("renumber")
            try await client.wait(until: "done")
            for number in 1...3 {
                #expect(try await client.push(number, to: receiver, admin: admin).status == 200)
                let mqtt = try MQTTClient(port: client.emulator.mqttPort, receiver, cleanSession: false)
                let publish = try mqtt.receivePublish()
                #expect(publish.number == number)
                #expect(publish.packetID == 1)
                try mqtt.acknowledge(publish)
                // The answer to SUBSCRIBE shows that the broker has read the acknowledgement.
                _ = try mqtt.subscribe(to: receiver.topic, qos: .atLeastOnce)
            }
        }
    }

    @Test func messagesAreDroppedAndDoubled() async throws {
        try await withEmulator(Self.withProxy) { client in
            let (receiver, other) = (try await client.receiver(), try await client.receiver())
            let admin = try await client.adminToken()
            let (mqtt, bystander) = (try client.connect(receiver), try client.connect(other))
            let id = receiver.installationID
            try await client.play("drop message 2 of \(id); duplicate message 1 of \(id)")
            try await client.wait(until: "running")
            for number in 1...2 {
                #expect(try await client.push(number, to: other, admin: admin).status == 200)
                #expect(try await client.push(number, to: receiver, admin: admin).status == 200)
                #expect(try bystander.receivePublish().number == number)
            }
            #expect(try mqtt.receivePublish().number == 1)
            try await client.wait(until: "done")
            while try await client.steps().last?.state != "running" { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try await client.push(3, to: receiver, admin: admin).status == 200)
            let doubled = try [mqtt.receivePublish(), mqtt.receivePublish()]
            #expect(doubled.map(\.number) == [3, 3])
            #expect(doubled[0] == doubled[1])
            // The broker has no acknowledgement of the messages, so it delivers all three again.
            let again = try MQTTClient(port: client.emulator.mqttPort, receiver, cleanSession: false)
            let redelivered = try (1...3).map { _ in try again.receivePublish() }
            #expect(redelivered.map(\.number) == [1, 2, 3])
            #expect(redelivered.allSatisfy { $0.duplicate })
        }
    }

    @Test func packetsWithinTLSAreSaidToBeUnreadable() async throws {
        try await withEmulator(Self.withProxy) { client in
            let receiver = try await client.receiver()
            let mosquitto = Mosquitto(emulator: client.emulator, receiver: receiver)
            try await mosquitto.openSession()
            let admin = try await client.adminToken()
            try await client.play("drop message 1 of any")
            async let received = mosquitto.receive(1, tls: true)
            // The step reports the problem only after the receiver has connected.
            func isSaid() async throws -> Bool {
                try await client.steps().first?.problem?.hasPrefix("all clients are connected over TLS, ") == true
            }
            while try await !isSaid() { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try await client.push(7, to: receiver, admin: admin).status == 200)
            #expect(try await received.first?["n"]?.int64 == 7)
        }
    }

    @Test func endpointsKeepTheirPortWithTheProxyAndWithout() async throws {
        let directory = try TemporaryDirectory()
        var ports: [UInt16] = []
        for faultProxy in [false, true, false] {
            try await withEmulator(.init(directory: directory.path, faultProxy: faultProxy)) { client in
                ports.append(client.emulator.mqttPort)
                let endpoint = try await client.receiver()
                _ = try client.connect(endpoint)
            }
        }
        #expect(Set(ports).count == 1)
    }

    @Test func theDocumentedScriptWorks() async throws {
        let directory = try TemporaryDirectory()
        let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Documentation/emulator.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        func block(_ name: String) throws -> String {
            let after = try #require(text.components(separatedBy: "<!-- test: \(name) -->\n```sh\n").dropFirst().first)
            return try #require(after.components(separatedBy: "\n```").first)
        }
        // The block `controls` begins with the lines that find the emulator.
        let finding = try #require(try block("controls").components(separatedBy: "\n\n").first)
        let script = finding + "\n" + (try block("script"))
        try await withEmulator(.init(runtimeFile: "\(directory.path)/kii-push/emulator.json")) { client in
            let shell = ["XDG_RUNTIME_DIR=\(directory.path)", "bash", "-euo", "pipefail", "-c", script]
            let finished = try await run("env", shell)
            #expect(finished.status == 0, "\(finished.errors)")
            #expect(finished.lines.count == 3 && finished.lines.allSatisfy { $0.hasPrefix("waiting ") })
            #expect(try await client.steps().count == 3)
        }
    }
}

extension EmulatorClient {
    struct Step {
        var state: String?
        var problem: String?
    }

    func play(_ script: String) async throws {
        let posted = try await self.control("POST", "faults", ["script": JSONValue(script)])
        try #require(posted.status == 201, "\(posted.json)")
    }

    func steps() async throws -> [Step] {
        let shown = try #require(try await self.control("GET", "faults").json["steps"]?.array)
        return shown.map { Step(state: $0["state"]?.string, problem: $0["problem"]?.string) }
    }

    func wait(until state: String) async throws {
        while try await self.steps().first?.state != state { try await Task.sleep(for: .milliseconds(10)) }
    }

    /// A subscribed client with a persistent session.
    func connect(_ receiver: Receiver) throws -> MQTTClient {
        let client = try MQTTClient(port: self.emulator.mqttPort, receiver, cleanSession: false)
        try #require(try client.subscribe(to: receiver.topic, qos: .atLeastOnce) == .atLeastOnce)
        return client
    }
}

extension MQTTPublish {
    fileprivate var number: Int? { (try? JSONValue(parsing: self.payload))?["n"]?.int64.map { Int($0) } }
}
