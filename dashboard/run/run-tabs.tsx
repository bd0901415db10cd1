import type { ComponentChildren } from 'preact';
import type { RunOfOperator } from '../../client/generated/types.ts';
import { query, setQuery } from '../shell/location.ts';
import { ChangesTab } from './changes-tab.tsx';
import { DetailsTab } from './details-tab.tsx';
import { FilesTab } from './files-tab.tsx';
import { LogTab } from './log-tab.tsx';
import { RawTab } from './raw-tab.tsx';
import type { RunFeed } from './run-feed.ts';

interface RunTabsProps {
  feed: RunFeed;
  record: RunOfOperator;
}

/** The conversation is a tab only where there is no room for it beside the others. */
const tabs = [
  ['conversation', 'Conversation'],
  ['changes', 'Changes'],
  ['files', 'Files'],
  ['log', 'Log'],
  ['raw', 'Raw'],
  ['details', 'Details'],
] as const;

type Tab = (typeof tabs)[number][0];

export function RunTabs({ feed, record }: RunTabsProps) {
  const wanted = query.value.get('tab');
  const selected: Tab = tabs.find(([name]) => name === wanted)?.[0] ?? 'conversation';
  return (
    <section class="tabs" aria-label="About the run">
      <div role="tablist" aria-label="About the run" onKeyDown={moveBetweenTabs}>
        {tabs.map(([name, title]) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={isSelected(name, selected)}
            aria-controls="tab-panel"
            tabIndex={isSelected(name, selected) ? 0 : -1}
            class={`tab-${name}`}
            onClick={() => setQuery({ tab: name === 'conversation' ? null : name })}
          >
            {title}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id="tab-panel"
        aria-labelledby={`tab-${selected}`}
        class="pane"
        tabIndex={0}
      >
        {panelOf(selected, feed, record)}
      </div>
    </section>
  );
}

const isSelected = (name: Tab, selected: Tab): boolean => name === selected;

function panelOf(tab: Tab, feed: RunFeed, record: RunOfOperator): ComponentChildren {
  switch (tab) {
    case 'conversation':
    case 'details':
      return <DetailsTab feed={feed} record={record} />;
    case 'changes':
      return <ChangesTab feed={feed} />;
    case 'files':
      return <FilesTab feed={feed} />;
    case 'log':
      return <LogTab feed={feed} />;
    case 'raw':
      return <RawTab feed={feed} />;
  }
}

function moveBetweenTabs(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')];
  const visible = all.filter((tab) => tab.offsetParent !== null);
  const at = visible.findIndex((tab) => tab === document.activeElement);
  const next = visible[(at + step + visible.length) % visible.length];
  next?.focus();
  next?.click();
  event.preventDefault();
}
