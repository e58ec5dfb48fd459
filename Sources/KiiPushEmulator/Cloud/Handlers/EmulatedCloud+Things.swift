import KiiPushCore

extension EmulatedCloud {
    func registerThing(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
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

    func newThing(
        _ vendorThingID: String, password: String, attributes: JSONMembers, now: Timestamp
    ) -> ThingRecord {
        let thing = ThingRecord(
            id: "th." + self.identifiers.principal(), vendorThingID: vendorThingID, password: Secret(password),
            attributes: .object(attributes + [("_created", now.json)]))
        self.state.save(thing)
        return thing
    }

    func showThing(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        // Any caller may check whether the thing exists: a live test of Kii's client thing-node expects 204 for a user
        // who does not own the thing.
        if call.request.meantMethod == "HEAD" {
            _ = try self.thing(call)
            return HTTPResponse(status: 204)
        }
        let thing = try self.ownThing(call)
        return .json(200, "ThingRetrievalResponse", .object(thing.description + self.onlineFields(of: thing)))
    }

    private func ownThing(_ call: CloudCall) throws(KiiFailure) -> ThingRecord {
        try self.ownThing(call, "Only the thing and its owners may read and change it.")
    }

    /// Fields that the body leaves out keep their values. The vendor's ID and the password do not change.
    func updateThing(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        var thing = try self.ownThing(call)
        let body = try call.object(of: "ThingUpdateRequest")
        let fixed = thing.attributes.pairs.filter { ["_vendorThingID", "_created"].contains($0.0) }
        // Old and new fields are checked together, since their total size is limited.
        thing.attributes = .object(try ThingRecord.attributes(.object(thing.attributes.pairs + body.pairs)) + fixed)
        self.state.save(thing)
        return .json(200, "ThingUpdateResponse", ["modifiedAt": call.now.json])
    }

    func showThingStatus(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        .json(200, "ThingStatusRetrievalResponse", ["disabled": JSONValue(try self.ownThing(call).isDisabled)])
    }

    func changeThingStatus(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        var thing = try self.ownThing(call)
        // Refused as in a live test of Kii's client thing-node.
        try self.require(call.caller != .thing(thing.id), call, "A thing cannot switch itself.")
        guard let isDisabled = try call.object(of: "ThingStatusUpdateRequest").flag("disabled") else {
            throw .invalidInput("disabled is needed.")
        }
        thing.isDisabled = isDisabled
        self.state.save(thing)
        return HTTPResponse(status: 204)
    }

    /// Empty if no connection of the thing is known.
    ///
    /// - Source: thing-node's live test; Kii's guide on push notification of the thing SDK.
    private func onlineFields(of thing: ThingRecord) -> JSONMembers {
        guard let status = self.connectionStatus(of: thing) else { return [] }
        return [("_online", JSONValue(status.isOnline)), ("_onlineStatusModifiedAt", status.changedAt.json)]
    }

    func connectionStatus(of thing: ThingRecord) -> BrokerConnections.Status? {
        guard let credential = self.mqttInstallation(of: .thing(thing.id))?.credential else { return nil }
        return self.presence()?[credential.username]
    }
}
