import Foundation
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCore

/// Integration tests cover signals.
@Suite(.ownThreads) struct PushServiceTests {
    private static func refusal(_ status: Int, _ code: String? = nil) -> KiiError {
        KiiError(operation: KiiOperation(method: .get, path: "/"), status: status, errorCode: code)
    }

    @Test(
        arguments: [
            (PushAgentError.signInRefused(refusal(400, KiiErrorCode.invalidGrant)), 77),
            (PushAgentError.pseudoUserLost(refusal(401)), 77), (refusal(403), 77),
            (refusal(400, KiiErrorCode.invalidGrant), 77),
            (PushAgentError.stateDirectoryInUse(path: "/a", processID: 1), 75),
            (PushAgentError.file(.system(path: "/a", operation: "write", code: ENOSPC)), 75), (refusal(503), 75),
            (TransportError(.connectionRefused, detail: ""), 75), (SystemError(noThread: EAGAIN), 75),
            (PushAgentError.file(.system(path: "/a", operation: "write", code: EACCES)), 78),
            (PushAgentError.stateOfAnotherAccount(path: "/a"), 78), (refusal(404), 78),
            (TransportError(.invalidConfiguration, detail: ""), 78), (KiiInputError(.message, rule: "not empty"), 78),
        ] as [(any Error, Int32)])
    func theStatusTellsWhetherToStartAgain(error: any Error, status: Int32) {
        #expect(PushService.status(after: error) == status)
    }

    @Test func nobodyToRunIsAClearError() async throws {
        let end = await PushService([]).run()
        #expect(end.status == 78)
        #expect(try "\(#require(end.error))" == "agents has to name at least one")
    }

    @Test func isReadyWhenEveryAgentHasBeenConnected() throws {
        let manager = try DatagramReceiver("@kii-push-test-\(UUID().uuidString)")
        let status = ServiceStatus(ServiceNotifier(path: manager.path), agentCount: 2)
        let connected = PushEvent.connected(
            .init(
                host: "h", port: 1, usesTLS: true, isVerified: true, protocolVersion: "3.1.1", qualityOfService: 1,
                sessionPresent: true))
        status.observe(connected, of: 1)
        status.observe(.disconnected(reason: "no route", retryIn: .seconds(2)), of: 0)
        status.observe(connected, of: 0)
        status.observe(.disconnected(reason: "lost", retryIn: .seconds(1)), of: 1)
        status.observe(connected, of: 1)
        #expect(
            manager.wait { $0.count >= 5 } == [
                "STATUS=1 of 2 agents are not connected. Starting.",
                "STATUS=1 of 2 agents are not connected. offline: no route; retry in 2.0 s\nEXTEND_TIMEOUT_USEC=62000000",
                "STATUS=Connected.\nREADY=1",
                "STATUS=1 of 2 agents are not connected. offline: lost; retry in 1.0 s",
                "STATUS=Connected.",
            ])
        #expect(status.text == "Connected.")
    }
}
