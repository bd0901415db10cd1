import { parseObject, textIn } from '../../core/json.ts';

const settings = parseObject(readSettings()) ?? {};

/** The Temporal UI, if the service has its address. */
export const temporalUiUrl = textIn(settings, 'temporalUiUrl');
export const temporalNamespace = textIn(settings, 'temporalNamespace') ?? 'default';
/** No model key is set, so the offline model may answer. */
export const hasOfflineModel = settings.offlineModel === true;

/** The path of `PUBLIC_URL`, with a slash at its end. */
export const basePath = new URL(document.baseURI).pathname;

function readSettings(): string {
  return document.querySelector<HTMLMetaElement>('meta[name=flowrun-settings]')?.content ?? '{}';
}
