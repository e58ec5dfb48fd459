import Foundation
import KiiPushCore
import KiiPushDesktop
import TestSupport
import Testing

@Suite struct DesktopPresenterTests {
    private static let everything = ["actions", "body", "body-markup", "persistence"]

    private func shown(
        _ aps: String, _ capabilities: [String] = everything, again: Bool = false,
        _ change: (inout DesktopPresenter.Configuration) -> Void = { _ in }
    ) async throws -> NotificationDaemon.Notification {
        var notification: NotificationDaemon.Notification?
        try await DesktopStage.with(change) { stage in
            let daemon = try await stage.desktop.startDaemon(capabilities)
            #expect(try await stage.present(Shown(aps, again: again).request) == .presented)
            notification = try await daemon.nextNotification()
            #expect(stage.reports.errors.isEmpty)
        }
        return try #require(notification)
    }

    // MARK: - Notifications

    @Test func everythingThatTheAlertSaysIsShown() async throws {
        let aps = #"""
            {"alert":{"title":"Dinner","subtitle":"At <eight>","body":"Fish & chips"},"sound":"bell.aiff",
             "category":"meal","interruption-level":"critical"}
            """#
        let notification = try await self.shown(aps) { configuration in
            configuration.icon = "kitchen"
            configuration.desktopEntry = "org.example.kitchen"
            configuration.displayTime = .milliseconds(1500)
        }
        #expect(notification.name == "Kitchen")
        #expect(notification.icon == "kitchen")
        #expect(notification.title == "Dinner")
        #expect(notification.body == "At &lt;eight&gt;\nFish &amp; chips")
        #expect(
            notification.actions == [
                "default", "View", "action:reply", "Reply", "action:view", "Another view",
            ])
        #expect(
            notification.hints == .init(urgency: 2, soundName: "bell", desktopEntry: "org.example.kitchen"))
        #expect(notification.timeout == 1500)
    }

    @Test func aTextAloneHasTheProgramsNameAsItsTitle() async throws {
        let notification = try await self.shown(#"{"alert":"Dinner"}"#)
        #expect(notification.title == "Kitchen")
        #expect(notification.body == "Dinner")
        #expect(notification.hints == .init(urgency: 1, suppressesSound: true))
        #expect(notification.timeout == -1)
    }

    @Test(arguments: [
        ([], "Dinner", "<b>Dinner</b>", [String]()),
        (["body"], "Kitchen", "<b>Dinner</b>", []),
        (["body", "actions"], "Kitchen", "<b>Dinner</b>", ["default", "View"]),
        (["body-markup", "body"], "Kitchen", "&lt;b&gt;Dinner&lt;/b&gt;", []),
    ])
    func whatTheServiceCannotShowIsNotSent(
        capabilities: [String], title: String, body: String, actions: [String]
    ) async throws {
        let notification = try await self.shown(#"{"alert":"<b>Dinner</b>"}"#, capabilities)
        #expect(notification.title == (capabilities.isEmpty ? "<b>Dinner</b>" : title))
        #expect(notification.body == body)
        #expect(notification.actions == actions)
        // Without persistence, the service keeps no notification that has left the screen, so this notification must
        // not expire (timeout 0).
        #expect(notification.timeout == 0)
    }

    @Test func thereIsNoViewActionWhereThePayloadWantsNone() async throws {
        let aps = #"{"alert":{"body":"Dinner","show-view":false},"category":"meal"}"#
        #expect(try await self.shown(aps).actions == ["action:reply", "Reply", "action:view", "Another view"])
    }

    @Test func theProgramsOwnTextsAreShown() async throws {
        let aps = #"{"alert":{"loc-key":"DINNER","loc-args":["eight"],"action-loc-key":"COME"}}"#
        let plain = try await self.shown(aps)
        #expect(plain.body == "DINNER")
        #expect(plain.actions == ["default", "COME"])
        let localized = try await self.shown(aps) { configuration in
            configuration.localizedText = { key, arguments in
                key == "COME" ? "Coming" : "Dinner at \(arguments.joined(separator: ", "))"
            }
        }
        #expect(localized.body == "Dinner at eight")
        #expect(localized.actions == ["default", "Coming"])
        let titled = try await self.shown(
            #"{"alert":{"title-loc-key":"T","title-loc-args":["a"],"subtitle-loc-key":"S"}}"#
        ) {
            $0.localizedText = { key, arguments in key + arguments.joined() }
        }
        #expect(titled.title == "Ta")
        #expect(titled.body == "S")
    }

    @Test(arguments: [
        ("default", "message-new-instant"), ("chime", "chime"), ("chime-2_b.caf", "chime-2_b"),
        ("../../etc/passwd", "message-new-instant"), ("a/b", "message-new-instant"), ("", "message-new-instant"),
    ])
    func aSoundIsANameOfTheSoundTheme(sound: String, name: String) async throws {
        let notification = try await self.shown(#"{"alert":"Dinner","sound":"\#(sound)"}"#)
        #expect(notification.hints == .init(urgency: 1, soundName: name))
    }

    @Test func whatWasHeardBeforeIsSilent() async throws {
        let notification = try await self.shown(#"{"alert":"Dinner","sound":"default"}"#, again: true)
        #expect(notification.hints == .init(urgency: 1, suppressesSound: true))
    }

    @Test func controlCharactersAreLeftOut() async throws {
        let aps = #"{"alert":{"title":"a\u0000b\nc\td\u001b[1m","body":"a\u0000b\r\nc\td\u0007\u009b\u202e"}}"#
        let notification = try await self.shown(aps)
        #expect(notification.title == "ab c d[1m")
        #expect(notification.body == "ab\nc d")
    }

    @Test(arguments: ["x", "e\u{301}", "<"])
    func aLongTextIsCut(character: String) async throws {
        let long = String(repeating: character, count: 100_000)
        let notification = try await self.shown(#"{"alert":{"title":"\#(long)","body":"\#(long)"}}"#)
        let escaped = character == "<" ? "&lt;" : character
        #expect(notification.title == String(repeating: character, count: 199) + "…")
        #expect(notification.body == String(repeating: escaped, count: 1999) + "…")
    }

    // MARK: - Actions of the user

    @Test(arguments: [
        ("invoke 1 default", PresentationResponse.opened(.open)),
        ("invoke 1 action:reply", .opened(.custom("reply"))), ("invoke 1 action:view", .opened(.custom("view"))),
        ("closed 1 1", .expired), ("closed 1 2", .dismissed), ("closed 1 3", .expired), ("closed 1 4", .expired),
    ])
    func whatTheUserDoesIsTheAnswer(order: String, response: PresentationResponse) async throws {
        try await DesktopStage.with { stage in
            let daemon = try await stage.desktop.startDaemon()
            let dinner = try Shown(#"{"alert":"Dinner","category":"meal"}"#)
            #expect(try await stage.present(dinner.request) == .presented)
            _ = try await daemon.nextNotification()
            // Signals about foreign notifications and unknown actions have no effect.
            try await daemon.order("invoke 7 default")
            try await daemon.order("closed 7 2")
            try await daemon.order("invoke 1 action:")
            try await daemon.order("invoke 1 dance")
            try await daemon.order(order)
            #expect(await dinner.answer() == response)
            // The presenter closes a chosen notification, because the service may have left it open.
            if order.hasPrefix("invoke") { #expect(try await daemon.next("close") == "1") }
        }
    }

    @Test func aForgedAnswerDoesNotCount() async throws {
        try await DesktopStage.with { stage in
            let daemon = try await stage.desktop.startDaemon()
            let dinner = try Shown(#"{"alert":"Dinner"}"#)
            #expect(try await stage.present(dinner.request) == .presented)
            _ = try await daemon.nextNotification()
            let forged = try await ForeignProgram(
                "dbus-send", "--bus=\(stage.desktop.address)", "--type=signal", "/org/freedesktop/Notifications",
                "org.freedesktop.Notifications.ActionInvoked", "uint32:1", "string:default"
            ).run()
            #expect(forged.status == 0)
            // The bus has accepted dbus-send's signal, so the presenter receives it before the next order's signal.
            try await daemon.order("closed 1 2")
            #expect(await dinner.answer() == .dismissed)
        }
    }

    /// Each message of a conversation stays until the user has seen it.
    @Test func thoseOfOneThreadStandBesideEachOther() async throws {
        try await DesktopStage.with { stage in
            let daemon = try await stage.desktop.startDaemon()
            let alerts = try (1...3).map { try Shown(#"{"alert":"\#($0)","thread-id":"a"}"#, id: $0) }
            for (index, alert) in alerts.enumerated() {
                #expect(try await stage.present(alert.request) == .presented)
                #expect(try await daemon.nextNotification().id == index + 1)
            }
            for (index, alert) in alerts.enumerated() {
                try await daemon.order("invoke \(index + 1) default")
                #expect(await alert.answer() == .opened(.open))
                #expect(try await daemon.next("close") == "\(index + 1)")
            }
        }
    }

    @Test func oneWithTheSameCollapseIDIsReplaced() async throws {
        try await DesktopStage.with({ $0.collapseID = { $0.content?.threadID } }) { stage in
            let daemon = try await stage.desktop.startDaemon()
            let alerts = try (1...4).map { number in
                try Shown(#"{"alert":"\#(number)","thread-id":"\#(number == 2 ? "b" : "a")"}"#, id: Int64(number))
            }
            for (index, alert) in alerts.enumerated() {
                #expect(try await stage.present(alert.request) == .presented)
                #expect(try await daemon.nextNotification().id == index + 1)
                if index == 2 { #expect(try await daemon.next("close") == "1") }
                if index == 3 { #expect(try await daemon.next("close") == "3") }
            }
            #expect(await alerts[0].answer() == .expired)
            #expect(await alerts[2].answer() == .expired)
            // Responses to replaced notifications do not count for the new notification.
            try await daemon.order("invoke 1 default")
            try await daemon.order("closed 3 2")
            try await daemon.order("invoke 2 default")
            try await daemon.order("invoke 4 default")
            #expect(await alerts[1].answer() == .opened(.open))
            #expect(await alerts[3].answer() == .opened(.open))
        }
    }

    @Test func onlySoManyAreShownAtOnce() async throws {
        try await DesktopStage.with({ $0.maximumShown = 2 }) { stage in
            let daemon = try await stage.desktop.startDaemon()
            let alerts = try (1...4).map { try Shown(#"{"alert":"\#($0)"}"#, id: $0) }
            for alert in alerts { #expect(try await stage.present(alert.request) == .presented) }
            #expect(try await daemon.nextNotification().body == "1")
            #expect(try await daemon.nextNotification().body == "2")
            try await daemon.order("closed 2 2")
            #expect(try await daemon.nextNotification().body == "3")
            try await daemon.order("closed 1 2")
            #expect(try await daemon.nextNotification().body == "4")
        }
    }

    @Test func whatIsShownIsTakenAwayAtTheEnd() async throws {
        try await DesktopStage.with { stage in
            let daemon = try await stage.desktop.startDaemon()
            for id in Int64(1)...2 {
                #expect(try await stage.present(Shown(#"{"alert":"Dinner"}"#, id: id).request) == .presented)
                _ = try await daemon.nextNotification()
            }
            let presenter = stage.presenter
            try await onThread { presenter.close() }
            #expect(try await Set([daemon.next("close"), daemon.next("close")]) == ["1", "2"])
            #expect(try await stage.present(Shown(#"{"alert":"Dinner"}"#).request) == .unavailable)
        }
    }
}
