import { expect, it } from 'vitest';
import { codeBlockOf } from '../../support/code-blocks.ts';
import type { Acme } from '../../support/open-acme.ts';
import { saying } from '../../support/prompts.ts';
import { untilWebhook } from '../../support/received-webhook.ts';
import { startProgram } from './start-program.ts';
import { endToEnd, startTlsFront } from './tls-front.ts';

const page = 'docs/recipes/standard-webhooks.md';

export function standardWebhooksTests(acme: () => Acme): void {
  it('accepts the webhook of a run once, and no forged or changed one', async ({
    onTestFinished,
  }) => {
    const shown = await acme().operate(`${codeBlockOf(page, 'sh').trim()} --json`);
    const { standardWebhookSecret } = JSON.parse(shown) as { standardWebhookSecret: string };
    const receiver = await startProgram(codeBlockOf(page, 'js'), 'standardwebhooks', {
      WEBHOOK_SECRET: standardWebhookSecret,
    });
    onTestFinished(receiver.stop);
    const front = await startTlsFront(receiver.url);
    onTestFinished(front.close);
    const { runId } = await acme().api.trigger({
      prompt: saying('Done.'),
      callbackUrl: `${front.url}/hook`,
    });
    const printed = `${runId} completed\n`;
    await expect.poll(receiver.log, { timeout: 60_000 }).toBe(printed);
    await untilWebhook(acme().api, { runId }, 'delivered');

    const { headers = {}, body = '' } = front.posts[0] ?? {};
    const send = async (changed: Record<string, string>, text = body) => {
      const options = { method: 'POST', headers: { ...endToEnd(headers), ...changed }, body: text };
      return (await fetch(receiver.url, options)).status;
    };
    expect(await send({})).toBe(204);
    expect(receiver.log()).toBe(printed);
    expect(await send({}, body.replace('completed', 'failed').replace(runId, 'x'))).toBe(400);
    expect(await send({ 'webhook-timestamp': '1614265330' })).toBe(400);
    expect(await send({ 'webhook-id': 'other' })).toBe(400);
    expect(await send({ 'webhook-signature': '' })).toBe(400);
  });
}
