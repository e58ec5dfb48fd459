/// Who the agent is in the cloud: how it signs in and who owns its installation.
public enum KiiAccount: Sendable, Hashable {
    /// A user without name or password, made on the first registration and kept by its token alone.
    ///
    /// Losing the state directory loses the user.
    /// - Source: Kii's guide, "pseudo users".
    case pseudoUser
    /// A user with a login name, e-mail address or phone number. It is registered first when `createsIfMissing` is set
    /// and the name is unknown.
    case user(name: String, password: Secret, createsIfMissing: Bool = false)
    /// A thing, by its vendor's ID. It is registered, with `type`, when the cloud does not know it yet.
    case thing(vendorThingID: String, password: Secret, type: String? = nil)

    /// What is kept beside the tokens, to notice that a state directory is used for another account. No secret.
    var fingerprint: String {
        switch self {
        case .pseudoUser: "pseudo-user"
        case .user(let name, _, _): "user:\(name)"
        case .thing(let vendorThingID, _, _): "thing:\(vendorThingID)"
        }
    }
}
