import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { codeBlockOf, codeBlocksOf, commandsIn } from '../../support/code-blocks.ts';
import type { Acme } from '../../support/open-acme.ts';
import { saying } from '../../support/prompts.ts';
import { followQuickStart, quickStart, startCommand } from '../../support/quick-start.ts';
import { untilWebhook } from '../../support/received-webhook.ts';
import { runShell } from '../../support/run-shell.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';

/** These need compose, whose tests run them, or run the tests. */
const elsewhere = [
  /^docker (?:compose )?version /,
  /^docker compose up -d --wait$/,
  /^npm (?:run demo|test) /,
];

export function readmeTests(acme: () => Acme): void {
  const ran = new Set(quickStart);

  /** Runs the commands of a block. A run that one has started is `$RUN` for the next ones. */
  async function run(block: string, values: Record<string, string>): Promise<string[]> {
    const outputs: string[] = [];
    let [settings, runId] = ['', ''];
    for (const command of commandsIn(block)) {
      ran.add(command);
      const script = Object.entries(values).reduce((text, [from, to]) => {
        return text.replaceAll(from, to);
      }, command);
      if (script.startsWith('export ')) {
        settings += `${script}\n`;
        continue;
      }
      const env = { ...acme().env, RUN: runId };
      const { code, out, err } = await runShell(settings + script, { cwd: acme().folder, env });
      expect(code, `${script}\n${err}`).toBe(0);
      outputs.push(out);
      runId = /"runId":"([^"]+)"/.exec(out)?.[1] ?? runId;
    }
    return outputs;
  }

  it('leads from the start of the service to a streamed run, and to one from the shell', async () => {
    expect(startCommand).toBe('docker compose up -d --wait');
    await followQuickStart({ ...acme(), url: acme().service.url });
  });

  it('starts a run, streams it to its end, and chats', async () => {
    const { service, flowId, operate } = acme();
    const values = {
      'http://127.0.0.1:8080': service.url,
      'frs_…': (await operate('./flowrun key create --project acme --name readme')).trim(),
      'FLOW=…': `FLOW=${flowId}`,
    };
    const [trigger = '', chat = ''] = codeBlocksOf('README.md')
      .filter(({ language, code }) => language === 'sh' && code.includes('curl'))
      .map(({ code }) => code);
    const [started = '', stream] = await run(trigger, values);
    expect(JSON.parse(started)).toMatchObject({ data: { labels: { order: '4711' } } });
    expect(stream).toMatch(/event: finished\ndata: .*"reason":"completed"/);
    const [setUp = ''] = commandsIn(trigger);
    const [, answer = ''] = await run(`${setUp}\n${chat}`, values);
    expect(JSON.parse(answer)).toMatchObject({ data: { sessionId: 'ticket-4711' } });
  });

  it.each(['README.md', 'docs/api/webhooks.md'])('verifies a webhook by %s', async (page) => {
    const { api, operate } = acme();
    const receiver = await startReceiver();
    const callbackUrl = `${receiver.url}/hook`;
    const { runId } = await api.trigger({ prompt: saying('Done.'), callbackUrl });
    const shown = await operate('./flowrun project webhook-secret acme --json');
    await untilWebhook(api, { runId }, 'delivered');
    const [post] = receiver.posts;
    await receiver.close();
    const { webhookSecret: secret } = JSON.parse(shown) as { webhookSecret: string };
    const signature = String(post?.headers['x-service-signature']);
    const given = { signature, secret, rawBody: post?.body };
    const variables = { ...given, Buffer, createHmac, timingSafeEqual };
    const names = page === 'README.md' ? 'v1 === expected' : 'genuine';
    const check = `${codeBlockOf(page, 'js')};\n${names}`;
    expect(runInNewContext(check, { ...variables })).toBe(true);
    expect(runInNewContext(check, { ...variables, secret: 'x' })).toBe(false);
  });

  it('sets the model key and starts the first run like the page on the first start', async () => {
    const blocks = codeBlocksOf('docs/start.md').filter(({ language }) => language === 'sh');
    const commands = blocks
      .flatMap(({ code }) => commandsIn(code))
      .filter((command) => !elsewhere.some((pattern) => pattern.test(command)));
    const values = { 'http://127.0.0.1:8080': acme().service.url };
    const outputs = await run(commands.join('\n'), values);
    expect(readFileSync(join(acme().folder, '.env'), 'utf8')).toBe('ANTHROPIC_API_KEY=sk-ant-…\n');
    expect(outputs[1]).toMatch(/^\{"data":\{"status":"ok"/);
    expect(outputs[2]).toContain('cli.tgz login');
  });

  it('has run all commands of both pages that need no compose', () => {
    const commands = ['README.md', 'docs/start.md']
      .flatMap(codeBlocksOf)
      .filter(({ language }) => language === 'sh')
      .flatMap(({ code }) => commandsIn(code))
      .filter((command) => !elsewhere.some((pattern) => pattern.test(command)));
    expect(commands.length).toBeGreaterThan(8);
    expect(commands.filter((command) => !ran.has(command))).toEqual([]);
  });
}
