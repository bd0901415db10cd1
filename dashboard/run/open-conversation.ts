import { type ReadonlySignal, signal } from '@preact/signals';
import type { LogEntries } from '../../client/generated/types.ts';
import type { Http } from '../../client/http/http.ts';
import { type RunEvent, toEvent } from '../../client/stream/events.ts';
import { emptyTranscript, type Transcript } from '../../client/transcript/state.ts';
import { extendTranscript } from '../../client/transcript/transcript.ts';

/** The conversation of a run. It grows at its end, and at its beginning when that is asked for. */
interface OpenConversation {
  transcript: ReadonlySignal<Transcript>;
  hasEarlier: ReadonlySignal<boolean>;
  /** Reads the latest entries, and then those before the ones that are shown. */
  loadEarlier(): Promise<void>;
  append(arrived: readonly RunEvent[]): void;
  /** Removes the text of the block that is being written. */
  dropTyping(): void;
}

const pageSize = 200;

export function openConversation(run: RunLog): OpenConversation {
  const transcript = signal<Transcript>(emptyTranscript);
  const hasEarlier = signal(false);
  /** Without token deltas, which are repeated by the block that they belong to. */
  let events: RunEvent[] = [];
  return {
    transcript,
    hasEarlier,
    async loadEarlier() {
      const first = events.find(({ seq }) => seq !== null);
      const earlier = await readBefore(run, first?.seq ?? undefined);
      events = [...earlier.events, ...events];
      const { typing } = transcript.value;
      transcript.value = { ...extendTranscript(emptyTranscript, ...events), typing };
      hasEarlier.value = !earlier.isFirst;
    },
    append(arrived) {
      if (arrived.length === 0) return;
      transcript.value = extendTranscript(transcript.value, ...arrived);
      events.push(...arrived.filter(({ type }) => type !== 'stream_event'));
    },
    dropTyping() {
      transcript.value = { ...transcript.value, typing: emptyTranscript.typing };
    },
  };
}

interface RunLog {
  http: Http;
  runId: string;
  signal: AbortSignal;
}

/** The last part of the conversation, or the part before an event. A part has a size limit too. */
async function readBefore(
  { http, runId, signal: stopped }: RunLog,
  beforeSeq: number | undefined,
): Promise<{ events: RunEvent[]; isFirst: boolean }> {
  const query = { format: 'structured', channel: 'chat', order: 'desc', limit: pageSize };
  const { entries, complete } = await http.data<LogEntries>({
    path: `/runs/${runId}/logs`,
    query: { ...query, beforeSeq },
    signal: stopped,
  });
  const events = entries.reverse().map(({ event, seq, data }) => toEvent(event, seq, data));
  return { events, isFirst: complete };
}
