// Builds the conversation of a run from its events. It is a pure function, so that the command
// line, a web page and a test show the same. Events can be passed again, for example after a reader
// has restarted: an event whose number was already processed changes nothing.

import type { EventData } from '../generated/types.ts';
import type { EventOf, RunEvent } from '../stream/events.ts';
import { applyAgentEvent } from './agent-events.ts';
import { addEntry, closeOpenEntries, type Draft, updateEntry } from './draft.ts';
import { emptyTranscript, type Transcript } from './state.ts';

/** Returns the transcript with further events. Many at once cost less than one by one. */
export function extendTranscript(transcript: Transcript, ...events: RunEvent[]): Transcript {
  const draft: Draft = { ...transcript, entries: [...transcript.entries] };
  for (const event of events) {
    if (event.seq !== null && event.seq <= draft.lastSeq) continue;
    draft.lastSeq = event.seq ?? draft.lastSeq;
    apply(draft, event);
  }
  return draft;
}

function apply(draft: Draft, event: RunEvent): void {
  switch (event.type) {
    case 'status':
      draft.status = event.data.status;
      draft.agentStatus = event.data.agentStatus;
      return;
    case 'agent_status':
      draft.agentStatus = event.data.status;
      return;
    case 'filetree':
      draft.fileTree = event.data;
      return;
    case 'user_message':
      return addMessage(draft, event);
    case 'turn_end':
      return endTurn(draft, event.data);
    case 'interaction':
      return addEntry(draft, event, { kind: 'question', state: 'open', ...event.data });
    case 'interaction_closed':
      return closeQuestion(draft, event.data);
    case 'finished':
      draft.finished = event.data;
      return closeOpenEntries(draft);
    case 'files_skipped':
    case 'replay_truncated':
    case 'state_rolled_back':
      return addEntry(draft, event, { kind: 'notice', ...noticeOf(event) });
    default:
      return applyAgentEvent(draft, event);
  }
}

/** A turn that is run again replaces its earlier attempt. */
function addMessage(draft: Draft, { seq, data }: EventOf<'user_message'>): void {
  const { messageId, text, attempt = 1 } = data;
  const earlier = draft.entries.findIndex(
    (entry) => entry.kind === 'message' && entry.messageId === messageId,
  );
  if (earlier !== -1) draft.entries.splice(earlier);
  draft.typing = emptyTranscript.typing;
  addEntry(draft, { seq }, { kind: 'message', messageId, text, attempt, end: null });
}

function endTurn(draft: Draft, data: EventData['turn_end']): void {
  const { messageId, exitCode, error = null } = data;
  updateEntry(draft, (entry) =>
    entry.kind === 'message' && entry.messageId === messageId
      ? { ...entry, end: { exitCode, error } }
      : null,
  );
  closeOpenEntries(draft);
}

function closeQuestion(draft: Draft, data: EventData['interaction_closed']): void {
  updateEntry(draft, (entry) =>
    entry.kind === 'question' && entry.interactionId === data.interactionId
      ? { ...entry, state: data.outcome }
      : null,
  );
}

function noticeOf(event: EventOf<'files_skipped' | 'replay_truncated' | 'state_rolled_back'>) {
  switch (event.type) {
    case 'files_skipped': {
      const text = `${event.data.skippedCount} entries of the working directory are not stored.`;
      return { notice: event.type, text };
    }
    case 'replay_truncated': {
      const text = `The frames before ${event.data.firstAvailableSeq} are no longer stored.`;
      return { notice: 'frames_missing' as const, text };
    }
    case 'state_rolled_back':
      return { notice: event.type, text: 'The turns after the last saved one were lost.' };
  }
}
