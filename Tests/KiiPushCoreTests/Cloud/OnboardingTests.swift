import KiiPushCore
import TestSupport
import Testing

private let onboardingReply = """
    {"thingID":"th.1","accessToken":"at","mqttEndpoint":{"installationID":"i1","username":"n","password":"p",\
    "mqttTopic":"t","host":"h","portTCP":1883,"portSSL":8883,"portWS":12470,"portWSS":12473,"X-MQTT-TTL":2147483647}}
    """

@Suite struct OnboardingTests {
    private static let endpoint =
        #""installationID":"i1","username":"n","password":"s3cr3t","mqttTopic":"t","host":"h","portTCP":1,"portSSL":2"#

    @Test(arguments: [
        ReplyRow("{}", "/thingID", .missing), ReplyRow("[]", "", .kind(.object)),
        ReplyRow(#"{"thingID":"th.1"}"#, "/mqttEndpoint", .missing),
        ReplyRow(#"{"thingID":"th.1","accessToken":"s3cr3t","mqttEndpoint":null}"#, "/mqttEndpoint", .missing),
        ReplyRow(
            #"{"thingID":"th.1","accessToken":"s3cr3t","mqttEndpoint":"s3cr3t"}"#, "/mqttEndpoint", .kind(.object)
        ),
        ReplyRow(#"{"thingID":"th.1","mqttEndpoint":{\#(endpoint)}}"#, "/accessToken", .missing),
        ReplyRow(
            #"{"thingID":"th.1","accessToken":"s3cr3t","mqttEndpoint":{}}"#, "/mqttEndpoint/installationID", .missing),
        ReplyRow(
            #"{"thingID":"th.1","accessToken":"s3cr3t","mqttEndpoint":{"installationID":"i1"}}"#, "/mqttEndpoint/host",
            .missing),
        ReplyRow(
            #"{"thingID":"th.1","accessToken":"s3cr3t","mqttEndpoint":{\#(endpoint),"ttl":"soon"}}"#,
            "/mqttEndpoint/ttl", .noWholeNumber),
        ReplyRow(
            #"{"thingID":"th.1","accessToken":"s3cr3t","mqttEndpoint":{\#(endpoint),"portWS":65536}}"#,
            "/mqttEndpoint/portWS", .noPort),
    ])
    func aBadReplyIsNamedByItsPlace(_ row: ReplyRow) async throws {
        let (_, result) = await exchange(.status(200, row.reply)) {
            try await $0.onboardThing(vendorThingID: "v", password: "pw")
        }
        let error = try #require(#expect(throws: KiiResponseError.self) { try result.get() })
        #expect(error.pointer == JSONPointer(row.pointer))
        #expect(error.rule == row.rule)
        #expect(!error.description.contains("s3cr3t"))
    }

    @Test(
        arguments: [
            (#","X-MQTT-TTL":60"#, nil, .seconds(60)), (#","ttl":60"#, nil, .seconds(60)), ("", "60", .seconds(60)),
            (#","X-MQTT-TTL":60,"ttl":30"#, "10", .seconds(60)), ("", nil, nil),
        ] as [(String, String?, Duration?)])
    func timeToLiveIsFoundWhereverItIsSent(member: String, field: String?, timeToLive: Duration?) async throws {
        let reply = #"{"thingID":"th.1","accessToken":"at","mqttEndpoint":{\#(Self.endpoint)\#(member)}}"#
        let fields = field.map { [HTTPField("x-mqtt-ttl", $0)] } ?? []
        let (_, result) = await exchange(.status(200, reply, fields: fields)) {
            try await $0.onboardThing(vendorThingID: "v", password: "pw")
        }
        let endpoint = try result.get().mqttEndpoint
        #expect(endpoint.timeToLive == timeToLive)
        #expect(endpoint.portWS == nil && endpoint.portWSS == nil)
    }

    @Test(arguments: [
        OnboardingRow(.vendorThingID) { try await $0.onboardThing(vendorThingID: "", password: "pw") },
        OnboardingRow(.vendorThingID) { try await $0.onboardThing(vendorThingID: "a b", password: "pw") },
        OnboardingRow(.vendorThingID) {
            try await $0.session(testToken).onboardThing(vendorThingID: "a:b", password: "pw", owner: .user("u"))
        },
        OnboardingRow(.password) { try await $0.onboardThing(vendorThingID: "v", password: "") },
        OnboardingRow(.password) {
            try await $0.session(testToken).onboardThing(vendorThingID: "v", password: "", owner: .user("u"))
        },
        OnboardingRow(.password) {
            try await $0.session(testToken).onboardThing(thingID: "th.1", password: "", owner: .user("u"))
        },
        OnboardingRow(.thingID) {
            try await $0.session(testToken).onboardThing(thingID: "", password: "pw", owner: .user("u"))
        },
        OnboardingRow(.userID) {
            try await $0.session(testToken).onboardThing(thingID: "th.1", password: "pw", owner: .user(""))
        },
        OnboardingRow(.groupID) {
            try await $0.session(testToken).onboardThing(vendorThingID: "v", password: "pw", owner: .group(""))
        },
        OnboardingRow(.thingProperties) {
            try await $0.onboardThing(
                vendorThingID: "v", password: "pw", description: ThingDescription(properties: [1]))
        },
        OnboardingRow(.thingProperties) {
            try await $0.session(testToken).onboardThing(
                vendorThingID: "v", password: "pw", owner: .user("u"), description: ThingDescription(properties: "x"))
        },
        OnboardingRow(.token) {
            try await KiiSession(client: $0).onboardThing(vendorThingID: "v", password: "pw", owner: .user("u"))
        },
    ])
    private func badInputIsRefusedBeforeAnythingIsSent(_ row: OnboardingRow) async throws {
        let (requests, result) = await exchange(.status(200, onboardingReply), body: row.call)
        #expect(#expect(throws: KiiInputError.self) { try result.get() }?.field == row.field)
        #expect(requests.isEmpty)
    }

    private struct OnboardingRow: Sendable {
        var field: KiiInputError.Field
        var call: @Sendable (KiiClient) async throws -> OnboardedThing

        init(
            _ field: KiiInputError.Field, _ call: @escaping @Sendable (KiiClient) async throws -> OnboardedThing
        ) {
            self.field = field
            self.call = call
        }
    }

    @Test func thePasswordIsCutOutOfARefusal() async throws {
        let body = #"{"errorCode":"WRONG_PASSWORD","message":"not s3cr3t","value":"s3cr3t"}"#
        let (_, result) = await exchange(.status(401, body)) {
            try await $0.onboardThing(vendorThingID: "v", password: "s3cr3t")
        }
        let error = try #require(#expect(throws: KiiError.self) { try result.get() })
        #expect(error.errorCode == KiiErrorCode.wrongPassword)
        #expect(error.message == "not <redacted>" && error.context == ["value": "<redacted>"])
    }

    @Test func thingIFMayHaveAnotherPath() async throws {
        let app = KiiApp(
            appID: "a1", appKey: "k", baseURL: "https://cloud.test/api", thingIFBaseURL: "https://Cloud.test:443/x/")
        let (requests, _) = await exchange(.status(200, onboardingReply), app: app) {
            try await $0.onboardThing(vendorThingID: "v", password: "pw")
        }
        #expect(requests.map(\.url) == ["https://Cloud.test:443/x/apps/a1/onboardings"])
    }

    /// Onboarding returns a token of thing-if for the client. Tokens are valid for only one server.
    @Test(arguments: ["https://things.test/x", "https://cloud.test:8443/x", "http://cloud.test/x"])
    func thingIFMayHaveNoOtherServer(url: String) async throws {
        let app = KiiApp(
            appID: "a1", appKey: "k", baseURL: "https://cloud.test/api", thingIFBaseURL: url, allowsPlainHTTP: true)
        let (requests, result) = await exchange(.status(200, onboardingReply), app: app) {
            try await $0.onboardThing(vendorThingID: "v", password: "pw")
        }
        #expect(#expect(throws: KiiInputError.self) { try result.get() }?.field == .thingIFBaseURL)
        #expect(requests.isEmpty)
    }
}
