import TestSupport
import Testing

@testable import KiiPushCore

struct ReplyRow: Sendable, CustomTestStringConvertible {
    var reply: String
    var pointer: String
    var rule: JSONMemberError.Rule

    init(_ reply: String, _ pointer: String, _ rule: JSONMemberError.Rule) {
        self.reply = reply
        self.pointer = pointer
        self.rule = rule
    }

    var testDescription: String { "\(self.reply) -> \(self.pointer)" }
}

extension JSONMemberError.Rule {
    static let empty = Self.other("is empty")
    static let noFlag = Self.other("must be true or false")
    static let noPort = Self.other("is no port")
    static let noText = Self.other("must be a text")
    static let noWholeNumber = Self.other("must be a whole number")
}

@Suite struct ReplyTests {
    private func expect<Output>(
        _ row: ReplyRow,
        status: Int = 200,
        sourceLocation: SourceLocation = #_sourceLocation,
        call: (KiiClient) async throws -> Output
    ) async throws {
        let (_, result) = await exchange(.status(status, row.reply), body: call)
        let error = #expect(throws: KiiResponseError.self, sourceLocation: sourceLocation) { try result.get() }
        #expect(error?.pointer == JSONPointer(row.pointer), sourceLocation: sourceLocation)
        #expect(error?.rule == row.rule, sourceLocation: sourceLocation)
        let description = try #require(error).description
        #expect(!description.contains("s3cr3t") && !description.contains("\n"), sourceLocation: sourceLocation)
    }

