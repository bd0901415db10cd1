import { expect, test } from 'vitest';
import { createHintGate } from '../../../../worker/host/hint-gate.ts';

test('hints are followed only while Temporal answers and the host is not fenced', () => {
  const fenced = new AbortController();
  let isReachable = true;
  const gate = createHintGate({ fencedSignal: () => fenced.signal });
  expect(gate.isOpen(), 'before Temporal is known').toBe(false);
  gate.watchTemporal(() => isReachable);
  expect(gate.isOpen()).toBe(true);
  isReachable = false;
  expect(gate.isOpen(), 'during an outage of Temporal').toBe(false);
  isReachable = true;
  fenced.abort();
  expect(gate.isOpen(), 'while fenced').toBe(false);
});
