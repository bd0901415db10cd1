import { Gauge, type Registry } from 'prom-client';

/** How all of the service stands, whichever process is asked. */
export interface FleetNumbers {
  /** That have not ended; `awake` and `asleep` are sessions. */
  runs: { waiting: number; starting: number; running: number; awake: number; asleep: number };
  oldestRunSeconds: number;
  messages: number;
  oldestMessageSeconds: number;
  webhooks: number;
  oldestWebhookSeconds: number;
  hosts: { live: number; draining: number; silent: number };
  places: { free: number; taken: number };
  projectsAtCap: number;
}

/**
 * One statement for each scrape. Every process of the API says the same: take the largest, not the sum.
 * While Postgres does not answer, nothing is said of these.
 */
export function exportFleet(registry: Registry, read: () => Promise<FleetNumbers>): void {
  const readOnce = whileUnderWay(() => read().catch(() => null));
  for (const { name, help, label, of } of told) {
    const gauge: Gauge = new Gauge({
      name: `flowrun_${name}`,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [],
      async collect() {
        const numbers = await readOnce();
        gauge.reset();
        if (numbers !== null) show(gauge, of(numbers));
        else if (label === undefined) gauge.remove(); // a reset one says 0
      },
    });
    registry.registerMetric(gauge);
  }
}

interface Told {
  name: string;
  help: string;
  label?: string;
  of: (numbers: FleetNumbers) => number | Record<string, number>;
}

const told: readonly Told[] = [
  {
    name: 'runs',
    help: 'Runs that have not ended; awake and asleep are sessions.',
    label: 'state',
    of: ({ runs }) => runs,
  },
  {
    name: 'run_oldest_wait_seconds',
    help: 'The longest that a run waits for its start now.',
    of: ({ oldestRunSeconds }) => oldestRunSeconds,
  },
  {
    name: 'messages_waiting',
    help: 'Messages that no agent has been given yet.',
    of: ({ messages }) => messages,
  },
  {
    name: 'message_oldest_wait_seconds',
    help: 'The longest that a message waits now.',
    of: ({ oldestMessageSeconds }) => oldestMessageSeconds,
  },
  {
    name: 'webhooks_owed',
    help: 'Webhooks that are not delivered and not given up.',
    of: ({ webhooks }) => webhooks,
  },
  {
    name: 'webhook_oldest_owed_seconds',
    help: 'Since when the oldest of them is owed.',
    of: ({ oldestWebhookSeconds }) => oldestWebhookSeconds,
  },
  { name: 'hosts', help: 'Hosts, by what they take.', label: 'state', of: ({ hosts }) => hosts },
  {
    name: 'places',
    help: 'Places for sandboxes on hosts that are there.',
    label: 'state',
    of: ({ places }) => places,
  },
  {
    name: 'projects_at_cap',
    help: 'Projects that have as many runs as they may have at once.',
    of: ({ projectsAtCap }) => projectsAtCap,
  },
];

function show(gauge: Gauge, value: number | Record<string, number>): void {
  if (typeof value === 'number') return gauge.set(value);
  for (const [state, count] of Object.entries(value)) gauge.set({ state }, count);
}

/** All that ask at once get one answer. */
function whileUnderWay<T>(ask: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | null = null;
  return () => {
    underWay ??= ask().finally(() => {
      underWay = null;
    });
    return underWay;
  };
}
