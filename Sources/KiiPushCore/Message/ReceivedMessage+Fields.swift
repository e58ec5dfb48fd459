extension ReceivedMessage {
    /// A field of Kii's as text: a string's content, a number or truth value as it is written.
    ///
    /// `nil` if the payload does not have the field, or has null, an array or an object there.
    public func value(of field: MessageField) -> String? { self.fields.text(field) }
    /// What happened (push to app), or the sender's own type of message; `nil` if it is absent or empty.
    public var eventType: EventType? { self.fields.nonEmptyText(.type).map(EventType.init) }
    /// Whether Kii or a sender caused the push; `nil` if it is absent or empty.
    public var origin: MessageOrigin? { self.fields.nonEmptyText(.origin).map(MessageOrigin.init) }
    /// The app that caused the push; `nil` if it is absent or empty.
    public var appID: String? { self.fields.nonEmptyText(.appID) }
    /// When it was sent; `nil` if it does not say, or not as a whole number of milliseconds.
    public var when: Timestamp? { self.fields.timestamp(.when) }
    /// When the object changed; `nil` if it does not say (as after a deletion), or not in whole milliseconds.
    public var modifiedAt: Timestamp? { self.fields.timestamp(.objectModifiedAt) }
    /// The text of the alert that is to be shown; `nil` without an alert, and for one that has a title or a key alone.
    public var alertBody: String? { self.content?.alert?.body }
    /// The member `key` of the payload's top level, Kii's own keys included.
    public subscript(key: String) -> JSONValue? { self.rawPayload[key] }

    /// The sender's own keys: the payload's top level without Kii's keys of this family and without `aps`.
    ///
    /// A sender's key with the name of one of Kii's is not among them, whatever its value: ``subscript(_:)`` reads it.
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

    /// The payload's top level as a type of the program's own.
    ///
    /// - Throws: `DecodingError`; see ``JSONValue/decode(_:)``.
    public func decode<Result: Decodable>(_ type: Result.Type = Result.self) throws -> Result {
        try self.rawPayload.decode(type)
    }
}
