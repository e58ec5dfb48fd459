import KiiPushCore

extension Route {
    /// What the emulator holds, below `/__kii`.
    static let inspection: [Route] = []
}
