extension DeliverySimulation {
    /// What may happen beside reception and handling.
    struct Events: OptionSet {
        let rawValue: Int
        static let restarts = Events(rawValue: 1)
        /// The agent moves to another session, or somebody tries dead letters again.
        static let interventions = Events(rawValue: 2)
        /// Some messages are shown to a user, who opens them or does not.
        static let presentations = Events(rawValue: 4)
        /// Handlers leave some messages to a later run.
        static let setAsides = Events(rawValue: 8)
    }
}
