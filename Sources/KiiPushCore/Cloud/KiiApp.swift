/// A Kii app and the addresses of its servers.
public struct KiiApp: Sendable, Hashable {
    package var appID: String
    package var appKey: Secret
    package var baseURL: String
    package var thingIFBaseURL: String
    package var allowsPlainHTTP: Bool
    /// A name for the server that issues the app's tokens; `nil` means the address of ``baseURL``. A local server keeps
    /// this name when its port changes.
    package var issuer: String?

    /// Makes an app from its ID, its key and the addresses of its servers.
    ///
    /// A call throws ``KiiInputError`` before it sends anything if a value that the call uses is invalid.
    ///
    /// - Parameters:
    ///   - appID: the app's ID.
    ///   - appKey: the app's key.
    ///   - baseURL: the root of the REST API, usually ending in `/api`: an `https` URL, or an `http` URL of this
    ///     machine (of any machine with `allowsPlainHTTP`).
    ///   - thingIFBaseURL: the root of thing-if, the API for things, on the same server. Default: `baseURL` without its
    ///     final `/api`, plus `/thing-if`.
    ///   - allowsPlainHTTP: whether calls may send the app's key and tokens unencrypted to another machine. Default:
    ///     no.
    public init(
        appID: String, appKey: Secret, baseURL: String, thingIFBaseURL: String? = nil, allowsPlainHTTP: Bool = false
    ) {
        (self.appID, self.appKey, self.baseURL) = (appID, appKey, baseURL)
        self.thingIFBaseURL = thingIFBaseURL ?? KiiApp.thingIFBaseURL(beside: baseURL)
        self.allowsPlainHTTP = allowsPlainHTTP
    }
}

extension KiiApp {
    /// At Kii's sites, `/thing-if` takes the place of `/api`. For its EU site, Kii documents no thing-if address.
    private static func thingIFBaseURL(beside baseURL: String) -> String {
        let root = baseURL.withoutLastSlashes
        return (root.hasSuffix("/api") ? root.dropLast("/api".count) : root) + "/thing-if"
    }

    package func checkedBaseURL(of service: KiiService) throws(KiiInputError) -> String {
        for (text, field) in [(self.appID, KiiInputError.Field.appID), (self.appKey.reveal(), .appKey)] {
            guard text.isVisibleASCII else { throw KiiInputError(field, rule: "one or more visible ASCII characters") }
        }
        switch service {
        case .api: return try self.checked(self.baseURL, .baseURL)
        case .thingIF:
            let root = try self.checked(self.thingIFBaseURL, .thingIFBaseURL)
            guard Origin(of: root) == self.origin else {
                let rule = "at the server of baseURL: tokens go to the server that issued them"
                throw KiiInputError(.thingIFBaseURL, rule: rule)
            }
            return root
        }
    }

    private func checked(_ url: String, _ field: KiiInputError.Field) throws(KiiInputError) -> String {
        let root = url.withoutLastSlashes
        guard let origin = Origin(of: root), root.isVisibleASCII, !root.contains(where: "?#\\".contains) else {
            let rule = "an http or https URL such as https://api.kii.com/api, without user name, query or fragment"
            throw KiiInputError(field, rule: rule)
        }
        guard origin.usesTLS || origin.isLoopback || self.allowsPlainHTTP else {
            throw KiiInputError(
                field,
                rule: "https: with http everyone on the way reads the app's key and tokens; set allowsPlainHTTP to "
                    + "send them all the same")
        }
        return String(root)
    }

    package var origin: Origin? { Origin(of: self.baseURL.withoutLastSlashes) }

    /// RFC 7617 section 2.
    var basicCredentials: Secret { Secret(Base64.encode(Array("\(self.appID):\(self.appKey.reveal())".utf8))) }

    var tokenIssuer: String { self.issuer ?? self.origin?.description ?? self.baseURL }
}

extension String {
    fileprivate var withoutLastSlashes: Substring {
        var rest = self[...]
        while rest.utf8.last == UInt8(ascii: "/") { rest.removeLast() }
        return rest
    }
}

extension StringProtocol {
    var isHeaderText: Bool {
        self.utf8.allSatisfy { (0x20...0x7E).contains($0) } && self.first.map { $0 != " " } ?? false
            && self.last != " "
    }

    var isVisibleASCII: Bool { !self.isEmpty && self.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
