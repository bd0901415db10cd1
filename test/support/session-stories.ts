import type { SessionInput } from '../../workflows/shared/inputs.ts';
import type { InterruptPayload } from '../../workflows/shared/signals.ts';
import { type FakeRun, fakeRun } from './fake-run.ts';
import {
  asleepAfter,
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

export function sessionStories(): Record<string, SessionStory> {
  return {
    'session-stop': {
      run: fakeRun(),
      async act(run, handle) {
        await handle.signal('message', { messageId: 'm-1' });
        await run.called('runTurn');
        await handle.signal('stop', { graceMs: 0 });
      },
      calls: [...started, 'recordCause', ...stopped, 'removeSandbox', 'endRun'],
    },
    'session-asleep-stop': {
      run: fakeRun(),
      act: async (_, handle) => handle.signal('stop', { graceMs: 0 }),
      calls: ['recordCause', 'endRun'],
    },
    'session-sleep': {
      run: asleepAfter([{ outcome: 'done', more: false }]),
      input: { timeouts: { idleMs: 200, inactivityMs: 1_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [
        ...started,
        'getSessionIdleness',
        ...stopped,
        'removeSandbox',
        'claimSessionSlot',
        'endRun',
      ],
    },
    'session-reconfigured': {
      run: asleepAfter([{ outcome: 'reconfigure' }, { outcome: 'done', more: false }]),
      input: { timeouts: { idleMs: 200, inactivityMs: 1_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [
        ...started,
        ...stopped,
        'removeSandbox',
        ...started,
        'getSessionIdleness',
        ...stopped,
        'removeSandbox',
        'claimSessionSlot',
        'endRun',
      ],
    },
    'session-no-capacity': {
      run: noSlotAtFirst(),
      input: { timeouts: { noCapacityMs: 500, idleMs: 200, inactivityMs: 1_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [
        ...['claimSessionSlot', 'failTurn'],
        ...started,
        'getSessionIdleness',
        ...stopped,
        'removeSandbox',
        'claimSessionSlot',
        'endRun',
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
      calls: [
        ...['claimSessionSlot', 'startSandbox'],
        ...started,
        'getSessionIdleness',
        ...stopped,
        'removeSandbox',
        'claimSessionSlot',
        'endRun',
      ],
    },
    'session-turn-lost': {
      run: firstTurnLost(),
      input: { timeouts: { idleMs: 200, inactivityMs: 1_000 } },
      async act(run, handle) {
        await handle.signal('message', { messageId: 'm-1' });
        await run.called('runTurn');
        await handle.signal('hostLost', { generation: 1 });
      },
      calls: [
        ...started,
        ...started,
        'getSessionIdleness',
        ...stopped,
        'removeSandbox',
        'claimSessionSlot',
        'endRun',
      ],
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
      calls: [
        ...started,
        'runTurn',
        'runTurn',
        'getSessionIdleness',
        ...stopped,
        'removeSandbox',
        'claimSessionSlot',
        'endRun',
      ],
    },
    'session-removed-late': {
      run: removedLate(),
      input: { timeouts: { turnsPerHistory: 1, idleMs: 200, inactivityMs: 1_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [
        ...started,
        ...stopped,
        'removeSandbox',
        ...started,
        'getSessionIdleness',
        ...stopped,
        'removeSandbox',
        'claimSessionSlot',
        'endRun',
      ],
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
    calls: [
      ...started,
      'interruptTurn',
      'getSessionIdleness',
      ...stopped,
      'removeSandbox',
      'claimSessionSlot',
      'endRun',
    ],
  };
}
