/// The agent's account in the cloud. The account owns the agent's installation.
public enum KiiAccount: Sendable, Hashable {
    /// A user without name or password. The agent makes the user at its first registration, and keeps the user's token.
    ///
    /// If the state directory is lost, the user is lost.
    /// - Source: Kii's guide, "pseudo users".
    case pseudoUser
    /// A user with a login name, e-mail address or phone number. If `createsIfMissing` is set and the cloud does not
    /// know the name, the agent registers the user.
    case user(name: String, password: Secret, createsIfMissing: Bool = false)
    /// A thing with its vendor's ID. If the cloud does not know the thing, the agent registers it with `type`.
    case thing(vendorThingID: String, password: Secret, type: String? = nil)

    /// Identifies the account in the state file, without secrets.
    var fingerprint: String {
        switch self {
        case .pseudoUser: "pseudo-user"
        case .user(let name, _, _): "user:\(name)"
        case .thing(let vendorThingID, _, _): "thing:\(vendorThingID)"
        }
    }
}
