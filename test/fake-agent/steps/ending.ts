import { fieldsAt, numberAt, textAt } from '../json.ts';
import type { Handlers } from '../run-steps.ts';
import { TurnEnded } from '../turn.ts';

/** How the turn or the process ends. */
export const endingSteps: Handlers = {
  /** Ends the process here and now, in the middle of the turn. */
  exit: (step) => process.exit(numberAt(step, 'exit')),
  exitAfterResult: (step, turn) => {
    turn.exitAfterResult = numberAt(step, 'exitAfterResult');
  },
  fail: (step) => {
    throw new TurnEnded('error_during_execution', textAt(step, 'fail'));
  },
  /** Fields put over those of the result. */
  result: (step, turn) => {
    turn.overrides = { ...turn.overrides, ...fieldsAt(step, 'result') };
  },
  noResult: (_, turn) => {
    turn.results = 0;
  },
  doubleResult: (_, turn) => {
    turn.results = 2;
  },
  hangAfterResult: (_, { session }) => {
    session.neverEnds = true;
  },
};
