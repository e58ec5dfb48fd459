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

/// The owner of a thing: a user, or a group with all of its members.
struct ThingOwner {
    enum Kind: String {
        case user
        case group
    }

    var kind: Kind
    var id: String

    var text: String { "\(self.kind):\(self.id)" }

    var scope: Scope { self.kind == .user ? .user(self.id) : .group(self.id) }
}

extension ThingRecord {
    mutating func add(_ owner: ThingOwner) { self[owner.kind].insert(owner.id) }

    /// Removes the ownership and the owner's pending request. Returns `false` if the thing has neither.
    @discardableResult
    mutating func remove(_ owner: ThingOwner) -> Bool {
        let hadRequest = self.ownershipRequests.removeValue(forKey: owner.text) != nil
        return self[owner.kind].remove(owner.id) != nil || hadRequest
    }

    func belongs(to owner: ThingOwner) -> Bool { self[owner.kind].contains(owner.id) }

    private subscript(kind: ThingOwner.Kind) -> Set<String> {
        get { kind == .user ? self.owners : self.ownerGroups }
        set { if kind == .user { self.owners = newValue } else { self.ownerGroups = newValue } }
    }
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
        let owner: ThingOwner
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
    private func checkMayAdd(_ owner: ThingOwner, to thing: ThingRecord, _ call: CloudCall) throws(KiiFailure) {
        let mayAdd = self.belongs(call.caller, to: owner.scope) || call.caller == .thing(thing.id)
        try self.require(mayAdd, call, "Only the owner to be and the thing may add an owner.")
    }

    private func add(_ owner: ThingOwner, to thing: ThingRecord) throws(KiiFailure) {
        try self.checkIsNew(owner, of: thing)
        var thing = thing
        thing.add(owner)
        self.state.save(thing)
    }

    private func checkIsNew(_ owner: ThingOwner, of thing: ThingRecord) throws(KiiFailure) {
        guard thing.belongs(to: owner) else { return }
        throw KiiFailure(
            409, "THING_OWNERSHIP_ALREADY_EXISTS", "The \(owner.kind) owns the thing already.",
            ["appID": self.appID, "thingID": thing.id]
        ).about([("\(owner.kind)ID", JSONValue(owner.id))])
    }

    func owner(written text: String) throws(KiiFailure) -> ThingOwner {
        let parts = text.split(separator: ":", maxSplits: 1).map { String($0) }
        // Kii's gateways and web samples write the kind in capitals.
        guard parts.count == 2, let kind = ThingOwner.Kind(rawValue: parts[0].lowercased()) else {
            throw .invalidInput("The owner has to be written user:{userID} or group:{groupID}.")
        }
        switch kind {
        case .user: _ = try self.user(id: parts[1])
        case .group: _ = try self.group(id: parts[1])
        }
        return ThingOwner(kind: kind, id: parts[1])
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
        let mayAsk = isByThing || self.belongs(call.caller, to: owner.scope)
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
            ? self.belongs(call.caller, to: owner.scope)
            : call.caller == .thing(thing.id) || call.caller == .admin
        try self.require(mayConfirm, call, "Only the side that did not ask may confirm.")
        thing.ownershipRequests[text] = nil
        try self.add(owner, to: thing)
    }
}

// MARK: - Owners of a thing

extension EmulatedCloud {
    func listOwners(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let thing = try self.thing(call)
        try self.checkMaySeeOwners(of: thing, call)
        // No source shows the media type of Kii's answer.
        return .json(
            200, nil, .object(all: ["users": thing.owners.sorted(), "groups": thing.ownerGroups.sorted()]))
    }

    /// Any caller may ask, as in a live test of Kii's client thing-node.
    func checkOwner(_ call: CloudCall) throws(KiiFailure) { _ = try self.ownership(call) }

    /// If `owner` does not own the thing, the status 404 is Kii's, but the error code is a guess.
    private func ownership(_ call: CloudCall) throws(KiiFailure) -> (thing: ThingRecord, owner: ThingOwner) {
        let thing = try self.thing(call)
        let owner = try self.owner(written: call["owner"])
        guard !thing.belongs(to: owner) else { return (thing, owner) }
        switch owner.kind {
        case .user: throw .userNotFound(value: owner.id, app: self.appID)
        case .group: throw .groupNotFound(owner.id, app: self.appID)
        }
    }

    /// An owner may also remove another owner, as in a test of Kii's client rc4j.
    func removeOwner(_ call: CloudCall) throws(KiiFailure) {
        try self.checkMaySeeOwners(of: self.thing(call), call)
        var ownership = try self.ownership(call)
        // Refused as in a live test of Kii's client thing-node.
        let isThing = call.caller == .thing(ownership.thing.id)
        try self.require(!isThing, call, "A thing cannot leave its owner.")
        ownership.thing.remove(ownership.owner)
        self.state.save(ownership.thing)
    }

    private func checkMaySeeOwners(of thing: ThingRecord, _ call: CloudCall) throws(KiiFailure) {
        let mayAct = self.mayAct(call.caller, for: .thing(thing.id))
        try self.require(mayAct, call, "Only the thing and its owners may see its owners.")
    }
}
