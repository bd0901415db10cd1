import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OfflineModel, startOfflineModel } from '../../../offline-model/server.ts';
import { createMessagesClient, request, script, words } from './messages-client.ts';

let model: OfflineModel;
beforeEach(async () => {
  model = await startOfflineModel();
});
afterEach(() => model.close());

const { ask, converse, post, stream } = createMessagesClient(() => model.url);

describe('a script in the prompt', () => {
  it('makes one reply up to each tool call, and inserts the tool’s result', async () => {
    const replies = await converse(
      script([
        { text: 'First' },
        { tool: 'Bash', input: { command: 'date' } },
        { tool: 'Write', input: { file_path: '{{cwd}}/a', content: 'got {{last_tool_result}}' } },
        { text: 'End: {{last_tool_result}}' },
      ]),
      [{ content: 'noon' }, { content: [{ type: 'text', text: 'written' }] }],
    );
    expect(replies.map((reply) => reply.content.map((block) => block.input ?? block.text))).toEqual(
      [
        ['First', { command: 'date' }],
        [{ file_path: '/workspace/a', content: 'got noon' }],
        ['End: written'],
      ],
    );
  });

  it('may be in a fenced block within text, with brackets in its strings', async () => {
    const prompt = `Please do this:\n\`\`\`\n@model [\n {"text": "a ] \\" [ b"}\n]\n\`\`\`\nThanks`;
    expect(words(await ask(request(prompt)))).toBe('a ] " [ b');
  });

  it('is reported if it is invalid', async () => {
    expect(words(await ask(request('@model [{"txet":"typo"}]')))).toContain('cannot be read');
    expect(words(await ask(request('@model [{"text":"open"')))).toContain('cannot be read');
  });

  it('repeats steps, calls several tools at once, and sets usage and stop reason', async () => {
    const replies = await converse(
      script([
        { repeat: 2, steps: [{ tool: 'Bash', input: { command: 'echo {{n}}' } }] },
        { tools: [{ tool: 'Read' }, { tool: 'Bash' }] },
        { text: 'cut short' },
        { usage: { output_tokens: 7 } },
        { stopReason: 'max_tokens' },
      ]),
      [{ content: '1' }, { content: '2' }, { content: '3' }, { content: '4' }],
    );
    expect(replies.map((reply) => reply.content.length)).toEqual([1, 1, 2, 1]);
    expect(replies[1]?.content[0]?.input).toEqual({ command: 'echo 2' });
    expect(replies[3]).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 7 } });
    const ids = replies.flatMap((reply) => reply.content.flatMap((block) => block.id ?? []));
    expect(new Set(ids).size).toBe(4);
  });

  it('fails a number of times, then succeeds', async () => {
    const prompt = script([{ status: 529, times: 2, retryAfterSeconds: 0 }, { text: 'through' }]);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const response = await post('/v1/messages', request(prompt));
      expect(response.status).toBe(529);
      expect(response.headers.get('retry-after')).toBe('0');
      expect(await response.json()).toMatchObject({ error: { type: 'overloaded_error' } });
    }
    expect(words(await ask(request(prompt)))).toBe('through');
    const other = { metadata: { user_id: 'another session' } };
    expect((await post('/v1/messages', request(prompt, other))).status).toBe(529);
  });

  it('cuts the stream once, after the steps before the cut', async () => {
    const prompt = script([{ text: 'before' }, { cut: true }, { text: 'after' }]);
    const response = await post('/v1/messages', request(prompt, { stream: true }));
    let seen = '';
    await expect(async () => {
      for await (const chunk of response.body ?? []) seen += Buffer.from(chunk).toString();
    }).rejects.toThrow();
    expect(seen).toContain('before');
    expect(seen).not.toContain('after');
    const texts = (await stream(prompt)).map((event) => event.delta?.text ?? '');
    expect(texts.join('')).toBe('beforeafter');
  });

  it('can be set on the server', async () => {
    model.script([{ text: 'scripted from outside' }]);
    expect(words(await ask(request('anything')))).toBe('scripted from outside');
    expect(words(await ask(request(script([{ text: 'own' }]))))).toBe('own');
    model.script(undefined);
    expect(words(await ask(request('anything')))).toContain('“anything”');
  });
});