    @Test(arguments: [
        ReplyRow(#"{"access_token":"s3cr3t"}"#, "/id", .missing),
        ReplyRow(#"{"id":null,"access_token":"s3cr3t"}"#, "/id", .missing),
        ReplyRow(#"{"id":7,"access_token":"s3cr3t"}"#, "/id", .noText),
        ReplyRow(#"{"id":"","access_token":"s3cr3t"}"#, "/id", .empty),
        ReplyRow(#"{"id":"u"}"#, "/access_token", .missing),
        ReplyRow(#"{"id":"u","access_token":["s3cr3t"]}"#, "/access_token", .noText),
        ReplyRow(#"{"id":"u","access_token":"s3cr3t","refresh_token":1}"#, "/refresh_token", .noText),
        ReplyRow(#"{"id":"u","access_token":"s3cr3t","expires_in":1.5}"#, "/expires_in", .noWholeNumber),
        ReplyRow(#"{"id":"u","access_token":"s3cr3t","expires_in":{}}"#, "/expires_in", .noWholeNumber),
        ReplyRow("[]", "", .kind(.object)), ReplyRow("null", "", .kind(.object)),
        ReplyRow(#""s3cr3t""#, "", .kind(.object)),
    ])
    func aBadTokenIsNamedByItsPlace(_ row: ReplyRow) async throws {
        try await self.expect(row) { try await $0.login(.user(name: "alice", password: "s3cr3t")) }
    }

    @Test(arguments: [
        ReplyRow(#"{"username":"n","password":"s3cr3t","mqttTopic":"t","portTCP":1,"portSSL":2}"#, "/host", .missing),
        ReplyRow(#"{"host":"","portTCP":1,"portSSL":2}"#, "/host", .empty),
        ReplyRow(#"{"host":"h","portTCP":0,"portSSL":2}"#, "/mqttTopic", .missing),
        ReplyRow(#"{"host":"h","portTCP":0}"#, "/portTCP", .missing),
        ReplyRow(#"{"host":"h"}"#, "/portTCP", .missing),
        ReplyRow(#"{"host":"h","portTCP":65536,"portSSL":2}"#, "/portTCP", .noPort),
        ReplyRow(#"{"host":"h","portTCP":-1,"portSSL":2}"#, "/portTCP", .noPort),
        ReplyRow(#"{"host":"h","portTCP":true,"portSSL":2}"#, "/portTCP", .noWholeNumber),
        ReplyRow(#"{"host":"h","portTCP":1,"portSSL":65536}"#, "/portSSL", .noPort),
        ReplyRow(#"{"host":"h","portTCP":1}"#, "/mqttTopic", .missing),
        ReplyRow(#"{"host":"h","portTCP":1,"portSSL":2}"#, "/mqttTopic", .missing),
        ReplyRow(#"{"host":"h","portTCP":1,"portSSL":2,"mqttTopic":"t"}"#, "/username", .missing),
        ReplyRow(#"{"host":"h","portTCP":1,"portSSL":2,"mqttTopic":"t","username":"n"}"#, "/password", .missing),
        ReplyRow(
            #"{"host":"h","portTCP":1,"portSSL":2,"mqttTopic":"t","username":"n","password":"s3cr3t","portWS":"x"}"#,
            "/portWS", .noWholeNumber),
        ReplyRow(#"{"X-MQTT-TTL":"s3cr3t"}"#, "/X-MQTT-TTL", .noWholeNumber),
        ReplyRow(#"{"ttl":[]}"#, "/ttl", .noWholeNumber),
    ])
    func aBadEndpointIsNamedByItsPlace(_ row: ReplyRow) async throws {
        try await self.expect(row) { try await $0.session(testToken).mqttEndpoint(of: "i1") }
    }

    /// An agent subscribes only to its installation's own topic, so wildcards are refused.
    @Test(arguments: ["#", "a/+/b", "$SYS/x", "a\\u0000b", String(repeating: "t", count: 1025)])
    func anEndpointWithAnUnusableTopicIsRefused(topic: String) async throws {
        let reply = #"{"host":"h","portTCP":1,"portSSL":2,"mqttTopic":"\#(topic)","username":"n","password":"p"}"#
        let (_, result) = await exchange(.status(200, reply)) { try await $0.session(testToken).mqttEndpoint(of: "i1") }
        let error = #expect(throws: KiiResponseError.self) { try result.get() }
        #expect(error?.pointer == JSONPointer("/mqttTopic"))
        #expect(
            error?.description.contains("/installations/i1/mqtt-endpoint answered 200, but \"/mqttTopic\" ") == true)
    }

    @Test(arguments: ["t", "p/a/thing-if", "a$b", String(repeating: "t", count: 1024)])
    func anEndpointWithATopicOfItsOwnIsTaken(topic: String) async throws {
        let reply = #"{"host":"h","portTCP":1,"portSSL":2,"mqttTopic":"\#(topic)","username":"n","password":"p"}"#
        let (_, result) = await exchange(.status(200, reply)) { try await $0.session(testToken).mqttEndpoint(of: "i1") }
        #expect(try result.get().mqttTopic == topic)
    }

    @Test(arguments: [
        ReplyRow("{}", "/installations", .missing),
        ReplyRow(#"{"installations":{}}"#, "/installations", .kind(.array)),
        ReplyRow(#"{"installations":[7]}"#, "/installations/0", .kind(.object)),
        ReplyRow(
            #"{"installations":[{"installationID":"i"},{}]}"#, "/installations/1/installationID", .missing),
        ReplyRow(
            #"{"installations":[{"installationID":"i","development":"maybe"}]}"#, "/installations/0/development",
            .noFlag),
        ReplyRow(
            #"{"installations":[{"installationID":"i","deviceType":1}]}"#, "/installations/0/deviceType",
            .noText),
        ReplyRow(
            #"{"installations":[{"installationID":"i","installationType":1}]}"#, "/installations/0/installationType",
            .noText),
    ])
    func aBadListIsNamedByItsPlace(_ row: ReplyRow) async throws {
        try await self.expect(row) { try await $0.session(testToken).installations(of: nil).all() }
    }

    @Test func everyOtherReplyNeedsItsID() async throws {
        let empty = { ReplyRow("{}", $0, .missing) }
        try await self.expect(empty("/userID")) {
            try await $0.registerUser(UserRegistration(loginName: "alice", password: "s3cr3t"))
        }
        try await self.expect(empty("/userID")) { try await $0.registerPseudoUser() }
        try await self.expect(ReplyRow(#"{"userID":"u"}"#, "/_accessToken", .missing)) {
            try await $0.registerPseudoUser()
        }
        let thing = ThingRegistration(vendorThingID: "v", password: "s3cr3t")
        try await self.expect(empty("/_thingID")) { try await $0.registerThing(thing) }
        try await self.expect(ReplyRow(#"{"_thingID":"t"}"#, "/_accessToken", .missing)) {
            try await $0.registerThing(thing)
        }
        try await self.expect(empty("/installationID")) { try await $0.session(testToken).createInstallation() }
        try await self.expect(empty("/installationID")) { try await $0.session(testToken).installation(.id("i")) }
        try await self.expect(empty("/topics")) { try await $0.session(testToken).topics(in: .app).all() }
        try await self.expect(ReplyRow(#"{"topics":[{}]}"#, "/topics/0/topicID", .missing)) {
            try await $0.session(testToken).topics(in: .app).all()
        }
        try await self.expect(empty("/pushMessageID")) {
            try await $0.session(testToken).send(PushMessage(data: [:]), to: .user("u"))
        }
        try await self.expect(empty("/objectID"), status: 201) {
            try await $0.session(testToken).createObject([:], in: Bucket("b"))
        }
    }

    @Test func aReplyThatIsNotJSONIsNamedByItsByte() async throws {
        let (_, result) = await exchange(.status(200, "<html>sign in to the hotel</html>")) {
            try await $0.session(testToken).mqttEndpoint(of: "i1")
        }
        let error = try #require(#expect(throws: KiiResponseError.self) { try result.get() })
        guard case .notJSON(let reason) = error.rule else {
            Issue.record("\(error.rule)")
            return
        }
        #expect(reason.byteOffset == 0)
        #expect(
            error.description.hasPrefix("GET /apps/a1/installations/i1/mqtt-endpoint answered 200, but the answer is"))
    }

    @Test(
        arguments: [
            ("3600", 1_000_003_600_000), ("\"3600\"", 1_000_003_600_000), ("2147483647", 3_147_483_647_000),
            ("9223372036854775", nil), ("9223372036854775807", nil), ("9223372036854775808", nil), ("1e30", nil),
            ("null", nil), ("0", 1_000_000_000_000), ("-1", 999_999_999_000), ("3.6e3", 1_000_003_600_000),
        ] as [(String, Int64?)])
    func expiryIsCountedInSixtyFourBits(seconds: String, milliseconds: Int64?) async throws {
        let reply = #"{"id":"u","access_token":"at","expires_in":\#(seconds)}"#
        let (_, result) = await exchange(.status(200, reply)) { try await $0.login(.user(name: "al", password: "pw")) }
        #expect(try result.get().expiresAt?.millisecondsSinceEpoch == milliseconds)
    }

    @Test(
        arguments: [
            (#""X-MQTT-TTL":60"#, nil, .seconds(60)), (#""ttl":60"#, nil, .seconds(60)),
            (#""x":1"#, "60", .seconds(60)),
            (#""X-MQTT-TTL":60"#, "30", .seconds(60)), (#""x":1"#, nil, nil), (#""x":1"#, "soon", nil),
            (#""X-MQTT-TTL":-5"#, nil, .zero), (#""X-MQTT-TTL":9223372036854775807"#, nil, nil),
            (#""X-MQTT-TTL":"60""#, nil, .seconds(60)),
        ] as [(String, String?, Duration?)])
    func timeToLiveIsFoundWhereverItIsSent(member: String, field: String?, timeToLive: Duration?) async throws {
        let reply = """
            {"host":"h","portTCP":1,"portSSL":2,"mqttTopic":"t","username":"n","password":"p",\(member)}
            """
        let fields = field.map { [HTTPField("x-mqtt-ttl", $0)] } ?? []
        let (_, result) = await exchange(.status(200, reply, fields: fields)) {
            try await $0.session(testToken).mqttEndpoint(of: "i1")
        }
        #expect(try result.get().timeToLive == timeToLive)
        #expect(try result.get().installationID == "i1")
    }

    @Test func anObjectMayBePutWithoutAnyReply() async throws {
        let reference = ObjectReference("o1", in: Bucket("b"))
        let (_, result) = await exchange(.status(200)) { try await $0.session(testToken).putObject([:], as: reference) }
        #expect(try result.get() == StoredObject(reference: reference))
    }
}
