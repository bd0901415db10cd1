/**
 * Whether a session's sandbox is paused. Nothing in a paused sandbox changes, so its watchers stop
 * polling until the pause ends.
 */
export interface PauseState {
  /**
   * Aborted when the current pause ends, and while the sandbox may run. Each pause has its own
   * signal. A watcher gets it before it looks: what happened before the pause is then seen.
   */
  pauseEnd(): AbortSignal;
  /** The engine has paused it. */
  markPaused(): void;
  /** It is about to be unpaused. */
  markRunning(): void;
  /** The host has changed its files. Watchers look once more if it is paused. */
  noteChange(): void;
}

export function createPauseState(): PauseState {
  let pause = new AbortController();
  pause.abort();
  return {
    pauseEnd: () => pause.signal,
    markPaused() {
      if (pause.signal.aborted) pause = new AbortController();
    },
    markRunning: () => pause.abort(),
    noteChange() {
      if (pause.signal.aborted) return;
      const before = pause;
      pause = new AbortController();
      before.abort();
    },
  };
}
