import { useSignal } from '@preact/signals';
import { shortId } from './format.ts';

interface CopyButtonProps {
  text: string;
  children: string;
}

/** Shows a text, or its start. A click copies all of it, and the button says so for a moment. */
export function CopyButton({ text, children }: CopyButtonProps) {
  const isCopied = useSignal(false);
  async function copy(): Promise<void> {
    await navigator.clipboard.writeText(text);
    isCopied.value = true;
    setTimeout(() => {
      isCopied.value = false;
    }, 1_500);
  }
  return (
    <button type="button" class="quiet copy" title={`Copy ${text}`} onClick={() => void copy()}>
      {isCopied.value ? 'Copied' : children}
    </button>
  );
}

/** The start of an ID. A click copies all of it. */
export function Id({ id }: { id: string }) {
  return <CopyButton text={id}>{shortId(id)}</CopyButton>;
}
