import KiiPushCore

extension EmulatedCloud {
    func user(id: String) throws(KiiFailure) -> UserRecord {
        guard let user = self.state.users[id] else { throw self.userNotFound(id) }
        return user
    }

    func thing(id: String) throws(KiiFailure) -> ThingRecord {
        guard let thing = self.state.things[id] else { throw self.thingNotFound(id) }
        return thing
    }

    func group(id: String) throws(KiiFailure) -> GroupRecord {
        guard let group = self.state.groups[id] else {
            throw self.groupNotFound(id)
        }
        return group
    }

    /// Throws if the scope's owner does not exist.
    func checkExistence(of scope: Scope) throws(KiiFailure) {
        switch scope {
        case .app: break
        case .user(let id): _ = try self.user(id: id)
        case .group(let id): _ = try self.group(id: id)
        case .thing(let id): _ = try self.thing(id: id)
        }
    }

    func scope(_ call: CloudCall) throws(KiiFailure) -> Scope {
        if call.parameters["user"] != nil { return .user(try self.user(call).id) }
        if call.parameters["thing"] != nil { return .thing(try self.thing(call).id) }
        guard let groupID = call.parameters["group"] else { return .app }
        return .group(try self.group(id: groupID).id)
    }

    /// The user in the path: an ID, `me`, or `{LOGIN_NAME|EMAIL|PHONE}:{name}`.
    func user(_ call: CloudCall) throws(KiiFailure) -> UserRecord {
        let text = call["user"]
        if text == "me" {
            guard let id = call.caller.userID, let user = self.state.users[id] else {
                throw self.unauthorized("`me` needs a user's token.", call.caller)
            }
            return user
        }
        guard let colon = text.firstIndex(of: ":") else { return try self.user(id: text) }
        let fields = ["LOGIN_NAME": "loginName", "EMAIL": "emailAddress", "PHONE": "phoneNumber"]
        let value = String(text[text.index(after: colon)...])
        guard let field = fields[String(text[..<colon])] else { throw self.userNotFound(text) }
        guard let user = self.state.user(field: field, value: value) else {
            throw self.userNotFound(value, field: field)
        }
        return user
    }

    /// The thing in the path: an ID or `VENDOR_THING_ID:{vendorThingID}`.
    func thing(_ call: CloudCall) throws(KiiFailure) -> ThingRecord {
        let (text, prefix) = (call["thing"], "VENDOR_THING_ID:")
        guard text.hasPrefix(prefix) else { return try self.thing(id: text) }
        let name = String(text.dropFirst(prefix.count))
        guard let thing = self.state.thing(vendorThingID: name) else {
            throw self.thingNotFound(name, field: "vendorThingID")
        }
        return thing
    }

    /// The user in the path.
    ///
    /// - Throws: ``KiiFailure`` 401 with `refusal` if the caller may not act for the user.
    func ownUser(_ call: CloudCall, _ refusal: String) throws(KiiFailure) -> UserRecord {
        let user = try self.user(call)
        try self.require(self.mayAct(call.caller, for: .user(user.id)), call, refusal)
        return user
    }

    /// The thing in the path.
    ///
    /// - Throws: ``KiiFailure`` 401 with `refusal` if the caller may not act for the thing.
    func ownThing(_ call: CloudCall, _ refusal: String) throws(KiiFailure) -> ThingRecord {
        let thing = try self.thing(call)
        try self.require(self.mayAct(call.caller, for: .thing(thing.id)), call, refusal)
        return thing
    }

    func principal(userID: String?, thingID: String?) throws(KiiFailure) -> Principal {
        switch (userID, thingID) {
        case (let userID?, nil): return .user(try self.user(id: userID).id)
        case (nil, let thingID?): return .thing(try self.thing(id: thingID).id)
        default: throw .invalidInput("Exactly one of userID and thingID is needed.")
        }
    }
}
