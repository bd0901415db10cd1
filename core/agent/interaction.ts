import type { Frame } from '../frames/frame.ts';
import { isObject, type JsonObject, jsonText, listIn, textIn } from '../json.ts';
import { limits } from '../limits.ts';

/** A question of the agent. */
export interface Interaction {
  interactionId: string;
  toolName: string;
  /** The tool's input as JSON text: the agent expects it back with the answers added. */
  input: string;
}

export type InteractionOutcome = 'answered' | 'withdrawn';

/** What the agent's output reports about its questions, in the order of the output. */
export type InteractionEvent =
  | { kind: 'asked'; interaction: Interaction }
  | { kind: 'closed'; interactionId: string; outcome: InteractionOutcome };

const idPattern = /^[A-Za-z0-9._:-]{1,128}$/;

export const isInteractionId = (id: string): boolean => idPattern.test(id);

/** IDs are used in URL paths; null if this one cannot be. */
export function interactionIdIn(value: JsonObject): string | null {
  const id = textIn(value, 'request_id');
  return id !== null && isInteractionId(id) ? id : null;
}

/** The input of the question tool; null if its questions cannot be shown. */
export function questionInput(input: JsonObject): string | null {
  const questions = listIn(input, 'questions');
  const isReadable = questions.length > 0 && questions.length <= limits.interaction.questionsMax;
  if (!isReadable || !questions.every(isQuestion)) return null;
  const text = jsonText(input);
  return text === null || text.length > limits.interaction.questionsMaxChars ? null : text;
}

function isQuestion(value: unknown): boolean {
  if (!isObject(value)) return false;
  const question = textIn(value, 'question');
  return (
    question !== null && question !== '' && question.length <= limits.interaction.questionMaxChars
  );
}

/** The questions of an input that `questionInput` has accepted. */
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

/** The answers by the text of their questions. Several answers to one question are a list. */
export type Answers = Record<string, string | string[]>;

/** The agent's input line with the answers. Deterministic. */
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

/** The rejection of a control request that Flowrun does not support. */
export interface ControlDenial {
  requestId: string;
  /** Permissions have their own denial; other requests get an error. */
  of: 'permission' | 'request';
}

export function denialLine({ requestId, of }: ControlDenial): string {
  if (of === 'request') {
    return responseLine({ subtype: 'error', request_id: requestId, error: 'not supported' });
  }
  const message = 'This needs the approval of a person, but no person is available to give it.';
  return responseLine({
    subtype: 'success',
    request_id: requestId,
    response: { behavior: 'deny', message },
  });
}

function responseLine(response: JsonObject): string {
  return JSON.stringify({ type: 'control_response', response });
}
