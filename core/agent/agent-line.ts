import { type Channel, type Frame, serviceEvents, statusFrame } from '../frames/frame.ts';
import { renderLine, renderText } from '../frames/render.ts';
import { type JsonObject, listIn, parseObject, textIn } from '../json.ts';
import type { AgentStatus } from '../runs/run.ts';
import { stripUnstorable } from '../sanitize-text.ts';
import type { TurnEnd } from '../sessions/chat.ts';
import { type ControlFacts, controlFacts } from './control-protocol.ts';
import { readTurnResult, type TurnResult } from './turn-result.ts';

/**
 * What one line of the agent's output means. A pure function of its text: the same bytes give the
 * same frames, however often a tail is begun again. Nothing that an agent writes makes it throw,
 * and nothing it writes goes out under a name with which this service speaks.
 */
export interface AgentLine {
  /** Kept in the run's log, in this order. */
  frames: Frame[];
  /** Token deltas, published and never kept. */
  deltas: string[];
  facts: RunFacts;
}

/** What a line says of the run itself; absent means that it says nothing of the kind. */
export interface RunFacts extends ControlFacts {
  agentStatus?: AgentStatus;
  /** Uuid of a message that the agent has begun to work on. */
  accepted?: string;
  /** Uuid of a message that it is done with, well or not. */
  completed?: string;
  /** The agent's own id of the conversation. */
  session?: string;
  turn?: TurnResult;
  /** Id of a session's message that the agent has begun to work on. */
  startedMessage?: string;
  /** The end of a session's turn. */
  turnEnd?: TurnEnd;
  /** A turn begins, of whatever origin. */
  turnStarted?: true;
  /** How many tasks run beside the conversation. */
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

/** The agent's talk with whoever started it: no part of the conversation. */
function isPlumbing(type: string): boolean {
  return type.startsWith('control_') || type === 'keep_alive' || type === 'transcript_mirror';
}

/** Outside of strings a carriage return is white space in JSON, but ends a line in an event stream. */
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
