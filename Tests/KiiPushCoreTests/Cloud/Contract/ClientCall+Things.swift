import Contract
import KiiPushCore
import TestSupport
import Testing

extension ClientCall {
    static let things: [ClientCall] = [
        ClientCall(
            id: "things.get",
            method: "thing(_:)",
            parameters: ["thing": "VENDOR_THING_ID:v-1"]
        ) { client, _ in
            let thing = try await client.session(testToken).thing(.vendorThingID("v-1"))
            #expect(thing.thingID == "th.1" && thing.vendorThingID == "v-1" && thing.thingType == "lamp")
            #expect(
                thing.fields == [
                    "_vendor": "ACME", "_disabled": false, "_online": true, "_onlineStatusModifiedAt": 2000,
                ]
            )
        },
        ClientCall(id: "onboarding.byThing", method: "onboardThing(vendorThingID:password:description:)") { client, _ in
            let lamp = ThingDescription(thingType: "lamp")
            expectOnboarded(try await client.onboardThing(vendorThingID: "v-1", password: "pw-1", description: lamp))
        },
        ClientCall(
            id: "onboarding.byOwner",
            method: "onboardThing(vendorThingID:password:owner:description:)"
        ) { client, _ in
            let thing = try await client.session(testToken).onboardThing(
                vendorThingID: "v-1", password: "pw-1", owner: .user("u1"),
                description: ThingDescription(thingType: "lamp"))
            expectOnboarded(thing)
        },
        ClientCall(
            id: "onboarding.byOwner",
            method: "onboardThing(vendorThingID:password:owner:description:)",
            note: "described, by a group",
            body: [
                "vendorThingID": "v-1", "thingPassword": "pw-1", "owner": "group:g1", "firmwareVersion": "1.0",
                "layoutPosition": "STANDALONE", "thingProperties": ["floor": 2],
            ]
        ) { client, _ in
            let description = ThingDescription(
                firmwareVersion: "1.0",
                layoutPosition: .standalone,
                properties: ["floor": 2]
            )
            let thing = try await client.session(testToken).onboardThing(
                vendorThingID: "v-1", password: "pw-1", owner: .group("g1"), description: description)
            expectOnboarded(thing)
        },
        ClientCall(
            id: "onboarding.byOwnerWithThingID",
            method: "onboardThing(thingID:password:owner:)"
        ) { client, _ in
            let thing = try await client.session(testToken).onboardThing(
                thingID: "th.1", password: "pw-1", owner: .user("u1"))
            expectOnboarded(thing)
        },
        ClientCall(id: "things.register", method: "registerThing(_:grantsToken:)") { client, _ in
            let registration = ThingRegistration(vendorThingID: "v-1", password: "pw-1")
            let thing = try await client.registerThing(registration, grantsToken: false)
            #expect(thing.thingID == "th.1" && thing.accessToken == nil)
        },
        ClientCall(id: "things.registerWithToken", method: "registerThing(_:grantsToken:)") { client, _ in
            let registration = ThingRegistration(
                vendorThingID: "v-1",
                password: "pw-1",
                thingType: "lamp",
                fields: ["_vendor": "ACME"]
            )
            let thing = try await client.registerThing(registration)
            #expect(thing.accessToken == AccessToken(principal: lamp, token: "at"))
            #expect(thing.createdAt == Timestamp(millisecondsSinceEpoch: 1000))
        },
    ]
}

private func expectOnboarded(_ thing: OnboardedThing, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(thing.thingID == "th.1", sourceLocation: sourceLocation)
    #expect(thing.accessToken == AccessToken(principal: lamp, token: "at"), sourceLocation: sourceLocation)
    let endpoint = thing.mqttEndpoint
    #expect(endpoint.installationID == "i1" && endpoint.host == "h", sourceLocation: sourceLocation)
    #expect(endpoint.portTCP == 1883 && endpoint.portSSL == 8883, sourceLocation: sourceLocation)
    #expect(endpoint.mqttTopic == "t" && endpoint.username == "n", sourceLocation: sourceLocation)
    #expect(endpoint.password == "p" && endpoint.timeToLive == .seconds(2_147_483_647), sourceLocation: sourceLocation)
}
