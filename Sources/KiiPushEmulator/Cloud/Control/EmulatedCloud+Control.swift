import KiiPushCore

extension Route {
    /// What the emulator is told to do, below `/__kii`.
    static let control: [Route] = []
}
