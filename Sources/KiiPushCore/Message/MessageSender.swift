/// The sender of a push, or the principal whose change caused it.
public enum MessageSender: Sendable, Hashable {
    /// A user, by ID.
    case user(String)
    /// A thing, by ID.
    case thing(String)
    /// The app's administrator.
    case admin
    /// A sender whose address has an unknown form, verbatim.
    case other(String)

    init?(_ address: KiiURI) {
        switch address {
        case .owner(.user(let id)): self = .user(id)
        case .owner(.thing(let id)): self = .thing(id)
        case .administrator("APP_ADMIN"): self = .admin
        default: return nil
        }
    }

    /// IDs of things start with `th.`; Kii does not document another difference from users.
    init(id: String) { self = id.utf8.starts(with: "th.".utf8) ? .thing(id) : .user(id) }
}

extension ReceivedMessage {
    /// The sender of the push, or the principal whose change caused it; `nil` if the payload names none.
    ///
    /// The address `senderURI` takes precedence over the ID in `sender`, unless the address has an unknown form.
    public var sender: MessageSender? {
        let address = self.fields.addressText(slot: PayloadKey.senderURI)
        return address.map(KiiURI.init).flatMap(MessageSender.init(_:))
            ?? self.fields.nonEmptyText(.sender).map(MessageSender.init(id:)) ?? address.map(MessageSender.other)
    }

    /// The sender's address; `nil` if absent or empty, as in every payload with short keys.
    public var senderURI: KiiURI? { self.fields.address(slot: PayloadKey.senderURI) }
}
