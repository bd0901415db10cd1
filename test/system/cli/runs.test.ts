// The served command line as a user's shell starts it, and the first run, on the real service.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { script } from '../../support/prompts.ts';
import { asking, colour } from '../../support/questions.ts';
import { type RemoteCli, remoteCli, storedEventsIn } from '../../support/remote-cli.ts';
import { type Service, startService } from '../../support/service.ts';
import { story, storyPrompt } from '../../support/stream-story.ts';
import { helloTests } from './hello-tests.ts';

let service: Service;
let flowrun: RemoteCli;
beforeAll(async () => {
  service = await startService({ flow: { name: 'writer' } });
  flowrun = remoteCli({ FLOWRUN_URL: service.url, FLOWRUN_KEY: service.key });
}, 240_000);
afterAll(async () => {
  flowrun?.remove();
  await service?.stop();
});

const hanging = script([{ say: 'I wait.' }, { hang: true }]);
interface Ended {
  runId: string;
}

const runIdIn = (text: string): string => /Run ([0-9a-f-]{36})/.exec(text)?.[1] ?? '';

describe('run', () => {
  it('prints the answer, shows the progress beside it, and downloads the files', async () => {
    mkdirSync(join(flowrun.home, 'in'), { recursive: true });
    writeFileSync(join(flowrun.home, 'in/given.md'), 'given');
    const options = ['-l', 'order=4711', '-f', 'in', '--name', 'the story', '--pull', 'out'];
    const { code, out, err } = await flowrun('run', 'writer', storyPrompt(), ...options);
    expect({ code, out }, err).toEqual({ code: 0, out: `${story.farewell}\n` });
    expect(err).toContain(story.greeting);
    const pulled = (path: string): string => readFileSync(join(flowrun.home, 'out', path), 'utf8');
    expect([pulled(story.file), pulled('in/given.md')]).toEqual([story.content, 'given']);

    const listed = await flowrun('runs', '-l', 'order=4711', '--flow', 'wri');
    expect(listed.out).toContain(runIdIn(err).slice(0, 8));
    expect(listed.out).toMatch(/writer +completed .*the story +order=4711/);
    const byName = await flowrun('files', 'cat', 'the story', story.file);
    expect(byName.out).toBe(story.content);
    const byPrefix = await flowrun('files', 'ls', runIdIn(err).slice(0, 8), 'notes');
    expect(byPrefix.out).toMatch(/^SIZE.*\n\d+ .* notes\/hello.txt\n$/);
    const log = await flowrun('logs', runIdIn(err));
    expect(log.out).toContain(`${story.greeting}\n`);
    const diff = await flowrun('diff', runIdIn(err));
    expect(diff.out).toContain(`+++ b/${story.file}`);
    const changes = await flowrun('diff', runIdIn(err), '--stat');
    expect(changes.out).toBe(`STATUS  PATH\nadded   ${story.file}\n`);
    const usage = await flowrun('usage', '--by', 'label:order', '--json');
    expect(JSON.parse(usage.out)).toContainEqual(
      expect.objectContaining({ label: '4711', runs: 1, costUsd: expect.any(Number) }),
    );
  });

  it('shows the answer once in a terminal', async () => {
    const run = flowrun.inTerminal('run', 'writer', script([{ say: 'It is written.' }]));
    const { code, out } = await run.ended;
    expect(code, out).toBe(0);
    expect(out.split(/\r?\n/).filter((line) => line === 'It is written.')).toHaveLength(1);
  });

  it('shows a question, which another command answers', async () => {
    const run = flowrun.start('run', 'writer', asking([colour]), '--wait');
    await run.untilErr('The agent asks: Which colour?');
    const runId = runIdIn(run.err());
    const asked = await flowrun('answer', runId, '--json');
    expect(JSON.parse(asked.out)).toMatchObject([{ questions: [{ question: 'Which colour?' }] }]);
    expect((await flowrun('answer', runId, 'Red', 'Blue')).code).toBe(2);
    expect((await flowrun('answer', runId, '2')).code).toBe(0);
    expect(await run.ended).toMatchObject({ code: 0, out: 'Done.\n' });
    expect((await flowrun('answer', runId)).err).toBe('The agent has no open question.\n');
  });

  it('prints events whose IDs equal those of the log, and ends with it', async () => {
    const run = await flowrun('run', 'writer', storyPrompt(), '--json');
    expect(run.code).toBe(0);
    const log = await flowrun('logs', '@', '--json');
    expect(storedEventsIn(run.out)).toEqual(storedEventsIn(log.out));
    const followed = await flowrun('logs', '-f', '@', '--json');
    expect(storedEventsIn(followed.out)).toEqual(storedEventsIn(log.out));
  });

  it('waits silently, and prints one object', async () => {
    const print = `printf %s "$FLOW_CTX_TICKET" > ticket.txt`;
    const prompt = script([{ shell: print }, { say: 'Done.' }]);
    const run = await flowrun('run', 'writer', prompt, '--wait', '--json', '-i', 'ticket=Grüße');
    expect(run).toMatchObject({ code: 0, err: '' });
    const { runId } = JSON.parse(run.out) as { runId: string };
    expect(JSON.parse(run.out)).toMatchObject({ status: 'sleep', result: 'Done.' });
    expect((await flowrun('files', 'cat', runId, 'ticket.txt')).out).toBe('Grüße');
  });

  it.each([
    ['an agent that fails', [], [{ exit: 7 }], 10, 'Process exited with code 7'],
    ['a time limit', ['--timeout-seconds', '1'], [{ hang: true }], 12, 'timed_out'],
  ])('ends with the exit code of %s', async (_, options, steps, code, message) => {
    const run = await flowrun('run', 'writer', script(steps), '--wait', ...options);
    expect(run).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
  });

  it('detaches at once, and is stopped by its ID', async () => {
    const run = await flowrun('run', 'writer', hanging, '--detach');
    expect(run.code).toBe(0);
    expect(await flowrun('stop', run.out.trim())).toMatchObject({ code: 0 });
    const followed = await flowrun('logs', '-f', run.out.trim());
    expect(followed).toMatchObject({ code: 11, err: expect.stringContaining('stopped_by_api') });
  });
});

