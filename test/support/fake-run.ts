import type { EndCause, RunEnd } from '../../core/runs/end-cause.ts';
import type { Activities } from '../../workflows/shared/activities.ts';

/** Activities in memory: records the calls in order, and its agent ends on `end`. */
export interface FakeRun {
  activities: Activities;
  calls: string[];
  /** Ends the agent. */
  end(end: Partial<RunEnd>): void;
  called(name: keyof Activities): Promise<void>;
}

export function fakeRun(overrides: Partial<Activities> = {}): FakeRun {
  const calls: string[] = [];
  const waiting = new Map<string, () => void>();
  let recorded: EndCause | null = null;
  let resolveEnd: (end: RunEnd) => void = () => {};
  const ended = new Promise<RunEnd>((resolve) => {
    resolveEnd = resolve;
  });
  const end = (how: Partial<RunEnd>): void =>
    resolveEnd({ cause: 'completed', detail: null, exitCode: 0, ...how });

  const standard: Activities = {
    claimSlot: async ({ after }) => ({ hostId: 'host-1', generation: after + 1 }),
    claimSessionSlot: async ({ after }) => ({
      outcome: 'assigned',
      hostId: 'host-1',
      generation: after + 1,
    }),
    failTurn: async () => ({ more: false }),
    getSessionIdleness: async () => ({ idleForMs: 0, unattendedForMs: null }),
    runTurn: async () => ({ outcome: 'done', more: false }),
    interruptTurn: async () => {},
    recordCause: async ({ cause }) => {
      recorded ??= cause;
    },
    startSandbox: async () => ({ outcome: 'started' }),
    followRun: async () => {
      const how = await ended;
      return { ...how, cause: recorded ?? how.cause };
    },
    stopSandbox: async () => {
      end({ cause: 'exited', exitCode: 143 });
      return { outcome: 'stopped' };
    },
    snapshotWorkspace: async () => ({ files: 1, skipped: 0 }),
    endRun: async ({ cause, filesStored }) => ({
      webhook: false,
      cause: recorded ?? cause,
      hasUnstoredFiles: filesStored === false,
    }),
    deliverWebhook: async () => ({ status: 204 }),
    dropWebhook: async () => {},
    deliverEvent: async () => ({ status: 204 }),
    dropEvent: async () => {},
    triggerScheduledRun: async () => ({ outcome: 'admitted' }),
    missScheduledRun: async () => {},
    cancelWorkflow: async () => {}, // the fixture requests it
    removeSandbox: async () => {},
  };
  const all = { ...standard, ...overrides };
  const activities = Object.fromEntries(
    Object.entries(all).map(([name, act]) => [
      name,
      (input: never) => {
        calls.push(name);
        waiting.get(name)?.();
        return act(input);
      },
    ]),
  ) as unknown as Activities; // the same names as `all`, each with its own type
  const called = (name: string): Promise<void> =>
    calls.includes(name) ? Promise.resolve() : new Promise((resolve) => waiting.set(name, resolve));
  return { activities, calls, end, called };
}
