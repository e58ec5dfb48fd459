import KiiPushCore

/// The address for forwarded messages: a URL. Short forms for this machine: `3000`, `3000/path`, or `/path` on port 80.
struct ForwardTarget: ExpressibleByArgument, Sendable, Hashable {
    let url: String
    /// The host, with the port if the URL names one. Output about messages omits the path, which may be a secret.
    let host: String

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let rest = argument.dropFirst(digits.count)
        if let port = UInt16(digits), port > 0, rest.isEmpty || rest.hasPrefix("/") {
            self.url = "http://localhost:\(port)" + (rest.isEmpty ? "/" : rest)
        } else {
            self.url = argument.hasPrefix("/") ? "http://localhost\(argument)" : argument
        }
        guard let host = Self.host(of: self.url) else { return nil }
        self.host = host
    }

    static var expectation: String {
        "an http or https URL without credentials and blanks, a port of this machine as 3000 or 3000/path, or a /path"
    }

    private static func host(of url: String) -> String? {
        guard let scheme = ["http://", "https://"].first(where: { url.lowercased().hasPrefix($0) }),
            url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        let host = url.dropFirst(scheme.count).prefix { !"/?#\\".contains($0) }
        return host.isEmpty || host.contains("@") ? nil : String(host)
    }
}
