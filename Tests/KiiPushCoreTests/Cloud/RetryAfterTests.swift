import TestSupport
import Testing

@testable import KiiPushCore

@Suite struct RetryAfterTests {
    private func retryAfter(field: String?, body: String) async throws -> Duration? {
        let fields = field.map { [HTTPField("retry-after", $0)] } ?? []
        let (_, result) = await exchange(.status(503, body, fields: fields)) {
            try await $0.session(testToken).mqttEndpoint(of: "i1")
        }
        return try #require(#expect(throws: KiiError.self) { try result.get() }).retryAfter
    }

    // testNow is Sun, 09 Sep 2001 01:46:40 GMT.
    @Test(
        arguments: [
            ("0", .zero), ("7", .seconds(7)), (" 7 ", .seconds(7)),
            ("Sun, 09 Sep 2001 01:47:00 GMT", .seconds(20)),
            ("Sunday, 09-Sep-01 01:47:00 GMT", .seconds(20)),
            ("Sun Sep  9 01:47:00 2001", .seconds(20)),
            ("Mon, 10 Sep 2001 01:46:40 GMT", .seconds(86_400)),
            ("Sun, 09 Sep 2001 01:46:60 GMT", .seconds(20)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", .zero), ("Sunday, 06-Nov-94 08:49:37 GMT", .zero),
            ("99999999999999999999999", .seconds(30 * 86_400)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(30 * 86_400)),
        ] as [(String, Duration)])
    func readsTheField(field: String, duration: Duration) async throws {
        #expect(try await self.retryAfter(field: field, body: "") == duration)
    }

    @Test(arguments: [
        "", "-1", "1.5", "soon", "7s", "Sun, 09 Xxx 2001 01:47:00 GMT", "Sun, 00 Sep 2001 01:47:00 GMT",
        "Sun, 32 Sep 2001 01:47:00 GMT", "Sun, 09 Sep 2001 24:00:00 GMT", "Sun, 09 Sep 2001 01:60:00 GMT",
        "Sun, 09 Sep 201 01:47:00 GMT",
    ])
    func ignoresAFieldThatSaysNothing(_ field: String) async throws {
        #expect(try await self.retryAfter(field: field, body: "") == nil)
    }

    @Test(
        arguments: [
            (nil, #"{"errorCode":"MQTT_ENDPOINT_NOT_READY","retryAfter":3}"#, .seconds(3)),
            (nil, #"{"retryAfter":"3"}"#, .seconds(3)), (nil, #"{"retryAfter":-3}"#, nil),
            (nil, #"{"retryAfter":true}"#, nil), (nil, #"{"retryAfter":9223372036854775807}"#, .seconds(30 * 86_400)),
            ("2", #"{"retryAfter":3}"#, .seconds(3)), ("4", #"{"retryAfter":3}"#, .seconds(4)),
            ("soon", #"{"retryAfter":3}"#, .seconds(3)), (nil, "{}", nil),
        ] as [(String?, String, Duration?)])
    func theLongerOfFieldAndBodyCounts(field: String?, body: String, duration: Duration?) async throws {
        #expect(try await self.retryAfter(field: field, body: body) == duration)
    }

    @Test func theDescriptionSaysHowLong() {
        let error = KiiError(
            operation: KiiOperation(method: .get, path: "/x"), status: 503,
            errorCode: KiiErrorCode.mqttEndpointNotReady,
            retryAfter: .seconds(5))
        #expect(error.description.hasSuffix("ask again shortly; the cloud asks to wait 5 s"))
    }

    @Test(arguments: [
        ("Nov 22 20:24:53 2036 GMT", "2036-11-22T20:24:53.000Z"),
        ("Jan  2 03:04:05 2027 GMT", "2027-01-02T03:04:05.000Z"),
        ("2036-11-22 20:24:53 GMT", "2036-11-22T20:24:53.000Z"), ("2036-13-22 20:24:53 GMT", nil), ("soon", nil),
    ])
    func readsTheDatesOfCertificates(text: String, date: String?) {
        #expect(Timestamp(date: text)?.description == date)
    }
}
