import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import TestTraits
import Testing

@Suite(.ownThreads) struct PresenceTests {
    @Test(arguments: [MQTTVersion.v3_1, .v3_1_1], [QoS.atMostOnce, .atLeastOnce])
    func bothRevisionsReceiveInACleanSession(version: MQTTVersion, qos: QoS) async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let mqtt = try MQTTClient(port: client.emulator.mqttPort, receiver, version: version)
            #expect(try mqtt.subscribe(to: receiver.topic, qos: qos) == qos)
            let admin = try await client.adminToken()
            #expect(try await client.push(7, to: receiver, admin: admin).status == 200)
            let publish = try mqtt.receivePublish()
            #expect(publish.topic == receiver.topic)
            #expect(publish.qos == qos)
            #expect(!publish.retain)
            #expect(try JSONValue(parsing: publish.payload)["n"]?.int64 == 7)
        }
    }

    @Test func anInstallationIsOnlineWhileAClientIsConnected() async throws {
        try await withEmulator { client in
            let (first, second) = (try await client.receiver(), try await client.receiver())
            #expect(try await client.isOnline(first) == false)
            var mqtt: MQTTClient? = try MQTTClient(port: client.emulator.mqttPort, first)
            #expect(try await client.isOnline(first) == true)
            // A second connection of the same client replaces the first one.
            mqtt = try MQTTClient(port: client.emulator.mqttPort, first)
            #expect(try await client.isOnline(first) == true)
            #expect(try await client.isOnline(second) == false)
            #expect(mqtt != nil)
            mqtt = nil
            while try await client.isOnline(first) == true { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try await client.isOnline(first) == false)
        }
    }

    @Test func aBrokerThatDiedHasNobodyConnected() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let mqtt = try MQTTClient(port: client.emulator.mqttPort, receiver)
            #expect(try await client.isOnline(receiver) == true)
            let broker = try BrokerProcess.require(client.emulator)
            broker.signal(SIGKILL)
            // The new broker starts without the old connection.
            while try await client.isOnline(receiver) == true { try await Task.sleep(for: .milliseconds(10)) }
            // The answer to a send shows that the new broker runs.
            let admin = try await client.adminToken()
            #expect(try await client.push(1, to: receiver, admin: admin).status == 200)
            #expect(try await client.isOnline(receiver) == false)
            let again = try MQTTClient(port: client.emulator.mqttPort, receiver)
            #expect(try await client.isOnline(receiver) == true)
            withExtendedLifetime((mqtt, again)) {}
        }
    }

    @Test func aThingIsShownOnlineSinceItConnected() async throws {
        try await withEmulator { client in
            let body: JSONValue = ["_vendorThingID": "lamp-1", "_password": "secret"]
            let thing = try await client.call(
                "POST", "things", type: "ThingRegistrationAndAuthorizationRequest", body
            ).json
            let token = try #require(thing["_accessToken"]?.string)
            let id = try #require(thing["_thingID"]?.string)
            let receiver = try await client.receiver(userID: id, token: token)
            func status() async throws -> (isOnline: Bool?, changedAt: Int64?) {
                let shown = try await client.call("GET", "things/\(id)", token: token).json
                return (shown["_online"]?.bool, shown["_onlineStatusModifiedAt"]?.int64)
            }
            let unknown = try await status()
            #expect(unknown.isOnline == nil && unknown.changedAt == nil)
            // The broker's log has whole seconds, and its clock may lag a little.
            let start = Timestamp.now().millisecondsSinceEpoch - 2000
            var mqtt: MQTTClient? = try MQTTClient(port: client.emulator.mqttPort, receiver)
            let online = try await status()
            #expect(online.isOnline == true)
            let connectedAt = try #require(online.changedAt)
            #expect((start...Timestamp.now().millisecondsSinceEpoch).contains(connectedAt))
            #expect(mqtt != nil)
            mqtt = nil
            while try await status().isOnline == true { try await Task.sleep(for: .milliseconds(10)) }
            let offline = try await status()
            #expect(offline.isOnline == false)
            let disconnectedAt = try #require(offline.changedAt)
            #expect(disconnectedAt >= connectedAt)
        }
    }

    @Test func theDocumentedLooksWork() async throws {
        let directory = try TemporaryDirectory()
        let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Documentation/emulator.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        func script(_ name: String) throws -> String {
            let after = try #require(text.components(separatedBy: "<!-- test: \(name) -->\n```sh\n").dropFirst().first)
            return try #require(after.components(separatedBy: "\n```").first)
        }
        // The block `controls` begins with the lines that find the emulator.
        let finding = try #require(try script("controls").components(separatedBy: "\n\n").first)
        let looking = try script("inspection")
        try await withEmulator(.init(runtimeFile: "\(directory.path)/kii-push/emulator.json")) { client in
            let receiver = try await client.receiver()
            let admin = try await client.adminToken()
            #expect(try await client.push(7, to: receiver, admin: admin).status == 200)
            let shell = [
                "XDG_RUNTIME_DIR=\(directory.path)", "bash", "-euo", "pipefail", "-c", finding + "\n" + looking,
            ]
            let finished = try await run("env", shell)
            #expect(finished.status == 0, "\(finished.errors)")
            #expect(finished.lines.first == "MQTT false")
            #expect(finished.lines.last?.hasPrefix(#"{"n":7,"sourceURI":"kiicloud://users/"#) == true)
        }
    }
}

extension EmulatorClient {
    /// Whether the receiver's installation is online; `nil` if unknown.
    func isOnline(_ receiver: Receiver) async throws -> Bool? {
        let shown = try await self.control("GET", "installations").json["installations"]?.array
        let installation = shown?.first { $0["installationID"]?.string == receiver.installationID }
        return try #require(installation)["online"]?.bool
    }
}
