import { expect, test } from 'vitest';
import { readTurnResult } from '../../../../../core/agent/turn-result.ts';
import { resolveEnd } from '../../../../../worker/sandbox/stop/finish-run.ts';

const success = readTurnResult({ subtype: 'success', is_error: false, result: 'ok' });
const failure = readTurnResult({ subtype: 'error_during_execution', is_error: true });
const tooDear = readTurnResult({ subtype: 'error_max_budget_usd', is_error: true });
const exited = (exitCode: number, oomKilled = false) =>
  ({ kind: 'exited', exitCode, oomKilled }) as const;

test.each([
  ['a clean exit', { exit: exited(0), turn: success }, 'completed', 0],
  ['a clean exit after a failed turn', { exit: exited(0), turn: failure }, 'completed', 0],
  ['a clean exit without a result', { exit: exited(0), turn: null }, 'no_result', 0],
  ['a failed exit', { exit: exited(1), turn: failure }, 'exited', 1],
  ['a failed exit after a good result', { exit: exited(1), turn: success }, 'exited', 1],
  ['a failed exit without a result', { exit: exited(3), turn: null }, 'exited', 3],
  ['a spent budget', { exit: exited(1), turn: tooDear }, 'budget_exceeded', 1],
  ['a spent budget and a clean exit', { exit: exited(0), turn: tooDear }, 'budget_exceeded', 0],
  [
    'the first process out of memory',
    { exit: exited(137, true), turn: null },
    'out_of_memory',
    137,
  ],
  [
    'the first process out of memory after a spent budget',
    { exit: exited(137, true), turn: tooDear },
    'out_of_memory',
    137,
  ],
  ['a child out of memory', { exit: exited(0, true), turn: success }, 'completed', 0],
  ['a kill from within', { exit: exited(137), turn: null }, 'exited', 137],
  [
    'a lost container',
    { exit: { kind: 'missing' }, turn: success },
    'max_reconnects_exceeded',
    null,
  ],
] as const)('%s', (_what, ending, cause, exitCode) => {
  expect(resolveEnd(ending)).toMatchObject({ cause, exitCode });
});
