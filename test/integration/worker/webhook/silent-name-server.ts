// A program whose name server never answers. It sends a webhook to each of the hosts at once and
// prints the outcomes.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createWebhookSender } from '../../../../worker/webhook/send-webhook.ts';

const [nameServer = '', hosts = ''] = process.argv.slice(2);
const socket = createSocket('udp4').bind(53, nameServer);
await once(socket, 'listening');

// Less than the resolver of the system takes for a name without an answer.
const send = createWebhookSender({ caFile: null, allowPrivate: [], attemptTimeoutMs: 4_000 });
const sending = hosts
  .split(',')
  .map((host) => send({ url: `https://${host}/`, headers: {}, body: '{}' }));
console.info(JSON.stringify(await Promise.all(sending)));
process.exit();
