/** An API that answers model calls, and the key for it. */
export interface ModelUpstream {
  apiKey: string;
  baseUrl: string;
  /** The one model that answers calls to every model; absent if the named model answers. */
  onlyModel?: string;
}
