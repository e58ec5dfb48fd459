import KiiPushCore
import Testing

let onboardingReply = """
    {"thingID":"th.1","accessToken":"at","mqttEndpoint":{"installationID":"i1","username":"n","password":"p",\
    "mqttTopic":"t","host":"h","portTCP":1883,"portSSL":8883,"portWS":12470,"portWSS":12473,"X-MQTT-TTL":2147483647}}
    """

private func row(
    _ name: String,
    authorization: String,
    form: String,
    body: String,
    refusals: [(Int, String)],
    call: @escaping @Sendable (KiiClient) async throws -> OnboardedThing
) -> EndpointRow {
    EndpointRow(
        name: name, method: "POST", root: "https://cloud.test/thing-if", target: "/apps/a1/onboardings",
        authorization: authorization, mediaType: vendorPrefix + form + "+json", body: body, successes: [200, 201],
        reply: onboardingReply, refusals: refusals
    ) { client in
        let thing = try await call(client)
        #expect(thing.thingID == "th.1")
        #expect(thing.accessToken == AccessToken(principal: lamp, token: "at"))
        let endpoint = thing.mqttEndpoint
        #expect(endpoint.installationID == "i1" && endpoint.host == "h" && endpoint.mqttTopic == "t")
        #expect(endpoint.portTCP == 1883 && endpoint.portSSL == 8883)
        #expect(endpoint.portWS == 12470 && endpoint.portWSS == 12473)
        #expect(endpoint.username == "n" && endpoint.password == "p")
        #expect(endpoint.timeToLive == .seconds(2_147_483_647))
    }
}

private let everything = ThingDescription(
    thingType: "lamp", firmwareVersion: "1.0", layoutPosition: .standalone,
    properties: ["_vendor": "Kii", "floor": 2]
)
private let everythingText =
    #""thingType":"lamp","firmwareVersion":"1.0","layoutPosition":"STANDALONE","#
    + #""thingProperties":{"_vendor":"Kii","floor":2}"#
private let wrongPassword = [(401, "WRONG_PASSWORD"), (401, "AUTHENTICATION_FAILED")]

let onboardingCalls: [EndpointRow] = [
    row(
        "onboard a thing by itself", authorization: basicField, form: "OnboardingWithVendorThingIDByThing",
        body: #"{"vendorThingID":"v-1","thingPassword":"pw"}"#, refusals: wrongPassword
    ) { try await $0.onboardThing(vendorThingID: "v-1", password: "pw") },
    row(
        "onboard a described thing by itself", authorization: basicField, form: "OnboardingWithVendorThingIDByThing",
        body: #"{"vendorThingID":"v-1","thingPassword":"pw",\#(everythingText)}"#, refusals: wrongPassword
    ) { try await $0.onboardThing(vendorThingID: "v-1", password: "pw", description: everything) },
    row(
        "onboard a thing by its owner", authorization: bearerField, form: "OnboardingWithVendorThingIDByOwner",
        body: #"{"vendorThingID":"v-1","thingPassword":"pw","owner":"user:u1"}"#,
        refusals: wrongPassword + [(404, "USER_NOT_FOUND")]
    ) {
        try await $0.onboardThing(vendorThingID: "v-1", password: "pw", owner: .user("u1"), token: testToken)
    },
    row(
        "onboard a described thing by a group", authorization: bearerField,
        form: "OnboardingWithVendorThingIDByOwner",
        body: #"{"vendorThingID":"v-1","thingPassword":"pw","owner":"group:g1",\#(everythingText)}"#,
        refusals: wrongPassword + [(404, "GROUP_NOT_FOUND")]
    ) {
        try await $0.onboardThing(
            vendorThingID: "v-1", password: "pw", owner: .group("g1"), description: everything, token: testToken)
    },
    row(
        "onboard a registered thing by its owner", authorization: bearerField, form: "OnboardingWithThingIDByOwner",
        body: #"{"thingID":"th.1","thingPassword":"pw","owner":"user:u1"}"#,
        refusals: wrongPassword + [(404, "THING_NOT_FOUND")]
    ) { try await $0.onboardThing(thingID: "th.1", password: "pw", owner: .user("u1"), token: testToken) },
]
