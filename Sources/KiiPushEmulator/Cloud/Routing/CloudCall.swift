import KiiPushCore

struct CloudCall: Sendable {
    let request: IncomingRequest
    let target: RequestTarget
    let now: Timestamp
    var parameters: [String: String] = [:]
    var caller: Caller = .anonymous

    var isControl: Bool { self.target.path.first == "__kii" }

    subscript(parameter: String) -> String { self.parameters[parameter] ?? "" }

    /// Less than the parser's limit, since stored rows and lists nest a client's JSON some levels deeper.
    static let maximumDepth = 60

    func field(_ name: String) -> String? { self.request.field(name) }

    /// The media type of the body, in lower case and without parameters.
    var mediaType: String {
        let value = (self.field("Content-Type") ?? "").utf8.prefix { $0 != UInt8(ascii: ";") }
        let type = value.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        return String(decoding: type, as: UTF8.self).lowercased()
    }

    /// The case of the media type does not matter, since Kii's clients disagree.
    ///
    /// - Parameter others: further media types, for the error. The caller checks them itself.
    func object(of name: String, others: [String] = []) throws(KiiFailure) -> JSONValue {
        let type = "application/vnd.kii.\(name)+json"
        guard self.mediaType == type.lowercased() || self.mediaType == "application/json" else {
            throw .mediaType([type] + others + ["application/json"])
        }
        return try self.object()
    }

    func object() throws(KiiFailure) -> JSONValue {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: self.request.body, maximumDepth: CloudCall.maximumDepth)
        } catch {
            throw KiiFailure(400, "INVALID_JSON", "The body is not JSON: \(error)")
        }
        guard value.kind == .object else { throw .invalidInput("The body has to be a JSON object.") }
        return value
    }
}

/// Kii treats null as absent.
extension JSONValue {
    func present(_ name: String) -> JSONValue? { self[name].flatMap { $0.isNull ? Optional.none : $0 } }

    func text(_ name: String) throws(KiiFailure) -> String? {
        guard let value = self.present(name) else { return nil }
        guard let text = value.string else { throw .invalidInput("\(name) has to be a string.") }
        return text
    }

    func flag(_ name: String) throws(KiiFailure) -> Bool? {
        guard let value = self.present(name) else { return nil }
        guard let flag = value.bool else { throw .invalidInput("\(name) has to be true or false.") }
        return flag
    }

    func neededText(_ name: String) throws(KiiFailure) -> String {
        guard let text = self[name]?.string, !text.isEmpty else { throw .invalidInput("\(name) is needed.") }
        return text
    }
}

extension HTTPResponse {
    static func json(_ status: Int, _ name: String?, _ body: JSONValue, fields: [HTTPField] = []) -> HTTPResponse {
        let type = name.map { "application/vnd.kii.\($0)+json;charset=UTF-8" } ?? "application/json;charset=UTF-8"
        return HTTPResponse(
            status: status, fields: [HTTPField("Content-Type", type)] + fields, body: body.serialized(.kii))
    }
}
