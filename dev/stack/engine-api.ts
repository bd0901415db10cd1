// The few calls to the Docker Engine that the stack needs, over its unix socket. The API is the
// same for every engine, whereas the command line client needs plug-ins and flags that differ.

import { request } from 'node:http';
import type { Readable } from 'node:stream';

interface EngineCall {
  method?: string;
  path: string;
  body?: Readable;
  contentType?: string;
  /** The call fails after this time without data. */
  silenceMs?: number;
}

interface EngineAnswer {
  status: number;
  text: string;
}

export async function pingEngine(socketPath: string): Promise<boolean> {
  try {
    return (await callEngine(socketPath, { path: '/_ping', silenceMs: 2000 })).status === 200;
  } catch {
    return false;
  }
}

export async function hasImage(socketPath: string, tag: string): Promise<boolean> {
  const path = `/images/${encodeURIComponent(tag)}/json`;
  return (await callEngine(socketPath, { path })).status === 200;
}

/** A runtime in the configuration of an engine and in its /info. */
export interface RuntimeEntry {
  path: string;
  runtimeArgs?: string[];
}

/** Whether the engine has the runtime with these arguments, at any path. */
export async function hasRuntime(
  socketPath: string,
  name: string,
  { runtimeArgs: required = [] }: RuntimeEntry,
): Promise<boolean> {
  const { text } = await callEngine(socketPath, { path: '/info' });
  const info = JSON.parse(text) as { Runtimes?: Record<string, RuntimeEntry> }; // as the engine documents it
  const found = info.Runtimes?.[name];
  return found !== undefined && required.every((arg) => found.runtimeArgs?.includes(arg));
}

/** Returns the whole response. `onLine` gets each line of a progress stream as it arrives. */
export function callEngine(
  socketPath: string,
  call: EngineCall,
  onLine: (line: string) => void = () => {},
): Promise<EngineAnswer> {
  const { method = 'GET', path, body, contentType, silenceMs = 600_000 } = call;
  const headers = contentType === undefined ? {} : { 'content-type': contentType };
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, headers }, (answer) => {
      let text = '';
      let seen = 0;
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
        for (let end = text.indexOf('\n', seen); end >= 0; end = text.indexOf('\n', seen)) {
          onLine(text.slice(seen, end));
          seen = end + 1;
        }
      });
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.setTimeout(silenceMs, () => sent.destroy(new Error(`no data for ${silenceMs} ms`)));
    sent.on('error', reject);
    if (body === undefined) sent.end();
    else body.on('error', (error) => sent.destroy(error)).pipe(sent);
  });
}

/** Runs a call that responds with a stream of JSON lines, and throws if a line reports an error. */
export async function callEngineStream(
  socketPath: string,
  call: EngineCall,
  onText: (text: string) => void = () => {},
): Promise<void> {
  let failure: string | undefined;
  const progressLines: string[] = [];
  const answer = await callEngine(socketPath, call, (line) => {
    const { error, stream, status } = parseProgress(line);
    failure ??= error;
    const text = (stream ?? status ?? '').trim();
    if (text) progressLines.push(text);
    if (text) onText(text);
  });
  if (answer.status >= 300) failure ??= answer.text.trim();
  if (failure !== undefined) {
    throw new Error(
      `${call.path.split('?')[0]}: ${failure}\n${progressLines.slice(-25).join('\n')}`,
    );
  }
}

interface ProgressLine {
  error?: string;
  stream?: string;
  status?: string;
}

function parseProgress(line: string): ProgressLine {
  try {
    return JSON.parse(line) as ProgressLine; // the engine's documented shape, only displayed
  } catch {
    return {};
  }
}
