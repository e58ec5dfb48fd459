/// A thing-if command as the cloud knows it: what a thing was told to do, and what came of it.
public struct KiiCommand: Sendable, Hashable {
    /// The ID that the cloud chose.
    public var commandID: String
    /// The command's progress, in the server's spelling: `SENDING`, `DELIVERED`, `INCOMPLETE`, `DONE` or `SEND_FAILED`.
    public var state: String
    /// What the thing is told to do: an array of objects.
    public var actions: JSONValue
    /// What the thing has reported; empty before that.
    public var results: [ThingActionResult]
    /// When it was issued, by the cloud's clock. `nil` when the cloud did not say.
    public var createdAt: Timestamp?
    /// When it was changed last, by the cloud's clock. `nil` when the cloud did not say.
    public var modifiedAt: Timestamp?
    /// The further fields, such as `issuer`, `schema` and `title`: an object.
    public var fields: JSONValue

    private static let namedFields: Set<String> = [
        "commandID", "commandState", "actions", "actionResults", "createdAt", "modifiedAt",
    ]

    init(_ fields: KiiFields) throws(KiiResponseError) {
        self.commandID = try fields.string("commandID")
        self.state = try fields.string("commandState")
        _ = try fields.objects("actions")
        self.actions = fields.present("actions")?.value ?? []
        self.results = []
        if fields.present("actionResults") != nil {
            for element in try fields.objects("actionResults") { self.results += try element.actionResults() }
        }
        self.createdAt = try fields.optionalTimestamp("createdAt")
        self.modifiedAt = try fields.optionalTimestamp("modifiedAt")
        self.fields = fields.members(except: Self.namedFields.contains)
    }
}

/// What became of one action of a command.
public struct ThingActionResult: Sendable, Hashable {
    /// The action's name.
    public var action: String
    /// The alias under which the command has the action; `nil` in a command without traits.
    public var alias: String?
    /// Whether the thing did it.
    public var succeeded: Bool
    /// Why not. Default `nil`.
    public var errorMessage: String?
    /// What the thing says beside: an object. Default `nil`.
    public var data: JSONValue?

    /// Tells what became of an action.
    public init(
        _ action: String, alias: String? = nil, succeeded: Bool, errorMessage: String? = nil, data: JSONValue? = nil
    ) {
        (self.action, self.alias, self.succeeded) = (action, alias, succeeded)
        (self.errorMessage, self.data) = (errorMessage, data)
    }

    /// As it stands in a list of results.
    fileprivate var json: JSONValue {
        let result = JSONValue.object(present: [
            "succeeded": self.succeeded, "errorMessage": self.errorMessage, "data": self.data,
        ])
        return .object([(self.action, result)])
    }
}

/// Commands of thing-if. A thing gets them through a ``ThingCommandHandler``.
extension KiiSession {
    /// Reads a command to a thing; for the thing, its owners and an administrator.
    ///
    /// Whoever issued it gets a direct push when there are results: its ``ReceivedMessage/rawPayload`` has `commandID`
    /// and no `actions`.
    ///
    /// - Parameters:
    ///   - commandID: The command's ID.
    ///   - thingID: The thing that it is for.
    /// - Throws: ``KiiError`` with `COMMAND_NOT_FOUND` when the thing has no such command, with `TARGET_NOT_FOUND` when
    ///   there is no such thing.
    /// - Source: `GET /thing-if/apps/{appID}/targets/thing:{thingID}/commands/{commandID}`
    public func command(_ commandID: String, of thingID: String) async throws -> KiiCommand {
        let call = KiiCall<KiiCommand>.reading(try .command(commandID, of: thingID), KiiCommand.init)
        return try await self.perform(call.with { $0.service = .thingIF })
    }

    /// Reports what became of a command's actions, in place of what was reported before. With a result for each action
    /// the command is done.
    ///
    /// - Parameters:
    ///   - results: One for each action. Where the command has its actions by alias, each result names its alias.
    ///   - commandID: The command's ID.
    ///   - thingID: The thing that got it.
    /// - Throws: ``KiiError`` with `COMMAND_NOT_FOUND` when the thing has no such command, with `TARGET_NOT_FOUND` when
    ///   there is no such thing.
    /// - Source: `PUT /thing-if/apps/{appID}/targets/thing:{thingID}/commands/{commandID}/action-results`, with a media
    ///   type of its own for commands with traits. A Node client was answered 204; the tests of Kii's older thing SDK
    ///   have 201
    public func report(_ results: [ThingActionResult], of commandID: String, thing thingID: String) async throws {
        let path = try KiiPath.command(commandID, of: thingID).appending("action-results")
        let body = try KiiBody.reporting(results)
        let call = KiiCall(.put, path, statuses: [201, 204]).with {
            $0.service = .thingIF
            $0.body = body
        }
        try await self.perform(call)
    }
}

extension KiiPath {
    fileprivate static func command(_ commandID: String, of thingID: String) throws(KiiInputError) -> KiiPath {
        try KiiPath("targets").appending("thing:", thingID, as: .thingID).appending("commands")
            .appending(commandID, as: .commandID)
    }
}

extension KiiBody {
    /// The results by alias if they have one, else one after the other.
    fileprivate static func reporting(_ results: [ThingActionResult]) throws(KiiInputError) -> KiiBody {
        let aliases = results.compactMap { $0.alias }
        guard !results.isEmpty, aliases.isEmpty || aliases.count == results.count else {
            throw KiiInputError(.actionResults, rule: "one result or more, either all with an alias or none")
        }
        guard !aliases.isEmpty else { return .json(["actionResults": JSONValue(results.map { $0.json })]) }
        var seen: Set<String> = []
        let lists = aliases.filter { seen.insert($0).inserted }.map { alias in
            JSONValue.object([(alias, JSONValue(results.filter { $0.alias == alias }.map { $0.json }))])
        }
        return .kii("CommandResultsUpdateRequest", [("actionResults", JSONValue(lists))])
    }
}

extension KiiFields {
    /// The results in an element of a list: by action, or in lists by alias.
    fileprivate func actionResults(alias: String? = nil) throws(KiiResponseError) -> [ThingActionResult] {
        var results: [ThingActionResult] = []
        for name in self.names {
            let member = try self.required(name)
            if alias == nil, member.value.kind == .array {
                for element in try self.objects(name) { results += try element.actionResults(alias: name) }
                continue
            }
            let result = try member.object()
            guard let succeeded = try result.optionalBool("succeeded") else {
                throw result.error(.missing, at: "succeeded")
            }
            results.append(
                ThingActionResult(
                    name, alias: alias, succeeded: succeeded,
                    errorMessage: try result.optionalString("errorMessage"), data: result.present("data")?.value))
        }
        return results
    }
}
