/// A thing-if command, which arrives on the same MQTT topic as pushes.
///
/// - Source: Kii's guide to push notifications for things; `kii_thing_if` reads `/commandID` and `/actions`.
public struct ThingCommand: Sendable, Hashable, CustomStringConvertible {
    /// The command's ID, under which the thing reports its result.
    public let commandID: String
    /// The actions that the thing should perform.
    public let actions: JSONValue
    /// The whole payload, with `schema`, `schemaVersion`, `target`, `issuer`, `title` and `description` if present.
    public let rawPayload: JSONValue

    /// The kind without content, so that no log shows the actions.
    public var description: String { "thing-if command" }
}

extension ThingCommand {
    /// `actions` must be an array or an object. A push may have custom keys `commandID` and `actions` too, but Kii
    /// refuses arrays and objects as custom values.
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
