import { type Channel, type Frame, serviceEvents, statusFrame } from '../frames/frame.ts';
import { renderLine, renderText } from '../frames/render.ts';
import { type JsonObject, listIn, parseObject, textIn } from '../json.ts';
import type { AgentStatus } from '../runs/run.ts';
import { stripUnstorable } from '../sanitize-text.ts';
import type { TurnEnd } from '../sessions/chat.ts';
import { type ControlFacts, controlFacts } from './control-protocol.ts';
import { readTurnResult, type TurnResult } from './turn-result.ts';

/**
 * The meaning of one line of agent output. A pure function of its text, so that reading again gives
 * the same frames. It never throws, and never emits an event name that is reserved for the service.
 */
export interface AgentLine {
  /** Stored in the run's log, in this order. */
  frames: Frame[];
  /** Token deltas: published, never stored. */
  deltas: string[];
  facts: RunFacts;
}

/** The facts about the run that a line contains. */
export interface RunFacts extends ControlFacts {
  agentStatus?: AgentStatus;
  /** UUID of a message that the agent has started. */
  accepted?: string;
  /** UUID of a message that the agent has completed or cancelled. */
  completed?: string;
  /** The agent's ID of the conversation. */
  session?: string;
  turn?: TurnResult;
  /** ID of a session's message that the agent has started. */
  startedMessage?: string;
  /** The end of a session's turn. */
  turnEnd?: TurnEnd;
  /** A turn has started, with or without a message. */
  turnStarted?: true;
  /** Number of running background tasks. */
  backgroundTasks?: number;
}

export function readAgentLine(line: string): AgentLine {
  const value = parseObject(line);
  if (value === null) return { frames: outputFrames(renderText(line)), deltas: [], facts: {} };
  const type = textIn(value, 'type') ?? '';
  if (isPlumbing(type)) return { frames: [], deltas: [], facts: controlFacts(type, value) };
  const data = onOneLine(line);
  if (type === 'stream_event') return { frames: [], deltas: [data], facts: {} };
  const facts = factsOf(type, value);
  const rendered = outputFrames(renderLine(value));
  return {
    frames: [...rendered, structuredFrame(type, data), ...statusFrames(facts)],
    deltas: [],
    facts,
  };
}

/** Control traffic between the agent and its supervisor, not part of the conversation. */
function isPlumbing(type: string): boolean {
  return type.startsWith('control_') || type === 'keep_alive' || type === 'transcript_mirror';
}

/** A line break outside JSON strings is white space, but would end the line of an SSE event. */
function onOneLine(line: string): string {
  return stripUnstorable(line)
    .replaceAll(/[\r\n]+/g, ' ')
    .trim();
}

function outputFrames(text: string): Frame[] {
  if (text === '') return [];
  return [{ event: 'output', data: JSON.stringify({ data: text }), channel: 'output' }];
}

const forwardedName = /^[a-z_]{1,40}$/;
const reservedNames = new Set<string>([...serviceEvents, '__proto__', 'constructor']);
const chatEvents = new Set(['system', 'assistant', 'user', 'result', 'stream']);

function structuredFrame(type: string, data: string): Frame {
  const event = forwardedName.test(type) && !reservedNames.has(type) ? type : 'stream';
  const channel: Channel = chatEvents.has(event) ? 'chat' : 'other';
  return { event, data, channel };
}

function statusFrames({ agentStatus }: RunFacts): Frame[] {
  return agentStatus === undefined ? [] : [statusFrame(agentStatus)];
}

function factsOf(type: string, value: JsonObject): RunFacts {
  if (type === 'result') {
    const turn = readTurnResult(value);
    return { turn, agentStatus: turn.isError ? 'error' : 'idle' };
  }
  if (type === 'command_lifecycle') return lifecycleFacts(value);
  return type === 'system' ? systemFacts(value) : {};
}

function systemFacts(value: JsonObject): RunFacts {
  switch (value.subtype) {
    case 'init':
      return { turnStarted: true, ...sessionFacts(value) };
    case 'background_tasks_changed':
      return { backgroundTasks: listIn(value, 'tasks').length };
    default:
      return {};
  }
}

function lifecycleFacts(value: JsonObject): RunFacts {
  const uuid = idIn(value, 'command_uuid');
  if (uuid === null) return {};
  if (value.state === 'started') return { accepted: uuid, agentStatus: 'working' };
  const isDone = value.state === 'completed' || value.state === 'cancelled';
  return isDone ? { completed: uuid } : {};
}

function sessionFacts(value: JsonObject): RunFacts {
  const session = idIn(value, 'session_id');
  return session === null ? {} : { session };
}

const idMaxChars = 128;

function idIn(value: JsonObject, name: string): string | null {
  const id = textIn(value, name);
  return id === null || id.length > idMaxChars ? null : stripUnstorable(id);
}
