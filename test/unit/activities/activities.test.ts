import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { type ActivityDeps, createActivities } from '../../../activities/index.ts';
import type { RunEnd } from '../../../core/runs/end-cause.ts';

const ref = { runId: 'r', generation: 1 };
const never = new Promise<never>(() => {});

const quietEnvironment = (): MockActivityEnvironment =>
  new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });

function unasked(): never {
  throw new Error('nobody should ask for this');
}

function activitiesWith(given: {
  supervisor?: Partial<ActivityDeps['supervisor']>;
  admission?: Partial<ActivityDeps['admission']>;
  lines?: string[];
}) {
  const supervisor = {
    start: unasked,
    follow: unasked,
    stop: unasked,
    runTurn: unasked,
    interrupt: unasked,
    snapshot: unasked,
    remove: unasked,
    ...given.supervisor,
  };
  return createActivities({
    supervisor,
    admission: {
      claimSlot: unasked,
      admitRun: unasked,
      findEvictableSession: unasked,
      ...given.admission,
    },
    runs: { recordCause: unasked, endRun: unasked, find: unasked, markWorkflowStarted: unasked },
    flows: { find: unasked },
    temporal: { startRun: unasked, signalSleep: unasked },
    runTimeoutMs: 1,
    webhooks: { claimAttempt: unasked, recordAttempt: unasked, drop: unasked },
    frameStream: { notify: unasked, expire: unasked },
    turns: { claimSlot: unasked, failTurn: unasked, hasWork: unasked, idleForMs: unasked },
    runLogContext: async (runId) => ({ runId, requestId: 'q-1' }),
    presence: { unattendedForMs: unasked },
    sendWebhook: unasked,
    now: unasked,
    logger: pino({ level: 'warn' }, { write: (line: string) => given.lines?.push(line) }),
  });
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(unasked, (error: unknown) => error);
}

describe('following a run', () => {
  it('sends heartbeats by the clock, though nothing happens', async () => {
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
    'lets go at once when the reason is %s, and ends nothing',
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
  it('is of the message that is named, or of whichever goes on where none is', async () => {
    const asked: unknown[] = [];
    const interrupt = async (...input: unknown[]) => void asked.push(input);
    const { host } = activitiesWith({ supervisor: { interrupt } });
    await quietEnvironment().run(host.interruptTurn, { ...ref, messageId: 'm-1' });
    await quietEnvironment().run(host.interruptTurn, ref);
    expect(asked).toEqual([
      [ref, 'm-1'],
      [ref, null],
    ]);
  });
});

describe('what an activity lets out', () => {
  it('is never the words of a library, which go to the log', async () => {
    const lines: string[] = [];
    const stop = async (): Promise<never> => {
      throw new TypeError('connection to postgres://user:canary@host failed');
    };
    const { host } = activitiesWith({ supervisor: { stop }, lines });
    const env = quietEnvironment();
    const failure = await failureOf(env.run(host.stopSandbox, { ...ref, graceMs: 0 }));
    expect(failure).toMatchObject({ type: 'TypeError', nonRetryable: false });
    expect(JSON.stringify(failure)).not.toContain('canary');
    expect(String(failure)).not.toContain('canary');
    expect((failure as Error).cause).toBeUndefined();
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { msg: 'activity_failed', activity: 'stopSandbox', runId: 'r', requestId: 'q-1' },
    ]);
  });

  it('names why a sandbox cannot start, and whether to try again', async () => {
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

describe('taking a place', () => {
  it('fails while every host is full, in a way that is asked again and alarms nobody', async () => {
    const { run } = activitiesWith({
      admission: { claimSlot: async () => null, findEvictableSession: async () => null },
    });
    const failure = await failureOf(quietEnvironment().run(run.claimSlot, { runId: 'r' }));
    expect(failure).toMatchObject({
      type: 'NoCapacity',
      nonRetryable: false,
      category: 'BENIGN',
    });
  });
});
