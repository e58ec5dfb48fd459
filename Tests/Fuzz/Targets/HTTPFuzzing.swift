import KiiPushCore

/// Answers of a server to any call. The input chooses the call and the status. Then it holds the header lines, an empty
/// line and the body.
enum HTTPFuzzing {
    /// A secret in the request, which an answer may echo.
    package static let secret = Secret(FuzzSecret.text)

    private static let statuses = [
        200, 201, 202, 204, 301, 400, 401, 403, 404, 409, 413, 415, 429, 500, 501, 503, 599, 100, 206, 999,
    ]
    private static let clocks: [Timestamp] = [
        1_463_363_201_908, 0, .max, .min, -62_135_596_800_000, 253_402_300_799_999,
    ].map { Timestamp(millisecondsSinceEpoch: $0) }
    private static let longestWait = Duration.seconds(30 * 86_400)

    static func violations(_ input: [UInt8]) -> [String] {
        var claims = Claims()
        var input = FuzzInput(input)
        let call = EndpointCall.all[input.number(in: 0...EndpointCall.all.count - 1)]
        let status = Self.statuses[input.number(in: 0...Self.statuses.count - 1)]
        let now = Self.clocks[input.number(in: 0...Self.clocks.count - 1)]
        let (fields, body) = Self.parse(input.remainder(), &claims)
        for field in fields {
            claims.require(!field.name.utf8.contains(UInt8(ascii: "\n")), "a name is on one line")
            claims.require(!field.value.utf8.contains(UInt8(ascii: "\n")), "a value is on one line")
            claims.require(fields.contains { $0.isNamed(field.name) }, "a field has its name")
        }
        let http = HTTPResponse(status: status, fields: fields, body: body)
        let operation = KiiOperation(method: .get, path: "/apps/app")
        let response = KiiResponse(operation: operation, http: http, receivedAt: now)
        Self.checkRefusal(response, &claims)
        Self.checkAnswer(call.perform(http, at: now), &claims)
        Self.checkAnswer(call.perform(http, at: now, isRepetition: true), isRepetition: true, &claims)
        // Each call reads only answers with its own success status, which is one of these.
        for status in [200, 201, 204] where status != http.status {
            let success = HTTPResponse(status: status, fields: fields, body: body)
            Self.checkAnswer(call.perform(success, at: now), &claims)
        }
        return claims.violated
    }

    private static func parse(_ wire: [UInt8], _ claims: inout Claims) -> (fields: [HTTPField], body: [UInt8]) {
        var head = ResponseHead()
        var rest = wire[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
            let line = Array(rest[rest.startIndex..<end])
            rest = rest[end...]
            let isTaken = line.withUnsafeBytes { head.append($0) }
            claims.require(isTaken || wire.count > ResponseHead.maximumBytes, "a short head is taken")
            if line == [UInt8(ascii: "\n")] || line == Array("\r\n".utf8) { break }
        }
        return (head.fields(), Array(rest))
    }

    /// The error of any refusal has a text without secrets, and asks for a bounded wait.
    private static func checkRefusal(_ response: KiiResponse, _ claims: inout Claims) {
        let error = KiiError(response, withholding: [Self.secret])
        if let wait = error.retryAfter {
            claims.require(.zero <= wait && wait <= Self.longestWait, "a wait is bounded")
        }
        claims.require(error.bodyByteCount == response.http.body.count, "the length is told")
        claims.require(error.context.kind == .object, "the context is an object")
        let words = [error.description, error.message ?? "", error.context.text, error.errorCode ?? ""]
        for text in words {
            claims.require(!text.holdsSecret, "an error holds no secret of the request")
        }
        claims.require(!error.description.contains { $0.isNewline }, "an error is one line")
        _ = (error.isTransient, error.refusesCredentials, error.saysDisabled)
    }

    /// The library reads an answer, or refuses it with a text that holds no value of the answer.
    private static func checkAnswer(
        _ result: Result<[Timestamp], any Error>, isRepetition: Bool = false, _ claims: inout Claims
    ) {
        do {
            for moment in try result.get() { claims.require(moment.description.hasSuffix("Z"), "a moment has words") }
        } catch let error as KiiResponseError {
            var place = error.pointer
            if case .notJSON(let fault) = error.rule { place = fault.pointer }
            // An error may show the names of members, to say where the fault is, but no values of the answer.
            claims.require(
                place.description.holdsSecret || !error.description.holdsSecret, "an error holds no value of the answer"
            )
            claims.require(!error.description.contains { $0.isNewline }, "an error is one line")
        } catch let error as TransportError {
            claims.require(isRepetition && error.isInDoubt, "an answer is lost to a call that is not repeated")
        } catch {
            claims.require(error is KiiError, "what fails is the cloud's refusal or its answer")
            claims.require(!"\(error)".holdsSecret, "an error holds no secret of the request")
        }
    }
}
