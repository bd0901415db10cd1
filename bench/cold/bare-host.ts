import { chmod } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { agentCommand } from '../../core/agent-command.ts';
import { emptyRunConfig } from '../../core/run-config.ts';
import { promptLine } from '../../worker/supervisor/agent-input.ts';

export interface BareRun {
  runId: string;
  generation: number;
  prompt: string;
  modelUrl: string;
}

export interface BareHost {
  /** The agent has nothing more to read. */
  closeInput(): void;
  close(): Promise<void>;
}

/** The least that the sandbox's own entry program needs at the other end of its socket. */
export async function serveBareSandbox(socketPath: string, run: BareRun): Promise<BareHost> {
  const config = configOf(run);
  const message = { index: 1, line: promptLine(run) };
  const closed = latch();
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '';
    if (path.startsWith('/model/')) return askModel(run.modelUrl, incoming, response);
    incoming.resume();
    if (path === '/control/config') return answer(response, config);
    if (path === '/control/messages?after=0') return answer(response, message);
    if (path !== '/control/messages?after=1') return void response.writeHead(204).end();
    void closed.happened.then(() => answer(response, { closed: true }));
  });
  await new Promise<void>((resolve) => void server.listen(socketPath, resolve));
  await chmod(socketPath, 0o666);
  return {
    closeInput: closed.happen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function configOf({ runId }: BareRun) {
  const flow = { instructions: null, model: null, disallowedTools: [], env: {}, mcpServers: {} };
  const conversation = { id: runId, resume: false };
  return agentCommand({ flow, config: emptyRunConfig, partialMessages: false, conversation });
}

function answer(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function askModel(modelUrl: string, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, headers } = incoming;
  const url = new URL((incoming.url ?? '').slice('/model'.length), modelUrl);
  const onward = { ...headers, host: url.host };
  const asked = request(url, { method, headers: onward }, (said) => {
    response.writeHead(said.statusCode ?? 502, said.headers);
    said.pipe(response);
  });
  asked.on('error', () => response.destroy());
  incoming.pipe(asked);
}

function latch(): { happen: () => void; happened: Promise<void> } {
  let happen = (): void => undefined;
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { happen: () => happen(), happened };
}
