import type { RunRecord } from '../../client/generated/types.ts';
import { hrefOf } from '../shell/location.ts';
import { countText, dollarText } from '../ui/format.ts';
import { causeOf, stateOf } from '../ui/run-state.ts';
import { StateMark } from '../ui/state-mark.tsx';
import { Age } from '../ui/times.tsx';
import { flowNameOf } from './flow-names.ts';
import { titleOf } from './run-title.ts';

interface RunRowProps {
  run: RunRecord;
  onLabel: (label: string) => void;
}

export function RunRow({ run, onLabel }: RunRowProps) {
  const { projectId, runId, flowId, error } = run;
  const state = stateOf(run);
  const flow = flowNameOf(projectId, flowId) ?? '…';
  return (
    <tr>
      <td>
        <StateMark state={state} />
      </td>
      <td class="wide">
        <a class="cut" data-row title={titleOf(run)} href={hrefOf('run', { projectId, runId })}>
          {titleOf(run)}
        </a>
        <span class="muted small under">
          <span class="narrow-only">
            {flow} · <Age at={run.createdAt} />
          </span>
          {state === 'failed' && error !== undefined && <span>{causeOf(error)}</span>}
        </span>
        <Labels labels={run.labels} onLabel={onLabel} />
      </td>
      <td class="cut wide-only" title={flow}>
        {flow}
      </td>
      <td class="cut wide-only muted" title={run.createdBy.keyName}>
        {run.createdBy.keyName}
      </td>
      <td class="number wide-only">
        <Age at={run.createdAt} />
      </td>
      <td class="number wide-only">{countText(run.numTurns)}</td>
      <td class="number">{run.costUsd === null ? '–' : dollarText(run.costUsd)}</td>
    </tr>
  );
}

interface LabelsProps {
  labels: Record<string, string>;
  onLabel: (label: string) => void;
}

/** A click on a label shows the runs that have it. */
function Labels({ labels, onLabel }: LabelsProps) {
  const names = Object.keys(labels);
  if (names.length === 0) return null;
  return (
    <span class="chips">
      {names.slice(0, 4).map((name) => {
        const label = `${name}:${labels[name] ?? ''}`;
        return (
          <button
            key={name}
            type="button"
            class="chip cut"
            title={`Show runs with ${label}`}
            onClick={() => onLabel(label)}
          >
            {label}
          </button>
        );
      })}
      {names.length > 4 && <span class="muted small">+{names.length - 4}</span>}
    </span>
  );
}
