import { parseArgs } from 'node:util';
import { startOfflineModel } from './server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    'delta-ms': { type: 'string', default: '15' },
  },
});

const model = await startOfflineModel({
  port: wholeNumber('port'),
  host: values.host,
  deltaMs: wholeNumber('delta-ms'),
  keepRequests: 0,
});
console.log(`listening on ${model.url}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void model.close());
}

function wholeNumber(name: 'port' | 'delta-ms'): number {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new Error(`--${name} takes a whole number, not ${values[name]}`);
}
