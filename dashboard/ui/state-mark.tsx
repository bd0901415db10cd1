import type { ComponentChildren } from 'preact';
import { type RunState, wordOf } from './run-state.ts';

/** A state as a word and a mark. Each state has its own shape, so that colour is not needed. */
export function StateMark({ state, text }: { state: RunState; text?: string }) {
  return (
    <span class={`state state-${state}`}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        {shapes[state]}
      </svg>
      {text ?? wordOf(state)}
    </span>
  );
}

const ring = <circle cx="8" cy="8" r="6" />;

const shapes: Record<RunState, ComponentChildren> = {
  starting: <circle cx="8" cy="8" r="6" stroke-dasharray="2.4 2.3" />,
  working: <path class="turning" d="M8 2a6 6 0 1 1-6 6" />,
  waiting: (
    <>
      {ring}
      <path d="M6.2 6.4c.2-2 3.6-2 3.6 0 0 1.2-1.8 1.3-1.8 2.5M8 11v.4" />
    </>
  ),
  idle: (
    <>
      {ring}
      <path d="M6.4 6v4M9.6 6v4" />
    </>
  ),
  sleeping: <path d="M13 9.6A5.6 5.6 0 1 1 6.4 3a4.6 4.6 0 0 0 6.6 6.6z" />,
  stopping: (
    <>
      <circle cx="8" cy="8" r="6" stroke-dasharray="2.4 2.3" />
      <path d="M5.8 5.8h4.4v4.4H5.8z" />
    </>
  ),
  completed: (
    <>
      {ring}
      <path d="m5.4 8.2 1.8 1.8 3.4-3.8" />
    </>
  ),
  failed: (
    <>
      <path d="M8 1.8 14.6 13.6H1.4z" />
      <path d="M8 6v3.6M8 11.6v.3" />
    </>
  ),
  stopped: (
    <>
      {ring}
      <path d="M5.8 5.8h4.4v4.4H5.8z" />
    </>
  ),
};
