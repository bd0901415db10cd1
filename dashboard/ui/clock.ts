import { signal } from '@preact/signals';

/** The current time. It changes every second while the page is visible. */
export const now = signal(Date.now());

export function startClock(): void {
  const tick = (): void => {
    if (document.visibilityState === 'visible') now.value = Date.now();
  };
  setInterval(tick, 1_000);
  document.addEventListener('visibilitychange', tick);
}
