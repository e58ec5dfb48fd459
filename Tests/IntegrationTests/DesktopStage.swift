import Foundation
import TestSupport

@testable import KiiPushCore
@testable import KiiPushDesktop

struct DesktopStage {
    static let meal = NotificationCategory(
        identifier: "meal",
        actions: [
            NotificationAction(identifier: "reply", title: "Reply"),
            NotificationAction(identifier: "view", title: "Another view"),
        ])

    let desktop: Desktop
    let presenter: DesktopPresenter
    let reports: Reports

    final class Reports: Sendable {
        private let all = Locked<[DesktopServiceError]>([])
        func add(_ error: DesktopServiceError) { self.all.withLock { $0.append(error) } }
        var errors: [DesktopServiceError] { self.all.withLock { $0 } }
    }

    /// The configuration of a presenter with long timeouts.
    static func configuration(_ address: String) -> DesktopPresenter.Configuration {
        var configuration = DesktopPresenter.Configuration(applicationName: "Kitchen")
        configuration.busAddress = address
        configuration.categories = [meal]
        configuration.callTimeout = .seconds(600)
        configuration.patience = .seconds(600)
        configuration.failurePause = .zero
        return configuration
    }

    static func with(
        _ change: (inout DesktopPresenter.Configuration) -> Void = { _ in }, _ body: (DesktopStage) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let desktop = try await Desktop(in: directory)
            var configuration = self.configuration(desktop.address)
            change(&configuration)
            let reports = Reports()
            let presenter = DesktopPresenter(configuration: configuration) { reports.add($0) }
            try await body(DesktopStage(desktop: desktop, presenter: presenter, reports: reports))
            try await onThread { presenter.close() }
        }
    }

    func present(_ request: NotificationRequest) async throws -> PresentationOutcome {
        let presenter = self.presenter
        return try await onThread { presenter.present(request) }
    }
}

struct Shown: Sendable {
    let request: NotificationRequest
    private let answers: AsyncStream<PresentationResponse>

    init(_ aps: String, id: Int64 = 1, again: Bool = false) throws {
        let (answers, continuation) = AsyncStream<PresentationResponse>.makeStream()
        self.answers = answers
        let message = try ReceivedMessage(payload: Array(#"{"aps":\#(aps)}"#.utf8))
        guard
            let request = NotificationRequest(
                key: .init(installationID: "i", messageID: id), message: message,
                receivedAt: Timestamp(millisecondsSinceEpoch: 0),
                wasPresentedBefore: again,
                respond: {
                    continuation.yield($0)
                    return true
                })
        else { throw TestFailure("there is nothing to show in \(aps)") }
        self.request = request
    }

    func answer() async -> PresentationResponse? {
        for await answer in self.answers { return answer }
        return nil
    }
}
