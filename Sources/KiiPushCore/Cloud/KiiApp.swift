/// Which Kii app is spoken to, and where.
public struct KiiApp: Sendable, Hashable {
    /// The `X-Kii-AppID` header and the `/apps/{appID}` segment.
    package var appID: String
    /// The `X-Kii-AppKey` header, and the password of anonymous calls.
    package var appKey: Secret
    /// A slash at the end is dropped.
    package var baseURL: String
    /// At the server of ``baseURL``: tokens go to the server that issued them.
    package var thingIFBaseURL: String
    /// `localhost`, `127.0.0.0/8` and `[::1]` need no permission.
    package var allowsPlainHTTP: Bool
    /// The tokens' issuer, if it is not the server of ``baseURL``: a server of this machine may restart at another
    /// port.
    package var issuer: String?

    /// Names an app at an address of its own.
    ///
    /// Whether the values can be used is checked by each call, which throws ``KiiInputError`` before it sends anything.
    ///
    /// - Parameters:
    ///   - appID: The app's ID.
    ///   - appKey: The app's key.
    ///   - baseURL: The root of the REST API, usually ending in `/api`. It is `https`, or `http` with an address of this
    ///     machine's own.
    ///   - thingIFBaseURL: The root of thing-if, which onboards things, at the server of `baseURL`. Default: `baseURL`
    ///     with `thing-if` in place of a last `api`, as at Kii's own sites.
    ///   - allowsPlainHTTP: Whether the app's key and tokens may be sent over `http` to another machine, where everyone
    ///     on the way reads them. Default: no.
    public init(
        appID: String, appKey: Secret, baseURL: String, thingIFBaseURL: String? = nil, allowsPlainHTTP: Bool = false
    ) {
        (self.appID, self.appKey, self.baseURL) = (appID, appKey, baseURL)
        self.thingIFBaseURL = thingIFBaseURL ?? KiiApp.thingIFBaseURL(beside: baseURL)
        self.allowsPlainHTTP = allowsPlainHTTP
    }

    /// Names an app at one of Kii's own sites.
    package init(appID: String, appKey: Secret, site: KiiSite) {
        self.init(appID: appID, appKey: appKey, baseURL: site.baseURL)
    }
}

extension KiiApp {
    /// At Kii's own sites as well. That of the EU is taken from the pattern of the others; Kii names none.
    private static func thingIFBaseURL(beside baseURL: String) -> String {
        let root = baseURL.withoutLastSlashes
        return (root.hasSuffix("/api") ? root.dropLast("/api".count) : root) + "/thing-if"
    }

    /// The root of a service without slashes at its end.
    ///
    /// - Throws: ``KiiInputError`` when a value could not be sent, or would change another part of the request.
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

    /// The server of ``baseURL``; `nil` when that is no URL that can be used.
    package var origin: Origin? { Origin(of: self.baseURL.withoutLastSlashes) }

    /// The ID and the key as `Basic` sends them, RFC 7617 section 2.
    var basicCredentials: Secret { Secret(Base64.encode(Array("\(self.appID):\(self.appKey.reveal())".utf8))) }

    /// The issuer of this app's tokens. A ``baseURL`` that is no URL stands for itself: no call is made there.
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
    /// Whether the text can be a header field's value: not empty, printable ASCII, no space at either end.
    var isHeaderText: Bool {
        self.utf8.allSatisfy { (0x20...0x7E).contains($0) } && self.first.map { $0 != " " } ?? false
            && self.last != " "
    }

    /// Whether the text has at least one byte and each lies from `!` to `~`, so that it ends no header line and no URL.
    var isVisibleASCII: Bool { !self.isEmpty && self.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
