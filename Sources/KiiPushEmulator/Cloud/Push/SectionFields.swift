import KiiPushCore

/// Checks the fields of a network's section. Unknown fields are allowed, as in Kii's documents, except in
/// `notification`.
struct SectionFields {
    private static let notificationFields: Set<String> = [
        "title", "body", "icon", "sound", "tag", "color", "clickAction",
    ]

    let network: PushNetwork
    let value: JSONValue

    func checkGoogle() throws(KiiFailure) {
        try self.check(["collapseKey", "restrictedPackageName"], "a string") { $0.string != nil }
        try self.check(["delayWhileIdle", "dryRun"], "true or false") { $0.bool != nil }
        try self.check(["timeToLive"], "a whole number of seconds") { ($0.int64 ?? -1) >= 0 }
        guard self.value.present("timeToLive") == nil || self.value.present("collapseKey") != nil else {
            throw self.wrong("timeToLive", "needs collapseKey")
        }
        try self.check(["notification"], "an object") { $0.kind == .object }
        for (name, value) in self.value["notification"]?.pairs ?? [] {
            guard SectionFields.notificationFields.contains(name) else {
                throw self.wrong("notification.\(name)", "is not known")
            }
            guard value.string != nil else { throw self.wrong("notification.\(name)", "has to be a string") }
        }
    }

    func checkApple() throws(KiiFailure) {
        try self.check(["alert"], "an object") { $0.kind == .object }
        let alertTexts = ["title", "subtitle", "body", "actionLocKey", "locKey", "launchImage"]
        try self.check(alertTexts.map { "alert.\($0)" }, "a string") { $0.string != nil }
        try self.check(["alert.locArgs"], "an array of strings") { $0.array?.allSatisfy { $0.string != nil } == true }
        try self.check(["sound", "category"], "a string") { $0.string != nil }
        try self.check(["badge"], "a number") { $0.double != nil }
        try self.check(["contentAvailable", "mutableContent"], "true, false or a number") {
            $0.bool != nil || $0.double != nil
        }
    }

    /// A dot in a name leads into an object: `alert.locArgs`.
    private func check(_ names: [String], _ what: String, _ isRight: (JSONValue) -> Bool) throws(KiiFailure) {
        for name in names {
            let field: JSONValue? = name.split(separator: ".").reduce(Optional(self.value)) { $0?.present(String($1)) }
            if let field, !isRight(field) { throw self.wrong(name, "has to be \(what)") }
        }
    }

    private func wrong(_ name: String, _ what: String) -> KiiFailure {
        .invalidInput("\(self.network.rawValue).\(name) \(what).")
    }
}
