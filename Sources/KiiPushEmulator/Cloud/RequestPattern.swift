package struct RequestPattern: Sendable, Hashable {
    package static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

    package var method: String?
    /// `*` matches one segment; `**` at the end matches any number of segments.
    package var path: String

    package init(_ method: String? = nil, _ path: String = "/**") {
        self.method = method
        self.path = path
    }

    static func isPath(_ text: String) -> Bool {
        let segments = text.split(separator: "/", omittingEmptySubsequences: false)
        return segments.first == "" && !segments.dropLast().contains("**")
    }

    /// A pattern for GET also matches HEAD, which is GET without the content (RFC 9110 section 9.3.2).
    func meets(method: String, path: [String]) -> Bool {
        guard self.method == nil || self.method == method || (self.method == "GET" && method == "HEAD") else {
            return false
        }
        var rest = path[...]
        for segment in self.path.split(separator: "/") {
            if segment == "**" { return true }
            guard let first = rest.popFirst(), segment == "*" || segment == first else { return false }
        }
        return rest.isEmpty
    }
}
