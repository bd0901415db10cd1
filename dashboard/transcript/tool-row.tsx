import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Entry, PatchHunk, ToolEntry } from '../../client/transcript/entries.ts';
import { summarizeToolInput } from '../../core/frames/summarize-tool-input.ts';
import { jsonText, textIn } from '../../core/json.ts';
import { oneLine, stripControlCodes } from '../../core/sanitize-text.ts';
import { plural } from '../ui/format.ts';
import { Diff, DiffSize } from './diff.tsx';
import { LongText } from './long-text.tsx';

interface ToolRowProps {
  entry: ToolEntry;
  /** The entries of the subagent that the call has started. */
  children: ComponentChildren;
}

/** A tool call with its result in one row. It opens to its input, its changes and its result. */
export function ToolRow({ entry, children }: ToolRowProps) {
  const { name, input, state } = entry;
  const toolCount = toolsIn(entry.children);
  const hunks = hunksOf(entry);
  const isOpen = useSignal(hunks.length > 0 || state === 'failed');
  return (
    <details
      class={`tool tool-${state}`}
      open={isOpen.value}
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>
        <span class="tool-name">{oneLine(stripControlCodes(name), 60)}</span>
        <span class="cut tool-input">
          {oneLine(stripControlCodes(summarizeToolInput(name, input)), 200)}
        </span>
        {toolCount > 0 && <span class="muted">{plural(toolCount, 'tool')}</span>}
        {hunks.length > 0 && <DiffSize hunks={hunks} />}
        <span class="tool-state">{stateWords[state]}</span>
      </summary>
      {isOpen.value && (
        <div class="tool-body">
          <ToolInput entry={entry} hunks={hunks} />
          {children}
          <ToolResult entry={entry} hunks={hunks} />
        </div>
      )}
    </details>
  );
}

const stateWords: Record<ToolEntry['state'], string> = {
  running: 'running …',
  done: 'done',
  failed: 'failed',
  stopped: 'no result',
};

interface ToolPartProps {
  entry: ToolEntry;
  hunks: readonly PatchHunk[];
}

function ToolInput({ entry: { name, input }, hunks }: ToolPartProps) {
  if (hunks.length > 0) return <Diff hunks={hunks} />;
  const command = name === 'Bash' ? textIn(input, 'command') : null;
  return <LongText text={command === null ? pretty(input) : `$ ${command}`} />;
}

/** The result of a successful change only repeats the change. */
function ToolResult({ entry: { result, state }, hunks }: ToolPartProps) {
  const isFailed = state === 'failed';
  if (result === null || (hunks.length > 0 && !isFailed)) return null;
  return <LongText text={result === '' ? '(no output)' : result} isBad={isFailed} />;
}

function pretty(input: ToolEntry['input']): string {
  return jsonText(input) === null ? '…' : JSON.stringify(input, null, 2);
}

const toolsIn = (entries: readonly Entry[]): number =>
  entries.filter(({ kind }) => kind === 'tool').length;

/** The agent reports a patch with its result. Before that, the input says what will change. */
function hunksOf({ patch, input, state }: ToolEntry): readonly PatchHunk[] {
  if (patch.length > 0 || state === 'failed') return patch;
  const before = textIn(input, 'old_string');
  const after = textIn(input, 'new_string');
  if (before === null || after === null) return [];
  const marked = (text: string, mark: string): string[] =>
    text === '' ? [] : text.split('\n').map((line) => mark + line);
  return [{ oldStart: 1, newStart: 1, lines: [...marked(before, '-'), ...marked(after, '+')] }];
}
