import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { EndCause } from '../../core/runs/end-cause.ts';
import { linkTo, type Memo } from '../../core/temporal/workflow-memo.ts';

/** Shown to operators on the workflow's page in Temporal. */
interface WorkflowDetails {
  phase: string;
  host: string | null;
  container: string | null;
  cause: EndCause | null;
}

export type ReportDetails = (change: Partial<WorkflowDetails>) => void;

/** Report ids and fixed words only: every operator can read the page. */
export function createDetailsReporter(initial: Partial<WorkflowDetails> = {}): ReportDetails {
  const none: WorkflowDetails = { phase: 'starting', host: null, container: null, cause: null };
  const details = { ...none, ...initial };
  return (change) => {
    Object.assign(details, change);
    const { prompt, page }: Partial<Memo> = workflowInfo().memo ?? {};
    const promptLine = prompt === undefined ? [] : [`**Prompt** ${prompt}`];
    const link = page === undefined ? [] : [linkTo(page)];
    setCurrentDetails([...promptLine, ...linesOf(details), ...link].join('  \n'));
  };
}

const linesOf = ({ phase, host, container, cause }: WorkflowDetails): string[] => [
  `**Phase** ${phase}`,
  `**Host** ${host ?? 'none yet'}`,
  `**Container** ${container === null ? 'none yet' : `\`${container}\``}`,
  `**Cause** ${cause ?? 'not ended'}`,
];
