import type { EventData } from '../generated/types.ts';
import type { Entry } from './entries.ts';

/** The conversation of a run, and its state. */
export interface Transcript {
  entries: readonly Entry[];
  /** The block that the agent is writing; only with partial messages. */
  typing: { readonly text: string; readonly thinking: string };
  status: EventData['status']['status'] | null;
  agentStatus: EventData['status']['agentStatus'];
  fileTree: EventData['filetree'];
  model: string | null;
  /** The figures that the agent reports. The run's record has the measured ones. */
  reported: Reported;
  /** The part of `reported` that belongs to the last message of the model. */
  lastMessage: { readonly id: string; readonly inputTokens: number; readonly outputTokens: number };
  finished: EventData['finished'] | null;
  lastSeq: number;
}

interface Reported {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

export const emptyTranscript: Transcript = {
  entries: [],
  typing: { text: '', thinking: '' },
  status: null,
  agentStatus: null,
  fileTree: [],
  model: null,
  reported: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
  lastMessage: { id: '', inputTokens: 0, outputTokens: 0 },
  finished: null,
  lastSeq: 0,
};