describe('retry', () => {
  it('starts an ended run again with its input, and follows it', async () => {
    const print = 'cat given.md; printf %s "$FLOW_CTX_TICKET" > ticket.txt';
    const prompt = script([{ shell: print }, { say: 'Done.' }]);
    writeFileSync(join(flowrun.home, 'given.md'), 'given');
    const options = ['-f', 'given.md', '-i', 'ticket=1', '--wait', '--json'];
    const first = JSON.parse((await flowrun('run', 'writer', prompt, ...options)).out) as Ended;
    const refused = await flowrun('retry', first.runId);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('X-Ctx-*') });
    const again = await flowrun('retry', first.runId.slice(0, 8), '-i', 'ticket=2');
    expect(again).toMatchObject({ code: 0, out: 'Done.\n' });
    const runId = runIdIn(again.err);
    expect(runId).not.toBe(first.runId);
    expect((await flowrun('files', 'cat', '@', 'given.md')).out).toBe('given');
    expect((await flowrun('files', 'cat', runId, 'ticket.txt')).out).toBe('2');
    const other = await flowrun('retry', '@', script([{ say: 'Other.' }]), '-i', 'ticket=3');
    expect(other).toMatchObject({ code: 0, out: 'Other.\n' });
  });
});

describe('Ctrl-C', () => {
  const stateOf = async (runId: string) =>
    (await service.call<{ status: string; stopping?: true }>('GET', `/runs/${runId}`)).data;

  it('detaches, and the run continues', async () => {
    const run = flowrun.start('run', 'writer', hanging);
    await run.untilErr('I wait.');
    run.signal('SIGINT');
    const { code, err } = await run.ended;
    expect(code).toBe(130);
    const runId = runIdIn(err);
    expect(err).toContain(`flowrun logs -f ${runId.slice(0, 8)}`);
    expect(await stateOf(runId)).toMatchObject({ status: 'running' });
    expect((await flowrun('stop', runId)).code).toBe(0);
  });

  it('stops the run at the second time', async () => {
    const run = flowrun.start('run', 'writer', hanging);
    await run.untilErr('I wait.');
    run.signal('SIGINT');
    await run.untilErr('Press Ctrl-C again');
    run.signal('SIGINT');
    expect(await run.ended).toMatchObject({ code: 11 });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('stops the run in a script at %s', async (signal) => {
    const run = flowrun.start('run', 'writer', hanging, '--stop-on-interrupt');
    await run.untilErr('I wait.');
    run.signal(signal);
    expect(await run.ended).toMatchObject({ code: 11 });
  });
});

describe('chat', () => {
  it('takes each line as a message, and continues a session', async () => {
    const chat = flowrun.start('chat', 'writer', '--session', 'ticket-1');
    chat.write(`${script([{ say: 'One.' }])}\n\n`);
    await chat.untilOut('One.');
    chat.write(`${script([{ say: 'Two.' }])}\n`);
    chat.closeInput();
    expect(await chat.ended).toMatchObject({ code: 0, out: 'One.\nTwo.\n' });
    const once = await flowrun(
      'chat',
      'writer',
      script([{ say: 'Three.' }]),
      '--session',
      'ticket-1',
    );
    expect(once).toMatchObject({ code: 0, out: 'Three.\n' });
    const log = await flowrun('logs', 'ticket-1');
    expect(log.out).toMatch(/One\.\n.*Two\.\n.*Three\.\n/s);
  });

  it('asks the questions of the agent, and takes the next line as the answer', async () => {
    const chat = flowrun.start('chat', 'writer');
    chat.write(`${asking([colour]).split('\n')[0]}\n`);
    await chat.untilErr('2) Blue - as the sky');
    chat.write('2\n');
    await chat.untilOut('Done.');
    chat.closeInput();
    expect(await chat.ended).toMatchObject({ code: 0, out: 'Done.\n' });
  });

  it('interrupts the turn at Ctrl-C, and continues', async () => {
    const chat = flowrun.start('chat', 'writer');
    chat.write(`${hanging}\n`);
    await chat.untilOut('I wait.');
    chat.signal('SIGINT');
    await chat.untilErr('The turn has been interrupted.');
    chat.write(`${script([{ say: 'Still here.' }])}\n`);
    chat.closeInput();
    expect(await chat.ended).toMatchObject({
      code: 0,
      out: expect.stringContaining('Still here.'),
    });
  });
});

describe('hello', () => helloTests(() => service));
