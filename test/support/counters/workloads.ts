// What is measured. The agent prints each turn in one write, so that the number of batches, and of
// the statements that store them, does not depend on time.

import { failureOf } from '../end-of-workflow.ts';
import type { Call } from './call-log.ts';
import type { CountedService } from './counted-service.ts';
import { type Counters, combine } from './counters.ts';
import type { Measured } from './measure.ts';
import { untilAtRest, untilSignalled } from './temporal-actions.ts';

export function runs({ service, temporal }: CountedService, times: number): Measured {
  const workflowIds: string[] = [];
  return {
    subject: 'run',
    times,
    async act() {
      const { runId } = await service.trigger({ prompt: 'Say this.' });
      workflowIds.push(`run/${runId}`);
    },
    rest: () => untilAtRest(temporal, workflowIds.at(-1) ?? ''),
    workflowIds: () => workflowIds,
  };
}

/** Waits for the work of a start, and runs once, so that what the service caches is not counted. */
export async function warmUp(counted: CountedService): Promise<void> {
  const isPassEnd = (call: Call): boolean =>
    call.kind === 'statement' && call.name.startsWith('select pg_advisory_unlock(');
  await counted.log.until(() => counted.log.calls.some(isPassEnd), passWithinMs);
  const { act, rest } = runs(counted, 1);
  await act();
  await rest();
}

export interface CountedSession {
  workflowId: string;
  say(): Promise<void>;
  /** Lets the idle sandbox be paused. */
  pause(): Promise<void>;
  /** Waits until the workflow has nothing to do. */
  rest(): Promise<void>;
  end(): Promise<void>;
}

/** Opens sessions and runs the first turn of each. */
export const openings = (counted: CountedService, opened: CountedSession[]): Measured => ({
  subject: 'session and its first turn',
  times: 1,
  async act() {
    const session = await openSession(counted);
    opened.push(session);
    await session.rest(); // a message that arrives before the workflow sleeps saves it a timer
    await session.say();
  },
  rest: async () => opened.at(-1)?.rest(),
  workflowIds: () => opened.map(({ workflowId }) => workflowId),
});

export const turns = ({ say, rest, workflowId }: CountedSession, times: number): Measured => ({
  subject: 'turn',
  times,
  act: say,
  rest,
  adjust: withoutLateHints,
  workflowIds: () => [workflowId],
});

const lateHintsMax = 3;

/** A hint that arrives after its turn looks for a message once more, and finds none. */
function withoutLateHints(counters: Counters, turnCount: number): Counters {
  const claim = 'worker: claim_turn';
  const late = (counters[claim] ?? 0) - turnCount;
  if (late <= 0 || late > lateHintsMax) return counters;
  const added = { [claim]: late, statements: late, commits: late };
  return combine(counters, added, (count, by) => count - by);
}

/** Turns that find their sandbox paused, each with the pause after it. */
export const pausedTurns = (session: CountedSession, times: number): Measured => ({
  subject: 'turn of a paused session',
  times,
  async act() {
    await session.say();
    await session.rest();
    await session.pause();
  },
  rest: session.rest,
  adjust: withoutRepeatedPauses,
  workflowIds: () => [session.workflowId],
});

const pauses = ['docker: POST /containers/…/pause', 'docker: POST /containers/…/unpause'];

/** Each is repeated while the engine's own event of the last one is late. */
function withoutRepeatedPauses(counters: Counters, turnCount: number): Counters {
  const excessOf = (name: string): number => Math.max(0, (counters[name] ?? 0) - turnCount);
  const excess = Object.fromEntries(pauses.map((name) => [name, excessOf(name)]));
  const calls = Object.values(excess).reduce((sum, count) => sum + count, 0);
  return combine(counters, { ...excess, 'docker calls': calls }, (count, by) => count - by);
}

async function openSession(counted: CountedService): Promise<CountedSession> {
  const { service, temporal, log } = counted;
  const path = `/flows/${service.flowId}`;
  const opened = await service.call<{ sessionId: string; runId: string }>(
    'POST',
    `${path}/sessions`,
    { body: {} },
  );
  const { sessionId, runId } = opened.data;
  const workflowId = `session/${runId}`;
  const countCalls = (name: string): number =>
    log.calls.filter((call) => call.kind === 'docker' && call.name === name).length;

  let sent = 0;

  async function say(): Promise<void> {
    sent += 1;
    const body = { message: 'Say this.', sessionId, stream: true };
    const { status } = await service.call('POST', `${path}/chat`, { body });
    if (status !== 202) throw new Error(`the message was answered with ${status}`);
  }

  return {
    workflowId,
    say,
    async pause() {
      const before = countCalls(pauseCall);
      service.worker.signal('SIGWINCH');
      if (!(await log.until(() => countCalls(pauseCall) > before, pauseWithinMs)))
        throw new Error('the idle sandbox was not paused');
    },
    /** A turn may end before its message is signalled, and a workflow may not have started. */
    async rest() {
      await untilAtRest(temporal, workflowId);
      await untilSignalled(temporal, { workflowId, signal: 'message', times: sent });
      await untilAtRest(temporal, workflowId);
    },
    async end() {
      await service.call('DELETE', `${path}/sessions/${sessionId}`);
      await failureOf(temporal.workflow.getHandle(workflowId));
    },
  };
}

const passWithinMs = 60_000;
const pauseWithinMs = 60_000;
const pauseCall = 'POST /containers/…/pause';
