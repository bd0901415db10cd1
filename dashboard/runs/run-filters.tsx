import { open, query, setQuery } from '../shell/location.ts';
import { flowsOf } from './flow-names.ts';
import { filterStates, readFilter } from './run-filter.ts';

/** The fields above the table. Each changes the address. */
export function RunFilters({ projectId }: { projectId: string }) {
  const { flowId, state, triggerType, labels, text } = readFilter(query.value);
  return (
    <search class="filters">
      <input
        type="search"
        data-search
        aria-label="Search by name, label or run ID"
        placeholder="Search, or label:value"
        value={text}
        onInput={({ currentTarget }) => setQuery({ text: currentTarget.value || null })}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Enter') search(projectId, currentTarget.value.trim(), labels);
        }}
      />
      <Choice name="state" title="All states" value={state} options={stateOptions} />
      <Choice
        name="flow"
        title="All flows"
        value={flowId}
        options={flowsOf(projectId).map((flow) => [flow.flowId, flow.name])}
      />
      <Choice name="trigger" title="All triggers" value={triggerType} options={triggerOptions} />
      {labels.map((label) => (
        <button
          key={label}
          type="button"
          class="chip on"
          aria-label={`Remove the filter ${label}`}
          onClick={() => setQuery({ label: labels.filter((each) => each !== label) })}
        >
          {label} ×
        </button>
      ))}
    </search>
  );
}

/** A run ID opens the run, and `name:value` filters by the label. Else the first row is focused. */
function search(projectId: string, text: string, labels: readonly string[]): void {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) {
    open('run', { projectId, runId: text.toLowerCase() });
  } else if (/^[A-Za-z0-9][\w.-]*:/.test(text)) {
    setQuery({ text: null, label: [...labels, text] });
  } else {
    document.querySelector<HTMLElement>('[data-row]')?.focus();
  }
}

const stateOptions = Object.entries(filterStates).map(([name, { title }]): Option => [name, title]);

const triggerOptions: readonly Option[] = [
  ['api', 'API'],
  ['dashboard', 'Manual'],
  ['schedule', 'Schedule'],
];

type Option = readonly [value: string, title: string];

interface ChoiceProps {
  name: string;
  title: string;
  value: string | null;
  options: readonly Option[];
}

function Choice({ name, title, value, options }: ChoiceProps) {
  return (
    <select
      aria-label={title.replace('All', 'Filter by')}
      value={value ?? ''}
      onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value || null })}
    >
      <option value="">{title}</option>
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  );
}
