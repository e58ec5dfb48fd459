import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// Answers to a sender while the broker is silent. A broker that has read a message may still deliver it later.
@Suite struct SilentBrokerTests {
    /// Runs `body` with a receiver and with an emulator that waits only 2 s for the broker.
    private func withImpatientEmulator(
        _ body: (EmulatorClient, Receiver, _ broker: BrokerProcess) async throws -> Void
    ) async throws {
        var configuration = Emulator.Configuration()
        configuration.patience = .long
        configuration.patience.publish = .seconds(2)
        try await withEmulator(configuration) { client in
            // A delivered message shows that the emulator is connected to its broker. The connection may take longer
            // than 2 s.
            // The message has its own receiver, because the broker repeats a message if `mosquitto_sub` loses the
            // acknowledgement.
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

    /// Expects no `Retry-After`, because clients repeat a request whose refusal has one.
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

    /// The library's own client repeats only requests that changed nothing.
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
            #expect(error?.errorCode == "TEMPORARY_UNAVAILABLE_ERROR")
            #expect(error?.retryAfter == nil)
            let messages = try await client.control("GET", "messages").json["messages"]?.array
            // `withImpatientEmulator` sent the first message.
            #expect(messages?.count == 2)
        }
    }

    /// Only the broker missed the grant and nothing was changed, so a second request suffices.
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
            // Onboarding also creates a thing, so its refusal must not invite a retry.
            let onboarded = try await broker.paused { try await client.onboard("meter-17") }
            self.expectNoWait(onboarded)
            while try await client.call("GET", "installations/\(id)/mqtt-endpoint", token: token).status != 200 {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }
}

extension EmulatorClient {
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
