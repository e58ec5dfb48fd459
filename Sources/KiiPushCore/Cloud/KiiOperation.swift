package struct KiiOperation: Sendable, Hashable, CustomStringConvertible {
    package var method: HTTPMethod
    package var path: String

    package init(method: HTTPMethod, path: String) { (self.method, self.path) = (method, path) }

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
