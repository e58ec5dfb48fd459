#if Postgres
import KiiPushCommandLine
import KiiPushCore
import KiiPushPostgres

struct GatewayMetrics: Sendable {
    private struct Share {
        var shards = 0
        var agents = 0
        var gateways = 0
        var takenOver = 0
        var leasesOver = 0
        var isFailing = false
    }

    private var shares: [Share]

    init(databases: Int) { self.shares = Array(repeating: Share(), count: databases) }

    mutating func count(_ event: FleetEvent, of database: Int) {
        switch event {
        case .holding(let shards, let agents, let gateways):
            (self.shares[database].shards, self.shares[database].agents) = (shards, agents)
            self.shares[database].gateways = gateways
        case .tookOver(let shards): self.shares[database].takenOver += shards
        case .databaseFailed: self.shares[database].isFailing = true
        case .databaseRecovered: self.shares[database].isFailing = false
        case .leaseOver:
            self.shares[database].leasesOver += 1
            (self.shares[database].shards, self.shares[database].agents) = (0, 0)
        case .agentFailed, .refused: break
        }
    }

    var failing: Set<Int> { Set(self.shares.indices.filter { self.shares[$0].isFailing }) }

    var json: JSONValue {
        JSONValue(
            self.shares.map { share in
                JSONValue.object(present: [
                    "shards": share.shards, "agents": share.agents, "gateways": share.gateways,
                    "shards_taken_over": share.takenOver, "leases_over": share.leasesOver,
                    "failing": share.isFailing,
                ])
            })
    }

    func prometheusText(_ backlogs: [FleetBacklog]) -> String {
        var page = PrometheusPage()
        let counts: [(name: String, type: String, help: String, value: (Share) -> Int)] = [
            ("held_shards", "gauge", "Shards that this gateway has, of 1024.", { $0.shards }),
            ("held_agents", "gauge", "Agents that this gateway receives for.", { $0.agents }),
            ("gateways", "gauge", "Gateways that share.", { $0.gateways }),
            ("taken_over_shards_total", "counter", "Shards of dead gateways that it declared free.", { $0.takenOver }),
            (
                "leases_over_total", "counter", "How often the lease was not renewed in time, and all agents stopped.",
                { $0.leasesOver }
            ),
            ("database_failing", "gauge", "1 while the database cannot be used.", { $0.isFailing ? 1 : 0 }),
        ]
        for (name, type, help, value) in counts {
            page.family(
                "kii_push_\(name)", type, help,
                self.shares.enumerated().map { ([("database", "\($0 + 1)")], "\(value($1))") })
        }
        page.family(
            "kii_push_lag_seconds", "gauge", "How long ago the oldest message that waits was received.",
            backlogs.map { ([("database", "\($0.database + 1)")], $0.lag.secondsText) })
        page.family(
            "kii_push_dead_letters", "gauge", "Messages that were given up on and are kept.",
            backlogs.map { ([("database", "\($0.database + 1)")], "\($0.deadLetters)") })
        page.family(
            "kii_push_waiting_messages", "gauge", "Messages that have no answer yet, in the shards that have any.",
            backlogs.flatMap { backlog in
                backlog.messages.sorted { $0.key < $1.key }.map {
                    ([("database", "\(backlog.database + 1)"), ("shard", "\($0)")], "\($1)")
                }
            })
        return page.text
    }
}
#endif
