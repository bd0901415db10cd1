interface JsonBounds {
  /** Maximum nesting of arrays and objects. */
  depthMax: number;
  /** Maximum number of array elements and object members in total, approximately. */
  valuesMax: number;
}

/**
 * Whether JSON text in UTF-8 is within the bounds. Called before the text is parsed: a text of
 * brackets takes more than sixty times its size once parsed. Text that is not JSON may pass; the
 * parser rejects it.
 */
export function isWithinJsonBounds(text: Uint8Array, { depthMax, valuesMax }: JsonBounds): boolean {
  let depth = 0;
  let values = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (isInString) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isInString = false;
      continue;
    }
    if (byte === quote) isInString = true;
    else if (byte === openBracket || byte === openBrace) {
      depth += 1;
      values += 1;
      if (depth > depthMax) return false;
    } else if (byte === closeBracket || byte === closeBrace) depth -= 1;
    else if (byte === comma) values += 1;
    if (values > valuesMax) return false;
  }
  return true;
}

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
