/// The agent's account in the cloud: it signs the agent in and owns its installation.
public enum KiiAccount: Sendable, Hashable {
    /// A user without name or password, made on the first registration and kept by its token alone.
    ///
    /// Losing the state directory loses the user.
    /// - Source: Kii's guide, "pseudo users".
    case pseudoUser
    /// A user with a login name, e-mail address or phone number. If `createsIfMissing` is set and the name is unknown,
    /// the agent registers the user first.
    case user(name: String, password: Secret, createsIfMissing: Bool = false)
    /// A thing, by its vendor's ID. The agent registers it, with `type`, when the cloud does not know it yet.
    case thing(vendorThingID: String, password: Secret, type: String? = nil)

    /// Identifies the account in the state file, to notice that another account uses the state directory. No secret.
    var fingerprint: String {
        switch self {
        case .pseudoUser: "pseudo-user"
        case .user(let name, _, _): "user:\(name)"
        case .thing(let vendorThingID, _, _): "thing:\(vendorThingID)"
        }
    }
}
