import { ApplicationFailure } from '@temporalio/activity';
import { createLatch } from '../../worker/supervisor/latch.ts';
import { failureTypes, type SessionPlace, type TurnOutcome } from '../../workflows/activities.ts';
import type { Interruption, SessionInput } from '../../workflows/messages.ts';
import { type FakeRun, fakeRun } from './fake-run.ts';
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

/** Its only turn goes on until it is interrupted. */
function endedByInterrupt(): FakeRun {
  const interrupted = createLatch<true>();
  const run = asleepAfter([{ outcome: 'done', more: false }]);
  return fakeRun({
    ...run.activities,
    async runTurn(ref) {
      await interrupted.happened;
      return run.activities.runTurn(ref);
    },
    interruptTurn: async () => interrupted.set(true),
  });
}

/** What is left of the first sandbox is removed when the next one has done its turn. */
function removedLate(): FakeRun {
  const next = createLatch<true>();
  const run = asleepAfter([{ outcome: 'reconfigure' }, { outcome: 'done', more: false }]);
  const { runTurn } = run.activities;
  return fakeRun({
    ...run.activities,
    runTurn: async (ref) => {
      if (ref.generation === 2) next.set(true);
      return runTurn(ref);
    },
    removeSandbox: async () => void (await next.happened),
  });
}

/** The host of the first turn does not answer any more. */
function firstTurnLost(): FakeRun {
  let turns = 0;
  return fakeRun({
    claimSessionPlace: async ({ after }): Promise<SessionPlace> =>
      turns > 1
        ? { outcome: 'asleep' }
        : { outcome: 'placed', hostId: 'host-1', generation: after + 1 },
    runTurn: () => {
      turns += 1;
      if (turns === 1) return new Promise<TurnOutcome>(() => undefined);
      return Promise.resolve({ outcome: 'done', more: false });
    },
    askSessionIdleness: async () => ({ idleForMs: 1_000_000, unattendedForMs: null }),
  });
}

/** Every host is full for the first message, and none is for the second, which waited behind it. */
function withoutPlaceAtFirst(): FakeRun {
  let asked = 0;
  return fakeRun({
    claimSessionPlace: async ({ after }): Promise<SessionPlace> => {
      asked += 1;
      if (asked === 1) throw ApplicationFailure.nonRetryable('full', failureTypes.noPlaceFree);
      if (asked > 2) return { outcome: 'asleep' };
      return { outcome: 'placed', hostId: 'host-1', generation: after + 1 };
    },
    giveUpTurn: async () => ({ more: true }),
    askSessionIdleness: async () => ({ idleForMs: 1_000_000, unattendedForMs: null }),
  });
}

/** A session whose turns go like this, and that has nothing more to do after them. */
function asleepAfter(outcomes: TurnOutcome[]): FakeRun {
  let left = [...outcomes];
  let generation = 0;
  return fakeRun({
    claimSessionPlace: async (): Promise<SessionPlace> => {
      if (left.length === 0) return { outcome: 'asleep' };
      generation += 1;
      return { outcome: 'placed', hostId: 'host-1', generation };
    },
    runTurn: async () => {
      const [next = { outcome: 'done', more: false }, ...rest] = left;
      left = rest;
      return next;
    },
    askSessionIdleness: async () => ({ idleForMs: 1_000_000, unattendedForMs: null }),
  });
}
