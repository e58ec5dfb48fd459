import KiiPushCore

/// How scopes, topics and buckets are written in every command: `alerts`, `user:me/alerts`, `group:ID/alerts`,
/// `thing:ID/alerts`.
enum ScopeName: Sendable, Hashable {
    case app
    /// `nil` stands for `me`.
    case user(String?)
    case group(String)
    case thing(String?)

    init?(_ text: some StringProtocol) {
        guard text != "app" else {
            self = .app
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, !parts[1].contains("/") else { return nil }
        let id = String(parts[1])
        switch parts[0] {
        case "user": self = .user(id == "me" ? nil : id)
        case "group": self = .group(id)
        case "thing": self = .thing(id == "me" ? nil : id)
        default: return nil
        }
    }

    /// The scope with `me` replaced.
    ///
    /// - Parameter principal: who `me` is; `nil` where that is unknown.
    /// - Throws: ``CommandFailure`` with exit 64 when `me` is unknown, or the other kind of principal.
    func resolved(for principal: Principal?) throws -> Scope {
        switch (self, principal) {
        case (.app, _): return .app
        case (.group(let id), _): return .group(id)
        case (.user(let id?), _), (.user(nil), .user(let id)?): return .user(id)
        case (.thing(let id?), _), (.thing(nil), .thing(let id)?): return .thing(id)
        case (.user(nil), nil), (.thing(nil), nil):
            throw CommandFailure(
                .usage, "'\(self.argumentText ?? "me")': nobody is registered here",
                hint: "write the ID in place of 'me'")
        case (.user(nil), .thing?):
            throw CommandFailure(.usage, "'user:me': this profile receives as a thing", hint: "write thing:me")
        case (.thing(nil), .user?):
            throw CommandFailure(.usage, "'thing:me': this profile receives as a user", hint: "write user:me")
        }
    }
}

extension ScopeName: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }

    static var expectation: String { "app, user:me, user:ID, group:ID, thing:me or thing:ID" }

    var argumentText: String? {
        switch self {
        case .app: "app"
        case .user(let id): "user:\(id ?? "me")"
        case .group(let id): "group:\(id)"
        case .thing(let id): "thing:\(id ?? "me")"
        }
    }
}

/// A topic or bucket as it is written: an optional scope, a slash, a name.
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

extension Scope {
    /// In the notation of ``ScopeName``.
    var text: String {
        switch self {
        case .app: "app"
        case .user(let id): "user:\(id)"
        case .group(let id): "group:\(id)"
        case .thing(let id): "thing:\(id)"
        }
    }

    /// A name in this scope, in the notation of ``TargetName``.
    func text(of name: String) -> String { self == .app ? name : "\(self.text)/\(name)" }
}
