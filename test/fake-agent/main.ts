#!/usr/bin/env node
import { randomUUID } from 'node:crypto';
import { createAgent } from './agent.ts';
import { readArguments, UsageError } from './arguments.ts';
import { answerControl } from './control.ts';
import { resultFrame } from './frames.ts';
import { readInputLines } from './input-lines.ts';
import { type Fields, isFields } from './json.ts';
import { createOutput } from './output.ts';
import { NoConversationError, openSession, type Session } from './session.ts';
import { readUserMessage } from './user-message.ts';

// A stand-in for the agent CLI: the same arguments, the same lines in and out, but what it does is scripted
// by the messages it is given (`@agent [steps]`). Node runs this file as it is; it has no dependencies.

process.title = 'agent';
process.on('SIGTERM', () => process.exit(143));
const session = open();
const output = createOutput(session.id, String(session.transcript.lineCount));
const agent = createAgent(session, output);
for await (const line of readInputLines(process.stdin)) take(line);
await agent.idle();
if (!session.neverEnds) process.exit(session.exitCode);
setInterval(() => {}, 2 ** 31 - 1);

function take(line: string): void {
  if (line.trim() === '' || session.isDeaf) return;
  const value = parsed(line);
  if (value['type'] === 'control_request') return answerControl(value, { agent, session, output });
  if (value['type'] === 'control_response') return takeAnswer(value);
  const message = readUserMessage(value, randomUUID);
  if (message === undefined) return refuse(line, 'no message');
  agent.take(message);
}

/** An answer to what was never asked, or was answered before, is nobody's. */
function takeAnswer({ response }: Fields): void {
  if (isFields(response)) session.requests.get(String(response['request_id']))?.(response);
}

function parsed(line: string): Fields {
  try {
    const value: unknown = JSON.parse(line);
    if (isFields(value)) return value;
  } catch {
    return refuse(line, 'SyntaxError');
  }
  return refuse(line, 'no object');
}

function refuse(line: string, reason: string): never {
  return exitWith(`Error parsing streaming input line (${line.length} chars): ${reason}`);
}

function open(): Session {
  try {
    return openSession(readArguments(process.argv.slice(2)), randomUUID);
  } catch (error) {
    if (error instanceof NoConversationError) sayNoConversation(error);
    else if (!(error instanceof UsageError)) throw error;
    return exitWith(error.message);
  }
}

function exitWith(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function sayNoConversation({ message, sessionId }: NoConversationError): void {
  const result = resultFrame({
    subtype: 'error_during_execution',
    errors: [message],
    result: '',
    durationMs: 0,
    numTurns: 0,
    inputTokens: 0,
    outputTokens: 0,
    totalCostUsd: 0,
  });
  createOutput(sessionId, 'none').frame(result);
}
