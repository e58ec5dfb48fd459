import KiiPushCore

/// The fields of a network's section beside `enabled` and `data`. What is not known is let pass, as Kii's documents do
/// not say that it is refused.
struct SectionFields {
    private static let notificationFields: Set<String> = [
        "title", "body", "icon", "sound", "tag", "color", "clickAction",
    ]

    let value: JSONValue
    private let network: PushNetwork

    init(_ network: PushNetwork, _ value: JSONValue) {
        self.network = network
        self.value = value
    }

    func checkGoogle() throws(KiiFailure) {
        for name in ["collapseKey", "restrictedPackageName"] { try self.check(name, "a string") { $0.string != nil } }
        for name in ["delayWhileIdle", "dryRun"] { try self.check(name, "true or false") { $0.bool != nil } }
        try self.check("timeToLive", "a whole number of seconds") { ($0.int64 ?? -1) >= 0 }
        guard self.value.present("timeToLive") == nil || self.value.present("collapseKey") != nil else {
            throw self.wrong("timeToLive", "needs collapseKey")
        }
        try self.check("notification", "an object") { $0.kind == .object }
        for member in self.value["notification"]?.members ?? [] {
            guard SectionFields.notificationFields.contains(member.key) else {
                throw self.wrong("notification.\(member.key)", "is not known")
            }
            guard member.value.string != nil else {
                throw self.wrong("notification.\(member.key)", "has to be a string")
            }
        }
    }

    func checkApple() throws(KiiFailure) {
        try self.check("alert", "an object") { $0.kind == .object }
        let alertTexts = ["title", "subtitle", "body", "actionLocKey", "locKey", "launchImage"]
        for name in alertTexts { try self.check("alert.\(name)", "a string") { $0.string != nil } }
        try self.check("alert.locArgs", "an array of strings") { $0.array?.allSatisfy { $0.string != nil } == true }
        for name in ["sound", "category"] { try self.check(name, "a string") { $0.string != nil } }
        try self.check("badge", "a number") { $0.double != nil }
        for name in ["contentAvailable", "mutableContent"] {
            try self.check(name, "true, false or a number") { $0.bool != nil || $0.double != nil }
        }
    }

    /// Refuses a field that is present, not null, and not `what`. A dot in `name` leads into an object:
    /// `alert.locArgs`.
    private func check(_ name: String, _ what: String, _ isRight: (JSONValue) -> Bool) throws(KiiFailure) {
        let field: JSONValue? = name.split(separator: ".").reduce(Optional(self.value)) { $0?.present(String($1)) }
        if let field, !isRight(field) { throw self.wrong(name, "has to be \(what)") }
    }

    private func wrong(_ name: String, _ what: String) -> KiiFailure {
        .invalidInput("\(self.network.rawValue).\(name) \(what).")
    }
}
