import CKiiPush
import KiiPushCore

extension PushRuntime.Configuration {
    /// What `kii_push_open` takes; `nil` for the defaults.
    init(json: String?) throws(SettingsError) {
        self.init()
        let settings = try Settings(
            parsing: json ?? "{}",
            members: [
                "stateDirectory", "inbox", "concurrentHandlers", "isStrictlyOrdered", "retryDelays", "shutdownGrace",
                "hasControlSocket", "certificateAuthorityFile", "clientCertificateFile", "clientKeyFile",
                "proxy", "userAgent", "callTimeout",
            ])
        if let directory = try settings.text("stateDirectory") { self.stateDirectory = directory }
        if try settings.word("inbox", of: ["file", "memory"]) == "memory" { self.inbox = .memory }
        if let count = try settings.integer("concurrentHandlers") { self.concurrentHandlers = count }
        if let isOrdered = try settings.flag("isStrictlyOrdered") { self.isStrictlyOrdered = isOrdered }
        self.retryDelays = try settings.listOfSeconds("retryDelays")
        if let grace = try settings.seconds("shutdownGrace") { self.shutdownGrace = grace }
        if let hasSocket = try settings.flag("hasControlSocket") { self.hasControlSocket = hasSocket }
        self.certificateAuthorityFile = try settings.text("certificateAuthorityFile")
        self.clientCertificateFile = try settings.text("clientCertificateFile")
        self.clientKeyFile = try settings.text("clientKeyFile")
        self.proxy = try settings.text("proxy")
        if let userAgent = try settings.text("userAgent") { self.userAgent = userAgent }
        if let timeout = try settings.seconds("callTimeout") { self.callTimeout = timeout }
    }
}

extension PushDestination {
    /// A destination as `kii_push_send` takes it.
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
