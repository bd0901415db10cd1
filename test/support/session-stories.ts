import type { Interruption, SessionInput } from '../../workflows/shared/signals.ts';
import { type FakeRun, fakeRun } from './fake-run.ts';
import {
  asleepAfter,
  endedByInterrupt,
  firstTurnLost,
  removedLate,
  withoutPlaceAtFirst,
} from './fake-sessions.ts';
import type { SessionHandle } from './workflow-world.ts';

/** What may happen in the life of a session, as far as its workflow sees it. */
export interface SessionStory {
  run: FakeRun;
  input?: Partial<SessionInput>;
  act(run: FakeRun, handle: SessionHandle): Promise<void>;
  /** What the workflow asked of the world, in order. */
  calls: string[];
}

const started = ['claimSessionPlace', 'startSandbox', 'runTurn'];
const putDown = ['stopSandbox', 'followRun'];

export function sessionStories(): Record<string, SessionStory> {
  return {
    'session-stop': {
      run: fakeRun(),
      async act(run, handle) {
        await handle.signal('message', { messageId: 'm-1' });
        await run.called('runTurn');
        await handle.signal('stop', { graceMs: 0 });
      },
      calls: [...started, 'recordCause', ...putDown, 'removeSandbox', 'endRun'],
    },
    'session-asleep-stop': {
      run: fakeRun(),
      act: async (_, handle) => handle.signal('stop', { graceMs: 0 }),
      calls: ['recordCause', 'endRun'],
    },
    'session-sleep': {
      run: asleepAfter([{ outcome: 'done', more: false }]),
      input: { times: { idleMs: 200, silentMs: 1_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [
        ...started,
        'askSessionIdleness',
        ...putDown,
        'removeSandbox',
        'claimSessionPlace',
        'endRun',
      ],
    },
    'session-reconfigured': {
      run: asleepAfter([{ outcome: 'reconfigure' }, { outcome: 'done', more: false }]),
      input: { times: { idleMs: 200, silentMs: 1_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [
        ...started,
        ...putDown,
        'removeSandbox',
        ...started,
        'askSessionIdleness',
        ...putDown,
        'removeSandbox',
        'claimSessionPlace',
        'endRun',
      ],
    },
    'session-no-capacity': {
      run: withoutPlaceAtFirst(),
      input: { times: { noCapacityMs: 500, idleMs: 200, silentMs: 1_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [
        ...['claimSessionPlace', 'giveUpTurn'],
        ...started,
        'askSessionIdleness',
        ...putDown,
        'removeSandbox',
        'claimSessionPlace',
        'endRun',
      ],
    },
    'session-lost': {
      run: asleepAfter([{ outcome: 'over' }, { outcome: 'over' }, { outcome: 'over' }]),
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [1, 2, 3].flatMap(() => [...started, 'removeSandbox']).concat('endRun'),
    },
    'session-host-lost': {
      run: asleepAfter([{ outcome: 'done', more: false }]),
      input: { times: { silentMs: 1_000 } },
      async act(run, handle) {
        await handle.signal('message', { messageId: 'm-1' });
        await run.called('runTurn');
        await handle.signal('hostLost', { generation: 1 });
      },
      calls: [...started, 'claimSessionPlace', 'endRun'],
    },
    'session-turn-lost': {
      run: firstTurnLost(),
      input: { times: { idleMs: 200, silentMs: 1_000 } },
      async act(run, handle) {
        await handle.signal('message', { messageId: 'm-1' });
        await run.called('runTurn');
        await handle.signal('hostLost', { generation: 1 });
      },
      calls: [
        ...started,
        ...started,
        'askSessionIdleness',
        ...putDown,
        'removeSandbox',
        'claimSessionPlace',
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
      input: { times: { turnsPerHistory: 2, idleMs: 200, silentMs: 1_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [
        ...started,
        'runTurn',
        'runTurn',
        'askSessionIdleness',
        ...putDown,
        'removeSandbox',
        'claimSessionPlace',
        'endRun',
      ],
    },
    'session-removed-late': {
      run: removedLate(),
      input: { times: { turnsPerHistory: 1, idleMs: 200, silentMs: 1_000 } },
      act: (_, handle) => handle.signal('message', { messageId: 'm-1' }),
      calls: [
        ...started,
        ...putDown,
        'removeSandbox',
        ...started,
        'askSessionIdleness',
        ...putDown,
        'removeSandbox',
        'claimSessionPlace',
        'endRun',
      ],
    },
  };
}

/** By the service, which names a message, or by hand. */
function interruptedBy(...turn: [Interruption?]): SessionStory {
  return {
    run: endedByInterrupt(),
    input: { times: { idleMs: 200, silentMs: 1_000 } },
    async act(run, handle) {
      await handle.signal('message', { messageId: 'm-1' });
      await run.called('runTurn');
      await handle.signal('interrupt', ...turn);
    },
    calls: [
      ...started,
      'interruptTurn',
      'askSessionIdleness',
      ...putDown,
      'removeSandbox',
      'claimSessionPlace',
      'endRun',
    ],
  };
}
