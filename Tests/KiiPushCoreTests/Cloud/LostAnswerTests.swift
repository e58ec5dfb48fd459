import KiiPushCore
import TestSupport
import Testing

@Suite struct LostAnswerTests {
    private static let words = "it may have been carried out all the same, and to repeat it may do it twice"

    private func refusal(
        _ answer: HTTPResponse,
        _ call: (KiiClient) async throws -> Void
    ) async throws -> KiiError {
        let (_, result) = await exchange(answer, body: call)
        return try #require(#expect(throws: KiiError.self) { try result.get() })
    }

    private func send(_ client: KiiClient) async throws {
        _ = try await client.session(testToken).send(PushMessage(data: ["n": 1]), to: .topic(Topic("news")))
    }

    @Test(arguments: [
        HTTPResponse.status(408), .status(500), .status(502), .refusal(503, "TEMPORARY_UNAVAILABLE_ERROR"),
        .status(504, "<html>"),
    ])
    func aFailureOfTheCloudLeavesASendOpen(_ answer: HTTPResponse) async throws {
        let error = try await self.refusal(answer, self.send)
        #expect(error.isInDoubt)
        let head = "POST /apps/a1/topics/news/push/messages failed with \(answer.status)"
        #expect(error.description.hasPrefix(head))
        #expect(error.description.hasSuffix(": \(Self.words)"))
        let created = try await self.refusal(answer) { client in
            _ = try await client.session(testToken).createObject(["n": 1], in: Bucket("b"))
        }
        #expect(created.isInDoubt)
    }

    @Test(arguments: [
        HTTPResponse.status(400), .status(401), .status(404), .status(409), .status(421), .status(425), .status(429),
        .status(501), .status(511),
        .status(503, fields: [HTTPField("Retry-After", "1")]),
    ])
    func whatTheCloudRefusedWasNotDone(_ answer: HTTPResponse) async throws {
        let error = try await self.refusal(answer, self.send)
        #expect(!error.isInDoubt)
        #expect(!error.description.contains(Self.words))
    }

    @Test func aCallThatMayBeRepeatedIsNotInDoubt() async throws {
        let error = try await self.refusal(.status(503)) { try await $0.session(testToken).deleteTopic(Topic("news")) }
        #expect(!error.isInDoubt)
        #expect(error.description.hasSuffix(": the cloud has a problem; try again later"))
    }

    @Test(arguments: [
        (TransportError.Code.timedOut, true), (.connectionLost, true), (.tlsFailed, false), (.tooLarge, true),
        (.shutDown, true), (.other, true), (.nameNotResolved, false), (.connectionRefused, false),
        (.certificateNotTrusted, false), (.invalidConfiguration, false),
    ])
    func aConnectionThatFailedIsNamedWithItsCall(code: TransportError.Code, isInDoubt: Bool) async throws {
        let failures = [Result<HTTPResponse, TransportError>](
            repeating: .failure(TransportError(code, detail: "it broke")), count: 2)
        let client = KiiClient(FakeTransport(failures))
        let sent = try #require(await #expect(throws: TransportError.self) { try await self.send(client) })
        #expect(sent.code == code && sent.isInDoubt == isInDoubt)
        let subject = "POST /apps/a1/topics/news/push/messages at https://cloud.test/api"
        #expect(sent.subject == subject)
        #expect(sent.description.hasPrefix("\(subject): it broke; "))
        #expect(sent.description.hasSuffix("; \(Self.words)") == isInDoubt)
        let deleted = try #require(
            await #expect(throws: TransportError.self) {
                try await client.session(testToken).deleteTopic(Topic("news"))
            })
        #expect(!deleted.isInDoubt)
        #expect(deleted.subject == "DELETE /apps/a1/topics/news at https://cloud.test/api")
    }

    @Test func theListOfEverybodysInstallationsIsForAdministrators() async throws {
        let error = try await self.refusal(.refusal(401, "UNAUTHORIZED")) { client in
            _ = try await client.session(testToken).installations(of: nil).all()
        }
        #expect(error.description.contains(": only an administrator lists installations that are not its own: "))
        let other = try await self.refusal(.refusal(403, "WRONG_TOKEN")) { client in
            _ = try await client.session(testToken).installations(of: nil).all()
        }
        #expect(other.description.hasSuffix(": the token is no longer valid; sign in again"))
    }
}
