/** A rule for a text field, shared by the CLI and the API. */
export interface TextRule {
  pattern: RegExp;
  expected: string;
}

/** Counts code points, not UTF-16 units. */
export function hasAtMost(max: number, text: string): boolean {
  return text.length <= max || Array.from(text).length <= max;
}

export const projectIdRule: TextRule = {
  pattern: /^[A-Za-z0-9_-]{1,64}$/,
  expected: '1 to 64 letters, digits, dashes and underscores',
};

export const apiKeyRule: TextRule = {
  pattern: /^frs_[0-9A-Za-z]{43}$/,
  expected: '"frs_" and 43 letters and digits',
};

/** No leading dash: the agent would read it as a flag. */
export const modelRule: TextRule = {
  pattern: /^[A-Za-z0-9][\w.:@/[\]-]{0,99}$/,
  expected: 'the name of a model',
};

export const allowedHostRule: TextRule = {
  pattern: /^(?:\*\.[a-z0-9.-]{1,251}|[a-z0-9.-]{1,253}(?::\d{1,5})?)$/i,
  expected: 'a host like example.org, example.org:8443 or *.example.org',
};

export const imageRule: TextRule = {
  pattern: /^[a-z0-9][\w./:@-]{0,254}$/i,
  expected: 'the name of an image',
};

/** Sent in an HTTP header unchanged. */
export const modelKeyRule: TextRule = {
  pattern: /^[\x21-\x7e]{1,500}$/,
  expected: '1 to 500 visible ASCII characters',
};

/** Base URL of a model API; plain HTTP only on loopback. */
export const modelBaseUrlRule: TextRule = {
  pattern:
    /^(?:https:\/\/[a-z0-9.-]{1,253}|http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]))(?::\d{1,5})?(?:\/[\w.~%/-]{0,500})?$/i,
  expected: 'an https:// address without credentials, query or fragment (http:// on loopback)',
};
