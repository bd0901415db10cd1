import type { PatchHunk } from '../../client/transcript/entries.ts';

/** The changed parts of a file, one line below the other. */
export function Diff({ hunks }: { hunks: readonly PatchHunk[] }) {
  return (
    <div class="diff" role="group" aria-label="Changes" tabIndex={0}>
      {hunks.map((hunk, at) => (
        <div key={at} class="hunk">
          <div class="muted">{`@@ −${hunk.oldStart} +${hunk.newStart} @@`}</div>
          {hunk.lines.slice(0, maxLines).map((line, key) => (
            <div key={key} class={classOf(line)}>
              {line === '' ? ' ' : line}
            </div>
          ))}
          {hunk.lines.length > maxLines && (
            <div class="muted">… {hunk.lines.length - maxLines} more lines</div>
          )}
        </div>
      ))}
    </div>
  );
}

const maxLines = 400;

const classOf = (line: string): string =>
  line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : '';

/** How many lines are added and removed. */
export function DiffSize({ hunks }: { hunks: readonly PatchHunk[] }) {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  return (
    <span class="diff-size number">
      <span class="added">+{count('+')}</span> <span class="removed">−{count('-')}</span>
    </span>
  );
}
