import KiiPushCore

extension Route {
    static let ownership: [Route] = [
        Route("GET", "things/{thing}/ownership", EmulatedCloud.listOwners),
        Route("POST", "things/{thing}/ownership", EmulatedCloud.addOwnerWithPassword),
        Route("PUT", "things/{thing}/ownership/{owner}", EmulatedCloud.addOwner),
        Route("HEAD", "things/{thing}/ownership/{owner}", EmulatedCloud.checkOwner),
        Route("DELETE", "things/{thing}/ownership/{owner}", EmulatedCloud.removeOwner),
        Route("POST", "things/{thing}/ownership/request/{owner}", EmulatedCloud.requestOwner),
        Route("POST", "things/{thing}/ownership/confirm", EmulatedCloud.confirmOwner),
    ]
}

// MARK: - Adding an owner at once

extension EmulatedCloud {
    func addOwner(_ call: CloudCall) throws(KiiFailure) {
        let thing = try self.thing(call)
        let owner = try self.owner(written: call["owner"])
        try self.checkMayAdd(owner, to: thing, call)
        try self.require(!self.app.requiresThingPassword, call, "The app requires the thing's password.")
        try self.add(owner, to: thing)
    }

    func addOwnerWithPassword(_ call: CloudCall) throws(KiiFailure) {
        let thing = try self.thing(call)
        let body = try call.object(of: "ThingOwnershipRequest")
        let password = try body.text("thingPassword") ?? ""
        let owner: Scope
        switch (try body.text("userID"), try body.text("groupID")) {
        case (let id?, nil): owner = try self.owner(written: "user:\(id)")
        case (nil, let id?): owner = try self.owner(written: "group:\(id)")
        default: throw .invalidInput("Exactly one of userID and groupID is needed.")
        }
        try self.checkMayAdd(owner, to: thing, call)
        if self.app.requiresThingPassword { try self.check(password, of: thing) }
        try self.add(owner, to: thing)
    }

    /// By Kii's reference, the administrator, the user and the group's members may add an owner. No source shows
    /// whether Kii refuses the thing, so the emulator allows the thing too.
    private func checkMayAdd(_ owner: Scope, to thing: ThingRecord, _ call: CloudCall) throws(KiiFailure) {
        let mayAdd = self.belongs(call.caller, to: owner) || call.caller == .thing(thing.id)
        try self.require(mayAdd, call, "Only the owner to be and the thing may add an owner.")
    }

    private func add(_ owner: Scope, to thing: ThingRecord) throws(KiiFailure) {
        try self.checkIsNew(owner, of: thing)
        var thing = thing
        thing.owners.insert(owner)
        self.state.save(thing)
    }

    private func checkIsNew(_ owner: Scope, of thing: ThingRecord) throws(KiiFailure) {
        guard thing.owners.contains(owner) else { return }
        throw KiiFailure(
            409, "THING_OWNERSHIP_ALREADY_EXISTS", "The \(owner.parts?.kind ?? "app") owns the thing already.",
            ["appID": self.appID, "thingID": thing.id]
        ).about(owner.fields)
    }

    /// A user or a group.
    func owner(written text: String) throws(KiiFailure) -> Scope {
        let parts = text.split(separator: ":", maxSplits: 1).map { String($0) }
        let owner: Scope
        // Kii's gateways and web samples write the kind in capitals.
        switch (parts.first?.lowercased(), parts.count) {
        case ("user", 2): owner = .user(parts[1])
        case ("group", 2): owner = .group(parts[1])
        default: throw .invalidInput("The owner has to be written user:{userID} or group:{groupID}.")
        }
        try self.checkExistence(of: owner)
        return owner
    }
}

// MARK: - Adding an owner in two steps

extension EmulatedCloud {
    /// The length of the code in Kii's guide.
    private static let codeLength = 11

    /// First step: the thing or the future owner asks for the ownership and gets a code. A new request for the same
    /// owner replaces the earlier one.
    func requestOwner(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        var thing = try self.thing(call)
        let owner = try self.owner(written: call["owner"])
        let isByThing = call.caller == .thing(thing.id)
        let mayAsk = isByThing || self.belongs(call.caller, to: owner)
        try self.require(mayAsk, call, "Only the owner to be and the thing may ask for an owner.")
        try self.checkIsNew(owner, of: thing)
        let code = self.identifiers.secret(EmulatedCloud.codeLength)
        thing.ownershipRequests[owner.text] = OwnershipRequest(code: Secret(code), isByThing: isByThing)
        self.state.save(thing)
        return .json(200, "ThingOwnershipRequestResponse", ["code": JSONValue(code)])
    }

    /// Second step: of the thing and the future owner, the side that did not ask sends the code. The administrator may
    /// always confirm, and counts as the future owner in the first step.
    func confirmOwner(_ call: CloudCall) throws(KiiFailure) {
        var thing = try self.thing(call)
        let code = try call.object(of: "ThingOwnershipConfirmationRequest").neededText("code")
        guard let (text, request) = thing.ownershipRequests.first(where: { $0.value.code.reveal() == code }) else {
            throw KiiFailure(403, "INVALID_VERIFICATION_CODE", "The code is not that of a request, or was used.")
        }
        let owner = try self.owner(written: text)
        let mayConfirm =
            request.isByThing
            ? self.belongs(call.caller, to: owner)
            : call.caller == .thing(thing.id) || call.caller == .admin
        try self.require(mayConfirm, call, "Only the side that did not ask may confirm.")
        thing.ownershipRequests[text] = nil
        try self.add(owner, to: thing)
    }
}

// MARK: - Owners of a thing

extension EmulatedCloud {
    func listOwners(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let thing = try self.seenThing(call)
        // No source shows the media type of Kii's answer.
        return .json(
            200, nil, .object(all: ["users": thing.owners(of: "user"), "groups": thing.owners(of: "group")]))
    }

    /// Any caller may ask, as in a live test of Kii's client thing-node.
    func checkOwner(_ call: CloudCall) throws(KiiFailure) { _ = try self.ownership(call) }

    /// If `owner` does not own the thing, the status 404 is Kii's, but the error code is a guess.
    private func ownership(_ call: CloudCall) throws(KiiFailure) -> (thing: ThingRecord, owner: Scope) {
        let thing = try self.thing(call)
        let owner = try self.owner(written: call["owner"])
        guard !thing.owners.contains(owner) else { return (thing, owner) }
        if case .group(let id) = owner { throw self.groupNotFound(id) }
        throw self.userNotFound(owner.parts?.id ?? "")
    }

    /// An owner may also remove another owner, as in a test of Kii's client rc4j.
    func removeOwner(_ call: CloudCall) throws(KiiFailure) {
        _ = try self.seenThing(call)
        var ownership = try self.ownership(call)
        // Refused as in a live test of Kii's client thing-node.
        let isThing = call.caller == .thing(ownership.thing.id)
        try self.require(!isThing, call, "A thing cannot leave its owner.")
        ownership.thing.remove(ownership.owner)
        self.state.save(ownership.thing)
    }

    private func seenThing(_ call: CloudCall) throws(KiiFailure) -> ThingRecord {
        try self.ownThing(call, "Only the thing and its owners may see its owners.")
    }
}
