import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionInput } from '../../workflows/shared/inputs.ts';
import type { InterruptPayload } from '../../workflows/shared/signals.ts';
import { type FakeRun, fakeRun } from './fake-run.ts';
import {
  asleepAfter,
  busyAtFirst,
  endedByInterrupt,
  firstTurnLost,
  noSlotAtFirst,
  removedLate,
  startsOnSecondHost,
} from './fake-session.ts';
import type { SessionHandle } from './workflow-fixture.ts';

/** One scenario of a session, as its workflow sees it. */
export interface SessionStory {
  run: FakeRun;
  input?: Partial<SessionInput>;
  act(run: FakeRun, handle: SessionHandle): Promise<void>;
  /** The workflow's activities, in order. */
  calls: string[];
}

const started = ['claimSessionSlot', 'startSandbox', 'runTurn'];
const stopped = ['stopSandbox', 'followRun'];
/** The session is put to sleep when it is idle, and ends when it gets no further message. */
const endedByInactivity = [
  'getSessionIdleness',
  ...stopped,
  'removeSandbox',
  'claimSessionSlot',
  'endRun',
];

export function sessionStories(): Record<string, SessionStory> {
  return {
    'session-stop': {
      run: fakeRun(),
      async act(run, handle) {
        await handle.signal('message', { messageId: 'm-1' });
        await run.called('runTurn');
        await untilPhase(handle, 'waiting for a message');
        await handle.signal('stop', { graceMs: 0 });
      },
      calls: [...started, 'recordCause', ...stopped, 'removeSandbox', 'endRun', 'cancelWorkflow'],
    },
    'session-asleep-stop': {
      run: fakeRun(),
      act: async (_, handle) => handle.signal('stop', { graceMs: 0 }),
      calls: ['recordCause', 'endRun', 'cancelWorkflow'],
    },
    'session-webhook': {
      run: fakeRun({
        endRun: async ({ cause }) => ({ webhook: true, cause, hasUnstoredFiles: false }),
      }),
      act: async (_, handle) => handle.signal('stop', { graceMs: 0 }),
      calls: ['recordCause', 'endRun', 'deliverWebhook', 'cancelWorkflow'],
    },
    'session-sleep': {
      run: asleepAfter([{ outcome: 'done', more: false }]),
      input: { timeouts: { idleMs: 200, inactivityMs: 1_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [...started, ...endedByInactivity],
    },
    'session-busy': {
      run: busyAtFirst(),
      input: { timeouts: { idleMs: 200, inactivityMs: 1_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [...started, 'getSessionIdleness', 'stopSandbox', 'runTurn', ...endedByInactivity],
    },
    'session-reconfigured': {
      run: asleepAfter([{ outcome: 'reconfigure' }, { outcome: 'done', more: false }]),
      input: { timeouts: { idleMs: 200, inactivityMs: 1_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [...started, ...stopped, 'removeSandbox', ...started, ...endedByInactivity],
    },
    'session-no-capacity': {
      run: noSlotAtFirst(),
      input: { timeouts: { noCapacityMs: 2_000, idleMs: 200, inactivityMs: 1_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [
        ...['claimSessionSlot', 'claimSessionSlot', 'failTurn'],
        ...started,
        ...endedByInactivity,
      ],
    },
    'session-lost': {
      run: asleepAfter([
        { outcome: 'sandbox_ended' },
        { outcome: 'sandbox_ended' },
        { outcome: 'sandbox_ended' },
      ]),
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [1, 2, 3].flatMap(() => [...started, 'removeSandbox']).concat('endRun'),
    },
    'session-host-lost': {
      run: asleepAfter([{ outcome: 'done', more: false }]),
      input: { timeouts: { inactivityMs: 1_000 } },
      async act(run, handle) {
        await handle.signal('message', { messageId: 'm-1' });
        await run.called('runTurn');
        await handle.signal('hostLost', { generation: 1 });
      },
      calls: [...started, 'claimSessionSlot', 'endRun'],
    },
    'session-start-moved': {
      run: startsOnSecondHost(),
      input: { timeouts: { idleMs: 200, inactivityMs: 1_000, maxConsecutiveLosses: 1 } },
      async act(run, handle) {
        await handle.signal('message', { messageId: 'm-1' });
        await run.called('startSandbox');
        await handle.signal('hostLost', { generation: 1, ifUnstarted: true });
        await run.called('runTurn');
        await handle.signal('hostLost', { generation: 2, ifUnstarted: true });
      },
      calls: [...['claimSessionSlot', 'startSandbox'], ...started, ...endedByInactivity],
    },
    'session-turn-lost': {
      run: firstTurnLost(),
      input: { timeouts: { idleMs: 200, inactivityMs: 1_000 } },
      async act(run, handle) {
        await handle.signal('message', { messageId: 'm-1' });
        await run.called('runTurn');
        await handle.signal('hostLost', { generation: 1 });
      },
      calls: [...started, ...started, ...endedByInactivity],
    },
    'session-interrupted': interruptedBy({ messageId: 'm-1' }),
    'session-interrupted-by-hand': interruptedBy(),
    'session-continued': {
      run: asleepAfter([
        { outcome: 'done', more: true },
        { outcome: 'done', more: true },
        { outcome: 'done', more: false },
      ]),
      input: { timeouts: { turnsPerHistory: 2, idleMs: 200, inactivityMs: 1_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [...started, 'runTurn', 'runTurn', ...endedByInactivity],
    },
    'session-removed-late': {
      run: removedLate(),
      // Long enough for a busy machine to remove the sandbox before.
      input: { timeouts: { turnsPerHistory: 1, idleMs: 200, inactivityMs: 4_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [...started, ...stopped, 'removeSandbox', ...started, ...endedByInactivity],
    },
  };
}

/** With a message id, as the API sends it, or without, as an operator does. */
function interruptedBy(...turn: [InterruptPayload?]): SessionStory {
  return {
    run: endedByInterrupt(),
    input: { timeouts: { idleMs: 200, inactivityMs: 1_000 } },
    async act(run, handle) {
      await handle.signal('message', { messageId: 'm-1' });
      await run.called('runTurn');
      await handle.signal('interrupt', ...turn);
    },
    calls: [...started, 'interruptTurn', ...endedByInactivity],
  };
}

/** The phase on the workflow's page. Outside Vitest too, where histories are recorded. */
async function untilPhase(handle: SessionHandle, phase: string): Promise<void> {
  for (;;) {
    const details = await handle.query('__temporal_workflow_metadata');
    if (JSON.stringify(details).includes(phase)) return;
    await sleep(50);
  }
}
