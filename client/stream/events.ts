import type { EventData } from '../generated/types.ts';

/** An event that this version of the client does not know. */
export interface UnknownEvent {
  type: 'unknown';
  name: string;
  seq: number | null;
  data: unknown;
}

/** `seq` is null for an event that is not stored, such as a token delta. */
export type RunEvent =
  | {
      [Type in keyof EventData]: { type: Type; seq: number | null; data: EventData[Type] };
    }[keyof EventData]
  | UnknownEvent;

export type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

const knownNames: Record<keyof EventData, true> = {
  status: true,
  agent_status: true,
  filetree: true,
  files_skipped: true,
  output: true,
  session_ready: true,
  state_rolled_back: true,
  user_message: true,
  message_withdrawn: true,
  chat_output: true,
  interaction: true,
  interaction_closed: true,
  turn_end: true,
  replay_truncated: true,
  finished: true,
  system: true,
  assistant: true,
  user: true,
  result: true,
  stream: true,
  stream_event: true,
  line_cut: true,
};

export function toEvent(name: string, seq: number | null, data: unknown): RunEvent {
  if (!Object.hasOwn(knownNames, name)) return { type: 'unknown', name, seq, data };
  return { type: name, seq, data } as RunEvent; // the payloads of the API's own schema
}
