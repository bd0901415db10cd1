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

/** The events that this service speaks in its own name; an agent's line never goes out as one. */
export const serviceEvents = [
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
  'user_message',
  'ping',
  'error',
  'message',
  'open',
] as const;
