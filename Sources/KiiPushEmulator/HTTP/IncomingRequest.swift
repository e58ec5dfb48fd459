package import KiiPushCore

package struct IncomingRequest: Sendable {
    package var method: String
    /// Path and query as sent, still percent-encoded.
    package var target: String
    package var fields: [HTTPField]
    package var body: [UInt8]
    /// Whether the body was larger than the server accepts; ``body`` is then empty.
    package var isBodyTooLarge = false
    package var isSecure = false

    package init(method: String, target: String, fields: [HTTPField] = [], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }

    func field(_ name: String) -> String? { self.fields.first { $0.isNamed(name) }?.value }

    /// The effective method: Kii's guide and KiiThingSDK send PATCH as a POST with the field `X-HTTP-Method-Override`.
    package var meantMethod: String {
        guard self.method == "POST", let method = self.field("X-HTTP-Method-Override") else { return self.method }
        return method.uppercased()
    }

    /// Whether the field `Host` names this machine, or is absent, as HTTP/1.0 allows.
    ///
    /// A web page can have a browser resolve the page's own name to 127.0.0.1 and send requests here ("DNS
    /// rebinding"). The field `Host` then has the page's name.
    var isForThisMachine: Bool {
        self.fields.filter { $0.isNamed("Host") }.allSatisfy { field in
            let host = field.value.lowercased()
            return ["127.0.0.1", "localhost", "[::1]"].contains { name in
                guard host.hasPrefix(name) else { return false }
                let port = host.dropFirst(name.count)
                return port.isEmpty || (port.first == ":" && UInt16(port.dropFirst()) != nil)
            }
        }
    }

    /// Whether the request has no field `Origin`, or one that equals `Host`. Browsers send the page's site in `Origin`
    /// when a page changes something (POST, PUT, PATCH, DELETE) or reads answers of another site.
    ///
    /// - Source: RFC 6454 section 7, and the Fetch standard's "append a request Origin header".
    var isSameOrigin: Bool {
        guard let host = self.field("Host")?.lowercased() else { return self.field("Origin") == nil }
        return self.fields.filter { $0.isNamed("Origin") }.allSatisfy { field in
            ["http://\(host)", "https://\(host)"].contains(field.value.lowercased())
        }
    }
}
