// Runs in a simulated sandbox instead of the entry program and the agent. It communicates with the
// worker as they do: over the run's socket with the entry program's own client, and by lines in the
// spool. Each turn calls the model once through the worker's gateway.

import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { timeouts } from '../../sandbox/entry/constants.ts';
import { feedAgent } from '../../sandbox/entry/feed-agent.ts';
import { fetchConfig } from '../../sandbox/entry/fetch-config.ts';
import { createHostClient, type HostClient } from '../../sandbox/entry/host-client.ts';
import { exchange } from '../../test/fixtures/scripted-agent/http-exchange.ts';
import { type Fields, isFields } from '../../test/fixtures/scripted-agent/json.ts';
import {
  readUserMessage,
  type UserMessage,
} from '../../test/fixtures/scripted-agent/user-message.ts';
import { transcriptName } from '../../worker/sandbox/session/transcript.ts';
import { beginning, ending, toolCall } from './agent-lines.ts';
import type { Freezer } from './freezer.ts';

/** The work of each turn. */
export interface TurnScript {
  /** The number of tool calls. */
  steps: number;
  /** The time of each tool call. */
  stepMs: number;
}

export interface SandboxFiles {
  socketFile: string;
  spoolFile: string;
  configDir: string;
}

interface AgentContext {
  files: SandboxFiles;
  script: TurnScript;
  freezer: Freezer;
  signal: AbortSignal;
}

const exitConfigConsumed = 78;

/** Resolves with the exit code when the worker closes the agent's input. Rejects if aborted. */
export async function runSimulatedAgent(context: AgentContext): Promise<number> {
  const { files, freezer, signal } = context;
  const host = frozenWith(createHostClient(files.socketFile, timeouts), freezer);
  const config = await fetchConfig(host, signal);
  if (config === null) return exitConfigConsumed;
  const agent = createAgent(context, conversationOf(config.args));
  await feedAgent(host, { stdin: agent.stdin, timeouts, signal });
  await agent.idle();
  const body = JSON.stringify({ code: 0, signal: null });
  await host.requestWithRetry({ method: 'POST', path: '/control/exit', body }, signal);
  return 0;
}

/** A paused sandbox neither sends requests nor reads answers. */
const frozenWith = (host: HostClient, freezer: Freezer): HostClient => ({
  ...host,
  async requestWithRetry(call, signal) {
    await freezer.thawed();
    const response = await host.requestWithRetry(call, signal);
    await freezer.thawed();
    return response;
  },
});

function conversationOf(args: readonly string[]): string {
  const at = args.findIndex((each) => each === '--session-id' || each === '--resume');
  return args[at + 1] ?? randomUUID();
}

function createAgent({ files, script, freezer, signal }: AgentContext, conversation: string) {
  let last: Promise<void> = Promise.resolve();
  const print = (lines: Fields[]): void => appendLines(files.spoolFile, conversation, lines);
  const transcript = join(files.configDir, 'projects', transcriptName(conversation));

  async function runTurn(message: UserMessage): Promise<void> {
    print(beginning(message));
    await callModel(files.socketFile, signal);
    for (let step = 0; step < script.steps; step += 1) {
      await sleep(script.stepMs, null, { signal });
      await freezer.thawed();
      print(toolCall(step));
    }
    remember(transcript, message);
    print(ending(message, script.steps));
  }

  function take(line: string): void {
    const value = JSON.parse(line) as Fields; // the worker writes one object in each line
    if (value['type'] === 'control_request') return print([controlResponse(value)]);
    const message = readUserMessage(value, randomUUID);
    if (message !== undefined) last = last.then(() => runTurn(message));
  }

  /** The entry program's client writes one whole line at a time. */
  const stdin = new Writable({
    write(line: Buffer, _encoding, done) {
      take(line.toString('utf8'));
      done();
    },
  });
  return { stdin, idle: () => last };
}

function appendLines(spoolFile: string, conversation: string, lines: Fields[]): void {
  const text = lines.map(
    (line) => `${JSON.stringify({ uuid: randomUUID(), ...line, session_id: conversation })}\n`,
  );
  appendFileSync(spoolFile, text.join(''));
}

const controlResponse = (request: Fields): Fields => ({
  type: 'control_response',
  response: {
    request_id: request['request_id'],
    subtype: 'success',
    response: isFields(request['request']) ? { still_queued: [] } : {},
  },
});

/** The agent continues a conversation only if it has a transcript. */
function remember(transcript: string, { uuid, text }: UserMessage): void {
  mkdirSync(dirname(transcript), { recursive: true });
  const lines = [
    { type: 'user', uuid, message: { role: 'user', content: text } },
    { type: 'assistant', message: { role: 'assistant', content: 'This is done.' } },
  ];
  appendFileSync(transcript, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

async function callModel(socketPath: string, signal: AbortSignal): Promise<void> {
  const messages = [{ role: 'user', content: 'Say this.' }];
  await exchange(new URL('http://sandbox/model/v1/messages'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'sandbox' },
    body: JSON.stringify({ model: 'claude-opus-5-5', max_tokens: 1_000, messages }),
    viaProxy: false,
    socketPath,
    signal,
  });
}
