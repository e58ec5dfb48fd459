import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct DesktopHelperTests {
    @Test func itPresentsAlertsAndReactsToWhatTheUserChooses() async throws {
        try await withEmulator { emulator, directory in
            let desktop = try await Desktop(in: directory)
            let daemon = try await desktop.startDaemon()
            let runtime = try emulator.runtime("\(directory)/sender")
            let client = runtime.client(for: emulator.app)
            let admin = try await emulator.adminToken(client)
            try await client.session(admin).createTopic(Topic("meals"))
            let (lines, continuation) = AsyncStream<String>.makeStream()
            let example = try ChildProgram(
                [productsDirectory.appendingPathComponent("DesktopHelper").path],
                environment: [
                    "KII_APP_ID": emulator.appID, "KII_APP_KEY": emulator.appKey.reveal(),
                    "KII_BASE_URL": emulator.baseURL, "KII_CA_FILE": emulator.certificateAuthorityFile,
                    "XDG_STATE_HOME": "\(directory)/state", "XDG_RUNTIME_DIR": "\(directory)/run",
                    "DBUS_SESSION_BUS_ADDRESS": desktop.address,
                ], mergesErrors: true
            ) { continuation.yield($0) }
            var message = PushMessage(mqtt: nil)
            message.apns = .init(alert: .init(title: "Dinner", body: "Fish & chips"))
            message.apns?.category = "meal"
            let content = message
            /// Sends until the service shows a notification. The agent may still be starting, or its window may be in
            /// front.
            func sendUntilShown() async throws -> NotificationDaemon.Notification {
                try await withThrowingTaskGroup(of: NotificationDaemon.Notification.self) { group in
                    group.addTask {
                        var line = try await daemon.nextLine()
                        while !line.hasPrefix("notify ") { line = try await daemon.nextLine() }
                        return try JSONDecoder().decode(
                            NotificationDaemon.Notification.self, from: Data(line.dropFirst("notify ".count).utf8))
                    }
                    group.addTask {
                        while true {
                            _ = try await client.session(admin).send(content, to: .topic(Topic("meals")))
                            try await Task.sleep(for: .milliseconds(50))
                        }
                    }
                    defer { group.cancelAll() }
                    guard let first = try await group.next() else { throw TestFailure("nothing is shown") }
                    return first
                }
            }
            let notification = try await sendUntilShown()
            #expect(notification.title == "Dinner")
            #expect(notification.body == "Fish &amp; chips")
            #expect(notification.actions == ["default", "View", "action:coming", "I am coming"])
            try await daemon.order("invoke 1 action:coming")
            // Another push may arrive while the window is in front; the helper then prints "received".
            var missing: Set = ["opened from Fish & chips", "chosen: coming"]
            for await line in lines {
                missing.remove(line)
                if missing.isEmpty { break }
            }
            #expect(missing.isEmpty)
            // At its end, the helper removes its notifications from the screen.
            let last = try await sendUntilShown()
            example.signal(SIGTERM)
            let status = try await onThread { example.wait() }
            try #require(status == 0, "\(example.output.all())")
            while try await daemon.nextLine() != "close \(last.id)" { continue }
            await runtime.shutdown()
        }
    }
}
