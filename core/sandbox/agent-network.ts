/**
 * Variables for programs in a sandbox, which reach the network and the model only through this
 * proxy.
 */
export function agentNetworkEnv(proxyPort: number): Record<string, string> {
  const proxy = `http://127.0.0.1:${proxyPort}`;
  // Some programs, such as the agent, accept address ranges here; others only single addresses.
  const direct = '127.0.0.1,127.0.0.0/8,localhost,::1';
  return {
    HTTPS_PROXY: proxy,
    HTTP_PROXY: proxy,
    NO_PROXY: direct,
    https_proxy: proxy,
    http_proxy: proxy,
    no_proxy: direct,
    ANTHROPIC_BASE_URL: `${proxy}/model`,
    // A placeholder: the gateway replaces it.
    ANTHROPIC_API_KEY: 'sandbox',
  };
}
