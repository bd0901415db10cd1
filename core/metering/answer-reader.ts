// Reads the usage of a call from the answer of the model API while the answer is relayed to the
// agent. The answer may be cut off anywhere, and may arrive in parts of any size.

import { type JsonObject, objectIn, parseObject, textIn } from '../json.ts';
import { readUsage } from './answer-usage.ts';
import type { TokenCounts } from './token-counts.ts';

/** The result of reading an answer so far. */
export interface Answer {
  /** The model that answered; null if the answer does not name it. */
  model: string | null;
  /** Null if the answer reports no usage. */
  tokens: TokenCounts | null;
  /** The usage is final. */
  isComplete: boolean;
}

export interface AnswerReader {
  /** The answer is sent as events while the model writes it. */
  isStream: boolean;
  /** The next part, one character per byte: the fields that are read contain only ASCII. */
  push(part: string): void;
  answer(): Answer;
  /** The usage is final, although more of the answer may follow. */
  isComplete(): boolean;
}

/** Longer lines and bodies are not read; those of the model API are much shorter. */
interface ReaderBounds {
  lineChars: number;
  bodyChars: number;
}

const defaultBounds: ReaderBounds = { lineChars: 64 * 1024, bodyChars: 16 * 1024 ** 2 };

export function createAnswerReader(
  contentType: string,
  bounds: ReaderBounds = defaultBounds,
): AnswerReader {
  return /^text\/event-stream\b/i.test(contentType)
    ? createStreamReader(bounds)
    : createBodyReader(bounds);
}

export const unreadAnswer: Answer = { model: null, tokens: null, isComplete: false };

function createStreamReader({ lineChars }: ReaderBounds): AnswerReader {
  let answer = unreadAnswer;
  let line = '';
  let isTooLong = false;

  function endLine(): void {
    if (!isTooLong) answer = afterLine(answer, line);
    line = '';
    isTooLong = false;
  }

  return {
    isStream: true,
    push(part) {
      const [first = '', ...rest] = part.split('\n');
      for (const [index, piece] of [first, ...rest].entries()) {
        if (index > 0) endLine();
        isTooLong ||= line.length + piece.length > lineChars;
        line = isTooLong ? '' : line + piece;
      }
    },
    answer: () => answer,
    isComplete: () => answer.isComplete,
  };
}

/** Most lines are deltas of the text. They are skipped without being parsed. */
function afterLine(answer: Answer, line: string): Answer {
  if (!line.startsWith('data:') || !line.includes('"usage"')) return answer;
  const event = parseObject(line.slice('data:'.length));
  if (event === null) return answer;
  switch (event.type) {
    case 'message_start':
      return { ...readMessage(objectIn(event, 'message')), isComplete: false };
    case 'message_delta':
      return afterDelta(answer, event);
    default:
      return answer;
  }
}

/** The usage is final in the event that also has the stop reason. */
function afterDelta({ model, tokens }: Answer, event: JsonObject): Answer {
  return {
    model,
    tokens: readUsage(objectIn(event, 'usage'), tokens ?? undefined),
    isComplete: textIn(objectIn(event, 'delta'), 'stop_reason') !== null,
  };
}

function createBodyReader({ bodyChars }: ReaderBounds): AnswerReader {
  const parts: string[] = [];
  let length = 0;

  return {
    isStream: false,
    push(part) {
      length += part.length;
      if (length > bodyChars) parts.length = 0;
      else parts.push(part);
    },
    answer() {
      const body = length > bodyChars ? null : parseObject(parts.join(''));
      if (body === null) return unreadAnswer;
      const message = readMessage(body);
      return { ...message, isComplete: message.tokens !== null };
    },
    // Known only at the end of the body.
    isComplete: () => false,
  };
}

function readMessage(message: JsonObject): Omit<Answer, 'isComplete'> {
  const model = textIn(message, 'model')?.slice(0, modelMaxChars) ?? null;
  const hasUsage = Object.keys(objectIn(message, 'usage')).length > 0;
  return { model, tokens: hasUsage ? readUsage(objectIn(message, 'usage')) : null };
}

const modelMaxChars = 200;
