import { useSignal } from '@preact/signals';
import { stripControlCodes } from '../../core/sanitize-text.ts';
import { bytesText } from '../ui/format.ts';

/** What is shown of a long text before the reader asks for all of it. */
const previewChars = 8_192;
const foldedFrom = 32_768;

/** A text as it is, in the font of code. Only the start of a long one is shown at first. */
export function LongText({ text, isBad = false }: { text: string; isBad?: boolean }) {
  const showsAll = useSignal(false);
  const isFolded = text.length > foldedFrom && !showsAll.value;
  const shown = stripControlCodes(isFolded ? text.slice(0, previewChars) : text);
  return (
    <>
      <pre class={isBad ? 'bad' : undefined} tabIndex={0}>
        {shown}
      </pre>
      {isFolded && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            showsAll.value = true;
          }}
        >
          Show all {bytesText(text.length)}
        </button>
      )}
    </>
  );
}
