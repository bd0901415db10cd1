// The address of the page. A link to another screen changes the address without loading the page
// again. What a reader can choose on a screen, such as filters and tabs, is in the query.

import { computed, signal } from '@preact/signals';
import { findPage, type PageName, pagePath } from '../../core/page/page-paths.ts';
import { basePath } from './settings.ts';

const address = signal(readAddress());

export const page = computed(() => findPage(address.value.path));
export const query = computed(() => new URLSearchParams(address.value.query));

function readAddress() {
  const { pathname, search } = location;
  const path = pathname.startsWith(basePath) ? `/${pathname.slice(basePath.length)}` : pathname;
  return { path, query: search };
}

/** The address of a screen, for links. */
export const hrefOf = (name: PageName, params: Record<string, string> = {}): string =>
  `${basePath}${pagePath(name, params).slice(1)}`;

/** Shows a screen. The reader can go back to the one before. */
export function open(name: PageName, params: Record<string, string> = {}): void {
  go(hrefOf(name, params));
}

function go(href: string): void {
  history.pushState(null, '', href);
  address.value = readAddress();
  scrollTo(0, 0);
}

/** Shows a screen in place of the current one. */
export function replaceWith(name: PageName, params: Record<string, string> = {}): void {
  history.replaceState(null, '', hrefOf(name, params));
  address.value = readAddress();
}

/** Changes the query of the current screen; null removes a parameter. */
export function setQuery(changes: Record<string, string | readonly string[] | null>): void {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const each of value === null ? [] : [value].flat()) next.append(name, each);
  }
  const text = next.toString();
  history.replaceState(null, '', `${location.pathname}${text === '' ? '' : `?${text}`}`);
  address.value = readAddress();
}

/** Follows links to screens. All others are left to the browser. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    address.value = readAddress();
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    if (link.origin !== location.origin || !link.pathname.startsWith(basePath)) return;
    if (findPage(`/${link.pathname.slice(basePath.length)}`) === null) return;
    event.preventDefault();
    go(link.href);
  });
}
