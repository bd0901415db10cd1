import type { AgentStatus } from '../runs/run.ts';

/**
 * Which slice of the log a frame belongs to: `output` is rendered text, `chat` the conversation.
 */
export type Channel = 'output' | 'chat' | 'other';

/**
 * One event of a run's stream. `data` is one line of JSON; the agent's lines are passed unchanged.
 */
export interface Frame {
  event: string;
  data: string;
  channel: Channel;
}

/** A frame with its sequence number in the run's log, which is also its SSE ID. */
export interface StoredFrame extends Frame {
  seq: number;
  at: Date;
}

/** A token delta: published, never stored. `n` counts deltas after the frame `seq`. */
export interface Delta {
  seq: number;
  n: number;
  data: string;
}

/** Events that the service itself emits. */
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
  'message_withdrawn',
  'state_rolled_back',
  'files_skipped',
] as const;

/** An event whose data is the service's own. `stream` carries an event of the agent. */
export type ServiceEvent = Exclude<(typeof ownEvents)[number], 'stream'>;

/**
 * Reserved: never the event of an agent's line. Browsers use the last three for the connection
 * itself.
 */
export const serviceEvents = [...ownEvents, 'ping', 'error', 'message', 'open'] as const;

/** Events of the agent whose data is described. `line_cut` replaces a line that is too long. */
const agentEvents = ['system', 'assistant', 'user', 'result', 'stream_event', 'line_cut'] as const;

/** An event whose data is the agent's. */
export type AgentEvent = (typeof agentEvents)[number] | 'stream';

/** The events of the public interface. Names are added, never changed. */
export const streamEvents = [...ownEvents, ...agentEvents] as const;

export function statusFrame(status: AgentStatus): Frame {
  return { event: 'agent_status', data: JSON.stringify({ status }), channel: 'other' };
}
