import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

interface EngineQuestion {
  path: string;
  body: string;
}

export interface FakeEngine {
  dockerHost: string;
  close(): void;
}

/** Starts an engine with arbitrary responses. A `status` in the answer is the HTTP status. */
export async function startFakeEngine(
  answerTo: (question: EngineQuestion) => object & { status?: number },
): Promise<FakeEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'));
  const socket = join(folder, 'docker.sock');
  const server: Server = createServer((request, answer) => {
    void text(request).then((body) => {
      const answered = answerTo({ path: request.url ?? '', body });
      answer.statusCode = answered.status ?? 200;
      answer.setHeader('content-type', 'application/json').end(JSON.stringify(answered));
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const close = (): void => {
    server.close();
    rmSync(folder, { recursive: true });
  };
  return { dockerHost: `unix://${socket}`, close };
}
