import KiiPushCore

extension Route {
    /// Onboarding of things, below `/thing-if/apps/{appID}`.
    static let onboarding: [Route] = []
}
