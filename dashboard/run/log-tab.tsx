import type { LogEntries } from '../../client/generated/types.ts';
import { isObject, textIn } from '../../core/json.ts';
import { stripControlCodes } from '../../core/sanitize-text.ts';
import { Loaded } from '../ui/loaded.tsx';
import { useLoading } from '../ui/loading.ts';
import type { RunFeed } from './run-feed.ts';

/** The output as a terminal would show it: its last part, and what arrives. */
export function LogTab({ feed: { http, runId, recent, openedAtSeq } }: { feed: RunFeed }) {
  const openedAt = openedAtSeq.value;
  const read = async (signal: AbortSignal): Promise<string> => {
    if (openedAt === null) return '';
    const query = { format: 'structured', channel: 'output', order: 'desc', limit: 1_000 };
    const { entries } = await http.data<LogEntries>({
      path: `/runs/${runId}/logs`,
      query: { ...query, beforeSeq: openedAt + 1 },
      signal,
    });
    return entries.reverse().map(textOf).join('');
  };
  const loading = useLoading(read, [runId, openedAt]);
  return (
    <Loaded loading={loading}>
      {(before) => {
        const text = stripControlCodes(before + recent.output.value);
        return text === '' ? (
          <p class="muted">The run has no output yet.</p>
        ) : (
          <pre class="log">{text}</pre>
        );
      }}
    </Loaded>
  );
}

const textOf = ({ data }: LogEntries['entries'][number]): string =>
  isObject(data) ? (textIn(data, 'data') ?? '') : '';
