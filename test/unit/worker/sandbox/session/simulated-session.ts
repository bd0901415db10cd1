import {
  createTurnRunner,
  type TurnStarter,
} from '../../../../../worker/sandbox/session/turn-runner.ts';

/**
 * A session whose queries and turns proceed when a test says so. A query returns what was stored at
 * one moment between its start and its answer.
 */
export function createSession({ mayActOnHints = (): boolean => true, isClaimed = true } = {}) {
  const stored: string[] = [];
  const ended: string[] = [];
  const lookedBy: TurnStarter[] = [];
  const startedBy: TurnStarter[] = [];
  const steps: (() => void)[] = [];
  let running: string | null = null;
  let isStopped = false;
  const left = (): string | undefined => stored[ended.length];

  function step<T>(act: () => T): Promise<T> {
    return new Promise((resolve) => steps.push(() => resolve(act())));
  }
  async function query<T>(read: () => T): Promise<T> {
    const found = await step(read);
    await step(() => undefined); // the answer is on its way
    return found;
  }
  function claim() {
    if (!isStopped) running = left() ?? null;
    return { isOver: isStopped, message: running };
  }
  async function runTurn(by: TurnStarter, onLook: () => void) {
    onLook();
    lookedBy.push(by);
    const { isOver, message } = await query(claim);
    if (isOver) return { outcome: 'sandbox_ended' } as const;
    if (message === null) return { outcome: 'done', more: false, hasWaiting: false } as const;
    startedBy.push(by);
    await step(() => {
      running = null;
      ended.push(message);
    });
    onLook();
    const more = await query(() => left() !== undefined);
    return { outcome: 'done', more, hasWaiting: false } as const;
  }

  const failures: unknown[] = [];
  const runner = createTurnRunner({
    runTurn,
    isClaimed,
    hasEnded: (message) => ended.includes(message),
    hasWork: () => query(() => left() !== undefined),
    mayActOnHints,
    onFailure: (error) => failures.push(error),
  });
  return {
    ...{ stored, ended, lookedBy, startedBy, failures, runner, steps },
    /** Records the cause of the end. Turns in progress continue to their end. */
    recordCause: () => void (isStopped = true),
    isRunning: () => running !== null,
    async proceed(nth = 0): Promise<void> {
      steps.splice(nth, 1)[0]?.();
      await settled();
    },
    async finish(): Promise<void> {
      while (steps.length > 0) await this.proceed();
    },
  };
}

/** Waits until everything that needs no further step has happened. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));
