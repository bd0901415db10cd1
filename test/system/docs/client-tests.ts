import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { codeBlockOf, codeBlocksOf, fillIn } from '../../support/code-blocks.ts';
import type { Acme } from '../../support/open-acme.ts';
import { saying, script } from '../../support/prompts.ts';
import { untilWebhook } from '../../support/received-webhook.ts';
import { runShell } from '../../support/run-shell.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';

const page = 'docs/client.md';
const imports = `
import * as client from '@flowrun/client';
const { Flowrun, emptyTranscript, extendTranscript, verifyWebhook } = client;
const flowrun = new Flowrun();`;

export function clientTests(acme: () => Acme): void {
  let folder: string;
  let env: Record<string, string | undefined>;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'client-'));
    const { service, operate } = acme();
    await operate(`
      ./flowrun flow create --project acme --name triage
      ./flowrun flow create --project acme --name support`);
    const key = (await operate('./flowrun key create --project acme --name client')).trim();
    const setUp = fillIn(codeBlockOf(page, 'sh'), {
      'http://127.0.0.1:8080': service.url,
      'frs_…': key,
    });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const offline = { npm_config_registry: 'http://127.0.0.1:9/', HOME: folder };
    const { PATH } = process.env;
    const { code, out, err } = await runShell(`${setUp}\necho "$FLOWRUN_URL $FLOWRUN_KEY"`, {
      cwd: folder,
      env: { PATH, ...offline },
    });
    expect(code, err).toBe(0);
    const [FLOWRUN_URL, FLOWRUN_KEY] = out.trim().split('\n').at(-1)?.split(' ') ?? [];
    env = { PATH, FLOWRUN_URL, FLOWRUN_KEY };
    symlinkSync(join(repository, 'node_modules/zod'), join(folder, 'node_modules/zod'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function runCode(code: string, more: Record<string, string> = {}): Promise<string> {
    writeFileSync(join(folder, 'example.ts'), code);
    const end = await runShell('node example.ts', { cwd: folder, env: { ...env, ...more } });
    expect(end.code, end.err).toBe(0);
    return end.out;
  }

  const blocks = codeBlocksOf(page).filter(({ language }) => language === 'ts');
  /** The block that has this text, which runs after the code before it. */
  const blockWith = (text: string): string => {
    const found = blocks.filter(({ code }) => code.includes(text));
    expect(found).toHaveLength(1);
    return found[0]?.code ?? '';
  };

  it('has a test for each of its blocks', () => {
    expect(blocks).toHaveLength(6);
  });

  it('runs the first example', async () => {
    // This agent repeats its prompt and calls no model.
    expect(await runCode(codeBlockOf(page, 'js'))).toMatch(
      /> Write hello\.md\n.*\nWrite hello\.md null\n$/s,
    );
  });

  it('returns a typed result', async () => {
    const structured = { result: 'Low.', structured_output: { severity: 'low' } };
    const before = `${imports}\nimport { z } from 'zod'; const prompt = process.env.PROMPT;`;
    const code = `${before}\n${blockWith('severity')}\nconsole.log(structured.severity);`;
    expect(await runCode(code, { PROMPT: script([{ result: structured }]) })).toBe('low\n');
  });

  it('sends, lists, reads and downloads files, and shows changes', async () => {
    const write = (path: string, content: string) => ({ write: { path, content } });
    const steps = [
      write('hello.md', 'Hi'),
      write('out/a.txt', 'a'),
      { say: 'Ready.' },
      { hang: true },
    ];
    const before = `${imports}
      const run = await flowrun.run('writer', { prompt: process.env.PROMPT });
      const isReady = ({ type, data }) => type === 'assistant' && /Ready/.test(JSON.stringify(data));
      for await (const event of run.events()) if (isReady(event)) break;`;
    const after = 'console.log(text); console.log(patch); await run.stop();';
    const code = [before, blockWith('files.pull'), after].join('\n');
    const out = await runCode(code, { PROMPT: script(steps) });
    expect(out).toMatch(/^out\/a\.txt 1\nHi\n.*\+\+\+ b\/hello\.md\n.*\+Hi\n/s);
    expect(readFileSync(join(folder, 'out/in/notes.md'), 'utf8')).toBe('Hello');
  });

  it('replaces the files of a flow, and adds one', async () => {
    await runCode(`${imports}\n${blockWith('flowFiles')}`);
    const { data } = await acme().api.call('GET', `/flows/${acme().flowId}/files`);
    expect(data).toMatchObject([{ path: 'CLAUDE.md' }, { path: 'notes.md' }]);
  });

  it('sends a message of a session', async () => {
    const code = [imports, blockWith('flowrun.session('), 'console.log({ exitCode });'].join('\n');
    expect(await runCode(code)).toMatch(/What is this ticket about\?.*\{ exitCode: 0 \}\n$/s);
  });

  it('verifies a webhook', async () => {
    const { api, operate } = acme();
    const receiver = await startReceiver();
    const callbackUrl = `${receiver.url}/hook`;
    const { runId } = await api.trigger({ prompt: saying('Done.'), callbackUrl });
    const shown = await operate('./flowrun project webhook-secret acme --json');
    await untilWebhook(api, { runId }, 'delivered');
    const [post] = receiver.posts;
    await receiver.close();
    const { webhookSecret } = JSON.parse(shown) as { webhookSecret: string };
    const before = `${imports}
      const { secret, headers, rawBody } = JSON.parse(process.env.RECEIVED);
      const request = { headers, rawBody };`;
    const received = { secret: webhookSecret, headers: post?.headers, rawBody: post?.body };
    const code = `${before}\n${blockWith('verifyWebhook(request, secret)')}`;
    const out = await runCode(code, { RECEIVED: JSON.stringify(received) });
    expect(out).toBe(`${runId} undefined\n`);
  });

  it('builds a conversation from the events of a run', async () => {
    const before = `${imports}
      const run = await flowrun.run('writer', { prompt: process.env.PROMPT });
      let shown; const show = (entries, text) => { shown = entries; };`;
    const code = `${before}\n${blockWith('emptyTranscript')}\nconsole.log(JSON.stringify(shown));`;
    expect(await runCode(code, { PROMPT: saying('It is written.') })).toContain('It is written.');
  });
}
