// The lines that a simulated agent prints in a turn, like those of the scripted agent.

import { randomUUID } from 'node:crypto';
import {
  assistantFrame,
  assistantMessage,
  replayFrame,
  resultFrame,
  toolResultFrame,
} from '../../test/fixtures/scripted-agent/frames.ts';
import type { Fields } from '../../test/fixtures/scripted-agent/json.ts';
import type { UserMessage } from '../../test/fixtures/scripted-agent/user-message.ts';

/** Tool output of typical length. */
const toolOutput = 'drwxr-xr-x 2 agent agent 4096 Nov 27 10:00 src\n'.repeat(8);

const lifecycle = ({ uuid }: UserMessage, state: string): Fields => ({
  type: 'command_lifecycle',
  command_uuid: uuid,
  state,
});

const init: Fields = {
  type: 'system',
  subtype: 'init',
  cwd: '/workspace',
  tools: ['Bash', 'Edit', 'Read', 'Write'],
  mcp_servers: [],
  model: 'simulated-agent',
  permissionMode: 'bypassPermissions',
  apiKeySource: 'ANTHROPIC_API_KEY',
  claude_code_version: 'simulated',
};

/** Printed before the model call. */
export const beginning = (message: UserMessage): Fields[] => [
  lifecycle(message, 'queued'),
  lifecycle(message, 'started'),
  init,
  replayFrame(message),
];

const say = (content: Fields): Fields =>
  assistantFrame(assistantMessage(`msg_${randomUUID()}`, content));

/** The lines of one tool call. */
export function toolCall(step: number): Fields[] {
  const id = `toolu_${randomUUID()}`;
  const input = { command: `ls -la step-${step}` };
  return [
    say({ type: 'tool_use', id, name: 'Bash', input }),
    toolResultFrame(id, { text: toolOutput, isError: false }),
  ];
}

const tokens = 200;

export function ending(message: UserMessage, steps: number): Fields[] {
  const result = resultFrame({
    subtype: 'success',
    errors: undefined,
    result: 'This is done.',
    durationMs: 0,
    numTurns: steps + 1,
    inputTokens: tokens,
    outputTokens: tokens,
    totalCostUsd: 0,
  });
  return [say({ type: 'text', text: 'This is done.' }), result, lifecycle(message, 'completed')];
}
