import Foundation
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCore

@Suite(.ownThreads) struct ServiceNotifierTests {
    @Test func onlyAConnectionMakesItReady() throws {
        let manager = try DatagramReceiver("@kii-push-test-\(UUID().uuidString)")
        let notifier = ServiceNotifier(path: manager.path)
        // A line break would begin another assignment.
        notifier.offline("offline: no\nREADY=1\r\nroute", retryIn: .seconds(2))
        notifier.connected("Ready.")
        notifier.connected("Ready.")
        notifier.offline("offline: lost", retryIn: .seconds(2))
        notifier.reloading()
        notifier.offline("offline: still", retryIn: .seconds(2))
        notifier.reloading()
        notifier.reloadFailed("not reloaded: wrong")
        notifier.feedWatchdog()
        notifier.stopping()
        notifier.connected("Ready.")
        var texts = manager.wait { $0.count >= 11 }
        for index in [4, 6] where texts.count > index {
            let lines = texts[index].split(separator: "\n")
            #expect(lines.count == 3)
            #expect(lines.first == "RELOADING=1")
            #expect(lines.dropFirst().first?.wholeMatch(of: /MONOTONIC_USEC=\d+/) != nil)
            texts[index] = "reloading"
        }
        #expect(
            texts == [
                "STATUS=offline: no READY=1 route\nEXTEND_TIMEOUT_USEC=62000000", "STATUS=Ready.\nREADY=1",
                "STATUS=Ready.",
                "STATUS=offline: lost", "reloading", "STATUS=offline: still\nREADY=1", "reloading",
                "STATUS=not reloaded: wrong\nREADY=1", "WATCHDOG=1", "STOPPING=1\nSTATUS=Stopping.", "STATUS=Ready.",
            ])
    }

    @Test func whoIsNotReadyDoesNotReload() throws {
        let manager = try DatagramReceiver("@kii-push-test-\(UUID().uuidString)")
        let notifier = ServiceNotifier(path: manager.path)
        notifier.reloading()
        notifier.reloadFailed("not reloaded: wrong")
        #expect(manager.wait { $0.count >= 2 } == ["STATUS=Reloading.", "STATUS=not reloaded: wrong"])
    }
}
