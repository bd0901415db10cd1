import type { Frame } from '../frames/frame.ts';
import { isObject, type JsonObject, jsonText, listIn, textIn } from '../json.ts';
import { limits } from '../limits.ts';

/** A question of the agent that waits for somebody's answer. */
export interface Interaction {
  interactionId: string;
  toolName: string;
  /** The tool's input as JSON text: the agent wants it back with the answers in it. */
  input: string;
}

export type InteractionOutcome = 'answered' | 'withdrawn';

/** What has become of the agent's questions, in the order in which it said so. */
export type InteractionEvent =
  | { kind: 'asked'; interaction: Interaction }
  | { kind: 'closed'; interactionId: string; outcome: InteractionOutcome };

const idPattern = /^[A-Za-z0-9._:-]{1,128}$/;

export const isInteractionId = (id: string): boolean => idPattern.test(id);

/** Ids go into paths; one that cannot is nobody's. */
export function interactionIdIn(value: JsonObject): string | null {
  const id = textIn(value, 'request_id');
  return id !== null && isInteractionId(id) ? id : null;
}

/** The input of the tool that asks; null where nobody could read the questions in it. */
export function questionInput(input: JsonObject): string | null {
  const questions = listIn(input, 'questions');
  const isReadable = questions.length > 0 && questions.length <= limits.questionsMax;
  if (!isReadable || !questions.every(isQuestion)) return null;
  const text = jsonText(input);
  return text === null || text.length > limits.questionsMaxChars ? null : text;
}

function isQuestion(value: unknown): boolean {
  if (!isObject(value)) return false;
  const question = textIn(value, 'question');
  return question !== null && question !== '' && question.length <= limits.questionMaxChars;
}

/** The questions as the agent put them, of an input that `questionInput` has read. */
export function questionsOf(input: string): JsonObject[] {
  return listIn(JSON.parse(input) as JsonObject, 'questions').filter(isObject);
}

export function askedFrame({ interactionId, toolName, input }: Interaction): Frame {
  const data = JSON.stringify({ interactionId, toolName, questions: questionsOf(input) });
  return { event: 'interaction', data, channel: 'chat' };
}

export function closedFrame(interactionId: string, outcome: InteractionOutcome): Frame {
  const data = JSON.stringify({ interactionId, outcome });
  return { event: 'interaction_closed', data, channel: 'chat' };
}

/** By the text of the question; a question with several answers has a list. */
export type Answers = Record<string, string | string[]>;

/** What the agent reads as its answer. The same however often it is made. */
export function answerLine({ interactionId, input }: Interaction, answers: Answers): string {
  const joined = Object.entries(answers).map(([question, answer]): [string, string] => [
    question,
    typeof answer === 'string' ? answer : answer.join(', '),
  ]);
  const updatedInput = {
    ...(JSON.parse(input) as JsonObject),
    answers: Object.fromEntries(joined),
  };
  return responseLine({
    subtype: 'success',
    request_id: interactionId,
    response: { behavior: 'allow', updatedInput },
  });
}

/** Something that the agent wants of whoever started it, and that nobody here gives. */
export interface ControlDenial {
  requestId: string;
  /** A permission is refused in the manner of permissions; anything else is not understood. */
  of: 'permission' | 'request';
}

export function denialLine({ requestId, of }: ControlDenial): string {
  if (of === 'request') {
    return responseLine({ subtype: 'error', request_id: requestId, error: 'not supported' });
  }
  const message = 'This needs the approval of a person, and nobody is there to give it.';
  return responseLine({
    subtype: 'success',
    request_id: requestId,
    response: { behavior: 'deny', message },
  });
}

function responseLine(response: JsonObject): string {
  return JSON.stringify({ type: 'control_response', response });
}
