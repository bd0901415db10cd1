import { uuidV5 } from './uuid-v5.ts';

/**
 * The prompt as the agent reads it. Its uuid is the same however often it is sent to one sandbox,
 * so that a repeat runs once, and another in the next generation, where a known one would be
 * swallowed.
 */
export function promptLine(run: { runId: string; generation: number; prompt: string }): string {
  const messageId = uuidV5(run.runId, 'prompt');
  return messageLine(messageUuid(messageId, run.generation), run.prompt);
}

export function messageUuid(messageId: string, generation: number): string {
  return uuidV5(messageId, String(generation));
}

export function messageLine(uuid: string, content: string): string {
  return JSON.stringify({ type: 'user', message: { role: 'user', content }, uuid });
}

/** Ends the turn; the agent answers with its `result`. */
export function interruptLine(requestId: string): string {
  return JSON.stringify({
    type: 'control_request',
    request_id: requestId,
    request: { subtype: 'interrupt' },
  });
}
