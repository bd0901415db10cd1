// Which interrupts reach which sandbox, with the real workflow on a real server and fake
// activities.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SessionSlot } from '../../../core/sessions/session-slot.ts';
import { createDeferred } from '../../../lib/async/deferred.ts';
import type { HostActivities, TurnOutcome } from '../../../workflows/shared/activities.ts';
import { endOf } from '../../support/end-of-workflow.ts';
import { type FakeRun, fakeRun } from '../../support/fake-run.ts';
import {
  createWorkflowFixture,
  type SessionHandle,
  type WorkflowFixture,
} from '../../support/workflow-fixture.ts';

let fixture: WorkflowFixture;
beforeAll(async () => {
  fixture = await createWorkflowFixture();
});
afterAll(() => fixture?.close());

type Interrupted = Parameters<HostActivities['interruptTurn']>[0];

interface InterruptedSession {
  run: FakeRun;
  handle: SessionHandle;
  interrupted: Interrupted[];
  /** Ends the current turn. */
  end(outcome: TurnOutcome): void;
  untilTurn(nth: number): Promise<void>;
  /** Lets the second sandbox start. The first starts at once. */
  finishStart(): void;
  stop(): Promise<void>;
}

/** A session with one message. Its turns run until `end`. */
async function startSession(): Promise<InterruptedSession> {
  const turns: ((outcome: TurnOutcome) => void)[] = [];
  const interrupted: InterruptedSession['interrupted'] = [];
  const up = createDeferred<true>();
  const run = fakeRun({
    claimSessionSlot: async ({ after }): Promise<SessionSlot> => ({
      outcome: 'assigned',
      hostId: fixture.hostId,
      generation: after + 1,
    }),
    async startSandbox({ generation }) {
      if (generation > 1) await up.promise;
      return { outcome: 'started' };
    },
    runTurn: () => new Promise<TurnOutcome>((end) => turns.push(end)),
    interruptTurn: async (which) => void interrupted.push(which),
  });
  const handle = await fixture.startSession(run.activities);
  await handle.signal('message', { messageId: 'a' });
  const untilTurn = (nth: number): Promise<void> => expect.poll(() => turns.length).toBe(nth);
  await untilTurn(1);
  return {
    run,
    handle,
    interrupted,
    untilTurn,
    end: (outcome) => turns.at(-1)?.(outcome),
    finishStart: () => up.resolve(true),
    async stop() {
      await handle.signal('stop', { graceMs: 0 });
      turns.at(-1)?.({ outcome: 'sandbox_ended' });
      await endOf(handle);
    },
  };
}

const more: TurnOutcome = { outcome: 'done', more: true };

describe("an interrupt of a session's turn", () => {
  it('reaches the sandbox at once with its message id, and each message once', async () => {
    const { handle, interrupted, stop } = await startSession();
    await handle.signal('interrupt', { messageId: 'a' });
    await handle.signal('interrupt', { messageId: 'late' });
    await handle.signal('interrupt', { messageId: 'a' });
    await handle.signal('interrupt');
    await expect.poll(() => interrupted).toHaveLength(3);
    const requested = [{ messageId: 'a' }, { messageId: 'late' }, {}];
    const { runId } = interrupted[0] ?? { runId: '' };
    const all = requested.map((which) => ({ runId, generation: 1, ...which }));
    expect(interrupted).toEqual(expect.arrayContaining(all));
    await stop();
  });

  it('is dropped at the end of the turn', async () => {
    const { handle, interrupted, end, untilTurn, stop } = await startSession();
    await handle.signal('interrupt', { messageId: 'a' });
    await expect.poll(() => interrupted).toHaveLength(1);
    end(more);
    await untilTurn(2);
    await handle.signal('interrupt', { messageId: 'b' });
    await expect.poll(() => interrupted).toHaveLength(2);
    expect(interrupted[1]).toMatchObject({ generation: 1, messageId: 'b' });
    await stop();
  });

  it('of the next message reaches it even if it arrives with the end of the turn', async () => {
    const { handle, interrupted, end, untilTurn, stop } = await startSession();
    await handle.signal('interrupt', { messageId: 'a' });
    await expect.poll(() => interrupted).toHaveLength(1);
    await fixture.betweenTasks(async () => {
      end(more);
      await handle.signal('interrupt', { messageId: 'b' });
    });
    await expect.poll(() => interrupted, { timeout: 30_000 }).toHaveLength(2);
    await untilTurn(2);
    expect(interrupted[1]).toMatchObject({ generation: 1, messageId: 'b' });
    await stop();
  });

  it('is forwarded to the next sandbox too, after that has started', async () => {
    const { run, handle, interrupted, end, finishStart, untilTurn, stop } = await startSession();
    await handle.signal('interrupt', { messageId: 'a' });
    await expect.poll(() => interrupted).toHaveLength(1);
    end({ outcome: 'sandbox_ended' });
    const starts = () => run.calls.filter((name) => name === 'startSandbox').length;
    await expect.poll(starts).toBe(2);
    await handle.signal('interrupt', { messageId: 'b' });
    // Its forwarding means that the signals before it were processed.
    await handle.signal('interrupt');
    await expect.poll(() => interrupted).toHaveLength(2);
    expect(interrupted[1], 'without a message id, at once').toMatchObject({ generation: 2 });
    expect(interrupted[1]).not.toHaveProperty('messageId');
    finishStart();
    await untilTurn(2);
    await expect.poll(() => interrupted).toHaveLength(4);
    expect(
      interrupted
        .slice(2)
        .map(({ messageId }) => messageId)
        .sort(),
    ).toEqual(['a', 'b']);
    expect(interrupted.slice(2).map(({ generation }) => generation)).toEqual([2, 2]);
    await stop();
  });
});
