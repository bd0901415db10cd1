import { signal } from '@preact/signals';
import type { PageName } from '../../core/page/page-paths.ts';
import { open, page } from './location.ts';

interface Shortcut {
  keys: string;
  title: string;
}

/** The shortcuts that work on every screen. */
export const everywhere: readonly Shortcut[] = [
  { keys: '/', title: 'Search' },
  { keys: 'j k', title: 'Next and previous row' },
  { keys: 'Enter', title: 'Open the row' },
  { keys: 'g h', title: 'Go to the start of the project' },
  { keys: 'g r', title: 'Go to the runs' },
  { keys: 'g c', title: 'Go to the chats' },
  { keys: '?', title: 'Show this list' },
];

export const isListOpen = signal(false);

const places: Record<string, PageName | undefined> = { h: 'home', r: 'runs', c: 'chats' };

let isGoing = false;

/** Rows and search fields are found by their attributes, so that every screen has the same keys. */
export function startShortcuts(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
    if (handle(event.key)) event.preventDefault();
  });
}

function handle(key: string): boolean {
  const wasGoing = isGoing;
  isGoing = key === 'g';
  if (wasGoing) return goTo(key);
  if (key === '/') return focus(document.querySelector<HTMLElement>('[data-search]'));
  if (key === 'j') return moveBy(1);
  if (key === 'k') return moveBy(-1);
  if (key !== '?') return false;
  isListOpen.value = true;
  return true;
}

function goTo(key: string): boolean {
  const name = places[key];
  const projectId = page.value?.params['projectId'];
  if (name === undefined || projectId === undefined) return false;
  open(name, { projectId });
  return true;
}

function moveBy(step: number): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = at === -1 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1);
  return focus(rows[next] ?? null);
}

function focus(element: HTMLElement | null): boolean {
  element?.focus();
  return element !== null;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input, select, textarea');
}
