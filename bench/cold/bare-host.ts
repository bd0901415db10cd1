import { chmod } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { agentCommand } from '../../core/agent/agent-command.ts';
import { emptyRunConfig } from '../../core/runs/run-config.ts';
import { type AgentInputQueue, createInputQueue } from '../../worker/sandbox/input/input-queue.ts';
import { promptLine } from '../../worker/sandbox/input/stdin-lines.ts';

interface BareRun {
  runId: string;
  generation: number;
  prompt: string;
  modelUrl: string;
}

export interface BareHost {
  /** Queues the agent's next input line, after the prompt. */
  push(line: string): void;
  /** Ends the agent's input. */
  closeInput(): void;
  close(): Promise<void>;
}

/** The minimal counterpart of the sandbox's entry program on its socket. */
export async function serveBareSandbox(socketPath: string, run: BareRun): Promise<BareHost> {
  const config = configOf(run);
  const input = createInputQueue(promptLine(run));
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '';
    if (path.startsWith('/model/')) return forwardToModel(run.modelUrl, incoming, response);
    incoming.resume();
    if (path === '/control/config') return answer(response, config);
    const after = /^\/control\/messages\?after=(\d+)$/.exec(path)?.[1];
    if (after === undefined) return void response.writeHead(204).end();
    void answerMessage(response, input, Number(after));
  });
  await new Promise<void>((resolve) => void server.listen(socketPath, resolve));
  await chmod(socketPath, 0o666);
  return {
    push: input.push,
    closeInput: input.close,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function configOf({ runId }: BareRun) {
  const flow = { instructions: null, disallowedTools: [], env: {}, mcpServers: {} };
  const bounds = { model: null, maxTurns: null, maxBudgetUsd: null, outputSchema: null };
  const run = { partialMessages: false, ...bounds };
  const conversation = { id: runId, resume: false };
  return agentCommand({ flow, config: emptyRunConfig, run, conversation });
}

async function answerMessage(response: ServerResponse, input: AgentInputQueue, after: number) {
  const left = new AbortController();
  response.once('close', () => left.abort());
  const next = await input.next(after, left.signal);
  if (next.kind !== 'none') answer(response, next.kind === 'closed' ? { closed: true } : next);
}

function answer(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function forwardToModel(
  modelUrl: string,
  incoming: IncomingMessage,
  response: ServerResponse,
): void {
  const { method, headers } = incoming;
  const url = new URL((incoming.url ?? '').slice('/model'.length), modelUrl);
  const upstreamHeaders = { ...headers, host: url.host };
  const upstream = request(url, { method, headers: upstreamHeaders }, (answered) => {
    response.writeHead(answered.statusCode ?? 502, answered.headers);
    answered.pipe(response);
  });
  upstream.on('error', () => response.destroy());
  incoming.pipe(upstream);
}
