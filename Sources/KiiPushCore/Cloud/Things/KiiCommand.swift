/// A command to a thing (thing-if), as the cloud stores it. A time is `nil` if the cloud did not send it.
public struct KiiCommand: Sendable, Hashable {
    /// The ID that the cloud chose.
    public var commandID: String
    /// The command's progress, in the server's spelling: `SENDING`, `DELIVERED`, `INCOMPLETE`, `DONE` or `SEND_FAILED`.
    public var state: String
    /// The actions for the thing: an array of objects.
    public var actions: JSONValue
    /// The results of the actions; empty until the thing reports them.
    public var results: [ThingActionResult]
    /// The time of issue, by the cloud's clock.
    public var createdAt: Timestamp?
    /// The time of the last change, by the cloud's clock.
    public var modifiedAt: Timestamp?
    /// Further fields, such as `issuer`, `schema` and `title`: a JSON object.
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

/// The result of one action of a command.
public struct ThingActionResult: Sendable, Hashable {
    /// The action's name.
    public var action: String
    /// The alias under which the command lists the action; `nil` if the command has no aliases.
    public var alias: String?
    /// Whether the thing performed the action.
    public var succeeded: Bool
    /// The reason of a failure. Default `nil`.
    public var errorMessage: String?
    /// Further data of the thing: a JSON object. Default `nil`.
    public var data: JSONValue?

    /// Makes the result of an action.
    public init(
        _ action: String, alias: String? = nil, succeeded: Bool, errorMessage: String? = nil, data: JSONValue? = nil
    ) {
        (self.action, self.alias, self.succeeded) = (action, alias, succeeded)
        (self.errorMessage, self.data) = (errorMessage, data)
    }

    fileprivate var json: JSONValue {
        let result = JSONValue.object(present: [
            "succeeded": self.succeeded, "errorMessage": self.errorMessage, "data": self.data,
        ])
        return .object([(self.action, result)])
    }
}

/// Commands of thing-if, which a thing receives through a ``ThingCommandHandler``.
extension KiiSession {
    /// Reads a command to a thing. The thing, its owners and an administrator may read the command.
    ///
    /// When the thing reports results, the command's issuer gets a direct push: its ``ReceivedMessage/rawPayload`` has
    /// `commandID` and no `actions`.
    ///
    /// - Throws: ``KiiError`` with `COMMAND_NOT_FOUND` or, for a missing thing, `TARGET_NOT_FOUND`.
    /// - Source: `GET /thing-if/apps/{appID}/targets/thing:{thingID}/commands/{commandID}`
    public func command(_ commandID: String, of thingID: String) async throws -> KiiCommand {
        let call = KiiCall<KiiCommand>.reading(try .command(commandID, of: thingID), KiiCommand.init)
        return try await self.perform(call.with { $0.service = .thingIF })
    }

    /// Reports the results of a command's actions, and replaces earlier results. The command is done when every action
    /// has a result.
    ///
    /// If the command lists its actions by alias, each result needs its alias.
    ///
    /// - Throws: ``KiiError`` with `COMMAND_NOT_FOUND` or, for a missing thing, `TARGET_NOT_FOUND`.
    /// - Source: `PUT /thing-if/apps/{appID}/targets/thing:{thingID}/commands/{commandID}/action-results`
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
    /// Results keyed by action, or in lists keyed by alias.
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
                throw result.failure(.missing, at: "succeeded")
            }
            results.append(
                ThingActionResult(
                    name, alias: alias, succeeded: succeeded,
                    errorMessage: try result.optionalString("errorMessage"), data: result.present("data")?.value))
        }
        return results
    }
}
