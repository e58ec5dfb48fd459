import Foundation
package import KiiPushCore
package import KiiPushEmulator

extension Emulator {
    /// Sends an administrator's request below `/__kii`, and returns the body of the answer.
    @discardableResult
    package func control(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        let loop = try EventLoop.patient()
        let pair = "\(self.adminClientID):\(self.adminClientSecret.reveal())"
        let request = HTTPRequest.patient(
            method: method,
            url: self.baseURL.dropLast("api".count) + "__kii/" + path,
            fields: [HTTPField("Authorization", "Basic \(Data(pair.utf8).base64EncodedString())")],
            body: body?.serialized())
        let answer = try await loop.perform(request)
        guard (200..<300).contains(answer.status) else {
            let said = String(decoding: answer.body, as: UTF8.self)
            throw TestFailure("\(method) /__kii/\(path): \(answer.status) \(said)")
        }
        return try answer.body.isEmpty ? .null : JSONValue(parsing: answer.body)
    }
}
