import type { AgentStatus } from '../runs/run.ts';

/** Which slice of the log a frame belongs to: `output` is rendered text, `chat` the conversation. */
export type Channel = 'output' | 'chat' | 'other';

/**
 * One event of a run's stream. `data` is JSON text, one line, forwarded as the agent wrote it
 * wherever it is the agent's.
 */
export interface Frame {
  event: string;
  data: string;
  channel: Channel;
}

/** A frame with its place in the run's log, which is also its SSE id. */
export interface StoredFrame extends Frame {
  seq: number;
  at: Date;
}

/** A token delta: published, never stored; `n` counts them after the frame `seq`. */
export interface Delta {
  seq: number;
  n: number;
  data: string;
}

/** What this service says in its own name. */
const ownEvents = [
  'status',
  'agent_status',
  'finished',
  'filetree',
  'output',
  'stream',
  'session_ready',
  'chat_output',
  'turn_end',
  'replay_truncated',
  'interaction',
  'interaction_closed',
  'user_message',
] as const;

/** Never the name of an agent's line: a browser would take the last three for its own. */
export const serviceEvents = [...ownEvents, 'ping', 'error', 'message', 'open'] as const;

/** The events that clients are written against; names are added, never renamed. */
export const streamEvents = [
  ...ownEvents,
  'system',
  'assistant',
  'user',
  'result',
  'stream_event',
] as const;

export function statusFrame(status: AgentStatus): Frame {
  return { event: 'agent_status', data: JSON.stringify({ status }), channel: 'other' };
}
