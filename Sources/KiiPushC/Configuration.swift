import CKiiPush
import KiiPushCore

extension PushRuntime.Configuration {
    /// Reads the JSON of `kii_push_open`; `nil` for the defaults.
    init(json: String?) throws(JSONMemberError) {
        self.init()
        let settings = try JSONDocument(strict: Array((json ?? "{}").utf8))
        try settings.object([
            "stateDirectory", "inbox", "concurrentHandlers", "isStrictlyOrdered", "retryDelays", "shutdownGrace",
            "hasControlSocket", "certificateAuthorityFile", "clientCertificateFile", "clientKeyFile", "proxy",
            "userAgent", "callTimeout",
        ])
        if let directory = try settings.nonEmptyText("stateDirectory") { self.stateDirectory = directory }
        if try settings.present("inbox")?.word(of: ["file", "memory"]) == "memory" { self.inbox = .memory }
        if let count = settings.present("concurrentHandlers") { self.concurrentHandlers = try count.integer() }
        if let isOrdered = try settings.present("isStrictlyOrdered")?.flag() { self.isStrictlyOrdered = isOrdered }
        self.retryDelays = try settings.present("retryDelays")?.elements()
            .map { element throws(JSONMemberError) in try element.seconds() }
        if let grace = try settings.present("shutdownGrace")?.seconds() { self.shutdownGrace = grace }
        if let hasSocket = try settings.present("hasControlSocket")?.flag() { self.hasControlSocket = hasSocket }
        self.certificateAuthorityFile = try settings.nonEmptyText("certificateAuthorityFile")
        self.clientCertificateFile = try settings.nonEmptyText("clientCertificateFile")
        self.clientKeyFile = try settings.nonEmptyText("clientKeyFile")
        self.proxy = try settings.nonEmptyText("proxy")
        if let userAgent = try settings.nonEmptyText("userAgent") { self.userAgent = userAgent }
        if let timeout = try settings.present("callTimeout")?.seconds() { self.callTimeout = timeout }
    }
}

extension PushDestination {
    init(_ text: String, of account: KiiAccount) throws(CFailure) {
        let rule = CFailure.argument("target has to be topic:NAME, topic:SCOPE/NAME, user:me or user:ID")
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { throw rule }
        switch parts[0] {
        case "user": self = .user(String(parts[1]))
        case "topic":
            let steps = parts[1].split(separator: "/", omittingEmptySubsequences: false)
            guard let name = steps.last.map(String.init), Topic.isValidID(name), steps.count <= 2,
                let scope = steps.count == 1 ? .app : Scope(String(steps[0]), of: account)
            else { throw rule }
            self = .topic(Topic(name, in: scope))
        default: throw rule
        }
    }
}
