/// What a principal can be subscribed to.
public enum SubscriptionTarget: Sendable, Hashable {
    /// A topic: what is sent to it arrives as push to user.
    case topic(Topic)
    /// A bucket: changes of its objects arrive as push to app.
    case bucket(Bucket)

    func validate() throws(KiiInputError) {
        if case .topic(let topic) = self { try topic.validate() }
    }

    /// Where the subscription of `principal` lives.
    func path(in app: KiiApp, of principal: Principal) -> KiiPath {
        self.subscriptions(in: app).appending(principal)
    }

    /// Where all subscriptions to the target live.
    func subscriptions(in app: KiiApp) -> KiiPath {
        let target =
            switch self {
            case .topic(let topic): KiiPath.app(app).appending(topic)
            // `all` is the only filter in use, though the reference has `{filterID}` here.
            case .bucket(let bucket): KiiPath.app(app).appending(bucket).appending("filters", "all")
            }
        return target.appending("push", "subscriptions")
    }
}
