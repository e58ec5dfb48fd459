import KiiPushCore

/// A message put together: data or a fixture, changes of the data, and the options.
struct ContentOptions: ParsableArguments {
    @OptionGroup(title: "Message") var data: DataOptions

    @Option(value: "NAME", help: "Begin with a built-in example ('kii-push send fixtures').")
    var fixture: MessageFixture?

    @Option(
        value: "POINTER=VALUE",
        help:
            "Set a member of the data, named by a JSON Pointer (RFC 6901): /msg=hi. A VALUE that is no JSON is a text. "
            + "May be repeated."
    )
    var set: [DataChange] = []

    @OptionGroup(title: "Message") var message: MessageOptions
    @OptionGroup(title: "Payloads of Apple's devices") var alert: AlertOptions
    @OptionGroup(title: "Networks") var networks: NetworkOptions

    func validate() throws {
        if self.fixture != nil, self.data.isGiven {
            throw ValidationError("'--fixture' excludes '--data' and '--data-file'")
        }
        let hasData = self.data.isGiven || self.fixture != nil || !self.set.isEmpty
        guard hasData || self.alert.firstGiven != nil || self.networks.isGiven else {
            throw ValidationError(
                "give the data with '--data', '--data-file', '--fixture' or '--set', or an alert with '--alert'")
        }
        if let option = self.alert.firstGiven, !self.networks.network.isEmpty {
            try self.networks.require([.apns], for: option)
        }
    }

    /// Refuses changes that would have no effect. `written`: what else the cloud writes, and what to do about each key.
    func check(written: [String: String] = [:]) throws {
        let rule = DataChangeRule.message(written: self.message.written.merging(written) { $1 })
        for change in self.set { try rule.check(change) }
    }

    /// - Throws: ``CommandFailure`` when the data is none or cannot be changed so; ``KiiInputError`` when a member is null:
    ///   refused like a nested value, before anything is sent.
    func assembled() throws -> PushMessage {
        var message = self.fixture?.message ?? PushMessage(mqtt: nil)
        if let data = try self.data.given() { message.data = data }
        if !self.set.isEmpty { message.data = try self.set.applied(to: message.data ?? [:]) }
        if let key = message.data?.members?.first(where: \.value.isNull)?.key {
            let pointer = JSONPointer(tokens: ["data", key])
            throw KiiInputError(.message, at: pointer, rule: "a string, number or Boolean, not null")
        }
        self.message.apply(to: &message)
        message.apns = self.alert.applied(to: message.apns)
        self.networks.apply(to: &message)
        return message
    }
}

extension [DataChange] {
    /// The data with all changes, in order. Throws as ``DataChange/applied(to:)``, and for a key that is there twice.
    func applied(to data: JSONValue) throws -> JSONValue {
        let changed = try self.reduce(data) { data, change in try change.applied(to: data) }
        try DataOptions.checkKeys(of: changed)
        return changed
    }
}
