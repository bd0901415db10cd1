import type { ToolOutcome } from '../frames.ts';
import { exchange, openTunnel } from '../http-exchange.ts';
import { type Fields, fieldsAt, isFields, textAt } from '../json.ts';
import type { Handlers } from '../run-steps.ts';
import { say, useTool } from '../turn.ts';

const maxAnswerLength = 16 * 1024;

/** Speaking to the network: directly, through the proxy of the environment, or over a unix socket. */
export const networkSteps: Handlers = {
  /** `{"http":{"url", "method"?, "headers"?, "body"?, "viaProxy"?, "socketPath"?}}` */
  http: async (step, turn) => {
    const fields = fieldsAt(step, 'http');
    const url = filled(textAt(fields, 'url'));
    await useTool(turn, { name: 'WebFetch', input: { url }, subject: url }, () =>
      outcomeOf(() => exchange(new URL(url), { ...requestOf(fields), signal: turn.signal })),
    );
  },
  /** Asks the proxy for a tunnel and tells the status of its answer, nothing more. */
  connectProxy: async (step, turn) => {
    const target = textAt(step, 'connectProxy');
    await useTool(turn, { name: 'WebFetch', input: { url: target }, subject: target }, () =>
      outcomeOf(async () => {
        const { response, socket } = await openTunnel(target, turn.signal);
        socket.destroy();
        return `${response.statusCode} ${response.statusMessage}`;
      }),
    );
  },
  /** Asks the model where the CLI would, with the key the CLI would use, and says its answer. */
  model: async (step, turn) => {
    const content = textAt(step, 'model');
    const { text } = await outcomeOf(() =>
      exchange(new URL(filled('{{ANTHROPIC_BASE_URL}}/v1/messages')), {
        ...requestOf({
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': '{{ANTHROPIC_API_KEY}}' },
          body: { model: 'scripted', max_tokens: 1000, messages: [{ role: 'user', content }] },
        }),
        signal: turn.signal,
      }),
    );
    say(turn, text);
  },
};

function requestOf(fields: Fields) {
  const { method, headers, body, viaProxy, socketPath } = fields;
  const given = isFields(headers) ? Object.entries(headers) : [];
  return {
    method: typeof method === 'string' ? method : 'GET',
    headers: Object.fromEntries(given.map(([name, value]) => [name, filled(String(value))])),
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    viaProxy: viaProxy === true,
    socketPath: typeof socketPath === 'string' ? socketPath : undefined,
  };
}

/** `{{NAME}}` stands for a variable of the environment. */
function filled(text: string): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => process.env[name] ?? '');
}

async function outcomeOf(ask: () => Promise<string>): Promise<ToolOutcome> {
  try {
    return { text: (await ask()).slice(0, maxAnswerLength), isError: false };
  } catch (error) {
    return { text: String(error), isError: true };
  }
}
