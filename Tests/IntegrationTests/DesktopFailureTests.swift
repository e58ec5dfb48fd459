import Foundation
import Glibc
import KiiPushCore
import KiiPushDesktop
import TestSupport
import Testing

@Suite struct DesktopFailureTests {
    private static let dinner = #"{"alert":"Dinner"}"#

    @Test func withoutABusNothingIsShownAndSaidOnce() async throws {
        try await withTemporaryDirectory { directory in
            let reports = DesktopStage.Reports()
            let presenter = DesktopPresenter(
                configuration: DesktopStage.configuration("unix:path=\(directory)/nothing")
            ) { reports.add($0) }
            for id in Int64(1)...3 {
                let request = try Shown(Self.dinner, id: id).request
                #expect(try await onThread { presenter.present(request) } == .unavailable)
            }
            #expect(reports.errors == [.noBus(code: ENOENT)])
            #expect("\(DesktopServiceError.noBus(code: ENOENT))".contains("DBUS_SESSION_BUS_ADDRESS"))
        }
    }

    @Test(arguments: ["nonsense", "unix:path=/dev/null", "", "unixexec:path=/bin/true"])
    func anAddressThatLeadsNowhereIsNoBus(address: String) async throws {
        let reports = DesktopStage.Reports()
        let presenter = DesktopPresenter(configuration: DesktopStage.configuration(address)) { reports.add($0) }
        let request = try Shown(Self.dinner).request
        #expect(try await onThread { presenter.present(request) } == .unavailable)
        #expect(reports.errors.count == 1)
        for error in reports.errors {
            guard case .noBus = error else { throw TestFailure("\(error)") }
        }
    }

    @Test func withoutAServiceNothingIsShownUntilOneAppears() async throws {
        try await DesktopStage.with({ $0.failurePause = .seconds(600) }) { stage in
            for id in Int64(1)...2 {
                #expect(try await stage.present(Shown(Self.dinner, id: id).request) == .unavailable)
            }
            #expect(stage.reports.errors == [.noService(name: "org.freedesktop.DBus.Error.ServiceUnknown")])
            let daemon = try await stage.desktop.startDaemon()
            // The signal about the new service may take a moment.
            var outcome = PresentationOutcome.unavailable
            let shown = try Shown(Self.dinner, id: 3)
            while outcome == .unavailable { outcome = try await stage.present(shown.request) }
            #expect(try await daemon.nextNotification().body == "Dinner")
            try await daemon.order("closed 1 2")
            #expect(await shown.answer() == .dismissed)
            daemon.kill()
            // After a success, a new failure is reported again.
            #expect(try await stage.present(Shown(Self.dinner, id: 4).request) == .unavailable)
            #expect(stage.reports.errors.count == 2)
        }
    }

    @Test func aServiceThatHangsHoldsNothingUp() async throws {
        try await DesktopStage.with({
            $0.callTimeout = .milliseconds(500)
        }) { stage in
            let daemon = try await stage.desktop.startDaemon()
            let first = try Shown(Self.dinner)
            // On a busy machine a call may exceed its short timeout.
            while try await stage.present(first.request) == .unavailable { continue }
            _ = try await daemon.nextNotification()
            try await daemon.order("hang")
            #expect(try await stage.present(Shown(Self.dinner, id: 2).request) == .unavailable)
            #expect(try await stage.present(Shown(Self.dinner, id: 3).request) == .unavailable)
            #expect(stage.reports.errors.last == .noAnswer)
        }
    }

    @Test func aBusThatHangsHoldsNothingUp() async throws {
        try await DesktopStage.with({ $0.callTimeout = .milliseconds(500) }) { stage in
            stage.desktop.suspend()
            let outcome = try await stage.present(Shown(Self.dinner).request)
            #expect(outcome == .unavailable)
            #expect(stage.reports.errors == [.noAnswer])
        }
    }

    @Test func whatIsShownAfterItsTimeIsTakenAway() async throws {
        var isShown = false
        // On a busy machine the first alert may be late too; the test then starts again with another desktop.
        while !isShown {
            try await DesktopStage.with({ $0.callTimeout = .seconds(1) }) { stage in
                let daemon = try await stage.desktop.startDaemon()
                let first = try Shown(Self.dinner)
                isShown = try await stage.present(first.request) == .presented
                guard isShown else { return }
                let shown = try await daemon.nextNotification().id
                try await daemon.order("hold")
                #expect(try await stage.present(Shown(Self.dinner, id: 2).request) == .unavailable)
                let late = try await daemon.nextNotification().id
                try await daemon.order("release")
                #expect(try await daemon.next("close") == "\(late)")
                // The first notification is still on the screen.
                try await daemon.order("invoke \(shown) default")
                #expect(await first.answer() == .opened(.open))
            }
        }
    }

