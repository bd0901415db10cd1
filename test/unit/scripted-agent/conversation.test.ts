import { describe, expect, it } from 'vitest';
import { script } from '../../support/prompts.ts';
import { newFolder, nextUuid, runAgent, startAgent, userMessage } from './agent-process.ts';
import { kindsOf, textsOf } from './lines.ts';

const recall = script([{ recall: true }]);

describe('a conversation', () => {
  it('continues in another process that resumes it, cost included', async () => {
    const [folder, id] = [newFolder(), nextUuid()];
    const first = await runAgent('Remember kiwi', { folder, args: ['--session-id', id] });
    const second = await runAgent(recall, { folder, args: ['--resume', id] });
    expect(JSON.parse(textsOf(second.lines)[0] ?? '')).toEqual(['Remember kiwi', recall]);
    const costs = [first, second].map(({ lines }) => Number(lines.at(-2)?.['total_cost_usd']));
    expect(costs[1]).toBeGreaterThan(costs[0] ?? Infinity);
    const ids = [first, second].flatMap(({ lines }) => lines.map((line) => line['uuid']));
    const own = ids.filter((uuid) => !String(uuid).startsWith('00000000'));
    expect(new Set(own).size).toBe(own.length);
  });

  it('cannot be started twice under one id', async () => {
    const [folder, id] = [newFolder(), nextUuid()];
    await runAgent('hi', { folder, args: ['--session-id', id] });
    const again = await runAgent('hi', { folder, args: ['--session-id', id] });
    expect(again).toMatchObject({ code: 1, lines: [] });
    expect(again.errors).toContain('already in use');
  });

  it('repeats a message whose turn was killed unanswered, but not one that was partly answered', async () => {
    for (const [steps, kinds] of [
      [[{ hang: true }], ['command_lifecycle queued', 'command_lifecycle started']],
      [
        [{ say: 'part' }, { hang: true }],
        ['user', 'command_lifecycle completed'],
      ],
    ] as const) {
      const [folder, id] = [newFolder(), nextUuid()];
      const message = userMessage(script(steps));
      const killed = startAgent({ folder, args: ['--session-id', id] });
      killed.send(message);
      await killed.waitFor((line) => line['isReplay'] === true);
      if (steps.length > 1) await killed.waitFor((line) => line['type'] === 'assistant');
      killed.kill('SIGKILL');
      await killed.ended;
      const resumed = startAgent({ folder, args: ['--resume', id] });
      resumed.send(message);
      await resumed.waitFor((line) => line['state'] === kinds[1].split(' ')[1]);
      expect(kindsOf(resumed.lines()).slice(0, 2)).toEqual(kinds);
      resumed.kill('SIGKILL');
      await resumed.ended;
    }
  });

  it('keeps its first system prompt when resumed, unless snapshots are off', async () => {
    const [folder, id] = [newFolder(), nextUuid()];
    const prompt = script([{ systemPrompt: true }]);
    const send = async (...args: string[]) =>
      textsOf((await runAgent(prompt, { folder, args })).lines)[0];
    expect(await send('--session-id', id, '--append-system-prompt', 'one')).toBe('one');
    const resume = ['--resume', id, '--append-system-prompt', 'two'];
    expect(await send(...resume)).toBe('one');
    expect(await send(...resume, '--system-prompt-snapshot', 'off')).toBe('two');
  });
});
