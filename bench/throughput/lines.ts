import { createHash } from 'node:crypto';
import { randomText } from '../../test/fixtures/scripted-agent/random-text.ts';

const sessionId = '00000000-0000-4000-8000-000000000000';

/** Lines of an agent with much output. Seeded, so that every run has the same bytes. */
export function agentLines(count: number): Buffer {
  const shape = { seed: 7, longEvery: 0 };
  const lines = Array.from({ length: count }, (_, index) => {
    const content = [{ type: 'text', text: randomText(index, shape) }];
    const message = { role: 'assistant', content };
    const line = { type: 'assistant', message, uuid: uuidOf(index), session_id: sessionId };
    return `${JSON.stringify(line)}\n`;
  });
  return Buffer.from(lines.join(''));
}

function uuidOf(index: number): string {
  const hex = createHash('sha1').update(String(index)).digest('hex');
  return [8, 4, 4, 4, 12].map((length, part) => hex.slice(part * 4, part * 4 + length)).join('-');
}
