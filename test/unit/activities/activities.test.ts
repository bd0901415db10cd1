import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { type ActivityDeps, createActivities } from '../../../activities/index.ts';
import type { SandboxTurn } from '../../../activities/sandbox.ts';
import type { RunEnd } from '../../../core/runs/end-cause.ts';
import type { TurnOutcome } from '../../../workflows/shared/activities.ts';

const ref = { runId: 'r', generation: 1 };
const never = new Promise<never>(() => {});

const quietEnvironment = (): MockActivityEnvironment =>
  new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });

function unexpected(): never {
  throw new Error('unexpected call');
}

function activitiesWith(overrides: {
  supervisor?: Partial<ActivityDeps['supervisor']>;
  admission?: Partial<ActivityDeps['admission']>;
}) {
  const supervisor = {
    start: unexpected,
    follow: unexpected,
    stop: unexpected,
    stopIfIdle: unexpected,
    runTurn: unexpected,
    interrupt: unexpected,
    snapshot: unexpected,
    remove: unexpected,
    ...overrides.supervisor,
  };
  return createActivities({
    supervisor,
    admission: {
      claimSlot: unexpected,
      admitRun: unexpected,
      assignWaiting: unexpected,
      findUnclaimed: unexpected,
      findEvictableOnHosts: unexpected,
      ...overrides.admission,
    },
    runs: {
      recordCause: unexpected,
      endRun: unexpected,
      find: unexpected,
      markWorkflowStarted: unexpected,
    },
    flows: { find: unexpected },
    schedules: { recordStart: unexpected },
    onStartsMissed: unexpected,
    diskNotice: { isShort: unexpected },
    temporal: {
      startRun: unexpected,
      cancel: unexpected,
      signalSleep: unexpected,
      signalSlotAssigned: unexpected,
      signalWork: unexpected,
    },
    runTimeoutMs: 1,
    webhooks: { claimAttempt: unexpected, recordAttempt: unexpected, drop: unexpected },
    events: { claimAttempt: unexpected, recordAttempt: unexpected, drop: unexpected },
    frameStream: { notify: unexpected, expireEnded: unexpected },
    turns: {
      claimSlot: unexpected,
      failTurn: unexpected,
      hasWork: unexpected,
      idleState: unexpected,
    },
    presence: { unattendedForMs: unexpected },
    sendWebhook: unexpected,
    onWebhookAttempt: unexpected,
    now: unexpected,
    logger: pino({ enabled: false }),
  });
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(unexpected, (error: unknown) => error);
}

describe('following a run', () => {
  it('sends heartbeats by a timer, even without progress', async () => {
    vi.useFakeTimers();
    const { host } = activitiesWith({ supervisor: { follow: () => never } });
    const env = quietEnvironment();
    let beats = 0;
    env.on('heartbeat', () => beats++);
    const following = failureOf(env.run(host.followRun, ref));
    await vi.advanceTimersByTimeAsync(9_500);
    vi.useRealTimers();
    expect(beats).toBe(3);
    env.cancel('WORKER_SHUTDOWN');
    await following;
  });

  it.each(['WORKER_SHUTDOWN', 'TIMED_OUT', 'NOT_FOUND', 'CANCELLED'] as const)(
    'is cancelled at once by %s and stops nothing',
    async (reason) => {
      const signals: AbortSignal[] = [];
      const follow = (_ref: unknown, signal: AbortSignal): Promise<RunEnd> => {
        signals.push(signal);
        return never;
      };
      const { host } = activitiesWith({ supervisor: { follow } });
      const env = quietEnvironment();
      const following = failureOf(env.run(host.followRun, ref));
      env.cancel(reason);
      expect(await following).toBeInstanceOf(CancelledFailure);
      expect(signals.map((signal) => signal.aborted)).toEqual([true]);
    },
  );
});

describe('interrupting a turn', () => {
  it('passes the message id, or null without one', async () => {
    const requests: unknown[] = [];
    const interrupt = async (...input: unknown[]) => void requests.push(input);
    const { host } = activitiesWith({ supervisor: { interrupt } });
    await quietEnvironment().run(host.interruptTurn, { ...ref, messageId: 'm-1' });
    await quietEnvironment().run(host.interruptTurn, ref);
    expect(requests).toEqual([
      [ref, 'm-1'],
      [ref, null],
    ]);
  });
});

