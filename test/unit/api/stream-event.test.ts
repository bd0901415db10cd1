// The description of a stream's events: it fits every line that the real agent has written, and
// every further field or event of the service is an error of the tests that read streams.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventSchemas } from '../../../api/stream/events/stream-event.ts';
import { readAgentLine } from '../../../core/agent/agent-line.ts';
import { streamEvents } from '../../../core/frames/frame.ts';
import { repository } from '../../../dev/lib/folders.ts';
import { descriptionError } from '../../support/expect-described.ts';
import { readEvents } from '../../support/sent-events.ts';

const recordings = join(repository, 'test/fixtures/agent-output');

test('every event of the interface is described', () => {
  expect([...eventSchemas.keys()].sort()).toEqual([...streamEvents].sort());
});

test.each(readdirSync(recordings).filter((name) => name.endsWith('.jsonl')))(
  'every line of the recorded agent in %s is described',
  (name) => {
    const lines = readFileSync(join(recordings, name), 'utf8').split('\n');
    for (const { frames, deltas } of lines.map(readAgentLine)) {
      for (const { event, data } of frames)
        expect(descriptionError({ id: '1', event, data })).toBeNull();
      for (const data of deltas)
        expect(descriptionError({ event: 'stream_event', data })).toBeNull();
    }
  },
);

describe('an event does not match its schema if', () => {
  const sound = { id: '7', event: 'chat_output', data: '{"text":"Hi."}' };

  test('it has another ID, name, form or field', () => {
    expect(descriptionError(sound)).toBeNull();
    for (const change of [
      { id: undefined },
      { id: '7-1' },
      { event: 'chat-output' },
      { event: 'new_event' },
      { event: undefined },
      { data: '{"text":"Hi.","more":1}' },
      { data: '{"text":1}' },
      { data: '{}' },
      { data: 'Hi.' },
    ])
      expect(descriptionError({ ...sound, ...change }), JSON.stringify(change)).not.toBeNull();
  });

  test('it has an ID although it cannot be resumed after', () => {
    const status = { event: 'status', data: '{"status":"sleep","agentStatus":null}' };
    expect(descriptionError(status)).toBeNull();
    expect(descriptionError({ ...status, id: '7' })).not.toBeNull();
  });

  test('a node of the file tree has a further field', () => {
    const tree = (leaf: object) => ({
      event: 'filetree',
      data: JSON.stringify([
        {
          ...{ name: 'a', path: 'a', type: 'directory' },
          children: [{ name: 'b', path: 'a/b', type: 'file', ...leaf }],
        },
      ]),
    });
    expect(descriptionError(tree({}))).toBeNull();
    expect(descriptionError(tree({ size: 1 }))).not.toBeNull();
  });

  test('and a test that reads it fails', async () => {
    const read = async (data: string) => {
      for await (const event of readEvents(bodyOf(`id: 7\nevent: chat_output\ndata: ${data}\n\n`)))
        return event.data;
    };
    expect(await read(sound.data)).toBe(sound.data);
    await expect(read('{"text":"Hi.","more":1}')).rejects.toThrow(/chat_output.*more/s);
  });
});

async function* bodyOf(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}
