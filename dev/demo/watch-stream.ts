import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Api } from './api.ts';

/**
 * Prints a run's stream and returns the reason of its end. Shows the rendered text, and the run's
 * status in brackets. Ignores the structured events, which contain the same text for programs.
 */
export async function watchStream(api: Api, runId: string): Promise<string> {
  const headers = { accept: 'text/event-stream' };
  const answer = await api.call('GET', `/api/v1/runs/${runId}/stream`, { headers });
  let reason = 'the connection was cut';
  const parser = createParser({
    onEvent(message) {
      const text = toText(message);
      if (text !== undefined) process.stdout.write(text);
      if (message.event === 'finished') reason = dataIn(message).reason ?? 'completed';
    },
  });
  if (answer.body === null) throw new Error('the stream has no body');
  const text = new TextDecoder();
  const chunks: AsyncIterable<Uint8Array> = answer.body;
  for await (const chunk of chunks) parser.feed(text.decode(chunk, { stream: true }));
  return reason;
}

interface EventData {
  data?: string;
  status?: string;
  agentStatus?: string | null;
  reason?: string;
  exitCode?: number;
}

function toText(message: EventSourceMessage): string | undefined {
  switch (message.event) {
    case 'output':
      return indented(dataIn(message).data ?? '');
    case 'status': {
      const { status, agentStatus } = dataIn(message);
      return note(`the run is ${status}${agentStatus == null ? '' : `, the agent ${agentStatus}`}`);
    }
    case 'agent_status':
      return note(`the agent is ${dataIn(message).status}`);
    case 'filetree':
      return note(`files: ${namesIn(message.data)}`);
    case 'finished':
      return note(`finished: ${dataIn(message).reason}, exit code ${dataIn(message).exitCode}`);
    default:
      return undefined;
  }
}

function dataIn(message: EventSourceMessage): EventData {
  return JSON.parse(message.data) as EventData; // the interface's payloads, read only for display
}

function namesIn(data: string): string {
  const nodes = JSON.parse(data) as { path: string }[]; // as above
  return nodes.map((node) => node.path).join(', ') || 'none';
}

function note(text: string): string {
  return `  [${text}]\n`;
}

function indented(text: string): string {
  return `${text.replace(/\n$/, '').replace(/^/gm, '  │ ')}\n`;
}
