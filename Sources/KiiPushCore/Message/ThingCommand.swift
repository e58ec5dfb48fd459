/// A thing-if command: it arrives on the same MQTT topic as pushes and is recognised by its `commandID` and `actions`.
///
/// - Source: Kii's guide to push notifications for things; `kii_thing_if` reads `/commandID` and `/actions`.
public struct ThingCommand: Sendable, Hashable, CustomStringConvertible {
    /// The command's ID, under which its result is reported.
    public let commandID: String
    /// What the thing is asked to do.
    public let actions: JSONValue
    /// The whole payload, with `schema`, `schemaVersion`, `target`, `issuer`, `title` and `description` if it has them.
    public let rawPayload: JSONValue

    /// The command's kind without its content, so that no log shows what a thing was told.
    public var description: String { "thing-if command" }
}

extension ThingCommand {
    /// Recognises a command by its two keys. `actions` must be nested: a push's custom keys may have these names, but Kii
    /// refuses nested ones.
    init?(_ scan: PayloadScan, of bytes: [UInt8]) {
        guard let actions = scan.value(slot: PayloadKey.actions, of: bytes),
            actions.kind == .array || actions.kind == .object,
            let commandID = scan.value(slot: PayloadKey.commandID, of: bytes)?.string
        else { return nil }
        self.init(
            commandID: commandID, actions: actions,
            rawPayload: JSONValue(slice: JSONSlice(bytes: bytes, range: scan.range)))
    }
}
