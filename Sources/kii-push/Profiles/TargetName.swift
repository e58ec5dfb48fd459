import KiiPushCommandLine
import KiiPushCore

/// The spelling of a scope on the command line: `app`, `user:me`, `user:ID`, `group:ID`, `thing:me` or `thing:ID`.
struct ScopeName: Sendable, Hashable, ExpressibleByArgument {
    private enum Kind: String { case user, group, thing }

    static let app = ScopeName(kind: nil, id: nil)

    private let kind: Kind?
    private let id: String?

    private init(kind: Kind?, id: String?) { (self.kind, self.id) = (kind, id) }

    init?(argument: String) { self.init(argument) }

    init?(_ text: some StringProtocol) {
        guard text != "app" else {
            self = .app
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])), !parts[1].isEmpty,
            !parts[1].contains("/")
        else { return nil }
        self.init(kind: kind, id: parts[1] == "me" && kind != .group ? nil : String(parts[1]))
    }

    static var expectation: String { "app, user:me, user:ID, group:ID, thing:me or thing:ID" }

    var isOfMe: Bool { self.kind != nil && self.id == nil }

    /// The scope, with the principal's ID in place of `me`.
    ///
    /// - Parameter principal: the principal for `me`; `nil` if unknown.
    /// - Throws: ``CommandFailure`` with exit 64 if `me` is unknown, or is a thing where a user is meant, or the
    ///   reverse.
    func resolved(for principal: Principal?) throws -> Scope {
        guard let kind else { return .app }
        let id = try self.id ?? Self.me(kind, principal)
        return switch kind {
        case .user: .user(id)
        case .group: .group(id)
        case .thing: .thing(id)
        }
    }

    private static func me(_ kind: Kind, _ principal: Principal?) throws -> String {
        let name = "'\(kind.rawValue):me'"
        guard let principal else {
            throw CommandFailure(.usage, "\(name): nobody is registered here", hint: "write the ID in place of 'me'")
        }
        guard principal.kind == kind.rawValue else {
            throw CommandFailure(
                .usage, "\(name): this profile receives as a \(principal.kind)", hint: "write \(principal.kind):me")
        }
        return principal.id
    }
}

/// The spelling of a topic or bucket on the command line: a name, or a scope, a slash and a name.
struct TargetName: Sendable, Hashable, ExpressibleByArgument {
    let scope: ScopeName
    let id: String

    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
        guard let id = parts.last, Topic.isValidID(String(id)) else { return nil }
        switch parts.count {
        case 1: self.scope = .app
        case 2:
            guard let scope = ScopeName(parts[0]) else { return nil }
            self.scope = scope
        default: return nil
        }
        self.id = String(id)
    }

    static var expectation: String {
        "a name of up to 64 letters, digits, '_' and '-', as NAME, user:me/NAME, user:ID/NAME, group:ID/NAME, "
            + "thing:me/NAME or thing:ID/NAME"
    }
}
