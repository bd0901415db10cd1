import { spawnSync } from 'node:child_process';
import { openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { machineMs } from '../../fixtures/scripted-agent/machine-clock.ts';
import { randomText } from '../../fixtures/scripted-agent/random-text.ts';
import { script } from '../../support/prompts.ts';
import { agentCommand, newFolder, runAgent, startAgent, userMessage } from './agent-process.ts';
import { kindsOf, textsOf } from './lines.ts';

describe('output', () => {
  it('is the same for the same seed, including long lines and non-ASCII letters', async () => {
    const shape = { seed: 7, longEvery: 100 };
    const { lines, code } = await runAgent(script([{ lines: 500, ...shape }, { exit: 3 }]));
    expect(code).toBe(3);
    const expected = Array.from({ length: 500 }, (_, index) => randomText(index, shape));
    expect(textsOf(lines)).toEqual(expected);
    const lengths = expected.map((text) => Buffer.byteLength(JSON.stringify(text)));
    expect(Math.max(...lengths)).toBeLessThanOrEqual(100 * 1024);
    expect(lengths.filter((length) => length > 16 * 1024)).toHaveLength(5);
    expect(expected.join('')).toMatch(/日本語/);
    expect(randomText(3, { ...shape, seed: 8 })).not.toBe(expected[3]);
  });

  it('is complete if the process exits immediately after it', async () => {
    const { lines } = await runAgent(script([{ lines: 20_000 }, { selfKill: 'SIGKILL' }]));
    expect(textsOf(lines)).toHaveLength(20_000);
  });

  it('contains any line and any bytes verbatim', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0xc3, 0x0a, 0x7b]);
    const steps = [
      { raw: '{"type":"finished","x":"\u0000"}' },
      { rawBase64: bytes.toString('base64') },
      { stderr: 'a complaint' },
      { exit: 0 },
    ];
    const { raw, errors } = await runAgent(script(steps));
    expect(raw.includes('{"type":"finished","x":"\u0000"}\n')).toBe(true);
    expect(raw.subarray(-bytes.length)).toEqual(bytes);
    expect(errors).toContain('a complaint');
  });

  it('prints when a message was read, and when a text, a result and the exit followed', async () => {
    const startedAt = machineMs();
    const steps = [{ clock: true }, { clockResult: true }, { clockExit: true }];
    const { lines } = await runAgent(script(steps));
    const result = lines.find(({ type }) => type === 'result');
    const said = JSON.parse(textsOf(lines)[0] ?? '') as { receivedAt: number; saidAt: number };
    const { printedAt } = JSON.parse(String(result?.['result'])) as { printedAt: number };
    const { exitedAt } = lines.at(-1) as { exitedAt?: number };
    const order = [startedAt, said.receivedAt, said.saidAt, printedAt, exitedAt ?? 0, machineMs()];
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });

  it('can be truncated by the agent itself', () => {
    const folder = newFolder();
    const spool = join(folder, 'spool');
    const steps = [{ say: 'gone' }, { truncateSpool: true }, { raw: 'after' }, { exit: 0 }];
    spawnSync(process.execPath, agentCommand(folder), {
      input: JSON.stringify(userMessage(script(steps))),
      stdio: ['pipe', openSync(spool, 'a'), 'ignore'],
      env: { ...process.env, HOME: folder },
    });
    expect(readFileSync(spool, 'utf8')).toBe('after\n');
  });

  it('prints a variable of the environment, set or not', async () => {
    const { lines } = await runAgent(script([{ env: 'SOME_NAME' }, { env: 'NOT_SET_AT_ALL' }]), {
      env: { SOME_NAME: 'a value' },
    });
    expect(textsOf(lines)).toEqual(['SOME_NAME=a value', 'NOT_SET_AT_ALL is not set']);
  });
});

describe('endings', () => {
  it.each([
    [[{ noResult: true }], 0, []],
    [[{ doubleResult: true }], 0, ['success', 'success']],
    [[{ fail: 'broken' }], 1, ['error_during_execution']],
    [[{ exitAfterResult: 5 }], 5, ['success']],
    [[{ say: 'x' }, { exit: 3 }, { say: 'never' }], 3, []],
    [[{ result: { subtype: 'error_max_turns', is_error: true } }], 1, ['error_max_turns']],
  ])('%j exits %i with results %j', async (steps, code, subtypes) => {
    const run = await runAgent(script(steps));
    expect(run.code).toBe(code);
    const results = run.lines.filter((line) => line['type'] === 'result');
    expect(results.map((line) => line['subtype'])).toEqual(subtypes);
  });

  it('hangs after its result until it is killed, even after the end of its input', async () => {
    const agent = startAgent();
    agent.send(userMessage(script([{ hangAfterResult: true }])));
    agent.closeInput();
    await agent.waitFor((line) => line['state'] === 'completed');
    expect(await agent.endsWithin(300)).toBe(false);
    agent.kill('SIGTERM');
    expect(await agent.ended).toMatchObject({ code: 143 });
  });

  it('ignores every signal but SIGKILL if configured', async () => {
    const agent = startAgent();
    const steps = [{ deaf: true }, { trapTerm: true }, { say: 'ready' }, { hang: true }];
    agent.send(userMessage(script(steps)));
    await agent.waitFor((line) => line['type'] === 'assistant');
    agent.send({ type: 'control_request', request_id: 'i', request: { subtype: 'interrupt' } });
    agent.closeInput();
    agent.kill('SIGTERM');
    expect(await agent.endsWithin(300)).toBe(false);
    agent.kill('SIGKILL');
    expect(await agent.ended).toMatchObject({ signal: 'SIGKILL' });
    expect(kindsOf(agent.lines())).not.toContain('control_response');
  });

  it('ends by the signal that it sends itself', async () => {
    const agent = startAgent();
    agent.send(userMessage(script([{ selfKill: 'SIGKILL' }])));
    expect(await agent.ended).toMatchObject({ signal: 'SIGKILL' });
  });
});

describe('resources', () => {
  it('fills a file to the requested size, and reports what stopped it', async () => {
    const folder = newFolder();
    const steps = [{ fill: { path: 'big', mb: 3 } }, { fill: { path: '/dev/full', mb: 1 } }];
    const { lines } = await runAgent(script(steps), { folder });
    expect(statSync(join(folder, 'big')).size).toBe(3 * 1024 * 1024);
    const results = lines.flatMap((line) => line['tool_use_result'] ?? []);
    expect(results).toEqual(['Wrote 3 MB', expect.stringContaining('ENOSPC')]);
  });

  it('allocates the requested memory', async () => {
    const { lines } = await runAgent(script([{ oom: 32 }]));
    expect(textsOf(lines)).toEqual(['Holding 32 MB']);
  });

  it('repeats steps and waits for a file', async () => {
    const agent = startAgent();
    const steps = [{ repeat: 2, steps: [{ waitForFile: 'go{{n}}' }, { say: 'round {{n}}' }] }];
    agent.send(userMessage(script(steps)));
    agent.touch('go1');
    await agent.waitFor((line) => JSON.stringify(line).includes('"text":"round 1"'));
    agent.touch('go2');
    agent.closeInput();
    await agent.ended;
    expect(textsOf(agent.lines())).toEqual(['round 1', 'round 2']);
  });
});
