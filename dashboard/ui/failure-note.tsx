import { CopyButton } from './copy-button.tsx';
import type { Failure } from './failure.ts';

interface FailureNoteProps {
  failure: Failure;
  /** Without it, there is nothing to try again. */
  onRetry?: (() => void) | undefined;
}

/** Says what has failed, and what the reader can do. */
export function FailureNote({ failure, onRetry }: FailureNoteProps) {
  return (
    <div class="note note-bad" role="alert">
      <p>{failure.message}</p>
      {failure.requestId !== null && (
        <p class="small">
          Request <CopyButton text={failure.requestId}>{failure.requestId}</CopyButton>
        </p>
      )}
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
