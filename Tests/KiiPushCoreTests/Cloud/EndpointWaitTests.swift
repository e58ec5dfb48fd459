import KiiPushCore
import TestSupport
import Testing

@Suite struct EndpointWaitTests {
    private let ready = HTTPResponse.status(
        200, #"{"username":"n","password":"p","mqttTopic":"t","host":"h","portTCP":1883,"portSSL":8883}"#)
    private let notReady = HTTPResponse.refusal(503, "MQTT_ENDPOINT_NOT_READY")

    private func wait(
        for answers: [HTTPResponse],
        _ configure: (inout RetryPolicy) -> Void = { _ in }
    ) async -> (requests: Int, sleeps: [Duration], result: Result<MQTTEndpoint, any Error>) {
        let clock = RecordingClock()
        var wait = RetryPolicy.endpoint
        wait.clock = clock
        wait.jitter = { 0 }
        configure(&wait)
        let transport = FakeTransport(answers)
        let result: Result<MQTTEndpoint, any Error>
        do {
            result = .success(
                try await KiiClient(transport).session(testToken).mqttEndpoint(of: "i1", waiting: wait))
        } catch {
            result = .failure(error)
        }
        return (transport.requests.count, clock.sleeps, result)
    }

    @Test func asksAgainUntilItIsReady() async throws {
        let answers = [self.notReady, self.notReady, self.notReady, self.notReady, self.notReady, self.ready]
        let (requests, sleeps, result) = await self.wait(for: answers)
        #expect(try result.get().host == "h")
        #expect(requests == 6)
        #expect(sleeps == [.seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5)])
    }

    @Test func waitsAsLongAsTheCloudAsks() async throws {
        let body = #"{"errorCode":"MQTT_ENDPOINT_NOT_READY","retryAfter":9}"#
        let answers = [
            HTTPResponse.status(503, fields: [HTTPField("Retry-After", "3")]), .status(503, body),
            .status(429, fields: [HTTPField("Retry-After", "Sun, 09 Sep 2001 01:46:44 GMT")]),
            // The cloud's clock is behind, so only the difference from `Date` counts.
            .status(
                503,
                fields: [
                    HTTPField("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
                    HTTPField("Retry-After", "Sun, 06 Nov 1994 08:49:43 GMT"),
                ]), self.ready,
        ]
        let (_, sleeps, result) = await self.wait(for: answers)
        #expect(throws: Never.self) { try result.get() }
        #expect(sleeps == [.seconds(3), .seconds(9), .seconds(4), .seconds(6)])
    }

    @Test func jitterLengthensAndStaysWithinTheBudget() async throws {
        let (_, sleeps, _) = await self.wait(for: [self.notReady, self.notReady, self.ready]) {
            $0.jitter = { 0.5 }
            $0.budget = .seconds(4)
        }
        #expect(sleeps == [.seconds(1.5), .seconds(2.5)])
    }

    @Test func givesUpAfterSoManyRequests() async throws {
        let answers = [self.notReady, self.notReady, self.notReady, self.ready]
        let (requests, sleeps, result) = await self.wait(for: answers) { $0.maximumRequests = 3 }
        #expect(#expect(throws: KiiError.self) { try result.get() }?.errorCode == KiiErrorCode.mqttEndpointNotReady)
        #expect(requests == 3 && sleeps.count == 2)
    }

    @Test func givesUpWhenTheCloudAsksForMoreThanIsLeft() async throws {
        let slow = HTTPResponse.status(503, fields: [HTTPField("Retry-After", "61")])
        let (requests, sleeps, result) = await self.wait(for: [slow, self.ready])
        #expect(#expect(throws: KiiError.self) { try result.get() }?.retryAfter == .seconds(61))
        #expect(requests == 1 && sleeps.isEmpty)
    }

    @Test(arguments: [
        HTTPResponse.refusal(404, "INSTALLATION_NOT_FOUND"), .refusal(401, "UNAUTHORIZED"),
        .refusal(501, "OPERATION_NOT_IMPLEMENTED"),
    ])
    func doesNotRepeatWhatCannotPass(_ answer: HTTPResponse) async throws {
        let (requests, sleeps, result) = await self.wait(for: [answer, self.ready])
        #expect(#expect(throws: KiiError.self) { try result.get() }?.status == answer.status)
        #expect(requests == 1 && sleeps.isEmpty)
    }

    @Test func leavesATransportErrorToTheCaller() async throws {
        let (requests, sleeps, result) = await self.wait(for: [])
        #expect(throws: TransportError.self) { try result.get() }
        #expect(requests == 1 && sleeps.isEmpty)
    }

    /// The client repeats a call whose answer is lost; the wait repeats a call that the cloud refuses for now. Only one
    /// of them may repeat.
    @Test(arguments: [true, false])
    func aWaitLeavesLostAnswersToTheClient(isLost: Bool) async throws {
        let first: Result<HTTPResponse, TransportError> =
            isLost ? .failure(TransportError(.connectionLost, detail: "lost")) : .success(self.notReady)
        let (clientClock, waitClock) = (RecordingClock(), RecordingClock())
        let transport = FakeTransport([first, .success(self.ready)])
        var session = KiiClient(transport).session(testToken)
        session.client.retry = RetryPolicy(clock: clientClock)
        _ = try await session.mqttEndpoint(of: "i1", waiting: RetryPolicy(clock: waitClock))
        #expect(transport.requests.count == 2)
        #expect(clientClock.sleeps.count == (isLost ? 1 : 0))
        #expect(waitClock.sleeps.count == (isLost ? 0 : 1))
    }

    @Test func withoutAWaitItIsRepeatedAsAnyOtherCall() async throws {
        let transport = FakeTransport(.status(502), self.ready)
        var session = KiiClient(transport).session(testToken)
        session.client.retry = RetryPolicy(clock: RecordingClock())
        #expect(try await session.mqttEndpoint(of: "i1").host == "h")
        #expect(transport.requests.count == 2)
    }

    @Test func cancellationEndsTheWaiting() async throws {
        let (isSleeping, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .unbounded)
        let wait = RetryPolicy(clock: EndlessClock(isSleeping: continuation))
        let client = KiiClient(FakeTransport(self.notReady, self.ready))
        await #expect(throws: CancellationError.self) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await client.session(testToken).mqttEndpoint(of: "i1", waiting: wait) }
                for await _ in isSleeping { break }
                group.cancelAll()
                try await group.next()
            }
        }
    }
}
