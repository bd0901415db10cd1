import { expect, it, type TestContext } from 'vitest';
import { codeBlockOf, fillIn } from '../../support/code-blocks.ts';
import type { Acme } from '../../support/open-acme.ts';
import { asking, colour, rooms, size } from '../../support/questions.ts';
import { buttonsOf, clickRequest, startSlackApi } from './slack-api.ts';
import { startProgram } from './start-program.ts';
import { endToEnd, startTlsFront } from './tls-front.ts';

const page = 'docs/recipes/slack-questions.md';
const [botToken, signingSecret] = ['xoxb-17653672481', '8f742231b10e8888abcd99yyyzzz85a5'];
const patiently = { timeout: 60_000 };

export function slackQuestionsTests(acme: () => Acme): void {
  /** The server of the page, as a webhook endpoint of the project, and a stand-in for Slack. */
  async function start({ onTestFinished }: TestContext) {
    const { service, operate } = acme();
    const key = (await operate(codeBlockOf(page, 'sh'))).trim();
    const slack = await startSlackApi(botToken);
    onTestFinished(slack.close);
    const secretCommand = './flowrun project webhook-secret acme --json';
    const { webhookSecret } = JSON.parse(await operate(secretCommand)) as { webhookSecret: string };
    const server = await startProgram(codeBlockOf(page, 'js'), '@flowrun/client', {
      ...{ FLOWRUN_URL: service.url, FLOWRUN_KEY: key, WEBHOOK_SECRET: webhookSecret },
      ...{ SLACK_BOT_TOKEN: botToken, SLACK_SIGNING_SECRET: signingSecret },
      ...{ SLACK_CHANNEL: 'C0123456789', SLACK_API_URL: `${slack.url}/api` },
    });
    onTestFinished(server.stop);
    const front = await startTlsFront(server.url);
    onTestFinished(front.close);
    await operate(fillIn(codeBlockOf(page, 'sh', 1), { 'https://questions.example': front.url }));
    const click = async (label: string, values: Record<string, object> = {}, at?: number) => {
      const button = buttonsOf(slack.messages.at(-1)).get(label);
      const responseUrl = `${slack.url}/response`;
      const request = clickRequest({ button, values, responseUrl }, signingSecret, at);
      return (await fetch(`${server.url}/slack`, request)).status;
    };
    return { slack, server, front, click };
  }

  const resultOf = async (runId: string): Promise<string> => {
    await acme().api.untilEnded(runId);
    const path = `/runs/${runId}/logs?format=structured&channel=all&limit=1000`;
    return JSON.stringify((await acme().api.call('GET', path)).body);
  };

  it('shows questions with buttons and menus, and gives the answer of a click to the agent', async (context) => {
    const { slack, server, front, click } = await start(context);
    const single = await acme().api.trigger({ prompt: asking([colour]) });
    await expect.poll(() => slack.messages.length, patiently).toBe(1);
    expect([...buttonsOf(slack.messages[0]).keys()]).toEqual(['Red', 'Blue']);
    expect(slack.messages[0]?.blocks[0]).toMatchObject({
      text: { text: 'Which colour?\n• Red: as blood\n• Blue: as the sky' },
    });
    const { path = '', headers = {}, body = '' } = front.posts[0] ?? {};
    const repeated = { method: 'POST', body, headers: endToEnd(headers) };
    expect((await fetch(`${server.url}${path}`, repeated)).status).toBe(200);
    expect((await fetch(`${server.url}${path}`, { ...repeated, body: `${body} ` })).status).toBe(
      400,
    );
    expect(slack.messages).toHaveLength(1);

    expect(await click('Blue', {}, Date.now() - 400_000)).toBe(400);
    expect(await click('Blue')).toBe(200);
    expect(await resultOf(single.runId)).toContain('Blue');
    expect(await click('Red')).toBe(200);
    await expect
      .poll(() => slack.replies, patiently)
      .toMatchObject([
        {
          replace_original: true,
          blocks: [{ text: { text: 'Which colour? Blue\nAnswered by ana.' } }],
        },
        { replace_original: false, text: 'This question has been answered already.' },
      ]);

    const several = await acme().api.trigger({ prompt: asking([rooms, size]) });
    await expect.poll(() => slack.messages.length, patiently).toBe(2);
    const chosen = (...values: string[]) => values.map((value) => ({ value }));
    expect(await click('Answer', { 0: { choice: { selected_options: [] } } })).toBe(200);
    await expect.poll(() => slack.replies.at(-1)?.text, patiently).toContain('Choose an answer');
    await click('Answer', {
      0: { choice: { selected_options: chosen('0', '1') } },
      1: { choice: { selected_option: chosen('1')[0] } },
    });
    const log = await resultOf(several.runId);
    expect(log).toContain('Red, Blue');
    expect(slack.replies.at(-1)?.blocks?.[0]).toMatchObject({
      text: { text: 'Which rooms? Red, Blue\nHow large? Blue\nAnswered by ana.' },
    });
  });
}
