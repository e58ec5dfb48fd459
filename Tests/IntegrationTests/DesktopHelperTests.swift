import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// The example of a desktop helper, from the cloud to the desktop and back.
@Suite(.timeLimit(.minutes(15))) struct DesktopHelperTests {
    @Test func itPresentsAlertsAndReactsToWhatTheUserChooses() async throws {
        try await withEmulator { emulator, directory in
            let desktop = try await Desktop(in: directory)
            let daemon = try await desktop.startDaemon()
            let runtime = try emulator.runtime("\(directory)/sender")
            let client = runtime.client(for: emulator.app)
            let admin = try await emulator.adminToken(client)
            try await client.createTopic(Topic("meals"), token: admin)
            let example = ForeignProgram(
                [productsDirectory.appendingPathComponent("DesktopHelper").path],
                environment: [
                    "KII_APP_ID": emulator.appID, "KII_APP_KEY": emulator.appKey.reveal(),
                    "KII_BASE_URL": emulator.baseURL, "KII_CA_FILE": emulator.certificateAuthorityFile,
                    "XDG_STATE_HOME": "\(directory)/state", "XDG_RUNTIME_DIR": "\(directory)/run",
                    "DBUS_SESSION_BUS_ADDRESS": desktop.address,
                ])
            var message = PushMessage(mqtt: nil)
            message.apns = .init(alert: .init(title: "Dinner", body: "Fish & chips"))
            message.apns?.category = "meal"
            try await example.whileRunning { lines in
                let notification = try await withThrowingTaskGroup(of: NotificationDaemon.Notification?.self) { group in
                    group.addTask { try await daemon.nextNotification() }
                    // Sent again until the agent, which starts meanwhile, is subscribed.
                    group.addTask { [message] in
                        while true {
                            _ = try await client.send(message, to: Topic("meals"), token: admin)
                            try await Task.sleep(for: .milliseconds(50))
                        }
                    }
                    defer { group.cancelAll() }
                    return try await group.next() ?? nil
                }
                #expect(notification?.title == "Dinner")
                #expect(notification?.body == "Fish &amp; chips")
                #expect(notification?.actions == ["default", "View", "action:coming", "I am coming"])
                try await daemon.order("invoke 1 action:coming")
                // Another one may come while its window is in front, which is then "received".
                var missing: Set = ["opened from Fish & chips", "chosen: coming"]
                for await line in lines {
                    missing.remove(line)
                    if missing.isEmpty { break }
                }
                #expect(missing.isEmpty)
            }
            await runtime.shutdown()
        }
    }
}
