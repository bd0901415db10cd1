import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { script } from '../../support/prompts.ts';
import { newFolder, nextUuid, runAgent, startAgent, userMessage } from './agent-process.ts';
import { kindsOf, textsOf } from './lines.ts';

describe('one turn', () => {
  it('prints the same lines as the agent CLI in the same order, and exits 0 at the end of input', async () => {
    const { code, lines } = await runAgent('Hello');
    expect(code).toBe(0);
    expect(kindsOf(lines)).toEqual([
      'command_lifecycle queued',
      'command_lifecycle started',
      'system init',
      'user',
      'assistant',
      'result success',
      'command_lifecycle completed',
    ]);
    expect(lines[3]).toMatchObject({ isReplay: true, message: { content: 'Hello' } });
    expect(textsOf(lines)).toEqual(['Hello']);
    expect(lines[5]).toMatchObject({ is_error: false, result: 'Hello', num_turns: 1 });
  });

  it('prints token events around each assistant line if enabled', async () => {
    const prompt = script([{ think: 'Hm' }, { say: 'A text of several pieces.' }]);
    const { lines } = await runAgent(prompt, { args: ['--include-partial-messages'] });
    const events = lines.flatMap((line) =>
      line['type'] === 'stream_event' ? [line['event']] : [],
    );
    expect(JSON.stringify(events)).toContain('thinking_delta');
    expect(kindsOf(lines).filter((kind) => kind === 'assistant')).toHaveLength(2);
    const deltas = JSON.stringify(events).matchAll(/"type":"text_delta","text":"([^"]*)"/g);
    expect([...deltas].map((match) => match[1]).join('')).toBe('A text of several pieces.');
  });

  it('runs tools and prints their results', async () => {
    const steps = [
      { write: { path: 'sub/a.txt', content: 'x' } },
      { shell: 'cat sub/a.txt; exit 3' },
    ];
    const { lines } = await runAgent(script(steps));
    const results = lines.filter((line) => 'tool_use_result' in line);
    expect(results.map((line) => line['tool_use_result'])).toEqual([
      expect.stringMatching(/created successfully/),
      'Exit code 3\nx',
    ]);
    expect(lines.find((line) => line['type'] === 'result')).toMatchObject({ num_turns: 3 });
  });
});

describe('messages', () => {
  it('runs a repeated uuid once and echoes it the second time', async () => {
    const agent = startAgent();
    const message = userMessage('once');
    agent.send(message);
    await agent.waitFor((line) => line['state'] === 'completed');
    agent.send(message);
    agent.closeInput();
    expect(await agent.ended).toMatchObject({ code: 0 });
    expect(kindsOf(agent.lines()).filter((kind) => kind.startsWith('result'))).toHaveLength(1);
    expect(agent.lines().filter((line) => line['isReplay'] === true)).toHaveLength(2);
  });

  it('merges messages that arrive during a turn into the next turn, with one result', async () => {
    const agent = startAgent();
    agent.send(userMessage(script([{ waitForFile: 'go' }])));
    await agent.waitFor((line) => line['state'] === 'started');
    const [second, third] = [nextUuid(), nextUuid()];
    agent.send(userMessage('second', second));
    agent.send(userMessage('third', third));
    await agent.waitFor((line) => line['command_uuid'] === third);
    agent.touch('go');
    agent.closeInput();
    await agent.ended;
    expect(kindsOf(agent.lines()).filter((kind) => kind.startsWith('result'))).toHaveLength(2);
    expect(textsOf(agent.lines())).toEqual(['second', 'third']);
  });

  it('starts a turn when background work ends, even after the end of input', async () => {
    const steps = [{ say: 'later' }, { background: { sleepMs: 50, steps: [{ say: 'now' }] } }];
    const { lines, code } = await runAgent(script(steps));
    expect(code).toBe(0);
    expect(kindsOf(lines).slice(-6)).toEqual([
      'command_lifecycle completed',
      'system task_notification',
      'system background_tasks_changed',
      'system init',
      'assistant',
      'result success',
    ]);
    expect(lines.at(-1)).toMatchObject({ result: 'now', origin: { kind: 'task-notification' } });
  });

  it('accepts a message of a megabyte in several chunks, and splits lines only at newlines', async () => {
    const text = `grün\u2028${'x'.repeat(1024 * 1024)}`;
    const { lines } = await runAgent(text);
    expect(textsOf(lines)).toEqual([text]);
  });

  it('exits 1 on a torn line', async () => {
    const agent = startAgent();
    agent.sendText('{"type":"us{"type":"user"}\n');
    expect(await agent.ended).toMatchObject({ code: 1 });
    expect(agent.errors()).toContain('Error parsing streaming input line');
  });

  it('reports an invalid script in the result', async () => {
    const { code, lines } = await runAgent(script([{ sya: 'typo' }]));
    expect(code).toBe(1);
    expect(lines.at(-2)).toMatchObject({ is_error: true, errors: ['no step is called sya'] });
  });
});

