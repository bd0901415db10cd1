import { redactText } from '../../core/runs/redact.ts';
import {
  type Check,
  type CheckResult,
  checked,
  type DoctorContext,
  type Problem,
} from './types.ts';

export interface CheckOutcome {
  name: string;
  /** `warning`: only warnings were found, and the check has passed. */
  state: 'ok' | 'warning' | 'failed' | 'skipped';
  facts: string[];
  /** The problems that remain, and whether `--fix` can fix them. */
  problems: (Omit<Problem, 'fix'> & { fixable: boolean })[];
  /** The problems that were fixed. */
  fixed: string[];
}

/** Runs the checks in order. A check is skipped if one that it needs did not pass. */
export async function runChecks(
  checks: Check[],
  context: DoctorContext,
  { fix, onOutcome }: { fix: boolean; onOutcome: (outcome: CheckOutcome) => void },
): Promise<CheckOutcome[]> {
  const outcomes: CheckOutcome[] = [];
  const firstNotPassed = (names: string[] = []) =>
    outcomes.find((outcome) => !hasPassed(outcome) && names.includes(outcome.name));
  for (const check of checks) {
    const blocker = firstNotPassed(check.needs);
    const mayFix = firstNotPassed(check.fixNeeds) === undefined;
    const outcome = blocker
      ? skippedFor(check, blocker)
      : await (fix && mayFix ? runAndFix : runOnce)(mayFix ? check : withoutFixes(check), context);
    outcomes.push(outcome);
    onOutcome(outcome);
  }
  return outcomes;
}

const hasPassed = ({ state }: CheckOutcome): boolean => state === 'ok' || state === 'warning';

const withoutFixes = (check: Check): Check => ({
  ...check,
  run: async (context) => {
    const result = await check.run(context);
    const problems = result.problems.map(({ fix: _fix, ...problem }) => problem);
    return { ...result, problems };
  },
});

async function runOnce(check: Check, context: DoctorContext): Promise<CheckOutcome> {
  return outcomeOf(check, await run(check, context));
}

/** A problem counts as fixed when the check no longer finds it. */
async function runAndFix(check: Check, context: DoctorContext): Promise<CheckOutcome> {
  const first = await run(check, context);
  const fixable = first.problems.filter(({ fix }) => fix !== undefined);
  if (fixable.length === 0) return outcomeOf(check, first);
  const failures: Problem[] = [];
  for (const problem of fixable) {
    await problem.fix?.().catch((error: unknown) => failures.push(fixFailed(problem, error)));
  }
  await context.settle(); // the fixes take effect asynchronously
  const second = await run(check, context);
  const remaining = new Set([...second.problems, ...failures].map(({ code }) => code));
  const fixed = fixable.filter(({ code }) => !remaining.has(code)).map(({ message }) => message);
  return { ...outcomeOf(check, withFailures(second, failures)), fixed };
}

function withFailures(result: CheckResult, failures: Problem[]): CheckResult {
  const failed = new Map(failures.map((failure) => [failure.code, failure]));
  return {
    ...result,
    problems: result.problems.map((problem) => failed.get(problem.code) ?? problem),
  };
}

const fixFailed = (problem: Problem, error: unknown): Problem => ({
  ...problem,
  message: `${problem.message} The fix failed: ${textOf(error)}`,
});

async function run(check: Check, context: DoctorContext): Promise<CheckResult> {
  try {
    return await check.run(context);
  } catch (error) {
    const tls = check.store && (await context.diagnoseTls(check.store, error));
    if (tls) return checked([], { ...tls, message: redactText(tls.message) });
    const message = `${check.onError.message}: ${textOf(error).replace(/\.$/, '')}.`;
    return checked([], { ...check.onError, message });
  }
}

function outcomeOf({ name }: Check, { facts, problems, skipReason }: CheckResult): CheckOutcome {
  return {
    name,
    state: skipReason === null ? stateOf(problems) : 'skipped',
    facts: skipReason === null ? facts : [skipReason],
    problems: problems.map(({ fix, ...problem }) => ({ ...problem, fixable: fix !== undefined })),
    fixed: [],
  };
}

function stateOf(problems: Problem[]): CheckOutcome['state'] {
  if (problems.length === 0) return 'ok';
  return problems.every(({ isWarning }) => isWarning) ? 'warning' : 'failed';
}

function skippedFor({ name }: Check, blocker: CheckOutcome): CheckOutcome {
  const why = blocker.state === 'failed' ? 'failed' : 'was skipped';
  const facts = [`skipped because ${blocker.name} ${why}`];
  return { name, state: 'skipped', facts, problems: [], fixed: [] };
}

/** A connection attempt to several addresses fails with one error per address. */
function textOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(textOf).join('; ');
  return redactText(error instanceof Error ? error.message : String(error));
}