    @Test func aNumberThatIsNoneIsARefusal() async throws {
        try await DesktopStage.with { stage in
            let daemon = try await stage.desktop.startDaemon()
            try await daemon.order("zero")
            #expect(try await stage.present(Shown(Self.dinner).request) == .unavailable)
            #expect(stage.reports.errors == [.refused(name: "no ID in its answer")])
        }
    }

    @Test func whatEndsEveryServiceIsGivenUp() async throws {
        try await DesktopStage.with { stage in
            let alert = try Shown(Self.dinner)
            var daemon = try await stage.desktop.startDaemon()
            #expect(try await stage.present(alert.request) == .presented)
            for _ in 1...3 {
                _ = try await daemon.nextNotification()
                daemon.kill()
                daemon = try await stage.desktop.startDaemon()
            }
            #expect(await alert.answer() == .unavailable)
            // The agent delivers such a message again. The presenter then refuses it, so it goes to the handler.
            #expect(try await stage.present(Shown(Self.dinner).request) == .unavailable)
            #expect(try await stage.present(Shown(Self.dinner, id: 2).request) == .presented)
        }
    }

    @Test func aServiceThatEndsAmidTheCallShowsNothing() async throws {
        try await DesktopStage.with { stage in
            let first = try await stage.desktop.startDaemon()
            try await first.order("die")
            // This service has shown nothing, so the presenter assumes that the desktop has none.
            #expect(try await stage.present(Shown(Self.dinner).request) == .unavailable)
            #expect(stage.reports.errors == [.serviceEnded])
            let second = try await stage.desktop.startDaemon()
            let shown = try Shown(Self.dinner, id: 2)
            while try await stage.present(shown.request) == .unavailable { continue }
            _ = try await second.nextNotification()
            try await second.order("die")
            // The second service has shown a notification, so the presenter waits for another service.
            #expect(try await stage.present(Shown(#"{"alert":"Supper"}"#, id: 3).request) == .presented)
            let third = try await stage.desktop.startDaemon()
            let again = [try await third.nextNotification().body, try await third.nextNotification().body]
            #expect(again == ["Dinner", "Supper"])
        }
    }

    @Test func oneThatIsRefusedIsNoHindranceToOthers() async throws {
        try await DesktopStage.with({ $0.failurePause = .seconds(600) }) { stage in
            let daemon = try await stage.desktop.startDaemon()
            try await daemon.order("refuse")
            #expect(try await stage.present(Shown(Self.dinner).request) == .unavailable)
            #expect(
                stage.reports.errors
                    == [.refused(name: "org.freedesktop.Notifications.Error.ExcessNotificationGeneration")])
            #expect(try await stage.present(Shown(Self.dinner, id: 2).request) == .presented)
        }
    }

    @Test func whatWasShownIsShownAgainByTheNextService() async throws {
        try await DesktopStage.with({ $0.maximumShown = 2 }) { stage in
            let first = try await stage.desktop.startDaemon()
            let alerts = try (1...3).map { try Shown(#"{"alert":"\#($0)"}"#, id: $0) }
            for alert in alerts { #expect(try await stage.present(alert.request) == .presented) }
            _ = try await first.nextNotification()
            _ = try await first.nextNotification()
            first.kill()
            // Without a service, the presenter keeps new alerts for the next service.
            let late = try Shown(#"{"alert":"4"}"#, id: 4)
            let second = try await stage.desktop.startDaemon(["body"])
            #expect(try await stage.present(late.request) == .presented)
            let again = [try await second.nextNotification(), try await second.nextNotification()]
            #expect(again.map(\.body) == ["1", "2"])
            // The presenter has asked the new service for its capabilities.
            #expect(again[0].actions.isEmpty)
            try await second.order("closed 1 2")
            try await second.order("closed 2 2")
            #expect(await alerts[0].answer() == .dismissed)
            #expect(await alerts[1].answer() == .dismissed)
            #expect(try await second.nextNotification().body == "3")
            #expect(try await second.nextNotification().body == "4")
        }
    }

    @Test func whatNobodyShowsAnyMoreIsDeliveredAgain() async throws {
        try await DesktopStage.with({ $0.patience = .milliseconds(1) }) { stage in
            let daemon = try await stage.desktop.startDaemon()
            let dinner = try Shown(Self.dinner)
            #expect(try await stage.present(dinner.request) == .presented)
            _ = try await daemon.nextNotification()
            daemon.kill()
            #expect(await dinner.answer() == .unavailable)
            #expect(stage.reports.errors == [.noService(name: "org.freedesktop.DBus.Error.ServiceUnknown")])
        }
    }

    @Test func theEndOfTheSessionEndsWhatIsShown() async throws {
        try await DesktopStage.with({ $0.patience = .milliseconds(1) }) { stage in
            let daemon = try await stage.desktop.startDaemon()
            let dinner = try Shown(Self.dinner)
            #expect(try await stage.present(dinner.request) == .presented)
            _ = try await daemon.nextNotification()
            stage.desktop.end()
            #expect(await dinner.answer() == .unavailable)
        }
    }
}
