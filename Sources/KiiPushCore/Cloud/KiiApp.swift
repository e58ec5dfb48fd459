/// Which Kii app is spoken to, and where.
public struct KiiApp: Sendable, Hashable {
    /// The app's ID: the `X-Kii-AppID` header and the `/apps/{appID}` segment.
    public var appID: String
    /// The app's key: the `X-Kii-AppKey` header, and the password of anonymous calls.
    public var appKey: Secret
    /// The root of the REST API, `http` or `https`, usually ending in `/api`; a slash at the end is dropped.
    public var baseURL: String
    /// The root of thing-if, which onboards things. Default: ``baseURL`` with `thing-if` in place of a last `api`, as
    /// at Kii's own sites.
    public var thingIFBaseURL: String

    /// Names an app at an address of its own, such as an emulator's.
    ///
    /// Whether the values can be used is checked by each call, which throws ``KiiInputError`` before it sends anything.
    ///
    /// - Parameters:
    ///   - appID: The app's ID.
    ///   - appKey: The app's key.
    ///   - baseURL: The root of the REST API.
    ///   - thingIFBaseURL: The root of thing-if. Default: derived from `baseURL`.
    public init(appID: String, appKey: Secret, baseURL: String, thingIFBaseURL: String? = nil) {
        self.appID = appID
        self.appKey = appKey
        self.baseURL = baseURL
        self.thingIFBaseURL = thingIFBaseURL ?? KiiApp.thingIFBaseURL(beside: baseURL)
    }

    /// Names an app at one of Kii's own sites.
    public init(appID: String, appKey: Secret, site: KiiSite) {
        self.init(appID: appID, appKey: appKey, baseURL: site.baseURL)
    }
}

extension KiiApp {
    private static func thingIFBaseURL(beside baseURL: String) -> String {
        let root = baseURL.withoutLastSlashes
        return (root.hasSuffix("/api") ? root.dropLast("/api".count) : root) + "/thing-if"
    }

    /// The root of a service without slashes at its end.
    ///
    /// - Throws: ``KiiInputError`` when a value could not be sent, or would change another part of the request.
    func checkedBaseURL(of service: KiiService) throws(KiiInputError) -> String {
        guard self.appID.isVisibleASCII else {
            throw KiiInputError(.appID, rule: "one or more visible ASCII characters")
        }
        guard self.appKey.reveal().isVisibleASCII else {
            throw KiiInputError(.appKey, rule: "one or more visible ASCII characters")
        }
        switch service {
        case .api: return try KiiApp.checked(self.baseURL, .baseURL)
        case .thingIF: return try KiiApp.checked(self.thingIFBaseURL, .thingIFBaseURL)
        }
    }

    private static func checked(_ url: String, _ field: KiiInputError.Field) throws(KiiInputError) -> String {
        let root = url.withoutLastSlashes
        guard let authority = KiiApp.authority(of: root), !authority.isEmpty, root.isVisibleASCII,
            root.utf8.allSatisfy({ $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }),
            !authority.utf8.contains(UInt8(ascii: "@"))
        else {
            throw KiiInputError(
                field,
                rule: "an http or https URL such as https://api.kii.com/api, without user name, query or fragment"
            )
        }
        return String(root)
    }

    /// The server of ``baseURL``; `nil` when that is no URL that can be used.
    package var server: (host: String, port: UInt16, usesTLS: Bool)? {
        guard let root = try? KiiApp.checked(self.baseURL, .baseURL), let authority = KiiApp.authority(of: root[...])
        else { return nil }
        let usesTLS = root.lowercased().hasPrefix("https:")
        // An IPv6 address stands in brackets, RFC 3986 section 3.2.2.
        let address = authority.split(separator: "]", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = address.count == 2 ? address[1] : authority
        let colon = rest.lastIndex(of: ":")
        let host = address.count == 2 ? address[0].dropFirst() : rest[..<(colon ?? rest.endIndex)]
        guard let colon else { return (String(host), usesTLS ? 443 : 80, usesTLS) }
        guard let port = UInt16(rest[rest.index(after: colon)...]) else { return nil }
        return (String(host), port, usesTLS)
    }

    private static func authority(of url: Substring) -> Substring? {
        for scheme in ["https://", "http://"] where url.lowercased().hasPrefix(scheme) {
            return url.dropFirst(scheme.count).prefix { $0 != "/" }
        }
        return nil
    }
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
    var isVisibleASCII: Bool {
        !self.isEmpty && self.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
