extension DeliveryRunner {
    /// The user opened what showed a message: it is delivered (again), by the next run if its agent does not run now.
    ///
    /// - Returns: false after ``shutdown()``: the message is shown again by the next process.
    package func opened(_ opening: DeliveryOpening) -> Bool {
        self.core.change { state in
            guard !state.isStopped else { return false }
            state.machine.opened(opening)
            return true
        }
    }

    /// What showed a message, for whose sake nobody was called, is gone.
    ///
    /// - Returns: false after ``shutdown()``.
    package func dismissed(_ sequence: Int64, installation: Int64) -> Bool {
        self.core.change { state in
            guard !state.isStopped else { return false }
            state.machine.dismissed(sequence, installation: installation)
            return true
        }
    }

    /// What showed a message, for whose sake nobody was called, has ended: it is delivered again.
    ///
    /// - Returns: false after ``shutdown()``.
    package func withdrawn(_ sequence: Int64, installation: Int64) -> Bool {
        self.core.change { state in
            guard !state.isStopped else { return false }
            state.machine.withdrawn(sequence, installation: installation)
            return true
        }
    }

    /// Messages that an earlier run has shown cannot be shown now: they are delivered.
    package func unpresented(_ sequences: [Int64], installation: Int64) {
        self.core.change { state in
            guard !state.isStopped else { return }
            state.machine.unpresented(sequences, installation: installation)
        }
    }
}
