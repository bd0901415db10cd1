import { useEffect } from 'preact/hooks';

/** Names the tab of the browser after what it shows. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Flowrun`;
  }, [title]);
}
