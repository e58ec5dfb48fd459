/// Which call an error belongs to: enough to find it in a log, and nothing that is secret.
public struct KiiOperation: Sendable, Hashable, CustomStringConvertible {
    /// The method.
    package var method: HTTPMethod
    /// The percent-encoded path below the API's root, without the query.
    package var path: String

    /// Names a call.
    package init(method: HTTPMethod, path: String) {
        self.method = method
        self.path = path
    }

    /// Such as `PUT /apps/1a2b/topics/news`.
    public var description: String { "\(self.method.rawValue) \(self.path)" }
}

/// The HTTP methods that Kii's REST API uses.
package enum HTTPMethod: String, Sendable, Hashable {
    /// Reads.
    case get = "GET"
    /// Asks whether something is there.
    case head = "HEAD"
    /// Creates under a name that the cloud chooses, or sends.
    case post = "POST"
    /// Creates or replaces under a name that the caller chooses.
    case put = "PUT"
    /// Changes a part and leaves the rest.
    case patch = "PATCH"
    /// Removes.
    case delete = "DELETE"
}
