import KiiPushCore
import KiiPushEmulator
import SeededNumbers
import Testing

/// The emulator accepts every message that the client validates, unless its size is near a limit. The client never
/// overestimates the size of a message.
@Suite struct MessageAgreementTests {
    /// A generator of messages of every shape, legal and illegal; a seed always gives the same messages.
    private struct Writer {
        private static let keys = [
            "a", "b", "ä\"", "from", "data", "google.x", "gcm.x", "ttl", "collapse_key", "notification", "topic",
            "type",
        ]
        var random: SeededGenerator

        init(seed: UInt64) { self.random = SeededGenerator(seed: seed) }

        private mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self.random) < percent }

        private mutating func value(stringsOnly: Bool) -> JSONValue {
            if self.happens(stringsOnly ? 97 : 60) {
                let length = self.happens(4) ? Int.random(in: 500...4000, using: &self.random) : 5
                return JSONValue(String(repeating: "x", count: length))
            }
            let others: [JSONValue] = [1, 2.5, true, false, nil, ["k": 1], [1]]
            return others[Int.random(in: 0..<(self.happens(90) ? 5 : 7), using: &self.random)]
        }

        private mutating func data(stringsOnly: Bool = false) -> JSONValue? {
            guard self.happens(70) else { return Optional.none }
            if self.happens(1) { return [1] }
            var members: [(String, JSONValue)] = []
            for _ in 0..<Int.random(in: 0...3, using: &self.random) {
                let key = self.happens(80) ? "k\(members.count)" : Self.keys.randomElement(using: &self.random)
                members.append((key ?? "k", self.value(stringsOnly: stringsOnly)))
            }
            return .object(members)
        }

        private mutating func notification() -> PushMessage.AndroidNotification? {
            guard self.happens(30) else { return nil }
            var notification = PushMessage.AndroidNotification(title: "T", body: "B")
            if self.happens(50) { notification.clickAction = "OPEN" }
            return notification
        }

        private mutating func fcm() -> PushMessage.AndroidPart {
            var part = PushMessage.AndroidPart(
                isEnabled: self.happens(80), data: self.data(stringsOnly: true), notification: self.notification())
            if self.happens(30) { part.collapseKey = "c" }
            if self.happens(20) { part.timeToLive = .seconds(Int.random(in: -1...9, using: &self.random)) }
            return part
        }

        private mutating func apns() -> PushMessage.APNS {
            var part = PushMessage.APNS(isEnabled: self.happens(80), data: self.data())
            if self.happens(50) {
                part.alert = .init(title: "T")
                part.alert?.locKey = "l"
                part.alert?.locArgs = ["x"]
            }
            if self.happens(30) { part.badge = 0 }
            if self.happens(30) { part.contentAvailable = self.happens(50) }
            return part
        }

        mutating func message() -> PushMessage {
            var message = PushMessage(data: self.data(), mqtt: nil)
            if self.happens(80) { message.mqtt = .init(isEnabled: self.happens(95), data: self.data()) }
            if self.happens(50) { message.fcm = self.fcm() }
            if self.happens(30) { message.apns = self.apns() }
            if self.happens(30) { message.jpush = .init(isEnabled: self.happens(80), data: self.data()) }
            if self.happens(30) { message.pushMessageType = "NEWS" }
            message.sendWhen = self.happens(30) ? true : nil
            message.sendOrigin = self.happens(30) ? true : nil
            message.sendTopicID = self.happens(30) ? false : nil
            message.sendObjectScope = self.happens(30) ? false : nil
            return message
        }
    }

    /// Upper bound of the bytes that the cloud adds in fields that the client does not know.
    private static let marginBytes = 500

    private static func isNearALimit(_ message: PushMessage, to destination: PushDestination) -> Bool {
        PushMessage.Network.allCases.contains { network in
            guard let size = message.knownSize(over: network, to: destination) else { return false }
            return PushMessage.SizeLimits()[network].map { size > $0 - Self.marginBytes } ?? false
        }
    }

    /// The bytes of a rendering that count against the network's limit.
    private static func size(of rendering: JSONValue, over network: PushMessage.Network) -> Int {
        let counted: [JSONValue?] =
            switch network {
            case .mqtt, .apns: [rendering]
            case .fcm: [rendering["data"], rendering["notification"]]
            case .jpush: [rendering["extras"]]
            }
        return counted.reduce(0) { $0 + ($1?.serialized().count ?? 0) }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func whatTheClientLetsThroughIsTaken(seed: UInt64) throws {
        var world = try SendingTests.World()
        let path = "users/\(world.user.id)/topics/own"
        let topic = Topic("own", in: .user(world.user.id))
        world.kii.call("PUT", path, token: world.admin)
        world.kii.call("POST", "\(path)/push/subscriptions/users", token: world.user.token)
        var writer = Writer(seed: seed)
        var (accepted, refused) = (0, 0)
        var measured: Set<PushMessage.Network> = []
        for _ in 0..<500 {
            let message = writer.message()
            do {
                try message.validate(to: .topic(topic))
            } catch {
                refused += 1
                continue
            }
            let outcome = world.send(message.json, to: path)
            guard outcome.status == 200 else {
                #expect(Self.isNearALimit(message, to: .topic(topic)), "\(message.json.text.prefix(300))")
                continue
            }
            accepted += 1
            let id = try #require(outcome.json["pushMessageID"]?.string)
            let renderings = world.kii.control("GET", "messages/\(id)").json["renderings"]
            for network in PushMessage.Network.allCases {
                guard let known = message.knownSize(over: network, to: .topic(topic)) else { continue }
                let rendering = try #require(renderings?[network.rawValue])
                let text = "\(network): \(message.json.text.prefix(300)) -> \(rendering.text.prefix(300))"
                #expect(known <= Self.size(of: rendering, over: network), Comment(rawValue: text))
                measured.insert(network)
            }
        }
        // This test needs messages of both kinds.
        #expect(accepted > 100 && refused > 100 && measured == Set(PushMessage.Network.allCases))
    }
}
