import { expect } from 'vitest';

type Json = Readonly<Record<string, unknown>>;

interface Block {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: Json;
}

interface Message {
  content: Block[];
  stop_reason: string;
  usage: { input_tokens: number; output_tokens: number };
}

interface StreamEvent {
  type: string;
  delta?: { type?: string; text?: string; partial_json?: string; stop_reason?: string };
  usage?: Json;
}

export const fileTools = [{ name: 'Write' }, { name: 'Bash' }, { name: 'Read' }];
export const system = [{ type: 'text', text: 'Hi.\n - Primary working directory: /workspace\n' }];

/** A request as the agent CLI would make it, for one prompt. */
export function request(prompt: string, extra: Json = {}) {
  const messages = [{ role: 'user', content: prompt }];
  return { model: 'm', max_tokens: 1000, system, tools: fileTools, messages, ...extra };
}

/** A prompt that is a script. */
export function script(steps: unknown): string {
  return `@model ${JSON.stringify(steps)}`;
}

/** Returns all text of a message. */
export function words(message: Message | undefined): string {
  return (message?.content ?? []).map((block) => block.text ?? '').join('');
}

/** A client of the Messages API. Its base URL may change during a test. */
export function createMessagesClient(url: () => string) {
  function post(path: string, body: unknown, headers: Json = { 'x-api-key': 'k' }) {
    return fetch(`${url()}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(headers as Record<string, string>) },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  async function ask(body: unknown): Promise<Message> {
    const response = await post('/v1/messages?beta=true', body);
    expect(response.status).toBe(200);
    return (await response.json()) as Message;
  }

  /** Answers each tool call with the next of `results`. Returns all replies of the model. */
  async function converse(prompt: string, results: Json[], extra: Json = {}): Promise<Message[]> {
    const messages: unknown[] = [{ role: 'user', content: prompt }];
    const replies: Message[] = [];
    for (;;) {
      const reply = await ask({ ...request(prompt, extra), messages });
      replies.push(reply);
      if (reply.stop_reason !== 'tool_use') return replies;
      const answers = reply.content
        .filter((block) => block.type === 'tool_use')
        .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, ...results.shift() }));
      messages.push({ role: 'assistant', content: reply.content });
      messages.push({ role: 'user', content: answers });
    }
  }

  async function stream(prompt: string): Promise<StreamEvent[]> {
    const response = await post('/v1/messages', request(prompt, { stream: true }));
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    return eventsOf(await response.text());
  }

  return { post, ask, converse, stream };
}

function eventsOf(text: string): StreamEvent[] {
  return text.split('\n\n').flatMap((frame) => {
    const [, name, data] = /^event: (\S+)\ndata: (.*)$/.exec(frame) ?? [];
    if (data === undefined) return [];
    const event = JSON.parse(data) as StreamEvent;
    expect(event.type).toBe(name);
    return [event];
  });
}
