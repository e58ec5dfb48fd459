import KiiPushCore

extension Route {
    private static let commandsOfTarget = "targets/{target}/commands"

    static let commands: [Route] = [
        Route("POST", commandsOfTarget, EmulatedCloud.sendCommand),
        Route("GET", commandsOfTarget, EmulatedCloud.listCommands),
        Route("GET", "\(commandsOfTarget)/{command}", EmulatedCloud.showCommand),
        Route("PUT", "\(commandsOfTarget)/{command}/action-results", EmulatedCloud.takeResults),
    ]
}

/// Commands of Kii's thing-if API. The cloud sends a command to a thing over MQTT. When the thing has answered, the
/// issuer gets a push.
extension EmulatedCloud {
    private static let commandsPerPage = 200
    private static let bytesPerPage = 1 << 20

    func sendCommand(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let thing = try self.target(call)
        let body = try call.object(of: "CommandCreationRequest")
        let request = try self.checkedCommand(body, to: thing, call)
        let number = self.state.commands.values.count { $0.thingID == thing.id }
        var command = CommandRecord(
            id: self.identifiers.unique(), thingID: thing.id, number: number, request: request, state: .sendFailed,
            createdAt: call.now, modifiedAt: call.now)
        // Only over MQTT: Kii's format for other networks is unknown.
        let rendering = PushRendering(.mqtt, command.payload)
        let source = "things/\(thing.id)"
        let message = self.deliver(.command, source, [rendering], to: [.thing(thing.id)], call) { _ in true }
        if message.deliveries[.mqtt] != nil {
            command.state = self.connectionStatus(of: thing)?.isOnline ?? false ? .delivered : .sending
        }
        self.state.save(command)
        return .json(201, nil, ["commandID": JSONValue(command.id)])
    }

    /// If the request's media type is not `application/json`, the command groups its actions by the aliases of traits.
    private func checkedCommand(
        _ body: JSONValue, to thing: ThingRecord, _ call: CloudCall
    ) throws(KiiFailure) -> JSONValue {
        let byAlias = call.mediaType != "application/json"
        let issuer = try body.neededText("issuer")
        let owner = try self.owner(written: issuer)
        guard thing.owners.contains(owner) else { throw .invalidInput("issuer has to be an owner of the target.") }
        let maySpeak = self.belongs(call.caller, to: owner) || call.caller == .thing(thing.id)
        try self.require(maySpeak, call, "Only the issuer and the thing may send this command.")
        var kept = [("issuer", JSONValue(issuer))]
        if !byAlias {
            let schema = try body.neededText("schema")
            guard let version = body["schemaVersion"]?.int64 else {
                throw .invalidInput("schemaVersion has to be a whole number.")
            }
            kept += [("schema", JSONValue(schema)), ("schemaVersion", JSONValue(version))]
        }
        guard let actions = body["actions"],
            let names = CommandRecord.actionNames(in: actions, byAlias: byAlias)
        else { throw .invalidInput("actions has to be an array of objects, with traits of lists of actions by alias.") }
        guard !names.isEmpty else { throw KiiFailure(400, "WRONG_COMMAND", "At least one action is required.") }
        kept.append(("actions", actions))
        for (name, limit) in [("title", 50), ("description", 200)] {
            guard let text = try body.text(name) else { continue }
            guard text.count <= limit else { throw .invalidInput("\(name) has more than \(limit) characters.") }
            kept.append((name, JSONValue(text)))
        }
        if let metadata = body.present("metadata") {
            guard metadata.kind == .object else { throw .invalidInput("metadata has to be an object.") }
            kept.append(("metadata", metadata))
        }
        return .object(kept)
    }

    func listCommands(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let thing = try self.target(call)
        let most = Int64(EmulatedCloud.commandsPerPage)
        let limit = min(try self.number("bestEffortLimit", in: 1...Int64.max, default: most, call), most)
        var start = 0
        if let key = call.target.query["paginationKey"] {
            // Kii's pagination keys look like `200/2`.
            guard let number = key.split(separator: "/").last.flatMap({ Int($0) }), number >= 0 else {
                throw .invalidInput("paginationKey has to be the nextPaginationKey of an answer.")
            }
            start = number
        }
        let rest = self.state.commands(of: thing.id).dropFirst(start)
        var bytesLeft = EmulatedCloud.bytesPerPage
        let page = rest.prefix(Int(limit)).prefix { command in
            defer { bytesLeft -= command.json.serialized().count }
            return bytesLeft > 0
        }
        let answer = JSONValue.object(present: [
            "commands": JSONValue(page.map { .object($0.description) }),
            "nextPaginationKey": page.count == rest.count ? String?.none : "\(most)/\(start + page.count)",
        ])
        return .json(200, nil, answer)
    }

    func showCommand(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        .json(200, nil, .object(try self.command(call).description))
    }

    func takeResults(_ call: CloudCall) throws(KiiFailure) {
        var command = try self.command(call)
        let body = try call.object(of: "CommandResultsUpdateRequest")
        guard command.take(results: body["actionResults"], now: call.now) else {
            throw .invalidInput("actionResults has to be an array of objects with `succeeded` for each action.")
        }
        self.state.save(command)
        for user in self.issuers(of: command) {
            // Kii's sample app reads `commandID`. The other members of Kii's message are unknown.
            let message: JSONMembers = [
                ("commandID", JSONValue(command.id)), ("senderURI", "kiicloud://admins/APP_ADMIN"),
                ("sourceURI", JSONValue("kiicloud://users/\(user)")),
            ]
            let rendering = PushRendering(.mqtt, message)
            self.deliver(.directPush, "users/\(user)", [rendering], to: [.user(user)], call) { _ in true }
        }
    }

    /// The issuing user, or the members of the issuing group. Empty if the user or group is deleted.
    private func issuers(of command: CommandRecord) -> [String] {
        guard let owner = try? self.owner(written: command.request["issuer"]?.string ?? "") else { return [] }
        switch owner {
        case .user(let id): return [id]
        case .group(let id): return self.state.groups[id]?.members.sorted() ?? []
        case .app, .thing: return []
        }
    }

    private func target(_ call: CloudCall) throws(KiiFailure) -> ThingRecord {
        let (text, prefix) = (call["target"], "thing:")
        // Two of Kii's clients write the prefix in capitals.
        guard text.prefix(prefix.count).lowercased() == prefix,
            let thing = self.state.things[String(text.dropFirst(prefix.count))]
        else { throw KiiFailure(404, "TARGET_NOT_FOUND", "The target was not found.") }
        let mayAct = self.mayAct(call.caller, for: .thing(thing.id))
        try self.require(mayAct, call, "Only the thing and its owners may use its commands.")
        return thing
    }

    private func command(_ call: CloudCall) throws(KiiFailure) -> CommandRecord {
        let thing = try self.target(call)
        guard let command = self.state.commands[call["command"]], command.thingID == thing.id else {
            throw KiiFailure(404, "COMMAND_NOT_FOUND", "The command was not found.")
        }
        return command
    }
}
