/// What a handler made of a message.
///
/// - Source: UIKit's `UIBackgroundFetchResult`, as Kii's "Reception Handler" page lists its cases.
public enum FetchResult: Sendable, Hashable, CaseIterable {
    /// "The new data was successfully processed." The message is done.
    case newData
    /// "The notification was successfully received but it did not contain data to process." The message is done.
    case noData
    /// "Processing of the data failed." The message is tried again, and becomes a dead letter when all attempts failed.
    case failed
}
