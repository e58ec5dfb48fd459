import KiiPushCore
import Testing

private let everyCall: [EndpointRow] =
    [
        accountCalls, installationCalls, topicCalls, topicAccessCalls, selfSubscriptionCalls, subscriptionCalls,
        messageCalls, objectCalls, onboardingCalls,
    ].flatMap { $0 }

@Suite struct EndpointTableTests {
    @Test(arguments: everyCall)
    func sendsTheDocumentedRequestAndTakesTheDocumentedStatuses(_ row: EndpointRow) async throws {
        for status in row.successes {
            let (requests, result) = await exchange(.status(status, row.reply), body: row.call)
            let request = try #require(requests.first)
            #expect(requests.count == 1)
            #expect(request.method == row.method)
            #expect(request.url == row.root + row.target)
            let expected: [HTTPField?] = [
                HTTPField("X-Kii-AppID", "a1"), HTTPField("X-Kii-AppKey", "k-secret"),
                row.authorization.map { HTTPField("Authorization", $0) },
                row.mediaType.map { HTTPField("Content-Type", $0) },
            ]
            #expect(request.fields == expected.compactMap { $0 })
            #expect(request.body.map { String(decoding: $0, as: UTF8.self) } == row.body)
            #expect(throws: Never.self) { try result.get() }
        }
    }

    @Test(arguments: everyCall)
    func takesNoOtherStatusForSuccess(_ row: EndpointRow) async throws {
        for status in [200, 201, 202, 204, 206] where !row.successes.contains(status) {
            let (_, result) = await exchange(.status(status, row.reply), body: row.call)
            let error = #expect(throws: KiiResponseError.self) { try result.get() }
            #expect(error?.problem == .unexpectedStatus)
            #expect(error?.status == status)
        }
    }

    @Test(arguments: everyCall)
    func passesOnEveryRefusal(_ row: EndpointRow) async throws {
        let everywhere = [
            (401, "UNAUTHORIZED"), (403, "WRONG_TOKEN"), (404, "APP_NOT_FOUND"), (429, "X"), (500, "UNDEFINED_ERROR"),
            (501, "OPERATION_NOT_IMPLEMENTED"), (503, "TEMPORARY_UNAVAILABLE_ERROR"),
        ]
        for (status, code) in row.refusals + everywhere {
            let (_, result) = await exchange(.refusal(status, code), body: row.call)
            let error = #expect(throws: KiiError.self) { try result.get() }
            #expect(error?.status == status)
            #expect(error?.errorCode == KiiErrorCode(rawValue: code))
            #expect(error?.operation.method.rawValue == row.method)
            #expect(error?.operation.path == row.target.split(separator: "?").first.map(String.init))
        }
    }
}
