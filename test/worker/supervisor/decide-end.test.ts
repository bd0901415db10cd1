import { expect, test } from 'vitest';
import { readTurnResult } from '../../../core/turn-result.ts';
import { decideEnd } from '../../../worker/supervisor/decide-end.ts';

const success = readTurnResult({ subtype: 'success', is_error: false, result: 'ok' });
const failure = readTurnResult({ subtype: 'error_during_execution', is_error: true });
const tooDear = readTurnResult({ subtype: 'error_max_budget_usd', is_error: true });
const exited = (exitCode: number, oomKilled = false) =>
  ({ kind: 'exited', exitCode, oomKilled }) as const;

test.each([
  ['a clean exit', { exit: exited(0), turn: success, endedByForce: false }, 'completed', 0],
  [
    'a clean exit after a failed turn',
    { exit: exited(0), turn: failure, endedByForce: false },
    'completed',
    0,
  ],
  [
    'a clean exit without a result',
    { exit: exited(0), turn: null, endedByForce: false },
    'completed',
    0,
  ],
  ['a failed exit', { exit: exited(1), turn: failure, endedByForce: false }, 'exited', 1],
  [
    'a failed exit after a good result',
    { exit: exited(1), turn: success, endedByForce: false },
    'exited',
    1,
  ],
  ['a spent budget', { exit: exited(1), turn: tooDear, endedByForce: false }, 'budget_exceeded', 1],
  [
    'the first process out of memory',
    { exit: exited(137, true), turn: null, endedByForce: false },
    'out_of_memory',
    137,
  ],
  [
    'a child out of memory',
    { exit: exited(0, true), turn: success, endedByForce: false },
    'completed',
    0,
  ],
  ['a kill from within', { exit: exited(137), turn: null, endedByForce: false }, 'exited', 137],
  [
    'force after a good result',
    { exit: exited(143), turn: success, endedByForce: true },
    'completed',
    0,
  ],
  ['force after a failure', { exit: exited(137), turn: failure, endedByForce: true }, 'exited', 1],
  [
    'force after a spent budget',
    { exit: exited(137), turn: tooDear, endedByForce: true },
    'budget_exceeded',
    1,
  ],
  ['force without a result', { exit: exited(143), turn: null, endedByForce: true }, 'exited', 143],
  [
    'a lost container',
    { exit: { kind: 'missing' }, turn: success, endedByForce: false },
    'max_reconnects_exceeded',
    null,
  ],
] as const)('%s', (_what, ending, cause, exitCode) => {
  expect(decideEnd(ending)).toMatchObject({ cause, exitCode });
});