describe('the error of an activity', () => {
  it('contains why a sandbox cannot start, and whether to retry', async () => {
    for (const permanent of [true, false]) {
      const start = async (): Promise<never> => {
        throw Object.assign(new Error('docker: canary'), {
          name: 'SandboxStartError',
          detail: 'no such image',
          permanent,
        });
      };
      const { host } = activitiesWith({ supervisor: { start } });
      const failure = await failureOf(quietEnvironment().run(host.startSandbox, ref));
      expect(failure).toBeInstanceOf(ApplicationFailure);
      expect(failure).toMatchObject({
        message: 'no such image',
        type: 'ContainerStartFailed',
        nonRetryable: permanent,
      });
    }
  });
});

describe('claiming a slot', () => {
  const input = { runId: 'r', after: 0 };
  const slot = { hostId: 'h', generation: 1, requestId: null };

  it('returns null while every host is full', async () => {
    const { run } = activitiesWith({
      admission: {
        claimSlot: async () => null,
        assignWaiting: async () => [],
        findEvictableOnHosts: async () => [],
      },
    });
    expect(await quietEnvironment().run(run.claimSlot, input)).toBeNull();
  });

  it('returns the slot that was assigned during the claim, and sends no signal', async () => {
    const answers = [null, slot];
    const { run } = activitiesWith({
      admission: {
        claimSlot: async () => answers.shift() ?? null,
        assignWaiting: async () => [
          { runId: 'r', workflowId: 'run/r', hostId: 'h', requestId: null },
        ],
      },
    });
    const { hostId, generation } = slot;
    expect(await quietEnvironment().run(run.claimSlot, input)).toEqual({ hostId, generation });
  });
});

describe('stopping a sandbox', () => {
  const stop = { ...ref, graceMs: 1 };

  it.each([
    [true, 'stopped'],
    [false, 'busy'],
  ])('asks first if only an idle one may be stopped: idle %s', async (isIdle, outcome) => {
    const { host } = activitiesWith({ supervisor: { stopIfIdle: async () => isIdle } });
    const stopping = quietEnvironment().run(() => host.stopSandbox({ ...stop, ifIdle: true }));
    expect(await stopping).toEqual({ outcome });
  });

  it('does not check for work otherwise', async () => {
    const { host } = activitiesWith({ supervisor: { stop: async () => undefined } });
    const stopping = quietEnvironment().run(() => host.stopSandbox(stop));
    expect(await stopping).toEqual({ outcome: 'stopped' });
  });
});

describe('running a turn', () => {
  async function runTurn(turn: SandboxTurn): Promise<{ result: TurnOutcome; looks: number }> {
    let looks = 0;
    const { host } = activitiesWith({
      supervisor: { runTurn: async () => turn },
      admission: {
        async findEvictableOnHosts() {
          looks += 1;
          throw new Error('Postgres is away');
        },
      },
    });
    const result: TurnOutcome = await quietEnvironment().run(() => host.runTurn(ref));
    return { result, looks };
  }

  it('looks for sessions to evict once the session is idle, if a run waits', async () => {
    const turn = { outcome: 'done', more: false, hasWaiting: true } as const;
    expect(await runTurn(turn)).toEqual({ result: { outcome: 'done', more: false }, looks: 1 });
  });

  it.each<[string, SandboxTurn, TurnOutcome]>([
    [
      'no run waits',
      { outcome: 'done', more: false, hasWaiting: false },
      { outcome: 'done', more: false },
    ],
    [
      'the session has another message',
      { outcome: 'done', more: true, hasWaiting: true },
      { outcome: 'done', more: true },
    ],
    ['its sandbox has ended', { outcome: 'sandbox_ended' }, { outcome: 'sandbox_ended' }],
  ])('evicts no session if %s', async (_, turn, result) => {
    expect(await runTurn(turn)).toEqual({ result, looks: 0 });
  });
});
