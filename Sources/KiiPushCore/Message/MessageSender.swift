/// Who sent a push, or whose change caused it.
public enum MessageSender: Sendable, Hashable {
    /// A user, by ID.
    case user(String)
    /// A thing, by ID.
    case thing(String)
    /// The app's administrator.
    case admin
    /// A sender whose address has a form that this version does not know, as it stands in the payload.
    case other(String)

    /// Takes a sender's address, such as `kiicloud://things/th.1`; nil where it names nobody who can send.
    init?(_ address: KiiURI) {
        switch address {
        case .owner(.user(let id)): self = .user(id)
        case .owner(.thing(let id)): self = .thing(id)
        case .administrator("APP_ADMIN"): self = .admin
        default: return nil
        }
    }

    /// Takes the field `sender`. Kii does not publish how it tells users from things; its things' IDs start with `th.`.
    init(id: String) { self = id.utf8.starts(with: "th.".utf8) ? .thing(id) : .user(id) }
}

extension ReceivedMessage {
    /// Who sent the push, or whose change caused it; `nil` if the payload does not say.
    ///
    /// The address `senderURI` counts before the ID `sender`, unless its form is unknown and there is an ID.
    public var sender: MessageSender? {
        let address = self.fields.addressText(slot: PayloadKey.senderURI)
        return address.map(KiiURI.init).flatMap(MessageSender.init(_:))
            ?? self.fields.nonEmptyText(.sender).map(MessageSender.init(id:)) ?? address.map(MessageSender.other)
    }

    /// The sender's address; `nil` if it is absent or empty, as in every payload with short keys.
    public var senderURI: KiiURI? { self.fields.address(slot: PayloadKey.senderURI) }
}
