/// A Kii app and the addresses of its servers.
public struct KiiApp: Sendable, Hashable {
    /// The `X-Kii-AppID` header and the `/apps/{appID}` segment.
    package var appID: String
    /// The `X-Kii-AppKey` header, and the password of anonymous calls.
    package var appKey: Secret
    /// The root of the REST API. Slashes at the end do not matter.
    package var baseURL: String
    /// The root of thing-if, on the server of ``baseURL``: tokens go to the server that issued them.
    package var thingIFBaseURL: String
    /// Whether calls may use plain HTTP to another machine. `localhost`, `127.0.0.0/8` and `[::1]` need no permission.
    package var allowsPlainHTTP: Bool
    /// The tokens' issuer, if it is not the server of ``baseURL``: a local server may restart at another port.
    package var issuer: String?

    /// Names an app at an address of its own.
    ///
    /// Each call checks the values, and throws ``KiiInputError`` before it sends anything.
    ///
    /// - Parameters:
    ///   - appID: the app's ID.
    ///   - appKey: the app's key.
    ///   - baseURL: the root of the REST API, usually ending in `/api`. It must be `https`; `http` works for an address
    ///     of this machine.
    ///   - thingIFBaseURL: the root of thing-if, which onboards things, on the server of `baseURL`. Default: `baseURL`
    ///     with `thing-if` in place of a last `api`, as at Kii's own sites.
    ///   - allowsPlainHTTP: whether to send the app's key and tokens over `http` to another machine, where everyone on
    ///     the way can read them. Default: no.
    public init(
        appID: String, appKey: Secret, baseURL: String, thingIFBaseURL: String? = nil, allowsPlainHTTP: Bool = false
    ) {
        (self.appID, self.appKey, self.baseURL) = (appID, appKey, baseURL)
        self.thingIFBaseURL = thingIFBaseURL ?? KiiApp.thingIFBaseURL(beside: baseURL)
        self.allowsPlainHTTP = allowsPlainHTTP
    }

    package init(appID: String, appKey: Secret, site: KiiSite) {
        self.init(appID: appID, appKey: appKey, baseURL: site.baseURL)
    }
}

extension KiiApp {
    /// Kii's own sites follow this pattern. For the EU the address is an assumption, since Kii documents none.
    private static func thingIFBaseURL(beside baseURL: String) -> String {
        let root = baseURL.withoutLastSlashes
        return (root.hasSuffix("/api") ? root.dropLast("/api".count) : root) + "/thing-if"
    }

    /// The root of a service without slashes at its end.
    ///
    /// - Throws: ``KiiInputError`` when a value cannot be sent, or would change another part of the request.
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

    /// The ID and the key as `Basic` sends them (RFC 7617 section 2).
    var basicCredentials: Secret { Secret(Base64.encode(Array("\(self.appID):\(self.appKey.reveal())".utf8))) }

    /// The issuer of this app's tokens. An invalid ``baseURL`` is its own issuer, since calls to it fail anyway.
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
    /// Whether the text is valid as a header field's value: not empty, printable ASCII, no space at either end.
    var isHeaderText: Bool {
        self.utf8.allSatisfy { (0x20...0x7E).contains($0) } && self.first.map { $0 != " " } ?? false
            && self.last != " "
    }

    /// Whether the text has at least one byte and only bytes from `!` to `~`, so that it ends no header line and no
    /// URL.
    var isVisibleASCII: Bool { !self.isEmpty && self.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
