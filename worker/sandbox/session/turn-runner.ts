// The turns of one sandbox, one at a time. Two callers begin them: the activity of the workflow,
// and a hint, which is the notification of a stored message. Both claim the oldest message with the
// same statement, so it does not matter which one comes first, and a hint that is lost, late or
// doubled changes nothing.
//
// A turn looks for messages when it claims one, and again after its end. Its result cannot include
// a message that was stored after the last look. So a caller that came later looks again. Only an
// activity whose messages have all had their turns need not: any other message has its own signal.

import type { SandboxTurn } from '../../../activities/sandbox.ts';

export interface TurnRunner extends Omit<HintRefusal, 'isRefused'> {
  /**
   * Runs the next turn, or waits for the end of the current one. `messageIds`: the messages that
   * the workflow was signalled since its last call, if it calls for no other reason.
   */
  run(messageIds: readonly string[]): Promise<SandboxTurn>;
  /** Runs the next turn, unless hints are refused. After the current turn, if there is one. */
  hint(): void;
}

interface HintRefusal {
  isRefused(): boolean;
  /** Refuses all further hints. */
  refuseHints(): void;
  /** The same, unless the session has work. Then, or if that is unknown, it returns false. */
  refuseHintsIfIdle(): Promise<boolean>;
}

export type TurnStarter = 'activity' | 'hint';

interface TurnRunnerDeps {
  /** Calls `onLook` before each look for messages, the first time at once. */
  runTurn(startedBy: TurnStarter, onLook: () => void): Promise<SandboxTurn>;
  /** Whether the turn of the message has ended in this sandbox, as far as is known here. */
  hasEnded(messageId: string): boolean;
  hasWork(): Promise<boolean>;
  mayActOnHints(): boolean;
  /** Without its answer the session counts as busy, or the activity repeats the turn. */
  onFailure(error: unknown): void;
}

interface CurrentTurn {
  result: Promise<SandboxTurn>;
  looks: number;
  /** After how many looks the last hint came; 0 without a hint. */
  hintedAfterLooks: number;
}

export function createTurnRunner(deps: TurnRunnerDeps): TurnRunner {
  let current: CurrentTurn | null = null;
  /** The last look may have missed a message, or has found one. */
  let mayHaveMore = true;
  /** A run may wait for the slot of the session since a turn whose end no activity has seen. */
  let hasWaiting = false;
  const { isRefused, ...refusal } = createRefusal(deps, () => current !== null);

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
    hasWaiting ||= ended.hasWaiting;
    mayHaveMore = ended.more || hintedAfterLooks === looks;
    if (mayHaveMore) hint();
  }

  function hint(): void {
    if (isRefused() || !deps.mayActOnHints()) return;
    if (current === null) begin('hint');
    else current.hintedAfterLooks = current.looks;
  }

  /** An eviction that a turn without an activity has made due is made up for. */
  function report(ended: SandboxTurn): SandboxTurn {
    if (ended.outcome !== 'done') return ended;
    const reported = { ...ended, hasWaiting };
    hasWaiting = false;
    return reported;
  }

  return {
    ...refusal,
    hint,
    async run(messageIds) {
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

/** The session has no message that waits. */
export const noTurn = { outcome: 'done', more: false, hasWaiting: false } as const;

function createRefusal(
  { hasWork, onFailure }: Pick<TurnRunnerDeps, 'hasWork' | 'onFailure'>,
  isRunning: () => boolean,
): HintRefusal {
  let isClosed = false;
  /** Calls that find out whether the session is idle. */
  let pendingAsks = 0;
  return {
    isRefused: () => isClosed || pendingAsks > 0,
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
