import { Gauge, type Registry } from 'prom-client';
import { singleFlight } from '../../lib/async/single-flight.ts';

/** The state of the whole service, the same in every process. */
export interface FleetNumbers {
  /** Runs that have not ended; `awake` and `asleep` count sessions. */
  runs: { waiting: number; starting: number; running: number; awake: number; asleep: number };
  oldestRunSeconds: number;
  messages: number;
  oldestMessageSeconds: number;
  webhooks: number;
  oldestWebhookSeconds: number;
  events: number;
  oldestEventSeconds: number;
  hosts: { live: number; draining: number; disk_short: number; stale: number };
  slots: { free: number; occupied: number };
  projectsAtCap: number;
  storedBytes: { files: number; transcripts: number; logs: number; messages: number };
  projectsAtStorageQuota: number;
  /** Monthly budgets by the percentage that is spent at least. */
  spentBudgets: { 80: number; 100: number };
  /** 0 unless so many are missing that the reconciler ends none of their runs. */
  missingWorkflows: number;
}

/**
 * One query per scrape. Every API process exports the same numbers: aggregate with max, not sum.
 * While Postgres is down, these metrics are absent.
 */
export function exportFleet(registry: Registry, read: () => Promise<FleetNumbers>): void {
  const readOnce = singleFlight(() => read().catch(() => null));
  for (const { name, help, label, value } of gauges) {
    const gauge: Gauge = new Gauge({
      name: `flowrun_${name}`,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [],
      async collect() {
        const numbers = await readOnce();
        this.reset();
        if (numbers !== null) setGauge(this, value(numbers), label ?? '');
        else if (label === undefined) this.remove(); // after a reset it would export 0
      },
    });
    registry.registerMetric(gauge);
  }
}

interface GaugeSpec {
  name: string;
  help: string;
  label?: string;
  value: (numbers: FleetNumbers) => number | Record<string, number>;
}

const gauges: readonly GaugeSpec[] = [
  {
    name: 'runs',
    help: 'Runs that have not ended. awake and asleep are sessions.',
    label: 'state',
    value: ({ runs }) => runs,
  },
  {
    name: 'run_oldest_wait_seconds',
    help: 'Longest current wait of a run for its start.',
    value: ({ oldestRunSeconds }) => oldestRunSeconds,
  },
  {
    name: 'messages_waiting',
    help: 'Messages not yet delivered to an agent.',
    value: ({ messages }) => messages,
  },
  {
    name: 'message_oldest_wait_seconds',
    help: 'Longest current wait of a message.',
    value: ({ oldestMessageSeconds }) => oldestMessageSeconds,
  },
  {
    name: 'webhooks_pending',
    help: 'Webhooks neither delivered nor dropped.',
    value: ({ webhooks }) => webhooks,
  },
  {
    name: 'webhook_oldest_pending_seconds',
    help: 'Age of the oldest pending webhook.',
    value: ({ oldestWebhookSeconds }) => oldestWebhookSeconds,
  },
  {
    name: 'events_pending',
    help: 'Events for endpoints and callback URLs of sessions, neither delivered nor dropped.',
    value: ({ events }) => events,
  },
  {
    name: 'event_oldest_wait_seconds',
    help: 'Longest current wait of an event for the start of its delivery.',
    value: ({ oldestEventSeconds }) => oldestEventSeconds,
  },
  {
    name: 'hosts',
    help: 'Hosts. disk_short: with too little free space for new work. stale: without a recent heartbeat.',
    label: 'state',
    value: ({ hosts }) => hosts,
  },
  {
    name: 'slots',
    help: 'Sandbox slots of live hosts.',
    label: 'state',
    value: ({ slots }) => slots,
  },
  {
    name: 'projects_at_cap',
    help: 'Projects at their limit of concurrent runs.',
    value: ({ projectsAtCap }) => projectsAtCap,
  },
  {
    name: 'stored_bytes',
    help: 'What all projects store in Postgres, as their quotas count it.',
    label: 'kind',
    value: ({ storedBytes }) => storedBytes,
  },
  {
    name: 'projects_at_storage_quota',
    help: 'Projects whose storage quota is used up.',
    value: ({ projectsAtStorageQuota }) => projectsAtStorageQuota,
  },
  {
    name: 'monthly_budgets_spent',
    help: 'Monthly budgets of projects, flows and keys of which this percentage is spent.',
    label: 'percent',
    value: ({ spentBudgets }) => spentBudgets,
  },
  {
    name: 'missing_workflows',
    help: 'Workflows missing in Temporal, if they are too many to end their runs; otherwise 0.',
    value: ({ missingWorkflows }) => missingWorkflows,
  },
];

function setGauge(gauge: Gauge, value: number | Record<string, number>, label: string): void {
  if (typeof value === 'number') return gauge.set(value);
  for (const [of, count] of Object.entries(value)) gauge.set({ [label]: of }, count);
}
