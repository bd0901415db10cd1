// The turns of one sandbox, one at a time. Two callers begin them: the activity of the workflow,
// and a hint, which is the notification of a stored message. Both claim the oldest message with the
// same statement, so their order does not matter, and a hint that is lost, late or duplicated
// changes nothing.
//
// A turn looks for messages when it claims one, and again after its end. Its result cannot include
// a message that was stored after the last look. So a caller that came later looks again. Only an
// activity whose messages have all had their turns need not, as other messages have their own
// signals.

import type { SandboxTurn } from '../../../activities/sandbox.ts';

export interface TurnRunner extends Omit<HintRefusal, 'isRefused' | 'accept'> {
  /**
   * Runs the next turn, or waits for the end of the current one. `messageIds`: the messages that
   * the workflow was signalled since its last call.
   */
  run(messageIds: readonly string[]): Promise<SandboxTurn>;
  /** Runs the next turn after the current one, if any. Has no effect if hints are refused. */
  hint(): void;
}

interface HintRefusal {
  isRefused(): boolean;
  /** The workflow knows of the sandbox. No effect after all further hints were refused. */
  accept(): void;
  /** Refuses all further hints. */
  refuseHints(): void;
  /** Refuses all further hints, unless the session may have work. Then it returns false. */
  refuseHintsIfIdle(): Promise<boolean>;
}

export type TurnStarter = 'activity' | 'hint';

interface TurnRunnerDeps {
  /** Calls `onLook` before each look for messages, first when it is called. */
  runTurn(startedBy: TurnStarter, onLook: () => void): Promise<SandboxTurn>;
  /**
   * Whether the workflow knows of the sandbox. If not, hints begin no turn before the first call of
   * an activity, because the workflow could neither stop the turn nor put the sandbox to sleep.
   */
  isClaimed: boolean;
  /** Whether the turn of the message is known to have ended in this sandbox. */
  hasEnded(messageId: string): boolean;
  hasWork(): Promise<boolean>;
  mayActOnHints(): boolean;
  /** After a failure the session counts as busy, or the activity repeats the turn. */
  onFailure(error: unknown): void;
}

interface CurrentTurn {
  result: Promise<SandboxTurn>;
  looks: number;
  /** The number of looks before the last hint; 0 without a hint. */
  hintedAfterLooks: number;
}

export function createTurnRunner(deps: TurnRunnerDeps): TurnRunner {
  let current: CurrentTurn | null = null;
  /** The last look may have missed a message, or has found one. */
  let mayHaveMore = true;
  const { note, report } = createWaitingReport();
  const { isRefused, accept, ...refusal } = createRefusal(deps, () => current !== null);

  function begin(startedBy: TurnStarter): CurrentTurn {
    mayHaveMore = true;
    const turn = { looks: 0, hintedAfterLooks: 0 };
    const running = deps.runTurn(startedBy, () => (turn.looks += 1));
    const result = running.finally(() => (current = null));
    const started = Object.assign(turn, { result });
    current = started;
    result.then(
      (ended) => continueAfter(started, ended),
      (error: unknown) => startedBy === 'hint' && deps.onFailure(error),
    );
    return started;
  }

  function continueAfter({ looks, hintedAfterLooks }: CurrentTurn, ended: SandboxTurn): void {
    if (ended.outcome !== 'done') return;
    note(ended);
    mayHaveMore = ended.more || hintedAfterLooks === looks;
    if (mayHaveMore) hint();
  }

  function hint(): void {
    if (isRefused() || !deps.mayActOnHints()) return;
    if (current === null) begin('hint');
    else current.hintedAfterLooks = current.looks;
  }

  return {
    ...refusal,
    hint,
    async run(messageIds) {
      accept();
      let joined = current;
      while (joined !== null) {
        const { looks } = joined;
        const ended = await joined.result;
        if (ended.outcome !== 'done' || joined.looks > looks) return report(ended);
        joined = current;
      }
      const isOver = messageIds.length > 0 && messageIds.every(deps.hasEnded);
      if (isOver && !mayHaveMore) return report(noTurn);
      return report(await begin('activity').result);
    },
  };
}

/** Reports a waiting run that a turn without an activity has found, so the session is evicted. */
function createWaitingReport() {
  /** A run may wait for the slot since a turn whose result no activity has returned. */
  let hasWaiting = false;
  return {
    note(ended: { hasWaiting: boolean }): void {
      hasWaiting ||= ended.hasWaiting;
    },
    report(ended: SandboxTurn): SandboxTurn {
      if (ended.outcome !== 'done') return ended;
      const reported = { ...ended, hasWaiting };
      hasWaiting = false;
      return reported;
    },
  };
}

/** The session has no message that waits. */
export const noTurn = { outcome: 'done', more: false, hasWaiting: false } as const;

function createRefusal(
  { hasWork, onFailure, ...deps }: Pick<TurnRunnerDeps, 'hasWork' | 'onFailure' | 'isClaimed'>,
  isRunning: () => boolean,
): HintRefusal {
  let { isClaimed } = deps;
  let isClosed = false;
  /** Checks in progress whether the session is idle. */
  let pendingAsks = 0;
  return {
    isRefused: () => !isClaimed || isClosed || pendingAsks > 0,
    accept() {
      isClaimed = true;
    },
    refuseHints() {
      isClosed = true;
    },
    async refuseHintsIfIdle() {
      pendingAsks += 1;
      try {
        if (!isRunning() && !(await hasWork()) && !isRunning()) isClosed = true;
      } catch (error) {
        onFailure(error);
      } finally {
        pendingAsks -= 1;
      }
      return isClosed;
    },
  };
}
