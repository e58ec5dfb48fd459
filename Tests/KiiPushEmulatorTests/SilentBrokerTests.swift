import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// What a sender is told when the broker says nothing: a broker that took a message may deliver it later on.
@Suite struct SilentBrokerTests {
    /// Runs `body` with an emulator that soon gives up waiting, and a receiver of its messages.
    private func withImpatientEmulator(
        _ body: (EmulatorClient, Receiver, _ broker: BrokerProcess) async throws -> Void
    ) async throws {
        var configuration = Emulator.Configuration()
        configuration.patience = .long
        configuration.patience.publish = .seconds(2)
        try await withEmulator(configuration) { client in
            // Once a message is through, the emulator is connected to its broker; it may take longer than is waited for.
            // The message goes to another receiver: the broker sends it again where the tool's acknowledgement is lost.
            let other = try await client.receiver()
            let mosquitto = Mosquitto(emulator: client.emulator, receiver: other)
            try await mosquitto.openSession()
            _ = try await client.push(0, to: other, admin: try await client.adminToken())
            #expect(try await mosquitto.receive(1).first?["n"]?.int64 == 0)
            let receiver = try await client.receiver()
            try await Mosquitto(emulator: client.emulator, receiver: receiver).openSession()
            try await body(client, receiver, BrokerProcess.require(client.emulator))
        }
    }

    /// A way to wait, which clients take for "nothing was done".
    private func expectNoWait(_ answer: RawAnswer) {
        #expect(answer.status == 503)
        #expect(answer.json["errorCode"]?.string == "TEMPORARY_UNAVAILABLE_ERROR")
        #expect(answer.field("Retry-After") == nil)
        #expect(answer.json["retryAfter"] == nil)
    }

    @Test func aSendThatIsNotAcknowledgedMayStillArrive() async throws {
        try await self.withImpatientEmulator { client, receiver, broker in
            let admin = try await client.adminToken()
            self.expectNoWait(try await broker.paused { try await client.push(1, to: receiver, admin: admin) })
            let received = try await Mosquitto(emulator: client.emulator, receiver: receiver).receive(1)
            #expect(received.first?["n"]?.int64 == 1, "\(received)")
        }
    }

    @Test func anObjectWhoseEventIsNotAcknowledgedIsThere() async throws {
        try await self.withImpatientEmulator { client, receiver, broker in
            let bucket = "users/me/buckets/notes"
            let subscriptions = "\(bucket)/filters/all/push/subscriptions/users"
            #expect(try await client.call("POST", subscriptions, token: receiver.token).status == 204)
            let answer = try await broker.paused {
                try await client.call("PUT", "\(bucket)/objects/o1", token: receiver.token, type: "Note", [:])
            }
            self.expectNoWait(answer)
            #expect(try await client.call("GET", "\(bucket)/objects/o1", token: receiver.token).status == 200)
        }
    }

    /// As the library's own client sends: it repeats what was not done, and nothing else.
    @Test func theClientSendsOnce() async throws {
        try await self.withImpatientEmulator { client, receiver, broker in
            let emulator = client.emulator
            let app = KiiApp(appID: emulator.appID, appKey: emulator.appKey, baseURL: emulator.baseURL)
            let kii = KiiClient(app: app, transport: try EventLoop.patient(), timeout: .seconds(600))
            let admin = try await kii.login(
                .administrator(clientID: emulator.adminClientID, clientSecret: emulator.adminClientSecret)
            ).token
            let error = await #expect(throws: KiiError.self) {
                try await broker.paused {
                    _ = try await kii.session(admin).send(PushMessage(data: ["n": 1]), to: .user(receiver.userID))
                }
            }
            #expect(error?.errorCode == KiiErrorCode.temporaryUnavailableError)
            #expect(error?.retryAfter == nil)
            let messages = try await client.control("GET", "messages").json["messages"]?.array
            // The first one is of the preparation.
            #expect(messages?.count == 2)
        }
    }

    /// Where only the broker was not told, nothing was done: to ask again is all that it takes.
    @Test func anEndpointThatIsNotGrantedIsToBeAskedForAgain() async throws {
        var configuration = Emulator.Configuration()
        configuration.patience = .long
        configuration.patience.grant = .milliseconds(100)
        try await withEmulator(configuration) { client in
            let (id, token) = try await client.installation()
            let broker = try BrokerProcess.require(client.emulator)
            let refused = try await broker.paused {
                try await client.call("GET", "installations/\(id)/mqtt-endpoint", token: token)
            }
            #expect(refused.status == 503)
            #expect(refused.field("Retry-After") == "1")
            // Onboarding makes a thing besides.
            let onboarded = try await broker.paused { try await client.onboard("meter-17") }
            self.expectNoWait(onboarded)
            while try await client.call("GET", "installations/\(id)/mqtt-endpoint", token: token).status != 200 {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }
}

extension EmulatorClient {
    /// A thing's own onboarding, which hands out an endpoint.
    fileprivate func onboard(_ vendorThingID: String) async throws -> RawAnswer {
        let basic = "\(self.emulator.appID):\(self.emulator.appKey.reveal())".utf8
        let body: JSONValue = ["vendorThingID": JSONValue(vendorThingID), "thingPassword": "secret"]
        return try await RawHTTP.exchange(
            port: self.port,
            RawHTTP.request(
                "POST", "/thing-if/apps/\(self.emulator.appID)/onboardings",
                [
                    "Authorization: Basic \(Data(basic).base64EncodedString())",
                    "Content-Type: application/vnd.kii.onboardingWithVendorThingIDByThing+json",
                ], body.text))
    }
}
