import KiiPushCore

/// Things (kii-protocol section 2.4).
extension EmulatedCloud {
    mutating func registerThing(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let wantsToken = call.mediaType == "application/vnd.kii.thingregistrationandauthorizationrequest+json"
        let kind = wantsToken ? "ThingRegistrationAndAuthorization" : "ThingRegistration"
        let body = try call.object(of: kind + "Request")
        guard let vendorThingID = body["_vendorThingID"]?.string,
            Names.isLegal(vendorThingID, 1...200, extra: "-_.")
        else { throw .invalidInput("_vendorThingID has to be 1 to 200 of A-Z a-z 0-9 - _ .") }
        guard let password = body["_password"]?.string, !password.isEmpty else {
            throw .invalidInput("_password is needed.")
        }
        guard self.state.thingID(vendorThingID: vendorThingID) == nil else {
            throw .thingExists(vendorThingID: vendorThingID, app: self.appID)
        }
        let written = (body.members ?? []).filter { $0.key != "_password" }.map { ($0.key, $0.value) }
        let created: (String, JSONValue) = ("_created", JSONValue(call.now.millisecondsSinceEpoch))
        let thing = ThingRecord(
            id: "th." + self.identifiers.principal(),
            vendorThingID: vendorThingID,
            password: Secret(password),
            attributes: .object(written + [created])
        )
        self.state.save(thing)
        var members = (thing.description.members ?? []).map { ($0.key, $0.value) }
        if wantsToken {
            members.append(("_accessToken", JSONValue(self.newToken(for: .thing(thing.id)).token.reveal())))
        }
        return .json(
            201,
            kind + "Response",
            .object(members),
            fields: [HTTPField("Location", "\(self.settings.baseURL)/apps/\(self.appID)/things/\(thing.id)")]
        )
    }

    mutating func showThing(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let thing = try self.thing(call)
        try self.require(self.mayAct(call.caller, for: .thing(thing.id)), call, "Only the thing and its owner may.")
        return .json(200, "ThingRetrievalResponse", thing.description)
    }

    /// Makes a user (`user:{userID}`) the thing's owner; asked by the thing or the administrator.
    mutating func addOwner(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        var thing = try self.thing(call)
        try self.require(self.mayAct(call.caller, for: .thing(thing.id)), call, "Only the thing may take an owner.")
        guard case .user(let userID)? = Principal(text: call["owner"]) else {
            throw .invalidInput("The owner has to be written user:{userID}.")
        }
        guard self.state.users[userID] != nil else { throw .userNotFound(value: userID, app: self.appID) }
        thing.owners.insert(userID)
        self.state.save(thing)
        return .noContent
    }
}
