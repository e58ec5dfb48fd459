/// Identifies the call of an error: enough to find it in a log, without secrets.
package struct KiiOperation: Sendable, Hashable, CustomStringConvertible {
    package var method: HTTPMethod
    /// The percent-encoded path below the API's root, without the query.
    package var path: String

    package init(method: HTTPMethod, path: String) { (self.method, self.path) = (method, path) }

    /// Such as `PUT /apps/1a2b/topics/news`.
    package var description: String { "\(self.method.rawValue) \(self.path)" }
}

package enum HTTPMethod: String, Sendable, Hashable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
}
