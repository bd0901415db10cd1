// Loaded into the service by `npm run bench -- --plant-delay <ms>`: every request that starts a run
// or sends a message blocks the API for that time. Shows that the targets notice a delay.

import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';

const delayMs = Number(process.env['BENCH_PLANTED_DELAY_MS']);
const cell = new Int32Array(new SharedArrayBuffer(4));

subscribe('http.server.request.start', (message) => {
  const { request } = message as { request: IncomingMessage }; // documented by Node
  if (request.method !== 'POST' || !request.url?.startsWith('/api/v1/flows/')) return;
  Atomics.wait(cell, 0, 0, delayMs);
});
