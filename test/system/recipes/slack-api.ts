// A stand-in for Slack: the method `chat.postMessage`, the limits of Block Kit, and the requests
// that a click sends, by their published descriptions.

import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { type Exchange, startStandIn } from './stand-in.ts';

const plainText = (max: number) =>
  z.strictObject({ type: z.literal('plain_text'), text: z.string().min(1).max(max) });
const button = z.strictObject({
  type: z.literal('button'),
  action_id: z.string().max(255),
  text: plainText(75),
  value: z.string().max(2_000).optional(),
});
const options = z
  .array(z.strictObject({ text: plainText(75), value: z.string().max(150) }))
  .min(1)
  .max(10);
const menu = z.strictObject({
  type: z.enum(['radio_buttons', 'checkboxes']),
  action_id: z.string().max(255),
  options,
});
const block = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('section'), text: plainText(3_000) }),
  z.strictObject({
    type: z.literal('actions'),
    block_id: z.string().max(255).optional(),
    elements: z
      .array(z.union([button, menu]))
      .min(1)
      .max(25)
      .refine((elements) => areDistinct(elements.map(({ action_id }) => action_id))),
  }),
]);
const blocks = z.array(block).min(1).max(50);
const message = z.strictObject({ channel: z.literal('C0123456789'), text: z.string(), blocks });
const reply = z.strictObject({
  replace_original: z.boolean(),
  text: z.string(),
  blocks: blocks.optional(),
});

type Button = z.infer<typeof button>;

interface SlackApi {
  url: string;
  messages: z.infer<typeof message>[];
  /** What the app has sent to the response URLs of clicks. */
  replies: z.infer<typeof reply>[];
  close(): Promise<void>;
}

const areDistinct = (values: string[]): boolean => new Set(values).size === values.length;

export async function startSlackApi(token: string): Promise<SlackApi> {
  const messages: SlackApi['messages'] = [];
  const replies: SlackApi['replies'] = [];

  function answer({ method, path, headers, body }: Exchange) {
    if (method !== 'POST') return { status: 405 };
    if (path === '/response') {
      replies.push(reply.parse(JSON.parse(body)));
      return { status: 200, body: 'ok' };
    }
    if (path !== '/api/chat.postMessage') return { status: 404 };
    return { status: 200, body: JSON.stringify(post({ headers, body })) };
  }

  /** Slack answers errors with status 200. */
  function post({ headers, body }: Pick<Exchange, 'headers' | 'body'>) {
    if (headers.authorization !== `Bearer ${token}`) return { ok: false, error: 'invalid_auth' };
    if (headers['content-type'] !== 'application/json; charset=utf-8')
      return { ok: false, error: 'invalid_form_data' };
    const parsed = message.safeParse(JSON.parse(body));
    if (!parsed.success) return { ok: false, error: 'invalid_blocks' };
    messages.push(parsed.data);
    return { ok: true, channel: parsed.data.channel, ts: '1503435956.000247' };
  }

  return { ...(await startStandIn(answer)), messages, replies };
}

/** The buttons of a message, by their labels. */
export function buttonsOf(shown: SlackApi['messages'][number] | undefined): Map<string, Button> {
  const elements = (shown?.blocks ?? []).flatMap((each) =>
    each.type === 'actions' ? each.elements : [],
  );
  const buttons = elements.filter((element): element is Button => element.type === 'button');
  return new Map(buttons.map((each) => [each.text.text, each]));
}

interface Click {
  button: Button | undefined;
  /** The chosen options of the menus, by block and action. */
  values?: Record<string, object>;
  responseUrl: string;
}

/** The request for a click, signed like Slack's. */
export function clickRequest(
  { button: clicked, values = {}, responseUrl }: Click,
  secret: string,
  at = Date.now(),
): RequestInit {
  const payload = {
    type: 'block_actions',
    user: { id: 'U0CA5', username: 'ana', team_id: 'T9TK3CUKW' },
    actions: [{ ...clicked, action_ts: '1548426417.840180' }],
    state: { values },
    response_url: responseUrl,
  };
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const time = String(Math.floor(at / 1000));
  const signature = createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex');
  return {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': time,
      'x-slack-signature': `v0=${signature}`,
    },
  };
}
