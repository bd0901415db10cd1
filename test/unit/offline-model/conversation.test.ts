import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OfflineModel, startOfflineModel } from '../../../offline-model/server.ts';
import { createMessagesClient, request, script, words } from './messages-client.ts';

let model: OfflineModel;
beforeEach(async () => {
  model = await startOfflineModel();
});
afterEach(() => model.close());

const { ask, converse } = createMessagesClient(() => model.url);

describe('without a script', () => {
  it('quotes the prompt without the notes that the agent CLI adds to it', async () => {
    const content = [
      { type: 'text', text: '<system-reminder>\nsecret note\n</system-reminder>' },
      { type: 'text', text: 'Explain tides' },
    ];
    const reply = await ask(request('', { messages: [{ role: 'user', content }] }));
    expect(words(reply)).toContain('“Explain tides”');
    expect(words(reply)).not.toContain('secret note');
    expect(reply.stop_reason).toBe('end_turn');
  });

  it('does not treat the end of a background task as a prompt', async () => {
    const note = '<system-reminder>\n[SYSTEM NOTIFICATION - NOT USER INPUT]\n…</system-reminder>';
    const messages = [
      { role: 'user', content: script([{ tool: 'Bash' }]) },
      { role: 'assistant', content: 'Done' },
      { role: 'user', content: [{ type: 'text', text: note }] },
    ];
    expect(words(await ask(request('', { messages })))).toContain('in the background has ended');
  });

  it('writes the requested file, shows it, and ends the turn', async () => {
    const replies = await converse('Write a haiku into poems/sea.md, please.', [
      { content: 'File created' },
      { content: '-rw-r--r-- 1 agent agent 80 sea.md' },
    ]);
    const calls = replies.flatMap((reply) => reply.content.filter((b) => b.type === 'tool_use'));
    expect(calls[0]).toMatchObject({
      name: 'Write',
      input: { file_path: '/workspace/poems/sea.md' },
    });
    expect(calls[0]?.input?.['content']).toContain('No wire to the world');
    expect(calls[1]).toMatchObject({ name: 'Bash' });
    expect(words(replies[2])).toContain('-rw-r--r-- 1 agent agent 80 sea.md');
  });

  it('writes several files with the text in the prompt', async () => {
    const prompt = 'Create a.txt and b.json containing "exactly this".';
    const results = [{ content: 'ok' }, { content: 'ok' }, { content: 'ok' }];
    const replies = await converse(prompt, results);
    const written = replies.flatMap((reply) => reply.content.flatMap((b) => b.input ?? []));
    expect(written.slice(0, 2)).toEqual([
      { file_path: '/workspace/a.txt', content: 'exactly this\n' },
      { file_path: '/workspace/b.json', content: 'exactly this\n' },
    ]);
  });

  it('reads an existing file first, and stops at any other tool error', async () => {
    const unread = { content: 'File has not been read yet. Read it first.', is_error: true };
    const ok = { content: 'ok' };
    const replies = await converse('Create a.txt', [unread, ok, ok, ok]);
    const names = replies.flatMap((reply) => reply.content.flatMap((block) => block.name ?? []));
    expect(names).toEqual(['Write', 'Read', 'Write', 'Bash']);
    const refused = await converse('Create a.txt', [{ content: 'disk full', is_error: true }]);
    expect(words(refused[1])).toContain('disk full');
  });

  it('reports that no Write tool is offered', async () => {
    const reply = await ask(request('Create a.txt', { tools: [{ name: 'Bash' }] }));
    expect(words(reply)).toContain('no Write tool');
  });

  it('runs a command in backticks', async () => {
    const replies = await converse('Please run `uname -a` now', [{ content: 'Linux' }]);
    expect(replies[0]?.content[1]?.input).toEqual({ command: 'uname -a' });
    expect(words(replies[1])).toContain('Linux');
  });

  it('repeats facts from earlier in the conversation', async () => {
    const messages = [
      { role: 'user', content: 'Remember the word kiwi.' },
      { role: 'assistant', content: words(await ask(request('Remember the word kiwi.'))) },
      { role: 'user', content: 'What is the word?' },
    ];
    expect(words(await ask(request('', { messages })))).toContain('the word kiwi');
    expect(words(await ask(request('What did I say?')))).toContain('first thing');
  });

  it('replies briefly to the requests of the agent CLI, and runs no script in them', async () => {
    const title = await ask(
      request(script([{ tool: 'Bash' }]), {
        tools: [],
        system: 'Generate a concise title for this coding session.',
      }),
    );
    expect(title.stop_reason).toBe('end_turn');
    expect(words(title).length).toBeLessThanOrEqual(40);
    expect(words(await ask(request('quota', { tools: [], max_tokens: 1 })))).toBe('ok');
  });

  it('returns a structured answer that matches the schema, as a tool call or as text', async () => {
    const schema = {
      type: 'object',
      properties: {
        title: { type: 'string', maxLength: 5 },
        kind: { enum: ['a', 'b'] },
        count: { type: 'integer', minimum: 3 },
        tags: { type: 'array', items: { $ref: '#/$defs/tag' }, minItems: 2 },
      },
      $defs: { tag: { type: 'string' } },
    };
    const tools = [{ name: 'StructuredOutput', input_schema: schema }];
    const [reply] = await converse('Facts', [{ content: 'ok' }], { tools });
    const fits = { title: 'Facts', kind: 'a', count: 3, tags: ['Facts', 'Facts'] };
    expect(reply?.content.at(-1)?.input).toEqual(fits);
    const format = { format: { type: 'json_schema', schema } };
    const text = words(await ask(request('Facts', { tools: [], output_config: format })));
    expect(JSON.parse(text)).toEqual(fits);
  });
});
