package import KiiPushCore

extension AgentMetrics {
    /// The metrics in Prometheus' text format 0.0.4.
    ///
    /// - Source: Prometheus, "Exposition formats"; OpenTelemetry, "Prometheus and OpenMetrics compatibility" for the
    ///   names.
    package var prometheusText: String {
        var page = PrometheusPage()
        let receiving = [("messaging_system", "mqtt"), ("messaging_operation_name", "receive")]
        page.family(
            "messaging_client_consumed_messages_total", "counter", "Messages that were received and stored.",
            [(receiving, String(self.received))])
        self.addDurations(to: &page)
        page.family(
            "kii_push_settled_messages_total", "counter", "Messages that came to their end, by outcome.",
            self.settled.sorted { $0.key < $1.key }.map { ([("outcome", $0.key)], String($0.value)) })
        let counters = [
            ("redelivered_messages_total", "Messages that came again while they were in hand.", self.redelivered),
            ("late_answers_total", "Answers of handlers that came after the deadline.", self.lateAnswers),
            ("stuck_handlers_total", "Handlers that did not return long after the deadline.", self.stuckHandlers),
            ("connections_total", "Connections that carried messages.", self.connections),
            ("disconnections_total", "Ends of such connections.", self.disconnections),
        ]
        for (name, help, value) in counters { page.family("kii_push_\(name)", "counter", help, [([], String(value))]) }
        let gauges = [
            ("connected", "Agents that messages can reach; of a single agent 1 or 0.", self.connected.count),
            ("storage_failing", "Agents whose inbox cannot be written.", self.troubled.count(.storing)),
            (
                "reception_paused", "Agents whose inbox holds too many dead letters to receive more.",
                self.troubled.count(.receiving)
            ),
        ]
        for (name, help, count) in gauges { page.family("kii_push_\(name)", "gauge", help, [([], String(count))]) }
        return page.text
    }

    private func addDurations(to page: inout PrometheusPage) {
        let name = "messaging_process_duration_seconds"
        page.head(name, "histogram", "How long attempts to process a message took.")
        let attempts = self.durations.sorted {
            ($0.key.outcome, $0.key.errorType ?? "") < ($1.key.outcome, $1.key.errorType ?? "")
        }
        for (attempt, histogram) in attempts {
            var labels = [
                ("messaging_system", "mqtt"), ("messaging_operation_name", "process"), ("outcome", attempt.outcome),
            ]
            if let errorType = attempt.errorType { labels.append(("error_type", errorType)) }
            for (bound, count) in zip(DurationHistogram.bounds, histogram.counts) {
                page.sample("\(name)_bucket", labels + [("le", bound.text)], String(count))
            }
            page.sample("\(name)_bucket", labels + [("le", "+Inf")], String(histogram.count))
            page.sample("\(name)_sum", labels, histogram.sum.secondsText)
            page.sample("\(name)_count", labels, String(histogram.count))
        }
    }
}

extension MessageLedger {
    /// The metrics of the inbox in Prometheus' text format.
    package var prometheusText: String {
        var page = PrometheusPage()
        page.family(
            "kii_push_waiting_messages", "gauge", "Messages that are stored and have no final answer yet.",
            [([], String(self.waiting + self.running))])
        page.family(
            "kii_push_dead_letters", "gauge", "Messages that were given up on and are kept.", [([], String(self.dead))])
        return page.text
    }
}

extension Duration {
    /// Seconds with six decimals: `0.287000`.
    package var secondsText: String {
        let (seconds, attoseconds) = self.components
        return "\(seconds)." + zeroPadded(attoseconds / 1_000_000_000_000, 6)
    }
}
