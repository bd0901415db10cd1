import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'undici';

/** The threads of a process, through its inspector. */
interface Inspector {
  threads: Thread[];
  close(): void;
}

interface Thread {
  call<T>(method: string, params?: object): Promise<T>;
  /** JSON of its heap. */
  snapshot(): Promise<string>;
}

interface Message {
  id?: number;
  result?: unknown;
  method?: string;
  params?: { chunk?: string; sessionId?: string; message?: string };
}

interface OpenThread extends Thread {
  handle(message: Message): void;
}

/** Every attached target is reported by an event, all at once. */
const attachedWithinMs = 200;

export async function inspectorOf(port: number): Promise<Inspector> {
  const socket = await connect(port);
  const main = thread((message) => socket.send(message));
  const others = new Map<string, OpenThread>();
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message; // the protocol's own
    const { sessionId = '', message: said } = message.params ?? {};
    if (message.method === 'NodeWorker.attachedToWorker') {
      const send = (text: string) =>
        void main.call('NodeWorker.sendMessageToWorker', { sessionId, message: text });
      others.set(sessionId, thread(send));
    } else if (message.method === 'NodeWorker.receivedMessageFromWorker') {
      others.get(sessionId)?.handle(JSON.parse(said ?? '{}') as Message); // as above
    } else main.handle(message);
  });
  await main.call('NodeWorker.enable', { waitForDebuggerOnStart: false });
  await sleep(attachedWithinMs);
  return { threads: [main, ...others.values()], close: () => socket.close() };
}

async function connect(port: number): Promise<WebSocket> {
  const targets = await fetch(`http://127.0.0.1:${port}/json/list`);
  const [target] = (await targets.json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  return socket;
}

function thread(send: (text: string) => void): OpenThread {
  const waiting = new Map<number, (result: unknown) => void>();
  let lastId = 0;
  let chunks: string[] = [];

  function call<T>(method: string, params: object = {}): Promise<T> {
    const id = (lastId += 1);
    return new Promise((resolve) => {
      waiting.set(id, (result) => resolve(result as T)); // the protocol's own
      send(JSON.stringify({ id, method, params }));
    });
  }

  return {
    call,
    handle({ id, result, method, params }) {
      if (method === 'HeapProfiler.addHeapSnapshotChunk') chunks.push(params?.chunk ?? '');
      if (id === undefined) return;
      waiting.get(id)?.(result);
      waiting.delete(id);
    },
    async snapshot() {
      chunks = [];
      await call('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
      return chunks.join('');
    },
  };
}