describe('control requests', () => {
  const interrupt = {
    type: 'control_request',
    request_id: 'r1',
    request: { subtype: 'interrupt' },
  };

  it('ends the turn on an interrupt, kills its tool, and takes the next message', async () => {
    const folder = newFolder();
    const agent = startAgent({ folder });
    const shell = 'echo $$ > half; mv half pid; sleep 100; true';
    agent.send(userMessage(script([{ shell }, { say: 'never' }])));
    await vi.waitUntil(() => existsSync(join(folder, 'pid')), 20_000);
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    agent.send(interrupt);
    const result = await agent.waitFor((line) => line['type'] === 'result');
    expect(result).toMatchObject({ is_error: true, subtype: 'error_during_execution' });
    await agent.waitFor((line) => line['state'] === 'cancelled');
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    agent.send(userMessage('next'));
    agent.closeInput();
    expect(await agent.ended).toMatchObject({ code: 0 });
    expect(textsOf(agent.lines())).toEqual(['next']);
  });

  it('exits 1 when the input ends after an interrupt', async () => {
    const agent = startAgent();
    agent.send(userMessage(script([{ hang: true }])));
    await agent.waitFor((line) => line['isReplay'] === true);
    agent.send(interrupt);
    await agent.waitFor((line) => line['type'] === 'result');
    agent.closeInput();
    expect(await agent.ended).toMatchObject({ code: 1 });
  });

  it('accepts a system prompt and MCP servers after its start, and rejects unknown requests', async () => {
    const agent = startAgent();
    const requests = [
      { subtype: 'initialize', appendSystemPrompt: 'Be kind' },
      { subtype: 'mcp_set_servers', servers: { docs: { type: 'http', url: 'https://x.test' } } },
      { subtype: 'nonsense' },
    ];
    for (const request of requests) {
      agent.send({ type: 'control_request', request_id: request.subtype, request });
    }
    agent.send(userMessage(script([{ systemPrompt: true }, { mcpServers: true }])));
    agent.closeInput();
    await agent.ended;
    const answers = agent.lines().filter((line) => line['type'] === 'control_response');
    expect(JSON.stringify(answers[2])).toContain('"subtype":"error"');
    expect(textsOf(agent.lines())).toEqual(['Be kind', expect.stringContaining('https://x.test')]);
  });
});

describe('the command line', () => {
  it.each([
    [['--bogus'], "unknown option '--bogus'"],
    [['--resume', nextUuid()], 'No conversation found'],
    [['--session-id', 'not-a-uuid'], 'Invalid session ID'],
    [['--max-turns'], 'argument missing'],
  ])('rejects %j as the CLI does', async (args, message) => {
    const { code, errors } = await runAgent('hi', { args });
    expect(code).toBe(1);
    expect(errors).toContain(message);
  });

  it('passes every argument through unchanged', async () => {
    const tools = ['Bash(git:*)', 'WebFetch', 'two words\nand a line'];
    const { lines } = await runAgent(script([{ argv: true }]), {
      args: ['--disallowedTools', ...tools, '--max-turns', '3'],
    });
    const argv: unknown = JSON.parse(textsOf(lines)[0] ?? '');
    expect(argv).toEqual(expect.arrayContaining(tools));
    expect(lines.find((line) => line['subtype'] === 'init')).toMatchObject({
      tools: ['Bash', 'Edit', 'Read', 'Write'],
    });
  });

  it('enforces disallowed tools, turns and budget', async () => {
    const folder = newFolder();
    const steps = [{ shell: 'git status' }, { shell: 'echo ran' }, { shell: 'touch third' }];
    const args = ['--disallowedTools', 'Bash(git:*)', '--max-turns', '2'];
    const { lines, code } = await runAgent(script(steps), { folder, args });
    expect(code).toBe(1);
    expect(kindsOf(lines)).toContain('system permission_denied');
    expect(lines.at(-2)).toMatchObject({ subtype: 'error_max_turns', is_error: true });
    const costly = await runAgent(script([{ costUsd: 2 }]), { args: ['--max-budget-usd', '1'] });
    expect(costly.lines.at(-2)).toMatchObject({ subtype: 'error_max_budget_usd' });
  });
});
