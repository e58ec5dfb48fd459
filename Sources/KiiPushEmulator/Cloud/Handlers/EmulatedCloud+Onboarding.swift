import KiiPushCore

extension Route {
    static let onboarding: [Route] = [
        Route("POST", "onboardings", need: .app, EmulatedCloud.onboard)
    ]
}

/// Onboarding: one request registers the thing if it is new, adds the named owner (the sender, or a group of the
/// sender), and returns a token of the thing and the endpoint of its installation. Only a vendor's ID can be new.
extension EmulatedCloud {
    private static let onboardings = [
        (name: "OnboardingWithVendorThingIDByThing", isByVendor: true, isByOwner: false),
        (name: "OnboardingWithThingIDByThing", isByVendor: false, isByOwner: false),
        (name: "OnboardingWithVendorThingIDByOwner", isByVendor: true, isByOwner: true),
        (name: "OnboardingWithThingIDByOwner", isByVendor: false, isByOwner: true),
    ]

    func onboard(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        // Kii's clients also write these names with a small first letter.
        let types = EmulatedCloud.onboardings.map { "application/vnd.kii.\($0.name)+json" }
        guard let index = types.firstIndex(where: { $0.lowercased() == call.mediaType }) else {
            throw .mediaType(types)
        }
        let kind = EmulatedCloud.onboardings[index]
        let body = try call.object()
        let owner = try kind.isByOwner ? self.onboardingOwner(body, call) : nil
        var thing = try kind.isByVendor ? self.vendorThing(body, call) : self.knownThing(body)
        try self.checkIsEnabled(.thing(thing.id))
        if let owner { thing.owners.insert(owner) }
        self.state.save(thing)
        let token = self.newToken(for: .thing(thing.id), expiresAt: self.app.tokenLifetime.map { call.now + $0 })
        let installation =
            self.mqttInstallation(of: .thing(thing.id))
            ?? self.newInstallation(.mqtt, registrationID: nil, owner: .thing(thing.id), now: call.now)
        // The configured delay of endpoints does not apply to onboarding.
        let (endpoint, seconds) = try self.handOutEndpoint(of: installation, now: call.now)
        // One of Kii's clients reads `X-MQTT-TTL`, another reads `ttl`.
        let answer = JSONValue.object(all: [
            "accessToken": token.token.reveal(), "thingID": thing.id,
            "mqttEndpoint": JSONValue.object(endpoint + [("ttl", JSONValue(seconds))]),
        ])
        return .json(200, nil, answer)
    }

    private func onboardingOwner(_ body: JSONValue, _ call: CloudCall) throws(KiiFailure) -> Scope {
        let owner = try self.owner(written: body["owner"]?.string ?? "")
        let isOwner = self.belongs(call.caller, to: owner)
        try self.require(isOwner, call, "The token of the owner, or of a member of the group, is needed.")
        return owner
    }

    private func knownThing(_ body: JSONValue) throws(KiiFailure) -> ThingRecord {
        let id = try body.neededText("thingID")
        let password = try body.neededText("thingPassword")
        _ = try self.descriptions(body)
        let thing = try self.thing(id: id)
        try self.check(password, of: thing)
        return thing
    }

    /// The thing's registration sets the password; later onboardings have to repeat it.
    private func vendorThing(_ body: JSONValue, _ call: CloudCall) throws(KiiFailure) -> ThingRecord {
        guard let name = body["vendorThingID"]?.string, ThingRecord.isLegal(vendorThingID: name) else {
            throw .invalidInput("vendorThingID has to be \(ThingRecord.legalNames).")
        }
        let password = try body.neededText("thingPassword")
        var properties = body["thingProperties"] ?? [:]
        // Kii's C SDK ebisu sends the object as a string of JSON. Any other string is refused below.
        if let text = properties.string,
            let parsed = try? JSONValue(parsing: Array(text.utf8), maximumDepth: CloudCall.maximumDepth)
        {
            properties = parsed
        }
        guard properties.isNull || properties.kind == .object else {
            throw .invalidInput("thingProperties has to be an object.")
        }
        var attributes = [("_vendorThingID", JSONValue(name))] + (try self.descriptions(body))
        attributes += try Attributes.checked(properties, known: [:], leavingOut: [])
        if let thing = self.state.thing(vendorThingID: name) {
            try self.check(password, of: thing)
            return thing
        }
        return self.newThing(name, password: password, attributes: attributes, now: call.now)
    }

    private func descriptions(_ body: JSONValue) throws(KiiFailure) -> JSONMembers {
        var fields: JSONMembers = []
        for field in ["thingType", "firmwareVersion", "layoutPosition"] {
            if let text = try body.text(field) { fields.append(("_" + field, JSONValue(text))) }
        }
        return fields
    }

    func check(_ password: String, of thing: ThingRecord) throws(KiiFailure) {
        guard thing.password.reveal() == password else {
            let address = "VENDOR_THING_ID:\(thing.vendorThingID)"
            throw self.wrongPassword(principalID: thing.id, address: address)
        }
    }
}
