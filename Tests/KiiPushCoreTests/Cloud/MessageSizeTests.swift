import KiiPushCore
import TestSupport
import Testing

@Suite struct MessageSizeTests {
    /// A message for only one network, whose data takes `bytes` bytes as JSON.
    private static func message(_ bytes: Int, over network: PushMessage.Network) -> PushMessage {
        let text = String(repeating: "x", count: bytes - #"{"k":""}"#.count)
        var message = PushMessage(data: ["k": JSONValue(text)], mqtt: nil)
        // An APNs message always contains `aps`.
        if network == .apns { message.data = ["k": JSONValue(String(text.dropLast(#","aps":{}"#.count)))] }
        switch network {
        case .mqtt: message.mqtt = .init()
        case .fcm: message.fcm = .init()
        case .apns: message.apns = .init()
        case .jpush: message.jpush = .init()
        }
        return message
    }

    @Test(arguments: [(PushMessage.Network.mqtt, 4096), (.fcm, 4096), (.apns, 2048)])
    func oneByteTooManyIsRefusedWithItsNetwork(network: PushMessage.Network, limit: Int) throws {
        #expect(throws: Never.self) { try Self.message(limit, over: network).validate() }
        let tooLarge = Self.message(limit + 1, over: network)
        let error = try #require(#expect(throws: KiiInputError.self) { try tooLarge.validate() })
        #expect(error.field == .message)
        #expect(error.pointer == JSONPointer(tokens: [network.rawValue]))
        #expect(error.description.contains("at most \(limit) bytes over \(network)"))
        #expect(error.description.contains("at least \(limit + 1)") && !error.description.contains("xx"))
        let none = PushMessage.SizeLimits(mqtt: nil, fcm: nil, apns: nil)
        #expect(throws: Never.self) { try tooLarge.validate(sizeLimits: none) }
    }

    @Test func limitsAreTheCallers() {
        let large = Self.message(4096, over: .apns)
        #expect(throws: KiiInputError.self) { try large.validate() }
        #expect(throws: Never.self) { try large.validate(sizeLimits: .init(apns: 4096)) }
        let unlimited = Self.message(100_000, over: .jpush)
        #expect(throws: Never.self) { try unlimited.validate() }
        #expect(throws: KiiInputError.self) { try unlimited.validate(sizeLimits: .init(jpush: 99_999)) }
    }

    @Test func aNetworkThatIsNotEnabledHasNoSize() {
        var message = Self.message(3000, over: .mqtt)
        message.apns = .init(isEnabled: false)
        #expect(throws: Never.self) { try message.validate() }
        #expect(message.knownSize(over: .apns) == nil && message.knownSize(over: .fcm) == nil)
        #expect(message.knownSize(over: .mqtt) == 3000)
    }

    @Test func aNetworksDataReplacesTheMessagesKeyByKey() {
        var message = PushMessage(data: ["a": "long long long", "b": 1], mqtt: .init(data: ["a": "", "c": true]))
        #expect(message.knownSize(over: .mqtt) == #"{"b":1,"a":"","c":true}"#.utf8.count)
        message.data = nil
        #expect(message.knownSize(over: .mqtt) == #"{"a":"","c":true}"#.utf8.count)
        message.data = ["ä": "😀"]
        message.mqtt = .init()
        #expect(message.knownSize(over: .mqtt) == #"{"ä":"😀"}"#.utf8.count)
    }

    @Test func nullIsNothingOverFCM() {
        var message = PushMessage(data: ["a": 1, "z": nil])
        message.fcm = .init()
        #expect(message.knownSize(over: .mqtt) == #"{"a":1,"z":null}"#.utf8.count)
        #expect(message.knownSize(over: .fcm) == #"{"a":1}"#.utf8.count)
    }

    @Test func whatIsShownCounts() {
        var message = PushMessage(data: ["a": "1"])
        message.fcm = .init(notification: .init(title: "T", body: "B"))
        var apns = PushMessage.APNS(alert: .init(title: "T"))
        apns.alert?.locKey = "l"
        apns.alert?.locArgs = ["x"]
        apns.alert?.launchImage = "i"
        apns.alert?.actionLocKey = "k"
        apns.sound = "default"
        apns.badge = 3
        apns.contentAvailable = true
        apns.mutableContent = false
        apns.category = "c"
        message.apns = apns
        #expect(message.knownSize(over: .fcm) == #"{"a":"1"}{"title":"T","body":"B"}"#.utf8.count)
        let aps =
            #"{"a":"1","aps":{"alert":{"title":"T","action-loc-key":"k","loc-key":"l","loc-args":["x"],"#
            + #""launch-image":"i"},"sound":"default","badge":3,"content-available":1,"category":"c"}}"#
        #expect(message.knownSize(over: .apns) == aps.utf8.count)
    }

    @Test(
        arguments: [
            (nil, #"{"a":1,"type":"T"}"#, #"{"a":1,"aps":{},"t":"T"}"#),
            (.user("u1"), #"{"a":1,"type":"T"}"#, #"{"a":1,"aps":{},"t":"T"}"#),
            (
                .topic(Topic("news")), #"{"a":1,"type":"T","topic":"news","objectScopeType":"APP"}"#,
                #"{"a":1,"aps":{},"t":"T","to":"news","st":"APP"}"#
            ),
            (
                .topic(Topic("news", in: .user("u1"))),
                #"{"a":1,"type":"T","topic":"news","objectScopeType":"APP_AND_USER","objectScopeUserID":"u1"}"#,
                #"{"a":1,"aps":{},"t":"T","to":"news","st":"APP_AND_USER","su":"u1"}"#
            ),
            (
                .topic(Topic("news", in: .user("me"))),
                #"{"a":1,"type":"T","topic":"news","objectScopeType":"APP_AND_USER","objectScopeUserID":""}"#,
                #"{"a":1,"aps":{},"t":"T","to":"news","st":"APP_AND_USER","su":""}"#
            ),
            (
                .topic(Topic("news", in: .group("g1"))),
                #"{"a":1,"type":"T","topic":"news","objectScopeType":"APP_AND_GROUP","objectScopeGroupID":"g1"}"#,
                #"{"a":1,"aps":{},"t":"T","to":"news","st":"APP_AND_GROUP","sg":"g1"}"#
            ),
            (
                .topic(Topic("news", in: .thing("VENDOR_THING_ID:v"))),
                #"{"a":1,"type":"T","topic":"news","objectScopeType":"APP_AND_THING","objectScopeThingID":""}"#,
                #"{"a":1,"aps":{},"t":"T","to":"news","st":"APP_AND_THING","sth":""}"#
            ),
        ] as [(PushDestination?, String, String)])
    func whatTheCloudWillAddForCertainCounts(
        destination: PushDestination?, long: String, short: String
    ) {
        var message = PushMessage(data: ["a": 1])
        message.pushMessageType = "T"
        message.apns = .init()
        message.jpush = .init()
        #expect(message.knownSize(over: .mqtt, to: destination) == long.utf8.count)
        #expect(message.knownSize(over: .jpush, to: destination) == long.utf8.count)
        #expect(message.knownSize(over: .apns, to: destination) == short.utf8.count)
    }

    @Test func theFlagsDecideWhatTheCloudAdds() {
        let topic = PushDestination.topic(Topic("news", in: .user("u1")))
        var message = PushMessage(data: ["a": 1, "topic": "a custom value that gives way"])
        message.sendTopicID = true
        message.sendObjectScope = false
        message.sendOrigin = true
        message.sendWhen = true
        message.sendSender = true
        message.sendAppID = true
        let all = #"{"a":1,"origin":"EXPLICIT","when":1000000000000,"topic":"news"}"#
        #expect(message.knownSize(over: .mqtt, to: topic) == all.utf8.count)
        message.sendTopicID = false
        message.sendOrigin = false
        message.sendWhen = false
        #expect(message.knownSize(over: .mqtt, to: topic) == message.data?.serialized().count)
    }

    @Test func theDestinationCanMakeAMessageTooLarge() async throws {
        let message = Self.message(4096, over: .mqtt)
        let calls: [@Sendable (KiiClient, PushMessage.SizeLimits) async throws -> String] = [
            { try await $0.session(testToken).send(message, to: .topic(Topic("news")), sizeLimits: $1) },
            { try await $0.session(testToken).send(message, to: .user("u"), sizeLimits: $1) },
        ]
        let reply = HTTPResponse.status(200, #"{"pushMessageID":"p"}"#)
        let (refused, toTopic) = await exchange(reply) { try await calls[0]($0, .init()) }
        #expect(#expect(throws: KiiInputError.self) { try toTopic.get() }?.pointer == JSONPointer("/mqtt"))
        #expect(refused.isEmpty)
        let (sent, _) = await exchange(reply) { try await calls[0]($0, .init(mqtt: nil)) }
        #expect(sent.count == 1)
        let (direct, toUser) = await exchange(reply) { try await calls[1]($0, .init()) }
        #expect(throws: Never.self) { try toUser.get() }
        #expect(direct.count == 1)
        let (none, small) = await exchange(reply) { try await calls[1]($0, .init(mqtt: 4095)) }
        #expect(throws: KiiInputError.self) { try small.get() }
        #expect(none.isEmpty)
    }

    @Test func aDocumentedRuleComesBeforeTheSize() {
        var message = Self.message(5000, over: .fcm)
        message.fcm?.data = ["from": "x"]
        let error = #expect(throws: KiiInputError.self) { try message.validate() }
        #expect(error?.pointer == JSONPointer("/fcm/data/from"))
    }
}
