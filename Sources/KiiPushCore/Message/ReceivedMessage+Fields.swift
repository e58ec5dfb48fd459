extension ReceivedMessage {
    /// The text of one of Kii's fields: a string's content, or a number or Boolean as written.
    ///
    /// `nil` if the field is absent, null, an array or an object.
    public func value(of field: MessageField) -> String? { self.fields.text(field) }
    /// The event of a push to app, or the sender's own message type; `nil` if absent or empty.
    public var eventType: EventType? { self.fields.nonEmptyText(.type).map(EventType.init) }
    /// The cause of the push; `nil` if absent or empty.
    public var origin: MessageOrigin? { self.fields.nonEmptyText(.origin).map(MessageOrigin.init) }
    /// The app that caused the push; `nil` if absent or empty.
    public var appID: String? { self.fields.nonEmptyText(.appID) }
    /// The time of sending; `nil` if absent, or no whole number of milliseconds.
    public var when: Timestamp? { self.fields.timestamp(.when) }
    /// The time of the object's change; `nil` if absent (as after a deletion), or no whole number of milliseconds.
    public var modifiedAt: Timestamp? { self.fields.timestamp(.objectModifiedAt) }
    /// The alert's text; `nil` without an alert, and if the alert has only a title or a key.
    public var alertBody: String? { self.content?.alert?.body }
    /// The member `key` of the payload's top level, including Kii's own keys.
    public subscript(key: String) -> JSONValue? { self.rawPayload[key] }

    /// The sender's own members: the payload's top level without Kii's long keys or, in a payload with short keys,
    /// without Kii's short keys and `aps`.
    ///
    /// A sender's key with the name of one of Kii's keys is missing here; ``subscript(_:)`` reads it.
    public var customMembers: [JSONMember] {
        (self.rawPayload.members ?? []).filter { member in
            var key = member.key
            let slot = key.withUTF8 { utf8 in utf8.baseAddress.flatMap { PayloadKey.slot($0, count: utf8.count) } }
            guard let slot else { return true }
            switch self.keyFamily {
            case .long: return slot >= PayloadKey.shortFields
            case .short: return slot < PayloadKey.shortFields || slot > PayloadKey.aps
            }
        }
    }

    /// Decodes the payload's top level as a type of the program.
    ///
    /// - Throws: `DecodingError`; see ``JSONValue/decode(_:)``.
    public func decode<Result: Decodable>(_ type: Result.Type = Result.self) throws -> Result {
        try self.rawPayload.decode(type)
    }
}
