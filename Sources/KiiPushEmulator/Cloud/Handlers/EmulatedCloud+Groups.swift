import KiiPushCore

extension Route {
    static let groups: [Route] = [
        Route("POST", "groups", EmulatedCloud.createGroup),
        Route("GET", "groups", EmulatedCloud.listGroups),
        Route("PUT", "groups/{group}", EmulatedCloud.createNamedGroup),
        Route("GET", "groups/{group}", EmulatedCloud.showGroup),
        Route("DELETE", "groups/{group}", EmulatedCloud.deleteGroup),
        Route("PUT", "groups/{group}/name", EmulatedCloud.renameGroup),
        Route("PUT", "groups/{group}/owner", EmulatedCloud.changeGroupOwner),
        Route("GET", "groups/{group}/members", EmulatedCloud.listMembers),
        Route("PUT", "groups/{group}/members/{user}", EmulatedCloud.addMember),
        Route("DELETE", "groups/{group}/members/{user}", EmulatedCloud.removeMember),
    ]
}

/// - Source: Kii's REST reference of groups.
extension EmulatedCloud {
    private static let nameLengths = 1...190

    func createGroup(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse { try self.createGroup(id: nil, call) }

    func createNamedGroup(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        try self.requireMayCreateGroup(call)
        let id = call["group"]
        guard self.state.groups[id] == nil else {
            throw KiiFailure(
                409, "GROUP_ALREADY_EXISTS", "A group with this ID exists.", ["groupID": id, "appID": self.appID])
        }
        guard Names.isLegal(id, 1...30, extra: "-_."), id == id.lowercased() else {
            throw .invalidInput("A group ID has to be 1 to 30 of a-z, 0-9, `-`, `_` and `.`.")
        }
        return try self.createGroup(id: id, call)
    }

    /// The owner may be another user than the caller, as in a live test of Kii's client for Java.
    private func createGroup(id: String?, _ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        try self.requireMayCreateGroup(call)
        let body = try call.object(of: "GroupCreationRequest")
        let name = try self.checkedGroupName(body.neededText("name"))
        let owner = try body.text("owner") ?? call.caller.userID
        if let owner { _ = try self.user(id: owner) }
        guard let texts = (body.present("members") ?? []).array?.map({ $0.string }), !texts.contains(nil) else {
            throw .invalidInput("members has to be an array of user IDs.")
        }
        let members = texts.compactMap { $0 }
        let known = members.filter { self.state.users[$0] != nil }
        let group = GroupRecord(
            id: id ?? self.identifiers.principal(), name: name, owner: owner,
            members: Set(known + [owner].compactMap { $0 }))
        self.state.save(group)
        let notFound = members.filter { self.state.users[$0] == nil }
        return .json(
            201, "GroupCreationResponse", .object(all: ["groupID": group.id, "notFoundUsers": notFound]),
            fields: [self.location("groups/\(group.id)", call)])
    }

    private func requireMayCreateGroup(_ call: CloudCall) throws(KiiFailure) {
        let mayCreate = call.caller == .admin || call.caller.userID != nil
        try self.require(mayCreate, call, "Only users and the administrator may create groups.")
    }

    /// Any caller may list the groups of one member or owner. Only the administrator may list all groups.
    func listGroups(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let (member, owner) = (call.target.query["is_member"], call.target.query["owner"])
        if let member { _ = try self.user(id: member) }
        if let owner { _ = try self.user(id: owner) }
        let mayList = member != nil || owner != nil || call.caller == .admin
        try self.require(mayList, call, "Only the administrator may list all groups.")
        let groups = self.state.groups.values.filter { group in
            member.map { group.members.contains($0) } ?? true && owner.map { group.owner == $0 } ?? true
        }
        let list = groups.sorted { $0.id < $1.id }.map { JSONValue.object($0.description) }
        return .json(200, "GroupsRetrievalResponse", ["groups": JSONValue(list)])
    }

    func showGroup(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        .json(200, "GroupRetrievalResponse", .object(try self.group(id: call["group"]).description))
    }

    func deleteGroup(_ call: CloudCall) throws(KiiFailure) { self.state.remove(try self.managedGroup(call)) }

    func renameGroup(_ call: CloudCall) throws(KiiFailure) {
        var group = try self.managedGroup(call)
        guard call.mediaType == "text/plain" else { throw .mediaType(["text/plain"]) }
        guard let name = String(validating: call.request.body, as: UTF8.self) else {
            throw .invalidInput("The name is not UTF-8.")
        }
        group.name = try self.checkedGroupName(name)
        self.state.save(group)
    }

    private func checkedGroupName(_ name: String) throws(KiiFailure) -> String {
        let lengths = EmulatedCloud.nameLengths
        guard lengths.contains(name.unicodeScalars.count) else {
            throw .invalidInput("A group's name has to have \(lengths.lowerBound) to \(lengths.upperBound) characters.")
        }
        return name
    }

    /// The new owner becomes a member. The former owner stays a member.
    func changeGroupOwner(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        var group = try self.managedGroup(call)
        let owner = try self.user(id: call.object(of: "GroupOwnerChangeRequest").neededText("owner"))
        group.owner = owner.id
        group.members.insert(owner.id)
        self.state.save(group)
        return HTTPResponse(status: 200)
    }

    func listMembers(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let members = try self.group(id: call["group"]).members.sorted().map { ["userID": JSONValue($0)] as JSONValue }
        return .json(200, "MembersRetrievalResponse", ["members": JSONValue(members)])
    }

    func addMember(_ call: CloudCall) throws(KiiFailure) {
        var group = try self.managedGroup(call)
        group.members.insert(try self.user(call).id)
        self.state.save(group)
    }

    /// An owner who leaves still owns the group. The former member's subscriptions in the group remain, but get no
    /// messages without the right to subscribe.
    func removeMember(_ call: CloudCall) throws(KiiFailure) {
        var group = try self.group(id: call["group"])
        let user = try self.user(call)
        let mayRemove = call.caller == .user(user.id) || self.mayManage(call.caller, group)
        try self.require(mayRemove, call, "Only the owner may remove another member.")
        guard group.members.remove(user.id) != nil else { throw self.userNotFound(user.id) }
        self.state.save(group)
    }

    func managedGroup(_ call: CloudCall) throws(KiiFailure) -> GroupRecord {
        let group = try self.group(id: call["group"])
        try self.require(self.mayManage(call.caller, group), call, "Only the owner may manage the group.")
        return group
    }

    func mayManage(_ caller: Caller, _ group: GroupRecord) -> Bool {
        caller == .admin || caller == group.owner.map { Caller.user($0) }
    }
}
