import { uuidV5 } from './uuid-v5.ts';

/**
 * The prompt as a line for the agent. Its UUID is constant for one sandbox, so a repeated line runs
 * once. The next generation has another UUID, because the agent would ignore a known one.
 */
export function promptLine(run: { runId: string; generation: number; prompt: string }): string {
  return messageLine(promptUuid(run), run.prompt);
}

export function promptUuid(run: { runId: string; generation: number }): string {
  return messageUuid(uuidV5(run.runId, 'prompt'), run.generation);
}

export function messageUuid(messageId: string, generation: number): string {
  return uuidV5(messageId, String(generation));
}

export function messageLine(uuid: string, content: string): string {
  return JSON.stringify({ type: 'user', message: { role: 'user', content }, uuid });
}

/** Interrupts the turn. The agent responds with its `result`. */
export function interruptLine(requestId: string): string {
  return JSON.stringify({
    type: 'control_request',
    request_id: requestId,
    request: { subtype: 'interrupt' },
  });
}
