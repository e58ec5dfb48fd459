import KiiPushCore

extension EmulatedCloud {
    /// The scope that the path names; its owner exists.
    func scope(_ call: CloudCall) throws(KiiFailure) -> Scope {
        if call.parameters["user"] != nil { return .user(try self.user(call).id) }
        if call.parameters["thing"] != nil { return .thing(try self.thing(call).id) }
        guard let groupID = call.parameters["group"] else { return .app }
        guard self.state.groups[groupID] != nil else { throw .groupNotFound(groupID, app: self.appID) }
        return .group(groupID)
    }

    /// The user of the path: an ID, `me`, or `{LOGIN_NAME|EMAIL|PHONE}:{name}`.
    func user(_ call: CloudCall) throws(KiiFailure) -> UserRecord {
        try self.user(call["user"], call)
    }

    private func user(_ text: String, _ call: CloudCall) throws(KiiFailure) -> UserRecord {
        if text == "me" {
            guard case .user(let id) = call.caller, let user = self.state.users[id] else {
                throw .unauthorized("`me` needs a user's token.", app: self.appID, caller: call.caller)
            }
            return user
        }
        if let colon = text.firstIndex(of: ":") {
            let fields = ["LOGIN_NAME": "loginName", "EMAIL": "emailAddress", "PHONE": "phoneNumber"]
            let value = String(text[text.index(after: colon)...])
            guard let field = fields[String(text[..<colon])] else {
                throw .userNotFound(value: text, app: self.appID)
            }
            guard let user = self.state.userID(field: field, value: value).flatMap({ self.state.users[$0] }) else {
                throw .userNotFound(field: field, value: value, app: self.appID)
            }
            return user
        }
        guard let user = self.state.users[text] else { throw .userNotFound(value: text, app: self.appID) }
        return user
    }

    /// The thing of the path: an ID or `VENDOR_THING_ID:{vendorThingID}`.
    func thing(_ call: CloudCall) throws(KiiFailure) -> ThingRecord {
        let text = call["thing"]
        let prefix = "VENDOR_THING_ID:"
        if text.hasPrefix(prefix) {
            let name = String(text.dropFirst(prefix.count))
            guard let thing = self.state.thingID(vendorThingID: name).flatMap({ self.state.things[$0] }) else {
                throw .thingNotFound(field: "vendorThingID", value: name, app: self.appID)
            }
            return thing
        }
        guard let thing = self.state.things[text] else { throw .thingNotFound(value: text, app: self.appID) }
        return thing
    }

    /// A principal that a body or query names by `userID` or `thingID`.
    func principal(userID: String?, thingID: String?) throws(KiiFailure) -> Principal {
        switch (userID, thingID) {
        case (let userID?, nil):
            guard self.state.users[userID] != nil else { throw .userNotFound(value: userID, app: self.appID) }
            return .user(userID)
        case (nil, let thingID?):
            guard self.state.things[thingID] != nil else { throw .thingNotFound(value: thingID, app: self.appID) }
            return .thing(thingID)
        default: throw .invalidInput("Exactly one of userID and thingID is needed.")
        }
    }
}
