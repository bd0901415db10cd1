import { checks } from '../../cli/doctor/checks/all.ts';
import { examine, type Outcome } from '../../cli/doctor/examine.ts';
import { withDoctor } from '../../cli/open-doctor.ts';

export interface Diagnosis {
  outcomes: Outcome[];
  of(name: string): Outcome;
  /** What is wrong and what to do, in one text; empty where this is not wrong. */
  about(code: string): string;
}

/** Sees, or with `fix` mends, what it was given by the environment alone. */
export type Doctor = (how?: { fix: boolean }) => Promise<Diagnosis>;

export function doctorWith(env: Record<string, string>): Doctor {
  return async ({ fix } = { fix: false }) => {
    const how = { fix, told: () => undefined };
    const outcomes = await withDoctor((parts) => examine(checks, parts, how), env);
    const troubles = outcomes.flatMap((outcome) => outcome.troubles);
    return {
      outcomes,
      of(name) {
        const found = outcomes.find((outcome) => outcome.name === name);
        if (!found) throw new Error(`nothing is said of ${name}`);
        return found;
      },
      about(wanted) {
        const found = troubles.find((trouble) => trouble.code === wanted);
        return found ? `${found.what} ${found.advice}` : '';
      },
    };
  };
}
