import KiiPushCore

extension EmulatedCloud {
    mutating func registerThing(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let wantsToken = call.mediaType == "application/vnd.kii.thingregistrationandauthorizationrequest+json"
        let withToken = "ThingRegistrationAndAuthorization"
        let kind = wantsToken ? withToken : "ThingRegistration"
        let body = try call.object(of: kind + "Request", others: ["application/vnd.kii.\(withToken)Request+json"])
        guard let vendorThingID = body["_vendorThingID"]?.string, ThingRecord.isLegal(vendorThingID: vendorThingID)
        else { throw .invalidInput("_vendorThingID has to be \(ThingRecord.legalNames).") }
        let password = try body.neededText("_password")
        let attributes = try ThingRecord.attributes(body)
        guard self.state.thing(vendorThingID: vendorThingID) == nil else {
            throw KiiFailure(
                409, "THING_ALREADY_EXISTS", "A thing with this vendorThingID exists.",
                ["field": "vendorThingID", "value": vendorThingID, "appID": self.appID])
        }
        let thing = self.newThing(vendorThingID, password: password, attributes: attributes, now: call.now)
        var members = thing.description
        if wantsToken {
            let end = self.app.tokenLifetime.map { call.now + $0 }
            let token = self.newToken(for: .thing(thing.id), expiresAt: end)
            members.append(("_accessToken", JSONValue(token.token.reveal())))
        }
        return .json(201, kind + "Response", .object(members), fields: [self.location("things/\(thing.id)", call)])
    }

    mutating func newThing(
        _ vendorThingID: String, password: String, attributes: JSONMembers, now: Timestamp
    ) -> ThingRecord {
        let thing = ThingRecord(
            id: "th." + self.identifiers.principal(), vendorThingID: vendorThingID, password: Secret(password),
            attributes: .object(attributes + [("_created", now.json)]))
        self.state.save(thing)
        return thing
    }

    func showThing(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let thing = try self.thing(call)
        try self.require(self.mayAct(call.caller, for: .thing(thing.id)), call, "Only the thing and its owner may.")
        return .json(200, "ThingRetrievalResponse", .object(thing.description))
    }

    /// Makes a user or group the thing's owner; asked by the thing, an owner or the administrator.
    mutating func addOwner(_ call: CloudCall) throws(KiiFailure) {
        var thing = try self.thing(call)
        try self.require(self.mayAct(call.caller, for: .thing(thing.id)), call, "Only the thing may take an owner.")
        thing.add(try self.owner(written: call["owner"]))
        self.state.save(thing)
    }
}

/// Who a thing can belong to.
enum ThingOwner {
    case user(String)
    case group(String)
}

extension ThingRecord {
    mutating func add(_ owner: ThingOwner) {
        switch owner {
        case .user(let id): self.owners.insert(id)
        case .group(let id): self.ownerGroups.insert(id)
        }
    }
}

extension EmulatedCloud {
    /// `user:{userID}` or `group:{groupID}`, of whom there is.
    func owner(written text: String) throws(KiiFailure) -> ThingOwner {
        let parts = text.split(separator: ":", maxSplits: 1).map { String($0) }
        // Kii's gateways and web samples write the kind in capitals.
        switch (parts.first?.lowercased(), parts.dropFirst().first) {
        case ("user", let id?): return .user(try self.user(id: id).id)
        case ("group", let id?): return .group(try self.group(id: id).id)
        default: throw .invalidInput("The owner has to be written user:{userID} or group:{groupID}.")
        }
    }
}
